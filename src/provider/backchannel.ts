import type { CustomFetch } from "openid-client";
import { ProviderUnavailableError } from "../core/errors.js";
import type { Clock } from "../core/time.js";

/** Bytes of an answer's body, after decoding, beyond which it is no answer. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/** One whole answer of the provider, kept apart from the library that asked: what it means is decided on the raw text. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface BackchannelRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: NonNullable<Parameters<CustomFetch>[1]["body"]>;
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
  send(url: string, request: BackchannelRequest, signal?: AbortSignal): Promise<Answer>;
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

async function receive(fetch: typeof globalThis.fetch, url: string, request: BackchannelRequest, signal: AbortSignal): Promise<Answer> {
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
    if (bytes > MAX_ANSWER_BYTES) {
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

/** What came of a request that a library built and judged: the answer itself, and the library's opinion of it. */
export interface Asked<Result> {
  readonly answer: Answer;
  /** Undefined when the library rejected the answer. Its errors carry tokens, so they are dropped here. */
  readonly result: Result | undefined;
}

export interface AskOptions {
  /** As in {@link Backchannel.send}. */
  readonly signal?: AbortSignal | undefined;
  /** What the library is shown instead of the body. */
  readonly tidy?: (text: string) => string;
}

/**
 * Lets a library send one request through the backchannel and keeps the answer, which is needed whatever the library
 * thinks of it: a refresh token that was rotated must not be lost with an error.
 *
 * @param ask calls the library with the fetch to use
 * @throws ProviderUnavailableError as {@link Backchannel.send}
 */
export async function askThrough<Result>(
  backchannel: Backchannel,
  ask: (fetch: CustomFetch) => Promise<Result>,
  { signal, tidy = (text) => text }: AskOptions = {},
): Promise<Asked<Result>> {
  let answer: Answer | undefined;
  let failure: Error | undefined;
  const fetch: CustomFetch = async (url, { method, headers, body }) => {
    try {
      answer = await backchannel.send(url, { method, headers, ...(body !== null && body !== undefined && { body }) }, signal);
    } catch (error) {
      failure = error as Error;
      throw error;
    }
    return asResponse(answer, tidy);
  };
  let result: Result | undefined;
  try {
    result = await ask(fetch);
  } catch (error) {
    if (failure !== undefined) throw failure;
    // Rejected before anything was sent: not the provider's doing.
    if (answer === undefined) throw error;
  }
  if (answer === undefined) throw new TypeError("The library sent no request.");
  return { answer, result };
}

const NULL_BODY_STATUS = [204, 205, 304];

function asResponse({ status, headers, text }: Answer, tidy: (text: string) => string): Response {
  // A status that a Response cannot carry is an outage however it is named.
  const carried = status >= 200 && status <= 599 ? status : 502;
  const type = headers.get("content-type");
  return new Response(NULL_BODY_STATUS.includes(carried) ? null : tidy(text), {
    status: carried,
    ...(type !== null && { headers: { "content-type": type } }),
  });
}
