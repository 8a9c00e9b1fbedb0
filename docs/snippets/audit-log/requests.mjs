import express from "express";
import { hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();
/** @type {unknown[]} */
export const lines = [];
const write = (/** @type {unknown} */ line) => lines.push(line);

// #region log
app.use((req, res, next) => {
  res.once("close", () => {
    const session = auth.seenSession(req);
    write({ user: session?.user.id ?? null, path: req.path, status: res.statusCode });
  });
  next();
});
auth.mount(app);
// #endregion

app.get("/reports", auth.idpRequired, (req, res) => {
  res.send("passed");
});
app.get("/admin", auth.idpRequiredWith({ allow: hasClaim("groups", "admin") }), (req, res) => {
  res.send("passed");
});
app.get("/transfer", auth.idpRequiredWith({ maxAge: 60 }), (req, res) => {
  res.send("passed");
});
