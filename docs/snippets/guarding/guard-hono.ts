import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";

const app = new Hono();
const auth = idpAuth();
auth.mount(app);

// #region guard
app.get("/reports", auth.idpRequired, async (c) => {
  const { user } = await auth.requireSession(c);
  return c.json({ hello: user.name });
});
// #endregion

export { app };
