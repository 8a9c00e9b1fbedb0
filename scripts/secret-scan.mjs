// Looks for each secret of a test run in everything that the run sent to browsers, logged and
// printed, as test/secret-scan/record.mjs recorded it. Exit code 1: a secret leaked. It prints the
// secret's kind and place, not the secret.
import { createReadStream, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { AUTHORIZATION_URL } from "../test/secret-scan/record.mjs";

/** @typedef {{ readonly kind: string, readonly where: string, readonly around: string }} Leak */

/** Shorter pieces of a secret are words of everyday. */
const SHORTEST = 16;

/**
 * @param {string} folder
 * @returns {Promise<{ secrets: Record<string, number>, tooShort: number, looked: Record<string, number>, characters: number, leaks: Leak[] }>}
 */
export async function scan(folder) {
  const known = new Secrets();
  for await (const entry of entries(folder))
    if ("secret" in entry) known.add(entry.secret, entry.value);
  /** @type {Record<string, number>} */
  const looked = {};
  /** @type {Leak[]} */
  const leaks = [];
  let characters = 0;
  for await (const entry of entries(folder)) {
    if (!("where" in entry)) continue;
    looked[entry.where] = (looked[entry.where] ?? 0) + 1;
    characters += entry.text.length;
    leaks.push(...known.findIn(entry.where, entry.text));
  }
  return { secrets: known.counts, tooShort: known.tooShort, looked, characters, leaks };
}

/**
 * @param {string} folder
 * @returns {AsyncGenerator<{ secret: string, value: string } | { where: string, text: string }>}
 */
async function* entries(folder) {
  for (const file of readdirSync(folder)) {
    for await (const line of createInterface({
      input: createReadStream(path.join(folder, file)),
    })) {
      try {
        yield JSON.parse(line);
      } catch {
        // The last line of a process that was killed.
      }
    }
  }
}

/**
 * Finds thousands of secrets in one pass: texts are cut where no secret has a character, and the
 * pieces looked up.
 */
class Secrets {
  /** Those that are looked for, by kind. @type {Record<string, number>} */
  counts = {};
  /** How many are not, since none of their pieces is long enough to be told from everyday words. */
  tooShort = 0;
  /** @type {Map<string, string>} piece -> kind */
  #pieces = new Map();
  /**
   * Those that have no long piece, such as a client secret full of odd characters.
   * @type {Map<string, string>}
   */
  #odd = new Map();
  /** @type {Set<string>} */
  #all = new Set();

  /** @param {string} kind @param {string} value */
  add(kind, value) {
    if (this.#all.has(value)) return;
    this.#all.add(value);
    // A token's header and such are the same for all; what is signed, and the signature, are not.
    const parts = value.split(".");
    const telling = parts.length === 3 ? parts.slice(1) : [value];
    const pieces = telling.flatMap(cut);
    if (pieces.length === 0 && kind !== "client_secret") {
      this.tooShort += 1;
      return;
    }
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    for (const piece of pieces) this.#pieces.set(piece, kind);
    if (pieces.length > 0) return;
    // As it is, in JSON, in a URL and in a form.
    const inForm = new URLSearchParams({ "": value }).toString().slice(1);
    for (const spelling of [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      inForm,
    ])
      this.#odd.set(spelling, kind);
  }

  /**
   * @param {string} where
   * @param {string} text
   * @returns {Leak[]}
   */
  findIn(where, text) {
    // State and nonce belong into the authorization URL, the hint into the redirect to the
    // provider's logout, the provider's response into the redirect from the callback origin to the
    // login's own callback, and a cookie into Set-Cookie. Everything else belongs nowhere.
    const rest = text
      .replace(AUTHORIZATION_URL, (url) =>
        url.replace(/([?&](?:amp;)?(?:state|nonce)=)[^&]*/g, "$1"),
      )
      .replace(
        /^(location: \S*[?&]id_token_hint=)[^&\s]*(?=\S*[?&]post_logout_redirect_uri=)/gim,
        where === "head" ? "$1" : "$&",
      )
      .replace(
        /^location: https?:\/\/[^/\s]+\/\S*login-callback(?:\/[a-z0-9-]+)?\?\S*/gim,
        (redirect) =>
          where === "head"
            ? redirect.replace(/([?&](?:code|state|response)=)[^&\s]*/g, "$1")
            : redirect,
      );
    /** @type {Leak[]} */
    const found = [];
    for (const view of new Set([rest, decode(rest), unescaped(rest)])) {
      for (const piece of cut(view)) {
        const kind = this.#pieces.get(piece);
        if (kind === undefined || (kind === "cookie" && where === "set-cookie")) continue;
        found.push({ kind, where, around: this.#around(view, piece) });
      }
      for (const [value, kind] of this.#odd) {
        if (view.includes(value)) found.push({ kind, where, around: this.#around(view, value) });
      }
    }
    return found;
  }

  /**
   * What stands beside it, without it, and without its neighbours: the signature stands beside the
   * payload.
   * @param {string} text
   * @param {string} secret
   */
  #around(text, secret) {
    const at = text.indexOf(secret);
    return `${this.#masked(text.slice(0, at)).slice(-80)}[here]${this.#masked(text.slice(at + secret.length)).slice(0, 40)}`;
  }

  /** @param {string} text */
  #masked(text) {
    let masked = text.replace(/[A-Za-z0-9_-]+/g, (piece) =>
      this.#pieces.has(piece) ? "[here]" : piece,
    );
    for (const value of this.#odd.keys()) masked = masked.replaceAll(value, "[here]");
    return masked;
  }
}

/** @param {string} text */
function cut(text) {
  return text.split(/[^A-Za-z0-9_-]+/).filter((piece) => piece.length >= SHORTEST);
}

/** @param {string} text */
function decode(text) {
  return text.replace(/%[0-7][0-9a-f]/gi, (escape) =>
    String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  );
}

/**
 * Without the letters of escapes, as in `\n` and `\u003c`, which would pass for a secret's own.
 * @param {string} text
 */
function unescaped(text) {
  return text.replace(/\\(?:u[0-9a-f]{4}|[a-z])/gi, " ");
}

/**
 * @param {Awaited<ReturnType<typeof scan>>} result
 * @returns {string}
 */
export function formatScan({ secrets, tooShort, looked, characters, leaks }) {
  const list = (/** @type {Record<string, number>} */ counts) =>
    Object.entries(counts)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `${String(count)} ${name}`)
      .join(", ");
  return [
    `secrets: ${list(secrets) || "none"}; not looked for, since they are too short: ${String(tooShort)}`,
    `looked through, each only once: ${list(looked) || "nothing"}; ${(characters / 1e6).toFixed(1)} million characters`,
    `found: ${leaks.length === 0 ? "none" : String(leaks.length)}`,
    ...leaks
      .slice(0, 40)
      .map(({ kind, where, around: beside }) => `  ${kind} in ${where}: ${JSON.stringify(beside)}`),
  ].join("\n");
}

if (process.argv[1] === import.meta.filename) {
  const [folder = "", report] = process.argv.slice(2);
  const result = await scan(folder);
  console.log(formatScan(result));
  if (report !== undefined) writeFileSync(report, JSON.stringify(result, undefined, 2));
  process.exitCode = result.leaks.length === 0 ? 0 : 1;
}
