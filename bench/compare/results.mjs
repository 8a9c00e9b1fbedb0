// docs/evidence/peers.json: the results of the last whole run.
import { keepEvidence, readEvidence } from "../../scripts/evidence/files.mjs";

/** @returns {import("./report.mjs").Results} */
export function readPeers() {
  return readEvidence("peers");
}

/** @param {import("./report.mjs").Results} results */
export async function keepPeers(results) {
  await keepEvidence("peers", results);
}
