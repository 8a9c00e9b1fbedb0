// @ts-check
import fastify from "fastify";
import { isOutage } from "idpauth";
import { idpAuth } from "idpauth/fastify";

const app = fastify();
const auth = idpAuth(); // settings come from the environment
await app.register(auth.plugin); // startup checks, then /idpauth/*

app.get("/", async (request, reply) => {
  const session = await auth.getSession(request); // null: signed out
  const who = session
    ? `You are ${escapeHtml(session.user.name ?? session.user.email ?? "signed in")}. <a href="/idpauth/logout/">Sign out</a>`
    : '<a href="/idpauth/login/">Sign in</a>';
  reply.type("text/html; charset=utf-8");
  return page("Everybody may read this", `<p>${who}</p><p><a href="/reports">Reports</a></p>`);
});

app.get("/reports", { preHandler: auth.idpRequired }, async (request, reply) => {
  const { user } = await auth.requireSession(request); // the session that the guard saw, never null
  const name = escapeHtml(user.name ?? user.email ?? "you");
  const links =
    '<a href="/api/reports">As JSON</a> <a href="/">Home</a> <a href="/idpauth/logout/">Sign out</a>';
  reply.type("text/html; charset=utf-8");
  return page("Reports", `<p>Hello ${name}.</p><p>${links}</p>`);
});

app.get("/api/reports", { preHandler: auth.idpRequired }, async (request) => {
  const credentials = await auth.getCredentials(request); // null: signed out a moment ago
  // For a call to your API, or one of the provider's: `await auth.getAccessToken(request)`, which
  // is always fresh.
  return { reports: ["Visitors", "Orders"], scopes: credentials?.scopes ?? [] };
});

app.setErrorHandler((error, request, reply) => {
  reply.type("text/html; charset=utf-8");
  // In an outage of the provider or the store the session is kept, so the same request may succeed
  // a moment later.
  if (isOutage(error))
    return reply
      .code(503)
      .header("Retry-After", "1")
      .send(page("Please try again in a moment", ""));
  console.error(error);
  return reply.code(500).send(page("Something went wrong", ""));
});

const { PORT = 3000 } = process.env;
const address = await app.listen({ port: Number(PORT), host: "127.0.0.1" });
console.log(`http://localhost:${new URL(address).port}/`);

process.once("SIGTERM", async () => {
  void app.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
  setTimeout(() => app.server.closeAllConnections(), 2000).unref(); // if a request never completes
});

/** @param {string} title @param {string} body */
function page(title, body) {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}</html>`;
}

/** @param {string} text */
function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
