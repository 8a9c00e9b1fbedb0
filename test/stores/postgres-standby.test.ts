import { writeFileSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkStore } from "../../src/cli/live/check-live-store.js";
import { postgresStore } from "../../src/stores/postgres/postgres-store.js";
import { checkIo } from "../cli/live-run.js";
import { startApplication } from "../support/application.js";
import { eventually } from "../support/eventually.js";
import { ensurePostgres, startPostgres, type PostgresServer } from "../support/postgres-server.js";

const isMissing = (await ensurePostgres()) === undefined;

describe.skipIf(isMissing)("a PostgreSQL standby", () => {
  let server: PostgresServer;
  let pool: pg.Pool;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 2_000 });
    pool.on("error", () => undefined);
    await postgresStore(pool, { sweepInterval: 0 }).migrate();
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  it("is E012 in the log and in the live check; a primary is not", async () => {
    const store = postgresStore(pool, { sweepInterval: 0 });
    expect(await store.serverProblems?.()).toEqual([]);
    const { rows } = await pool.query<{ data_directory: string }>("SHOW data_directory");
    writeFileSync(path.join(rows[0]!.data_directory, "standby.signal"), "");
    await server.restart();
    const app = await startApplication({ store });
    await eventually(async () => {
      // What was sent over a connection that the restart has closed, is asked again.
      await app.clock.advanceAsync(1_000);
      expect(app.log.filter(({ code }) => code === "E012")).toMatchObject([
        { level: "error", message: expect.stringContaining("standby") as string },
      ]);
    });
    const { findings } = await checkStore(server.url, {}, checkIo());
    expect(findings.map(({ code }) => code)).toEqual(["E012"]);
    await app.stop();
  });
});
