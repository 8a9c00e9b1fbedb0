import type { IdpRequest, Reply } from "../index.js";

/** A Request of the Fetch standard, as servers of that style hand it over. Reads what it is asked for, and only then. */
export class WebRequest implements IdpRequest {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  /** As the server's URL parser left it: dot segments are resolved by then. */
  get target(): string {
    const { url } = this.#request;
    const start = url.indexOf("/", url.indexOf("://") + 3);
    return start < 0 ? "/" : url.slice(start);
  }

  get scheme(): "http" | "https" {
    return this.#request.url.startsWith("https:") ? "https" : "http";
  }

  get host(): string | undefined {
    return URL.canParse(this.#request.url) ? new URL(this.#request.url).host : undefined;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }
}

/**
 * An answer as a Response of the Fetch standard.
 *
 * @param method the request's; an answer to HEAD has no body
 */
export function toResponse(reply: Reply, method?: string): Response {
  const headers = new Headers(reply.headers);
  for (const cookie of reply.setCookies ?? []) headers.append("Set-Cookie", cookie);
  return new Response(method === "HEAD" ? null : (reply.body ?? null), { status: reply.status, headers });
}
