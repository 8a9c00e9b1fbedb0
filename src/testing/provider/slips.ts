import { ENDPOINTS, type Endpoint } from "./received-requests.js";
import type { Fault } from "./faults.js";

/**
 * What the compiler says to TypeScript, said to JavaScript: a fault that never strikes and an option that nobody reads make a
 * test that proves nothing.
 */
const KINDS: Readonly<Record<Fault["kind"], true>> = {
  status: true,
  hang: true,
  reset: true,
  delay: true,
  garbage: true,
  oversized: true,
  redirect: true,
  drip: true,
  "wrong-type": true,
  truncated: true,
};

/** @throws TypeError */
export function assertEndpoint(endpoint: Endpoint): void {
  if (!ENDPOINTS.includes(endpoint)) throw new TypeError(`There is no endpoint ${shown(endpoint)}; there are ${ENDPOINTS.join(", ")}.`);
}

/** @throws TypeError */
export function assertFault(fault: Fault): void {
  const kind: unknown = (fault as Fault | undefined)?.kind;
  if (typeof kind === "string" && Object.hasOwn(KINDS, kind)) return;
  throw new TypeError(`There is no fault of the kind ${shown(kind)}; there are ${Object.keys(KINDS).join(", ")}.`);
}

/** @throws TypeError */
export function assertSettings(given: object, known: object): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined)
    throw new TypeError(`A test provider has no option ${shown(unknown)}; there are ${Object.keys(known).join(", ")}.`);
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : typeof value;
}
