import Router from "@koa/router";
import { idpAuth } from "idpauth/koa";
import Koa from "koa";

const app = new Koa();
const router = new Router();
const auth = idpAuth(); // settings come from the environment
auth.mount(app); // startup checks, then /idpauth/*

router.get("/", (ctx) => {
  ctx.body = '<a href="/reports">Reports</a>';
});

router.get("/reports", auth.idpRequired, async (ctx) => {
  const { user } = await auth.requireSession(ctx);
  ctx.body = { hello: user.name, email: user.email };
});

app.use(router.routes());

const port = process.env["PORT"] ?? 3000;
app.listen(port, () => {
  console.log(`http://localhost:${port}/reports`);
});
