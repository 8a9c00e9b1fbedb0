/** How every request to the provider is sent, and how its response is read. */
import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";
import { driverCode } from "../events/event-hub.js";
import { isObject, isTooDeep } from "../record/json.js";
import { within } from "../work/deadline.js";

/** Of a response's body, after decompression. */
export const MAX_RESPONSE_BYTES = 1024 * 1024;

/** The reason if a provider's address is one that idpauth doesn't connect to. Only a source has rules. */
export const ADDRESS_REFUSED = "address_refused";

/** A complete response of the provider as raw text. */
export interface ProviderResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface ProviderRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams;
}

/** Sends all requests to the provider. */
export interface ProviderHttp {
  /**
   * Sends one request and reads the complete response. Never follows a redirect, since it could
   * send a token to another server. Never repeats a request.
   *
   * @param signal the total deadline; default: connecting, headers and body together get the
   *   configured timeout
   * @throws ProviderUnavailableError `timeout`, `network`, `certificate`, `too_large` or
   *   `address_refused`. Every status code is a response
   */
  send(url: string, request: ProviderRequest, signal?: AbortSignal): Promise<ProviderResponse>;
}

/** The codes of Node and OpenSSL for a certificate that isn't accepted. */
const CERTIFICATE_CODE =
  /^(?:CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_|SELF_SIGNED_|UNABLE_TO_)/;

export interface ProviderHttpOptions {
  readonly clock: Clock;
  /** Seconds. */
  readonly timeout: number;
  readonly fetch: typeof fetch;
}

export function createProviderHttp({ clock, timeout, fetch }: ProviderHttpOptions): ProviderHttp {
  const receive = async (
    url: string,
    request: ProviderRequest,
    signal: AbortSignal,
  ): Promise<ProviderResponse> => {
    try {
      // untilAborted also ends the wait for a fetch that ignores its signal.
      return await untilAborted(signal, async () => {
        const response = await fetch(url, {
          ...(request as RequestInit),
          redirect: "manual",
          signal,
        });
        return {
          status: response.status,
          headers: response.headers,
          text: await limitedText(response),
        };
      });
    } catch (error) {
      if (error instanceof ProviderUnavailableError) throw error;
      if (signal.aborted) throw new ProviderUnavailableError("timeout");
      const reason = CERTIFICATE_CODE.test(driverCode(error)) ? "certificate" : "network";
      throw new ProviderUnavailableError(reason, { cause: error });
    }
  };
  return {
    async send(url, request, signal) {
      return signal === undefined
        ? withDeadline(clock, timeout, (deadline) => receive(url, request, deadline))
        : receive(url, request, signal);
    },
  };
}

/** Gives `task` a total of `seconds`. @throws ProviderUnavailableError `timeout` */
export function withDeadline<Result>(
  clock: Clock,
  seconds: number,
  task: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = () => new ProviderUnavailableError("timeout");
  return within(task, { clock, milliseconds: seconds * 1000, late });
}

/**
 * Reads the body up to the maximum size. `response.text()` would read an endless or highly
 * compressed body.
 */
async function limitedText(response: Response): Promise<string> {
  if (response.body === null) return "";
  // Drops a byte order mark, as a parser may (RFC 8259 section 8.1).
  const decoder = new TextDecoder("utf-8");
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
 * Returns the result of `task`, or rejects when the signal is aborted. The task itself may
 * continue.
 *
 * @throws ProviderUnavailableError `timeout`
 */
export function untilAborted<Result>(
  signal: AbortSignal | undefined,
  task: () => Promise<Result>,
): Promise<Result> {
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

/**
 * Parses the body as a JSON object, of any media type; undefined for anything else, and for
 * deep nesting.
 */
export function jsonObject({
  text,
}: {
  readonly text: string;
}): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && !isTooDeep(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the provider's `error` code if it has a valid form. Other text of the response is never
 * shown.
 */
export function errorCode(response: ProviderResponse): string | undefined {
  const error = jsonObject(response)?.["error"];
  return typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? error : undefined;
}
