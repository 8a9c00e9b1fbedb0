import { ProviderUnavailableError } from "../errors.js";
import type { Clock } from "../clock.js";

/** Bytes of an answer's body, after decoding, beyond which it is no answer. */
export const MAX_RESPONSE_BYTES = 1024 * 1024;

/** One whole answer of the provider, kept apart from the library that asked: what it means is decided on the raw text. */
export interface ProviderResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface BackchannelRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams;
}

/** The one way in which this process talks to the provider. */
export interface Backchannel {
  /**
   * Sends one request and reads the whole answer. Never follows a redirect, since that could carry a token to another
   * host, and never tries twice.
   *
   * @param signal the total deadline; default: connecting, headers and body together get the configured timeout
   * @throws ProviderUnavailableError `timeout`, `network` or `too_large`; a status code of any kind is an answer
   */
  send(url: string, request: BackchannelRequest, signal?: AbortSignal): Promise<ProviderResponse>;
}

export interface BackchannelOptions {
  readonly clock: Clock;
  /** Seconds. */
  readonly timeout: number;
  readonly fetch: typeof fetch;
}

export function createBackchannel({ clock, timeout, fetch }: BackchannelOptions): Backchannel {
  return {
    async send(url, request, signal) {
      if (signal !== undefined) return receive(fetch, url, request, signal);
      return withDeadline(clock, timeout, (deadline) => receive(fetch, url, request, deadline));
    },
  };
}

/** Runs `task` with a signal that is aborted after `seconds` of the clock. */
export async function withDeadline<Result>(clock: Clock, seconds: number, task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const deadline = new AbortController();
  const cancel = clock.timer(seconds * 1000, () => {
    deadline.abort();
  });
  try {
    return await task(deadline.signal);
  } finally {
    cancel();
  }
}

async function receive(
  fetch: typeof globalThis.fetch,
  url: string,
  request: BackchannelRequest,
  signal: AbortSignal,
): Promise<ProviderResponse> {
  try {
    // The race also ends the wait for a fetch that does not look at its signal.
    return await untilAborted(signal, async () => {
      const response = await fetch(url, { ...(request as RequestInit), redirect: "manual", signal });
      return { status: response.status, headers: response.headers, text: await cappedText(response) };
    });
  } catch (error) {
    if (error instanceof ProviderUnavailableError) throw error;
    if (signal.aborted) throw new ProviderUnavailableError("timeout");
    throw new ProviderUnavailableError("network", { cause: error });
  }
}

/** `response.text()` would take in whatever comes, also an endless or much compressed body. */
async function cappedText(response: Response): Promise<string> {
  if (response.body === null) return "";
  // Keeps a byte order mark, which JSON must not have (RFC 8259 section 8.1).
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  let bytes = 0;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) {
      reader.cancel().catch(() => undefined);
      throw new ProviderUnavailableError("too_large");
    }
    text += decoder.decode(value, { stream: true });
  }
}

/**
 * The result of `task`, or a rejection as soon as the signal is aborted; the task itself may go on.
 *
 * @throws ProviderUnavailableError `timeout`
 */
export function untilAborted<Result>(signal: AbortSignal | undefined, task: () => Promise<Result>): Promise<Result> {
  if (signal === undefined) return task();
  if (signal.aborted) return Promise.reject(new ProviderUnavailableError("timeout"));
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(new ProviderUnavailableError("timeout"));
    };
    signal.addEventListener("abort", abort, { once: true });
    task()
      .finally(() => {
        signal.removeEventListener("abort", abort);
      })
      .then(resolve, reject);
  });
}
