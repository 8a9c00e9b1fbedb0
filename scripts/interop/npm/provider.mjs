// Starts a provider program of `npm run interop`, sends it commands and ends it.
import { fork } from "node:child_process";
import path from "node:path";

/**
 * @typedef {object} RunningProvider
 * @property {string} issuer
 * @property {string} clientId
 * @property {string} clientSecret
 * @property {() => Promise<number>} tokenRequests how many it has had
 * @property {() => Promise<string>} refreshToken the newest that it has issued
 * @property {() => Promise<void>} pause it refuses connections
 * @property {() => Promise<void>} resume
 * @property {() => Promise<void>} end
 */

/**
 * @param {string} program
 * @param {import("./provider-process.mjs").Task} task
 * @returns {Promise<RunningProvider>} rejects with what the program wrote if it ends instead of
 *   starting
 */
export async function startProvider(program, task) {
  const child = fork(path.join(import.meta.dirname, `${program}.mjs`), {
    env: {
      PATH: process.env["PATH"],
      SystemRoot: process.env["SystemRoot"],
      INTEROP: JSON.stringify(task),
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let wrote = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text) => (wrote = (wrote + String(text)).slice(-4000)));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  /** @type {Map<number, (result: unknown) => void>} */
  const waiting = new Map();
  const ready = new Promise((resolve, reject) => {
    child.on("message", (/** @type {any} */ message) => {
      if ("ready" in message) resolve(message.ready);
      else waiting.get(message.id)?.(message.result);
    });
    void ended.then(() => reject(new Error(`${program} ended instead of starting: ${wrote}`)));
  });
  let last = 0;
  /** @param {string} command */
  const send = (command) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      child.send({ id: last, command });
    });
  const client = /** @type {{ issuer: string, clientId: string, clientSecret: string }} */ (
    await ready
  );
  const tokenPath = String(await send("tokenPath"));
  return {
    ...client,
    tokenRequests: async () =>
      /** @type {Record<string, number>} */ (await send("counts"))[`POST ${tokenPath}`] ?? 0,
    refreshToken: async () => String(await send("refreshToken")),
    pause: () => send("pause").then(() => undefined),
    resume: () => send("resume").then(() => undefined),
    async end() {
      child.kill();
      await ended;
    },
  };
}
