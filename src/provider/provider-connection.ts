import {
  allowInsecureRequests,
  customFetch,
  type Client,
  type ClientAuth,
  type CustomFetchOptions,
  type DPoPHandle,
} from "oauth4webapi";
import type { Clock } from "../clock.js";
import { SETTING_NAMES, type SettingNames } from "../config/setting-names.js";
import type { ProviderSettings } from "../config/setting-table.js";
import { ProviderUnavailableError } from "../errors.js";
import type { ProviderEvents } from "../events/event-hub.js";
import type { ProviderEndpoint } from "../events/events.js";
import type { LogEntry } from "../events/log.js";
import { demandsDpopNonce } from "../http/dpop-challenge.js";
import type { TokenTarget } from "../ports/provider.js";
import type { DpopBinding } from "../record/dpop.js";
import { lazily } from "../work/lazily.js";
import { asksForRetry, createBackOff, type BackOff, type FailureListener } from "./back-off.js";
import type { ProvenRequests } from "./dpop/proven-requests.js";
import type { OwnEndpoints } from "./endpoint-owners.js";
import {
  ADDRESS_REFUSED,
  createProviderHttp,
  errorCode,
  type ProviderHttp,
  type ProviderResponse,
} from "./http-to-provider.js";
import { createOperatorReports, type OperatorReports } from "./operator-reports.js";
import { USE_DPOP_NONCE } from "./response-meaning.js";

interface Call<Result, Received extends ProviderResponse = ProviderResponse> {
  readonly endpoint: ProviderEndpoint;
  readonly send: () => Promise<Received>;
  /**
   * Returns what the response contains.
   * @throws ProviderUnavailableError the response is an outage or shows a wrong configuration
   */
  readonly read: (response: Received) => Result;
  readonly backOff: FailureListener;
  /** Returns the log line of an outage; null for none. Default: the event's own line. */
  readonly line?: () => LogEntry | null | undefined;
}

/** Builds a request with the client's credentials: a function of oauth4webapi. */
export type ClientRequest = (
  client: Client,
  authentication: ClientAuth,
  options: RequestOptions,
) => Promise<Response>;

/** What oauth4webapi builds a request with. */
export interface RequestOptions {
  readonly [customFetch]: Send;
  readonly [allowInsecureRequests]: true;
  /** Adds a proof. Absent: the request has none. */
  readonly DPoP?: DPoPHandle;
}

/** What one request is sent with. */
export interface SentWith {
  /** The total deadline; default: the configured timeout. */
  readonly signal?: AbortSignal | undefined;
  /** The key that the tokens are bound to. Undefined: they are bearer tokens. */
  readonly dpop?: DpopBinding | undefined;
}

/** A response to a request that may have had a proof. */
export interface ClientResponse extends ProviderResponse {
  /** The key, and the newest nonce. Absent: the request had no proof. */
  readonly dpop?: DpopBinding;
  /** The request was repeated, because the provider demanded a nonce. */
  readonly isRepeated?: true;
}

/**
 * Returns the client's authentication at one endpoint.
 * @param signal ends the wait for a signature
 */
export type Authenticate = (
  endpoint: string,
  connection: ProviderConnection,
  signal: AbortSignal | undefined,
) => ClientAuth;

/** How a client authenticates. */
export interface ClientAuthentication {
  readonly authenticate: Authenticate;
  /** @throws ProviderUnavailableError `backing_off`: its key is left to refreshes now */
  assertReadyToSignIn(): void;
}

type Send = (
  url: string,
  options: Pick<CustomFetchOptions<"POST", URLSearchParams>, "headers"> & {
    readonly method: string;
    readonly body?: unknown;
  },
) => Promise<Response>;

export interface OpenIdProviderOptions {
  readonly settings: ProviderSettings;
  readonly clock: Clock;
  readonly events: ProviderEvents;
  /** Names the settings in log lines as this provider's are set. Default: those without a key. */
  readonly names?: SettingNames;
  /** Default Node's own. It must honour `redirect: "manual"`. */
  readonly fetch?: typeof fetch;
  /** Sends requests over connections that show the client's certificate, if it has one. */
  readonly certified?: typeof fetch | undefined;
  /** The APIs that access tokens are requested for; default none. */
  readonly targets?: readonly TokenTarget[];
  /** Tells its endpoints from those of other providers. Undefined: it is the only one. */
  readonly endpoints?: OwnEndpoints | undefined;
  /** Whether idpauth may use an address of the document. Default: any. */
  readonly allows?: ((address: URL) => boolean) | undefined;
  /** In [0, 1), for jitter; default `Math.random`. */
  readonly random?: () => number;
}

/**
 * What the parts of one provider share: its settings, and how they send requests and report
 * failures.
 */
export interface ProviderConnection extends OperatorReports {
  readonly settings: ProviderSettings;
  readonly clock: Clock;
  readonly events: ProviderEvents;
  readonly endpoints: OwnEndpoints | undefined;
  readonly allows: OpenIdProviderOptions["allows"];
  readonly random: () => number;
  readonly http: ProviderHttp;
  /** To the endpoints that ask who the client is: shows its certificate, if it has one. */
  readonly clientHttp: ProviderHttp;
  /** Returns a new back-off. */
  backOff(): BackOff;
  /** @throws ProviderUnavailableError `backing_off`: no sign-in may use the client's key now */
  assertReadyToSignIn(): void;
  /**
   * Sends a request with the client's credentials to one endpoint. oauth4webapi builds it; idpauth
   * reads the raw response.
   */
  sendAsClient(
    endpoint: string,
    build: ClientRequest,
    sentWith?: SentWith,
  ): Promise<ClientResponse>;
  /**
   * Sends a request that oauth4webapi builds. If the provider demands a nonce in the proof, the
   * request is repeated once with it (RFC 9449 section 8): a provider refuses the proof before it
   * looks at anything else.
   */
  sendBuilt(
    endpoint: string,
    build: (options: RequestOptions) => Promise<Response>,
    sentWith: SentWith,
  ): Promise<ClientResponse>;
  /**
   * Sends one request to the provider, and reads the response. If either fails, it emits the outage
   * and starts the back-off. Sends also during the back-off, so call `assertReady` first.
   *
   * @throws ProviderUnavailableError with the seconds of the back-off
   */
  call<Result, Received extends ProviderResponse>(call: Call<Result, Received>): Promise<Result>;
  /**
   * Sends a request that idpauth can do without. Every status is a response, also one that is an
   * outage.
   *
   * @throws ProviderUnavailableError no response, or the back-off blocks the request
   */
  callBestEffort(
    endpoint: "userinfo" | "revocation",
    backOff: BackOff,
    send: () => Promise<ProviderResponse>,
  ): Promise<ProviderResponse>;
}

/** @param authentication how the client authenticates */
export function createProviderConnection(
  {
    settings,
    clock,
    events,
    names = SETTING_NAMES,
    endpoints,
    allows,
    fetch = globalThis.fetch,
    certified,
    random = Math.random,
  }: OpenIdProviderOptions,
  { authenticate, assertReadyToSignIn }: ClientAuthentication,
): ProviderConnection {
  const timeout = settings.httpTimeout;
  const http = createProviderHttp({ clock, timeout, fetch });
  // Never without the certificate: a provider could give tokens that aren't bound to it.
  if (settings.clientCertificate !== null && certified === undefined)
    throw new TypeError("Nothing shows the client's certificate.");
  const clientHttp = certified ? createProviderHttp({ clock, timeout, fetch: certified }) : http;
  const loadProven = lazily(async (): Promise<ProvenRequests> => {
    const { createProvenRequests } = await import("./dpop/proven-requests.js");
    return createProvenRequests(clock);
  });
  // Now: later there may be no file descriptor left for it.
  if (settings.dpop) loadProven().catch(() => undefined);

  function backOff(): BackOff {
    return createBackOff(clock, random);
  }

  function sendAsClient(
    endpoint: string,
    build: ClientRequest,
    sentWith: SentWith = {},
  ): Promise<ClientResponse> {
    return sendBuilt(
      endpoint,
      (options) => {
        const authentication = authenticate(endpoint, connection, sentWith.signal);
        return build({ client_id: settings.clientId }, authentication, options);
      },
      sentWith,
    );
  }

  async function sendBuilt(
    endpoint: string,
    build: (options: RequestOptions) => Promise<Response>,
    { signal, dpop }: SentWith,
  ): Promise<ClientResponse> {
    const proven = dpop && (await (await loadProven()).create(endpoint, dpop));
    const send = async (): Promise<ProviderResponse> => {
      let response: ProviderResponse | undefined;
      await build({
        [customFetch]: async (url, { method, headers, body }) => {
          const request = { method, headers, ...(body instanceof URLSearchParams && { body }) };
          response = await clientHttp.send(url, request, signal);
          return new Response();
        },
        // discovery.ts has checked whether http is allowed.
        [allowInsecureRequests]: true,
        ...(proven && { DPoP: proven.handle }),
      });
      if (response === undefined) throw new TypeError("The library didn't send a request.");
      return response;
    };
    const response = await send();
    if (proven === undefined) return response;
    if (!demandsNonce(response) || !proven.demanded(response.headers)) {
      proven.received(response.headers);
      return { ...response, dpop: proven.binding() };
    }
    const repeated = await send();
    proven.received(repeated.headers);
    return { ...repeated, dpop: proven.binding(), isRepeated: true };
  }

  async function call<Result, Received extends ProviderResponse>(
    request: Call<Result, Received>,
  ): Promise<Result> {
    const { endpoint, send, read, backOff, line } = request;
    const startedAt = clock.monotonic();
    let response: Received | undefined;
    try {
      const result = await events.run({ name: "provider", endpoint }, async () => {
        response = await send();
        return read(response);
      });
      backOff.succeeded();
      return result;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      const { reason, cause, isMisconfiguration: misconfigured } = error;
      const duration = clock.monotonic() - startedAt;
      events.emit(
        "outage",
        { issuer: settings.issuer, side: "provider", endpoint, reason, duration },
        reason === ADDRESS_REFUSED ? refusedLine(endpoint) : line?.(),
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
  }

  function refusedLine(endpoint: ProviderEndpoint): LogEntry | null {
    const message = `The ${endpoint} address of this provider is refused, because it isn't public, or doesn't use https with port 443 or a port above 1023. If the provider is in your own network, set its option \`allowPrivateNetwork\`. If it is on this machine, for development or tests, list its host in the source's \`internalHosts\`.`;
    return connection.lineOf({ endpoint, reason: ADDRESS_REFUSED, message });
  }

  async function callBestEffort(
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
      return await call({ endpoint, backOff, send, read });
    } catch (error) {
      if (received === undefined) throw error;
      return received;
    }
  }

  const connection: ProviderConnection = {
    ...createOperatorReports(clock, events, names),
    settings,
    clock,
    events,
    endpoints,
    allows,
    random,
    http,
    clientHttp,
    backOff,
    assertReadyToSignIn,
    sendAsClient,
    sendBuilt,
    call,
    callBestEffort,
  };
  return connection;
}

/** Whether the provider refuses a proof for want of a nonce. */
function demandsNonce(response: ProviderResponse): boolean {
  const { status, headers } = response;
  return (
    (status === 400 || status === 401) &&
    (errorCode(response) === USE_DPOP_NONCE || demandsDpopNonce(headers.get("www-authenticate")))
  );
}
