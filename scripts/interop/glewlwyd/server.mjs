// Glewlwyd from Debian's package for `npm run interop -- glewlwyd`, with SQLite, its own pages, and
// refresh tokens that work once.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { seconds } from "../application/tab.mjs";
import { freePort } from "../processes.mjs";
import { createAdmin } from "./admin.mjs";
import { signInAtProvider } from "./pages.mjs";
import { missing, prepare, VERSION } from "./program.mjs";
import { STEPS } from "./steps.mjs";

/** Life of ID and access tokens. */
const TOKEN_SECONDS = 6;
/** Until what Glewlwyd logs has arrived. */
const LOG_SECONDS = 0.3;

/** @type {import("../servers.mjs").Server} */
export default {
  key: "glewlwyd",
  title: "Glewlwyd",
  version: VERSION,
  notes:
    "Debian 12's package, whose admin REST API sets up users, scopes, clients and the OpenID Connect plugin. Refresh tokens work once (`refresh-token-one-use`), except where the row says otherwise. Glewlwyd's consent page has no button to refuse.",
  missing,
  start,
  steps: STEPS,
};

/** @param {string} folder */
async function start(folder) {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const issuer = `${origin}/api/oidc`;
  const serve = await prepare(folder, port);
  console.log(`Start: Glewlwyd at ${origin}`);
  let program = await serve();
  let keys = [newKey()];
  let earlier = "";
  const admin = createAdmin(origin);
  await admin.setUp(parameters({ issuer, keys }));
  const log = async () => {
    await seconds(LOG_SECONDS);
    return earlier + program.output();
  };
  /** @param {Record<string, unknown>} [changed] */
  const configure = (changed) => admin.configure({ ...parameters({ issuer, keys }), ...changed });
  const stop = async () => {
    earlier += program.output();
    await program.end();
  };
  return {
    version: VERSION,
    origin,
    issuer,
    newClient: async (/** @type {import("./admin.mjs").ClientWish} */ wish) => ({
      IDP_ISSUER: issuer,
      ...(await admin.newClient(wish)),
    }),
    signInAtProvider,
    // The log doesn't tell the grant: between two readings without a sign-in, all are refreshes. The
    // plugin's own test when it begins has no client.
    tokenRequests: async () =>
      matches(await log(), /Access token generated for client '(?!\(null\))/g),
    revocations: async () => matches(await log(), /Refresh token generated for .* revoked/g),
    setEnabled: admin.setEnabled,
    removeUser: admin.removeUser,
    restoreUser: admin.restoreUser,
    async replaceKey(/** @type {"old key published" | "old key removed"} */ kept) {
      keys = [newKey(), ...(kept === "old key published" ? keys : [])];
      await configure();
    },
    /** @param {Record<string, unknown>} [changed] parameters of the plugin */
    restart: configure,
    stop,
    async start() {
      program = await serve();
    },
    freeze: () => program.freeze(),
    thaw: () => program.thaw(),
    end: () => program.end(),
  };
}

/**
 * @param {{ issuer: string, keys: readonly object[] }} options `keys`: the one that signs comes first
 * @returns {Record<string, unknown>} parameters of the plugin
 */
function parameters({ issuer, keys }) {
  return {
    iss: issuer,
    "jwks-private": JSON.stringify({ keys }),
    "jwks-show": true,
    "access-token-duration": TOKEN_SECONDS,
    "refresh-token-duration": 86_400,
    "refresh-token-rolling": true,
    "refresh-token-one-use": "always",
    "code-duration": 600,
    "allow-non-oidc": false,
    "auth-type-code-enabled": true,
    "auth-type-code-revoke-replayed": true,
    "auth-type-token-enabled": false,
    "auth-type-password-enabled": false,
    "auth-type-client-enabled": false,
    "auth-type-refresh-enabled": true,
    "allowed-scope": ["openid", "profile", "email", "groups"],
    "name-claim": "on-demand",
    "name-claim-scope": ["profile"],
    "email-claim": "on-demand",
    "email-claim-scope": ["email"],
    claims: [{ name: "groups", "user-property": "groups", type: "string", scope: ["groups"] }],
    "pkce-allowed": true,
    "pkce-required": true,
    "oauth-as-iss-id": true,
    "request-parameter-allow": true,
    "client-jwks-parameter": "jwks",
    "oauth-par-allowed": true,
    "oauth-par-duration": 90,
    "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
    "introspection-revocation-allowed": true,
    "introspection-revocation-allow-target-client": true,
    "session-management-allowed": true,
    "session-cookie-name": "GLEWLWYD2_OIDC_SID",
    "session-cookie-expiration": 86_400,
    "front-channel-logout-allowed": true,
    "back-channel-logout-allowed": true,
  };
}

function newKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), alg: "RS256", use: "sig", kid: randomUUID() };
}

/**
 * @param {string} text
 * @param {RegExp} pattern
 */
function matches(text, pattern) {
  return (text.match(pattern) ?? []).length;
}
