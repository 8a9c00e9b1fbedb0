// The numbers of docs/about/evidence.md, read from the pages of docs/evidence/. `npm run docs`
// writes them, and a test compares them.
import { readFileSync } from "node:fs";
import { peersPage } from "../bench/compare/page.mjs";
import { readPeers } from "../bench/compare/results.mjs";
import { interopPage } from "./interop/page.mjs";
import { measurementOf } from "./measured.mjs";
import { mutationPage } from "./mutation-report.mjs";
import { rowsOf } from "./security-table.mjs";

/** @typedef {(name: string) => string} Read a page of docs/evidence/ */

/**
 * The pages that the same run writes.
 *
 * @type {Record<string, (() => string) | undefined>}
 */
const WRITTEN_HERE = {
  mutation: () => mutationPage(),
  interop: () => interopPage(),
  peers: () => peersPage(readPeers()),
};

/**
 * Returns the page with its tables of numbers, each between two comments.
 *
 * @param {string} text docs/about/evidence.md
 * @param {Read} [read]
 */
export function evidencePage(
  text,
  read = (name) =>
    WRITTEN_HERE[name]?.() ??
    readFileSync(new URL(`../docs/evidence/${name}.md`, import.meta.url), "utf8"),
) {
  const tables = { results: resultsTable, requirements: requirementsTable, modules: modulesTable };
  return text.replace(
    /(?<=<!-- (results|requirements|modules): [^\n]*\n).*?(?=<!-- \/\1 -->)/gs,
    (_, /** @type {keyof typeof tables} */ name) => `\n${tables[name](read)}\n\n`,
  );
}

/** @param {Read} read */
function resultsTable(read) {
  const requirements = sourcesOf(read("security"));
  const modules = plansOf(read("conformance")).flatMap(({ results }) => results);
  const adapters = matches(read("adapters"), /^\| .* \| (\d+ of \d+) \|$/gm).map(
    ([, met = ""]) => met,
  );
  const runtimes = matches(read("runtimes"), /^\| ((?:Node|Bun) .*?) \|.*?\| ([\d,]+ of [\d,]+)/gm);
  const stores = matches(read("scaling"), /^\| .* \| all(?: that .*)? \|$/gm);
  const providers = matches(read("interop"), /^\| (.*) \| \d{4}-\d\d-\d\d \| (.*) \|$/gm);
  const scenarios = matches(read("browsers"), /^\| .* \| (passed|failed) \| (passed|failed) \|$/gm);
  const files = matches(read("mutation"), /^\| `src\/.*\| \d.*$/gm).map(([row = ""]) =>
    cellsOf(row),
  );
  const changed = files.filter((cells) => cells.at(-1)?.includes("changed since")).length;
  const mutants = sum(files.map((cells) => Number(cells[1])));
  const noticed = sum(files.map((cells) => Number(cells[2]) + Number(cells[3])));
  const conditions = matches(read("soak"), /^- (met|NOT MET): /gm);
  const goals = matches(read("performance"), /\| (?:\*\*)?(yes|no)(?:\*\*)? \|[^|]*\|$/gm);
  const rows = [
    [
      "Security requirements",
      `${String(sum(requirements.map(({ rows }) => rows.length)))} rows; a passing test for each of the ${String(
        sum(requirements.map(({ applicable }) => applicable)),
      )} that apply`,
      "security",
    ],
    [
      "OpenID Foundation's modules for relying parties",
      `${share(modules, (result) => result === "passed")} passed`,
      "conformance",
    ],
    [
      "Framework adapters",
      `${share(adapters, isWhole)} setups meet every requirement. To the others, a few requirements don't apply.`,
      "adapters",
    ],
    [
      "Runtimes",
      runtimes.map(([, name, met]) => `${name ?? ""}: ${met ?? ""} checks each`).join("<br>"),
      "runtimes",
    ],
    [
      "Stores",
      `${String(stores.length)} kinds of store meet every requirement that applies`,
      "scaling",
    ],
    [
      "Real providers: steps",
      providers.map(([, name, steps]) => `${name ?? ""}: ${steps ?? ""}`).join("<br>"),
      "interop",
    ],
    ["Peers: token requests of 200 requests at once", racesCell(read("peers")), "peers"],
    [
      "Browsers",
      `${share(scenarios, ([row]) => !row.includes("failed"))} scenarios pass in two real browsers each`,
      "browsers",
    ],
    [
      "Mutation testing",
      `The tests notice ${((100 * noticed) / mutants).toFixed(1)} % of ${mutants.toLocaleString("en")} changes in ${String(files.length)} source files.${changed > 0 ? ` Files changed since: ${String(changed)}.` : ""}`,
      "mutation",
    ],
    [
      "Load with faults",
      `${found(read("soak"), /^\d+ minutes of mixed load with \d+ faults/m)}: ${share(conditions, ([, result]) => result === "met")} conditions met`,
      "soak",
    ],
    [
      "Performance",
      `${share(goals, ([, met]) => met === "yes")} goals met in the tables "Measured" and "The proxy"; [every missed goal](../explanation/performance.md#where-it-missed-its-goals), also of the other tables`,
      "performance",
    ],
  ];
  return table(
    ["What", "Result", "Measured", "Command", "Details"],
    rows.map(([what = "", result = "", name = ""]) => {
      const { date, command } = measurementOf(read(name));
      return [what, result, date, `\`${command}\``, link(name)];
    }),
  );
}

/** @param {string} page */
function racesCell(page) {
  const [first] = matches(page, /^### 200 requests at once.*?(?=^### )/gms);
  return matches(first?.[0] ?? "", /^\| (?!Product)([^|-][^|]*) \| [^|]* \| (\d[\d, ]*) \|/gm)
    .map(([, title, refreshes]) => `${title ?? ""}: ${refreshes ?? ""}`)
    .join("<br>");
}

/** @param {Read} read */
function requirementsTable(read) {
  const sources = sourcesOf(read("security"));
  const counted = (/** @type {readonly Source[]} */ some) =>
    /** @type {const} */ (["met", "departures", "partly", "exempt"]).map((name) =>
      String(sum(some.map((source) => source[name]))),
    );
  const counts = table(
    ["Source", "Rows", "Met", "Departures", "Partly met", "Don't apply"],
    [
      ...sources.map((source) => [source.title, String(source.rows.length), ...counted([source])]),
      ["**Total**", String(sum(sources.map(({ rows }) => rows.length))), ...counted(sources)],
    ],
  );
  return `${measurementOf(read("security")).line}\n\n${counts}`;
}

/** @param {Read} read */
function modulesTable(read) {
  const page = read("conformance");
  const counts = table(
    ["Plan", "Modules that passed"],
    plansOf(page).map(({ title, results }) => [
      title,
      share(results, (result) => result === "passed"),
    ]),
  );
  return `${measurementOf(page).line}\n\n${counts}`;
}

/** @typedef {ReturnType<typeof sourcesOf>[number]} Source */

/** @param {string} page the tables of docs/evidence/security.md, by their sections */
function sourcesOf(page) {
  return sectionsOf(page).flatMap(({ title, text }) => {
    const rows = rowsOf(text);
    if (rows.length === 0) return [];
    const count = (/** @type {RegExp} */ pattern) =>
      rows.filter(({ requirement }) => pattern.test(requirement)).length;
    const [exempt, departures, partly] = [
      count(/^n\/a: /),
      count(/\bDeparture: /),
      count(/\bPartly met\b/),
    ];
    const applicable = rows.length - exempt;
    return [
      {
        title,
        rows,
        exempt,
        departures,
        partly,
        applicable,
        met: applicable - departures - partly,
      },
    ];
  });
}

/**
 * @param {string} page the plans of docs/evidence/conformance.md, with the result of each module
 */
function plansOf(page) {
  return sectionsOf(page).flatMap(({ title, text }) => {
    if (!text.includes("\nPlan `")) return [];
    return [
      {
        title,
        results: matches(text, /^\| `[\w-]+` \|.*\| (\w+) \|$/gm).map(([, result]) => result),
      },
    ];
  });
}

/** @param {string} page */
function sectionsOf(page) {
  return page
    .split(/^## /m)
    .slice(1)
    .map((text) => ({ title: text.split("\n", 1)[0] ?? "", text }));
}

/** @param {string} row */
function cellsOf(row) {
  return row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** @param {string} text */
function isWhole(text) {
  const [, met, all] = /(\d+) of (\d+)/.exec(text) ?? [];
  return met === all;
}

/** @param {string} text @param {RegExp} pattern */
function matches(text, pattern) {
  const all = [...text.matchAll(pattern)];
  if (all.length === 0)
    throw new Error(`A page of docs/evidence/ has nothing like ${String(pattern)}.`);
  return all;
}

/** @param {string} text @param {RegExp} pattern */
function found(text, pattern) {
  return matches(text, new RegExp(pattern, "gm"))[0]?.[0] ?? "";
}

/**
 * @template Item
 * @param {readonly Item[]} items
 * @param {(item: Item) => boolean} fits
 */
function share(items, fits) {
  return `${String(items.filter(fits).length)} of ${String(items.length)}`;
}

/** @param {readonly number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}

/** @param {string} name */
function link(name) {
  return `[${name}](../evidence/${name}.md)`;
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function table(head, rows) {
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
