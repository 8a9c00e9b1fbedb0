// Hono on Node.js without sign-in.
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const app = new Hono();
app.get("/page", (c) => c.json({ user: "ada" }));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
