// The evidence of mutation testing: docs/evidence/mutation.json has the last run of each file, which
// scripts/mutation.mjs records, and test/mutation-survivors.json says why a mutant that no test
// notices changes no behaviour. Both make docs/evidence/mutation.md, where a file whose code is
// another one than the code that was run is marked.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { hashOfCode } from "./code-tokens.mjs";
import { periodOf } from "./measured.mjs";
import { readJson, root } from "./run.mjs";

const RECORD = ["test/record/record.unit.test.ts", "test/record/polluted-prototype.unit.test.ts"];
const REFRESH = ["test/access/refresh-attempt.unit.test.ts"];

/**
 * The files that decide, who is signed in, where a redirect leads, which token counts, what a
 * sealed record gives away; with the tests that have to notice when they decide otherwise.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const DECIDING_FILES = {
  "src/record/session-policy.ts": [
    "test/record/session-policy.unit.test.ts",
    "test/sessions/subject-sessions.test.ts",
  ],
  "src/record/application-data.ts": [
    "test/record/application-data.unit.test.ts",
    "test/record/record.unit.test.ts",
  ],
  "src/application/rules.ts": ["test/application/rules.unit.test.ts"],
  "src/record/guard-requirements.ts": ["test/record/guard-requirements.unit.test.ts"],
  "src/record/authentication-strength.ts": [
    "test/record/authentication-strength.unit.test.ts",
    "test/record/guard-requirements.unit.test.ts",
  ],
  "src/http/redirects.ts": ["test/http/redirects.unit.test.ts"],
  "src/http/same-origin-url.ts": ["test/http/redirects.unit.test.ts"],
  "src/record/record.ts": RECORD,
  "src/record/stored-form.ts": ["test/record/record.unit.test.ts"],
  "src/record/identity.ts": ["test/record/record.unit.test.ts"],
  "src/record/credentials.ts": ["test/record/record.unit.test.ts"],
  "src/record/json.ts": ["test/record/json.unit.test.ts", ...RECORD],
  "src/record/pending-logins.ts": ["test/record/pending-logins.unit.test.ts"],
  "src/access/shared-refresh.ts": [...REFRESH, "test/access/shared-refresh.unit.test.ts"],
  "src/access/refresh-attempt.ts": REFRESH,
  "src/access/lease.ts": REFRESH,
  "src/access/refresh-times.ts": REFRESH,
  "src/access/optional-writes.ts": ["test/access/optional-writes.unit.test.ts"],
  "src/access/ended-event.ts": ["test/access/session-access.unit.test.ts"],
  "src/access/session-access.ts": ["test/access/session-access.unit.test.ts"],
  "src/record/token-validity.ts": ["test/record/token-validity.unit.test.ts"],
  "src/record/session-life.ts": ["test/record/session-life.unit.test.ts"],
  "src/record/stored-api-tokens.ts": ["test/record/stored-api-tokens.unit.test.ts"],
  "src/record/missing-api-tokens.ts": ["test/record/missing-api-tokens.unit.test.ts"],
  "src/record/claims-after-refresh.ts": ["test/record/claims-after-refresh.unit.test.ts"],
  "src/record/refresh-changes.ts": ["test/record/refresh-changes.unit.test.ts"],
  "src/sessions/seal.ts": ["test/sessions/seal.unit.test.ts"],
  "src/sessions/cookie.ts": [
    "test/sessions/cookie.unit.test.ts",
    "test/sessions/seal.unit.test.ts",
  ],
  "src/sessions/session-entries.ts": [
    "test/sessions/session-entries.unit.test.ts",
    "test/sessions/bundled-sessions.unit.test.ts",
  ],
  "src/sessions/entry-summary.ts": [
    "test/sessions/entry-summary.unit.test.ts",
    "test/sessions/session-entries.unit.test.ts",
  ],
  "src/sessions/end-trace.ts": ["test/sessions/session-entries.unit.test.ts"],
  "src/sessions/session-label.ts": ["test/sessions/session-label.unit.test.ts"],
  "src/sessions/listed-pages.ts": ["test/sessions/listed-pages.unit.test.ts"],
  "src/sessions/bundled-sessions.ts": ["test/sessions/bundled-sessions.unit.test.ts"],
  "src/sessions/session-renewal.ts": ["test/sessions/bundled-sessions.unit.test.ts"],
  "src/sessions/framework-session.ts": ["test/sessions/framework-session.unit.test.ts"],
  "src/sessions/subject-sessions.ts": ["test/sessions/subject-sessions.unit.test.ts"],
  "src/sessions/provider-logouts.ts": ["test/sessions/provider-logouts.unit.test.ts"],
  "src/sessions/end-by-key.ts": ["test/sessions/end-by-key.unit.test.ts"],
  "src/sessions/shared-scans.ts": ["test/sessions/shared-scans.unit.test.ts"],
  "src/sessions/store-failures.ts": ["test/sessions/store-failures.unit.test.ts"],
  "src/apis/path-rules.ts": ["test/apis/path-rules.unit.test.ts"],
  "src/apis/request-headers.ts": ["test/apis/headers.unit.test.ts"],
  "src/apis/response-headers.ts": ["test/apis/headers.unit.test.ts"],
  "src/apis/redirects-and-links.ts": ["test/apis/headers.unit.test.ts"],
  "src/apis/challenge.ts": ["test/apis/headers.unit.test.ts"],
  "src/apis/proxy.ts": ["test/apis/proxy.unit.test.ts"],
  "src/apis/proxy-policy.ts": ["test/apis/proxy.unit.test.ts"],
  "src/apis/send-with-token.ts": ["test/apis/proxy.unit.test.ts"],
  "src/apis/abort-at-session-end.ts": ["test/apis/proxy.unit.test.ts"],
  "src/apis/challenge-reply.ts": ["test/apis/challenge-reply.unit.test.ts"],
  "src/apis/session-exchange.ts": ["test/apis/session-exchange.unit.test.ts"],
  "src/apis/fetch-api.ts": ["test/apis/fetch-api.unit.test.ts"],
  "src/config/api-rules.ts": [
    "test/config/read-apis.unit.test.ts",
    "test/apis/path-rules.unit.test.ts",
  ],
  "src/work/shutdown.ts": ["test/work/shutdown.unit.test.ts"],
  "src/provider/response-meaning.ts": ["test/provider/token-response.unit.test.ts"],
  "src/provider/id-token.ts": [
    "test/provider/id-token.unit.test.ts",
    "test/provider/id-token.test.ts",
  ],
};

/** The other files of src/apis, which decide nothing, and what they do. */
export const LEFT_OUT = {
  "src/apis/api-timeout.ts": "breaks off a request whose connection is idle",
  "src/apis/connections.ts": "keeps connections open",
  "src/apis/endable-stream.ts": "ends a stream before its source",
  "src/apis/exchange.ts": "types",
  "src/apis/fetch-api-stream.ts": "sends a stream of the application over node:http",
  "src/apis/fetch-transport.ts": "sends requests with `fetch`",
  "src/apis/node-transport.ts": "sends requests over node:http and node:https",
  "src/apis/proxy-over-fetch.ts": "connects the proxy with `fetch`",
  "src/apis/proxy-over-node.ts": "connects the proxy with node:http",
  "src/apis/trace-headers.ts": "puts a trace's headers in place of the browser's",
  "src/apis/transport.ts": "types, and the errors of a request",
  "src/apis/web-bodies.ts": "turns streams of the Web into streams of Node.js, and back",
  "src/apis/websocket.ts":
    "connects two sockets; which requests are passed on is decided in `proxy-policy.ts` and `send-with-token.ts`",
};

/**
 * @typedef {{ readonly line: number, readonly column: number }} Position both counted from one
 * @typedef {{ mutatorName: string, replacement: string, status: string, location: { start: Position, end: Position } }} Mutant
 * @typedef {{ source: string, mutants: Mutant[] }} Tested what Stryker reports about a file
 * @typedef {{ file: string, why: string, mutants: Mutation[] }} Reason
 * @typedef {{ in: string, mutator: string, code: string, becomes: string }} Mutation the line it
 * begins in, trimmed; then what was put in the place of what. No line number: those move.
 * @typedef {object} Run the last one of a file
 * @property {string} date
 * @property {string} commit that was checked out
 * @property {string} hash of the file's code
 * @property {number} mutants
 * @property {number} killed
 * @property {number} timedOut
 * @property {number} survived
 * @property {number} notCovered
 * @property {number} errors
 * @property {number} explained survivors that no test could notice
 * @typedef {Readonly<Record<string, Run>>} Evidence
 */

const EVIDENCE = path.join(root, "docs/evidence/mutation.json");

/** A reason that begins so says only why no test has noticed. */
const NOT_EQUIVALENT = "Not equivalent";

/** @returns {Evidence} */
export function readEvidence() {
  return /** @type {Evidence} */ (readJson(EVIDENCE));
}

/** @param {string} file */
export function hashOf(file) {
  return hashOfCode(readFileSync(path.join(root, file), "utf8"));
}

/**
 * @param {Evidence} [evidence]
 * @returns {string[]} the files whose code has changed since their last run, or never had one
 */
export function staleEvidence(evidence = readEvidence()) {
  return Object.keys(DECIDING_FILES).filter((file) => evidence[file]?.hash !== hashOf(file));
}

/**
 * Writes a run of a file to the evidence.
 *
 * @param {string} file
 * @param {Tested} tested
 * @param {{ date: string, commit: string }} run
 * @returns {string[]} one line for each survivor without a reason, and each reason without survivor
 */
export function recordRun(file, { source, mutants }, { date, commit }) {
  const reasons = new Map(
    readReasons(file).flatMap(({ why, mutants }) => mutants.map((each) => [keyOf(each), why])),
  );
  const unused = new Set(reasons.keys());
  const missing = [];
  let explained = 0;
  for (const mutant of mutants.filter(({ status }) => /^(?:Survived|NoCoverage)$/.test(status))) {
    const mutation = mutationOf(source, mutant);
    const why = reasons.get(keyOf(mutation));
    unused.delete(keyOf(mutation));
    if (why === undefined) missing.push(JSON.stringify(mutation, undefined, 2));
    else if (!why.startsWith(NOT_EQUIVALENT)) explained += 1;
  }
  const count = (/** @type {RegExp} */ status) =>
    mutants.filter((mutant) => status.test(mutant.status)).length;
  /** @type {Run} */
  const outcome = {
    date,
    commit,
    hash: hashOfCode(source),
    mutants: mutants.length,
    killed: count(/^Killed$/),
    timedOut: count(/^Timeout$/),
    survived: count(/^Survived$/),
    notCovered: count(/^NoCoverage$/),
    errors: count(/^(?:CompileError|RuntimeError|Ignored)$/),
    explained,
  };
  const runs = { ...readEvidence(), [file]: outcome };
  const listed = Object.keys(DECIDING_FILES).flatMap((name) =>
    runs[name] === undefined ? [] : [[name, runs[name]]],
  );
  writeFileSync(EVIDENCE, `${JSON.stringify(Object.fromEntries(listed), undefined, 2)}\n`);
  return [
    ...missing.map((each) => `No reason in test/mutation-survivors.json for ${file}:\n${each}`),
    ...[...unused].map((key) => `A reason for ${file} that no survivor needs: ${key}`),
  ];
}

/** @param {string} file */
function readReasons(file) {
  const all = /** @type {Reason[]} */ (readJson(path.join(root, "test/mutation-survivors.json")));
  return all.filter((reason) => reason.file === file);
}

/**
 * @param {Evidence} [evidence]
 * @returns {string} docs/evidence/mutation.md
 */
export function mutationPage(evidence = readEvidence()) {
  const stale = new Set(staleEvidence(evidence));
  const files = Object.keys(DECIDING_FILES);
  const days = Object.values(evidence).map(({ date }) => date);
  const rows = files.map((file) => rowOf(file, evidence[file], stale.has(file)));
  const sections = files.flatMap((file) => {
    const reasons = readReasons(file).map(({ why, mutants }) => survivorRow(why, mutants));
    const head = "| Why no test notices it | Survivors |\n|---|---|";
    return reasons.length === 0 ? [] : `### \`${file}\`\n\n${head}\n${reasons.join("\n")}`;
  });
  const leftOut = Object.entries(LEFT_OUT).map(([file, why]) => `| \`${file}\` | ${why} |`);
  return `# Mutation testing

Measured ${periodOf(days)} with \`npm run mutation\`. The last column of the table has the day and the commit of each file.

Would a test fail if the code made a different decision? To find out, [Stryker](https://stryker-mutator.io/) takes the files that contain the rules and
changes one place at a time: \`<\` becomes \`<=\`, a condition becomes \`true\`, or a string becomes empty. Each changed version is a mutant. Stryker then runs
the fast tests that reach that place (\`vitest.mutation.config.ts\`). If none of them fails, the mutant has survived.

\`\`\`sh
npm run mutation                                  # every file; go on with the same command after a stop
npm run mutation -- --changed                     # only files whose code has changed since their run
npm run mutation -- src/record/session-policy.ts  # one of them
\`\`\`

The score is the share of mutants that the tests notice. A test that times out also notices the mutant, for example because a refresh never ends. No
comments in the source exclude any code. The second score leaves out the [survivors](#survivors) that no test could notice, but not those whose
reason begins with "${NOT_EQUIVALENT}". The command fails if a reason is missing in \`test/mutation-survivors.json\`, or is no longer needed.

A file is marked as **changed since** if its code, apart from comments and formatting, has changed since its last run. \`npm run test:unit\` fails
if a mark is missing.

| File | Mutants | Killed | Timed out | Survived | No coverage | Errors | Score | Score without those explained | Run |
|---|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}

The other files of \`src/apis\` pass on requests, responses and streams, and decide nothing:

| File | What it does |
|---|---|
${leftOut.join("\n")}

## Survivors

${sections.join("\n\n")}
`;
}

/**
 * @param {string} file
 * @param {Run | undefined} run
 * @param {boolean} isStale
 */
function rowOf(file, run, isStale) {
  if (run === undefined) return `| \`${file}\` |${" |".repeat(8)} **not run yet** |`;
  const { mutants, killed, timedOut, survived, notCovered, errors, explained, date, commit } = run;
  const detected = killed + timedOut;
  const valid = mutants - errors;
  const scores = [percent(detected, valid), percent(detected, valid - explained)];
  const numbers = [mutants, killed, timedOut, survived, notCovered, errors, ...scores];
  const mark = isStale ? ", **changed since**" : "";
  return `| \`${file}\` | ${numbers.join(" | ")} | ${date}, ${commit}${mark} |`;
}

/**
 * @param {string} why
 * @param {Mutation[]} mutations
 */
function survivorRow(why, mutations) {
  const lines = mutations.map(({ in: line, mutator, code, becomes }) => {
    const place = line === code ? "" : `, in ${inline(line)}`;
    return `${mutator}: ${inline(code)} becomes ${inline(becomes)}${place}`;
  });
  return `| ${[why, lines.join("<br>")].map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`;
}

/** @param {string} code */
function inline(code) {
  const short = code.length > 120 ? `${code.slice(0, 117)}…` : code;
  return short.includes("`") ? `\`\` ${short} \`\`` : `\`${short}\``;
}

/**
 * @param {string} source
 * @param {Mutant} mutant
 * @returns {Mutation}
 */
function mutationOf(source, { mutatorName, replacement, location: { start, end } }) {
  const lines = source.split("\n");
  const touched = lines.slice(start.line - 1, end.line);
  const last = touched.length - 1;
  touched[last] = /** @type {string} */ (touched[last]).slice(0, end.column - 1);
  touched[0] = /** @type {string} */ (touched[0]).slice(start.column - 1);
  return {
    in: String(lines[start.line - 1]).trim(),
    mutator: mutatorName,
    code: onOneLine(touched.join("\n")),
    becomes: onOneLine(replacement),
  };
}

/** @param {string} code */
function onOneLine(code) {
  return code.replace(/\s+/g, " ").trim();
}

/** @param {Mutation} mutation */
function keyOf({ in: line, mutator, code, becomes }) {
  return JSON.stringify([line, mutator, code, becomes]);
}

/**
 * Rounded down: only all of them are 100.
 *
 * @param {number} part
 * @param {number} whole
 */
function percent(part, whole) {
  return `${whole === 0 ? "100" : (Math.floor((part / whole) * 1000) / 10).toFixed(1)} %`;
}
