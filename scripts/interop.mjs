// Runs idpauth against real OpenID providers: `npm run interop -- NAME` brings one up, uses its own
// pages in Chromium, prints what came of each step, and stops it. Without NAME: the providers that
// it knows, and what they lack on this machine. `--step=KEY` runs one step, and `--pictures` takes the
// pictures of the provider's console for its page; both keep no result.
import { parseArgs } from "node:util";
import { missingChromium } from "./interop/browser.mjs";
import { count, keepResult, readResults } from "./interop/results.mjs";
import { runServer } from "./interop/run-steps.mjs";
import { SERVERS } from "./interop/servers.mjs";
import { headline } from "./run.mjs";

const { values, positionals } = parseArgs({
  options: { step: { type: "string", multiple: true }, pictures: { type: "boolean" } },
  allowPositionals: true,
});
const known = SERVERS.map(({ key }) => key);
const unknown = positionals.filter((name) => !known.includes(name));

if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. Known: ${known.join(", ")}.`);
  process.exitCode = 1;
} else if (positionals.length === 0) await list();
else for (const name of positionals) await run(name);
process.exit();

async function list() {
  const results = readResults();
  for (const { key, load } of SERVERS) {
    const server = (await load()).default;
    const { title, version } = server;
    const last = results[key];
    const state = (await missingFor(server)) ?? "can run here";
    console.log(`${key.padEnd(14)} ${`${title} ${version}`.padEnd(34)} ${state}`);
    if (last !== undefined)
      console.log(`${"".padEnd(14)} last run on ${last.date}: ${count(last.steps)}`);
  }
  console.log("\nnpm run interop -- NAME runs one of them.");
}

/** @param {string} name */
async function run(name) {
  const server = (await SERVERS.find(({ key }) => key === name)?.load())?.default;
  if (server === undefined) return;
  headline(`${server.title} ${server.version}`);
  const missing = await missingFor(server);
  if (missing !== undefined) {
    console.log(`Skipped: ${missing}`);
    // The weekly run would be green without having run anything.
    if (process.env["CI"] === "true") process.exitCode = 1;
    return;
  }
  if (values.pictures) return takePictures(server);
  const chosen = values.step;
  const isChosen = (/** @type {{ key: string }} */ { key }) => chosen?.includes(key) ?? true;
  const result = await ("run" in server ? server.run(isChosen) : runServer(server, isChosen));
  const isRight = result.steps.every(({ result: got, expected = "good" }) => got === expected);
  if (!isRight) process.exitCode = 1;
  if (chosen === undefined) await keepResult(name, { ...server, ...result });
  console.log(`\n${count(result.steps)}.`);
}

/** @param {import("./interop/servers.mjs").Server | import("./interop/servers.mjs").ServerWithOwnRun} server */
async function missingFor(server) {
  return (await server.missing()) ?? ("run" in server ? undefined : missingChromium());
}

/** @param {import("./interop/servers.mjs").Server | import("./interop/servers.mjs").ServerWithOwnRun} server */
async function takePictures(server) {
  if ("run" in server || server.pictures === undefined) {
    console.log("There are no pictures of its console.");
    return;
  }
  const step = { key: "pictures", title: "", run: server.pictures };
  const { steps } = await runServer({ ...server, steps: [step] }, () => true);
  if (steps.some(({ result }) => result !== "good")) process.exitCode = 1;
}
