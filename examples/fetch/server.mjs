// @ts-check
// a server of this style for Node; Bun and Deno have theirs built in
import { serve } from "@hono/node-server";
import { isOutage } from "idpauth";
import { idpAuth } from "idpauth/fetch";

const auth = idpAuth(); // settings come from the environment
auth.start(); // a mistake in them stops the start here

/** @type {Record<string, (request: Request) => Promise<Response>>} */
const routes = {
  "/": async (request) => {
    const session = await auth.getSession(request); // null: signed out
    const link = session
      ? `${nameOf(session.user)}, <a href="/idpauth/logout/">sign out</a>`
      : '<a href="/idpauth/login/">Sign in</a>';
    return page("Everybody", `<p>${link}</p><p><a href="/reports">Reports</a></p>`);
  },

  "/reports": auth.idpRequired(async (request) => {
    // the session that the guard saw, never null
    const { user } = await auth.requireSession(request);
    const name = nameOf(user);
    const links =
      '<a href="/api/reports">As JSON</a> <a href="/">Home</a> <a href="/idpauth/logout/">Sign out</a>';
    return page("Reports", `<p>Hello ${name}.</p><p>${links}</p>`);
  }),

  "/api/reports": auth.idpRequired(async (request) => {
    const credentials = await auth.getCredentials(request); // null: signed out a moment ago
    // For a call to your API: `await auth.getAccessToken(request)`, which is always fresh.
    return Response.json({ reports: ["Visitors", "Orders"], scopes: credentials?.scopes ?? [] });
  }),
};

/** @param {Request} request */
async function answer(request) {
  const { pathname } = new URL(request.url);
  const route = Object.hasOwn(routes, pathname) ? routes[pathname] : undefined;
  try {
    // First /idpauth/*, then the application's own.
    return (
      (await auth.fetch(request)) ??
      (await route?.(request)) ??
      Response.json({ error: "not_found" }, { status: 404 })
    );
  } catch (error) {
    // The session is kept, so the same request may succeed a moment later.
    if (isOutage(error))
      return Response.json({ error: error.code }, { status: 503, headers: { "Retry-After": "1" } });
    console.error(error);
    return Response.json({ error: "internal_error" }, { status: 500 });
  }
}

/** @param {string} title @param {string} body */
function page(title, body) {
  return new Response(`<!doctype html><title>${title}</title>${body}`, {
    headers: { "Content-Type": "text/html; charset=utf-8" },
  });
}

/** @param {import("idpauth").SessionUser} user */
function nameOf(user) {
  return (user.name ?? user.email ?? "user").replace(
    /[&<>"]/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
}

const server = serve({ fetch: answer, port: Number(process.env["PORT"] ?? 3000) }, ({ port }) =>
  console.log(`http://localhost:${port}/`),
);

process.once("SIGTERM", async () => {
  server.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
  setTimeout(() => "closeAllConnections" in server && server.closeAllConnections(), 2000).unref(); // if a request never completes
});
