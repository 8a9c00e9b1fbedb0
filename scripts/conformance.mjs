// Runs the OpenID Foundation's conformance suite against idpauth. `npm run conformance` runs every plan,
// and `npm run conformance -- PLAN…` some of them. CONFORMANCE_SUITE names a clone of the suite.
// `--list` lists the plans. `--commit=REVISION` takes another commit of the clone than its HEAD.
// `--module=NAME` runs only this module and keeps no result. `--logs=FOLDER` also writes the suite's log
// of each module, and what the application printed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { installApplication, startApplication } from "./conformance/application.mjs";
import { missingParts } from "./conformance/missing.mjs";
import { PLANS } from "./conformance/plans.mjs";
import { countOf, isExpected, keepResults, readResults } from "./conformance/result.mjs";
import { runPlan } from "./conformance/runner.mjs";
import { needSuite } from "./conformance/suite-build.mjs";
import { findCheckout } from "./conformance/suite-checkout.mjs";
import { startSuite } from "./conformance/suite.mjs";
import { createAuthority, startTlsFront } from "./conformance/tls-front.mjs";
import { startChromium } from "./interop/browser.mjs";
import { commitNow } from "./evidence/commits.mjs";
import { headline } from "./run.mjs";

/** The application's host. The suite and Chromium are told where it is; no name server knows it. */
const APPLICATION = "application.test";

const { values, positionals } = parseArgs({
  options: {
    commit: { type: "string" },
    list: { type: "boolean" },
    logs: { type: "string" },
    module: { type: "string", multiple: true },
  },
  allowPositionals: true,
});
const known = PLANS.map(({ key }) => key);
const unknown = positionals.filter((name) => !known.includes(name));

if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. Known: ${known.join(", ")}.`);
  process.exitCode = 1;
} else if (values.list) list();
else await run();
process.exit();

function list() {
  const results = readResults();
  for (const { key, title } of PLANS) {
    const last = results[key];
    const said = last === undefined ? "not run" : `${last.date}: ${countOf(last.modules)}`;
    console.log(`${key.padEnd(20)} ${title.padEnd(48)} ${said}`);
  }
}

async function run() {
  const missing = await missingParts(process.env);
  if (missing.length > 0) {
    for (const line of missing) console.error(line);
    process.exitCode = 1;
    return;
  }
  const checkout = await findCheckout(process.env, values.commit);
  const build = await needSuite(checkout);
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-conformance-"));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeFolder);
  const authority = createAuthority();
  const ca = path.join(folder, "authority.pem");
  writeFileSync(ca, authority.cert);
  installApplication(folder);
  const front = await startTlsFront({ name: APPLICATION, authority });
  const suite = await startSuite({ build, authority, applicationName: APPLICATION, folder });
  const browser = await startChromium([`--host-resolver-rules=MAP ${APPLICATION} 127.0.0.1`]);
  try {
    const stage = {
      api: suite.api,
      browser,
      origin: front.origin,
      async startApplication(/** @type {Record<string, string>} */ env) {
        const application = await startApplication({ folder, env, authority: ca });
        front.forwardTo(application.port);
        return application;
      },
      report: show,
      keepLogs,
    };
    for (const plan of PLANS)
      if (positionals.length === 0 || positionals.includes(plan.key))
        await runOne(plan, stage, { version: suite.version, commit: checkout.commit });
  } finally {
    await browser.close();
    await suite.end();
    front.end();
  }
}

/**
 * @param {import("./conformance/plans.mjs").Plan} plan
 * @param {import("./conformance/runner.mjs").Stage} stage
 * @param {{ version: string, commit: string }} suite
 */
async function runOne(plan, stage, suite) {
  const { key, title, name, variant } = plan;
  headline(`${key}: ${title}`);
  const chosen = values.module;
  const isChosen = (/** @type {string} */ module) => chosen?.includes(module) ?? true;
  const modules = await runPlan(plan, stage, isChosen).catch((/** @type {unknown} */ error) => {
    // Another commit of the suite may know the plan under other names, and the others may go on.
    console.error(error instanceof Error ? error.message : error);
  });
  if (modules === undefined) {
    process.exitCode = 1;
    return;
  }
  console.log(countOf(modules));
  if (!modules.every(isExpected)) process.exitCode = 1;
  if (chosen !== undefined) return;
  const date = new Date().toISOString().slice(0, 10);
  const commit = commitNow(["src"]);
  const command = `npm run conformance -- ${key}`;
  const node = process.versions.node;
  const result = { title, name, variant, suite, date, commit, command, node, modules };
  await keepResults({ [key]: result }, known);
}

/**
 * @param {string} name
 * @param {{ log: readonly object[], output: string }} logs
 */
function keepLogs(name, { log, output }) {
  if (values.logs === undefined) return;
  mkdirSync(values.logs, { recursive: true });
  writeFileSync(path.join(values.logs, `${name}.json`), JSON.stringify(log, undefined, 2));
  writeFileSync(path.join(values.logs, `${name}.txt`), output);
}

/** @param {import("./conformance/result.mjs").ModuleResult} result */
function show(result) {
  const { module, seconds, conditions = [], reason, driver } = result;
  console.log(
    `${isExpected(result) ? " ok " : "    "} ${result.result.padEnd(8)} ${module} (${seconds} s)`,
  );
  if (driver !== undefined) console.log(`       driver: ${driver.split("\n")[0]}`);
  if (isExpected(result)) {
    if (reason !== undefined) console.log(`       ${reason}`);
  } else
    for (const { condition, message } of conditions) console.log(`       ${condition}: ${message}`);
}
