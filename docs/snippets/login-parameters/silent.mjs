import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

// #region silent
const auth = idpAuth({ loginParams: ["prompt"] });
auth.mount(app);

app.get("/", async (req, res) => {
  if ((await auth.getSession(req)) === null && req.query["checked"] === undefined) {
    res.redirect(auth.loginUrl(req, { returnTo: "/?checked=yes", params: { prompt: "none" } }));
    return;
  }
  res.send("Welcome");
});
// #endregion
