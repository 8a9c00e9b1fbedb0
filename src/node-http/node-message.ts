import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Readable } from "node:stream";
import { onFirstClose, type Closable } from "../http/first-close.js";
import { headerLines } from "../http/header-lines.js";
import { PerRequest } from "../http/per-request.js";
import type { IdpRequest } from "../http/request.js";

/** A request of node:http or node:https, or of node:http2 by its compatibility API. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;
/** The response to such a request. */
export type AnyResponse = ServerResponse | Http2ServerResponse;

/**
 * A request of node:http. Scheme and host are those of the connection; adapters for frameworks that
 * know trusted proxies override both. Nothing is read before it is needed, and what a message that
 * no server has made may lack has a fallback.
 */
export class NodeRequest<Message extends AnyRequest = AnyRequest> implements IdpRequest {
  /** For subclasses that know more about the request. */
  protected readonly message: Message;

  constructor(message: Message) {
    this.message = message;
  }

  get method(): string {
    return this.message.method ?? "GET";
  }

  get target(): string {
    return this.message.url ?? "/";
  }

  get scheme(): "http" | "https" {
    return socketOf(this.message)?.encrypted === true ? "https" : "http";
  }

  get host(): string | undefined {
    return soleHost(this.message);
  }

  header(name: string): string | undefined {
    return headerText(this.message.headers[name]);
  }

  /**
   * The unread body comes first: some parsers set an empty object for a body that they did not
   * parse.
   */
  body(): unknown {
    return (
      unreadBody(this.message) ?? (this.message as AnyRequest & { readonly body?: unknown }).body
    );
  }
}

/**
 * The `Host` header of a request, or its `:authority` in HTTP/2. Undefined if there are several
 * that differ, or two `Host` headers, of which Node keeps the first (RFC 9112 section 3.2, RFC 9113
 * section 8.3.1).
 */
export function soleHost(message: AnyRequest): string | undefined {
  const lines = headerLines(message);
  let host: string | undefined;
  for (let index = 0; index < lines.length; index += 2) {
    if (lines[index]?.toLowerCase() !== "host") continue;
    if (host !== undefined) return undefined;
    host = lines[index + 1];
  }
  const authority = message.headers[":authority"];
  if (typeof authority !== "string") return host;
  return host === undefined || host === authority ? authority : undefined;
}

/** The connection of a message, as far as it has one. */
export function socketOf(
  message: AnyRequest,
): Partial<Closable & { readonly encrypted: boolean; readonly remoteAddress: string }> | undefined {
  return message.socket as ReturnType<typeof socketOf>;
}

/** A header value of node:http as one text. */
export function headerText(
  value: string | number | readonly string[] | undefined,
): string | undefined {
  return typeof value === "object" ? value.join(", ") : value?.toString();
}

/**
 * The body of a message that no other code has read, as chunks of bytes. An iterator that is left
 * early discards the rest, so that the connection stays usable for the response and for further
 * requests.
 *
 * @returns undefined if other code has read the body or is reading it
 */
function unreadBody(message: Readable): AsyncIterable<Uint8Array> | undefined {
  if (message.readableDidRead || message.readableFlowing === true || message.readableEnded)
    return undefined;
  if (typeof (message as Partial<Readable>).iterator !== "function") return undefined;
  return { [Symbol.asyncIterator]: () => chunksOf(message) };
}

function chunksOf(message: Readable): AsyncIterator<Uint8Array> {
  const chunks = message.iterator({ destroyOnReturn: false }) as AsyncGenerator<Uint8Array>;
  const discard = () => {
    // Node itself discards only bodies of which nothing was read.
    message.resume();
  };
  return {
    next: () => chunks.next(),
    return() {
      // It waits for a pending chunk, which may never come.
      chunks.return(undefined).then(discard, discard);
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

const responses = new PerRequest<AnyResponse>();

/**
 * Stores the response to a message for `onClose` and `responseTo`. Node itself has no reference from
 * a message to its response.
 */
export function rememberResponse(message: AnyRequest, response: AnyResponse): void {
  responses.set(message, response);
}

/** The stored response to a message. For adapters. */
export function responseTo(message: AnyRequest): AnyResponse | undefined {
  return responses.get(message);
}

/**
 * Calls a function once when the response to a message is complete or the connection has closed;
 * for an upgraded connection, when that closes. If that has happened, it calls the function at
 * once, asynchronously.
 *
 * If the response is not known, it calls the function when the connection closes. The connection
 * may first serve further requests.
 *
 * @param known the response. Default: the stored one; see `rememberResponse`
 */
export function onClose(
  message: AnyRequest,
  closed: () => void,
  known = responses.get(message),
): void {
  onFirstClose(closables(message, known), closed);
}

/**
 * Returns the objects whose first close ends the exchange. The message is not one of them: it
 * closes when its body was read.
 */
function closables(message: AnyRequest, known: AnyResponse | undefined): readonly Closable[] {
  if ("stream" in message) return [message.stream];
  const isUpgrade = (message as IncomingMessage & { readonly upgrade?: boolean }).upgrade === true;
  const all = [socketOf(message), isUpgrade ? undefined : known];
  return all.filter((each): each is Closable => typeof each?.on === "function");
}
