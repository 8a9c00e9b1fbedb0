// docs/evidence/peers.json: the results of the last whole run.
import { readFileSync, writeFileSync } from "node:fs";
import prettier from "prettier";

const FILE = new URL("../../docs/evidence/peers.json", import.meta.url);

/** @returns {import("./page.mjs").Results} */
export function readPeers() {
  return JSON.parse(readFileSync(FILE, "utf8"));
}

/** @param {import("./page.mjs").Results} results */
export async function keepPeers(results) {
  const options = await prettier.resolveConfig(FILE);
  const text = JSON.stringify(results);
  writeFileSync(FILE, await prettier.format(text, { ...options, parser: "json" }));
}
