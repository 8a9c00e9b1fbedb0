import { Hono } from "hono";

// #region own
import { idpAuth } from "idpauth/hono";

const auth = idpAuth();
export const required = auth.idpRequiredWith({
  unauthenticated: (c, blocked) => c.json({ signInAt: blocked.loginUrl }, 401),
});
// #endregion

export const app = new Hono();
auth.mount(app);
app.get("/reports", required, (c) => c.text("passed"));
