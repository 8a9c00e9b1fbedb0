/** The origins of the kit's servers that speak TLS, in this process; also of those that have ended. */
const origins = new Set<string>();

export function addTlsOrigin(origin: string): void {
  origins.add(origin);
}

/**
 * Whether an origin is a server of the kit that speaks TLS. The kit's browser speaks to any other
 * https origin in plain HTTP, because an application under test has no TLS of its own.
 */
export function isTlsOrigin(origin: string): boolean {
  return origins.has(origin);
}
