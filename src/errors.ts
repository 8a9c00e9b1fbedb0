/** One row of the table of errors. docs/reference/errors.md is generated from it. */
interface ErrorRow {
  /** The HTTP status of the endpoints' responses. Error handlers of frameworks use it, too. */
  readonly status: number;
  /** One short sentence for users. */
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

/** Keeps the codes in the type of the table, and leaves the texts out. */
function errorRows<Code extends string>(rows: Readonly<Record<Code, ErrorRow>>): Readonly<Record<Code, ErrorRow>> {
  return rows;
}

/** THE table of errors: the codes of responses, exceptions and log lines. A code is never renamed. */
export const ERRORS = errorRows({
  configuration_invalid: {
    status: 500,
    title: "The sign-in component is not configured correctly",
    cause: "One or more startup checks failed. The exception lists all findings.",
    remedy:
      "Correct each finding as its remedy says, and start again. `npx idpauth check` lists the findings without starting the application.",
  },
  invalid_parameter: {
    status: 400,
    title: "A query parameter has no valid value",
    cause: "`scheme` or `response` is unknown, empty or given more than once, or the two cannot be combined.",
    remedy: "Use one of the values in `valid_options`.",
  },
  host_invalid: {
    status: 400,
    title: "The Host header is not usable",
    cause: "The request's Host header is missing or not a hostname. So idpauth cannot tell to which address the login returns.",
    remedy: "Set BASE_URL. idpauth then ignores the Host header.",
  },
  login_loop: {
    status: 500,
    title: "The sign-in page redirects to itself",
    cause:
      "idpauth redirects a login to BASE_URL, but the login arrives there with another Host header. A development proxy or the framework rewrites the header. The response and the log contain the Host header and BASE_URL.",
    remedy:
      "Have the proxy pass the Host header on unchanged, or set BASE_URL to the origin that browsers use. Vite: remove `changeOrigin` from the proxy. Astro: add the domain to `security.allowedDomains`. If a trusted proxy sends `X-Forwarded-Host`, set IDP_TRUST_PROXY.",
  },
  login_link_invalid: {
    status: 400,
    title: "This sign-in link is no longer valid",
    cause: "The callback's state is missing, repeated, unknown, expired, already used, or belongs to another browser.",
    remedy:
      "Start the sign-in again. If the error returns every time, check that the browser sends the cookie to the callback. The callback must have the origin of BASE_URL, and no proxy may drop cookies.",
  },
  sign_in_refused: {
    status: 400,
    title: "The sign-in could not be completed",
    cause:
      "The provider refused the code, or its ID token or issuer failed a check. Or another user signed in while this sign-in was in progress.",
    remedy:
      "Start the sign-in again. If the error returns every time, find the failed check in the log. Then compare client, issuer and clock with the provider.",
  },
  login_required: {
    status: 401,
    title: "Sign-in is required",
    cause: "The route is guarded, and the user is not signed in, or a session limit has ended the session.",
    remedy: "Send the user to `login_url`.",
  },
  not_found: {
    status: 404,
    title: "There is no page at this address",
    cause: "There is no endpoint at this path below the mount path. Or it is the debug endpoint, and debug mode is off.",
    remedy: "Check the path. docs/reference/endpoints.md lists the endpoints.",
  },
  method_not_allowed: {
    status: 405,
    title: "This method is not allowed here",
    cause: "All endpoints support GET. The index, session and debug endpoints also support HEAD.",
    remedy: "Use a method that the Allow header lists.",
  },
  prefetch_refused: {
    status: 503,
    title: "This page cannot be prefetched",
    cause: "A browser or framework prefetched the login or logout link, without a click by the user.",
    remedy: "No action is needed: the user's click works. To avoid such requests, exclude the two links from prefetching.",
  },
  provider_unavailable: {
    status: 503,
    title: "The identity provider cannot be reached right now",
    cause: "A request to the provider failed: there was a network failure, a timeout or an unusable response. The session is kept.",
    remedy: "Try again after the seconds in Retry-After. All users stay signed in.",
  },
  provider_misconfigured: {
    status: 503,
    title: "Sign-in is not set up correctly",
    cause:
      "The settings do not match the provider. Examples: a wrong client secret, another issuer, a discovery document that redirects, or encrypted ID tokens. Sessions are kept.",
    remedy: "Find the cause in the log line with this code, or run `npx idpauth check --live`.",
  },
  store_unavailable: {
    status: 503,
    title: "The session store cannot be reached right now",
    cause: "The session store did not respond in time, or has no space for another login. The session and the cookie are unchanged.",
    remedy: "Try again after the seconds in Retry-After. Check the store's health and capacity.",
  },
  session_missing: {
    status: 503,
    title: "The session middleware did not run",
    cause:
      '`session: "host"` is set, but this request has no session of the framework. The session middleware is missing, runs after idpauth, or has lost its store.',
    remedy: "Install the framework's session middleware before idpauth. Check the health of its store.",
  },
  sign_in_denied: {
    status: 403,
    title: "You may not sign in here",
    cause: "The application's `onSignIn` refused this user with `deny()`. There is no new session, and the tokens are revoked.",
    remedy: "This is the application's decision. If it is unexpected, check that function.",
  },
  claims_rejected: {
    status: 403,
    title: "Your account lacks information that this application needs",
    cause: "The application's claims schema (`claims`) does not accept what the provider says about this user.",
    remedy:
      "The log line `claims_refused` names the claims, without values. Have the provider send them (scopes, claim mappings, `userinfo`), or allow other values in the schema.",
  },
  step_up_failed: {
    status: 403,
    title: "The identity provider did not confirm your identity again",
    cause:
      "A route requires a recent or strong authentication (`maxAge`, `acr`). The provider's ID token does not show it: `auth_time` or `acr` is missing, too old or too weak. Or another user signed in.",
    remedy: "Check that the provider supports `max_age` and `acr_values`, and that both are allowed for this client.",
  },
  cross_origin: {
    status: 403,
    title: "This request did not come from this site",
    cause:
      "A form that changes something was posted from a page of another origin, or by a program that sends neither Sec-Fetch-Site nor Origin.",
    remedy: "Post the form from a page of the application's own origin. If a proxy changes the Host header, set BASE_URL.",
  },
  session_ended: {
    status: 401,
    title: "The session has ended",
    cause: "The signal of `whenEnded` aborts with this error when the session of its request ends. `reason` says why.",
    remedy: "Close the connection. The browser learns why at its next request.",
  },
  forbidden: {
    status: 403,
    title: "You may not open this page",
    cause: "The user is signed in, but the route's `allow` did not return true.",
    remedy: "Give the user the right that `allow` checks. A new sign-in does not help unless the claims have changed.",
  },
  insufficient_user_authentication: {
    status: 401,
    title: "Sign in again to continue",
    cause: "The route requires a more recent or stronger authentication than the session has (`maxAge`, `acr`; RFC 9470).",
    remedy: "Send the user to `login_url`.",
  },
  hook_failed: {
    status: 503,
    title: "The sign-in cannot be completed right now",
    cause:
      "A function of the application (`onSignIn`, `onRefresh` or the claims schema) threw, or took longer than `hookTimeout`. Existing sessions are kept.",
    remedy: "The log line `hook_threw` names the function, the kind of error and its place. Correct that function.",
  },
  provider_refused: {
    status: 400,
    title: "The identity provider refused the sign-in or refresh",
    cause:
      "The provider refused a code or a refresh token, or the ID token failed a check. Only authors of adapters see this code: endpoints respond with `sign_in_refused`, and a refused refresh ends the session with `refresh_rejected`.",
    remedy: "Have the user sign in again.",
  },
});

export type ErrorCode = keyof typeof ERRORS;

/** Marks every error of this package, in all of its copies. */
const BRAND = Symbol.for("idpauth.error");

/** The base class of errors that the configuration, the provider or the store causes. Wrong use of the API is a TypeError. */
export class IdpAuthError extends Error {
  /** The class's name. Minifiers do not change it. */
  static readonly className: string = "IdpAuthError";

  readonly code: ErrorCode;
  /** The HTTP status. Some frameworks read `status`, others `statusCode`. */
  readonly status: number;
  readonly statusCode: number;
  readonly remedy: string;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; remedy?: string }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.className;
    this.code = code;
    this.status = ERRORS[code].status;
    this.statusCode = this.status;
    this.remedy = options?.remedy ?? ERRORS[code].remedy;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognizes errors of all copies of this package, since bundlers put several copies into one process. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== "object" || value === null || !(BRAND in value)) return false;
    return this === IdpAuthError || (value as { readonly name?: unknown }).name === this.className;
  }
}

/** One result of a startup check. */
export interface Finding {
  /** `E001`…, `W001`…; see docs/reference/errors.md. */
  readonly code: string;
  readonly severity: "error" | "warning";
  /** What is wrong, and which setting. Never contains a secret. */
  readonly message: string;
  readonly remedy: string;
}

/** The application must not start. Contains all findings, errors first. */
export class ConfigurationError extends IdpAuthError {
  static override readonly className = "ConfigurationError";
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    const lines = findings.map((finding) => `  ${finding.code} ${finding.message}\n       ${finding.remedy}`);
    super("configuration_invalid", `idpauth cannot start:\n${lines.join("\n")}`);
    this.findings = findings;
  }
}

/** Seconds. Every retry fails until an operator corrects the settings. */
const MISCONFIGURED_RETRY_AFTER = 60;

/**
 * The provider did not respond, gave an unusable response, or is not set up correctly (`code` is then `provider_misconfigured`).
 * The session is kept. A later call may succeed.
 */
export class ProviderUnavailableError extends IdpAuthError {
  static override readonly className = "ProviderUnavailableError";
  /** Seconds to wait before the next try. */
  readonly retryAfter: number;
  /** The cause as a stable word for the log: `network`, `timeout`, `http_503`, `jwks`, `invalid_client`, `backing_off`, … */
  readonly reason: string;

  /** @param options `misconfigured`: an operator must change the configuration; waiting does not help */
  constructor(reason: string, options: { cause?: unknown; retryAfter?: number; misconfigured?: boolean } = {}) {
    const { misconfigured = false, retryAfter = 1 } = options;
    const code = misconfigured ? "provider_misconfigured" : "provider_unavailable";
    super(code, `${ERRORS[code].title} (${reason}).`, options);
    this.reason = reason;
    this.retryAfter = misconfigured ? MISCONFIGURED_RETRY_AFTER : retryAfter;
  }

  get isMisconfiguration(): boolean {
    return this.code === "provider_misconfigured";
  }
}

/** The provider refused definitely. The request is not repeated. */
export class ProviderRefusedError extends IdpAuthError {
  static override readonly className = "ProviderRefusedError";
  /** The failed check or the provider's error code, as a stable word for the log: `invalid_grant`, `id_token_signature`, `id_token_sub`, … */
  readonly reason: string;

  constructor(reason: string, options?: { cause?: unknown }) {
    super("provider_refused", `The identity provider refused, or its response failed a check (${reason}).`, options);
    this.reason = reason;
  }
}

/** The store did not respond. The state of the session is unknown, and it was not changed. */
export class StoreUnavailableError extends IdpAuthError {
  static override readonly className = "StoreUnavailableError";
  readonly retryAfter: number;

  constructor(message = "The session store cannot be reached right now.", options?: { cause?: unknown; retryAfter?: number }) {
    super("store_unavailable", message, options);
    this.retryAfter = options?.retryAfter ?? 1;
  }
}

/** Returns the error itself if it is a StoreUnavailableError; otherwise wraps it in one. */
export function asStoreUnavailable(error: unknown): StoreUnavailableError {
  return error instanceof StoreUnavailableError ? error : new StoreUnavailableError(undefined, { cause: error });
}

/** The functions of an application that take part in a sign-in. */
export type HookName = "claims" | "onSignIn" | "onRefresh" | "onSignOut";

/** A function of the application threw, or took too long. Nothing was decided about the user; a later try may succeed. */
export class HookFailedError extends IdpAuthError {
  static override readonly className = "HookFailedError";
  readonly hook: HookName;
  readonly reason: "threw" | "timeout";
  readonly retryAfter = 1;

  /** @param options `cause`: what the function threw; it may contain tokens, so it is never logged */
  constructor(hook: HookName, reason: "threw" | "timeout", options?: { cause?: unknown }) {
    super("hook_failed", reason === "timeout" ? `\`${hook}\` took longer than hookTimeout.` : `\`${hook}\` threw.`, options);
    this.hook = hook;
    this.reason = reason;
  }
}

/** `session: "host"` is set, and this request has no session of the framework. */
export class SessionMissingError extends IdpAuthError {
  static override readonly className = "SessionMissingError";
  constructor() {
    super("session_missing", `${ERRORS.session_missing.title}: this request has no session of the framework.`);
  }
}

/** Whether an error is an outage of the provider, the store or the application's own code: the response is 503, and the session is kept. */
export function isOutage(
  error: unknown,
): error is ProviderUnavailableError | StoreUnavailableError | SessionMissingError | HookFailedError {
  return [ProviderUnavailableError, StoreUnavailableError, SessionMissingError, HookFailedError].some((kind) => error instanceof kind);
}

/** Returns the cause of an error as a stable word, for the log and events. */
export function failureReason(error: unknown): string {
  if (error instanceof ProviderRefusedError || error instanceof ProviderUnavailableError) return error.reason;
  return error instanceof IdpAuthError ? error.code : "unexpected";
}
