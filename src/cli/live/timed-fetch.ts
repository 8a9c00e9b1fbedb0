import type { Clock } from "../../clock.js";

/** When one request left and its answer came, and what the answer says of the time. */
export interface Exchange {
  readonly method: string;
  readonly status: number;
  /** The Date header. */
  readonly date: string | null;
  /** The Age header: a cache between has kept the answer for so long. */
  readonly age: string | null;
  /** Milliseconds of this machine's clock. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** A fetch that notes each exchange. The notes hold nothing but times. */
export function timedFetch(
  fetch: typeof globalThis.fetch,
  clock: Clock,
): { fetch: typeof globalThis.fetch; exchanges: readonly Exchange[] } {
  const exchanges: Exchange[] = [];
  return {
    exchanges,
    async fetch(input, init) {
      const sentAt = clock.now();
      const response = await fetch(input, init);
      const { headers } = response;
      exchanges.push({
        method: init?.method ?? "GET",
        status: response.status,
        date: headers.get("date"),
        age: headers.get("age"),
        sentAt,
        receivedAt: clock.now(),
      });
      return response;
    },
  };
}
