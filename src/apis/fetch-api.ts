import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import { ERRORS, IdpAuthError } from "../errors.js";
import { demandsDpopNonce, refusesDpopProof } from "../http/dpop-challenge.js";
import type { Operations } from "../ports/observer.js";
import type { AccessToken } from "../record/dpop.js";
import { noncesOf } from "./api-nonces.js";
import { upstreamUrl } from "./api-url.js";
import { authorization } from "./request-headers.js";
import { loadProvenRequests, sendWithToken } from "./request-steps.js";
import { sendObserved } from "./trace-headers.js";
import { apiTimeout, asApiError } from "./transport.js";

/** A request of the application to an API. */
export interface ApplicationRequest {
  readonly api: Api;
  /** Path and query below the API's `url`, without a leading slash. */
  readonly path: string;
  readonly init: RequestInit;
}

/** One that does not go over the runtime's `fetch`. */
export interface StreamRequest {
  readonly api: Api;
  readonly url: URL;
  readonly init: RequestInit;
}

/** What a request of the application to an API needs. */
export interface FetchApiPorts {
  readonly send: typeof fetch;
  /**
   * Sends a request whose body is a stream, where `send` would keep it in memory, and one to an API
   * with a `dispatcher` or a certificate.
   */
  sendStream?(request: StreamRequest, clock: Clock): Promise<Response>;
  readonly clock: Clock;
  readonly events: Operations;
  /**
   * Returns the user's token. Called again after the API has responded, it looks at the session
   * again.
   * @param rejected the token to which the API has responded 401. The same one is returned if there
   *   can be no other
   */
  token(rejected?: string): Promise<AccessToken>;
}

/**
 * Sends a request of the application with the user's token, and once more if the API rejects the
 * token. It follows no redirect.
 *
 * @throws IdpAuthError `api_path_invalid`, `method_not_allowed`, `api_unreachable`,
 *   `api_response_invalid`, `api_timeout`: no headers within the API's `timeout`; what `token` throws
 */
export async function fetchApi(
  { api, path, init }: ApplicationRequest,
  { send, sendStream, clock, events, token }: FetchApiPorts,
): Promise<Response> {
  const url = upstreamUrl(api, path);
  if (!(url instanceof URL)) throw new IdpAuthError(url.code, url.detail);
  const method = (init.method ?? "GET").toUpperCase();
  if (!api.methods.includes(method))
    throw new IdpAuthError("method_not_allowed", `${ERRORS.method_not_allowed.title}.`);
  const isStream = isStreamBody(init.body);
  const sendWith = async (used: AccessToken, nonce?: string): Promise<Response> => {
    const headers = new Headers(init.headers);
    for (const [name, constant] of Object.entries(api.requestHeaders))
      if (constant !== true) headers.set(name, constant);
    headers.set("authorization", authorization(used));
    // As with the token, an application may have copied the headers of its own request.
    headers.delete("dpop");
    if (used.dpopKey !== undefined) {
      const { proofOf } = await loadProvenRequests();
      const proven = { method, url, accessToken: used.value, nonce };
      headers.set("dpop", await proofOf(used.dpopKey, proven, clock));
    }
    return observed(headers);
  };
  const observed = (headers: Headers): Promise<Response> =>
    events.run({ name: "api", api: api.api, method, url: api.url }, (observation) =>
      observation === undefined
        ? sendHeaders(headers)
        : sendObserved(headers, () => sendHeaders(headers), observation),
    );
  const sendHeaders = (headers: Headers): Promise<Response> => {
    const options = {
      ...init,
      method,
      headers,
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
    } as const;
    const isCertified = api.certificate !== undefined;
    const isOurs = isStream || api.dispatcher !== undefined || isCertified;
    const { dispatcher } = init as { readonly dispatcher?: unknown };
    if (isCertified && (dispatcher !== undefined || sendStream === undefined))
      throw new TypeError("Another dispatcher wouldn't show the API's certificate.");
    // What belongs to the runtime's `fetch`, such as a dispatcher of its undici, needs that.
    if (isOurs && sendStream !== undefined && dispatcher === undefined)
      return sendStream({ api, url, init: options }, clock);
    const late = new AbortController();
    const cancel = clock.timer(api.timeout * 1000, late.abort.bind(late, apiTimeout()));
    const signal = AbortSignal.any([late.signal, init.signal ?? []].flat());
    // The types for browsers don't know `duplex`.
    const sent = Object.assign({}, options, { signal }, isStream && { duplex: "half" });
    return send(url.href, sent)
      .catch((error: unknown) => {
        throw init.signal?.aborted === true ? error : asApiError(error);
      })
      .finally(cancel);
  };
  const sent = await sendWithToken<Response>({
    canRepeat: !isStream,
    token,
    tokenAgain: token,
    send: sendWith,
    nonces: noncesOf(api, url, ({ headers }) => headers.get("dpop-nonce")),
    demandsNonce,
    // Another token would have as bad a proof.
    isRejected: (response) =>
      response.status === 401 &&
      !demandsNonce(response) &&
      !refusesDpopProof(response.headers.get("www-authenticate")),
    discard: ({ body }) => body?.cancel(),
  });
  return sent.response;
}

function demandsNonce({ status, headers }: Response): boolean {
  return status === 401 && demandsDpopNonce(headers.get("www-authenticate"));
}

/**
 * Whether a body is read only once: a stream of the Web, or what else gives chunks, as on Node.js.
 */
export function isStreamBody(body: unknown): boolean {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
