import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hasClaim } from "../../src/index.js";
import { storeKeyOf } from "../../src/sessions/cookie.js";
import { postgresStore, type PostgresStore } from "../../src/stores/postgres/postgres-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { ensurePostgres, startPostgres, type PostgresServer } from "../support/postgres-server.js";

const HOUR = 3_600_000;
const COLUMNS = "version, expires_at, last_active, subject, sid, summary, data";

/**
 * Whoever can write to the store can put an older row back under its key. A row is encrypted with
 * the value of the session cookie, which the store does not have. docs/reference/threat-model.md says
 * what this gives.
 */
describe.skipIf((await ensurePostgres()) === undefined)(
  "[ATT-10] an attacker who can write to the store",
  () => {
    let server: PostgresServer;
    let pool: pg.Pool;
    let store: PostgresStore;
    let app: Application;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.stop());
    beforeEach(() => {
      pool = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 2_000 });
    });
    afterEach(async () => {
      await app.stop();
      await store.close();
      await pool.end();
    });

    async function start(options: ApplicationOptions = {}): Promise<TestUser> {
      const clock = new TestClock();
      store = postgresStore(pool, { clock, sweepInterval: 0 });
      await store.migrate();
      app = await startApplication({ store, clock, ...options });
      const user = app.user();
      await user.signIn();
      return user;
    }

    const keyOf = (user: TestUser) => storeKeyOf(user.cookies.get("idpauth") ?? "");

    /** Keeps a copy of a row. @returns puts it back, under its own key or another one */
    async function copied(key: string): Promise<(under?: string) => Promise<void>> {
      const { rows } = await pool.query<Record<string, unknown>>(
        `SELECT ${COLUMNS} FROM idpauth_sessions WHERE key = $1`,
        [key],
      );
      const values = Object.values(rows[0] ?? {});
      expect(values).toHaveLength(7);
      return async (under = key) => {
        await pool.query("DELETE FROM idpauth_sessions WHERE key = $1", [under]);
        await pool.query(
          `INSERT INTO idpauth_sessions (key, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
          [under, ...values],
        );
      };
    }

    /** A thief's browser, which keeps the cookie. */
    const thiefOf = (user: TestUser) => user.at(app.auth);

    it("and puts a row back after the logout revives the session only for a holder of its cookie, until its maximum age", async () => {
      const user = await start({
        sessionMaxAge: 7_200,
        sessionIdleTimeout: 1_800,
        provider: { idTokenSeconds: 86_400 },
      });
      const [thief, key, restore] = [thiefOf(user), keyOf(user), await copied(keyOf(user))];
      await user.get("/idpauth/logout/");
      expect(await thief.isSignedIn()).toBe(false);
      await restore();
      // By design: a row that was never deleted looks the same.
      expect(await thief.isSignedIn()).toBe(true);
      expect(
        (await app.auth.guard(user.request("/", { headers: { cookie: `idpauth=${key}` } })))?.kind,
      ).toBe("unauthenticated");
      // The stamps stand in columns of their own, so the idle timeout does not hold against this
      // attacker.
      const restamp = () =>
        pool.query(
          "UPDATE idpauth_sessions SET last_active = $2, expires_at = 1e11 WHERE key = $1",
          [key, app.clock.now() / 1000],
        );
      app.clock.advance(HOUR);
      await restamp();
      expect(await thief.isSignedIn()).toBe(true);
      // The time of the sign-in is encrypted, so the maximum age does.
      app.clock.advance(HOUR + 1_000);
      await restore();
      await restamp();
      expect((await thief.get("/idpauth/session?details=true")).json()).toMatchObject({
        authenticated: false,
        reason: "max_age",
      });
    });

    it("and puts a row back after a refresh brings old permissions back at most until their ID token expires, and no spent token works", async () => {
      const isAdmin = { allow: hasClaim("groups", "admin") };
      const user = await start({
        provider: {
          idTokenSeconds: 600,
          accessTokenSeconds: 600,
          person: { sub: "ada", groups: ["admin"] },
        },
      });
      const allowed = async () =>
        (await app.auth.guard(user.request("/"), isAdmin))?.kind ?? "allowed";
      const restore = await copied(keyOf(user));
      app.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, groups: [] } });
      app.clock.advance(400_000);
      await app.auth.getAccessToken(user.request("/"), { minValidity: 300 });
      expect(await allowed()).toBe("forbidden");
      await restore();
      // By design: a row that was never refreshed looks the same.
      expect(await allowed()).toBe("allowed");
      app.clock.advance(201_000);
      const before = app.provider.requestsTo("token").length;
      // Now the session needs its refresh token. The provider knows that it was spent.
      expect(await allowed()).toBe("unauthenticated");
      expect(app.provider.requestsTo("token")).toHaveLength(before + 1);
      expect(app.provider.reuses).toBe(1);
      expect(await user.isSignedIn()).toBe(false);
    });

    it("and changes, moves or swaps rows makes no session, gets no one else's, and reads nothing in them", async () => {
      const user = await start();
      const mallory = app.user();
      await mallory.signIn(undefined, { sub: "mallory", email: "mallory@example.com" });
      const [ada, own] = [keyOf(user), keyOf(mallory)];
      const restoreAda = await copied(ada);
      const restoreOwn = await copied(own);

      // Ada's row under the key of Mallory's own cookie, with every column, or with the encrypted
      // one alone.
      await restoreAda(own);
      expect(await mallory.isSignedIn()).toBe(false);
      await restoreOwn();
      await pool.query(
        "UPDATE idpauth_sessions SET data = (SELECT data FROM idpauth_sessions WHERE key = $2) WHERE key = $1",
        [own, ada],
      );
      expect(await mallory.isSignedIn()).toBe(false);
      await restoreOwn();
      // Mallory's row under the key of Ada's cookie signs Ada out, as a deletion does, but not in
      // as Mallory.
      await restoreOwn(ada);
      expect((await user.get("/idpauth/session")).json()).toEqual({
        authenticated: false,
        user: null,
      });
      await restoreAda();
      // One bit of any byte.
      const { rows } = await pool.query<{ length: number }>(
        "SELECT length(data) FROM idpauth_sessions WHERE key = $1",
        [ada],
      );
      const length = rows[0]?.length ?? 0;
      for (const at of [0, 1, 12, 13, Math.floor(length / 2), length - 1]) {
        await pool.query(
          "UPDATE idpauth_sessions SET data = set_byte(data, $2, get_byte(data, $2) # 1) WHERE key = $1",
          [ada, at],
        );
        expect(await user.isSignedIn(), `byte ${String(at)}`).toBe(false);
        await restoreAda();
      }
      expect(await user.isSignedIn()).toBe(true);
      const { rows: all } = await pool.query<Record<string, unknown>>(
        "SELECT encode(data, 'escape') || encode(summary, 'escape') AS text FROM idpauth_sessions",
      );
      for (const { value } of app.provider.issued) expect(JSON.stringify(all)).not.toContain(value);
    });
  },
);
