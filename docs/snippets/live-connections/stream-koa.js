import { Readable } from "node:stream";
import Router from "@koa/router";
import Koa from "koa";
import { idpAuth } from "idpauth/koa";
import { events, HEADERS } from "./event-stream.js";

const app = new Koa();
const auth = idpAuth();
auth.mount(app);

const router = new Router();
router.get("/api/stream", auth.idpRequired, (ctx) => {
  ctx.set(HEADERS);
  ctx.body = Readable.from(events(auth.whenEnded(ctx)));
});
app.use(router.routes());
