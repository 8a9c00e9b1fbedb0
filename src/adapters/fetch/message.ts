import type { IdpRequest, Reply } from "../../index.js";

/** A Request of the Fetch standard, as servers of that style hand it over. Reads what it is asked for, and only then. */
export class WebRequest implements IdpRequest {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  /** Most servers resolve dot segments before; a fragment is never part of it. */
  get target(): string {
    const { url } = this.#request;
    // Bun gives the bare target where the Host header is no host name.
    const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
    if (start < 0) return "/";
    const end = url.indexOf("#", start);
    return end < 0 ? url.slice(start) : url.slice(start, end);
  }

  get scheme(): "http" | "https" {
    return this.#request.url.startsWith("https:") ? "https" : "http";
  }

  /**
   * The URL's, as it is written there. A Host header that is no host name, or of which there are several, is not to be believed,
   * whatever the server has made of it (RFC 9112 section 3.2).
   */
  get host(): string | undefined {
    const { url, headers } = this.#request;
    if (!/^[\w.:[\]-]+$/.test(headers.get("host") ?? "none")) return undefined;
    return /^https?:\/\/([^/?#]+)/i.exec(url)?.[1];
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }
}

/**
 * An answer as a Response of the Fetch standard.
 *
 * @param method the request's; an answer to HEAD has no body, and says how long it would be
 */
export function toResponse(reply: Reply, method?: string): Response {
  const { status, headers: plain, setCookies, body } = reply;
  const isHead = method === "HEAD";
  // Servers write plain headers faster than a Headers object.
  if (setCookies === undefined && !isHead) return new Response(body ?? null, { status, headers: plain });
  const headers = new Headers(plain);
  for (const cookie of setCookies ?? []) headers.append("Set-Cookie", cookie);
  if (isHead) headers.set("Content-Length", String(new TextEncoder().encode(body).length));
  return new Response(isHead ? null : (body ?? null), { status, headers });
}
