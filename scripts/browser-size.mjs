// Measures what a browser loads: each entry for browsers, minified and compressed as a server would
// send it.
import { gzipSync } from "node:zlib";
import { withBrowserBundle } from "./bundle.mjs";
import { packageEntries } from "./entries.mjs";

/**
 * The most bytes of each entry, minified and compressed.
 * @type {Readonly<Record<string, number>>}
 */
const LIMITS = { "idpauth/client": 3300, "idpauth/react": 450 };

/**
 * A page that loads the first entry has the second one, too.
 * @type {Readonly<Record<string, string>>}
 */
const BESIDE = { "idpauth/react": "idpauth/client" };

/**
 * @typedef {object} BrowserSize
 * @property {string} name of the entry
 * @property {number} minified bytes
 * @property {number} compressed bytes: minified, then gzip; for `idpauth/react` what it adds to
 *   `idpauth/client`
 * @property {number} limit the most compressed bytes
 */

/** @returns {Promise<BrowserSize[]>} of the sources, without their dependencies */
export async function browserSizes() {
  const entries = packageEntries().filter(({ isForBrowsers }) => isForBrowsers);
  const minified = await Promise.all(
    entries.map(async (entry) => {
      const { output } = await withBrowserBundle(entry, (bundle) =>
        bundle.generate({ format: "esm", minify: true, comments: false }),
      );
      return [entry.name, output.map((file) => (file.type === "chunk" ? file.code : "")).join("")];
    }),
  );
  /** @type {Record<string, string>} */
  const codes = Object.fromEntries(minified);
  return Object.entries(codes).map(([name, code]) => {
    const beside = codes[BESIDE[name] ?? ""] ?? "";
    const compressed = beside ? gzipSize(beside + code) - gzipSize(beside) : gzipSize(code);
    return { name, minified: Buffer.byteLength(code), compressed, limit: LIMITS[name] ?? 0 };
  });
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
