// Starts tools, tests and npm for the other scripts, so that each script finds them and reports a
// failure in the same way.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export const root = path.resolve(import.meta.dirname, "..");

/**
 * Runs one of the tools that `npm ci` installed.
 *
 * @param {string} file path of its JavaScript inside node_modules
 * @param {readonly string[]} args
 * @returns {number} the exit code
 */
export function tool(file, args) {
  return node([path.join(root, "node_modules", file), ...args]);
}

/**
 * @param {readonly string[]} args
 * @returns {number} the exit code
 */
export function node(args) {
  const { status, error } = spawnSync(process.execPath, [...args], { cwd: root, stdio: "inherit" });
  if (error) throw error;
  // A process that a signal ended has no code.
  return status ?? 1;
}

/**
 * Runs a script or a tool while others run, and keeps its output together.
 *
 * @param {readonly string[]} args
 * @returns {Promise<{ code: number, text: string }>} the exit code, and what the process printed
 */
export function output(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
        text += chunk;
      });
    }
    child.on("error", reject).on("close", (code) => {
      resolve({ code: code ?? 1, text });
    });
  });
}

/**
 * Prints which Node.js runs the command. `npm run` finds that of the devDependency `node` before the
 * machine's own.
 */
export function printNode() {
  const program = path.relative(root, process.execPath);
  const place = program.startsWith("..") ? process.execPath : program;
  console.log(`Node.js ${process.version} (${place})`);
}

/**
 * What starts npm. On Windows npm is a .cmd file, which Node.js starts in no other way than through
 * its own program. The npm package `node` doesn't contain it, so it's that of the npm that started
 * this process.
 *
 * @returns {{ command: string, first: readonly string[] }} `first` comes before npm's own arguments
 */
export function npmCommand() {
  const program =
    process.env["npm_execpath"] ??
    path.join(path.dirname(process.execPath), "node_modules/npm/bin/npm-cli.js");
  return process.platform === "win32"
    ? { command: process.execPath, first: [program] }
    : { command: "npm", first: [] };
}

/**
 * @param {readonly string[]} args
 * @param {{ cwd?: string, stdio?: import("node:child_process").StdioOptions }} [options]
 * @returns {string} what npm printed, unless `stdio` leads elsewhere
 * @throws Error npm failed
 */
export function npm(args, { cwd = root, stdio = ["ignore", "pipe", "inherit"] } = {}) {
  const { command, first } = npmCommand();
  return execFileSync(command, [...first, ...args], { cwd, stdio, encoding: "utf8" });
}

/**
 * Runs some of the tests. Sets this process's exit code.
 *
 * @template Outcome
 * @param {string} tests a file or a folder
 * @returns {Outcome[]} one for each test, as vitest's JSON report has it
 * @throws Error vitest wrote no report
 */
export function testOutcomes(tests) {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-report-"));
  try {
    const file = path.join(folder, "report.json");
    process.exitCode = tool("vitest/vitest.mjs", [
      "run",
      tests,
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
    ]);
    if (!existsSync(file))
      throw new Error(
        `There is no report of ${tests}: vitest did not come that far. Its output above says why.`,
      );
    const { testResults } = /** @type {{ testResults: { assertionResults: Outcome[] }[] }} */ (
      readJson(file)
    );
    return testResults.flatMap(({ assertionResults }) => assertionResults);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} file
 * @returns {unknown}
 */
export function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** @param {string} text */
export function headline(text) {
  console.log(`\n── ${text} ${"─".repeat(Math.max(0, 76 - text.length))}`);
}
