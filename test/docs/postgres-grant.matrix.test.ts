import { readFileSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresStore } from "../../src/stores/postgres/postgres-store.js";
import { ensurePostgres, startPostgres, type PostgresServer } from "../support/postgres-server.js";

// The privileges that docs/reference/databases.md grants to the application's role.

const PAGE = readFileSync(
  path.resolve(import.meta.dirname, "../../docs/reference/databases.md"),
  "utf8",
);
const [GRANT = "", PRIVILEGES = ""] = /^GRANT (.+) ON idpauth_sessions TO app;$/m.exec(PAGE) ?? [];

const isMissing = (await ensurePostgres()) === undefined;

describe.skipIf(isMissing)("a PostgreSQL role with the privileges of the page", () => {
  let server: PostgresServer;
  let owner: pg.Pool;
  let app: pg.Pool;

  beforeAll(async () => {
    server = await startPostgres();
    owner = new pg.Pool({ connectionString: server.url });
    await postgresStore(owner, { sweepInterval: 0 }).migrate();
    await owner.query("CREATE ROLE app LOGIN");
    app = new pg.Pool({
      connectionString: server.url.replace("postgres@", "app@"),
      connectionTimeoutMillis: 2_000,
    });
  });
  afterAll(async () => {
    await app.end();
    await owner.end();
    await server.stop();
  });

  /** Calls the methods of the store, and returns the names of those that fail. */
  async function failures(): Promise<string[]> {
    const store = postgresStore(app, { sweepInterval: 0 });
    const failed: string[] = [];
    const check = async (method: string, work: () => Promise<unknown>): Promise<void> => {
      if (!(await work().catch(() => false))) failed.push(method);
    };
    const key = crypto.randomUUID();
    const entry = {
      data: Buffer.from("data"),
      expiresAt: Date.now() / 1000 + 600,
      subject: key,
      sid: key,
    };
    await check("migrate", async () => store.migrate().then(() => true));
    await check("insert", () => store.insert(key, entry));
    await check("get", () => store.get(key));
    await check("touch", () => store.touch(key, 5, entry.expiresAt + 10));
    await check("replace", async () => store.replace(key, entry, (await store.get(key))!.version));
    await check("listBySubject", async () => (await store.listBySubject(key)).entries.size === 1);
    await check("listBySid", async () => (await store.listBySid(key)).entries.size === 1);
    await check("getMany", async () => (await store.getMany!([key])).size === 1);
    await check("serverProblems", async () => (await store.serverProblems!()).length === 0);
    await check("delete", () => store.delete(key));
    await store.close();
    return failed;
  }

  it("does everything", async () => {
    await owner.query(GRANT);
    expect(await failures()).toEqual([]);
  });

  it.each(PRIVILEGES.split(", "))("needs %s", async (privilege) => {
    await owner.query(GRANT);
    await owner.query(`REVOKE ${privilege} ON idpauth_sessions FROM app`);
    expect(await failures()).not.toEqual([]);
  });
});
