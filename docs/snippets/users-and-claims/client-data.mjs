import express from "express";

export const app = express();

// #region client-data
import { hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";

const isAdmin = hasClaim("groups", "admin");

const auth = idpAuth({ clientData: (session) => ({ isAdmin: isAdmin(session) }) });
auth.mount(app);

app.get("/app", async (req, res) => {
  const state = await auth.clientState(req);
  res.json(state); // { authenticated, user, …, data: { isAdmin } }
});
// #endregion
