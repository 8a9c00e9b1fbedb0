import Router from "@koa/router";
import Koa from "koa";
import { idpAuth } from "idpauth/koa";

const app = new Koa();
const router = new Router();
const auth = idpAuth(); // settings come from the environment
auth.mount(app);

router.get("/reports", auth.idpRequired, async (ctx) => {
  const { user } = await auth.requireSession(ctx);
  ctx.body = { hello: user.name };
});

app.use(router.routes()).listen(3000);
