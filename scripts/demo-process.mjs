// Starts the demo as a process and waits until it prints its address, for scripts and tests.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { currentBuild } from "./demo-build.mjs";

/**
 * @typedef {object} DemoProcess
 * @property {string} origin
 * @property {(signal?: NodeJS.Signals) => Promise<DemoEnd>} end
 */
/**
 * @typedef {object} DemoEnd
 * @property {number | null} code
 * @property {string} stderr
 * @property {readonly string[]} left what it has left in the folder for temporary files
 */

/**
 * Starts it with nothing in its environment but what is given, and a temporary folder of its own.
 *
 * @param {"main.js" | "fleet.js"} file
 * @param {Readonly<Record<string, string>>} [env] default of PORT: a free port
 * @returns {Promise<DemoProcess>} rejects with the output if the program ends first
 */
export async function startDemoProcess(file, env = {}) {
  const program = path.join(await currentBuild(), "demo", file);
  const folder = mkdtempSync(path.join(tmpdir(), "demo-process-"));
  const child = spawn(process.execPath, [program], {
    env: { PORT: "0", TMPDIR: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => child.once("close", resolve));
  let [stdout, stderr] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += String(text)));
  /** @type {string} */
  const origin = await new Promise((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += String(text);
      const found = /^Demo: +(http\S+?)\/$/m.exec(stdout)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((code) => {
      rmSync(folder, { recursive: true, force: true });
      reject(new Error(`${file} ended with ${code} instead of starting: ${stdout}${stderr}`));
    });
  });
  return {
    origin,
    async end(signal = "SIGTERM") {
      const left = new Promise((resolve) => child.once("exit", () => resolve(readdirSync(folder))));
      child.kill(signal);
      return { left: await left, code: await ended, stderr };
    },
  };
}
