// @ts-check
import express from "express";
import { isOutage } from "idpauth";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth(); // settings come from the environment
auth.mount(app); // startup checks, then /idpauth/*

app.get("/", async (req, res) => {
  const session = await auth.getSession(req); // null: signed out
  const who = session
    ? `You are ${escapeHtml(session.user.name ?? session.user.email ?? "signed in")}. <a href="/idpauth/logout/">Sign out</a>`
    : '<a href="/idpauth/login/">Sign in</a>';
  res.send(page("Everybody may read this", `<p>${who}</p><p><a href="/reports">Reports</a></p>`));
});

app.get("/reports", auth.idpRequired, async (req, res) => {
  const { user } = await auth.requireSession(req); // the session that the guard saw, never null
  const name = escapeHtml(user.name ?? user.email ?? "you");
  const links =
    '<a href="/api/reports">As JSON</a> <a href="/">Home</a> <a href="/idpauth/logout/">Sign out</a>';
  res.send(page("Reports", `<p>Hello ${name}.</p><p>${links}</p>`));
});

app.get("/api/reports", auth.idpRequired, async (req, res) => {
  const credentials = await auth.getCredentials(req); // null: signed out a moment ago
  // For a call to your API, or one of the provider's: `await auth.getAccessToken(req)`, which is
  // always fresh.
  res.json({ reports: ["Visitors", "Orders"], scopes: credentials?.scopes ?? [] });
});

/**
 * @param {unknown} error
 * @param {express.Request} req
 * @param {express.Response} res
 * @param {express.NextFunction} next
 */
function onError(error, req, res, next) {
  if (res.headersSent) {
    next(error);
  } else if (isOutage(error)) {
    // In an outage of the provider or the store the session is kept, so the same request may
    // succeed a moment later.
    res.status(503).set("Retry-After", "1").send(page("Please try again in a moment", ""));
  } else {
    console.error(error);
    res.status(500).send(page("Something went wrong", ""));
  }
}
app.use(onError);

const server = app.listen(process.env["PORT"] ?? 3000, (error) => {
  if (error) throw error;
  const address = server.address();
  console.log(`http://localhost:${typeof address === "object" ? address?.port : address}/`);
});

process.once("SIGTERM", async () => {
  server.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
});

/** @param {string} title @param {string} body */
function page(title, body) {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}</html>`;
}

/** @param {string} text */
function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
