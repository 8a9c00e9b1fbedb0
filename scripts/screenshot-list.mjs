// What docs/screenshots/ shows: the pictures that pages of the docs name. screenshots.mjs takes
// them and writes a hash of what each one shows to screenshots.json, and a test compares the hashes
// with today's pages.
import { readFileSync } from "node:fs";
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

/** The picture of the demo. */
export const DEMO = "demo";

/** What decides how the demo looks, besides the stylesheet. */
const DEMO_FILES = ["screen.ts", "style.ts", "public/demo.js"];

/** The hashes of what the pictures showed when they were taken. */
export const HASHES = path.join(root, "scripts/screenshots.json");

/**
 * @param {Parts} parts
 * @returns {Promise<Record<string, string>>} name of the picture -> hash of what it shows now: the
 *   page, or the files of the demo, and the stylesheet
 */
export async function shownNow(parts) {
  const replies = repliesOf(parts, "https://app.example.com");
  const bodyOf = async (/** @type {string} */ address) => (await replies.get(address)?.())?.body;
  const style = await bodyOf("/idpauth/style.css");
  /** @type {Record<string, string>} */
  const hashes = { [DEMO]: hashOf([...demoFiles(), style ?? ""]) };
  for (const [name, state] of Object.entries(STATES)) {
    const body = await bodyOf(`/${state}`);
    if (body === undefined || style === undefined) throw new Error(`There is no page ${state}.`);
    hashes[name] = hashOf([body, style]);
  }
  return hashes;
}

function demoFiles() {
  return DEMO_FILES.map((file) => readFileSync(path.join(root, "demo", file), "utf8"));
}
