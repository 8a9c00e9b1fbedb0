// Plays the same situations with idpauth and with its peers, and measures them. `npm run compare`
// builds first.
//   npm run compare                      all peers; writes docs/evidence/peers.json, its tables and the chart
//   npm run compare -- NAME …            these peers; prints what came of them
//   --only=situations,throughput,size    some of the parts
//   --situation=race-20,logout           some of the situations
import { cpus, loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { commitNow } from "../../scripts/evidence/commits.mjs";
import { root } from "../../scripts/run.mjs";
import { importMilliseconds } from "./import-time.mjs";
import { resultsText } from "./report.mjs";
import { NAMES, peerOf } from "./peer.mjs";
import { keepPeers } from "./results.mjs";
import { SITUATIONS } from "./situations/index.mjs";
import { withStage } from "./stage.mjs";
import { measureThroughput } from "./throughput.mjs";

const PARTS = ["situations", "throughput", "size"];
/** Peers that play at a time. Throughput is measured with nothing beside it. */
const LANES = 2;
const THROUGHPUT = { rounds: 11, milliseconds: 500 };

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string" }, situation: { type: "string" } },
});
const parts = chosen(flags.only, PARTS, "part");
const situations = chosen(
  flags.situation,
  SITUATIONS.map(({ key }) => key),
  "situation",
);
const names = positionals.length === 0 ? NAMES : positionals;
const isWhole = [positionals.length === 0, flags.only, flags.situation].every(
  (each) => each === true || each === undefined,
);

const began = performance.now();
const loadBefore = loadavg()[0];
const say = (text) =>
  console.error(`${String(Math.round((performance.now() - began) / 1000)).padStart(4)} s  ${text}`);

/** @type {Record<string, import("./report.mjs").PeerResult>} */
const results = {};
for (const name of names) await prepare(name);
const ready = names.filter((name) => results[name].missing === undefined);
if (parts.includes("situations")) await inLanes(ready, playAll);
if (parts.includes("throughput")) for (const name of ready) await throughput(name);
if (parts.includes("size")) for (const name of ready) await size(name);

const everything = {
  date: new Date().toISOString().slice(0, 10),
  commit: commitNow(["src", "bench/compare", "bench/peers"]),
  command: "npm run compare",
  node: process.versions.node,
  machine: { cpu: cpus()[0]?.model, cores: cpus().length, loadBefore },
  minutes: Number(((performance.now() - began) / 60_000).toFixed(1)),
  situations: SITUATIONS.map(({ key, title, note }) => ({ key, title, note })),
  peers: results,
};
console.log(resultsText(everything));
if (isWhole) {
  await keepPeers(everything);
  await import("../../scripts/diagrams.mjs");
  await import("../../scripts/docs.mjs");
  say("wrote docs/evidence/peers.json, its tables and the figure");
}
process.exit();

/**
 * @param {string | undefined} flag
 * @param {readonly string[]} all
 * @param {string} what
 */
function chosen(flag, all, what) {
  const wanted = flag?.split(",") ?? all;
  for (const each of wanted)
    if (!all.includes(each))
      throw new Error(`There is no ${what} "${each}". There are ${all.join(", ")}.`);
  return wanted;
}

async function prepare(name) {
  const peer = await peerOf(name);
  say(`${name}: installing what it needs`);
  const missing = await peer.prepare({ say: (text) => say(`${name}: ${text}`) });
  const { title, framework, store, links, notes } = peer;
  const version = missing === undefined ? await peer.version() : undefined;
  results[name] = { title, framework, store, links, notes, version, missing, situations: {} };
  if (missing !== undefined) say(`${name}: can't run: ${missing}`);
}

async function inLanes(queue, work) {
  const waiting = [...queue];
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await work(name);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function playAll(name) {
  const peer = await peerOf(name);
  const mine = SITUATIONS.filter(({ key }) => situations.includes(key));
  const [here, impossible] = [[], []];
  for (const situation of mine) {
    const reason =
      situation.needs?.(peer) ??
      (situation.processes === 2 && peer.store === "memory"
        ? "its sessions are in the process's memory"
        : undefined);
    if (reason === undefined) here.push(situation);
    else impossible.push([situation.key, { impossible: reason }]);
  }
  for (const [key, outcome] of impossible) results[name].situations[key] = outcome;
  const processes = Math.max(...here.map((situation) => situation.processes ?? 1));
  await withStage(peer, { processes }, async (stage) => {
    say(`${name}: signs users in`);
    stage.tokensLive(true);
    const browsers = new Map();
    for (const situation of here) {
      const users = [];
      while (users.length < (situation.users ?? 1)) users.push(await stage.signedIn());
      browsers.set(situation, users);
    }
    await stage.expire();
    stage.tokensLive(false);
    for (const situation of here) {
      if (situation.processes === 2) stage.balance();
      else stage.front.to(stage.instances.find((each) => each !== undefined).port);
      const outcome = await situation
        .run(stage, browsers.get(situation))
        .catch((error) => ({ failed: String(error.message ?? error) }));
      results[name].situations[situation.key] = outcome;
      say(`${name}: ${situation.key}: ${inShort(outcome)}`);
    }
  });
}

function inShort({ failed, requests, refreshes, after }) {
  if (failed !== undefined) return `FAILED: ${failed.slice(0, 300)}`;
  return `${requests}; ${refreshes.join(", ")} refreshes; ${after}`;
}

async function throughput(name) {
  say(`${name}: throughput`);
  const peer = await peerOf(name);
  results[name].throughput = await measureThroughput(peer, THROUGHPUT).catch((error) => {
    say(`${name}: throughput FAILED: ${error.message}`);
    return undefined;
  });
}

async function size(name) {
  say(`${name}: size`);
  const peer = await peerOf(name);
  const peers = fileURLToPath(new URL("../peers/", import.meta.url));
  // The folder of idpauth has no packages of its own: it uses the project's.
  const folder = name === "idpauth" ? root : path.join(peers, name);
  results[name].size = {
    ...(await peer.size()),
    ...(peer.imports !== undefined && {
      importMilliseconds: await importMilliseconds(folder, peer.imports),
    }),
  };
}
