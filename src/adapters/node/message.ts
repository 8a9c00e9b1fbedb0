import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { IdpRequest } from "../../index.js";
import { unreadBody } from "./body.js";

/** A request of node:http or node:https, or of node:http2 by its compatibility API. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;
/** The response to such a request. */
export type AnyResponse = ServerResponse | Http2ServerResponse;

/**
 * A request of node:http. Scheme and host are those of the connection; adapters for frameworks that know trusted proxies override
 * both. Nothing is read before it is needed.
 */
export class NodeRequest<Message extends AnyRequest = AnyRequest> implements IdpRequest {
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
    return (this.message.socket as { encrypted?: boolean }).encrypted === true ? "https" : "http";
  }

  get host(): string | undefined {
    return soleHost(this.message);
  }

  header(name: string): string | undefined {
    const value = this.message.headers[name];
    return typeof value === "string" ? value : value?.join(", ");
  }

  /** The unread body comes first: some parsers set an empty object for a body that they did not parse. */
  body(): unknown {
    return unreadBody(this.message) ?? (this.message as AnyRequest & { readonly body?: unknown }).body;
  }
}

/**
 * The `Host` header of a request, or its `:authority` in HTTP/2. Undefined if there are several that differ, or two `Host` headers,
 * of which Node keeps the first (RFC 9112 section 3.2, RFC 9113 section 8.3.1).
 */
export function soleHost(message: AnyRequest): string | undefined {
  const { rawHeaders } = message;
  let host: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== "host") continue;
    if (host !== undefined) return undefined;
    host = rawHeaders[index + 1];
  }
  const authority = message.headers[":authority"];
  if (typeof authority !== "string") return host;
  return host === undefined || host === authority ? authority : undefined;
}
