import { GUARDED_CACHE_CONTROL, varyByCookie } from "../../adapter.js";

/**
 * Keeps the response to a guarded request out of every cache: it sets
 * `Cache-Control: private, no-store`, unless the application set its own, and adds Cookie to Vary.
 * `idpRequired(handler)` calls it; after `await auth.guard(request)` the application calls it.
 *
 * @returns the response itself, or a copy if its headers cannot be changed, such as those of a
 *   redirect or of `fetch`
 */
export function keepPrivate<R extends Response>(response: R): R | Response {
  // 101 switches protocols: there is nothing to store, and a copy would lose the connection.
  if (response.status < 200) return response;
  try {
    setPrivate(response.headers);
    return response;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const { body, status, statusText } = response;
    const headers = new Headers(response.headers);
    setPrivate(headers);
    return new Response(body, { status, statusText, headers });
  }
}

function setPrivate(headers: Headers): void {
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", GUARDED_CACHE_CONTROL);
  const before = headers.get("Vary") ?? undefined;
  const after = varyByCookie(before);
  if (after !== before) headers.set("Vary", after);
}
