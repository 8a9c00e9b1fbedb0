import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { SessionStore } from "idpauth";
import { DemoConfigurationError, withoutPassword, type DemoSessions } from "./configuration.js";
import { loadDriver } from "./driver.js";

/** Where the demo's sessions live, opened. */
export interface OpenSessions {
  /** Undefined: what the package does by itself. */
  readonly store: SessionStore | undefined;
  /** The file, the server's address without its password, or words. For the console. */
  readonly where: string;
  /** They are there after this process has ended. */
  readonly outlive: boolean;
  close(): Promise<void>;
}

/** Milliseconds for a connection. */
const TIMEOUT = 2_000;
/** The longest pause between two attempts to connect again, in milliseconds. */
const LONGEST_PAUSE = 1_000;

const NO_ANSWER = `no answer within ${TIMEOUT / 1_000} s`;

/**
 * @param folder where a file goes when no path is given
 * @throws DemoConfigurationError the server or the file cannot be used, or the driver is missing
 */
export async function openSessions(
  sessions: DemoSessions,
  folder: string | undefined,
): Promise<OpenSessions> {
  switch (sessions.kind) {
    case "memory":
      return {
        store: undefined,
        where: "in this process's memory, until it ends",
        outlive: false,
        async close() {},
      };
    case "host":
      return {
        store: undefined,
        where: `${sessions.middleware}'s, in memory, until the process ends`,
        outlive: false,
        async close() {},
      };
    case "sqlite":
      return openSqlite(sessions.path ?? path.join(folder ?? "", "sessions.db"));
    case "redis":
      return openRedis(sessions.url);
    case "postgres":
      return openPostgres(sessions.url);
  }
}

async function openSqlite(file: string): Promise<OpenSessions> {
  const { sqliteStore } = await import("idpauth/sqlite");
  let store: ReturnType<typeof sqliteStore>;
  try {
    store = sqliteStore(file);
  } catch (error) {
    // Not a path.
    throw new DemoConfigurationError(`DEMO_SESSIONS: ${reason(error)}.`, { cause: error });
  }
  const [problem] = store.problems;
  if (problem !== undefined)
    throw new DemoConfigurationError(`DEMO_SESSIONS: ${problem.message} ${problem.remedy}`);
  return {
    store,
    where: file === ":memory:" ? "SQLite's, in this process's memory, until it ends" : file,
    outlive: file !== ":memory:",
    async close() {
      await store.close();
    },
  };
}

async function openRedis(url: URL): Promise<OpenSessions> {
  const { createClient } = await loadDriver("redis", () => import("redis"));
  const { redisStore } = await import("idpauth/redis");
  let hasStarted = false;
  const connect = () =>
    createClient({
      url: url.href,
      // A command that waits out an outage would run long after the response.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: TIMEOUT,
        // At the start an absent server is a mistake to report; later it is an outage to wait for.
        reconnectStrategy: (retries, cause) =>
          hasStarted ? Math.min(50 * 2 ** retries, LONGEST_PAUSE) : cause,
      },
    });
  let client: ReturnType<typeof connect>;
  try {
    client = connect();
  } catch (error) {
    throw unreachable("Redis", url, error);
  }
  const outage = outageReport("Redis");
  client.on("error", (error: unknown) => {
    if (hasStarted) outage.begin(error);
  });
  client.on("ready", outage.end);
  try {
    // A server may take the connection and then say nothing.
    await inTime(client.connect().then(() => client.ping()));
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw unreachable("Redis", url, error);
  }
  hasStarted = true;
  const store = redisStore(client);
  return {
    store,
    where: withoutPassword(url),
    outlive: true,
    async close() {
      await store.close?.();
      if (client.isReady) await client.close();
      else client.destroy();
    },
  };
}

async function openPostgres(url: URL): Promise<OpenSessions> {
  const { default: pg } = await loadDriver("pg", () => import("pg"));
  const { postgresStore } = await import("idpauth/postgres");
  const pool = new pg.Pool({ connectionString: url.href, connectionTimeoutMillis: TIMEOUT });
  const outage = outageReport("PostgreSQL");
  // An idle connection that breaks would end the process otherwise.
  pool.on("error", outage.begin);
  pool.on("connect", outage.end);
  const store = postgresStore(pool);
  try {
    await store.migrate();
  } catch (error) {
    await pool.end();
    throw unreachable("PostgreSQL", url, error);
  }
  return {
    store,
    where: withoutPassword(url),
    outlive: true,
    async close() {
      await store.close();
      await pool.end();
    },
  };
}

/** One line when an outage begins and one when it ends, however many attempts lie between. */
function outageReport(server: string) {
  let isAway = false;
  return {
    begin(error: unknown) {
      if (!isAway)
        console.error(
          `${server} is away (${reason(error)}). Nobody is signed out; the demo answers 503 until it is back.`,
        );
      isAway = true;
    },
    end() {
      if (isAway) console.error(`${server} is back.`);
      isAway = false;
    },
  };
}

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const giveUp = new AbortController();
  const tooLate = delay(TIMEOUT, undefined, { signal: giveUp.signal }).then(() => {
    throw new Error(NO_ANSWER);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    giveUp.abort();
    // The slower one is not needed any more.
    void Promise.allSettled([work, tooLate]);
  }
}

function unreachable(server: string, url: URL, error: unknown): DemoConfigurationError {
  return new DemoConfigurationError(
    `DEMO_SESSIONS: ${server} at ${withoutPassword(url)} cannot be used: ${reason(error)}. Start it, or correct the address.`,
    { cause: error },
  );
}

/** What a driver says; some say it only in a code, or in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return "no reason given";
  if (/connection timeout/i.test(error.message)) return NO_ANSWER;
  if (error.cause instanceof Error) return reason(error.cause);
  if (error.message !== "") return error.message.replace(/\.$/, "");
  return "code" in error ? String(error.code) : error.name;
}
