import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync, type DatabaseSyncOptions } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry, SessionStore } from "../../src/ports/session-store.js";
import {
  sqliteStore,
  type SqliteDatabase,
  type SqliteStore,
} from "../../src/stores/sqlite/sqlite-store.js";
import { testStore } from "../../packages/idpauth-conformance/src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { buildPackage } from "../support/build.js";
import { PATIENCE } from "../support/eventually.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const START = 1_800_000_000;

// Other processes on one file run the built package.
beforeAll(buildPackage);

/** Undone after each test, the last first. */
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-sqlite-"));
  cleanups.push(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

function newFile(): string {
  return path.join(newFolder(), "sessions.db");
}

function opened(
  pathOrDatabase: string | SqliteDatabase,
  options?: Parameters<typeof sqliteStore>[1],
): SqliteStore {
  const store = sqliteStore(pathOrDatabase, options);
  cleanups.push(() => store.close());
  return store;
}

/** A connection beside the store's. It waits for the store's writes. */
function beside(file: string, options?: DatabaseSyncOptions): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000, ...options });
  cleanups.push(() => {
    if (database.isOpen) database.close();
  });
  return database;
}

/** The first value of the first row. */
function firstOf(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}

/** An error as better-sqlite3 throws it. */
class SqliteError extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/**
 * What an application hands in that opens its database with better-sqlite3: integers can be big,
 * errors name their code, and a statement is either for `run` or for `get` and `all`.
 */
function likeBetterSqlite3(database: DatabaseSync): SqliteDatabase {
  const CODES: Readonly<Record<number, string>> = { 5: "SQLITE_BUSY", 13: "SQLITE_FULL" };
  function withCodes<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      const { errcode, message: text } = error as Error & { errcode?: number };
      throw new SqliteError(text, CODES[errcode ?? 0] ?? "SQLITE_ERROR");
    }
  }
  return {
    exec: (sql) => withCodes(() => database.exec(sql)),
    prepare(sql) {
      const statement = withCodes(() => database.prepare(sql));
      statement.setReadBigInts(true);
      const isReader = statement.columns().length > 0;
      const forReading = <Result>(expected: boolean, work: () => Result) => {
        if (isReader !== expected) throw new TypeError("This statement is for other methods");
        return withCodes(work);
      };
      return {
        run: (...values) => forReading(false, () => statement.run(...values)),
        get: (...values) => forReading(true, () => statement.get(...values)),
        all: (...values) => forReading(true, () => statement.all(...values)),
        safeIntegers(enabled) {
          statement.setReadBigInts(enabled);
        },
      };
    },
  };
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function entry(text: string, fields: Partial<Entry> = {}): Entry {
  return { data: bytes(text), expiresAt: Math.floor(Date.now() / 1000) + 3_600, ...fields };
}

async function textOf(store: SessionStore, key: string): Promise<string | undefined> {
  const stored = await store.get(key);
  return stored && new TextDecoder().decode(stored.data as Uint8Array);
}

async function versionOf(store: SessionStore, key: string): Promise<string> {
  return (await store.get(key))?.version ?? "there is none";
}

async function refusal(promise: Promise<unknown>): Promise<StoreUnavailableError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreUnavailableError);
  return error as StoreUnavailableError;
}

function childProcess(
  script: string,
  values: readonly (string | number)[],
  folder = path.join(ROOT, "test/stores"),
  execArgv: string[] = [],
): ChildProcess {
  const child = fork(path.join(folder, script), values.map(String), {
    execArgv,
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  cleanups.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return child;
}

async function message(child: ChildProcess): Promise<unknown> {
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const [told] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => {
      throw new Error(`the process ended without a word: ${errors}`);
    }),
  ])) as [unknown];
  return told;
}

async function locked(file: string, milliseconds: number): Promise<ChildProcess> {
  const child = childProcess("sqlite-lock.mjs", [file, milliseconds]);
  expect(await message(child)).toBe("locked");
  return child;
}

/** The longest time in milliseconds that the event loop stood still while `work` went on. */
async function longestStandstill(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // The monitor's own first tick.
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.reset();
  try {
    await work();
  } finally {
    delay.disable();
  }
  return delay.max / 1e6;
}

function report(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** What is under test: a path, or one handed-in database for each store. */
interface Kind {
  readonly name: string;
  /** Undefined: in memory, where no other store can reach it. */
  readonly file?: () => string;
  readonly handIn?: (file: string) => SqliteDatabase;
  /** Whether time passes without the sweep. */
  readonly late?: boolean;
}

const kinds: Kind[] = [
  { name: "SQLite in a file", file: newFile },
  { name: "SQLite in a file, swept late,", file: newFile, late: true },
  { name: "node:sqlite in memory", handIn: () => new DatabaseSync(":memory:") },
  {
    name: "node:sqlite in a file, with big integers and arrays,",
    file: newFile,
    handIn: (file) => new DatabaseSync(file, { readBigInts: true, returnArrays: true }),
  },
  {
    name: "the likeness of better-sqlite3 in a file, with big integers,",
    file: newFile,
    handIn: (file) => likeBetterSqlite3(beside(file)),
  },
];

for (const { name, file: fileFor, handIn, late = false } of kinds) {
  // An open file cannot go away: its process keeps it, also when its name is deleted.
  const without = [...(fileFor === undefined ? ["another" as const] : []), "outage" as const];
  testStore({
    name,
    without,
    test: it,
    create() {
      const clock = new TestClock(START * 1000);
      const file = fileFor?.() ?? ":memory:";
      const stores: SqliteStore[] = [];
      const another = () => {
        const store = sqliteStore(handIn === undefined ? file : handIn(file), { clock });
        stores.push(store);
        return store;
      };
      return {
        store: another(),
        now: () => clock.now() / 1000,
        async advance(seconds) {
          if (late) clock.setNow(clock.now() + seconds * 1000);
          else await clock.advanceAsync(seconds * 1000);
        },
        another,
        async close() {
          await Promise.all(stores.map((store) => store.close()));
        },
      };
    },
  });
}

describe("SQLite store: setup", () => {
  it("makes the file for its owner alone, with its companions, in WAL mode", async () => {
    const file = newFile();
    const store = opened(file);
    await store.insert("ada", entry("ada"));
    expect(readdirSync(path.dirname(file)).sort()).toEqual([
      "sessions.db",
      "sessions.db-shm",
      "sessions.db-wal",
    ]);
    for (const end of ["", "-wal", "-shm"])
      expect(statSync(file + end).mode & 0o777, end).toBe(0o600);
    expect(firstOf(beside(file), "PRAGMA journal_mode")).toBe("wal");
    expect(store.problems).toEqual([]);
  });

  it("keeps everything over close and open, and the mode of a file that was there", async () => {
    const file = newFile();
    const first = opened(file);
    await first.insert("ada", entry("ada"));
    await first.close();
    chmodSync(file, 0o640);
    const second = opened(file);
    expect(await textOf(second, "ada")).toBe("ada");
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it.each([
    "",
    "  ",
    "file:/tmp/sessions.db",
    7,
    null,
    undefined,
    {},
    { prepare: () => undefined },
  ])("%j is a TypeError", (given) => {
    expect(() => sqliteStore(given as string)).toThrow(TypeError);
  });

  it.each([0, -1, 2_001, Number.NaN, Number.POSITIVE_INFINITY, "1"])(
    "timeout %s is a TypeError",
    (timeout) => {
      expect(() => sqliteStore(":memory:", { timeout: timeout as number })).toThrow(TypeError);
    },
  );

  const unusable: [what: string, open: () => string | SqliteDatabase, says: RegExp][] = [
    [
      "a folder that is missing",
      () => path.join(newFolder(), "none", "sessions.db"),
      /folder of .*sessions\.db doesn't exist/,
    ],
    ["a folder in the file's place", newFolder, /can't be used \(SQLITE_CANTOPEN\)/],
    [
      "a file that is something else",
      () => {
        const file = newFile();
        writeFileSync(file, "This is a letter, and a long one at that. ".repeat(200));
        return file;
      },
      /sessions\.db isn't an SQLite database/,
    ],
    [
      "another application's database",
      () => {
        const file = newFile();
        beside(file).exec("CREATE TABLE customers (name TEXT)");
        return file;
      },
      /belongs to another application\. .*a file of its own/,
    ],
    [
      "another application's database that is handed in",
      () => {
        const database = beside(newFile());
        database.exec("PRAGMA user_version = 1");
        return database;
      },
      /handed to sqliteStore belongs to/,
    ],
    [
      "a table of a later version",
      () => {
        const file = newFile();
        void sqliteStore(file).close();
        beside(file).exec("PRAGMA user_version = 3");
        return file;
      },
      /sessions in version 3 .* knows version 2/,
    ],
    [
      "a table of version 1, which no release wrote",
      () => {
        const file = newFile();
        void sqliteStore(file).close();
        beside(file).exec(
          "DROP INDEX idpauth_sessions_sid; ALTER TABLE idpauth_sessions DROP COLUMN sid; PRAGMA user_version = 1",
        );
        return file;
      },
      /sessions in version 1 .* knows version 2/,
    ],
    [
      "a database that was opened read-only",
      () => {
        const file = newFile();
        opened(file);
        return beside(file, { readOnly: true });
      },
      /handed to sqliteStore can't be written to/,
    ],
    [
      "a database that was closed",
      () => {
        const database = beside(":memory:");
        database.close();
        return database;
      },
      /handed to sqliteStore can't be used/,
    ],
  ];

  it.each(unusable)(
    "%s is a problem, and every method rejects with it",
    async (_what, open, says) => {
      const store = opened(open());
      expect(store.problems).toHaveLength(1);
      const [problem] = store.problems;
      expect(`${problem?.message ?? ""} ${problem?.remedy ?? ""}`).toMatch(says);
      const refusals = [
        store.get("ada"),
        store.insert("ada", entry("ada")),
        store.replace("ada", entry("ada"), "1"),
        store.touch("ada", 1, 1),
        store.delete("ada"),
        store.listBySubject("ada"),
      ].map(refusal);
      for (const error of await Promise.all(refusals)) expect(error.message).toMatch(says);
    },
  );

  it("leaves another application's database as it is", () => {
    const file = newFile();
    const database = beside(file);
    database.exec("CREATE TABLE customers (name TEXT); PRAGMA user_version = 17");
    opened(file);
    expect(firstOf(database, "PRAGMA journal_mode")).toBe("delete");
    expect(firstOf(database, "PRAGMA user_version")).toBe(17);
    expect(database.prepare("SELECT name FROM sqlite_schema").all()).toEqual([
      { name: "customers" },
    ]);
  });

  it("finds entries by an index, for every query", () => {
    const file = newFile();
    opened(file);
    const database = beside(file);
    const planOf = (sql: string) =>
      (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
        .map(({ detail }) => detail)
        .join("; ");
    for (const field of ["subject", "sid"]) {
      expect(
        planOf(
          `SELECT key FROM idpauth_sessions WHERE ${field} = 'a' AND rowid > 1 AND expires_at > 2 ORDER BY rowid LIMIT 5`,
        ),
      ).toBe(
        `SEARCH idpauth_sessions USING INDEX idpauth_sessions_${field} (${field}=? AND rowid>?)`,
      );
    }
    expect(
      planOf(
        "SELECT data FROM idpauth_sessions WHERE key IN (SELECT value FROM json_each('[]')) AND expires_at > 2",
      ),
    ).toMatch(
      /^SEARCH idpauth_sessions USING INDEX sqlite_autoindex_idpauth_sessions_1 \(key=\?\)/,
    );
    expect(
      planOf(
        "SELECT rowid FROM idpauth_sessions WHERE expires_at <= 2 ORDER BY expires_at LIMIT 5",
      ),
    ).toMatch(/^SEARCH idpauth_sessions USING COVERING INDEX idpauth_sessions_expiry/);
  });
});

describe("SQLite store: writes", () => {
  it("a write that SQLite refuses takes no other of its moment with it", async () => {
    const store = opened(newFile());
    const outcomes = await Promise.allSettled([
      store.insert("ada", entry("ada")),
      store.insert("broken", entry("broken", { expiresAt: START + 0.5 })),
      store.insert("grace", entry("grace")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect([
      await textOf(store, "ada"),
      await textOf(store, "broken"),
      await textOf(store, "grace"),
    ]).toEqual(["ada", undefined, "grace"]);
  });

  it("waits for a transaction of the database's owner, which could roll the write back", async () => {
    const database = beside(newFile());
    const store = opened(database);
    await store.insert("ada", entry("ada"));
    database.exec("BEGIN");
    const deletion = store.delete("ada");
    await new Promise((resolve) => setTimeout(resolve, 30));
    database.exec("ROLLBACK");
    expect((await deletion)?.data).toEqual(bytes("ada"));
    expect(await store.get("ada")).toBeUndefined();
  });

  it("close finishes what was begun, ends the timer, and may be called again; then every method rejects", async () => {
    const clock = new TestClock(START * 1000);
    const file = newFile();
    const store = sqliteStore(file, { clock });
    expect(clock.pendingTimers).toBe(1);
    const begun = store.insert("ada", entry("ada", { expiresAt: START + 600 }));
    await Promise.all([store.close(), store.close()]);
    expect(await begun).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    expect((await refusal(store.get("ada"))).message).toMatch(/closed/);
    expect((await refusal(store.delete("ada"))).message).toMatch(/closed/);
    expect(readdirSync(path.dirname(file))).toEqual(["sessions.db"]);
    expect(await textOf(opened(file, { clock }), "ada")).toBe("ada");
  });

  it("leaves a database that was handed in open", async () => {
    const database = beside(":memory:");
    const store = sqliteStore(database);
    await store.insert("ada", entry("ada"));
    await store.close();
    expect(firstOf(database, "SELECT count(*) FROM idpauth_sessions")).toBe(1);
  });

  it("the log of writes stays small", async () => {
    const file = newFile();
    const store = opened(file);
    const keys = Array.from({ length: 20 }, (_, index) => `key ${String(index)}`);
    await Promise.all(keys.map((key) => store.insert(key, entry("first"))));
    const data = randomBytes(2_500);
    let largest = 0;
    for (let round = 0; round < 150; round += 1) {
      const replaced = keys.map(async (key) =>
        store.replace(key, entry("", { data }), await versionOf(store, key)),
      );
      expect(await Promise.all(replaced)).not.toContain(false);
      largest = Math.max(largest, statSync(`${file}-wal`).size);
    }
    report(
      `SQLite: the -wal file was ${(largest / 1e6).toFixed(1)} MB at most in 3,000 writes of 2.5 KB`,
    );
    // SQLite begins it anew after some 1,000 pages; it would be 12 MB.
    expect(largest).toBeLessThan(6e6);
  });
});

describe("SQLite store: faults", () => {
  const owners: [who: string, (database: DatabaseSync) => SqliteDatabase, cause: object][] = [
    ["of node:sqlite", (database) => database, { errcode: 13 }],
    ["of the likeness of better-sqlite3", likeBetterSqlite3, { code: "SQLITE_FULL" }],
  ];

  it("a disk that is full when the table is made is the cause that the store names, although SQLite has rolled back by itself", async () => {
    const database = beside(":memory:");
    database.exec("PRAGMA max_page_count = 2");
    const store = opened({
      prepare: (sql) => database.prepare(sql),
      exec(sql) {
        if (sql === "ROLLBACK") database.exec(sql); // SQLite's own
        database.exec(sql);
      },
    });
    await expect(store.get("key")).rejects.toThrow("is on a disk that is full.");
    expect(database.isTransaction).toBe(false);
  });

  it.each(owners)(
    "a full disk %s rejects what needs space, loses nothing, and takes deletions and, when there is space again, all",
    async (_who, handIn, cause) => {
      const database = beside(newFile());
      const store = opened(handIn(database));
      const pages = Number(firstOf(database, "PRAGMA page_count"));
      database.exec(`PRAGMA max_page_count = ${String(pages + 20)}`);
      const kept: string[] = [];
      let error: StoreUnavailableError | undefined;
      for (let index = 0; error === undefined && index < 50; index += 1) {
        const key = `key ${String(index)}`;
        await store.insert(key, entry(key.repeat(500))).then(
          () => kept.push(key),
          (reason: unknown) => (error = reason as StoreUnavailableError),
        );
      }
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(error?.message).toMatch(/SQLITE_FULL/);
      expect(error?.cause).toMatchObject(cause);
      expect(kept.length).toBeGreaterThan(5);
      for (const key of kept) expect(await textOf(store, key)).toBe(key.repeat(500));
      expect(await store.delete(kept[0] ?? "")).toBeDefined();
      expect(await store.insert("in its place", entry("small"))).toBe(true);
      database.exec("PRAGMA max_page_count = 1000000");
      expect(await store.insert("later", entry("later".repeat(1_000)))).toBe(true);
      expect(firstOf(database, "PRAGMA integrity_check")).toBe("ok");
    },
  );

  it("a damaged file rejects with its cause, and is never 'no session'", async () => {
    const file = newFile();
    const first = opened(file);
    for (let index = 0; index < 200; index += 1)
      await first.insert(`key ${String(index)}`, entry("x".repeat(1_000)));
    await first.close();
    const { size } = statSync(file);
    const handle = openSync(file, "r+");
    writeSync(handle, randomBytes(size - 8_192), 0, size - 8_192, 8_192);
    const store = opened(file);
    const error = await refusal(store.get("key 7"));
    expect(error.message).toMatch(/SQLITE_CORRUPT/);
    expect(error.cause).toMatchObject({ message: expect.stringMatching(/malformed/) as string });
    await refusal(store.insert("key 7", entry("new")));
  });

  it.skipIf(process.getuid?.() !== 0)(
    "a file that this user may not write to is a problem",
    async () => {
      const folder = newFolder();
      const file = path.join(folder, "sessions.db");
      await sqliteStore(file).close();
      chmodSync(file, 0o444);
      chmodSync(folder, 0o755);
      // Permissions do not bind root: the store is opened as nobody.
      const uid = process.getuid?.();
      process.seteuid?.(65_534);
      try {
        expect(sqliteStore(file).problems[0]?.message).toMatch(/can't be written to/);
      } finally {
        process.seteuid?.(uid ?? 0);
      }
    },
  );
});

describe("SQLite store: a lock", () => {
  it("that lasts keeps neither the event loop nor readers, and the write succeeds after it", async () => {
    const file = newFile();
    const store = opened(file);
    await store.insert("ada", entry("ada"));
    const holder = await locked(file, 60_000);
    const version = await versionOf(store, "ada");
    let readsMeanwhile = 0;
    const standstill = await longestStandstill(async () => {
      const state = { isWritten: false };
      const written = store
        .replace("ada", entry("grace"), version)
        .finally(() => (state.isWritten = true));
      while (!state.isWritten) {
        await store.get("ada");
        readsMeanwhile += 1;
        // A store that waits inside SQLite lets no read through.
        if (readsMeanwhile === 4) holder.kill("SIGKILL");
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect(await written).toBe(true);
    });
    report(`SQLite: a lock: the event loop stood still for ${standstill.toFixed(1)} ms at most`);
  });

  it("that never ends rejects a write after the timeout, which then is never done; reading goes on", async () => {
    const file = newFile();
    const [store, patient] = [opened(file, { timeout: 250 }), opened(file)];
    await patient.insert("ada", entry("ada"));
    const version = await versionOf(store, "ada");
    const holder = await locked(file, 600_000);
    const late = await Promise.all([
      refusal(store.replace("ada", entry("late"), version)),
      refusal(store.delete("ada")),
      refusal(store.touch("ada", START, START + 9_999)),
    ]);
    expect(late.map(({ status, message: text }) => [status, text.includes("in time")])).toEqual(
      Array(3).fill([503, true]),
    );
    expect(await textOf(store, "ada")).toBe("ada");
    holder.kill("SIGKILL");
    await once(holder, "exit");
    expect(await patient.insert("grace", entry("grace"))).toBe(true);
    expect(await versionOf(store, "ada")).toBe(version);
  });
});

describe("SQLite store: several processes on one file", () => {
  it("of all who open a new file, replace, insert and delete at once, one wins each time and no update is lost", async () => {
    const file = newFile();
    const count = 100;
    const children = [1, 2, 3, 4].map(() =>
      childProcess("sqlite-processes.mjs", ["race", file, count]),
    );
    for (const child of children) expect(await message(child)).toBe("ready");
    const start = performance.now();
    const results = await Promise.all(
      children.map(async (child) => {
        const told = message(child);
        child.send("go");
        return (await told) as { pid: number; lost: number; slowest: number; inserted: string[] };
      }),
    );
    const store = opened(file);
    expect(await textOf(store, "counter")).toBe(String(4 * count));
    expect(results.flatMap(({ inserted }) => inserted)).toHaveLength(count);
    for (const { pid, inserted } of results)
      for (const key of inserted) expect(await textOf(store, key)).toBe(String(pid));
    const deleted = await Promise.all(
      children.map(async (child) => {
        const told = message(child);
        child.send("go");
        return ((await told) as { deleted: string[] }).deleted;
      }),
    );
    expect(deleted.flat().sort()).toEqual(results.flatMap(({ inserted }) => inserted).sort());
    expect(await store.get("key 1")).toBeUndefined();
    const lost = results.reduce((sum, result) => sum + result.lost, 0);
    const slowest = Math.max(...results.map((result) => result.slowest));
    report(
      `SQLite: 4 processes, ${String(4 * count)} compare-and-set writes to one key: ${(performance.now() - start).toFixed()} ms in all, ${String(lost)} lost races, the slowest write ${slowest.toFixed()} ms`,
    );
  });

  it("a writer killed at any moment leaves every record old or new, and nothing acknowledged is lost", async () => {
    const file = newFile();
    let next = 1;
    let acknowledgedInAll = 0;
    for (let round = 0; round < 10; round += 1) {
      const writer = childProcess("sqlite-processes.mjs", ["write", file, next]);
      const acknowledged = new Map<string, number>();
      await message(writer);
      writer.on("message", ({ key, write }: { key: string; write: number }) => {
        acknowledged.set(key, write);
        acknowledgedInAll += 1;
      });
      const before = acknowledgedInAll;
      await new Promise((resolve) => setTimeout(resolve, 20 + 13 * round));
      // On a busy machine it may not have come far yet.
      await vi.waitUntil(() => acknowledgedInAll >= before + 10, PATIENCE);
      writer.kill("SIGKILL");
      await once(writer, "close");
      const store = sqliteStore(file);
      for (let index = 0; index < 10; index += 1) {
        const stored = await store.get(`record ${String(index)}`);
        if (stored === undefined) continue;
        const data = stored.data as Uint8Array;
        const numbers = new Uint32Array(
          data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength),
        );
        const [first = -1] = numbers;
        expect(numbers.every((number) => number === first)).toBe(true);
        expect(first % 10).toBe(index);
        expect(first).toBeGreaterThanOrEqual(acknowledged.get(`record ${String(index)}`) ?? 0);
        next = Math.max(next, first + 1);
      }
      await store.close();
      const database = new DatabaseSync(file);
      expect(firstOf(database, "PRAGMA integrity_check")).toBe("ok");
      database.close();
    }
    report(
      `SQLite: a writer killed 10 times: ${String(acknowledgedInAll)} acknowledged writes, all there, integrity_check ok each time`,
    );
  });
});

describe("SQLite store: sweep", () => {
  it("of 20,000 expired entries lets everything else have its turn", async () => {
    const clock = new TestClock(START * 1000);
    const file = newFile();
    const store = opened(file, { clock });
    await store.insert("ada", entry("ada", { expiresAt: START + 3_600 }));
    const database = beside(file);
    database.exec("PRAGMA synchronous = OFF");
    const add = database.prepare(
      "INSERT INTO idpauth_sessions (key, version, expires_at, data) VALUES (?, 'version', ?, ?)",
    );
    database.exec("BEGIN");
    for (let index = 0; index < 20_000; index += 1) {
      add.run(
        randomBytes(32).toString("base64url"),
        START + 1 + (index % 20),
        Buffer.alloc(300, index),
      );
    }
    database.exec("COMMIT");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const anyLeft = database.prepare("SELECT 1 FROM idpauth_sessions WHERE expires_at < ? LIMIT 1");
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const start = performance.now();
    delay.enable();
    clock.advance(30_000);
    let turns = 0;
    while (anyLeft.get(START + 30) !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      clock.advance(20);
      turns += 1;
    }
    delay.disable();
    report(
      `SQLite: 20,000 expired entries swept in ${(performance.now() - start).toFixed()} ms; event loop delay p50 ${(delay.percentile(50) / 1e6).toFixed(1)}, p99 ${(delay.percentile(99) / 1e6).toFixed(1)}, max ${(delay.max / 1e6).toFixed(1)} ms`,
    );
    // Each slice waits for the clock, so that one turn removes one slice at most.
    expect(turns).toBeGreaterThan(100);
    expect(await textOf(store, "ada")).toBe("ada");
  });

  it("is done by the first caller, and again later", async () => {
    const clock = new TestClock(START * 1000);
    const file = newFile();
    const stores = [opened(file, { clock }), opened(file, { clock })];
    const database = beside(file);
    const left = () => firstOf(database, "SELECT count(*) FROM idpauth_sessions");
    for (const round of [1, 2]) {
      for (let index = 0; index < 50; index += 1) {
        await stores[0]?.insert(
          `key ${String(index)}`,
          entry("x", { expiresAt: START + 60 * round - 45 }),
        );
      }
      expect(left()).toBe(50);
      // The sweep comes every 15 to 30 seconds.
      await clock.advanceAsync(60_000);
      await vi.waitFor(() => {
        expect(left(), String(round)).toBe(0);
      }, PATIENCE);
    }
  });
});

interface Opened {
  readonly problems: { message: string; remedy: string }[];
  readonly answer: string;
  readonly before: boolean;
  readonly after: boolean;
}

describe("SQLite store: node:sqlite", () => {
  it("is loaded by the first store, not by the import", async () => {
    const child = childProcess("sqlite-processes.mjs", ["open", newFile()]);
    let errors = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
    expect(await message(child)).toEqual({
      problems: [],
      answer: "answered",
      before: false,
      after: true,
    });
    await once(child, "close");
    // Node 22 warns of `node:sqlite`.
    expect(
      errors
        .split("\n")
        .filter((line) => line !== "" && !/ExperimentalWarning|--trace-warnings/.test(line)),
    ).toEqual([]);
  });

  it("that the runtime doesn't have is a problem that names the version to use, and no file is made", async () => {
    const folder = newFolder();
    const file = path.join(folder, "sessions.db");
    const child = childProcess("sqlite-processes.mjs", ["open", file], undefined, [
      "--no-experimental-sqlite",
    ]);
    const told = (await message(child)) as Opened;
    expect(told.problems).toHaveLength(1);
    expect(told.problems[0]?.message).toContain(
      `needs node:sqlite, which this runtime (Node.js ${process.version}) doesn't have`,
    );
    expect(told.problems[0]?.remedy).toContain("Node.js 22.19 or later");
    expect(told.answer).toMatch(/^StoreUnavailableError: .*node:sqlite/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("SQLite store: a file that better-sqlite3 wrote", () => {
  // better-sqlite3 12.11.1 wrote it through this store on Node.js 20.20.2. The process closed the
  // store and opened it again, replaced, touched, deleted and inserted, and was killed, so the
  // later half is in the log of writes alone.
  const FIXTURE = path.join(import.meta.dirname, "better-sqlite3");
  const END = START + 3_600;

  function unpacked(): string {
    const file = newFile();
    for (const end of ["", "-wal"])
      writeFileSync(
        file + end,
        gunzipSync(readFileSync(path.join(FIXTURE, `sessions.db${end}.gz`))),
      );
    return file;
  }

  it("is read and written as before, with what was in the log of a killed process", async () => {
    const file = unpacked();
    const clock = new TestClock(START * 1000);
    const store = opened(file, { clock });
    expect(store.problems).toEqual([]);
    expect(await store.get("ada")).toEqual({
      data: bytes("ada"),
      version: "3c2YyumQ0lMytIlOgbMluA",
      expiresAt: END + 30,
      lastActive: START + 30,
      subject: "ada's subject",
      sid: "ada's sid",
      summary: bytes("ada's summary"),
    });
    expect(await store.get("grace")).toEqual({
      data: bytes("grace, replaced"),
      version: "yKYvG604kLlqpebsFL-UdQ",
      expiresAt: END + 10,
      lastActive: START + 5,
      subject: "grace's subject",
    });
    expect((await store.get("login"))?.data).toEqual(bytes(""));
    expect(await store.get("deleted")).toBeUndefined();
    expect(await textOf(store, "edsger")).toBe("edsger ".repeat(1_000));
    const page = await store.listBySubject("ada's subject");
    expect([...page.entries.keys()].sort()).toEqual(["ada", "edsger"]);
    const version = await versionOf(store, "ada");
    expect(await store.replace("ada", entry("again", { expiresAt: END }), version)).toBe(true);
    expect(await store.touch("grace", START + 60, END + 60)).toBe(true);
    clock.advance(700_000);
    expect(await store.get("login")).toBeUndefined();
    expect(firstOf(beside(file), "PRAGMA integrity_check")).toBe("ok");
  });

  it("two processes open it at once, and no update is lost", async () => {
    const file = unpacked();
    const children = [1, 2].map(() => childProcess("sqlite-processes.mjs", ["race", file, 20]));
    for (const child of children) expect(await message(child)).toBe("ready");
    const results = children.map((child) => message(child));
    for (const child of children) child.send("go");
    await Promise.all(results);
    expect(await textOf(opened(file), "counter")).toBe("40");
    expect(firstOf(beside(file), "PRAGMA integrity_check")).toBe("ok");
  });
});
