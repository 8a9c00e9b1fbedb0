// Starts the programs of `npm run interop`, each as a process of its own, and ends them.
import { spawn } from "node:child_process";
import { createServer } from "node:net";

/**
 * @typedef {object} Program
 * @property {string} command
 * @property {readonly string[]} [args]
 * @property {NodeJS.ProcessEnv} [env] replaces the environment except PATH and HOME
 * @property {string} [cwd]
 * @property {RegExp} ready what the program prints once it serves
 * @property {number} [seconds] until it must be ready; default 60
 * @property {boolean} [ipc] whether it can send messages to this process
 *
 * @typedef {object} RunningProgram
 * @property {number} pid
 * @property {import("node:child_process").ChildProcess} child
 * @property {() => string} output what it printed so far, at most the last 1,000,000 characters
 * @property {() => void} freeze it accepts connections and answers nothing
 * @property {() => void} thaw
 * @property {() => Promise<void>} kill at once
 * @property {() => Promise<void>} end as an operator would, and at once if it doesn't follow
 */

const KEPT_CHARACTERS = 1_000_000;
const END_SECONDS = 15;
/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

for (const [signal, number] of /** @type {const} */ ([
  ["SIGINT", 2],
  ["SIGTERM", 15],
]))
  process.once(signal, () => process.exit(128 + number));
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** @returns {Promise<number>} a port that is free now */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/**
 * @param {Program} program
 * @returns {Promise<RunningProgram>} rejects with the end of its output if it ends first, or takes
 *   too long
 */
export async function startProgram({
  command,
  args = [],
  env = {},
  cwd,
  ready,
  seconds = 60,
  ipc = false,
}) {
  const child = spawn(command, [...args], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", "pipe", "pipe", ...(ipc ? [/** @type {const} */ ("ipc")] : [])],
  });
  running.add(child);
  let output = "";
  const ended = new Promise((resolve) => child.once("close", resolve));
  void ended.then(() => running.delete(child));
  const isReady = new Promise((resolve, reject) => {
    const late = setTimeout(() => refuse(`isn't ready after ${seconds} s`), seconds * 1000);
    const refuse = (/** @type {string} */ why) => {
      clearTimeout(late);
      reject(new Error(`${command} ${why}:\n${output.slice(-4000)}`));
    };
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text) => {
        output = (output + String(text)).slice(-KEPT_CHARACTERS);
        if (!ready.test(output)) return;
        clearTimeout(late);
        resolve(undefined);
      });
    child.once("error", ({ message }) => refuse(message));
    void ended.then(() => refuse("ended"));
  });
  const stop = async (/** @type {NodeJS.Signals} */ signal) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), END_SECONDS * 1000);
    await ended;
    clearTimeout(late);
  };
  try {
    await isReady;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    child,
    output: () => output,
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    kill: () => stop("SIGKILL"),
    async end() {
      child.kill("SIGCONT");
      await stop("SIGTERM");
    },
  };
}
