// Canaille, an identity provider in Python, with SQLite and its own pages for password and consent.
import { execFile } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { seconds } from "../application/tab.mjs";
import { newClientKey } from "../client-key.mjs";
import { freePort, startProgram } from "../processes.mjs";
import { missingPython, pythonEnvironment } from "../python-environment.mjs";
import { PASSWORD, signInAtProvider } from "./pages.mjs";
import { steps } from "./steps.mjs";

/** @typedef {import("../servers.mjs").ClientWish & { id?: string, secret?: string }} ClientWish */
/** @typedef {(...commands: readonly (readonly string[])[]) => Promise<string>} CommandLine Canaille's own */

/** Life of ID tokens. Access tokens keep Canaille's 10 days, because refresh tokens end with them. */
const TOKEN_SECONDS = 6;
/** Until what it logs has arrived. */
const LOG_SECONDS = 0.3;
const PROGRAM = path.join(import.meta.dirname, "provider.py");
const environment = pythonEnvironment({
  name: "canaille",
  title: "Canaille",
  folder: import.meta.dirname,
});

/** @type {import("../servers.mjs").Server} */
export default {
  key: "python",
  title: "Canaille",
  version: environment.version,
  notes:
    "Clients register themselves (RFC 7591), and users and groups come from Canaille's command line. Canaille's ID tokens live for an hour, and the run shortens that. Its refresh tokens end with the access token, so give access tokens more than an hour (`OAUTH2_TOKEN_EXPIRES_IN`; by default, they live for ten days).",
  missing: missingPython,
  start,
  steps,
};

/** @param {string} folder */
async function start(folder) {
  const python = await environment.python();
  const port = await freePort();
  const env = {
    CANAILLE_CONFIG: path.join(folder, "canaille.toml"),
    TOKEN_SECONDS: String(TOKEN_SECONDS),
  };
  writeFileSync(env.CANAILLE_CONFIG, configuration(folder, port));
  /** @type {CommandLine} */
  const canaille = async (...commands) => {
    const options = { cwd: folder, env: { ...process.env, ...env } };
    const args = [PROGRAM, JSON.stringify(commands)];
    return (await promisify(execFile)(python, args, options)).stdout;
  };
  console.log("Start: Canaille, with a new database");
  await canaille(...FIRST_COMMANDS);
  const program = await startProgram({
    command: python,
    args: [PROGRAM, JSON.stringify([["run", "--workers", "0", "--bind", `localhost:${port}`]])],
    cwd: folder,
    env,
    ready: /Running on /,
  });
  const issuer = `http://localhost:${port}`;
  return {
    version: environment.version,
    issuer,
    newClient: (/** @type {ClientWish} */ wish) => newClient(wish, { issuer, canaille }),
    signInAtProvider,
    tokenRequests: () => tokenRequests(program),
    revocations: async () =>
      JSON.parse(await canaille(["get", "token"])).filter(
        (/** @type {{ revokation_date?: string }} */ token) => token.revokation_date !== undefined,
      ).length,
    canaille,
    end: program.end,
  };
}

/**
 * @param {string} folder
 * @param {number} port
 */
function configuration(folder, port) {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return `SECRET_KEY = "${randomBytes(32).toString("base64url")}"
SERVER_NAME = "localhost:${port}"
PREFERRED_URL_SCHEME = "http"

[CANAILLE]
DATABASE = "sql"

[CANAILLE_SQL]
DATABASE_URI = "sqlite:///${path.join(folder, "canaille.sqlite")}"

[CANAILLE_OIDC]
DYNAMIC_CLIENT_REGISTRATION_OPEN = true
TRUSTED_DOMAINS = []
ACTIVE_JWKS = ["""${String(privateKey.export({ type: "pkcs8", format: "pem" }))}"""]

[CANAILLE_HYPERCORN]
ACCESSLOG = "-"
ACCESS_LOG_FORMAT = "%(m)s %(U)s"
`;
}

/** The commands that fill the new database. */
const FIRST_COMMANDS = [
  ["install"],
  createUser("ada", "Ada", "Lovelace"),
  createUser("grace", "Grace", "Hopper"),
  createUser("locked", "Locked", "User"),
  ["create", "group", "--display-name", "admins", "--members", "ada"],
];

/**
 * @param {string} user
 * @param {string} given
 * @param {string} family
 */
function createUser(user, given, family) {
  return [
    ...["create", "user", "--user-name", user, "--password", PASSWORD],
    ...["--given-name", given, "--family-name", family],
    ...["--formatted-name", `${given} ${family}`, "--emails", `${user}@example.com`],
  ];
}

/**
 * Registers a client by RFC 7591. An ID and a secret of its own get a client by the command line.
 *
 * @param {ClientWish} wish
 * @param {{ issuer: string, canaille: CommandLine }} server
 * @returns {Promise<Record<string, string>>}
 */
async function newClient({ origin, method = "client_secret_post", id, secret }, server) {
  const key = method === "private_key_jwt" ? newClientKey("RS256") : undefined;
  const answer = await fetch(`${server.issuer}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: `The application at ${origin}`,
      redirect_uris: [`${origin}/idpauth/login-callback`],
      post_logout_redirect_uris: [`${origin}/idpauth/logout-callback`],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      scope: "openid email profile groups",
      token_endpoint_auth_method: method,
      ...(key && { jwks: { keys: [key.publicKey] } }),
    }),
  });
  const client = /** @type {Record<string, string>} */ (await answer.json());
  if (!answer.ok) throw new Error(`/oauth/register: status ${answer.status} ${client["error"]}`);
  const { client_id = "", client_secret = "" } = client;
  if (id !== undefined && secret !== undefined) {
    const change = ["--client-id", id, "--client-secret", secret];
    await server.canaille(["set", "client", client_id, ...change]);
  }
  return {
    IDP_ISSUER: server.issuer,
    IDP_CLIENT_ID: id ?? client_id,
    SCOPE: "openid email profile groups",
    ...(key
      ? { IDP_PRIVATE_KEY: key.setting }
      : {
          IDP_CLIENT_SECRET: secret ?? client_secret,
          IDP_TOKEN_ENDPOINT_AUTH_METHOD: method,
        }),
  };
}

/**
 * The access log has every token request; the log of security events, where each line stands twice,
 * tells which of them had a code.
 *
 * @param {import("../processes.mjs").RunningProgram} program
 */
async function tokenRequests({ output }) {
  await seconds(LOG_SECONDS);
  const count = (/** @type {RegExp} */ line) => new Set(output().match(line)).size;
  const all = output().match(/POST \/oauth\/token$/gm) ?? [];
  return all.length - count(/^.*Issued authorization_code token/gm);
}
