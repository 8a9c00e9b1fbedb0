import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth({ onSignIn: () => ({ data: { userId: 7 } }) });
auth.mount(app);

// #region change
app.post("/theme", auth.idpRequired, async (req, res) => {
  const data = await auth.updateData(req, (before) => ({ ...before, theme: "dark" }));
  res.json(data); // null: the user has signed out in the meantime
});
// #endregion
