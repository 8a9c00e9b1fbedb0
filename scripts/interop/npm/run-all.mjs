// Runs the demo against providers that do not come from this project and writes
// docs/evidence/interop.md: `npm run interop`. The providers are installed for this command alone, into
// scripts/interop/node_modules.
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { startDemoProcess } from "../../demo-process.mjs";
import { installFramework } from "../../framework-install.mjs";
import { CONFIGURATIONS } from "./configurations.mjs";
import { freePort, startProvider } from "./provider.mjs";
import { STEPS } from "./steps.mjs";
import { measured } from "../../measured.mjs";
import { headline, readJson, root } from "../../run.mjs";

const PAGE = path.join(root, "docs/evidence/interop.md");
const MARK = "<!-- What follows is written by `npm run interop`; do not edit. -->";
const FOLDER = import.meta.dirname;
/** Life of an ID token, in seconds. Each configuration waits for four expiries. */
const ID_TOKEN_SECONDS = 4;
/** Configurations at a time; they mostly wait. */
const AT_ONCE = 3;

const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));

headline("Install: the providers, into scripts/interop/node_modules");
if (!(await installFramework(FOLDER))) process.exit(1);

/** @type {typeof import("../../../src/testing/browser/cookie-browser.js")} */
const { CookieBrowser } = await import(
  pathToFileURL(path.join(root, "build/testing/browser/cookie-browser.js")).href
);

headline(`Run: ${STEPS.length} steps with each configuration`);
const chosen = CONFIGURATIONS.filter(({ key }) => names.length === 0 || names.includes(key));
/** @type {Map<string, readonly string[]>} */
const results = new Map();
const queue = [...chosen];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      results.set(
        next.key,
        await runAll(next).catch((/** @type {unknown} */ error) => broken(next, error)),
      );
  }),
);

const differing = chosen.filter((configuration) =>
  results
    .get(configuration.key)
    ?.some((result, index) => result !== expectedOf(configuration, index + 1)),
);
console.log(
  `\n${chosen.length - differing.length} of ${chosen.length} configurations are as expected.`,
);
if (differing.length > 0) process.exitCode = 1;

if (names.length === 0) {
  const page = `${readFileSync(PAGE, "utf8").split(MARK)[0] ?? ""}${MARK}\n\n${table()}`;
  writeFileSync(PAGE, page);
}

/**
 * @param {import("./configurations.mjs").Configuration} configuration
 * @param {number} step
 */
function expectedOf({ expected = {} }, step) {
  return expected[step] ?? "good";
}

/**
 * @param {import("./configurations.mjs").Configuration} configuration
 * @returns {Promise<readonly string[]>} the result of each step
 */
async function runAll(configuration) {
  const { key, program, env: extra = {} } = configuration;
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const task = {
    configuration: key,
    port: await freePort(),
    redirectUri: `${origin}/idpauth/login-callback`,
    idTokenSeconds: ID_TOKEN_SECONDS,
  };
  const provider = await startProvider(program, task);
  try {
    const env = {
      PATH: process.env["PATH"] ?? "",
      SECRET_KEY: randomBytes(32).toString("base64url"),
      SCOPE: "openid email profile offline_access",
      BASE_URL: origin,
      IDP_ISSUER: provider.issuer,
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: provider.clientSecret,
      ...extra,
    };
    const demo = await startDemoProcess("main.js", {
      ...env,
      PORT: String(port),
      DEMO_SESSIONS: "memory",
    });
    try {
      const newBrowser = () => new CookieBrowser({ origin });
      const stage = { origin, env, provider, browser: newBrowser(), newBrowser, next: origin };
      /** @type {string[]} */
      const done = [];
      for (const [index, { run }] of STEPS.entries()) {
        const expected = expectedOf(configuration, index + 1);
        // What an earlier step made impossible.
        const result =
          expected === "–"
            ? "–"
            : await run(stage).catch((/** @type {unknown} */ error) => `failed: ${String(error)}`);
        done.push(result);
        console.log(
          `${result === expected ? " ok " : "FAIL"} ${key} ${index + 1}: ${result}${result === expected ? "" : ` (expected: ${expected})`}`,
        );
      }
      return done;
    } finally {
      await demo.end();
    }
  } finally {
    await provider.end();
  }
}

/**
 * @param {import("./configurations.mjs").Configuration} configuration
 * @param {unknown} error
 */
function broken({ key }, error) {
  console.log(`FAIL ${key}: ${String(error)}`);
  return STEPS.map(() => "not run");
}

/** @returns {string} the generated part of the page */
function table() {
  const { packages } = /** @type {{ packages: Record<string, { version: string }> }} */ (
    readJson(path.join(FOLDER, "package-lock.json"))
  );
  const version = (/** @type {string} */ name) =>
    `${name} ${packages[`node_modules/${name}`]?.version}`;
  const rows = CONFIGURATIONS.map(
    ({ key, title, program }) => `| ${program} | ${title} | ${results.get(key)?.join(" | ")} |`,
  );
  return `${measured("npm run interop")}

Versions: ${version("better-auth")}, ${version("@better-auth/oauth-provider")}, ${version("oidc-provider")}.

${STEPS.map(({ title }, index) => `${index + 1}. ${title}`).join("\n")}

| Provider | Configuration | ${STEPS.map((_, index) => index + 1).join(" | ")} |
|---|---|${STEPS.map(() => "---|").join("")}
${rows.join("\n")}
`;
}
