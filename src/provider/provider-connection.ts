import {
  allowInsecureRequests,
  customFetch,
  type Client,
  type ClientAuth,
  type CustomFetchOptions,
} from "oauth4webapi";
import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";
import type { ProviderEvents } from "../events/event-hub.js";
import type { ProviderEndpoint } from "../events/events.js";
import type { LogEntry } from "../events/log.js";
import type { TokenTarget } from "../ports/provider.js";
import { isObject, isTooDeep } from "../record/json.js";
import { within } from "../work/deadline.js";
import { createSlots } from "../work/slots.js";
import {
  asksForRetry,
  createBackOff,
  SIGNATURE_FAILED,
  type BackOff,
  type FailureListener,
} from "./back-off.js";
import type { OwnEndpoints } from "./endpoint-owners.js";
import type { ProviderSettings } from "./provider-settings.js";

/** The maximum size of a response's body in bytes, after decompression. */
export const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Milliseconds that a sign-in waits until it may sign. Our decision. */
const SIGNATURE_PATIENCE = 2_000;

/** Milliseconds between two log lines of one doubt. */
const DOUBT_MS = 60_000;

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
   * Sends one request and reads the complete response. Never follows a redirect, since it could
   * send a token to another server. Never repeats a request.
   *
   * @param signal the total deadline; default: connecting, headers and body together get the
   *   configured timeout
   * @throws ProviderUnavailableError `timeout`, `network` or `too_large`. Every status code is a
   *   response
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
  const receive = async (
    url: string,
    request: BackchannelRequest,
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
      throw new ProviderUnavailableError("network", { cause: error });
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
  return within(clock, seconds * 1000, task, () => new ProviderUnavailableError("timeout"));
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
}: Pick<ProviderResponse, "text">): Readonly<Record<string, unknown>> | undefined {
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

/** A wrong configuration: an operator, or the provider, must change it. */
export interface Misconfiguration {
  readonly endpoint: ProviderEndpoint | "authorization";
  /** A stable word: `issuer_mismatch`, `invalid_client`, `id_token_encrypted`, … */
  readonly reason: string;
  /** The cause and the remedy, for the operator. Never contains a secret. */
  readonly message: string;
  readonly status?: number | undefined;
}

interface Call<Result> {
  readonly endpoint: ProviderEndpoint;
  readonly send: () => Promise<ProviderResponse>;
  /**
   * Returns what the response contains.
   * @throws ProviderUnavailableError the response is an outage or shows a wrong configuration
   */
  readonly read: (response: ProviderResponse) => Result;
  readonly backOff: FailureListener;
  /** Returns the log line of an outage; null for none. Default: the event's own line. */
  readonly line?: () => LogEntry | null | undefined;
}

/** Builds a request with the client's credentials: a function of oauth4webapi. */
export type ClientRequest = (
  client: Client,
  authentication: ClientAuth,
  options: { readonly [customFetch]: Send; readonly [allowInsecureRequests]: true },
) => Promise<Response>;

/**
 * Returns the client's authentication at one endpoint.
 * @param signal ends the wait for a signature
 */
export type Authenticate = (
  endpoint: string,
  connection: ProviderConnection,
  signal: AbortSignal | undefined,
) => ClientAuth;

type Send = (
  url: string,
  options: CustomFetchOptions<"POST", URLSearchParams>,
) => Promise<Response>;

export interface OpenIdProviderOptions {
  readonly settings: ProviderSettings;
  readonly clock: Clock;
  readonly events: ProviderEvents;
  /** Default Node's own. It must honour `redirect: "manual"`. */
  readonly fetch?: typeof fetch;
  /** The APIs that access tokens are requested for; default none. */
  readonly targets?: readonly TokenTarget[];
  /** Tells its endpoints from those of other providers. Undefined: it is the only one. */
  readonly endpoints?: OwnEndpoints | undefined;
  /** In [0, 1), for jitter; default `Math.random`. */
  readonly random?: () => number;
}

export type ProviderConnection = ReturnType<typeof createProviderConnection>;

/**
 * What the parts of one provider share: its settings, and how they send requests and report
 * failures.
 *
 * @param authenticate how the client authenticates at an endpoint
 */
// eslint-disable-next-line max-lines-per-function -- A factory: small functions that share its variables.
export function createProviderConnection(
  {
    settings,
    clock,
    events,
    endpoints,
    fetch = globalThis.fetch,
    random = Math.random,
  }: OpenIdProviderOptions,
  authenticate: Authenticate,
) {
  /** The reasons of the reported misconfigurations by endpoint. */
  const reported = new Map<string, Set<string>>();
  /** When each doubt had its last line, on the clock's `monotonic()`. */
  const doubtedAt = new Map<string, number>();
  const connection = {
    settings,
    clock,
    events,
    endpoints,
    random,
    backchannel: createBackchannel({ clock, timeout: settings.httpTimeout, fetch }),
    /** Returns a new back-off. */
    backOff: () => createBackOff(clock, random),
    /**
     * The signatures of sign-ins. Strangers can start any number, so they use at most half of those
     * at a time: refreshes may use as many.
     */
    signInSignatures: createSlots({
      limit: settings.refreshConcurrency,
      reason: SIGNATURE_FAILED,
      clock,
      patience: SIGNATURE_PATIENCE,
    }),

    /**
     * Sends a request with the client's credentials to one endpoint. oauth4webapi builds it;
     * idpauth reads the raw response.
     */
    async sendAsClient(
      endpoint: string,
      build: ClientRequest,
      signal?: AbortSignal,
    ): Promise<ProviderResponse> {
      let response: ProviderResponse | undefined;
      const send: Send = async (url, { method, headers, body }) => {
        response = await connection.backchannel.send(url, { method, headers, body }, signal);
        return new Response();
      };
      // discovery.ts has checked whether http is allowed.
      const authentication = authenticate(endpoint, connection, signal);
      await build({ client_id: settings.clientId }, authentication, {
        [customFetch]: send,
        [allowInsecureRequests]: true,
      });
      if (response === undefined) throw new TypeError("The library didn't send a request.");
      return response;
    },

    /**
     * Sends one request to the provider, and reads the response. If either fails, it emits the
     * outage and starts the back-off. Sends also during the back-off, so call `assertReady` first.
     *
     * @throws ProviderUnavailableError with the seconds of the back-off
     */
    async call<Result>({ endpoint, send, read, backOff, line }: Call<Result>): Promise<Result> {
      const startedAt = clock.monotonic();
      let response: ProviderResponse | undefined;
      try {
        response = await send();
        const result = read(response);
        backOff.succeeded();
        return result;
      } catch (error) {
        if (!(error instanceof ProviderUnavailableError)) throw error;
        const { reason, cause, isMisconfiguration: misconfigured } = error;
        const duration = clock.monotonic() - startedAt;
        events.emit(
          "outage",
          { issuer: settings.issuer, side: "provider", endpoint, reason, duration },
          line?.(),
        );
        const asked = response?.headers.get("retry-after");
        const retryAfter = backOff.failed(startedAt, {
          reason,
          status: response?.status,
          retryAfter: asked,
          misconfigured,
        });
        throw new ProviderUnavailableError(reason, { retryAfter, cause, misconfigured });
      }
    },

    /**
     * Sends a request that idpauth can do without. Every status is a response, also one that is an
     * outage.
     *
     * @throws ProviderUnavailableError no response, or the back-off blocks the request
     */
    async callBestEffort(
      endpoint: "userinfo" | "revocation",
      backOff: BackOff,
      send: () => Promise<ProviderResponse>,
    ): Promise<ProviderResponse> {
      backOff.assertReady();
      let received: ProviderResponse | undefined;
      const read = (response: ProviderResponse) => {
        received = response;
        if (asksForRetry(response.status))
          throw new ProviderUnavailableError(`http_${String(response.status)}`);
        return response;
      };
      try {
        return await connection.call({
          endpoint,
          backOff: {
            succeeded: backOff.succeeded,
            failed: (startedAt, failure) =>
              failure.reason === SIGNATURE_FAILED ? 1 : backOff.failed(startedAt, failure),
          },
          send,
          read,
        });
      } catch (error) {
        if (received === undefined) throw error;
        return received;
      }
    },

    warn(
      endpoint: "userinfo" | "revocation",
      message: string,
      details: Record<string, string | number>,
    ): void {
      events.log({
        level: "warn",
        code: "provider_unavailable",
        message,
        details: { endpoint, ...details },
      });
    },

    /**
     * Returns the log line of a misconfiguration; null if it is already reported, and its endpoint
     * has not worked since.
     */
    lineOf({ endpoint, reason, message, status }: Misconfiguration): LogEntry | null {
      const reasons = reported.get(endpoint) ?? new Set();
      reported.set(endpoint, reasons);
      if (reasons.has(reason)) return null;
      reasons.add(reason);
      const details = { endpoint, reason, ...(status !== undefined && { status }) };
      return { level: "error", code: "provider_misconfigured", message, details };
    },

    /** Writes the log line, unless this cause has one already. @returns the error to throw */
    misconfigured(cause: Misconfiguration): ProviderUnavailableError {
      const line = connection.lineOf(cause);
      if (line !== null) events.log(line);
      return new ProviderUnavailableError(cause.reason, { misconfigured: true });
    },

    /**
     * Writes the log line of what concerns every session and is noticed at each one: at most one a
     * minute for each reason.
     *
     * @returns the error to throw
     */
    doubted({ endpoint, reason, message }: Misconfiguration): ProviderUnavailableError {
      const now = clock.monotonic();
      if (now - (doubtedAt.get(reason) ?? -Infinity) >= DOUBT_MS) {
        doubtedAt.set(reason, now);
        const details = { endpoint, reason };
        events.log({ level: "error", code: "provider_misconfigured", message, details });
      }
      return new ProviderUnavailableError(reason, { misconfigured: true });
    },

    /** Reports that the endpoint works. A misconfiguration that returns later is reported again. */
    resolved(endpoint: Misconfiguration["endpoint"]): void {
      reported.delete(endpoint);
    },
  };
  return connection;
}
