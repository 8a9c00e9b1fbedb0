// Writes the generated reference pages from the tables of the built package, and the tables of
// results from docs/evidence/; with --check it only
// tells whether the pages on disk are up to date, so that documentation cannot drift from the code.
// Fills the code blocks that come from files, too.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { browserSizes } from "./browser-size.mjs";
import { withFigures } from "./evidence/page.mjs";
import { misplacedNames } from "./exported-names.mjs";
import { printedPage } from "./project-links.mjs";
import {
  clientPage,
  compatibilityPage,
  endpointsPage,
  errorsPage,
  eventsPage,
  pageTextsPage,
  readTables,
  settingsPages,
} from "./reference-docs.mjs";
import { root } from "./run.mjs";
import { otherPages, pages as allPages, withSnippets } from "./snippets.mjs";

/**
 * @param {string} file inside build/, which is there only after a build, so its types come from the
 *   source
 * @returns {Promise<unknown>}
 */
async function built(file) {
  return import(pathToFileURL(path.join(root, "build", file)).href);
}

const { SETTINGS } = /** @type {typeof import("../src/config/read-settings.js")} */ (
  await built("config/read-settings.js")
);
const { ERRORS } = /** @type {typeof import("../src/errors.js")} */ (await built("errors.js"));
const { CHECKS, CHECK_GROUPS } = /** @type {typeof import("../src/config/check-table.js")} */ (
  await built("config/check-table.js")
);
const { SETTING_NAMES, textWith } = /** @type {typeof import("../src/config/setting-names.js")} */ (
  await built("config/setting-names.js")
);
const { LIVE_CHECKS } = /** @type {typeof import("../src/live/live-check-table.js")} */ (
  await built("live/live-check-table.js")
);
const { ENDPOINTS } = /** @type {typeof import("../src/endpoints/router.js")} */ (
  await built("endpoints/router.js")
);
const { LOG_CODES } = /** @type {typeof import("../src/events/log-lines.js")} */ (
  await built("events/log-lines.js")
);

const { en } = /** @type {typeof import("../src/pages/locales/en.js")} */ (
  await built("pages/locales/en.js")
);

const tables = readTables();

const CLIENT = "docs/reference/client.md";
const ENDPOINTS_PAGE = "docs/reference/endpoints.md";
const COMPATIBILITY = "docs/reference/compatibility.md";
const FIGURES = ["docs/about/evidence.md", "docs/explanation/performance.md"];

const isCheck = process.argv.includes("--check");

/** @type {Record<string, string>} */
const pages = {
  [CLIENT]: clientPage(readFileSync(path.join(root, CLIENT), "utf8"), await browserSizes()),
  ...Object.fromEntries(
    FIGURES.map((page) => [page, withFigures(readFileSync(path.join(root, page), "utf8"))]),
  ),
  [COMPATIBILITY]: compatibilityPage(readFileSync(path.join(root, COMPATIBILITY), "utf8")),
  [ENDPOINTS_PAGE]: endpointsPage(
    readFileSync(path.join(root, ENDPOINTS_PAGE), "utf8"),
    ENDPOINTS,
    SETTINGS,
    tables,
  ),
  "docs/reference/events.md": eventsPage(),
  "docs/reference/page-texts.md": pageTextsPage(en),
  ...Object.fromEntries(
    Object.entries(settingsPages(SETTINGS)).map(([file, text]) => [`docs/reference/${file}`, text]),
  ),
  "docs/reference/errors.md": errorsPage(
    {
      errors: ERRORS,
      checks: { ...CHECKS, ...LIVE_CHECKS },
      groups: CHECK_GROUPS,
      logCodes: LOG_CODES,
      plain: (text) => textWith(SETTING_NAMES, text),
    },
    tables,
  ),
};

for (const page of [...allPages(), ...otherPages()]) {
  const written = readFileSync(path.join(root, page), "utf8");
  const text = pages[page] ?? written;
  const isFilled = page in pages || text.includes("<!-- snippet: ");
  const printed = printedPage(isFilled ? withSnippets(text) : text, page);
  if (isFilled || printed !== written) pages[page] = printed;
}

for (const [name, text] of Object.entries(pages)) {
  const file = path.join(root, name);
  if (existsSync(file) && readFileSync(file, "utf8") === text) {
    console.log(`${name} is up to date`);
  } else if (isCheck) {
    console.error(
      `${name} is not what src/, docs/evidence/ or the files of its snippets say. Run \`npm run docs\`.`,
    );
    process.exitCode = 1;
  } else {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`${name} written`);
  }
}

// The site is built by one test alone, so a name without a page would be found late.
for (const mistake of misplacedNames()) {
  console.error(mistake);
  process.exitCode = 1;
}
