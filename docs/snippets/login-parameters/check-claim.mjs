import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();
auth.mount(app);

// #region check-claim
app.get("/reports", auth.idpRequired, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  if (claims["hd"] !== "example.com") {
    res.status(403).send("Only users of example.com may see this page.");
    return;
  }
  res.send("The reports");
});
// #endregion
