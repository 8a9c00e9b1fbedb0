// The plan of faults: one after the other, with quiet times between.

/**
 * Seconds after the end of a fault in which the fault can still cause a 503. idpauth backs off from
 * a failing endpoint for up to 30 s, and ends a refresh that hangs after 30 s.
 */
export const AFTERMATH = 32;

/**
 * Seconds after the API has dropped its connections in which a response can be 502, or seem broken
 * off.
 */
export const API_AFTERMATH = 3;

/**
 * Seconds after the provider has spent refresh tokens whose successors got lost: it refuses each of
 * them at its session's next refresh, which ends the session, and with it what the user has open.
 */
export const LOST_TOKENS_AFTERMATH = AFTERMATH;

/** Seconds between the starts of two faults. The whole plan takes 14.5 minutes. */
export const EVERY = 53;

/**
 * @typedef {object} Wrong
 * @property {string} name
 * @property {number} seconds how long the fault lasts
 * @property {boolean} [isOfApi] the API's connections break, and what passes over them
 * @property {boolean} [losesTokens] the provider refreshes, but its response doesn't arrive
 * @property {() => unknown} begin
 * @property {() => unknown} [end]
 */

/**
 * @param {any} provider the test provider
 * @param {{ pause(): void, resume(): void, dropConnections(): Promise<unknown> }} store
 * @param {{ dropConnections(): void }} api
 * @returns {readonly Wrong[]}
 */
export function faults(provider, store, api) {
  /**
   * @param {string} endpoint
   * @param {{ kind: string, status?: number, ms?: number, before?: boolean, headers?: Record<string, string> }}
   *   fault
   * @param {number} seconds
   */
  const at = (endpoint, fault, seconds) => ({
    name: `${endpoint}: ${fault.kind}${fault.status === undefined ? "" : ` ${String(fault.status)}`}`,
    seconds,
    losesTokens: fault.before === false,
    begin: () => provider.fault(endpoint, fault),
    end: () => provider.clearFaults(),
  });
  return [
    at("token", { kind: "status", status: 503, headers: { "Retry-After": "3" } }, 8),
    {
      name: "store: stands still",
      seconds: 5,
      begin: () => store.pause(),
      end: () => store.resume(),
    },
    {
      name: "API: connections dropped",
      seconds: 1,
      isOfApi: true,
      begin: () => api.dropConnections(),
    },
    at("token", { kind: "hang" }, 8),
    {
      name: "keys: rotated, the old one gone",
      seconds: 1,
      begin: () => provider.rotateKeys({ keepOld: false }),
    },
    at("token", { kind: "delay", ms: 2000 }, 10),
    { name: "store: connections dropped", seconds: 1, begin: () => store.dropConnections() },
    at("token", { kind: "reset", before: false }, 4),
    at("jwks", { kind: "status", status: 500 }, 8),
    at("revoke", { kind: "hang" }, 8),
    at("token", { kind: "oversized" }, 5),
    at("token", { kind: "garbage" }, 5),
    at("token", { kind: "status", status: 429, headers: { "Retry-After": "2" } }, 6),
    at("discovery", { kind: "status", status: 500 }, 8),
    at("token", { kind: "drip", ms: 50, before: false }, 8),
    {
      name: "the provider is gone",
      seconds: 6,
      begin: () => provider.pause(),
      end: () => provider.resume(),
    },
  ];
}
