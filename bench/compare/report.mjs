// The results of docs/evidence/peers.json as tables, and what a run prints.
import { table } from "../../scripts/evidence/table.mjs";

/**
 * @typedef {object} Outcome
 * @property {string} requests what the requests got
 * @property {readonly number[]} refreshes how many token requests were sent for a refresh, in each
 *   run
 * @property {string} after what holds for the user afterwards
 * @property {number} [succeeded] how many of the requests got 200, in the worst run
 * @property {number} [most] token requests of a race's worst run
 * @property {boolean} [isSignedIn] after each run of a race
 * @property {number} [seconds] until requests succeed again after an outage
 * @property {boolean} isGood whether it went as a user would wish
 *
 * @typedef {Outcome | { impossible: string } | { failed: string }} Result
 *
 * @typedef {object} PeerResult
 * @property {string} title
 * @property {string} framework
 * @property {string} store
 * @property {string} [version]
 * @property {string} [missing] why it couldn't run
 * @property {readonly { url: string, read: string, decided: string }[]} links
 * @property {readonly string[]} notes
 * @property {Record<string, Result>} situations
 * @property {{ page: Ratio, probe?: Ratio, memory: { application: number, bare: number } }} [throughput]
 * @property {{ bytes: number, packages?: number, unit?: string, importMilliseconds?: number }} [size]
 *
 * @typedef {{ ratio: number, min: number, max: number, perSecond: number, bare: number }} Ratio
 *
 * @typedef {object} Results
 * @property {string} date
 * @property {string} commit
 * @property {string} command
 * @property {string} node
 * @property {{ cpu: string, cores: number, loadBefore: number }} machine
 * @property {number} minutes
 * @property {readonly { key: string, title: string, note?: string }[]} situations
 * @property {Record<string, PeerResult>} peers
 */

const number = (/** @type {number} */ value) => value.toLocaleString("en-US");
const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** @param {PeerResult} peer */
const named = ({ title, version }) => (version === undefined ? title : `${title} ${version}`);

const RACE =
  "200 requests at once, after the access token has expired, at a provider that rotates refresh tokens and detects reuse, in the worst of three runs";

/** @param {Results["peers"]} peers @returns {string[]} what the figure shows, a line for each peer */
function chartLines(peers) {
  return raceOf(peers, "race-200").map(
    ({ title, succeeded, most, isSignedIn }) =>
      `${title}: ${succeeded} of 200 requests succeed, ${number(most)} token ${most === 1 ? "request" : "requests"}, ${isSignedIn ? "still signed in" : "has to sign in again"}`,
  );
}

/** The figure's content in words. @param {Results} results */
export const chartText = ({ peers }) => `${RACE}: ${chartLines(peers).join("; ")}.`;

/**
 * The peers that could play a race, with what came of it.
 *
 * @param {Results["peers"]} peers
 * @param {string} key
 */
export function raceOf(peers, key) {
  return Object.values(peers).flatMap(({ title, situations }) => {
    const outcome = situations[key];
    if (outcome === undefined || !("succeeded" in outcome)) return [];
    const { succeeded = 0, most = 0, isSignedIn = false } = outcome;
    return [{ title, succeeded, most, isSignedIn }];
  });
}

/** The races of 200 and of 20 requests, a row for each product. @param {Results} results */
export function raceTable({ peers }) {
  return table(
    [
      "Product",
      "Version",
      "Sessions",
      "200 requests: succeed",
      "Token requests in three runs",
      "Afterwards",
      "20 requests: succeed",
    ],
    Object.values(peers).map((peer) => {
      const { title, version, missing, store, situations } = peer;
      if (missing !== undefined) return [title, `not run: ${missing}`, store, "", "", "", ""];
      const [large, small] = ["race-200", "race-20"].map((key) => outcomeOf(situations[key]));
      return [
        title,
        version ?? "",
        store,
        large?.succeeded === undefined ? "not tried" : `${large.succeeded} of 200`,
        large?.refreshes.map(number).join(", ") ?? "",
        large?.after ?? "",
        small?.succeeded === undefined ? "not tried" : `${small.succeeded} of 20`,
      ];
    }),
  );
}

/** Whether each situation went as a user would wish. @param {Results} results */
export function situationsTable({ situations, peers }) {
  const ran = Object.values(peers).filter(({ missing }) => missing === undefined);
  const cell = (/** @type {Result | undefined} */ result) => {
    if (result === undefined || "impossible" in result) return "not possible";
    if ("failed" in result) return "failed";
    return result.isGood ? "yes" : "**no**";
  };
  return table(
    ["Situation", ...ran.map(({ title }) => title)],
    situations.map(({ key, title }) => [title, ...ran.map((peer) => cell(peer.situations[key]))]),
  );
}

/** @param {Result | undefined} result */
function outcomeOf(result) {
  return result !== undefined && "isGood" in result ? result : undefined;
}

/** How it was measured. @param {Results} results */
export function sourcesLine({ machine, minutes, node, peers }) {
  const days = Object.values(peers)
    .flatMap(({ links }) => links.map(({ read }) => read))
    .filter(Boolean)
    .toSorted();
  const [first = "", last = ""] = [days.at(0), days.at(-1)];
  return `The run took ${minutes} minutes on Node.js ${node} and ${machine.cores} cores (${machine.cpu}), with a load of ${machine.loadBefore.toFixed(2)} before it. The documentation of the products was read ${first === last ? `on ${first}` : `from ${first} to ${last}`}.`;
}

/** @param {Result} result */
function cellsOf(result) {
  if ("impossible" in result) return [`not tried: ${result.impossible}`, "", ""];
  if ("failed" in result) return [`failed: ${result.failed.split("\n")[0]}`, "", ""];
  return [result.requests, result.refreshes.map(number).join(", "), result.after];
}

/** @param {Results} results */
export function speedTable({ peers }) {
  const ran = Object.values(peers).filter(({ missing }) => missing === undefined);
  return table(
    ["Product", "/page", "Who is signed in", "Memory", "Import", "Installed", "Packages"],
    ran.map(({ title, throughput, size }) => [
      title,
      ratioCell(throughput?.page),
      ratioCell(throughput?.probe),
      throughput === undefined
        ? ""
        : megabytes(throughput.memory.application - throughput.memory.bare),
      size?.importMilliseconds === undefined ? "" : `${size.importMilliseconds.toFixed(0)} ms`,
      size === undefined ? "" : megabytes(size.bytes),
      size?.packages === undefined ? "" : `${size.packages}${size.unit ? ` ${size.unit}` : ""}`,
    ]),
  );
}

/** @param {Ratio | undefined} ratio */
function ratioCell(ratio) {
  if (ratio === undefined) return "";
  const perSecond = (/** @type {number} */ value) => `${number(Math.round(value))}/s`;
  const spread = `${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}`;
  return `${ratio.ratio.toFixed(2)} (${spread}; ${perSecond(ratio.perSecond)} of ${perSecond(ratio.bare)})`;
}

/** What another product does better, by the numbers. @param {Results} results */
export function betterLines({ situations, peers }) {
  const { idpauth: own, ...others } = peers;
  if (own === undefined) return "";
  const lines = Object.values(others).flatMap((peer) => {
    const better = [...betterSituations(situations, own, peer), ...betterNumbers(own, peer)];
    return better.length === 0 ? [] : [`- **${peer.title}**: ${better.join("; ")}.`];
  });
  return lines.length === 0 ? "In this run, none." : lines.join("\n");
}

/**
 * @param {Results["situations"]} situations
 * @param {PeerResult} own
 * @param {PeerResult} peer
 */
function betterSituations(situations, own, peer) {
  return situations
    .filter(({ key }) => isBetter(played(peer, key), played(own, key)))
    .map(({ title }) => `"${title}"`);
}

/** @param {PeerResult} peer @param {string} key */
function played({ situations }, key) {
  const result = situations[key];
  return result !== undefined && "isGood" in result ? result : undefined;
}

/** @param {Outcome | undefined} theirs @param {Outcome | undefined} ours */
function isBetter(theirs, ours) {
  if (theirs === undefined || !theirs.isGood) return false;
  if (ours === undefined || !ours.isGood) return true;
  const most = (/** @type {Outcome} */ { refreshes }) => Math.max(...refreshes);
  // The page shows no shorter time than two seconds.
  const later = (theirs.seconds ?? 0) - (ours.seconds ?? 0);
  const more = (theirs.succeeded ?? 0) - (ours.succeeded ?? 0);
  if (more !== 0 || Math.abs(later) > 1) return more > 0 || (more === 0 && later < -1);
  return most(theirs) < most(ours);
}

/** Whether it's installed from npm: other programs can't be compared by size. @param {PeerResult} peer */
const isPackage = ({ size }) => size?.importMilliseconds !== undefined;

/** @typedef {[words: string, theirs: number | undefined, ours: number | undefined, isMoreBetter?: boolean]} Row */

/** @param {PeerResult} own @param {PeerResult} peer */
function betterNumbers(own, peer) {
  /** @type {Row[]} */
  const rows = [
    [
      "`/page` is nearer to the bare framework",
      peer.throughput?.page.ratio,
      own.throughput?.page.ratio,
      true,
    ],
    ...(isPackage(peer) ? packageRows(own, peer) : []),
  ];
  return rows
    .filter(([, theirs, ours, isMoreBetter = false]) => {
      if (theirs === undefined || ours === undefined) return false;
      return isMoreBetter ? theirs > ours : theirs < ours;
    })
    .map(([words]) => words);
}

/** @param {PeerResult} own @param {PeerResult} peer @returns {Row[]} */
function packageRows(own, peer) {
  const memory = (/** @type {PeerResult} */ { throughput }) =>
    throughput && throughput.memory.application - throughput.memory.bare;
  return [
    [
      "its probe is nearer to the bare framework",
      peer.throughput?.probe?.ratio,
      own.throughput?.probe?.ratio,
      true,
    ],
    ["less memory", memory(peer), memory(own)],
    ["a shorter import", peer.size?.importMilliseconds, own.size?.importMilliseconds],
    ["smaller when installed", peer.size?.bytes, own.size?.bytes],
    ["fewer packages", peer.size?.packages, own.size?.packages],
  ];
}

/** @param {Results} results what a run prints */
export function resultsText({ peers, situations, minutes }) {
  const lines = Object.values(peers).flatMap((peer) => [
    `\n${named(peer)}${peer.missing === undefined ? "" : `: not run: ${peer.missing}`}`,
    ...situations.flatMap(({ key }) => {
      const result = peer.situations[key];
      return result === undefined
        ? []
        : [`  ${key.padEnd(28)} ${cellsOf(result).filter(Boolean).join(" | ")}`];
    }),
    ...(peer.throughput === undefined
      ? []
      : [
          `  ${"/page of bare".padEnd(28)} ${ratioCell(peer.throughput.page)}`,
          `  ${"probe of bare".padEnd(28)} ${ratioCell(peer.throughput.probe)}`,
          `  ${"memory".padEnd(28)} ${megabytes(peer.throughput.memory.application)}, bare ${megabytes(peer.throughput.memory.bare)}`,
        ]),
    ...(peer.size === undefined
      ? []
      : [
          `  ${"installed".padEnd(28)} ${megabytes(peer.size.bytes)}, ${peer.size.packages ?? "?"} packages, import ${peer.size.importMilliseconds?.toFixed(0) ?? "?"} ms`,
        ]),
  ]);
  return [...lines, `\n${minutes} minutes`].join("\n");
}
