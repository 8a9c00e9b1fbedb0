import { isObject, isTooDeep } from "../core/record.js";
import type { Answer } from "./backchannel.js";

/** What an answer of the token endpoint means. `reason` is a stable word that is safe to log. */
export type Meaning =
  | { readonly kind: "ok"; readonly body: Readonly<Record<string, unknown>> }
  /** A definite no to this code or refresh token. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The client is set up wrongly; nothing that this visitor's token could change. */
  | { readonly kind: "operator"; readonly reason: string }
  | { readonly kind: "outage"; readonly reason: string };

/** Errors that speak of the client, not of the grant (RFC 6749 section 5.2). */
const OPERATOR_ERRORS = new Set(["invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope"]);

/** Statuses of the 4xx range that ask to come again later. */
const TRY_LATER = new Set([408, 429]);

/**
 * The meaning of an answer to a code exchange or a refresh, in the order of the decisions' table. Pure. Whether the ID
 * token of a 200 is any good is decided elsewhere.
 */
export function meaningOf(answer: Answer): Meaning {
  const { status } = answer;
  if (status === 200) {
    const body = jsonObject(answer);
    return body === undefined ? { kind: "outage", reason: "not_json" } : { kind: "ok", body };
  }
  if (status >= 300 && status < 400) return { kind: "outage", reason: "redirect" };
  if (status < 400 || status >= 500 || TRY_LATER.has(status)) return { kind: "outage", reason: `http_${String(status)}` };
  const error = errorCode(answer);
  if (status !== 400 || (error !== undefined && OPERATOR_ERRORS.has(error))) {
    return { kind: "operator", reason: error ?? `http_${String(status)}` };
  }
  return { kind: "refused", reason: error ?? "http_400" };
}

/** Whether the error names the client itself (RFC 6749 section 5.2), whatever was asked for. */
export function blamesClient(answer: Answer): boolean {
  const error = errorCode(answer);
  return error !== undefined && OPERATOR_ERRORS.has(error);
}

/** The body as a JSON object; undefined for anything else, for one nested too deep, and for a web page whatever is in it. */
export function jsonObject({ headers, text }: Answer): Readonly<Record<string, unknown>> | undefined {
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers.get("content-type") ?? "")) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && !isTooDeep(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** The provider's `error` code when it has the form of one: anything else in its answer is never repeated. */
export function errorCode(answer: Answer): string | undefined {
  const error = jsonObject(answer)?.["error"];
  return typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? error : undefined;
}

/** The parts of a token answer (RFC 6749 section 5.1) that have a usable form; the rest is undefined. */
export interface TokenAnswer {
  /** Only of a bearer token. */
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly scopes: readonly string[] | undefined;
  /** Seconds. */
  readonly expiresIn: number | undefined;
}

export function tokensOf(body: Readonly<Record<string, unknown>>): TokenAnswer {
  const type = body["token_type"];
  const isBearer = typeof type === "string" && type.toLowerCase() === "bearer";
  return {
    accessToken: isBearer ? text(body["access_token"]) : undefined,
    refreshToken: text(body["refresh_token"]),
    idToken: text(body["id_token"]),
    scopes: text(body["scope"])
      ?.split(" ")
      .filter((scope) => scope !== ""),
    expiresIn: lifetime(body["expires_in"]),
  };
}

/** Seconds beyond which a lifetime is not believed: a century. */
const MAX_LIFETIME = 100 * 365 * 86_400;

/** Some providers send a string; one that makes no sense is as good as none. */
export function lifetime(value: unknown): number | undefined {
  const seconds = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  return typeof seconds === "number" && seconds >= 0 && seconds <= MAX_LIFETIME ? seconds : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * The text of a token answer as a strict reader can take it: optional members in a form that would make it throw the whole
 * answer away are left out. Anything else stays as it is, to be judged.
 */
export function withoutBrokenExtras(answer: string): string {
  try {
    const body: unknown = JSON.parse(answer);
    if (!isObject(body)) return answer;
    const { expires_in, scope, refresh_token, ...rest } = body;
    const expiresIn = lifetime(expires_in);
    return JSON.stringify({
      ...rest,
      ...(expiresIn !== undefined && { expires_in: expiresIn }),
      ...(typeof scope === "string" && { scope }),
      ...(text(refresh_token) !== undefined && { refresh_token }),
    });
  } catch {
    return answer;
  }
}
