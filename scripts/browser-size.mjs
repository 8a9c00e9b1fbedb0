// Measures what a browser loads: each entry for browsers, minified and compressed as a server would
// send it.
import { gzipSync } from "node:zlib";
import { MINIFIED, withBrowserBundle } from "./bundle.mjs";
import { packageEntries } from "./entries.mjs";

/** What each other entry is measured beside, except the file that has everything. */
const CLIENT = "idpauth/client";

/**
 * The most bytes of each entry, minified and compressed.
 * @type {Readonly<Record<string, number>>}
 */
const LIMITS = {
  [CLIENT]: 3930,
  "idpauth/client/browser": 10_550,
  "idpauth/client/streams": 2800,
  "idpauth/client/warning": 4100,
  "idpauth/react": 450,
};

/**
 * @typedef {object} BrowserSize
 * @property {string} name of the entry
 * @property {number} minified bytes; like `compressed`, what the entry adds to `idpauth/client`, if
 *   it isn't the file that has everything
 * @property {number} compressed bytes: minified, then gzip
 * @property {number} limit the most compressed bytes
 */

/** @returns {Promise<BrowserSize[]>} of the sources, without their dependencies */
export async function browserSizes() {
  const entries = packageEntries().filter(({ isForBrowsers }) => isForBrowsers);
  const client = entries.filter(({ name }) => name === CLIENT);
  const alone = await minified(client);
  return Promise.all(
    entries.map(async (entry) => {
      const { name, isWhole } = entry;
      const isAlone = name === CLIENT || isWhole;
      const beside = isAlone ? "" : alone;
      const code = await minified(isAlone ? [entry] : [...client, entry]);
      return {
        name,
        minified: code.length - beside.length,
        compressed: gzipSize(code) - (isAlone ? 0 : gzipSize(beside)),
        limit: LIMITS[name] ?? 0,
      };
    }),
  );
}

/**
 * @param {readonly import("./entries.mjs").Entry[]} entries
 * @returns {Promise<string>} the code of all their files
 */
async function minified(entries) {
  const { output } = await withBrowserBundle(entries, (bundle) => bundle.generate(MINIFIED));
  return output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
}

/** @param {string} code */
function gzipSize(code) {
  return gzipSync(code, { level: 9 }).length;
}

/**
 * @param {readonly BrowserSize[]} sizes
 * @returns {string[]} one line for each entry over its limit
 */
export function tooLarge(sizes) {
  return sizes
    .filter(({ compressed, limit }) => compressed > limit)
    .map(
      ({ name, compressed, limit }) =>
        `${name} has ${compressed} bytes, minified and compressed; the limit is ${limit}.`,
    );
}
