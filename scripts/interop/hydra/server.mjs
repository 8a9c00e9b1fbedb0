// Ory Hydra for `npm run interop -- hydra`: with SQLite, strict rotation of refresh tokens, tokens that
// live for a few seconds, and a login and consent application of ours.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { freePort, startProgram } from "../processes.mjs";
import { createAdmin } from "./admin.mjs";
import { hydraBinary, VERSION, whatIsMissing } from "./binary.mjs";
import { startConsentApplication } from "./consent-application.mjs";
import { signInAtProvider } from "./login-pages.mjs";
import { STEPS } from "./steps.mjs";

const run = promisify(execFile);
const HOST = "127.0.0.1";
/** Life of access and ID tokens, in seconds. */
const TOKEN_SECONDS = 6;

/** @type {import("../servers.mjs").Server} */
export default {
  key: "hydra",
  title: "Ory Hydra",
  version: VERSION,
  missing: whatIsMissing,
  start,
  steps: STEPS,
};

/** @param {string} folder */
async function start(folder) {
  const binary = await hydraBinary();
  const ports = { public: await freePort(), admin: await freePort(), consent: await freePort() };
  const issuer = `http://${HOST}:${ports.public}`;
  const admin = createAdmin(`http://${HOST}:${ports.admin}`);
  const file = path.join(folder, "hydra.json");
  writeFileSync(file, JSON.stringify(configuration(folder, ports)));
  console.log(`Start: Hydra ${VERSION} at ${issuer}`);
  await run(binary, ["migrate", "sql", "up", "--read-from-env", "--yes", `--config=${file}`]);
  let tokenRequests = 0;
  const serve = async () => {
    const program = await startProgram({
      command: binary,
      args: ["serve", "all", "--dev", `--config=${file}`],
      ready: /Setting up http server/,
    });
    if (program.child.stderr !== null)
      createInterface(program.child.stderr).on("line", (line) => {
        if (isTokenRequest(line)) tokenRequests += 1;
      });
    await admin.isReady();
    return program;
  };
  let program = await serve();
  const consent = await startConsentApplication({ port: ports.consent, call: admin.call });
  return {
    version: await admin.version(),
    issuer,
    admin,
    newClient: async (/** @type {import("./admin.mjs").HydraClientWish} */ wish) => {
      return { IDP_ISSUER: issuer, ...(await admin.newClient(wish)) };
    },
    signInAtProvider,
    // Hydra's log doesn't tell the grant: between two readings without a sign-in, all are refreshes.
    tokenRequests: () => Promise.resolve(tokenRequests),
    stop: () => program.end(),
    restart: async () => {
      program = await serve();
    },
    async end() {
      await consent.end();
      await program.end();
    },
  };
}

/**
 * @param {string} folder
 * @param {{ public: number, admin: number, consent: number }} ports
 */
function configuration(folder, ports) {
  const consent = `http://${HOST}:${ports.consent}`;
  return {
    dsn: `sqlite://${path.join(folder, "hydra.sqlite")}?_fk=true&mode=rwc`,
    serve: {
      public: { host: HOST, port: ports.public },
      admin: { host: HOST, port: ports.admin },
    },
    urls: {
      self: { issuer: `http://${HOST}:${ports.public}` },
      login: `${consent}/login`,
      consent: `${consent}/consent`,
      logout: `${consent}/logout`,
      error: `${consent}/error`,
      post_logout_redirect: `${consent}/`,
    },
    secrets: { system: [randomBytes(32).toString("base64url")] },
    ttl: { access_token: `${TOKEN_SECONDS}s`, id_token: `${TOKEN_SECONDS}s` },
    oauth2: { grant: { refresh_token: { rotation_grace_period: "0s" } } },
    log: { level: "info", format: "json" },
    sqa: { opt_out: true },
  };
}

/**
 * Whether a line of Hydra's access log begins a token request.
 *
 * @param {string} line
 */
function isTokenRequest(line) {
  if (!line.includes('"started handling request"')) return false;
  const { http_request: request } = JSON.parse(line);
  return request?.method === "POST" && request.path === "/oauth2/token";
}
