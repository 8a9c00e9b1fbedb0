// What docs/screenshots/ shows: the pictures that pages of the docs name. screenshots.mjs takes
// them and writes a hash of what each one shows to screenshots.json, and a test compares the hashes
// with today's pages.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { repliesOf } from "../test/pages/page-server.mjs";
import { root } from "./run.mjs";
import { hashOf } from "./source-hash.mjs";

/** @typedef {import("../test/pages/page-server.mjs").Parts} Parts */

/** Name of the picture -> the state in test/pages/states.mjs that it shows. */
export const STATES = {
  chooser: "chooser-two",
  sessions: "sessions-two",
  "index-signed-in": "index-signed-in-no-picture",
  "index-ended-at-provider": "index-ended-at-provider",
  "error-provider-unavailable": "error-provider-unavailable",
};

/** The picture of the demo's single-page application. */
export const DEMO_APP = "demo-app";

/** The hashes of what the pictures showed when they were taken. */
export const HASHES = path.join(root, "scripts/screenshots.json");

/**
 * @param {Parts} parts
 * @returns {Promise<Record<string, string>>} name of the picture -> hash of what it shows now: the
 *   page and its stylesheet, or the files of the demo's application
 */
export async function shownNow(parts) {
  const replies = repliesOf(parts, "https://app.example.com");
  const bodyOf = async (/** @type {string} */ address) => (await replies.get(address)?.())?.body;
  const style = await bodyOf("/idpauth/style.css");
  /** @type {Record<string, string>} */
  const hashes = { [DEMO_APP]: hashOf(demoApp()) };
  for (const [name, state] of Object.entries(STATES)) {
    const body = await bodyOf(`/${state}`);
    if (body === undefined || style === undefined) throw new Error(`There is no page ${state}.`);
    hashes[name] = hashOf([body, style]);
  }
  return hashes;
}

function demoApp() {
  const folder = path.join(root, "demo/app");
  return readdirSync(folder)
    .toSorted()
    .map((file) => readFileSync(path.join(folder, file), "utf8"));
}
