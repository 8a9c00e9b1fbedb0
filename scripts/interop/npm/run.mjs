// Runs the application against a provider from npm, in each of its configurations, by a browser without
// pages.
import { randomBytes } from "node:crypto";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { needPackages } from "../../framework-install.mjs";
import { root } from "../../run.mjs";
import { PROGRAM, READY } from "../application/start.mjs";
import { freePort, startProgram } from "../processes.mjs";
import { startProvider } from "./provider.mjs";
import { STEPS } from "./steps.mjs";

/** @typedef {import("./configurations.mjs").Configuration} Configuration */
/** @typedef {import("../run-steps.mjs").StepResult} StepResult */

const FOLDER = path.relative(root, import.meta.dirname);
const BROWSER = pathToFileURL(path.join(root, "build/testing/browser/cookie-browser.js")).href;
/** Life of an ID token, in seconds. Each configuration waits for four expiries. */
const ID_TOKEN_SECONDS = 4;
/** Configurations at a time; they mostly wait. */
const AT_ONCE = 3;

/**
 * @param {readonly Configuration[]} configurations
 * @returns {Promise<StepResult[]>} each step of each configuration that is possible
 */
export async function runConfigurations(configurations) {
  console.log(`Install: the packages of ${FOLDER}/package-lock.json`);
  await needPackages(FOLDER);
  const queue = [...configurations.entries()];
  /** @type {StepResult[][]} */
  const results = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [index, configuration] = next;
        results[index] = await runConfiguration(configuration).catch(
          (/** @type {unknown} */ error) => broken(configuration, error),
        );
      }
    }),
  );
  return results.flat();
}

/** @param {Configuration} configuration */
async function runConfiguration(configuration) {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const provider = await startProvider(configuration.program, {
    configuration: configuration.key,
    port: await freePort(),
    redirectUri: `${origin}/idpauth/login-callback`,
    idTokenSeconds: ID_TOKEN_SECONDS,
  });
  try {
    const env = {
      PATH: process.env["PATH"] ?? "",
      SECRET_KEY: randomBytes(32).toString("base64url"),
      SCOPE: "openid email profile offline_access",
      BASE_URL: origin,
      IDP_ISSUER: provider.issuer,
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: provider.clientSecret,
      ...configuration.env,
    };
    const application = await startProgram({
      command: process.execPath,
      args: [PROGRAM],
      env: { ...env, PORT: String(port) },
      ready: READY,
      ipc: true,
    });
    try {
      const { CookieBrowser } = await import(BROWSER);
      const newBrowser = () => new CookieBrowser({ origin });
      const browser = newBrowser();
      return await runSteps(configuration, {
        ...{ origin, env, provider, browser, newBrowser },
        next: origin,
      });
    } finally {
      await application.end();
    }
  } finally {
    await provider.end();
  }
}

/**
 * @param {Configuration} configuration
 * @param {import("./steps.mjs").Stage} stage
 */
async function runSteps({ key, title: configuration, possible, expected = {} }, stage) {
  /** @type {StepResult[]} */
  const results = [];
  for (const [index, { title, run }] of STEPS.slice(0, possible).entries()) {
    const began = performance.now();
    const result = await run(stage).catch(
      (/** @type {unknown} */ error) => `failed: ${String(error)}`,
    );
    const seconds = Number(((performance.now() - began) / 1000).toFixed(1));
    const other = expected[index + 1];
    const isRight = result === (other?.expected ?? "good");
    console.log(`${isRight ? " ok " : "FAIL"} ${key} ${index + 1} (${seconds} s): ${result}`);
    results.push({ key: `${key}-${index + 1}`, configuration, title, result, ...other, seconds });
  }
  return results;
}

/**
 * @param {Configuration} configuration
 * @param {unknown} error
 * @returns {StepResult[]}
 */
function broken({ key, title: configuration }, error) {
  console.log(`FAIL ${key}: ${String(error)}`);
  const [{ title } = { title: "" }] = STEPS;
  return [{ key: `${key}-1`, configuration, title, result: "not run", seconds: 0 }];
}
