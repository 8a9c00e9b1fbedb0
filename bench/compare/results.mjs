// docs/evidence/peers.json: the results of the last whole run.
import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("../../docs/evidence/peers.json", import.meta.url);

/** @returns {import("./page.mjs").Results} */
export function readPeers() {
  return JSON.parse(readFileSync(FILE, "utf8"));
}

/** @param {import("./page.mjs").Results} results */
export function keepPeers(results) {
  writeFileSync(FILE, `${JSON.stringify(results, undefined, 2)}\n`);
}
