import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { storeKeyOf } from "../../src/sessions/cookie.js";
import {
  postgresMigration,
  postgresStore,
  type PostgresStore,
} from "../../src/stores/postgres/postgres-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type TestUser } from "../support/application.js";
import { ensurePostgres, startPostgres, type PostgresServer } from "../support/postgres-server.js";

const CHANNEL = "idpauth_ended";
const PATIENCE = 60_000;

/**
 * PostgreSQL has no permissions for channels: every role that can connect to the database can
 * LISTEN and NOTIFY.
 */
describe.skipIf((await ensurePostgres()) === undefined)(
  "[ATT-1] a database role without privileges on the table of sessions",
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
      const owner = await clientTo(server.url);
      await owner.query(`CREATE ROLE stranger LOGIN; ${postgresMigration()}`);
      await owner.end();
    });
    afterAll(() => server.stop());

    async function clientTo(url: string): Promise<pg.Client> {
      const client = new pg.Client(url);
      client.on("error", () => undefined);
      await client.connect();
      return client;
    }

    async function stranger(): Promise<pg.Client> {
      const client = await clientTo(server.url.replace("postgres@", "stranger@"));
      onTestFinished(() => client.end());
      await expect(client.query("SELECT * FROM idpauth_sessions")).rejects.toThrow(
        "permission denied",
      );
      return client;
    }

    function opened(listen?: pg.Client): PostgresStore {
      const pool = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 2_000 });
      const store = postgresStore(pool, { sweepInterval: 0, ...(listen && { listen }) });
      onTestFinished(async () => {
        await store.close();
        await pool.end();
      });
      return store;
    }

    /**
     * A process that listens, another one that does not, and a signed-in user, whose connection to
     * the first one stays open.
     */
    async function start() {
      const listen = await clientTo(server.url);
      onTestFinished(() => listen.end());
      const store = opened(listen);
      const looks: Promise<unknown>[] = [];
      const getMany = store.getMany?.bind(store);
      store.getMany = (keys) => {
        const look = getMany?.(keys) ?? Promise.resolve(new Map());
        looks.push(look);
        return look;
      };
      // The time of PostgreSQL, which decides what has expired.
      const app = await startApplication({ store, clock: new TestClock(Date.now()) });
      onTestFinished(() => app.stop());
      const another = app.another({ store: opened() });
      const signedIn = async () => {
        const user = app.user();
        await user.signIn();
        return {
          user,
          ended: app.auth.whenEnded(user.request("/stream")),
          elsewhere: user.at(another),
        };
      };
      return { ...app, looks, signedIn };
    }

    /**
     * Signs a user out in the other process, and waits until the first process has heard of it. It
     * polls only when its clock moves.
     */
    async function signOutElsewhere({
      elsewhere,
      ended,
    }: {
      elsewhere: TestUser;
      ended: AbortSignal;
    }): Promise<void> {
      await elsewhere.get("/idpauth/logout/");
      await expect.poll(() => ended.aborted, { timeout: PATIENCE }).toBe(true);
    }

    it("that listens learns keys of sessions that have ended, and no request can use one", async () => {
      const listener = await stranger();
      const heard: string[] = [];
      listener.on("notification", ({ payload = "" }) => heard.push(payload));
      await listener.query(`LISTEN ${CHANNEL}`);
      const { auth, provider, signedIn } = await start();
      const [leaving, staying] = [await signedIn(), await signedIn()];
      const cookie = leaving.user.cookies.get("idpauth") ?? "";
      await signOutElsewhere(leaving);
      const key = storeKeyOf(cookie);
      await expect.poll(() => heard, { timeout: PATIENCE }).toContain(`${key} logout`);
      expect(heard.filter((message) => !message.startsWith("proof-"))).toEqual([`${key} logout`]);

      const secrets = [
        cookie,
        staying.user.cookies.get("idpauth") ?? "",
        "ada@example.com",
        ...provider.issued.map(({ value }) => value),
      ];
      expect(secrets.filter((secret) => heard.some((message) => message.includes(secret)))).toEqual(
        [],
      );
      for (const value of [key, cookie]) {
        const thief = staying.user.request("/reports", { headers: { cookie: `idpauth=${value}` } });
        expect((await auth.guard(thief))?.kind).toBe("unauthenticated");
      }
      expect(staying.ended.aborted).toBe(false);
    });

    it("that announces the end of a live session, although it knows the key, closes no connection and signs nobody out", async () => {
      const forger = await stranger();
      const { looks, signedIn } = await start();
      const [victim, control] = [await signedIn(), await signedIn()];
      const key = storeKeyOf(victim.user.cookies.get("idpauth") ?? "");
      const before = looks.length;
      for (const reason of [
        "logout",
        "replaced",
        "ended_everywhere",
        "logged_out_at_provider",
        "",
        "<b>",
      ]) {
        await forger.query("SELECT pg_notify($1, $2)", [CHANNEL, `${key} ${reason}`]);
      }
      // Messages arrive in their order, so the first process has heard the forged ones, too.
      await signOutElsewhere(control);
      expect(looks.length).toBeGreaterThan(before + 5);
      await Promise.all(looks);
      expect(await victim.user.isSignedIn()).toBe(true);
      expect(await victim.elsewhere.isSignedIn()).toBe(true);
      expect(victim.ended.aborted).toBe(false);
    });

    it("that floods the channel with messages causes no query, and a genuine end still arrives at once", async () => {
      const flooder = await stranger();
      const { looks, signedIn } = await start();
      const [victim, leaving] = [await signedIn(), await signedIn()];
      const before = looks.length;
      const messages = [
        "''",
        "' '",
        "' logout'",
        "'proof-' || repeat('A', 16)",
        "'__proto__ logout'",
        "repeat('x', 7999)",
        "repeat(chr(10), 4000) || ' logout'",
        "md5(n::text) || '01234567890 logout'",
      ];
      for (const message of messages)
        await flooder.query(
          `SELECT pg_notify('${CHANNEL}', ${message}) FROM generate_series(1, 2000) AS n`,
        );
      await signOutElsewhere(leaving);
      // The genuine end is the only message about a session that this process watches.
      expect(looks.length).toBe(before + 1);
      expect(await victim.user.isSignedIn()).toBe(true);
      expect(victim.ended.aborted).toBe(false);
    });
  },
);
