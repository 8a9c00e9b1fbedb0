import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";

export const app = new Hono();
const auth = idpAuth();

// #region log
app.use(async (c, next) => {
  await next();
  const user = auth.seenSession(c)?.user.id ?? null;
  const { method, path } = c.req;
  console.log(JSON.stringify({ method, path, status: c.res.status, user }));
});
auth.mount(app);
// #endregion

app.get("/reports", auth.idpRequired, (c) => c.text("passed"));
app.get("/broken", auth.idpRequired, () => {
  throw new Error("This route is broken.");
});
