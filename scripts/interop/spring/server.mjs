// Spring Authorization Server: a small Spring Boot application with Spring's own pages.
import { randomBytes } from "node:crypto";
import { newClientKey } from "../client-key.mjs";
import { freePort, startProgram } from "../processes.mjs";
import { builtApplication, missing, VERSION } from "./build.mjs";
import { signInAtProvider } from "./pages.mjs";
import { STEPS } from "./steps.mjs";

/**
 * @typedef {import("../servers.mjs").ClientWish & {
 *   id?: string, secret?: string, consent?: true, bare?: true, rotate?: true, refreshSeconds?: number,
 * }} ClientWish `bare`: ID tokens have no claims but Spring's own; `rotate`: each refresh gives a new
 *   refresh token; `refreshSeconds`: the life of refresh tokens
 * @typedef {import("../servers.mjs").RunningServer & {
 *   revocations: () => Promise<number>,
 *   removeAuthorizations: (client: string, user: string) => Promise<void>,
 *   setEnabled: (user: string, isEnabled: boolean) => Promise<void>,
 *   replaceKey: (kept: "old key published" | "old key removed") => Promise<void>,
 *   freeze: () => void,
 *   thaw: () => void,
 * }} SpringServer
 */

/** Life of ID and access tokens. */
const TOKEN_SECONDS = 6;

/** @type {import("../servers.mjs").Server} */
export default {
  key: "spring",
  title: "Spring Authorization Server",
  version: VERSION,
  notes:
    "A Spring Boot application with Spring's login and consent pages, with users, clients and tokens in memory. Its program registers clients, adds name and email address to ID tokens, and shortens their life, which is 30 minutes without a setting. Clients get a refresh token without `offline_access`. Spring has no back-channel or front-channel logout.",
  missing,
  start,
  steps: STEPS,
};

/** @returns {Promise<SpringServer>} */
async function start() {
  const { java, jar } = await builtApplication();
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  console.log("Start: the Spring Boot application");
  const program = await startProgram({
    command: java,
    args: [
      // A server of a few minutes starts faster without what pays off in days.
      ...["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", jar],
      ...[`--server.port=${port}`, "--server.address=127.0.0.1"],
      `--spring.security.oauth2.authorizationserver.issuer=${issuer}`,
    ],
    ready: /Started Provider in/,
    seconds: 120,
  });
  /** @type {(where: string, fields: Record<string, string>) => Promise<void>} */
  const post = async (where, fields) => {
    const body = new URLSearchParams(fields);
    const answer = await fetch(`${issuer}/interop/${where}`, { method: "POST", body });
    if (!answer.ok) throw new Error(`/interop/${where}: status ${answer.status}`);
  };
  const count = async (/** @type {string} */ what) => {
    const answer = await fetch(`${issuer}/interop/${what}`);
    return Number(await answer.text());
  };
  return {
    version: VERSION,
    issuer,
    newClient: (/** @type {ClientWish} */ wish) => newClient(wish, { issuer, post }),
    signInAtProvider,
    tokenRequests: () => count("refreshes"),
    revocations: () => count("revocations"),
    removeAuthorizations: (client, user) => post("authorizations/remove", { client, user }),
    setEnabled: (user, isEnabled) => post(`users/${user}`, { enabled: String(isEnabled) }),
    replaceKey: (kept) => post("keys", { keep: String(kept === "old key published") }),
    freeze: program.freeze,
    thaw: program.thaw,
    end: program.end,
  };
}

/**
 * @param {ClientWish} wish
 * @param {{ issuer: string, post: (where: string, fields: Record<string, string>) => Promise<void> }} server
 * @returns {Promise<Record<string, string>>}
 */
async function newClient(
  {
    origin,
    method = "client_secret_post",
    id = randomBytes(6).toString("hex"),
    secret = randomBytes(24).toString("base64url"),
    refreshSeconds,
    ...flags
  },
  { issuer, post },
) {
  const key = method === "private_key_jwt" ? newClientKey("RS256") : undefined;
  const isSet = (/** @type {"consent" | "bare" | "rotate"} */ name) =>
    flags[name] && { [name]: "true" };
  await post("clients", {
    ...{ id, origin, method, issuer, tokenSeconds: String(TOKEN_SECONDS) },
    ...(key ? { jwks: JSON.stringify({ keys: [key.publicKey] }) } : { secret }),
    ...(refreshSeconds !== undefined && { refreshSeconds: String(refreshSeconds) }),
    ...isSet("consent"),
    ...isSet("bare"),
    ...isSet("rotate"),
  });
  return {
    IDP_ISSUER: issuer,
    IDP_CLIENT_ID: id,
    SCOPE: "openid profile email",
    ...(key
      ? { IDP_PRIVATE_KEY: key.setting }
      : { IDP_CLIENT_SECRET: secret, IDP_TOKEN_ENDPOINT_AUTH_METHOD: method }),
  };
}
