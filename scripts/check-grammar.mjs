// Lists where src/ departs from docs/contributing/grammar.md, by folder: `npm run grammar`.
// `npm run lint` checks the same rules with all others; this needs seconds.
import { readdirSync, readFileSync } from "node:fs";
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
export const REQUIREMENTS = "src/conformance/*/requirements/**";

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
      rule: ruleId?.split("/")[1] ?? "parser",
      message,
    }));
}

/** @param {GrammarFinding} finding */
function roomOfFinding({ place }) {
  return roomOf(place) ?? "src";
}

/** @returns {GrammarFinding[]} of all of src/ */
function findings() {
  return readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .toSorted()
    .map((name) => `src/${name.split(path.sep).join("/")}`)
    .flatMap((file) => checkGrammar(file, readFileSync(path.join(root, file), "utf8")));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = findings();
  for (const room of new Set(found.map(roomOfFinding))) {
    const list = found.filter((each) => roomOfFinding(each) === room);
    console.log(`\n## ${room} (${list.length})\n`);
    for (const { place, rule, message } of list) console.log(`- ${place} ${rule}: ${message}`);
  }
  headline(`Grammar: ${found.length} findings`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
