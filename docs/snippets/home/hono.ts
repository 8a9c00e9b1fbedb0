import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";

const app = new Hono();
const auth = idpAuth(); // settings come from the environment
auth.mount(app);

app.get("/reports", auth.idpRequired, async (c) => {
  const { user } = await auth.requireSession(c);
  return c.json({ hello: user.name });
});

serve({ fetch: app.fetch, port: 3000 });
