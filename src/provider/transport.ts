import { ProviderUnavailableError } from "../errors.js";
import type { Clock } from "../clock.js";

/** The maximum size of a response's body in bytes, after decompression. */
export const MAX_RESPONSE_BYTES = 1024 * 1024;

/** A complete response of the provider as raw text. */
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

/** Sends all requests to the provider. */
export interface Backchannel {
  /**
   * Sends one request and reads the complete response. Never follows a redirect, since it could send a token to another
   * server. Never repeats a request.
   *
   * @param signal the total deadline; default: connecting, headers and body together get the configured timeout
   * @throws ProviderUnavailableError `timeout`, `network` or `too_large`. Every status code is a response
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
    // untilAborted also ends the wait for a fetch that ignores its signal.
    return await untilAborted(signal, async () => {
      const response = await fetch(url, { ...(request as RequestInit), redirect: "manual", signal });
      return { status: response.status, headers: response.headers, text: await limitedText(response) };
    });
  } catch (error) {
    if (error instanceof ProviderUnavailableError) throw error;
    if (signal.aborted) throw new ProviderUnavailableError("timeout");
    throw new ProviderUnavailableError("network", { cause: error });
  }
}

/** Reads the body up to the maximum size. `response.text()` would read an endless or highly compressed body. */
async function limitedText(response: Response): Promise<string> {
  if (response.body === null) return "";
  // Keeps a byte order mark, so that JSON.parse refuses it (RFC 8259 section 8.1).
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
 * Returns the result of `task`, or rejects when the signal is aborted. The task itself may continue.
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
