import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();
auth.mount(app);

// #region forbidden
import { hasClaim } from "idpauth";

const admin = auth.idpRequiredWith({
  allow: hasClaim("groups", "admin"),
  forbidden: (req, res) => {
    res.status(403).send("Ask your team lead for access.");
  },
});
// #endregion

app.get("/admin", admin, (_req, res) => void res.send("passed"));
