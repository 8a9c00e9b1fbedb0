import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "redis";
import pg from "pg";
import { describe, expect, it } from "vitest";
import type { SessionStore } from "../../src/ports/session-store.js";
import { postgresStore } from "../../src/stores/postgres/postgres-store.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import { keysBySubject } from "../support/listed-keys.js";
import { startApplication } from "../support/application.js";
import { dumpPostgres, startPostgres } from "../support/postgres-server.js";
import { dumpRedis, startRedis } from "../support/redis-server.js";
import { TestClock } from "../../src/testing/test-clock.js";

const SECRET_KEY = "the secret key of this application, 32 bytes";
const ADA = {
  sub: "ada-lovelace-1815",
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};
const HOUR = 3_600_000;
/** What the application stores in a session. */
const OWN = {
  claim: "department of engines",
  account: "account number 4711",
  refreshed: "a note of the refresh",
  updated: "a dark and stormy theme",
};

interface Place {
  readonly store: SessionStore;
  /** Everything that somebody who steals the store has. */
  dump(): Promise<Buffer>;
  close(): Promise<void>;
}

const places: Record<string, () => Promise<Place>> = {
  async sqlite() {
    const folder = mkdtempSync(path.join(tmpdir(), "idpauth-stolen-"));
    const store = sqliteStore(path.join(folder, "sessions.db"));
    return {
      store,
      dump: async () =>
        Buffer.concat(readdirSync(folder).map((file) => readFileSync(path.join(folder, file)))),
      async close() {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
  async redis() {
    const server = await startRedis();
    const client = createClient({ url: server.url, disableOfflineQueue: true });
    client.on("error", () => undefined);
    await client.connect();
    return {
      store: redisStore(client),
      dump: () => dumpRedis(server.url),
      async close() {
        client.destroy();
        await server.stop();
      },
    };
  },
  async postgres() {
    const server = await startPostgres();
    const pool = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 2_000 });
    const store = postgresStore(pool);
    await store.migrate();
    return {
      store,
      dump: async () => Buffer.from(await dumpPostgres(server.url)),
      async close() {
        await store.close();
        await pool.end();
        await server.stop();
      },
    };
  },
};

/**
 * A text as it may lie in a dump: itself, in hex, or within base64 at each of the three places
 * where it can begin.
 */
function formsOf(text: string): Buffer[] {
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).toString("base64");
    // Its ends depend on what stands before and after.
    return encoded.slice(Math.ceil((offset * 4) / 3) + 1, -4);
  });
  const forms = [
    text,
    Buffer.from(text).toString("hex"),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
  return forms.map((form) => Buffer.from(form, "latin1"));
}

describe("[ASVS-10.1.1] an attacker who steals the store finds nothing in it", () => {
  it.each(Object.keys(places))(
    "%s: no token, secret, state, nonce, verifier, e-mail, name, cookie value or data of the application, which survives a new key",
    async (name) => {
      const place = await places[name]!();
      const clock = new TestClock(Math.floor(Date.now() / 1000) * 1000);
      const app = await startApplication({
        store: place.store,
        clock,
        secretKey: SECRET_KEY,
        sessionIdleTimeout: 86_400,
        sessionLabel: () => "Firefox on Ada's laptop",
        provider: { person: ADA },
        claims: {
          "~standard": {
            version: 1,
            vendor: "test",
            validate: () => ({ value: { department: OWN.claim } }),
          },
        },
        onSignIn: () => ({ data: { account: OWN.account } }),
        onRefresh: () => (data) => ({ ...data, note: OWN.refreshed }),
      });
      try {
        const cookies: string[] = [];
        const requests: string[] = [];
        // A sign-in that is refreshed; a second login begun in it; a login that nobody finishes; a
        // session that was ended.
        const ada = app.user();
        await ada.signIn();
        cookies.push(...ada.cookies.values());
        clock.advance(HOUR);
        expect(await ada.isSignedIn()).toBe(true);
        await app.auth.updateData(ada.request("/"), (data) => ({ ...data, theme: OWN.updated }));
        requests.push((await ada.get("/idpauth/login/")).location);
        const stranger = app.user();
        requests.push((await stranger.get("/idpauth/login/")).location);
        cookies.push(...stranger.cookies.values());
        const left = app.user();
        await left.signIn();
        cookies.push(...left.cookies.values());
        await left.get("/idpauth/logout/");

        const parameters = requests.flatMap((url) =>
          ["state", "nonce", "code_challenge"].map(
            (key) => new URL(url).searchParams.get(key) ?? "",
          ),
        );
        const secrets = [
          ...app.provider.issued.map(({ value }) => value),
          ...cookies,
          ...parameters,
          ...Object.values(ADA),
          app.provider.clientSecret,
          SECRET_KEY,
          "Firefox on Ada",
          ...Object.values(OWN),
        ];
        expect(secrets.length).toBeGreaterThan(15);
        const dump = await place.dump();
        for (const secret of secrets) {
          expect(secret.length).toBeGreaterThan(8);
          for (const form of formsOf(secret))
            expect(dump.includes(form), `${secret} as ${form.toString("latin1")}`).toBe(false);
        }
        // It is a dump of the sessions all the same, and this way of looking would have found what
        // is there.
        const keys = await keysBySubject(
          place.store,
          (await import("../../src/sessions/seal.js"))
            .createSealer(SECRET_KEY, [])
            .subjectHashes(app.provider, ADA.sub)[0],
        );
        expect(keys).toHaveLength(1);
        expect(formsOf(keys[0] ?? "").some((form) => dump.includes(form))).toBe(true);
        // The application's data and the output of the schema survive a refresh and the rotation of
        // the key.
        const rotated = app.another({
          secretKey: "another secret key of this application",
          secretKeyFallbacks: [SECRET_KEY],
        });
        rotated.start();
        for (const auth of [app.auth, rotated, rotated]) {
          const session = await auth.getSession(ada.request("/"));
          expect(session?.data).toEqual({
            account: OWN.account,
            note: OWN.refreshed,
            theme: OWN.updated,
          });
          expect(session?.claims["department"]).toBe(OWN.claim);
          await rotated.updateData(ada.request("/"), (data) => ({ ...data }));
        }
        expect(
          (await app.auth.getSession(ada.request("/")))?.data,
          "the new key has not been used",
        ).toBeUndefined();
      } finally {
        await app.stop();
        await place.close();
      }
    },
  );
});
