// @ts-check
// Runs the hosts' tests on other runtimes, and prints a table of what was run where. Needs a build
// (`npm run build`). A run of all of them writes docs/evidence/runtimes.json.
//   node test/runtimes/run.mjs [node22] [node24] [node26] [bun] [deno]      default: all
// A runtime that is not at hand comes from the npm package of its name, into a cache below
// node_modules.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runNow } from "../../scripts/evidence/commits.mjs";
import { keepEvidence, readEvidence } from "../../scripts/evidence/files.mjs";

/**
 * @typedef {{ passed: number, total: number, expectedToFail?: number, notApplicable?: number }}
 * Outcome
 */
/**
 * @typedef {{ spec: string, binary: string, run: (binary: string) => [what: string, outcome: Outcome][] }} Runtime
 */

const root = path.resolve(import.meta.dirname, "../..");
const cache = path.join(root, "node_modules/.cache/idpauth-runtimes");
const suite = path.join(import.meta.dirname, "fetch-suite.mjs");

/** @type {Record<string, Runtime>} */
const RUNTIMES = {
  ...Object.fromEntries(
    [22, 24, 26].map((major) => [
      `node${major}`,
      { spec: `node@${major}`, binary: "node/bin/node", run: onNode },
    ]),
  ),
  bun: {
    spec: "bun@1",
    binary: "bun/bin/bun.exe",
    run: (binary) => onFetchServer(binary, ["run"]),
  },
  deno: {
    spec: "deno@2",
    binary: "deno/bin.cjs",
    run: (binary) => onFetchServer(binary, ["run", "--quiet", "--allow-all", "--no-check"]),
  },
};

/**
 * All hosts, over node:http.
 *
 * @param {string} binary
 * @returns {[string, Outcome][]}
 */
function onNode(binary) {
  const file = path.join(cache, "outcome.json");
  mkdirSync(cache, { recursive: true });
  rmSync(file, { force: true });
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const reporters = [
    "--reporter=dot",
    `--reporter=${path.join(import.meta.dirname, "outcome-reporter.mjs")}`,
  ];
  spawnSync(binary, [vitest, "run", "test/adapters", ...reporters], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, IDPAUTH_OUTCOME_FILE: file },
  });
  return [
    [
      "every host",
      existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { passed: 0, total: 0 },
    ],
  ];
}

/**
 * The fetch host and Hono, over the runtime's own server.
 *
 * @param {string} binary
 * @param {readonly string[]} args
 * @returns {[string, Outcome][]}
 */
function onFetchServer(binary, args) {
  return ["fetch", "hono"].map((host) => {
    const { stdout } = spawnSync(binary, [...args, suite, host], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = stdout.trimEnd().split("\n");
    const last = lines.pop() ?? "";
    console.log(lines.join("\n"));
    return [host, last.startsWith("{") ? JSON.parse(last) : { passed: 0, total: 0 }];
  });
}

/**
 * @param {string} name
 * @param {Runtime} runtime
 * @returns {string} where its binary is
 */
function find(name, { spec, binary }) {
  if (name === `node${process.versions.node.split(".")[0]}`) return process.execPath;
  const folder = path.join(cache, name);
  const found = path.join(folder, "node_modules", binary);
  if (!existsSync(found)) {
    mkdirSync(folder, { recursive: true });
    const [packageName = ""] = spec.split("@");
    // Each of these packages fetches, or moves, its binary when it is installed.
    writeFileSync(
      path.join(folder, "package.json"),
      JSON.stringify({ private: true, allowScripts: { [packageName]: true } }),
    );
    execFileSync(
      "npm",
      ["install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error", spec],
      { stdio: "inherit" },
    );
  }
  return found;
}

const asked = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(RUNTIMES);
const rows = [];
for (const name of asked) {
  const runtime = RUNTIMES[name];
  if (runtime === undefined)
    throw new Error(`there is no runtime "${name}"; there are ${Object.keys(RUNTIMES).join(", ")}`);
  const binary = find(name, runtime);
  const version = execFileSync(binary, ["--version"], { encoding: "utf8" })
    .split("\n", 1)[0]
    ?.match(/\d+\.\d+\.\d+/)?.[0];
  for (const [what, { passed, total, expectedToFail = 0, notApplicable = 0 }] of runtime.run(
    binary,
  )) {
    rows.push({
      runtime: `${name.replace(/\d+$/, "")} ${version}`,
      what,
      passed,
      total,
      expectedToFail,
      notApplicable,
    });
  }
}

console.log(
  "\n| Runtime | What | Hold | Known not to hold | Not applicable |\n|---|---|---|---|---|",
);
for (const { runtime, what, passed, total, expectedToFail, notApplicable } of rows) {
  console.log(
    `| ${runtime} | ${what} | ${passed} of ${total} | ${expectedToFail || ""} | ${notApplicable || ""} |`,
  );
}
if (process.argv.length === 2) {
  const { notes } = readEvidence("runtimes");
  const { date, commit, command } = runNow("npm run runtimes");
  const runs = rows.map(({ runtime, ...counts }) => {
    const [name = "", version] = runtime.split(" ");
    return { runtime: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, version, ...counts };
  });
  await keepEvidence("runtimes", { command, date, commit, runs, notes });
}
process.exitCode = rows.every(
  ({ passed, total, expectedToFail }) => total > 0 && passed + expectedToFail === total,
)
  ? 0
  : 1;
