import { readFileSync } from "node:fs";
import path from "node:path";
import { needPackages } from "../../../scripts/framework-install.mjs";
import { packageFolder } from "../../../scripts/locked-packages.mjs";
import { addedPackages } from "../../compare/size.mjs";

const folder = import.meta.dirname;
const read = "2026-11-27";

/** @param {string} file @param {number} port @param {Record<string, string>} [env] */
const program = (file, port, env) => ({
  command: process.execPath,
  args: [path.join(folder, file)],
  env: { PORT: String(port), ...env },
  port,
});

/** @type {import("../../compare/peer.mjs").Peer} */
export const peer = {
  title: "@hono/oidc-auth",
  framework: "Hono 4 on Node.js",
  async prepare({ say }) {
    say("npm ci for @hono/oidc-auth");
    await needPackages("bench/peers/hono-oidc-auth");
    return undefined;
  },
  version() {
    const file = path.join(packageFolder(folder, "@hono/oidc-auth"), "package.json");
    return JSON.parse(readFileSync(file, "utf8")).version;
  },
  start: ({ port, origin, issuer, clientId, clientSecret, apiUrl, refreshSeconds }) => [
    program("app.mjs", port, {
      ORIGIN: origin,
      ISSUER: issuer,
      CLIENT_ID: clientId,
      CLIENT_SECRET: clientSecret,
      API_URL: apiUrl,
      REFRESH_SECONDS: String(refreshSeconds),
    }),
  ],
  bare: ({ port }) => [program("bare.mjs", port)],
  paths: { login: "/page", logout: "/logout" },
  store: "cookie",
  imports: ["@hono/oidc-auth"],
  size: async () => addedPackages(folder, ["@hono/oidc-auth"], ["hono", "@hono/node-server"]),
  links: [
    {
      url: "https://github.com/honojs/middleware/blob/main/packages/oidc-auth/README.md",
      read,
      decided:
        "the order of the routes, the settings, and `oidcClaimsHook`, through which the session keeps the access token",
    },
    {
      url: "https://github.com/honojs/node-server/blob/main/README.md",
      read,
      decided: "how the application listens",
    },
  ],
  notes: [
    "The newest version that the registry served is 1.8.1. The refresh of 1.10.0, in its repository, differs in a hook that is called if the provider refuses it.",
    "Its documentation doesn't mention concurrent refreshes. Each request whose cookie is older than the refresh interval refreshes for itself, after reading the discovery document again (`dist/index.js`, line 135 to 148, and 88). If the provider refuses, the user has to sign in again; after any other failure, such as a 503, the session's cookie is deleted too (line 328 to 330).",
    "The session is a signed cookie, and nothing on the server can end it: a refresh that a sign-out overtakes sets the cookie again. The sign-out has revoked the tokens, so the API refuses them, but `/page` knows the user until the next refresh.",
    "The names of its cookies during a sign-in are the same for each tab, and the callback deletes the cookie `state` before it compares (line 262 to 264), so two sign-ins at once both fail.",
    "Its documentation shows no call of an API. That the session's cookie, which is signed but not encrypted, keeps the access token is a choice of this comparison. So is that the application takes `Secure` off its cookies, because it runs over plain HTTP.",
    "It doesn't check the signature of an ID token, which comes from the provider directly. Keys that can't be fetched have no effect.",
  ],
};
