// Runs a server's steps, one after another, and says how each one went.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startApplication } from "./application/start.mjs";
import { startChromium } from "./browser.mjs";

/**
 * @typedef {object} StepResult
 * @property {string} key
 * @property {string} title
 * @property {string} [configuration] of the server, if it runs in several
 * @property {string} result `good`, or what happened instead
 * @property {string} [expected] the other result that is expected
 * @property {string} [reason] why
 * @property {number} seconds
 */

/**
 * @param {import("./servers.mjs").Server} server
 * @param {(step: import("./servers.mjs").Step) => boolean} isChosen
 * @returns {Promise<{ version: string, steps: StepResult[] }>}
 */
export async function runServer(server, isChosen) {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-interop-"));
  const browser = await startChromium();
  try {
    const running = await server.start(folder);
    try {
      const stage = stageOf({ server: running, folder, browser });
      /** @type {StepResult[]} */
      const steps = [];
      for (const step of server.steps.filter(isChosen)) steps.push(await runStep(step, stage));
      return { version: running.version, steps };
    } finally {
      await running.end();
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {Pick<import("./servers.mjs").Stage, "server" | "folder" | "browser">} parts
 * @returns {import("./servers.mjs").Stage}
 */
function stageOf(parts) {
  /** @type {import("./servers.mjs").Stage} */
  const stage = {
    ...parts,
    async withApplication(options, use) {
      const application = await startApplication(stage, options);
      try {
        return (await use(application)) ?? undefined;
      } finally {
        await application.end();
      }
    },
  };
  return stage;
}

/**
 * @param {import("./servers.mjs").Step} step
 * @param {import("./servers.mjs").Stage} stage
 * @returns {Promise<StepResult>}
 */
async function runStep({ key, title, run, expected = "good", reason }, stage) {
  const began = performance.now();
  let why = "";
  const result = await run(stage).then(
    (said) => said ?? "good",
    (/** @type {unknown} */ error) => {
      why = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return `failed: ${why.split("\n")[0]}`;
    },
  );
  const seconds = Number(((performance.now() - began) / 1000).toFixed(1));
  const isRight = result === expected;
  console.log(
    `${isRight ? " ok " : "FAIL"} ${key} (${seconds} s)${result === "good" ? "" : `: ${result}`}`,
  );
  if (!isRight && why !== "") console.log(why);
  for (const context of stage.browser.contexts()) await context.close();
  const other = expected === "good" ? {} : { expected, ...(reason !== undefined && { reason }) };
  return { key, title, result, ...other, seconds };
}
