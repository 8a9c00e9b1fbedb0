import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { createClient } from "redis";
import { afterEach, describe, expect, it } from "vitest";
import { TestClock } from "../../src/testing/test-clock.js";
import type { SessionStore } from "../../src/index.js";
import { postgresStore } from "../../src/stores/postgres/postgres-store.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import { startApplication } from "../support/application.js";
import { ensurePostgres, startPostgres } from "../support/postgres-server.js";
import { redisForTests, startRedis } from "../support/redis-server.js";

// The commands of docs/how-to/upgrades-and-keys.md#sign-everyone-out, as they stand on the page.

const PAGE = readFileSync(
  path.resolve(import.meta.dirname, "../../docs/how-to/upgrades-and-keys.md"),
  "utf8",
);
const HOUR = 3_600_000;

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** The command in the row of a store. */
function commandFor(store: string): string {
  const [, command] = new RegExp(`^\\| ${store} \\| \`(.+?)\``, "m").exec(PAGE) ?? [];
  if (command === undefined) throw new Error(`The page has no command for ${store}.`);
  return command.replaceAll("\\|", "|");
}

interface Stored {
  readonly store: SessionStore;
  /** Runs the page's command. */
  end(): void;
}

async function redis(clock: TestClock): Promise<Stored> {
  const server = await startRedis();
  const client = createClient({ url: server.url, disableOfflineQueue: true });
  client.on("error", () => undefined);
  await client.connect();
  stops.push(() => server.stop());
  stops.push(() => client.destroy());
  const command = commandFor("Redis").replaceAll(
    "redis-cli",
    `redis-cli -p ${String(server.port)}`,
  );
  return {
    store: redisStore(client, { clock }),
    end: () => void execFileSync("sh", ["-c", command]),
  };
}

async function postgres(clock: TestClock): Promise<Stored> {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 2000 });
  pool.on("error", () => undefined);
  stops.push(() => server.stop());
  stops.push(() => pool.end());
  const store = postgresStore(pool, { clock });
  await store.migrate();
  const command = commandFor("PostgreSQL").replace("psql", `psql ${server.url}`);
  return { store, end: () => void execFileSync("sh", ["-c", command]) };
}

async function sqlite(clock: TestClock): Promise<Stored> {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-everyone-"));
  stops.push(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "sessions.db");
  const store = sqliteStore(file, { clock });
  stops.push(() => store.close?.());
  return {
    store,
    end() {
      const database = new DatabaseSync(file);
      database.exec(commandFor("SQLite"));
      database.close();
    },
  };
}

// Redis announces ends, but not those of deleted keys, so idpauth reads the sessions less often.
describe.each([
  ["Redis", redis, (await redisForTests()) !== undefined, 65],
  ["PostgreSQL", postgres, (await ensurePostgres()) !== undefined, 5],
  ["SQLite", sqlite, true, 5],
] as const)("the page's command for %s", (_name, start, isInstalled, seconds) => {
  it.skipIf(!isInstalled)(
    `ends every session in every process, one that's being refreshed too, and open connections within ${String(seconds)} seconds`,
    async () => {
      const clock = new TestClock(Date.now());
      const { store, end } = await start(clock);
      const application = await startApplication({ store, clock });
      stops.push(() => application.stop());
      const [ada, grace] = [application.user(), application.user()];
      for (const user of [ada, grace]) await user.signIn();
      expect([await ada.isSignedIn(), await grace.isSignedIn()]).toEqual([true, true]);
      const signal = application.auth.whenEnded(ada.request("/"));

      clock.advance(HOUR);
      const hold = application.provider.hold("token");
      const refreshing = grace.isSignedIn();
      await hold.arrived;
      const unfinished = application.user();
      const callback = await unfinished.approve();
      end();
      hold.release();

      expect(await refreshing).toBe(false);
      const other = application.another();
      for (const user of [ada, grace, ada.at(other), grace.at(other)])
        expect(await user.isSignedIn()).toBe(false);
      await clock.advanceAsync(seconds * 1000);
      // A look that began before may have taken until now, and the next one has its own time.
      await expect
        .poll(async () => {
          if (!signal.aborted) await clock.advanceAsync(1000);
          return signal.aborted;
        })
        .toBe(true);
      expect((await unfinished.get(callback)).status).not.toBe(200);
      expect(await unfinished.isSignedIn()).toBe(false);
      await unfinished.signIn();
      expect(await unfinished.isSignedIn()).toBe(true);
    },
  );
});
