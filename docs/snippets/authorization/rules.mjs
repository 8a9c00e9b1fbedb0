import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();
auth.mount(app);

/** @type {express.RequestHandler} */
const handler = (_req, res) => void res.send("passed");

// #region rules
import { allOf, anyOf, emailDomain, hasClaim } from "idpauth";

const mayPublish = anyOf(
  hasClaim("groups", "editor"),
  allOf(hasClaim("groups", "author"), emailDomain("example.com")),
);

app.post("/articles", auth.idpRequiredWith({ allow: mayPublish }), handler);
// #endregion
