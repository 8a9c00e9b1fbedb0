import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { addedPackages } from "../../compare/size.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

const PROBE = { authenticated: true, user: { name: "Ada Lovelace", email: "ada@example.com" } };

/** @type {import("../../compare/peer.mjs").Peer} */
export const peer = {
  title: "idpauth",
  framework: "Express 5",
  prepare: async () => undefined,
  version: () => JSON.parse(readFileSync(`${root}package.json`, "utf8")).version,
  start: ({ port, origin, issuer, clientId, clientSecret, redisUrl, apiUrl }) => [
    {
      command: process.execPath,
      args: [file("app.mjs")],
      env: {
        PORT: String(port),
        ORIGIN: origin,
        ISSUER: issuer,
        CLIENT_ID: clientId,
        CLIENT_SECRET: clientSecret,
        REDIS_URL: redisUrl,
        API_URL: apiUrl,
      },
      port,
    },
  ],
  bare: ({ port }) => [
    {
      command: process.execPath,
      args: [file("../express-bare.mjs")],
      env: { PORT: String(port), FOLDER: root, PROBE: JSON.stringify(PROBE) },
      port,
    },
  ],
  paths: {
    login: "/idpauth/login/",
    logout: "/idpauth/logout/",
    probe: "/idpauth/session",
    backchannelLogout: "/idpauth/backchannel-logout",
  },
  store: "Redis",
  imports: ["idpauth/express", "idpauth/redis", "redis"],
  async size() {
    const pack = execFileSync("npm", ["pack", "--dry-run", "--json"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [{ unpackedSize }] = JSON.parse(pack);
    const others = addedPackages(root, ["jose", "oauth4webapi", "redis"], ["express"]);
    return { bytes: unpackedSize + others.bytes, packages: 1 + others.packages };
  },
  links: [
    { url: "docs/start/express.md", read: "2026-11-27", decided: "the application" },
    { url: "docs/how-to/sessions.md", read: "2026-11-27", decided: "the store" },
    { url: "docs/how-to/signing-out.md", read: "2026-11-27", decided: "back-channel logout" },
    { url: "docs/how-to/call-an-api.md", read: "2026-11-27", decided: "requests to the API" },
  ],
  notes: [
    "`fetchApi` refreshes the token and repeats the request once if the API responds with 401.",
    "It waits 5 s for a response of the provider. After a failure it responds with 503 and `Retry-After`, and asks the provider again after 1 s at first, later after up to 30 s.",
  ],
};
