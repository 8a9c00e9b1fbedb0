import express from "express";
import { idpAuth } from "idpauth/express";
import { sqliteStore } from "idpauth/sqlite";

/** @type {import("idpauth").SessionStore} */
const store = sqliteStore(":memory:");
const app = express();
const auth = idpAuth({ store });
auth.mount(app);
export const server = app.listen(3000);

// #region shutdown
process.once("SIGTERM", async () => {
  await new Promise((resolve) => server.close(resolve));
  // stores running refreshes, and revokes the tokens that wait for a logout at the provider
  await auth.idle();
  await store.close?.();
  process.exit();
});
// #endregion
