import type { AsyncLocalStorage } from "node:async_hooks";
import type { AdapterSetup } from "idpauth-conformance";

/**
 * What a test asks this application to be. One build serves all tests of a process: each request
 * runs in the setup of the server that took it, and Next.js knows nothing of that.
 */
export interface Harness {
  readonly setups: AsyncLocalStorage<AdapterSetup>;
  /** Runs what an application does in `register()`; put here by instrumentation.ts. */
  start?: (setup: AdapterSetup) => unknown;
}

export const HARNESS = Symbol.for("idpauth.test.next");

export function harness(): Harness {
  return (globalThis as unknown as { [HARNESS]: Harness })[HARNESS];
}

export function setup(): AdapterSetup {
  const current = harness().setups.getStore();
  if (current === undefined) throw new Error("This request belongs to no setup.");
  return current;
}
