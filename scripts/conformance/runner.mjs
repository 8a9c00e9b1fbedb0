// Runs the modules of a plan, one after another, each against a fresh application.
import { seconds } from "../interop/application/tab.mjs";
import { actOf } from "./browsing.mjs";
import { MODULE_SETTINGS } from "./plans.mjs";
import { credentialsOf, registerClient } from "./registration.mjs";
import { resultOf } from "./result.mjs";

/**
 * Seconds until a module is ready for the client, and until it has ended after the user's last page.
 * The suite itself waits for 5 s where it expects no request.
 */
const LIMITS = { ready: 60, end: 40 };
const POLL_SECONDS = 0.25;
const ENDED = ["FINISHED", "INTERRUPTED"];

/**
 * @typedef {object} Stage
 * @property {import("./suite-api.mjs").SuiteApi} api
 * @property {string} origin the application's public one
 * @property {(env: Record<string, string>) => Promise<{ output: () => string, end: () => Promise<void> }>} startApplication
 *   at that origin
 * @property {import("playwright-core").Browser} browser
 * @property {(result: import("./result.mjs").ModuleResult) => void} report
 * @property {(name: string, logs: { log: readonly object[], output: string }) => void} [keepLogs] gets
 *   the suite's log of a module and the application's output
 */

/**
 * @param {import("./plans.mjs").Plan} plan
 * @param {Stage} stage
 * @param {(module: string) => boolean} isChosen
 * @returns {Promise<import("./result.mjs").ModuleResult[]>}
 */
export async function runPlan(plan, stage, isChosen) {
  const registration = registerClient(plan, stage.origin);
  const { id, modules } = await stage.api.createPlan(plan.name, plan.variant, registration.config);
  const results = [];
  for (const module of modules) {
    if (!isChosen(module.testModule)) continue;
    const result = await runModule({ plan, id, module, registration, stage });
    stage.report(result);
    results.push(result);
  }
  return results;
}

/**
 * @typedef {object} Run
 * @property {import("./plans.mjs").Plan} plan
 * @property {string} id of the plan
 * @property {import("./suite-api.mjs").PlannedModule} module
 * @property {import("./registration.mjs").Registration} registration
 * @property {Stage} stage
 */

/**
 * @param {Run} run
 * @returns {Promise<import("./result.mjs").ModuleResult>}
 */
async function runModule(run) {
  const { plan, module, stage } = run;
  const { api } = stage;
  const began = performance.now();
  const { id } = await api.createModule(run.id, module);
  const isReady = ["WAITING", ...ENDED];
  const before = await statusWithin(api, id, isReady, LIMITS.ready);
  const { driver, output } =
    before === "WAITING" ? await judge(run, id) : { driver: undefined, output: "" };
  const log = await api.log(id);
  stage.keepLogs?.(`${plan.key}-${module.testModule}`, { log, output });
  return {
    ...resultOf(module.testModule, await api.info(id), log, plan.expected?.[module.testModule]),
    ...(driver !== undefined && { driver }),
    seconds: Number(((performance.now() - began) / 1000).toFixed(1)),
  };
}

/**
 * Runs the application and the user until the module has ended. The suite also sees what comes after
 * the user's last page, so that the application stays until then.
 *
 * @param {Run} run
 * @param {string} id of the module
 * @returns {Promise<{ driver: string | undefined, output: string }>} `driver`: what went wrong, other
 *   than what the suite judges. `output`: the application's
 */
async function judge({ plan, module: { testModule }, registration, stage }, id) {
  const { api, browser, origin } = stage;
  const exposed = await api.exposed(id);
  const { issuer = "" } = exposed;
  const registered =
    plan.variant["client_registration"] === "dynamic_client"
      ? credentialsOf(await register(api, issuer, registration.metadata))
      : {};
  const application = await stage
    .startApplication({
      ...registration.env,
      ...registered,
      ...MODULE_SETTINGS[testModule],
      ...accountsOf(plan, exposed),
      IDP_ISSUER: issuer,
    })
    .catch(messageOf);
  if (typeof application === "string") {
    await end(api, id, 0);
    return { driver: "The application doesn't start.", output: application };
  }
  try {
    const driver = await actOf(testModule)({ api, browser, origin, id, plan }).then(
      () => undefined,
      messageOf,
    );
    await end(api, id, LIMITS.end);
    return { driver, output: application.output() };
  } finally {
    await application.end();
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The API of the module's provider, as the application gets it.
 *
 * @param {import("./plans.mjs").Plan} plan
 * @param {Record<string, string>} exposed
 * @returns {Record<string, string>}
 */
function accountsOf({ accounts }, { accounts_endpoint: endpoint }) {
  if (accounts === undefined || endpoint === undefined) return {};
  const { certificate } = accounts;
  const url = new URL(".", endpoint).href;
  return { ACCOUNTS: JSON.stringify({ url, ...(certificate && { certificate }) }) };
}

/**
 * The suite makes ids of random characters. White space at the end of one doesn't come through a setting.
 *
 * @param {import("./suite-api.mjs").SuiteApi} api
 * @param {string} issuer
 * @param {object} metadata
 */
async function register(api, issuer, metadata) {
  for (;;) {
    const client = await api.register(issuer, metadata);
    if (client.client_id.trim() === client.client_id) return client;
  }
}

/**
 * @param {import("./suite-api.mjs").SuiteApi} api
 * @param {string} id
 * @param {number} limit seconds until a module that hasn't ended is cancelled
 */
async function end(api, id, limit) {
  const status = await statusWithin(api, id, ENDED, limit);
  if (ENDED.includes(status)) return;
  await api.cancel(id);
  await statusWithin(api, id, ENDED, LIMITS.end);
}

/**
 * @param {import("./suite-api.mjs").SuiteApi} api
 * @param {string} id
 * @param {readonly string[]} wanted
 * @param {number} limit in seconds
 * @returns {Promise<string>} one of these, or the one after the limit
 */
async function statusWithin(api, id, wanted, limit) {
  const late = performance.now() + limit * 1000;
  for (;;) {
    const { status } = await api.info(id);
    if (wanted.includes(status) || performance.now() > late) return status;
    await seconds(POLL_SECONDS);
  }
}
