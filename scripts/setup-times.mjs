// Measures what a fresh checkout costs: `npm ci`, its size, the first `npm start` and the second. Prints the best of three rounds
// as a row of the table in CONTRIBUTING.md. Do nothing else on the machine meanwhile.
//   npm run setup:times                          the last commit
//   npm run setup:times -- COMMIT --rounds=1     another commit, one round
import { execFileSync, spawn } from "node:child_process";
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { npm, npmCommand, root } from "./run.mjs";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { rounds: { type: "string", default: "3" } } });
const commit = execFileSync("git", ["rev-parse", "--short", positionals[0] ?? "HEAD"], { cwd: root, encoding: "utf8" }).trim();

const folder = mkdtempSync(path.join(tmpdir(), "idpauth-setup-"));
try {
  const archive = path.join(folder, "checkout.tar");
  execFileSync("git", ["archive", "--output", archive, commit], { cwd: root });
  /** @type {Record<"install" | "size" | "first" | "second", number>[]} */
  const rounds = [];
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const checkout = path.join(folder, `round-${round}`);
    execFileSync("git", ["init", "--quiet", checkout]);
    execFileSync("tar", ["-xf", archive, "-C", checkout]);
    const load = loadavg()[0] ?? 0;
    const install = await seconds(() => void npm(["ci", "--loglevel=error"], { cwd: checkout, stdio: "inherit" }));
    const size = megabytes(path.join(checkout, "node_modules"));
    const first = await seconds(() => start(checkout));
    const second = await seconds(() => start(checkout));
    rounds.push({ install, size, first, second });
    console.error(`round ${round}: ${[install, size, first, second].map((value) => value.toFixed(1)).join(", ")}; load ${load.toFixed(1)}`);
    rmSync(checkout, { recursive: true, force: true });
  }
  const best = (/** @type {"install" | "size" | "first" | "second"} */ what) => Math.min(...rounds.map((round) => round[what]));
  const both = Math.min(...rounds.map(({ install, first }) => install + first));
  console.log("| Commit | `npm ci` | `node_modules` | first `npm start` | both | second `npm start` |\n|---|---|---|---|---|---|");
  console.log(
    `| ${commit} | ${best("install").toFixed(0)} s | ${best("size").toFixed(0)} MB | ${best("first").toFixed(1)} s | ${both.toFixed(0)} s | ${best("second").toFixed(1)} s |`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {() => unknown} work */
async function seconds(work) {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

/**
 * Runs `npm start` until the demo says its address, then ends it. The ending is not measured: it goes on in the background.
 *
 * @param {string} checkout
 * @returns {Promise<void>}
 */
function start(checkout) {
  const { command, first } = npmCommand();
  const child = spawn(command, [...first, "start"], {
    cwd: checkout,
    env: { ...process.env, PORT: "0", DEMO_SESSIONS: "memory" },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      said += text;
      if (!/^Demo: +http/m.test(said)) return;
      // The whole group, as Ctrl+C in a terminal.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGINT");
      resolve();
    });
    child.on("error", reject).on("close", () => {
      reject(new Error(`The demo ended instead of starting: ${said}`));
    });
  });
}

/** @param {string} file */
function megabytes(file) {
  let blocks = 0;
  for (const entry of readdirSync(file, { recursive: true, withFileTypes: true })) {
    const { blocks: own } = lstatSync(path.join(entry.parentPath, entry.name));
    blocks += own;
  }
  return (blocks * 512) / 1024 ** 2;
}
