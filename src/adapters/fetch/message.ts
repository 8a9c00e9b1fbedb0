import { respondToBlocked, type Blocked, type GuardResponsesOf, type AnyReply, type IdpRequest, type Reply } from "../../index.js";
import { unreadBody } from "./body.js";

/** A `Request` of the Fetch standard. Nothing is read before it is needed. */
export class WebRequest implements IdpRequest {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  /** Path and query. Most servers have resolved dot segments; a fragment is never included. */
  get target(): string {
    const { url } = this.#request;
    // On Bun the URL is the bare target if the Host header is no host name.
    const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
    if (start < 0) return "/";
    const end = url.indexOf("#", start);
    return end < 0 ? url.slice(start) : url.slice(start, end);
  }

  get scheme(): "http" | "https" {
    return this.#request.url.startsWith("https:") ? "https" : "http";
  }

  /** The host of the URL. Undefined if the Host header is no host name, or if there are several (RFC 9112 section 3.2). */
  get host(): string | undefined {
    const { url, headers } = this.#request;
    if (!/^[\w.:[\]-]+$/.test(headers.get("host") ?? "none")) return undefined;
    return /^https?:\/\/([^/?#]+)/i.exec(url)?.[1];
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  body(): unknown {
    return unreadBody(this.#request);
  }
}

/**
 * A reply as a `Response` of the Fetch standard.
 *
 * @param method of the request; the response to HEAD has no body, but the Content-Length of one
 */
export function toResponse(reply: AnyReply, method?: string): Response {
  const { status, headers: plain, setCookies, body } = reply;
  const isHead = method === "HEAD";
  // Servers write plain headers faster than a Headers object.
  if (setCookies === undefined && !isHead) return new Response(body ?? null, { status, headers: plain });
  const headers = new Headers(plain);
  for (const cookie of setCookies ?? []) headers.append("Set-Cookie", cookie);
  if (isHead && typeof body !== "object") headers.set("Content-Length", String(new TextEncoder().encode(body).length));
  return new Response(isHead ? null : (body ?? null), { status, headers });
}

/**
 * The response to a blocked request: the application's own, or the guard's.
 *
 * @throws TypeError if the application's function returned no Response: "nothing" would mean that the user may pass
 */
export async function blockedResponse<Before extends readonly [Request, ...unknown[]], After extends readonly unknown[]>(
  blocked: Blocked,
  responses: GuardResponsesOf<Before, After, Response | Promise<Response>>,
  before: Before,
  after: After,
): Promise<Response> {
  const byDefault = (reply: Reply) => toResponse(reply, before[0].method);
  const response = (await respondToBlocked(blocked, responses, before, after, byDefault)) as Response | undefined;
  if (response === undefined) throw new TypeError(`The response function \`${blocked.kind}\` returned no Response.`);
  return response;
}
