// Counts the files of src/ that name a feature: how many files a reader has to open to change it.
// `node scripts/feature-files.mjs [--list] [FOLDER]`; FOLDER is another checkout.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./run.mjs";

/** @typedef {{ name: string, pattern: RegExp, limit: number }} Feature */

/** @type {readonly Feature[]} */
export const FEATURES = [
  {
    name: "several providers",
    // One `registration` is the client at the one provider that the code is about. Only who reads
    // all of them knows that there are several.
    pattern: /several providers|\bregistrations\b|perProvider|providerIn|clientOf/i,
    limit: 28,
  },
  // As parts of names, but not of words such as `capitalized`.
  { name: "apis", pattern: /fetchApi|FetchApi|\b(?:apis|APIs)\b|\bapiT|ApiT/, limit: 20 },
  { name: "step-up", pattern: /step-?up|\bacrs?\b|\bacr_values|auth_?time/i, limit: 18 },
  { name: "PAR", pattern: /pushed/i, limit: 8 },
  { name: "csrf", pattern: /csrf|cross-?site/i, limit: 15 },
  { name: "popup", pattern: /popup/i, limit: 8 },
];

/**
 * What doesn't count: the command line, the test kit and the suites, which have a feature's other
 * side; the languages.
 */
const ASIDE = /^(?:cli|testing|conformance|pages\/locales)\//;

/**
 * @param {ReadonlyMap<string, string>} sources path below src/, with slashes -> text
 * @returns {Map<Feature, string[]>} the files that name each feature
 */
export function featureFiles(sources) {
  const counted = [...sources].filter(([file]) => !ASIDE.test(file));
  return new Map(
    FEATURES.map((feature) => [
      feature,
      counted.flatMap(([file, text]) => (feature.pattern.test(text) ? file : [])),
    ]),
  );
}

/** @param {string} folder */
function readSources(folder) {
  return new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .toSorted()
      .map((name) => [
        name.split(path.sep).join("/"),
        readFileSync(path.join(folder, name), "utf8"),
      ]),
  );
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const places = process.argv.slice(2).filter((each) => each !== "--list");
  for (const [{ name, limit }, files] of featureFiles(
    readSources(path.join(path.resolve(places[0] ?? root), "src")),
  )) {
    console.log(`${name}: ${files.length} files, limit ${limit}`);
    if (process.argv.includes("--list")) for (const file of files) console.log(`  ${file}`);
    if (files.length > limit) process.exitCode = 1;
  }
}
