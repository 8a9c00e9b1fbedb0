// Lists where src/ departs from docs/contributing/grammar.md, by folder: `npm run grammar`.
// `npm run lint` checks the same rules with all others; this needs seconds. grammar-exceptions.json
// lists the files that still depart, by rule; `npm run grammar -- --write` leaves out those that no
// longer do, and adds none. `npm run grammar -- --fix` sorts the imports.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Linter } from "eslint";
import tseslint from "typescript-eslint";
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

/** The suites that we publish: a requirement is one function, however long. */
const REQUIREMENTS = "src/conformance/*/requirements/**";

const EXCEPTIONS = path.join(root, "scripts/grammar-exceptions.json");

/** @returns {import("eslint").Linter.Config[]} for eslint.config.js */
export function grammarExceptions() {
  const files = /** @type {Record<string, string[]>} */ (
    JSON.parse(readFileSync(EXCEPTIONS, "utf8"))
  );
  return [
    { files: [REQUIREMENTS], rules: { "grammar/max-own-lines": "off" } },
    ...Object.entries(files).map(([rule, files]) => ({
      files,
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
  { files: [REQUIREMENTS], rules: { "grammar/max-own-lines": "off" } },
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

/** @returns {GrammarFinding[]} of all of src/ */
function findings() {
  return sources().flatMap((file) =>
    checkGrammar(file, readFileSync(path.join(root, file), "utf8")),
  );
}

/** Sorts the imports of all of src/. */
function sortImports() {
  const linter = new Linter({ cwd: root });
  for (const file of sources()) {
    const name = path.join(root, file);
    const text = readFileSync(name, "utf8");
    const { output } = linter.verifyAndFix(text, CONFIG, { filename: name });
    if (output !== text) writeFileSync(name, output);
  }
}

/** @returns {string[]} the modules of src/ */
function sources() {
  return readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .toSorted()
    .map((name) => `src/${name.split(path.sep).join("/")}`);
}

/**
 * Leaves only exceptions for files that have a finding. With GRAMMAR_ADD=1 it also adds files, for
 * a change of the rules.
 *
 * @param {readonly GrammarFinding[]} found
 */
function prune(found) {
  const before = /** @type {Record<string, string[]>} */ (
    JSON.parse(readFileSync(EXCEPTIONS, "utf8"))
  );
  const after = Object.keys(GRAMMAR_RULES).flatMap((rule) => {
    const files = new Set(
      found.flatMap((each) => (each.rule === rule ? (each.place.split(":")[0] ?? []) : [])),
    );
    const kept = [...files].filter(
      (file) => process.env["GRAMMAR_ADD"] === "1" || before[rule]?.includes(file),
    );
    return kept.length === 0 ? [] : [[rule, kept]];
  });
  writeFileSync(EXCEPTIONS, `${JSON.stringify(Object.fromEntries(after), undefined, 2)}\n`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.includes("--fix")) sortImports();
  const found = findings();
  for (const room of new Set(found.map(roomOfFinding))) {
    const list = found.filter((each) => roomOfFinding(each) === room);
    console.log(`\n## ${room} (${list.length})\n`);
    for (const { place, rule, message } of list)
      console.log(`- ${place} ${rule.split("/")[1] ?? rule}: ${message}`);
  }
  if (process.argv.includes("--write")) prune(found);
  headline(`Grammar: ${found.length} findings`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
