import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";

const auth = idpAuth();

// #region own
export const required = auth.idpRequiredWith({
  unauthenticated: (c, blocked) =>
    c.json({ authenticated: false, login_url: blocked.loginUrl }, 401),
});
// #endregion

export const app = new Hono();
auth.mount(app);
app.get("/reports", required, (c) => c.text("passed"));
