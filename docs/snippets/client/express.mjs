import { readFileSync } from "node:fs";
import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth();
auth.mount(app);

// #region client
const client = readFileSync(new URL(import.meta.resolve("idpauth/client/browser")));
app.get("/idpauth-client.js", (req, res) => res.type("js").send(client));
// #endregion

export { app };
