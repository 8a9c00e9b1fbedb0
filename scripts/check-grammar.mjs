// Lists where src/ and packages/ depart from docs/contributing/grammar.md, by folder: `npm run grammar`.
// `npm run lint` checks the same rules with all others; this needs seconds. grammar-exceptions.json
// lists the files that depart, by rule: with the reason why they may, or null if they are to follow.
// `npm run grammar -- --write` leaves out those that no longer depart, and adds none. `npm run grammar -- --fix` sorts the imports.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Linter } from "eslint";
import tseslint from "typescript-eslint";
import { CONFORMANCE } from "./entries.mjs";
import { grammar, roomOf } from "./grammar-rules.mjs";
import { headline, root } from "./run.mjs";

/** Lines of a function, without the functions inside it. */
const MAX_OWN_LINES = 45;

/** @type {import("eslint").Linter.RulesRecord} */
export const GRAMMAR_RULES = {
  "grammar/max-own-lines": ["error", MAX_OWN_LINES],
  "grammar/declared-types": "error",
  "grammar/named-units": "error",
  "grammar/sorted-imports": "error",
  "@typescript-eslint/max-params": ["error", { max: 3 }],
};

/**
 * The suites that we publish: a requirement is one function, however long, and its helpers take each
 * thing that the requirement varies.
 *
 * @type {import("eslint").Linter.Config}
 */
const REQUIREMENTS = {
  files: [`${CONFORMANCE}/src/*/requirements/**`, "src/testing/store/**"],
  rules: { "grammar/max-own-lines": "off", "@typescript-eslint/max-params": "off" },
};

const EXCEPTIONS = path.join(root, "scripts/grammar-exceptions.json");

/** @typedef {Record<string, Record<string, string | null>>} Exceptions rule -> file -> reason */

/** @returns {Exceptions} */
function readExceptions() {
  return JSON.parse(readFileSync(EXCEPTIONS, "utf8"));
}

/** @returns {import("eslint").Linter.Config[]} for eslint.config.js */
export function grammarExceptions() {
  return [
    REQUIREMENTS,
    ...Object.entries(readExceptions()).map(([rule, files]) => ({
      files: Object.keys(files),
      rules: { [rule]: /** @type {const} */ ("off") },
    })),
  ];
}

/** @type {import("eslint").Linter.Config[]} */
const CONFIG = [
  {
    files: ["**/*.ts"],
    languageOptions: { parser: /** @type {any} */ (tseslint.parser) },
    linterOptions: { reportUnusedDisableDirectives: "off" },
    plugins: { grammar, "@typescript-eslint": /** @type {any} */ (tseslint.plugin) },
    rules: GRAMMAR_RULES,
  },
  REQUIREMENTS,
];

/** @typedef {{ place: string, rule: string, message: string }} GrammarFinding */

/**
 * @param {string} file path from the project's root, with slashes
 * @param {string} text
 * @returns {GrammarFinding[]}
 */
export function checkGrammar(file, text) {
  const linter = new Linter({ cwd: root });
  return linter
    .verify(text, CONFIG, { filename: path.join(root, file) })
    .filter(({ ruleId }) => ruleId === null || ruleId in GRAMMAR_RULES)
    .map(({ ruleId, message, line }) => ({
      place: `${file}:${line}`,
      rule: ruleId ?? "parser",
      message,
    }));
}

/** @param {GrammarFinding} finding */
function roomOfFinding({ place }) {
  return roomOf(place) ?? "src";
}

/** @returns {GrammarFinding[]} of all sources */
function findings() {
  return sources().flatMap((file) =>
    checkGrammar(file, readFileSync(path.join(root, file), "utf8")),
  );
}

/** Sorts the imports of all sources. */
function sortImports() {
  const linter = new Linter({ cwd: root });
  for (const file of sources()) {
    const name = path.join(root, file);
    const text = readFileSync(name, "utf8");
    const { output } = linter.verifyAndFix(text, CONFIG, { filename: name });
    if (output !== text) writeFileSync(name, output);
  }
}

/** @returns {string[]} the modules of src/ and of the conformance package */
function sources() {
  return ["src", `${CONFORMANCE}/src`].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .toSorted()
      .map((name) => `${folder}/${name.split(path.sep).join("/")}`),
  );
}

/**
 * @param {Exceptions} exceptions
 * @param {GrammarFinding} finding
 */
function reasonOf(exceptions, { place, rule }) {
  return exceptions[rule]?.[place.split(":")[0] ?? ""];
}

/**
 * The exceptions for files that have a finding. With GRAMMAR_ADD=1 also files that had none, for a
 * change of the rules.
 *
 * @param {Exceptions} before
 * @param {readonly GrammarFinding[]} found
 * @returns {Exceptions}
 */
export function pruned(before, found) {
  /** @type {Exceptions} */
  const after = {};
  for (const finding of found) {
    const { place, rule } = finding;
    const reason = reasonOf(before, finding);
    if (reason === undefined && process.env["GRAMMAR_ADD"] !== "1") continue;
    (after[rule] ??= {})[place.split(":")[0] ?? ""] = reason ?? null;
  }
  const rules = Object.keys(GRAMMAR_RULES);
  return Object.fromEntries(
    rules.flatMap((rule) => (after[rule] === undefined ? [] : [[rule, after[rule]]])),
  );
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.includes("--fix")) sortImports();
  const found = findings();
  const exceptions = readExceptions();
  const open = found.filter((each) => !reasonOf(exceptions, each));
  for (const room of new Set(found.map(roomOfFinding))) {
    const list = found.filter((each) => roomOfFinding(each) === room);
    console.log(`\n## ${room} (${list.length})\n`);
    for (const each of list) {
      const { place, rule, message } = each;
      const reason = reasonOf(exceptions, each);
      console.log(
        `- ${place} ${rule.split("/")[1] ?? rule}: ${message}${reason ? ` It may: ${reason}` : ""}`,
      );
    }
  }
  if (process.argv.includes("--write")) {
    writeFileSync(EXCEPTIONS, `${JSON.stringify(pruned(exceptions, found), undefined, 2)}\n`);
  }
  headline(`Grammar: ${open.length} findings, ${found.length - open.length} more with a reason`);
  process.exitCode = open.length === 0 ? 0 : 1;
}
