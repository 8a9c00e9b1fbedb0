import { ServerResponse, type IncomingMessage } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { varyByCookie, type IdpRequest, type Reply } from "../../index.js";

/** A request of node:http, node:https, or of node:http2 by its compatibility API. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;
/** What answers one. */
export type AnyResponse = ServerResponse | Http2ServerResponse;

/**
 * A request of node:http. Reads what it is asked for, and only then. Scheme and host are the connection's own; a framework
 * that knows of trusted proxies overrides both.
 */
export class NodeRequest implements IdpRequest {
  readonly #message: AnyRequest;

  constructor(message: AnyRequest) {
    this.#message = message;
  }

  get method(): string {
    return this.#message.method ?? "GET";
  }

  get target(): string {
    return this.#message.url ?? "/";
  }

  get scheme(): "http" | "https" {
    return (this.#message.socket as { encrypted?: boolean }).encrypted === true ? "https" : "http";
  }

  get host(): string | undefined {
    return soleHost(this.#message);
  }

  header(name: string): string | undefined {
    const value = this.#message.headers[name];
    return typeof value === "string" ? value : value?.join(", ");
  }
}

/**
 * The host that a request is for: its Host header, in HTTP/2 its `:authority`. Of several that differ, or of two Host headers,
 * of which Node keeps the first, none is to be believed (RFC 9112 section 3.2, RFC 9113 section 8.3.1).
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

/**
 * Writes an answer, keeping what was put into Vary and Set-Cookie before. Does nothing when the head is already on its way:
 * somebody else has answered.
 */
export function writeReply(response: AnyResponse, reply: Reply): void {
  if (response.headersSent) return;
  if (reply.body !== undefined && isUntouched(response)) {
    writeAtOnce(response, reply, reply.body);
    return;
  }
  // Both kinds of response take the same calls; only their types are not made for being used alike.
  const either = response as ServerResponse;
  const { status, headers, setCookies, body } = reply;
  either.statusCode = status;
  const varyBefore = either.getHeader("Vary");
  for (const name in headers) either.setHeader(name, headers[name] ?? "");
  if (varyBefore !== undefined)
    either.setHeader("Vary", varyByCookie(Array.isArray(varyBefore) ? varyBefore.join(", ") : String(varyBefore)));
  for (const cookie of setCookies ?? []) either.appendHeader("Set-Cookie", cookie);
  if (body !== undefined) either.setHeader("Content-Length", Buffer.byteLength(body));
  either.end(bodyFor(either, body));
}

/** Of node:http, with no header set, and no middleware that waits for the head in order to change it. */
function isUntouched(response: AnyResponse): response is ServerResponse {
  return response.writeHead === ServerResponse.prototype.writeHead && response.getHeaderNames().length === 0;
}

/** Half the cost of setting headers one by one: this is what the probe sends most of the time. */
function writeAtOnce(response: ServerResponse, { status, headers, setCookies }: Reply, body: string): void {
  const lines = ["Content-Length", String(Buffer.byteLength(body)), ...linesOf(headers)];
  if (setCookies !== undefined) for (const cookie of setCookies) lines.push("Set-Cookie", cookie);
  response.writeHead(status, lines).end(bodyFor(response, body));
}

/** A server may be told to throw when an answer to HEAD has a body (`rejectNonStandardBodyWrites`). */
function bodyFor(response: ServerResponse, body: string | undefined): string | undefined {
  return response.req.method === "HEAD" ? undefined : body;
}

/** The headers that were last written. Those of the probe are one frozen object, so they are turned into lines once. */
let last: Reply["headers"] | undefined;
let lastLines: readonly string[] = [];

function linesOf(headers: Reply["headers"]): readonly string[] {
  if (headers === last) return lastLines;
  const lines = Object.entries(headers).flat();
  // What can change is not remembered.
  if (Object.isFrozen(headers)) [last, lastLines] = [headers, lines];
  return lines;
}
