import { asksForRetry } from "./back-off.js";
import { errorCode, jsonObject, type ProviderResponse } from "./http-to-provider.js";

/**
 * The meaning of a response to a request with the client's credentials. `reason` is a stable word
 * that is safe to log.
 */
export type Meaning =
  | { readonly kind: "ok"; readonly body: Readonly<Record<string, unknown>> }
  /** The code, the refresh token or the user is refused definitely. */
  | { readonly kind: "refused"; readonly reason: string }
  /**
   * Providers say so of a dead refresh token, of a wrong secret and of an overload, or have their own
   * word, such as `bad_client_secret`: an outage of
   * this session alone, and a refusal at the second time, if the same client has succeeded in
   * between.
   */
  | { readonly kind: "ambiguous"; readonly reason: string }
  /** The client's configuration is wrong, independent of this token. */
  | { readonly kind: "operator"; readonly reason: string }
  | { readonly kind: "outage"; readonly reason: string };

/** What a request with the client's credentials is for: tokens, or a login (RFC 9126). */
export type Grant = "exchange" | "refresh" | "api" | "push";

/** The provider is overloaded or away, with any status: counts as a 503. */
const LATER = ["temporarily_unavailable", "server_error", "slow_down"];

/** The provider demands another nonce than the proof has (RFC 9449 section 8). */
export const USE_DPOP_NONCE = "use_dpop_nonce";

/** The provider doesn't accept the proof: most often, the two clocks differ. */
export const INVALID_DPOP_PROOF = "invalid_dpop_proof";

/** Errors of OpenID Connect Core section 3.1.2.6 and RFC 6749 section 4.1.2.1 about the user. */
const ABOUT_USER = [
  "login_required",
  "interaction_required",
  "consent_required",
  "mfa_required",
  "access_denied",
];

/**
 * The errors of RFC 6749 section 5.2 and RFC 8707 section 2 about the client, not about the refresh
 * token. `invalid_client` has a row of its own.
 */
const ABOUT_CLIENT = [
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
  "invalid_target",
];

/** What a refresh for an API can be refused for. `invalid_resource` is Entra ID's `invalid_target`. */
const ABOUT_API = [...ABOUT_USER, ...ABOUT_CLIENT, "invalid_resource"];

/** A response as the table reads it. */
interface Read {
  readonly grant: Grant;
  /** An error in a 200 counts as one in a 400. */
  readonly status: number;
  /** The provider's error code, if it has a valid form. */
  readonly error: string | undefined;
  /** Undefined: not a JSON object. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

interface Row {
  readonly kind: Exclude<Meaning["kind"], "ok">;
  readonly when: (read: Read) => boolean;
  /** Default: the error code, else the status. */
  readonly reason?: (read: Read) => string;
}

const httpStatus = ({ status }: Read) => `http_${String(status)}`;
const is4xx = ({ status }: Read) => status >= 400 && status < 500;
const isSuccess = ({ status, grant }: Read) =>
  // 201: RFC 9126 section 2.2.
  status === 200 || (status === 201 && grant === "push");
const hasError = (read: Read, errors: readonly string[]) =>
  read.error !== undefined && errors.includes(read.error);

/**
 * A login starts these requests. An attacker can put any code, or any parameter of a login, into a
 * URL, so most refusals concern only this login.
 */
const isSignIn = ({ grant }: Read) => grant === "exchange" || grant === "push";

/**
 * Whether a sign-in's response is about the client, and not about the code or the parameters: some
 * providers say so of a wrong secret or a wrong audience.
 */
const isClientRefused = (read: Read) =>
  read.status === 401 ||
  (read.status === 403 && read.error === undefined) ||
  (is4xx(read) && read.error === "unauthorized_client");

/**
 * What a response means: the first row that fits decides. Only an error about the grant or the user
 * refuses; everything else keeps the session.
 */
const TABLE: readonly Row[] = [
  { kind: "outage", when: (read) => hasError(read, LATER) },
  // The request has been repeated with a nonce already. The next one begins with the newest.
  { kind: "outage", when: (read) => is4xx(read) && read.error === USE_DPOP_NONCE },
  { kind: "operator", when: (read) => is4xx(read) && read.error === INVALID_DPOP_PROOF },
  {
    // With any 4xx: Auth0 sends it with 403.
    kind: "refused",
    when: (read) => is4xx(read) && read.error === "invalid_grant",
    reason: (read) => (isBadToken(read) ? "bad_token" : "invalid_grant"),
  },
  { kind: "outage", when: ({ status }) => asksForRetry(status), reason: httpStatus },
  { kind: "outage", when: ({ status }) => status >= 300 && status < 400, reason: () => "redirect" },
  { kind: "operator", when: (read) => is4xx(read) && read.error === "invalid_client" },
  { kind: "operator", when: (read) => isSignIn(read) && isClientRefused(read) },
  { kind: "refused", when: (read) => isSignIn(read) && is4xx(read) },
  // What an API is refused must not delay the sessions.
  {
    kind: "refused",
    when: (read) => read.grant === "api" && is4xx(read) && hasError(read, ABOUT_API),
  },
  {
    kind: "refused",
    when: (read) => [400, 403].includes(read.status) && hasError(read, ABOUT_USER),
  },
  { kind: "operator", when: (read) => is4xx(read) && hasError(read, ABOUT_CLIENT) },
  // Without an error, with `invalid_request`, or with an error that no other row names.
  { kind: "ambiguous", when: ({ status }) => status === 400 },
  { kind: "operator", when: is4xx },
  { kind: "outage", when: (read) => !isSuccess(read), reason: httpStatus },
  { kind: "outage", when: ({ body }) => body === undefined, reason: () => "not_json" },
  {
    kind: "outage",
    when: (read) => !hasResult(read),
    reason: ({ grant }) => (grant === "push" ? "par_response" : "no_tokens"),
  },
];

/** Returns the meaning of a response. Pure. The ID token is verified later. */
export function meaningOf(response: ProviderResponse, grant: Grant): Meaning {
  const body = jsonObject(response);
  const given: Read = { grant, status: response.status, error: errorCode(response), body };
  const isErrorInSuccess = isSuccess(given) && given.error !== undefined && !hasResult(given);
  const read = isErrorInSuccess ? { ...given, status: 400 } : given;
  const row = TABLE.find(({ when }) => when(read));
  if (row === undefined) return { kind: "ok", body: body ?? {} };
  return { kind: row.kind, reason: row.reason?.(read) ?? read.error ?? httpStatus(read) };
}

/** Whether a failure counts as a 503, although the response may have another status. */
export function asksToTryLater(reason: string): boolean {
  return LATER.includes(reason);
}

/** Whether a success has what was asked for. */
function hasResult({ grant, body = {} }: Read): boolean {
  const names = grant === "push" ? ["request_uri"] : ["access_token", "id_token", "refresh_token"];
  return names.some((name) => typeof body[name] === "string" && body[name] !== "");
}

/**
 * Whether Entra ID says that the refresh token itself is dead, and not only the access to one API
 * (suberror `bad_token`).
 */
function isBadToken({ grant, body }: Read): boolean {
  return grant === "api" && body?.["suberror"] === "bad_token";
}
