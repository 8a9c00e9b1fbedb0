// Measures speed and size; `npm run bench` builds first. Nothing here is asserted, because a busy
// machine would fail a good build. Ratios come from interleaved rounds of one run. Do nothing else
// on the machine meanwhile.
//   node bench/run.mjs [--quick] [--only=probe,guard,request,hosts,sessions,refresh,imports,stores,loop,storm,abandoned,ends,browser,proxy,transports,in-process,tenants,bound-calls] [--rounds=11] [--milliseconds=1500] [--connections=32] [--processes=3]
//   --write keeps what was measured in docs/evidence/performance.json, except of a quick run
//   node bench/run.mjs --against=PACKAGE [--quick] [--only=start,guard,probe,request,proxy] compares this build
//     with another one, in 41 interleaved rounds; PACKAGE is a tarball of npm, or a folder with
//     package.json and dist/
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, loadavg } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { AGAINST, otherBuild } from "./cases/against.mjs";
import { boundCalls } from "./cases/bound-calls.mjs";
import { browser } from "./cases/browser.mjs";
import { ends } from "./cases/ends.mjs";
import { guard } from "./cases/guard.mjs";
import { hosts } from "./cases/frameworks.mjs";
import { imports } from "./cases/imports.mjs";
import { inProcess } from "./cases/in-process.mjs";
import { loop } from "./cases/loop.mjs";
import { probe } from "./cases/probe.mjs";
import { proxy } from "./cases/proxy.mjs";
import { refresh } from "./cases/refresh.mjs";
import { request } from "./cases/request.mjs";
import { sessions } from "./cases/sessions.mjs";
import { abandoned } from "./cases/abandoned.mjs";
import { storm } from "./cases/storm.mjs";
import { stores } from "./cases/stores.mjs";
import { tenants } from "./cases/tenants.mjs";
import { transports } from "./cases/transports.mjs";
import { startChild } from "./children.mjs";
import { keepCases } from "./evidence.mjs";
import { markdown } from "./report.mjs";

const CASES = {
  probe,
  guard,
  request,
  hosts,
  sessions,
  refresh,
  imports,
  stores,
  loop,
  storm,
  abandoned,
  ends,
  browser,
  proxy,
  transports,
  "in-process": inProcess,
  tenants,
  "bound-calls": boundCalls,
};

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    against: { type: "string" },
    rounds: { type: "string" },
    milliseconds: { type: "string" },
    connections: { type: "string", default: "32" },
    processes: { type: "string" },
    write: { type: "boolean", default: false },
  },
});

const isComparison = flags.against !== undefined;
const settings = {
  rounds: Number(flags.rounds ?? (flags.quick ? 5 : isComparison ? 41 : 11)),
  milliseconds: Number(flags.milliseconds ?? (flags.quick ? 500 : isComparison ? 1_000 : 1_500)),
  connections: Number(flags.connections),
  turns: Number(flags.rounds ?? (flags.quick ? 21 : 81)),
  processes: Number(flags.processes ?? (flags.quick ? 1 : 3)),
  pinned: canPin(),
  ...(isComparison && { against: otherBuild(flags.against) }),
  inProcessBatches: flags.quick ? 10 : 50,
  inProcessCalls: flags.quick ? 5_000 : 20_000,
  importRounds: flags.quick ? 5 : 21,
  storeCounts: flags.quick ? [1_000, 20_000] : [1_000, 100_000, 1_000_000],
  stormSessions: flags.quick ? 1_000 : 10_000,
  sweptEntries: flags.quick ? 10_000 : 100_000,
  loopMilliseconds: flags.quick ? 1_000 : 5_000,
  endedSessions: flags.quick ? 1_000 : 10_000,
  ends: flags.quick ? 20 : 150,
  signOuts: flags.quick ? 10 : 50,
  heldSessions: flags.quick ? 500 : 5_000,
  firstBytes: flags.quick ? 500 : 3_000,
  proxiedMegabytes: flags.quick ? 128 : 1_024,
  eventStreams: flags.quick ? 500 : 2_000,
  abandonedLogins: flags.quick ? 5_000 : 100_000,
  tenantsInTurn: flags.quick ? 3_000 : 10_000,
  sessionCounts: flags.quick ? [1_000, 10_000] : [1_000, 100_000, 1_000_000],
};

/** Whether a process can be kept on a core of its own. */
function canPin() {
  if (cpus().length < 2) return false;
  try {
    execFileSync("taskset", ["-p", String(process.pid)], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const SUPPORT = [
  "test/support/redis-server",
  "test/support/postgres-server",
  "test/support/chromium",
  "src/testing/provider/test-provider",
];

const cases = isComparison ? AGAINST : CASES;
const names = flags.only?.split(",") ?? Object.keys(cases);
for (const name of names)
  if (!(name in cases))
    throw new Error(`there is no case "${name}"; there are ${Object.keys(cases).join(", ")}`);

/**
 * Compiles the tests' provider and servers, which are TypeScript, beside this file, where they find
 * the project's packages.
 */
async function compileTestSupport() {
  const out = fileURLToPath(new URL("dist/", import.meta.url));
  const root = fileURLToPath(new URL("../", import.meta.url));
  rmSync(out, { recursive: true, force: true });
  const project = `${out}tsconfig.json`;
  mkdirSync(out, { recursive: true });
  const compilerOptions = { noEmit: false, rootDir: root, outDir: out };
  writeFileSync(
    project,
    JSON.stringify({
      extends: "../../tsconfig.json",
      compilerOptions,
      include: SUPPORT.map((name) => `../../${name}.ts`),
      exclude: [],
    }),
  );
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", project], { stdio: "inherit" });
  const modules = await Promise.all(
    SUPPORT.map((name) => import(pathToFileURL(`${out}${name}.js`).href)),
  );
  return Object.assign({}, ...modules);
}

const machine = {
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  loadBefore: loadavg()[0],
};
const { startTestProvider, startRedis, startPostgres, chromiumForTests, launchChromium } =
  await compileTestSupport();
const provider = await startTestProvider({ idTokenSeconds: 86_400 });
const load = await startChild("load.mjs");
const startBrowser = async () => launchChromium(await chromiumForTests());
const results = { at: new Date().toISOString(), machine, settings, cases: {} };
const rows = [];
try {
  for (const name of names) {
    console.error(`measuring: ${name}`);
    const { rows: measured, ...raw } = await cases[name]({
      load,
      provider,
      settings,
      startRedis,
      startPostgres,
      startBrowser,
    });
    rows.push(...measured);
    results.cases[name] = { rows: measured, ...raw };
  }
} finally {
  load.stop();
  await provider.stop();
}

const how = `${settings.rounds} interleaved rounds of ${settings.milliseconds} ms, ${settings.connections} connections`;
console.log(
  `Node ${machine.node}, ${machine.cores} × ${machine.cpu}, load ${machine.loadBefore.toFixed(2)} before; ${how}.\n`,
);
console.log(markdown(rows));

const folder = new URL("results/", import.meta.url);
mkdirSync(folder, { recursive: true });
const file = new URL(`${results.at.replaceAll(":", "-")}.json`, folder);
writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
console.error(`\nAll values: bench/results/${file.pathname.split("/").at(-1)}`);
if (flags.write && !flags.quick) {
  const on = `Node ${process.versions.node}, ${machine.cores} cores (${machine.cpu}), load ${machine.loadBefore.toFixed(2)} before the run; ${how}`;
  await keepCases(results.cases, { on, args: process.argv.slice(2), against: flags.against });
  console.error("Wrote docs/evidence/performance.json. `npm run docs` writes the pages.");
}
