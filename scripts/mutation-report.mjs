// Writes docs/evidence/mutation.md from Stryker's reports (scripts/mutation.mjs) and from
// test/mutation-survivors.json, which says why a mutant that no test notices changes no behaviour.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
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

/**
 * @typedef {{ readonly line: number, readonly column: number }} Position both counted from one
 * @typedef {{ mutatorName: string, replacement: string, status: string, statusReason?: string, location: { start: Position, end: Position } }} Mutant
 * @typedef {{ files: Record<string, { source: string, mutants: Mutant[] }> }} Report
 * @typedef {{ file: string, why: string, mutants: Mutation[] }} Reason
 * @typedef {{ in: string, mutator: string, code: string, becomes: string }} Mutation the line it
 * begins in, trimmed; then what was put in the place of what. No line number: those move.
 */

/** @param {string} file */
export function reportPath(file) {
  return path.join(
    root,
    "reports/mutation",
    `${file.replace(/^src\//, "").replaceAll("/", "-")}.json`,
  );
}

/**
 * @param {string} file
 * @returns {Report}
 */
export function readReport(file) {
  return /** @type {Report} */ (readJson(reportPath(file)));
}

/** @param {Mutant} mutant */
function isDetected({ status }) {
  return status === "Killed" || status === "Timeout";
}

const DOCUMENT = path.join(root, "docs/evidence/mutation.md");

/**
 * Writes the document and says on the console what is missing. A file without a report on this
 * machine keeps what the document says about it.
 *
 * @returns {number} the exit code: 1 when a survivor has no reason, or a reason no survivor
 */
export function writeReport() {
  const kept = /** @type {Reason[]} */ (readJson(path.join(root, "test/mutation-survivors.json")));
  const reasons = new Map(
    kept.flatMap(({ file, why, mutants }) =>
      mutants.map((mutation) => [keyOf(file, mutation), why]),
    ),
  );
  const unused = new Set(
    kept.flatMap(({ file, mutants }) =>
      existsSync(reportPath(file)) ? mutants.map((mutation) => keyOf(file, mutation)) : [],
    ),
  );
  const before = readFileSync(DOCUMENT, "utf8");
  const unexplained = [];
  const rows = [];
  const sections = [];
  for (const file of Object.keys(DECIDING_FILES)) {
    if (!existsSync(reportPath(file))) {
      rows.push(before.split("\n").find((line) => line.startsWith(`| \`${file}\` |`)) ?? []);
      sections.push(sectionOf(file, before) ?? []);
      continue;
    }
    const { source, mutants } = /** @type {Report["files"][string]} */ (
      readReport(file).files[file]
    );
    /** @param {string} status */
    const count = (status) => mutants.filter((mutant) => mutant.status === status).length;
    const valid = mutants.filter(
      ({ status }) => !["CompileError", "RuntimeError", "Ignored"].includes(status),
    );
    const detected = valid.filter(isDetected).length;
    /** @type {Map<string, Mutation[]>} */
    const byReason = new Map();
    let explained = 0;
    for (const mutant of valid.filter((each) => !isDetected(each))) {
      const mutation = mutationOf(source, mutant);
      const why = reasons.get(keyOf(file, mutation));
      unused.delete(keyOf(file, mutation));
      if (why === undefined) unexplained.push({ file, ...mutation });
      else if (!why.startsWith("Not equivalent")) explained += 1;
      const told = why ?? "**No reason is given.**";
      byReason.set(told, [...(byReason.get(told) ?? []), mutation]);
    }
    const cells = [
      `\`${file}\``,
      mutants.length,
      count("Killed"),
      count("Timeout"),
      count("Survived"),
      count("NoCoverage"),
      mutants.length - valid.length,
      `${percent(detected, valid.length)} %`,
      `${percent(detected, valid.length - explained)} %`,
      statSync(reportPath(file)).mtime.toISOString().slice(0, 10),
    ];
    rows.push(`| ${cells.join(" | ")} |`);
    if (byReason.size > 0)
      sections.push(
        `### \`${file}\`\n\n${[...byReason].map(([why, them]) => told(why, them)).join("\n\n")}`,
      );
  }
  writeFileSync(DOCUMENT, document(rows.flat(), sections.flat()));
  for (const each of unexplained)
    console.error(
      `No reason in test/mutation-survivors.json:\n${JSON.stringify(each, undefined, 2)}`,
    );
  for (const key of unused)
    console.error(`A reason in test/mutation-survivors.json that no survivor needs: ${key}`);
  console.log(
    `docs/evidence/mutation.md: ${rows.flat().length} files, ${unexplained.length} survivors without a reason`,
  );
  return unexplained.length + unused.size > 0 ? 1 : 0;
}

/**
 * The section about a file in the document as it was.
 *
 * @param {string} file
 * @param {string} text
 */
function sectionOf(file, text) {
  return text
    .split(/^(?=### )/m)
    .find((section) => section.startsWith(`### \`${file}\`\n`))
    ?.trim();
}

/**
 * @param {readonly string[]} rows
 * @param {readonly string[]} sections
 */
function document(rows, sections) {
  return `# Mutation testing

Would a test fail if the code made a different decision? To find out, [Stryker](https://stryker-mutator.io/) takes the files that contain the rules and
changes one place at a time: \`<\` becomes \`<=\`, a condition becomes \`true\`, or a string becomes empty. Each changed version is a mutant. Stryker then runs
the fast tests that reach that place (\`vitest.mutation.config.ts\`). If none of them fails, the mutant has survived.

\`\`\`sh
npm run mutation                        # every file: most of an hour
npm run mutation -- src/record/session-policy.ts  # one of them
npm run mutation -- --survivors         # only what survived last time
\`\`\`

The score is the share of mutants that the tests notice. A test that times out counts as noticing, for example because a refresh never ends. No comments in
the source exclude any code. The second score leaves out the survivors listed below whose reason explains why no test could notice them, but not those
whose reason begins with "Not equivalent". The reasons are in \`test/mutation-survivors.json\`, and the command fails if one is missing or no longer needed.
The date is the day of the file's last run; the command runs whichever files you name, and the others keep their rows.

| File | Mutants | Killed | Timed out | Survived | No coverage | Errors | Score | Score without those explained | Date |
|---|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}

## Survivors

${sections.join("\n\n")}
`;
}

/**
 * @param {string} why
 * @param {Mutation[]} mutations
 */
function told(why, mutations) {
  const lines = mutations.map(({ in: line, mutator, code, becomes }) => {
    const place = line === code ? "" : `, in ${inline(line)}`;
    return `- ${mutator}: ${inline(code)} becomes ${inline(becomes)}${place}`;
  });
  return `${why}\n\n${lines.join("\n")}`;
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

/**
 * @param {string} file
 * @param {Mutation} mutation
 */
function keyOf(file, { in: line, mutator, code, becomes }) {
  return JSON.stringify([file, line, mutator, code, becomes]);
}

/**
 * Rounded down: only all of them are 100.
 *
 * @param {number} part
 * @param {number} whole
 */
function percent(part, whole) {
  return whole === 0 ? "100" : (Math.floor((part / whole) * 1000) / 10).toFixed(1);
}
