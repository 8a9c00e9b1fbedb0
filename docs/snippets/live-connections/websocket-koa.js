import { createServer } from "node:http";
import Router from "@koa/router";
import Koa from "koa";
import { idpAuth } from "idpauth/koa";
import { accept, hasOwnOrigin, routeUpgrades } from "./upgrades.js";

const app = new Koa();
const auth = idpAuth();
auth.mount(app);

const router = new Router();

// #region websocket
router.get(
  "/api/ws",
  (ctx, next) => (hasOwnOrigin(ctx.req) ? next() : ctx.throw(403)),
  auth.idpRequired,
  (ctx) => {
    ctx.respond = false;
    accept(ctx.req, ctx.res, auth.whenEnded(ctx), (socket) => {
      socket.on("message", (data) => console.log(String(data)));
      socket.send("hello");
    });
  },
);
app.use(router.routes());

const listener = app.callback();
export const server = createServer(listener);
routeUpgrades(server, listener);
// #endregion
