import type { Clock } from "../clock.js";
import { ERRORS, IdpAuthError } from "../errors.js";
import type { Api } from "../config/api-options.js";
import { upstreamUrl } from "./target.js";
import { apiTimeout, asApiError } from "./transport.js";

/** What a request of the application to an API needs. */
export interface FetchApiPorts {
  readonly send: typeof fetch;
  readonly clock: Clock;
  /**
   * Returns the user's token.
   * @param rejected the token to which the API has responded 401. The same one is returned if there
   *   can be no other
   */
  token(rejected?: string): Promise<string>;
}

/**
 * Sends a request of the application with the user's token, and once more if the API rejects the
 * token. It follows no redirect.
 *
 * @param path path and query below the API's `url`, without a leading slash
 * @throws IdpAuthError `api_path_invalid`, `method_not_allowed`, `api_unreachable`, `api_timeout`:
 *   no headers within the API's `timeout`; what `token` throws
 */
export async function fetchApi(
  api: Api,
  path: string,
  init: RequestInit,
  { send, clock, token }: FetchApiPorts,
): Promise<Response> {
  const url = upstreamUrl(api, path);
  if (!(url instanceof URL)) throw new IdpAuthError(url.code, url.detail);
  const method = (init.method ?? "GET").toUpperCase();
  if (!api.methods.includes(method))
    throw new IdpAuthError("method_not_allowed", `${ERRORS.method_not_allowed.title}.`);
  const sendWith = (value: string): Promise<Response> => {
    const headers = new Headers(init.headers);
    for (const [name, constant] of Object.entries(api.requestHeaders))
      if (constant !== true) headers.set(name, constant);
    headers.set("authorization", `Bearer ${value}`);
    const late = new AbortController();
    const cancel = clock.timer(api.timeout * 1000, late.abort.bind(late, apiTimeout()));
    const signal = AbortSignal.any([late.signal, init.signal ?? []].flat());
    const options = {
      ...init,
      method,
      headers,
      signal,
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
    } as const;
    return send(
      url.href,
      init.body instanceof ReadableStream ? Object.assign(options, { duplex: "half" }) : options,
    )
      .catch((error: unknown) => {
        throw init.signal?.aborted === true ? error : asApiError(error);
      })
      .finally(cancel);
  };
  const first = await token();
  const response = await sendWith(first);
  if (response.status !== 401) return response;
  const fresh = await token(first);
  if (fresh === first || init.body instanceof ReadableStream) return response;
  await response.body?.cancel();
  return sendWith(fresh);
}
