// @ts-check
/** @import { IncomingMessage, ServerResponse } from "node:http" */
import { createServer } from "node:http";
import { isOutage } from "idpauth";
import { idpAuth } from "idpauth/node";

const auth = idpAuth();

/** @type {Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>} */
const routes = {
  "/": async (request, response) => {
    const session = await auth.getSession(request); // null: signed out
    const link = session
      ? `${nameOf(session.user)}, <a href="/idpauth/logout/">sign out</a>`
      : '<a href="/idpauth/login/">Sign in</a>';
    page(response, `<title>Everybody</title><p>${link}</p><p><a href="/reports">Reports</a></p>`);
  },
  "/reports": auth.idpRequired(async (request, response) => {
    // the session that the guard saw, never null
    const { user } = await auth.requireSession(request);
    const links =
      '<a href="/api/reports">As JSON</a> <a href="/">Home</a> <a href="/idpauth/logout/">Sign out</a>';
    page(response, `<title>Reports</title><p>Hello ${nameOf(user)}.</p><p>${links}</p>`);
  }),
  "/api/reports": auth.idpRequired(async (request, response) => {
    const credentials = await auth.getCredentials(request); // null: signed out a moment ago
    // For a call to your API: `await auth.getAccessToken(request)`, which is always fresh.
    json(response, 200, { reports: ["Visitors", "Orders"], scopes: credentials?.scopes ?? [] });
  }),
};

/** @param {IncomingMessage} request @param {ServerResponse} response */
function application(request, response) {
  const path = (request.url ?? "/").split("?", 1)[0] ?? "";
  return Object.hasOwn(routes, path)
    ? routes[path]?.(request, response)
    : json(response, 404, { error: "not_found" });
}

/** @param {unknown} error @param {IncomingMessage} _request @param {ServerResponse} response */
function onError(error, _request, response) {
  if (isOutage(error))
    return json(response.setHeader("Retry-After", "1"), 503, { error: error.code });
  console.error(error);
  return json(response, 500, { error: "internal_error" });
}

/** @param {ServerResponse} response @param {string} body */
function page(response, body) {
  response.setHeader("Content-Type", "text/html; charset=utf-8").end(`<!doctype html>${body}`);
}

/** @param {ServerResponse} response @param {number} status @param {unknown} value */
function json(response, status, value) {
  return response
    .writeHead(status, { "Content-Type": "application/json" })
    .end(JSON.stringify(value));
}

/** @param {import("idpauth").SessionUser} user */
function nameOf(user) {
  return (user.name ?? user.email ?? "user").replace(
    /[&<>"']/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
}

// startup checks, then /idpauth/* and, for all the rest, the application
const listener = auth.listener(application, { onError });
const server = createServer(listener).listen(Number(process.env["PORT"] ?? 3000), () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`http://localhost:${address.port}/`);
});

process.once("SIGTERM", async () => {
  server.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
});
