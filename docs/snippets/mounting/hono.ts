// #region mount
import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";

const app = new Hono();
const auth = idpAuth();
auth.mount(app);
// #endregion

export { app };
