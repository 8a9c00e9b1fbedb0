import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import type { IdpRequest, Reply } from "../index.js";

/**
 * A request of node:http. Reads what it is asked for, and only then. Scheme and host are the connection's own; a framework
 * that knows of trusted proxies overrides both.
 */
export class NodeRequest implements IdpRequest {
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
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

/** The Host header. Of several, of which Node keeps the first, none is to be believed (RFC 9112 section 3.2). */
export function soleHost(message: IncomingMessage): string | undefined {
  const { host } = message.headersDistinct;
  return host === undefined || host.length > 1 ? undefined : host[0];
}

/**
 * Writes an answer, keeping what was put into Vary and Set-Cookie before. Does nothing when the head is already on its way:
 * somebody else has answered.
 */
export function writeReply(response: ServerResponse, reply: Reply): void {
  if (response.headersSent) return;
  response.statusCode = reply.status;
  const varyBefore = response.getHeader("Vary");
  for (const name in reply.headers) response.setHeader(name, reply.headers[name] ?? "");
  if (varyBefore !== undefined) response.setHeader("Vary", varyWith(varyBefore));
  for (const cookie of reply.setCookies ?? []) response.appendHeader("Set-Cookie", cookie);
  response.end(reply.body);
}

function varyWith(before: OutgoingHttpHeader): string {
  return `${Array.isArray(before) ? before.join(", ") : String(before)}, Cookie`;
}
