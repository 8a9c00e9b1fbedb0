import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { StoreUnavailableError } from "../../errors.js";
import type { StoreProblem } from "../../ports/session-store.js";
import { withinTime } from "../time-limit.js";

/** One statement, as `pg` takes it. */
interface Query {
  readonly text: string;
  readonly name?: string;
  readonly values?: PostgresValue[];
  readonly rowMode: "array";
  readonly types: { getTypeParser(): (value: string | Uint8Array) => string };
}

/** A parameter of a statement, as `pg` takes it. */
export type PostgresValue = string | number | Uint8Array | readonly string[] | null;

export interface PostgresResult {
  readonly rowCount: number | null;
  readonly rows: readonly (string | null)[][];
}

/** What the store uses of a client that a pool of `pg` lends. */
export interface PostgresClient {
  /** Rejects with an error whose `code` is the SQLSTATE. */
  query(query: Query): Promise<{
    /** The number of rows that were written, or returned. */
    readonly rowCount: number | null;
    /** Arrays of text or null, as `rowMode` and `types` demand. */
    readonly rows: unknown[];
  }>;
  /** With true: the pool closes the connection. */
  release(destroy?: boolean): void;
  /** The store ignores errors while the client is lent. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Called before the pool gets the client back. */
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** What the store uses of a `Pool` of `pg`. */
export interface PostgresPool {
  /** Lends a client. The store releases it after each operation. */
  connect(): Promise<PostgresClient>;
  /** The store ignores errors of idle connections. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Tells a pool from a single client. */
  readonly totalCount: number;
  /** Startup check E012 reads `connectionTimeoutMillis`. */
  readonly options: object;
}

/** Maximum pause before a statement runs again that lost a race, in milliseconds. */
const RETRY_PAUSE_MS = 10;

const LISTENED = new WeakSet<PostgresPool>();
const utf8 = new TextDecoder();
/** Every value as text, whatever parsers and formats the application has set for its pool. */
const TEXT: Query["types"] = {
  getTypeParser: () => (value) => (typeof value === "string" ? value : utf8.decode(value)),
};

export function isPool(pool: unknown): pool is PostgresPool {
  if (typeof pool !== "object" || pool === null) return false;
  const { connect, on, totalCount, options } = pool as Partial<PostgresPool>;
  return (
    typeof connect === "function" &&
    typeof on === "function" &&
    typeof totalCount === "number" &&
    typeof options === "object"
  );
}

/** Returns the mistakes in the pool's options, without I/O. */
export function poolProblems(pool: unknown): StoreProblem[] {
  if (!isPool(pool)) {
    return [
      {
        message:
          "postgresStore wasn't given a Pool of pg. A single Client serves one request at a time and never reconnects.",
        remedy:
          "Pass a pool: postgresStore(new pg.Pool({ connectionString, connectionTimeoutMillis: 2000 })).",
      },
    ];
  }
  const { ended, ending } = pool as { ended?: unknown; ending?: unknown };
  const problems: StoreProblem[] = [];
  if (ended === true || ending === true) {
    problems.push({
      message: "The pool given to postgresStore has been ended.",
      remedy: "Pass a pool that is open.",
    });
  }
  const { connectionTimeoutMillis } = pool.options as { connectionTimeoutMillis?: unknown };
  if (!(Number(connectionTimeoutMillis) > 0)) {
    problems.push({
      message:
        "The pool given to postgresStore has no connectionTimeoutMillis. A connection attempt that hangs keeps its place in the pool, so an outage lasts longer.",
      remedy: "Create the pool with connectionTimeoutMillis: 2000.",
    });
  }
  return problems;
}

interface Statement {
  readonly text: string;
  /** Undefined: it has no parameters, and no connection prepares it. */
  readonly values: PostgresValue[] | undefined;
}

/**
 * Runs the store's statements on connections of a pool.
 *
 * @param isNamed whether each connection prepares a statement once, under a name
 */
export function createStatements(pool: PostgresPool, isNamed: boolean) {
  // The pool replaces a lost idle connection and emits "error", which ends the process if there is
  // no listener.
  if (isPool(pool) && !LISTENED.has(pool)) {
    LISTENED.add(pool);
    pool.on("error", ignore);
  }
  /**
   * Names of statements by text; undefined: a pooler has lost a named statement, or the application
   * wants none.
   */
  let names = isNamed ? new Map<string, string>() : undefined;

  async function query(
    client: PostgresClient,
    { text, values }: Statement,
    isOver: () => boolean,
  ): Promise<PostgresResult> {
    for (;;) {
      const name = values && nameOf(text);
      try {
        const result = await client.query({
          text,
          ...(name && { name }),
          ...(values && { values }),
          rowMode: "array",
          types: TEXT,
        });
        return result as PostgresResult;
      } catch (error) {
        if (isOver()) throw error;
        if (name !== undefined && hasLostName(error)) names = undefined;
        else if (isLostRace(error)) await pause(Math.random() * RETRY_PAUSE_MS);
        else throw error;
      }
    }
  }

  /** The name is a hash of the text, so that no other program's statement has it. */
  function nameOf(text: string): string | undefined {
    const known = names?.get(text);
    if (known !== undefined || names === undefined) return known;
    const name = `idpauth_${createHash("sha256").update(text).digest("base64url")}`;
    names.set(text, name);
    return name;
  }

  return {
    /**
     * Runs one statement, with one time limit for the connection and the statement. A statement
     * without a connection in time is never sent. After the time limit the connection is closed,
     * because its statement may still run.
     *
     * @throws StoreUnavailableError the time has passed
     */
    async run(
      text: string,
      values: PostgresValue[] | undefined,
      milliseconds: number,
    ): Promise<PostgresResult> {
      let client: PostgresClient | undefined;
      let isOver = false;
      const giveBack = (destroy = false): void => {
        if (!destroy) client?.removeListener("error", ignore);
        client?.release(destroy);
        client = undefined;
      };
      const work = async (): Promise<PostgresResult> => {
        const lent = await pool.connect();
        if (isOver) {
          lent.release();
          throw new StoreUnavailableError();
        }
        client = lent;
        // The pool does not listen to a client that it has lent.
        lent.on("error", ignore);
        try {
          const result = await query(lent, { text, values }, () => isOver);
          giveBack();
          return result;
        } catch (error) {
          giveBack(!leavesConnectionUsable(error));
          throw error;
        }
      };
      const tooLate = (): string =>
        client
          ? "PostgreSQL didn't respond in time."
          : "No connection to PostgreSQL was free in time.";
      try {
        return await withinTime(work(), milliseconds, tooLate);
      } finally {
        isOver = true;
        giveBack(true);
      }
    },
  };
}

/** Returns the SQLSTATE of a server's error, or Node's code of a network error. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

/** 40001 serialization failure, 40P01 deadlock: the statement had no effect. */
function isLostRace(error: unknown): boolean {
  return ["40001", "40P01"].includes(codeOf(error) ?? "");
}

/**
 * 26000 unknown name, 42P05 name in use: a pooler gave the connection to another client. The
 * statement had no effect.
 */
function hasLostName(error: unknown): boolean {
  return ["26000", "42P05"].includes(codeOf(error) ?? "");
}

/** A read-only server may be a demoted primary. Only a new connection can find its successor. */
function leavesConnectionUsable(error: unknown): boolean {
  return /^(?:40|42)...$/.test(codeOf(error) ?? "");
}

function ignore(): void {}
