import type { ServerResponse } from "node:http";

/** The reply of a provider's endpoint, before any fault changes it. */
export interface ProviderReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Why the provider refused the request. A redirect has none here: its address contains it. */
  readonly refusal?: { readonly error: string; readonly reason: string } | undefined;
}

export function jsonReply(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): ProviderReply {
  const body = JSON.stringify(value);
  return {
    status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      Pragma: "no-cache",
      ...headers,
    },
    body,
  };
}

/** Returns an OAuth error reply (RFC 6749 section 5.2). */
export function errorReply(
  error: string,
  description: string,
  { status = 400, headers = {} }: Partial<Pick<ProviderReply, "status" | "headers">> = {},
): ProviderReply {
  return {
    ...jsonReply({ error, error_description: description }, status, headers),
    refusal: { error, reason: description },
  };
}

/**
 * Returns a client's value for an error description, which must not contain quotation marks, a
 * backslash or control characters (RFC 6749 section 5.2).
 */
export function printable(value: unknown): string {
  if (typeof value !== "string") return value === undefined ? "missing" : "not a string";
  return value.slice(0, 200).replace(/[^ !#-[\]-~]/g, "?");
}

export function htmlReply(status: number, body: string): ProviderReply {
  return {
    status,
    headers: { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" },
    body,
  };
}

export function redirectReply(location: string): ProviderReply {
  return { status: 302, headers: { Location: location, "Cache-Control": "no-store" }, body: "" };
}

/** Sends a reply. */
export function send(response: ServerResponse, reply: ProviderReply): void {
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, { ...reply.headers, "Content-Length": body.length });
  response.end(body);
}
