// The time that the import of a peer takes.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { median } from "../rounds.mjs";

const run = promisify(execFile);

const IMPORT_ROUNDS = 7;

/**
 * @param {string} folder whose node_modules has the modules
 * @param {readonly string[]} modules
 * @returns {Promise<number>} milliseconds until all are imported, in a new process; the median
 */
export async function importMilliseconds(folder, modules) {
  const imports = modules.map((name) => `await import(${JSON.stringify(name)});`).join("");
  const script = `const began = performance.now();${imports}console.log(performance.now() - began);process.exit()`;
  const times = [];
  for (let round = 0; round <= IMPORT_ROUNDS; round += 1) {
    const args = ["--input-type=module", "--eval", script];
    const { stdout } = await run(process.execPath, args, { cwd: folder });
    // The first one reads the files from the disk.
    if (round > 0) times.push(Number(stdout.trim().split("\n").at(-1)));
  }
  return median(times);
}
