import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  presentedCertificate,
  type PresentedCertificate,
} from "../certificates/presented-certificate.js";
import { printable } from "./replies.js";

export const ENDPOINTS = [
  "discovery",
  "authorize",
  "token",
  "jwks",
  "userinfo",
  "revoke",
  "endSession",
  "par",
  "introspect",
] as const;
/** An endpoint of the provider, as its faults and its list of requests name it. */
export type Endpoint = (typeof ENDPOINTS)[number];

/** One request to the provider, recorded on arrival. */
export interface ReceivedRequest {
  /** `unknown`: there is no endpoint at that path. */
  readonly endpoint: Endpoint | "unknown";
  /** Upper case. */
  readonly method: string;
  /** The request target as it was sent: path and query. */
  readonly url: string;
  /** The parameters of the URL. */
  readonly query: URLSearchParams;
  /** Names in lower case, as Node parses them. */
  readonly headers: IncomingHttpHeaders;
  /** The body as text, for every content type; empty if there is none. */
  readonly body: string;
  /** The body's form parameters; empty if the body is no form. */
  readonly params: URLSearchParams;
  /** When it arrived: milliseconds of the provider's clock. */
  readonly at: number;
  /** The client's certificate; undefined: it has presented none. */
  readonly certificate: PresentedCertificate | undefined;
}

/** A request body beyond this many bytes ends the connection. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Reads a request.
 *
 * @param endpointAt the endpoint at a path
 * @param at milliseconds of the provider's clock
 * @throws Error the body is too large, or the client has gone
 */
export async function receive(
  message: IncomingMessage,
  endpointAt: (path: string) => Endpoint | undefined,
  at: number,
): Promise<ReceivedRequest> {
  const certificate = presentedCertificate(message);
  const body = await readBody(message);
  const url = message.url ?? "/";
  const mark = url.indexOf("?");
  return {
    endpoint: endpointAt(mark < 0 ? url : url.slice(0, mark)) ?? "unknown",
    method: message.method ?? "GET",
    url,
    query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)),
    headers: message.headers,
    body,
    params: new URLSearchParams(isForm(message.headers) ? body : ""),
    at,
    certificate,
  };
}

async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new Error("request body too large");
  }
  return Buffer.concat(chunks).toString("utf8");
}

export function isForm(headers: IncomingHttpHeaders): boolean {
  return /^application\/x-www-form-urlencoded(?:\s*;|$)/i.test(headers["content-type"] ?? "");
}

/** Parameters that must never be in a URL to the provider (RFC 9700 section 4.3.2). */
const NEVER_IN_A_URL = [
  "access_token",
  "refresh_token",
  "id_token",
  "client_secret",
  "client_assertion",
  "code_verifier",
];

/** Returns the forbidden actions in a request, one sentence each, without any values. */
export function violationsOf(request: ReceivedRequest): string[] {
  const found: string[] = [];
  const where = `${request.method} ${request.endpoint}`;
  for (const name of NEVER_IN_A_URL) {
    if (request.query.has(name)) found.push(`${where}: ${name} in the URL`);
  }
  for (const [kind, parameters] of [
    ["query", request.query],
    ["body", request.params],
  ] as const) {
    for (const name of new Set(parameters.keys())) {
      // RFC 8707 section 2 allows several.
      if (name !== "resource" && parameters.getAll(name).length > 1)
        found.push(`${where}: ${printable(name)} more than once in the ${kind}`);
    }
  }
  if (request.headers.authorization !== undefined) {
    if (request.params.has("client_secret"))
      found.push(`${where}: two client authentication methods`);
    if (request.params.has("access_token")) found.push(`${where}: access_token in header and body`);
  }
  if (
    ["token", "revoke", "par", "introspect"].includes(request.endpoint) &&
    request.url.includes("?")
  ) {
    found.push(`${where}: parameters in the URL`);
  }
  return found;
}
