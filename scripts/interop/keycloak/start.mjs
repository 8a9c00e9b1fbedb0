// Runs Keycloak on PostgreSQL, with a public https address whose certificate comes from a CA of its
// own, and an internal http address.
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import path from "node:path";
import { createCertificate } from "../../certificate.mjs";
import { seconds } from "../application/tab.mjs";
import { freePort, startProgram } from "../processes.mjs";
import { openAdmin } from "./admin.mjs";
import { javaArguments, needKeycloak } from "./install.mjs";
import { startDatabase } from "./postgres.mjs";

/** Seconds until Keycloak has set up its database, on a machine that has other work too. */
const START_SECONDS = 240;
const ADMIN = "admin";
/** idpauth warns of a certificate that expires within 30 days. */
const CLIENT_CERTIFICATE_MS = 60 * 24 * 3_600_000;

/**
 * @typedef {object} RunningKeycloak
 * @property {string} version as its Admin REST API tells it
 * @property {string} url the public address
 * @property {string} internalUrl for the application's own requests
 * @property {Record<string, string>} env what an application needs to trust the certificate
 * @property {(name: string) => import("../../certificate.mjs").Certificate} newCertificate by the CA
 *   that Keycloak trusts, and the application
 * @property {import("./admin.mjs").Admin} admin
 * @property {string} adminPassword of the user `admin` in its console
 * @property {import("./postgres.mjs").Database} database
 * @property {() => void} freeze it accepts connections and answers nothing
 * @property {() => void} thaw
 * @property {() => Promise<void>} stop
 * @property {() => Promise<void>} restart after `stop`; ready when this resolves
 * @property {() => string} output what it printed since its last start
 * @property {() => Promise<void>} end
 */

/**
 * @param {{ version: string, homeVariable: string, folder: string }} wanted
 * @returns {Promise<RunningKeycloak>}
 */
export async function startKeycloak(wanted) {
  const installed = await needKeycloak(wanted);
  const { folder } = wanted;
  const https = await freePort();
  const http = await freePort();
  const url = `https://localhost:${https}`;
  const internalUrl = `http://127.0.0.1:${http}`;
  const password = randomBytes(16).toString("base64url");
  const files = writeCertificates(folder);
  console.log("Start: PostgreSQL and Keycloak");
  const database = await startDatabase(folder);
  const launch = async () => {
    const program = await startProgram({
      command: installed.java,
      args: [
        ...javaArguments(installed.home),
        ...["start", "--optimized", "--http-enabled=true", "--http-host=127.0.0.1"],
        ...[`--http-port=${http}`, `--https-port=${https}`],
        ...[`--https-certificate-file=${files.cert}`, `--https-certificate-key-file=${files.key}`],
        // Whose client certificates it accepts.
        `--truststore-paths=${files.authority}`,
        ...hostname(url, wanted.version),
      ],
      env: environment(database, password),
      ready: /\bstarted in\b|Listening on:/,
      seconds: START_SECONDS,
    });
    await served(url, files.authority);
    return program;
  };
  let program = await launch().catch(async (/** @type {unknown} */ error) => {
    await database.end();
    throw error;
  });
  const admin = openAdmin({ url: internalUrl, username: ADMIN, password });
  const { systemInfo } = await admin.get("/../serverinfo");
  return {
    version: systemInfo.version,
    url,
    internalUrl,
    env: { NODE_EXTRA_CA_CERTS: files.authority },
    newCertificate: files.newCertificate,
    admin,
    adminPassword: password,
    database,
    freeze: () => program.freeze(),
    thaw: () => program.thaw(),
    stop: () => program.end(),
    async restart() {
      program = await launch();
    },
    output: () => program.output(),
    async end() {
      await program.end();
      await database.end();
    },
  };
}

/**
 * The internal address gives a discovery document with the public issuer, and internal addresses for
 * the application's own requests.
 *
 * @param {string} url
 * @param {string} version
 */
function hostname(url, version) {
  return Number.parseInt(version) < 25
    ? [`--hostname-url=${url}`]
    : [`--hostname=${url}`, "--hostname-backchannel-dynamic=true"];
}

/**
 * @param {import("./postgres.mjs").Database} database
 * @param {string} password
 */
function environment({ jdbc }, password) {
  return {
    KC_DB_URL: jdbc,
    KC_DB_USERNAME: "postgres",
    KC_DB_PASSWORD: "not asked for",
    KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN,
    KC_BOOTSTRAP_ADMIN_PASSWORD: password,
    // Their names before Keycloak 26.
    KEYCLOAK_ADMIN: ADMIN,
    KEYCLOAK_ADMIN_PASSWORD: password,
  };
}

/** @param {string} folder */
function writeCertificates(folder) {
  const authority = createCertificate({ name: "idpauth interop", isAuthority: true });
  const { cert, key } = createCertificate({ name: "localhost", authority });
  const write = (/** @type {string} */ name, /** @type {string} */ content) => {
    const file = path.join(folder, name);
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  };
  return {
    authority: write("authority.pem", authority.cert),
    cert: write("server.pem", cert),
    key: write("server-key.pem", key),
    newCertificate: (/** @type {string} */ name) =>
      createCertificate({ name, authority, until: Date.now() + CLIENT_CERTIFICATE_MS }),
  };
}

/**
 * Keycloak listens before it has set up its database. The first https request takes seconds too, so
 * that this is one.
 *
 * @param {string} url
 * @param {string} authority the CA's file
 */
async function served(url, authority) {
  const ca = readFileSync(authority);
  const late = Date.now() + START_SECONDS * 1000;
  while (Date.now() < late) {
    const status = await statusOf(`${url}/realms/master/.well-known/openid-configuration`, ca);
    if (status === 200) return;
    await seconds(0.5);
  }
  throw new Error(`Keycloak isn't ready after ${START_SECONDS} s`);
}

/**
 * @param {string} url
 * @param {Buffer} ca
 * @returns {Promise<number | undefined>} undefined: no answer
 */
function statusOf(url, ca) {
  return new Promise((resolve) => {
    get(url, { ca }, (response) => resolve(response.resume().statusCode)).once("error", () =>
      resolve(undefined),
    );
  });
}
