// The PostgreSQL that Keycloak stores its data in. A step can stop it.
import { execFile } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { freePort, startProgram } from "../processes.mjs";
import { findProgram } from "../../debian-program.mjs";

const run = promisify(execFile);
/** Where Debian keeps the server's programs, by version. */
const DEBIAN = "/usr/lib/postgresql";

/**
 * @typedef {object} Database
 * @property {string} jdbc its address, for superuser `postgres` without a password
 * @property {string} url the same for Node.js
 * @property {() => Promise<void>} stop cuts all connections
 * @property {() => Promise<void>} start again, with its data
 * @property {() => Promise<void>} end
 */

/** @returns {Promise<string | undefined>} what is missing on this machine, and how to get it */
export async function missingPostgres() {
  return (await findPrograms()) === undefined
    ? "PostgreSQL's server is missing: install Debian's package postgresql."
    : undefined;
}

/**
 * @param {string} folder
 * @returns {Promise<Database>}
 */
export async function startDatabase(folder) {
  const programs = await findPrograms();
  if (programs === undefined) throw new Error("PostgreSQL's server is missing.");
  const own = path.join(folder, "postgres");
  mkdirSync(own);
  const asUser = unprivileged(own);
  const data = path.join(own, "data");
  const [command, ...first] = [...asUser, path.join(programs, "initdb")];
  const options = ["-D", data, "--no-sync", "--auth=trust", "-U", "postgres", "-E", "UTF8"];
  await run(command, [...first, ...options, "--locale=C"], { cwd: own });
  const port = await freePort();
  const start = () => startServer({ programs, asUser, own, port });
  let server = await start();
  const stop = async () => {
    // A fast shutdown; SIGTERM alone waits for the clients.
    server.child.kill("SIGINT");
    await server.end();
  };
  return {
    jdbc: `jdbc:postgresql://127.0.0.1:${port}/postgres`,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop,
    async start() {
      server = await start();
    },
    end: stop,
  };
}

/**
 * @param {{ programs: string, asUser: readonly string[], own: string, port: number }} options
 */
function startServer({ programs, asUser, own, port }) {
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: own,
    dynamic_shared_memory_type: "mmap",
    fsync: "off",
    port: String(port),
  };
  const [command = "", ...args] = [
    ...asUser,
    path.join(programs, "postgres"),
    "-D",
    path.join(own, "data"),
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  return startProgram({
    command,
    args,
    cwd: own,
    env: { LC_ALL: "C", TZ: "UTC" },
    ready: /database system is ready to accept connections/,
  });
}

async function findPrograms() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const folders = versions
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => path.join(DEBIAN, version, "bin"));
  const onPath = await findProgram("initdb");
  return [...folders, ...(onPath === undefined ? [] : [path.dirname(onPath)])].find((folder) =>
    existsSync(path.join(folder, "initdb")),
  );
}

/**
 * PostgreSQL refuses to run as root.
 *
 * @param {string} folder which the other user gets
 * @returns {readonly string[]} what comes before a command
 */
function unprivileged(folder) {
  if (process.getuid?.() !== 0) return [];
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  const [, , uid = "", gid = ""] =
    ["postgres", "nobody"]
      .map((name) => users.find((line) => line.startsWith(`${name}:`))?.split(":"))
      .find((user) => user !== undefined) ?? [];
  chownSync(folder, Number(uid), Number(gid));
  // It has to pass through the folder of the run, which is only root's.
  chmodSync(path.dirname(folder), 0o711);
  return ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--"];
}
