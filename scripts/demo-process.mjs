// Starts a program of the demo as a process and waits until it prints its address, for scripts that
// use the demo in a browser.
import { spawn } from "node:child_process";
import path from "node:path";
import { currentBuild } from "./demo-build.mjs";

/**
 * @typedef {object} DemoProcess
 * @property {string} origin
 * @property {(name: string) => number} pidOf one process of the fleet
 * @property {() => Promise<void>} end
 */

/**
 * @param {"main.js" | "fleet.js"} file
 * @param {NodeJS.ProcessEnv} env default of PORT: a free port
 * @returns {Promise<DemoProcess>} rejects with the output if the program ends first
 */
export async function startDemoProcess(file, env) {
  const program = path.join(await currentBuild(), "demo", file);
  const child = spawn(process.execPath, [program], {
    env: { PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let said = "";
  let warned = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (warned += String(text)));
  /** @type {string} */
  const origin = await new Promise((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += String(text);
      const found = /^(?:Demo|Fleet): +(http\S+?)\/$/m.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => {
      reject(new Error(`${file} ended instead of starting: ${said}${warned}`));
    });
  });
  return {
    origin,
    pidOf: (name) => Number(new RegExp(`^${name}: +pid (\\d+)`, "m").exec(said)?.[1]),
    async end() {
      child.kill();
      await ended;
    },
  };
}
