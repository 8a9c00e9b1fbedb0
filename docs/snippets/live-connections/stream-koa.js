import Router from "@koa/router";
import Koa from "koa";
import { idpAuth } from "idpauth/koa";
import { sendNotices } from "./notices.js";

const app = new Koa();
const auth = idpAuth();
auth.mount(app);

const router = new Router();

// #region stream
router.get("/api/stream", auth.idpRequired, async (ctx) => {
  sendNotices(await auth.eventStream(ctx));
});
// #endregion
app.use(router.routes());
