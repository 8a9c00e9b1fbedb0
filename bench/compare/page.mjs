// docs/evidence/peers.md, from docs/evidence/peers.json; and what a run prints.

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
 * @property {string} node
 * @property {{ cpu: string, cores: number, loadBefore: number }} machine
 * @property {number} minutes
 * @property {readonly { key: string, title: string, note?: string }[]} situations
 * @property {Record<string, PeerResult>} peers
 */

const number = (/** @type {number} */ value) => value.toLocaleString("en-US");
const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** @param {readonly string[]} heads @param {readonly (readonly string[])[]} rows */
function table(heads, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(heads), `|${heads.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}

/** @param {PeerResult} peer */
const named = ({ title, version }) => (version === undefined ? title : `${title} ${version}`);

/** @param {Results} results */
export function peersPage(results) {
  const { date, commit, node, machine, minutes } = results;
  const ran = Object.values(results.peers).filter(({ missing }) => missing === undefined);
  return `# idpauth and its peers

\`npm run compare\` puts idpauth and ${Object.keys(results.peers).length - 1} other products through the same situations, and measures them. Each product is an application with the same
two pages, set up the way the product's own documentation advises. One provider serves all of them: the one in \`idpauth/testing\`.

Measured on ${date} with \`npm run compare\`, at commit ${commit}, on Node.js ${node}. The machine has ${machine.cores} cores (${machine.cpu}) and had a load of
${machine.loadBefore.toFixed(2)} before the run, which took ${minutes} minutes.

\`\`\`sh
npm run compare                  # everything, about a quarter of an hour
npm run compare -- better-auth   # one product, or several; prints the results
\`\`\`

The command installs the products from npm, builds oauth2-proxy with Go, and unpacks Apache and mod_auth_openidc from Debian testing. The applications
are in \`bench/peers/\`.

![200 requests at once, after the access token has expired](../diagrams/peers-race.svg)

${RACE}:

${chartLines(results.peers)
  .map((line) => `- ${line}`)
  .join("\n")}

## The products

${productsTable(results)}

\`/orders\` calls an API with the user's access token, and \`/page\` needs only a signed-in user. In every situation below, a user of its own is signed in,
and the access token and the ID token have expired, unless the heading says otherwise.

In a race, the provider takes 50 ms to respond to a token request. Each race is run three times, with a user of its own each time.

An access token lives for 8 seconds here, so settings that refresh a token some time before it expires are off, or as short as possible. With such a margin, a
user who is active in that time doesn't notice an outage that's shorter than what's left of it.

- *Requests* lists the responses that the browser gets from \`/orders\`. *Token refused* means that the application sent the API a token that's no longer
  valid. The browser gives up after 20 seconds.
- *Refreshes* counts the token requests for a refresh, in each run.
- *Afterwards* says whether the user is still signed in once the provider works again, for which the user waits up to 40 seconds. Redirects to the sign-in
  aren't followed: if the provider still knows the user, it may sign them in again without asking.

${results.situations.map((situation) => situationSection(situation, ran)).join("\n\n")}

## Speed and size

The first two columns compare requests per second with the product's own framework, without the product. The first is \`/page\` for a signed-in user, the
second is the endpoint that tells a page who is signed in. The range is that of the single rounds. *Memory* is how much more the application's processes need
than the bare framework's, after the same time under load. *Import* is how long Node.js takes to load the product and its store. *Installed* is what the product
and its store add to the framework.

For a request, idpauth, express-openid-connect, Passport, Auth.js, oauth2-proxy and mod_auth_openidc read the session from Redis, better-auth reads it from
PostgreSQL, and @hono/oidc-auth reads it from its cookie. The bare framework of oauth2-proxy is oauth2-proxy itself, so *Installed* is the whole program there.

${speedTable(ran)}

${betterSection(results)}

## Where the applications come from

${ran.map(sourcesOf).join("\n\n")}
`;
}

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

/** @param {Results} results */
function productsTable({ peers }) {
  return table(
    ["Product", "Version", "Framework", "Sessions"],
    Object.values(peers).map(({ title, version, missing, framework, store }) => [
      title,
      version ?? `not run: ${missing}`,
      framework,
      store,
    ]),
  );
}

/** @param {Results["situations"][number]} situation @param {readonly PeerResult[]} ran */
function situationSection({ key, title, note }, ran) {
  const rows = ran.flatMap((peer) => {
    const result = peer.situations[key];
    if (result === undefined) return [];
    return [[peer.title, ...cellsOf(result)]];
  });
  const text = table(["Product", "Requests", "Refreshes", "Afterwards"], rows);
  return `### ${title}\n\n${text}${note === undefined ? "" : `\n\n${note}`}`;
}

/** @param {Result} result */
function cellsOf(result) {
  if ("impossible" in result) return [`not tried: ${result.impossible}`, "", ""];
  if ("failed" in result) return [`failed: ${result.failed.split("\n")[0]}`, "", ""];
  return [result.requests, result.refreshes.map(number).join(", "), result.after];
}

/** @param {readonly PeerResult[]} ran */
function speedTable(ran) {
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

/** What another product does better, by the numbers above. @param {Results} results */
function betterSection({ situations, peers }) {
  const { idpauth: own, ...others } = peers;
  if (own === undefined) return "";
  const lines = Object.values(others).flatMap((peer) => {
    const better = [...betterSituations(situations, own, peer), ...betterNumbers(own, peer)];
    return better.length === 0 ? [] : [`- **${peer.title}**: ${better.join("; ")}.`];
  });
  const text = lines.length === 0 ? "In this run, none." : lines.join("\n");
  return `## What the others do better\n\n${text}`;
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

/** @param {PeerResult} peer */
function sourcesOf(peer) {
  const { links, notes } = peer;
  const sources = links.map(({ url, read, decided }) =>
    url.startsWith("http")
      ? `- [${url.replace(/^https?:\/\/(?:www\.)?/, "")}](${url}), read on ${read}: ${decided}`
      : `- [${url}](../${url.replace(/^docs\//, "")}): ${decided}`,
  );
  return `### ${named(peer)}\n\n${[...sources, ...notes.map((note) => `\n${note}`)].join("\n")}`;
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
