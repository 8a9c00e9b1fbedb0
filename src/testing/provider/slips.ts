import { ENDPOINTS, type Endpoint } from "./received-requests.js";
import type { Fault } from "./faults.js";

/**
 * What the compiler says to TypeScript, said to JavaScript: a fault that never strikes and an option that nobody reads make a
 * test that proves nothing.
 */
const FAULTS: { readonly [Kind in Fault["kind"]]: readonly (keyof Extract<Fault, { kind: Kind }>)[] } = {
  status: ["status", "body", "headers"],
  hang: [],
  reset: [],
  delay: ["ms"],
  garbage: ["body"],
  oversized: ["bytes"],
  redirect: ["status", "location"],
  drip: ["ms", "body"],
  "wrong-type": ["headers", "body"],
  truncated: ["bytes", "body"],
};
const OF_EVERY_FAULT: readonly (keyof Fault)[] = ["kind", "before", "times", "when"];

/** @throws TypeError */
export function assertEndpoint(endpoint: Endpoint): void {
  if (!ENDPOINTS.includes(endpoint)) throw new TypeError(`There is no endpoint ${shown(endpoint)}; there are ${ENDPOINTS.join(", ")}.`);
}

/** @throws TypeError */
export function assertFault(fault: Fault): void {
  const kind: unknown = (fault as Fault | undefined)?.kind;
  if (typeof kind !== "string" || !Object.hasOwn(FAULTS, kind)) {
    throw new TypeError(`There is no fault of the kind ${shown(kind)}; there are ${Object.keys(FAULTS).join(", ")}.`);
  }
  const known: readonly string[] = [...OF_EVERY_FAULT, ...FAULTS[fault.kind]];
  const unknown = Object.keys(fault).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`A fault of the kind "${kind}" has no ${shown(unknown)}; it has ${known.join(", ")}.`);
}

/** @throws TypeError */
export function assertIssuerPath(path: unknown): void {
  if (path === "" || (typeof path === "string" && /^\/[^?#\s]*$/.test(path))) return;
  throw new TypeError("The option `issuerPath` is empty or a path, such as /tenant.");
}

/** Beside the settings. */
const OTHER_OPTIONS = ["person", "people", "clock", "issuerPath"];

/** @throws TypeError */
export function assertSettings(given: object, known: object): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined)
    throw new TypeError(
      `A test provider has no option ${shown(unknown)}; there are ${[...Object.keys(known), ...OTHER_OPTIONS].join(", ")}.`,
    );
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : typeof value;
}
