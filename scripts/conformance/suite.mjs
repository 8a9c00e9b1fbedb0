// Runs the suite's server on a database in memory, behind TLS.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { seconds } from "../interop/application/tab.mjs";
import { freePort, startProgram } from "../interop/processes.mjs";
import { openSuiteApi } from "./suite-api.mjs";
import { startTlsFront } from "./tls-front.mjs";

/** Until the server has started, on a machine that has other work too. */
const START_SECONDS = 600;
/** Until it responds, once it has started. */
const FIRST_SECONDS = 60;
const DATABASE = path.join(import.meta.dirname, "database/Database.java");

/**
 * @typedef {object} RunningSuite
 * @property {import("./suite-api.mjs").SuiteApi} api
 * @property {string} version
 * @property {() => string} output what the server printed
 * @property {() => Promise<void>} end
 */

/**
 * @param {object} parts
 * @param {import("./suite-build.mjs").Build} parts.build
 * @param {import("../certificate.mjs").Certificate} parts.authority
 * @param {string} parts.applicationName the application's host, which the suite sends requests to
 * @param {string} parts.folder for files of this run
 * @returns {Promise<RunningSuite>}
 */
export async function startSuite({ build, authority, applicationName, folder }) {
  console.log("Start: the database and the suite (a few minutes)");
  /** @type {(() => unknown)[]} */
  const ends = [];
  const end = async () => {
    for (const one of ends.splice(0).reverse()) await one();
  };
  try {
    const front = await startTlsFront({ name: "localhost", authority });
    ends.push(front.end);
    const mtls = await startTlsFront({ name: "localhost", authority, asksForCertificate: true });
    ends.push(mtls.end);
    const database = await startDatabase(build);
    ends.push(database.end);
    const port = await freePort();
    for (const one of [front, mtls]) one.forwardTo(port);
    const hosts = path.join(folder, "hosts");
    writeFileSync(hosts, `127.0.0.1 localhost ${applicationName}\n`);
    const server = await startProgram({
      command: build.java,
      args: [
        // The suite needs no other names, and asks for none.
        `-Djdk.net.hosts.file=${hosts}`,
        "-Djdk.tls.maxHandshakeMessageSize=65536",
        "-Xmx1g",
        // A server of an hour starts faster without what pays off in days.
        "-XX:TieredStopAtLevel=1",
        "-jar",
        build.jar,
        ...argumentsOf({ port, database: database.url, origin: front.origin, mtls: mtls.origin }),
      ],
      cwd: folder,
      ready: /\bStarted Application in\b/,
      seconds: START_SECONDS,
    });
    ends.push(server.end);
    const api = openSuiteApi(`http://127.0.0.1:${port}`);
    return { api, version: await served(api), output: server.output, end };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * @param {{ port: number, database: string, origin: string, mtls: string }} addresses
 */
function argumentsOf({ port, database, origin, mtls }) {
  // Where the suite's own users would sign in. It asks for their documents when it starts, and goes on
  // without.
  const nowhere = "http://127.0.0.1:9";
  return Object.entries({
    "spring.profiles.active": "dev",
    "server.port": port,
    "server.address": "127.0.0.1",
    "spring.mongodb.uri": database,
    // Its name before Spring Boot 4.
    "spring.data.mongodb.uri": database,
    "fintechlabs.base_url": origin,
    "fintechlabs.base_mtls_url": mtls,
    "fintechlabs.devmode": true,
    "oidc.gitlab.iss": nowhere,
    "oidc.google.iss": nowhere,
    "logging.level.net.openid.conformance": "WARN",
    // It says when the server is ready.
    "logging.level.net.openid.conformance.Application": "INFO",
  }).map(([name, value]) => `--${name}=${value}`);
}

/** @param {import("./suite-build.mjs").Build} build */
async function startDatabase({ java, database }) {
  const port = await freePort();
  const program = await startProgram({
    command: java,
    args: ["-Xmx1g", "-cp", database.join(path.delimiter), DATABASE, String(port)],
    ready: /^database: ready$/m,
    seconds: 120,
  });
  return { url: `mongodb://127.0.0.1:${port}/test_suite`, end: program.end };
}

/**
 * The first requests take seconds.
 *
 * @param {import("./suite-api.mjs").SuiteApi} api
 * @returns {Promise<string>} the suite's version
 */
async function served(api) {
  const late = Date.now() + FIRST_SECONDS * 1000;
  for (;;) {
    try {
      return await api.version();
    } catch (error) {
      if (Date.now() > late) throw error;
    }
    await seconds(0.5);
  }
}
