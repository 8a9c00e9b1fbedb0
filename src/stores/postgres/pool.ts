import { StoreUnavailableError } from "../../errors.js";
import type { StoreProblem } from "../../ports/session-store.js";
import { cancelStatement } from "./cancel.js";

/** One statement, as `pg` takes it. Never with a name: a named statement would stay on a connection that a pooler gives to others. */
export interface PostgresStatement {
  readonly text: string;
  readonly values?: (string | number | Uint8Array | null)[];
  readonly rowMode: "array";
  readonly types: { getTypeParser(): (value: string | Uint8Array) => string };
}

export interface PostgresResult {
  readonly rowCount: number | null;
  readonly rows: readonly (string | null)[][];
}

/** What the store uses of a client that a pool of `pg` lends. */
export interface PostgresClient {
  query(statement: PostgresStatement): Promise<{ readonly rowCount: number | null; readonly rows: unknown[] }>;
  /** With an error or true: the connection is closed instead of lent again. */
  release(error?: Error | boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** What the store uses of a `Pool` of `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Tells a pool from a single client. */
  readonly totalCount: number;
  readonly options: object;
}

/** For a statement whose serialization failed: once all others that want the same row have had their turn. */
const RETRY_MILLISECONDS = 10;
const CANCEL_ATTEMPTS = 3;
/** Between two of them, about; by chance, since statements tend to run out of time together. */
const CANCEL_MILLISECONDS = 40;

const TEXT: PostgresStatement["types"] = { getTypeParser: () => (value) => (typeof value === "string" ? value : textOf(value)) };
const LISTENED = new WeakSet<PostgresPool>();
const utf8 = new TextDecoder();

export function statement(text: string, values?: PostgresStatement["values"]): PostgresStatement {
  return { text, ...(values !== undefined && { values }), rowMode: "array", types: TEXT };
}

export function isPool(pool: unknown): pool is PostgresPool {
  if (typeof pool !== "object" || pool === null) return false;
  const { connect, on, totalCount, options } = pool as Partial<PostgresPool>;
  return typeof connect === "function" && typeof on === "function" && typeof totalCount === "number" && typeof options === "object";
}

/** What is wrong with the pool, as far as can be told without asking the server. */
export function poolProblems(pool: unknown): StoreProblem[] {
  if (!isPool(pool)) {
    return [
      {
        message: "postgresStore was not given a Pool of pg. A single Client cannot serve requests side by side, nor connect again.",
        remedy: "Give it a pool: postgresStore(new pg.Pool({ connectionString, connectionTimeoutMillis: 2000 })).",
      },
    ];
  }
  const { ended, ending } = pool as { ended?: unknown; ending?: unknown };
  const problems: StoreProblem[] = [];
  if (ended === true || ending === true) {
    problems.push({ message: "The pool given to postgresStore has been ended.", remedy: "Give it a pool that is open." });
  }
  const { connectionTimeoutMillis } = pool.options as { connectionTimeoutMillis?: unknown };
  if (!(Number(connectionTimeoutMillis) > 0)) {
    problems.push({
      message:
        "The pool given to postgresStore has no connectionTimeoutMillis: an attempt to connect that hangs keeps its place in the pool, so sessions would stay away long after an outage.",
      remedy: "Create the pool with connectionTimeoutMillis: 2000.",
    });
  }
  return problems;
}

/**
 * A pool of `pg` reports a lost idle connection as an `error` event, which ends the process when nobody listens. The pool has
 * dealt with it by then, and an outage must not end anything; so the store listens, for as long as the pool lives.
 */
export function listenForLostConnections(pool: PostgresPool): void {
  if (LISTENED.has(pool)) return;
  LISTENED.add(pool);
  pool.on("error", ignore);
}

/**
 * Runs one statement on a connection of the pool, with one time limit for both. When it is over while waiting for the
 * connection, the statement is never sent. When it has been sent, nobody knows what it will still do: the server is asked to
 * cancel it, and the connection is closed. A statement that was refused because it lost against another is sent again.
 *
 * @throws StoreUnavailableError the time is over
 */
export function runStatement(pool: PostgresPool, wanted: PostgresStatement, milliseconds: number): Promise<PostgresResult> {
  return new Promise((resolve, reject) => {
    let client: PostgresClient | undefined;
    let isExpired = false;
    const isOver = (): boolean => isExpired;
    const timer = setTimeout(() => {
      isExpired = true;
      const waitedFor = client === undefined ? "No connection to PostgreSQL was free in time." : "PostgreSQL did not answer in time.";
      reject(new StoreUnavailableError(waitedFor));
      if (client !== undefined) void abandon(pool, client, ended);
    }, milliseconds);

    const work = async (): Promise<PostgresResult> => {
      const lent = await pool.connect();
      if (isOver()) {
        lent.release();
        throw new StoreUnavailableError();
      }
      client = lent;
      // A client that is lent has no listener but this one, and a lost connection would end the process.
      lent.on("error", ignore);
      try {
        const result = await answer(lent, wanted, isOver);
        if (!isOver()) giveBack(lent);
        return { rowCount: result.rowCount, rows: result.rows as (string | null)[][] };
      } catch (error) {
        if (!isOver()) {
          if (leavesConnectionSound(error)) giveBack(lent);
          else lent.release(true);
        }
        throw error;
      }
    };
    const ended = work().finally(() => clearTimeout(timer));
    // After the time limit these change nothing.
    ended.then(resolve, reject);
  });
}

async function answer(client: PostgresClient, wanted: PostgresStatement, isOver: () => boolean): ReturnType<PostgresClient["query"]> {
  for (;;) {
    try {
      return await client.query(wanted);
    } catch (error) {
      if (!isLostRace(error)) throw error;
      await pause(Math.random() * RETRY_MILLISECONDS);
      if (isOver()) throw error;
    }
  }
}

function giveBack(client: PostgresClient): void {
  client.release();
  client.removeListener("error", ignore);
}

/**
 * Cancelled first: a connection that is closed over a statement which waits for a lock leaves it waiting, and the pool opens
 * another one. With the table locked for minutes, all connections of the server would be used up.
 *
 * More than once: a pooler with no connection free has not begun the statement yet, ignores the request, and may begin it a
 * moment later, when others that were out of time as well have been cancelled. Closing the connection ends what has not begun.
 */
async function abandon(pool: PostgresPool, client: PostgresClient, ended: Promise<unknown>): Promise<void> {
  const over = ended.then(
    () => true,
    () => true,
  );
  for (let attempt = 1; await cancelStatement(pool, client); attempt += 1) {
    if (attempt === CANCEL_ATTEMPTS) break;
    if (await Promise.race([over, pause(CANCEL_MILLISECONDS * (0.2 + Math.random()))])) break;
  }
  // Not lent again in any case: a request to cancel that is late would end somebody else's statement.
  client.release(true);
}

function pause(milliseconds: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), milliseconds));
}

/** The SQLSTATE of a server's error, or Node's code of a network error. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

/** 40001 serialization failure, 40P01 deadlock: nothing was done. */
function isLostRace(error: unknown): boolean {
  const code = codeOf(error);
  return code === "40001" || code === "40P01";
}

/**
 * Only where nothing else is possible. A server that says "read-only" has perhaps been a primary: the next connection finds
 * its successor.
 */
function leavesConnectionSound(error: unknown): boolean {
  return /^(?:40|42)...$/.test(codeOf(error) ?? "");
}

function textOf(value: Uint8Array): string {
  return utf8.decode(value);
}

function ignore(): void {}
