import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";

const app = new Hono();
const auth = idpAuth(); // settings come from the environment
auth.mount(app); // startup checks, then /idpauth/*

app.get("/", (c) => c.html('<a href="/reports">Reports</a>'));

app.get("/reports", auth.idpRequired, async (c) => {
  const { user } = await auth.requireSession(c);
  return c.json({ hello: user.name, email: user.email });
});

const port = Number(process.env["PORT"] ?? 3000);
serve({ fetch: app.fetch, port }, () => {
  console.log(`http://localhost:${port}/reports`);
});
