import type { AnyReply, Stopped } from "../../adapter.js";
import type { IdpRequest } from "../../index.js";

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

  /**
   * The host of the URL. Undefined if the Host header is no host name, or if there are several (RFC
   * 9112 section 3.2).
   */
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
  // A stream of Node.js comes only to adapters that hand in a message of Node.js.
  const content = (body ?? null) as string | ReadableStream<Uint8Array> | null;
  if (setCookies === undefined && !isHead) return new Response(content, { status, headers: plain });
  const headers = new Headers(plain);
  for (const cookie of setCookies ?? []) headers.append("Set-Cookie", cookie);
  if (isHead && typeof body === "string")
    headers.set("Content-Length", String(new TextEncoder().encode(body).length));
  return new Response(isHead ? null : content, { status, headers });
}

/**
 * The response to a stopped request: the application's own, or the gate's.
 *
 * @param method of the request
 * @param respond responds with the application's function, or with the given one if there is none
 * @throws TypeError if the application's function returned no Response: "nothing" would mean that
 *   the user may pass
 */
export async function responseOf(
  { kind }: Stopped,
  method: string,
  respond: (byDefault: (reply: AnyReply) => Response) => Promise<unknown>,
): Promise<Response> {
  const response = (await respond((reply) => toResponse(reply, method))) as
    Response | null | undefined;
  if (!response) throw new TypeError(`The response function \`${kind}\` didn't return a Response.`);
  return response;
}

/**
 * The body of a request that no other code has read, as chunks of bytes. An iterator that is left
 * early leaves the rest unread: canceling the stream closes the connection on some servers, before
 * the response is sent.
 *
 * @returns undefined if there is no body, or if other code has read it or is reading it
 */
function unreadBody(request: Request): AsyncIterable<Uint8Array> | undefined {
  if (request.bodyUsed) return undefined;
  const { body } = request;
  if (body === null || body.locked) return undefined;
  return { [Symbol.asyncIterator]: () => chunksOf(body.getReader()) };
}

function chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncIterator<Uint8Array> {
  return {
    async next() {
      const { done, value } = await reader.read();
      return done ? { done, value: undefined } : { done, value };
    },
    return() {
      reader.releaseLock();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}
