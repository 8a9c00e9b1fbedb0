import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();
auth.mount(app);

// #region form
const required = auth.idpRequiredWith({
  unauthenticated: (req, res, blocked) => {
    res.status(401);
    if (req.accepts(["json", "html"]) !== "html") {
      res.json({ authenticated: false, login_url: blocked.loginUrl });
      return;
    }
    const link = `<a href="${blocked.loginUrl}" target="_blank">Sign in</a>`;
    res.send(
      `Your session has ended. ${link} in a new tab. Then reload this page to send your form.`,
    );
  },
});
// #endregion

app.post("/orders", required, (req, res) => {
  res.send("passed");
});
