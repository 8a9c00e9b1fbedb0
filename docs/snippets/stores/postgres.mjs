import express from "express";
import { idpAuth } from "idpauth/express";
// #region connect
import pg from "pg";
import { postgresStore } from "idpauth/postgres";

const connectionString = process.env.DATABASE_URL;
const pool = new pg.Pool({
  connectionString,
  connectionTimeoutMillis: 2000,
  allowExitOnIdle: true, // the process can end even if PostgreSQL doesn't respond
});
pool.on("error", (error) => console.error(error));
const store = postgresStore(pool);
await store.migrate(); // idempotent; or run the SQL of postgresMigration() with your own migrations
const auth = idpAuth({ store });
// #endregion

const app = express();
auth.mount(app);
app.get("/", auth.idpRequired, (_req, res) => void res.send("Hello"));
const server = app.listen(process.env.PORT ?? 3000);

process.once("SIGTERM", async () => {
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
  await closed;
  await store.close();
  await pool.end();
});
