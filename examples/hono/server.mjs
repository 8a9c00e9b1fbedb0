// @ts-check
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { html } from "hono/html";
import { isOutage } from "idpauth";
import { idpAuth } from "idpauth/hono";

const app = new Hono();
const auth = idpAuth(); // settings come from the environment
auth.mount(app); // startup checks, then /idpauth/*

app.get("/", async (c) => {
  const session = await auth.getSession(c); // null: signed out
  const link = session
    ? html`${session.user.name}, <a href="/idpauth/logout/">sign out</a>`
    : html`<a href="/idpauth/login/">Sign in</a>`;
  return c.html(
    html`<!doctype html><title>Everybody</title>
      <p>${link}</p>
      <p><a href="/reports">Reports</a></p>`,
  );
});

app.get("/reports", auth.idpRequired, async (c) => {
  const { user } = await auth.requireSession(c); // the session that the guard saw, never null
  const links = html`<a href="/api/reports">As JSON</a> <a href="/">Home</a>
    <a href="/idpauth/logout/">Sign out</a>`;
  return c.html(
    html`<!doctype html><title>Reports</title>
      <p>Hello ${user.name ?? user.email}.</p>
      <p>${links}</p>`,
  );
});

app.get("/api/reports", auth.idpRequired, async (c) => {
  const credentials = await auth.getCredentials(c); // null: signed out a moment ago
  // For a call to your API, or one of the provider's: `await auth.getAccessToken(c)`, which is
  // always fresh.
  return c.json({ reports: ["Visitors", "Orders"], scopes: credentials?.scopes ?? [] });
});

app.onError((error, c) => {
  if (isOutage(error)) {
    // The session is kept, so the same request may succeed a moment later.
    return c.json({ error: error.code }, 503, { "Retry-After": "1" });
  }
  console.error(error);
  return c.json({ error: "internal_error" }, 500);
});

const { PORT = 3000 } = process.env;
// On Bun and Deno: `export default app`.
const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  console.log(`http://localhost:${port}/`);
});

process.once("SIGTERM", async () => {
  server.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
  setTimeout(() => "closeAllConnections" in server && server.closeAllConnections(), 2000).unref(); // if a request never completes
});
