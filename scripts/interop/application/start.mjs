// Starts the application under test, one or several processes of it, with the APIs that it calls.
import { randomBytes } from "node:crypto";
import path from "node:path";
import { freePort, startProgram } from "../processes.mjs";
import { needProgram } from "../../debian-program.mjs";
import { openTab } from "./tab.mjs";

/**
 * @typedef {object} LogLine
 * @property {string} level
 * @property {string} code
 * @property {string} message
 * @property {Record<string, string | number | boolean>} [details]
 *
 * @typedef {object} ApplicationOptions
 * @property {Record<string, unknown>} [client] what `newClient` of the server gets, beside `origin`
 * @property {Record<string, string>} [env] settings, over those that `newClient` gives
 * @property {import("./program.mjs").ProgramOptions["options"]} [options] those that have no variable
 * @property {number} [processes] default 1; several share a Redis
 * @property {string} [acr] that /strong requires
 * @property {import("../servers.mjs").RunningServer} [server] default: the stage's
 *
 * @typedef {object} RunningApplication
 * @property {string} origin of the first process
 * @property {readonly string[]} origins of each process
 * @property {Record<string, string>} env its settings
 * @property {(server?: import("../servers.mjs").RunningServer) => Promise<import("./tab.mjs").Tab>} newTab
 * @property {() => readonly LogLine[]} log what its processes have logged
 * @property {(index: number) => Promise<void>} kill SIGKILL for one process
 * @property {(index: number) => Promise<void>} restart
 * @property {(seconds: number) => Promise<void>} setClock how far the processes' clocks are ahead
 * @property {() => Promise<void>} end
 */

/** What the program writes when it listens. */
export const READY = /^application: ready$/m;
export const PROGRAM = path.join(import.meta.dirname, "program.mjs");
const API = path.join(import.meta.dirname, "api.mjs");

/**
 * @param {import("../servers.mjs").Stage} stage
 * @param {ApplicationOptions} wish
 * @returns {Promise<RunningApplication>}
 */
export async function startApplication(stage, wish) {
  const { client = {}, processes = 1, options = {}, acr } = wish;
  const server = wish.server ?? stage.server;
  const ports = await Promise.all(Array.from({ length: processes }, freePort));
  const origins = ports.map((port) => `http://localhost:${port}`);
  const [origin = ""] = origins;
  const env = {
    ...(await server.newClient({ origin, ...client })),
    SECRET_KEY: randomBytes(32).toString("base64url"),
    BASE_URL: origin,
    ...wish.env,
  };
  const redis = processes > 1 ? await startRedis(stage.folder) : undefined;
  /** @type {LogLine[]} */
  const log = [];
  const INTEROP = JSON.stringify({ options, redis: redis?.url, acr });
  const start = async (/** @type {number} */ port) => {
    const program = await startProgram({
      command: process.execPath,
      args: [PROGRAM],
      env: { ...env, PORT: String(port), INTEROP },
      ready: READY,
      ipc: true,
    });
    program.child.on("message", (/** @type {{ line?: LogLine }} */ { line }) => {
      if (line !== undefined) log.push(line);
    });
    return program;
  };
  const running = await Promise.all(ports.map(start)).catch(
    async (/** @type {unknown} */ error) => {
      await redis?.program.end();
      throw error;
    },
  );
  return {
    origin,
    origins,
    env,
    newTab: (provider = server) => openTab({ browser: stage.browser, origins, server: provider }),
    log: () => log,
    kill: async (index) => running[index]?.kill(),
    async restart(index) {
      await running[index]?.end();
      running[index] = await start(ports[index] ?? 0);
    },
    async setClock(seconds) {
      await Promise.all(running.map(({ child }) => setClock(child, seconds)));
    },
    async end() {
      await Promise.all(running.map((program) => program.end()));
      await redis?.program.end();
    },
  };
}

/**
 * Starts an API that verifies the tokens that it gets.
 *
 * @param {Omit<import("./api.mjs").ApiOptions, "port">} options
 */
export async function startApi(options) {
  const port = await freePort();
  const program = await startProgram({
    command: process.execPath,
    args: [API],
    env: { INTEROP: JSON.stringify({ ...options, port }) },
    ready: /^api: ready$/m,
  });
  return { url: `http://127.0.0.1:${port}/`, end: program.end };
}

/** @param {string} folder */
async function startRedis(folder) {
  const command = await needProgram("redis-server", "redis-server");
  const port = await freePort();
  const program = await startProgram({
    command,
    args: ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
    ready: /Ready to accept connections/,
  });
  return { url: `redis://127.0.0.1:${port}`, program };
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {number} seconds
 */
function setClock(child, seconds) {
  return new Promise((resolve) => {
    const heard = (/** @type {{ ahead?: number }} */ { ahead }) => {
      if (ahead !== seconds) return;
      child.off("message", heard);
      resolve(undefined);
    };
    child.on("message", heard);
    child.send({ ahead: seconds });
  });
}
