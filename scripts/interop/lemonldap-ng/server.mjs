// LemonLDAP::NG's portal from Debian's packages, in Starman, with its demonstration backend.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../../debian-program.mjs";
import { eventually, seconds } from "../application/tab.mjs";
import { freePort, startProgram } from "../processes.mjs";
import { newClient } from "./clients.mjs";
import { writeFirst } from "./configuration.mjs";
import { signInAtProvider } from "./pages.mjs";
import { STEPS } from "./steps.mjs";

/**
 * @typedef {import("../servers.mjs").RunningServer & {
 *   stop: () => Promise<void>,
 *   restart: (settings?: PortalSettings) => Promise<void>,
 *   removeSessions: (condition: string, backend?: string) => Promise<void>,
 *   rotateKeys: () => Promise<void>,
 * }} Portal
 *
 * @typedef {object} PortalSettings
 * @property {string} [removed] a user whom the backend no longer knows
 */

const VERSION = "2.16.1";
const PACKAGES =
  "liblemonldap-ng-portal-perl libconvert-pem-perl libio-string-perl libstring-random-perl starman";
/** The first line loads what these packages bring. */
const PRINT_VERSION = [
  ...["Convert::PEM", "IO::String", "String::Random", "Starman"].map((name) => `-M${name}`),
  ...["-MLemonldap::NG::Portal", "-e", "print $Lemonldap::NG::Portal::VERSION"],
];
const PROGRAMS = "/usr/share/lemonldap-ng/bin";
const PSGI = path.join(import.meta.dirname, "portal.psgi");
/** How many requests the portal answers at once. */
const WORKERS = 4;
/** Until a worker's line in the access log has arrived. */
const LOG_SECONDS = 0.3;
const START_SECONDS = 60;

const USERS = {
  accounts: {
    ada: { uid: "ada", cn: "Ada Lovelace", mail: "ada@example.com" },
    grace: { uid: "grace", cn: "Grace Hopper", mail: "grace@example.com" },
  },
  groups: { admins: ["ada"] },
};

/** @type {import("../servers.mjs").Server} */
export default {
  key: "lemonldap-ng",
  title: "LemonLDAP::NG",
  version: VERSION,
  notes:
    "The portal of Debian's packages runs in Starman with its demonstration backend and file sessions. The run writes its configuration and its users, and shortens the life of tokens, which is an hour by default. This version has no revocation endpoint and no back-channel logout, its refresh tokens don't rotate, and clients authenticate only with a secret. Without `offline_access`, a refresh token ends with the user's session at the portal.",
  missing,
  start,
  steps: STEPS,
};

async function missing() {
  const perl = (await findProgram("perl")) ?? "perl";
  const installed = await promisify(execFile)(perl, PRINT_VERSION).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
  if (installed === VERSION) return undefined;
  if (installed !== undefined)
    return `LemonLDAP::NG ${installed} is installed, and the steps are for ${VERSION}, which Debian 12 has.`;
  return `LemonLDAP::NG or a package that it requires isn't installed. Debian 12: sudo apt-get install -y --no-install-recommends ${PACKAGES}`;
}

/**
 * @param {string} folder
 * @returns {Promise<Portal>}
 */
async function start(folder) {
  const command = (await findProgram("starman")) ?? "starman";
  const listen = `127.0.0.1:${await freePort()}`;
  const issuer = `http://${listen}/`;
  const users = path.join(folder, "users.json");
  const env = { LLNG_DEFAULTCONFFILE: writeFirst(folder, issuer), INTEROP_USERS: users };
  const run = async (/** @type {string} */ name, /** @type {readonly string[]} */ ...args) => {
    const options = { env: { PATH: process.env["PATH"], ...env } };
    await promisify(execFile)(path.join(PROGRAMS, name), args, options);
  };
  const serve = async (/** @type {PortalSettings} */ { removed }) => {
    const accounts = Object.entries(USERS.accounts).filter(([name]) => name !== removed);
    writeFileSync(users, JSON.stringify({ ...USERS, accounts: Object.fromEntries(accounts) }));
    const program = await startProgram({
      command,
      args: [
        ...["--listen", listen, "--workers", String(WORKERS), "--preload-app"],
        ...["--env", "deployment", PSGI],
      ],
      env,
      cwd: folder,
      ready: /Binding to TCP port/,
      seconds: START_SECONDS,
    });
    await eventually(() => answers(`${issuer}.well-known/openid-configuration`), START_SECONDS);
    return program;
  };
  console.log(`Start: LemonLDAP::NG at ${issuer}`);
  let program = await serve({});
  let counted = 0;
  const requestsNow = () => program.output().match(/^POST \/oauth2\/token$/gm)?.length ?? 0;
  const stop = async () => {
    counted += requestsNow();
    await program.end();
  };
  return {
    version: VERSION,
    issuer,
    newClient: (wish) => newClient(wish, { issuer, folder }),
    signInAtProvider,
    /** The log doesn't contain the grant: between two readings without a sign-in, all are refreshes. */
    async tokenRequests() {
      await seconds(LOG_SECONDS);
      return counted + requestsNow();
    },
    stop,
    async restart(settings = {}) {
      if (program.child.exitCode === null) await stop();
      program = await serve(settings);
    },
    removeSessions: (condition, backend = "global") =>
      run(
        "lemonldap-ng-sessions",
        ...["--user", userInfo().username, "--backend", backend],
        ...["--where", condition, "delete"],
      ),
    rotateKeys: () => run("rotateOidcKeys"),
    end: () => program.end(),
  };
}

/**
 * @param {string} url
 * @returns {Promise<boolean>}
 */
function answers(url) {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}
