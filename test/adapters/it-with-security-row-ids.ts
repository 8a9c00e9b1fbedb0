import { it } from "vitest";
import { adapterRequirements } from "../../packages/idpauth-conformance/src/adapter/requirements/index.js";

/** Rows of docs/evidence/security.json, by the area of the adapter requirements that show them. */
const ROWS_BY_AREA: Readonly<Record<string, readonly string[]>> = {
  callback: ["BCP-17"],
  cookie: ["ASVS-7.2.4", "BFF-3", "CK-4"],
  errors: ["ASVS-16.5.4"],
  "index page": ["BCP-11"],
  methods: ["BFF-4", "CK-8"],
  mounts: ["ASVS-10.2.1", "BCP-19"],
  origin: ["BCP-1"],
  proxy: ["BCP-13"],
  "store outage": ["ASVS-16.5.2"],
};

const unknown = Object.keys(ROWS_BY_AREA).filter(
  (area) => !adapterRequirements.some((requirement) => requirement.area === area),
);
if (unknown.length > 0)
  throw new Error(`No adapter requirement has the area ${unknown.join(", ")}.`);

/**
 * Registers an adapter requirement as a test. The test's name gets the ids of the rows that the
 * requirement's area shows.
 */
export function itWithRowIds(name: string, run: () => Promise<void>): void {
  const [area] = Object.keys(ROWS_BY_AREA).filter((each) => name.includes(` sessions, ${each}: `));
  const ids = area === undefined ? [] : (ROWS_BY_AREA[area] ?? []);
  it(`${ids.map((id) => `[${id}] `).join("")}${name}`, run);
}
