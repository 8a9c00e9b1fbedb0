// #region mount
import { idpAuth } from "idpauth/koa";
import Koa from "koa";

const app = new Koa();
const auth = idpAuth();
auth.mount(app);
// #endregion

export { app };
