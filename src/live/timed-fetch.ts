import type { Clock } from "../clock.js";

/** The times of one request and its response. */
export interface Exchange {
  readonly method: string;
  /** Where the request was sent. Only ever compared. */
  readonly address: string;
  readonly status: number;
  /** The Date header. */
  readonly date: string | null;
  /** The Age header: how long a cache has stored the response. */
  readonly age: string | null;
  /** Milliseconds since the epoch, by this machine's clock. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

export interface TimedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Returns another fetch function, whose requests are recorded with these. */
  readonly also: (fetch: typeof globalThis.fetch) => typeof globalThis.fetch;
  readonly exchanges: readonly Exchange[];
}

/** Returns a fetch function that records the times of each request. It records no content. */
export function timedFetch(fetch: typeof globalThis.fetch, clock: Clock): TimedFetch {
  const exchanges: Exchange[] = [];
  const timed =
    (send: typeof globalThis.fetch): typeof globalThis.fetch =>
    async (input, init) => {
      const sentAt = clock.now();
      const response = await send(input, init);
      const { headers } = response;
      exchanges.push({
        method: init?.method ?? "GET",
        address: input instanceof Request ? input.url : String(input),
        status: response.status,
        date: headers.get("date"),
        age: headers.get("age"),
        sentAt,
        receivedAt: clock.now(),
      });
      return response;
    };
  return { exchanges, fetch: timed(fetch), also: timed };
}
