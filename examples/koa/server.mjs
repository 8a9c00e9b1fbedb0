// @ts-check
import Router from "@koa/router";
import { isOutage } from "idpauth";
import { idpAuth } from "idpauth/koa";
import Koa from "koa";

const app = new Koa();
const auth = idpAuth();
const router = new Router();

app.use(async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    if (!isOutage(error)) throw error; // Koa's own: app.on("error"), and 500
    // The session is kept, so the same request may succeed a moment later.
    ctx.set("Retry-After", "retryAfter" in error ? String(error.retryAfter) : "1");
    ctx.status = 503;
    ctx.body = { error: error.code };
  }
});

auth.mount(app); // startup checks, then /idpauth/*

router.get("/", async (ctx) => {
  const session = await auth.getSession(ctx); // null: signed out
  const link = session
    ? `${nameOf(session.user)}, <a href="/idpauth/logout/">sign out</a>`
    : '<a href="/idpauth/login/">Sign in</a>';
  ctx.body = `<!doctype html><title>Everybody</title><p>${link}</p><p><a href="/reports">Reports</a></p>`;
});

router.get("/reports", auth.idpRequired, async (ctx) => {
  const { user } = await auth.requireSession(ctx); // the session that the guard saw, never null
  const name = nameOf(user);
  const links =
    '<a href="/api/reports">As JSON</a> <a href="/">Home</a> <a href="/idpauth/logout/">Sign out</a>';
  ctx.body = `<!doctype html><title>Reports</title><p>Hello ${name}.</p><p>${links}</p>`;
});

router.get("/api/reports", auth.idpRequired, async (ctx) => {
  const credentials = await auth.getCredentials(ctx); // null: signed out a moment ago
  // For a call to your API, or one of the provider's: `await auth.getAccessToken(ctx)`, which is
  // always fresh.
  ctx.body = { reports: ["Visitors", "Orders"], scopes: credentials?.scopes ?? [] };
});

app.use(router.routes());

/** @param {import("idpauth").SessionUser} user */
function nameOf(user) {
  return (user.name ?? user.email ?? "user").replace(
    /[&<>"']/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
}

const { PORT = 3000 } = process.env;
const server = app.listen(Number(PORT), () => {
  const address = server.address();
  console.log(`http://localhost:${typeof address === "object" && address ? address.port : ""}/`);
});

process.once("SIGTERM", async () => {
  server.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
});
