/** The times of a refresh: who waits how long, and what holds for how long. */

/** Milliseconds that one refresh may take at the provider. */
export const REFRESH_LIMIT_MS = 30_000;

/**
 * Milliseconds that a request waits for a refresh, which goes on without it.
 *
 * @param httpTimeout `IDP_HTTP_TIMEOUT`, in seconds: a user waits no longer, even if the refresh
 *   sends several requests
 */
export function patienceMs(httpTimeout: number): number {
  return httpTimeout * 1000;
}

/** Milliseconds that one store operation may take. */
const STORE_LIMIT_MS = 2_000;

const SAFETY_MARGIN_MS = 2_000;

/**
 * Milliseconds after which another process takes over an unchanged lease. Its holder has stopped by
 * then: the duration covers the provider's deadline, the store operations after it and a margin,
 * counted from before the lease was written.
 */
export const LEASE_MS = REFRESH_LIMIT_MS + 4 * STORE_LIMIT_MS + SAFETY_MARGIN_MS;

/** Milliseconds after which no write begins: a write is one read and one replace. */
export const LAST_WRITE_MS = LEASE_MS - 2 * STORE_LIMIT_MS - SAFETY_MARGIN_MS;

/** Milliseconds between two attempts to write while the store is away. */
export const WRITE_AGAIN_MS = 250;

/**
 * Milliseconds between two looks at another process's lease; doubled from the first to the longest,
 * with jitter.
 */
export const LOOK_AGAIN_MS = { first: 50, longest: 1_000 };

/**
 * Milliseconds for which a rotated refresh token waits for a store that is away. It may be longer
 * than the lease, because no process can take over the lease while the store is away.
 */
export const ROTATED_TOKEN_MS = 300_000;
