// The program of Debian's package `glewlwyd`, with a database and pages in the run's folder. The
// package's own service and database aren't used.
import { execFile } from "node:child_process";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../../debian-program.mjs";
import { startProgram } from "../processes.mjs";

const run = promisify(execFile);

export const VERSION = "2.7.5";
const HOW = "install Debian 12's packages glewlwyd and sqlite3.";
const SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3";
const SHARED = "/usr/share/glewlwyd";
const MODULES = "/usr/lib/glewlwyd";
const MIME_TYPES = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "application/javascript",
  ".json": "application/json",
};

/** @returns {Promise<string | undefined>} what is missing on this machine, and how to get it */
export async function missing() {
  const [program, sqlite] = [await findProgram("glewlwyd"), await findProgram("sqlite3")];
  if (program === undefined || sqlite === undefined || !existsSync(SCHEMA))
    return `Glewlwyd is missing: ${HOW}`;
  const installed = (await run(program, ["--version"])).stdout.trim();
  return installed === VERSION
    ? undefined
    : `Glewlwyd ${installed} is installed, and this run is for ${VERSION}: ${HOW}`;
}

/**
 * Writes what the server needs: the package's database, its pages and a configuration.
 *
 * @param {string} folder
 * @param {number} port
 * @returns {Promise<() => Promise<import("../processes.mjs").RunningProgram>>} starts the server
 */
export async function prepare(folder, port) {
  const database = path.join(folder, "glewlwyd.sqlite");
  const pages = path.join(folder, "glewlwyd-pages");
  const file = path.join(folder, "glewlwyd.conf");
  await run("sqlite3", [database, `.read ${SCHEMA}`]);
  // In the package, the pages' configuration is a link to a folder, and they don't load with it.
  const isOther = (/** @type {string} */ source) => path.basename(source) !== "config.json";
  cpSync(path.join(SHARED, "webapp"), pages, {
    recursive: true,
    dereference: true,
    filter: isOther,
  });
  cpSync(path.join(SHARED, "templates/config.json"), path.join(pages, "config.json"));
  writeFileSync(file, configuration({ port, database, pages }));
  const command = (await findProgram("glewlwyd")) ?? "glewlwyd";
  const ready = /Glewlwyd started on port/;
  return () => startProgram({ command, args: [`--config-file=${file}`], ready });
}

/** @param {{ port: number, database: string, pages: string }} options */
function configuration({ port, database, pages }) {
  const settings = {
    port,
    bind_address: "127.0.0.1",
    external_url: `http://localhost:${port}`,
    login_url: "login.html",
    api_prefix: "api",
    static_files_path: pages,
    log_mode: "console",
    log_level: "INFO",
    cookie_secure: 0,
    session_expiration: 86_400,
    session_key: "GLEWLWYD2_SESSION_ID",
    admin_session_authentication: "cookie,api_key",
    admin_scope: "g_admin",
    profile_scope: "g_profile",
    user_module_path: `${MODULES}/user`,
    client_module_path: `${MODULES}/client`,
    user_auth_scheme_module_path: `${MODULES}/scheme`,
    plugin_module_path: `${MODULES}/plugin`,
    hash_algorithm: "SHA512",
  };
  const types = Object.entries(MIME_TYPES).map(
    ([extension, type]) => `{ extension = "${extension}"; mime_type = "${type}"; }`,
  );
  return [
    ...Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
    `database = { type = "sqlite3"; path = ${JSON.stringify(database)}; }`,
    `static_files_mime_types = ( ${types.join(", ")} )`,
    "",
  ].join("\n");
}
