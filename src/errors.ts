/** One row of the table of errors, from which docs/reference/errors.md is generated. */
interface ErrorRow {
  /** The HTTP status that the component's own answers, and a host's error handler, use. */
  readonly status: number;
  /** What happened, in one short sentence for a person. */
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

/** THE table of errors: every code that an answer, an exception or a log line can carry. Codes are never renamed. */
export const ERRORS = {
  configuration_invalid: {
    status: 500,
    title: "The sign-in component is not configured correctly",
    cause: "One or more startup checks failed; the exception lists every finding.",
    remedy: "Correct each finding as its remedy says and start again. `npx idpauth check` lists them without starting.",
  },
  invalid_parameter: {
    status: 400,
    title: "A query parameter has no valid value",
    cause: "`scheme` or `response` is unknown, empty or given more than once, or the two do not go together.",
    remedy: "Use one of the values in `valid_options`.",
  },
  host_invalid: {
    status: 400,
    title: "The Host header is not usable",
    cause: "The request's Host header is missing or is no host name, so there is no address to come back to.",
    remedy: "Set BASE_URL; then the Host header is not needed.",
  },
  login_loop: {
    status: 500,
    title: "The sign-in page redirects to itself",
    cause:
      "A login is sent to BASE_URL's host and comes back with another Host header: a development proxy or the framework rewrites Host. The response and the log name the Host header and BASE_URL.",
    remedy:
      "Pass Host on unchanged, or set BASE_URL to the origin that browsers use. Vite: remove `changeOrigin` from the proxy. Astro: list the host in `security.allowedDomains`. If a trusted proxy sends X-Forwarded-Host, set IDP_TRUST_PROXY.",
  },
  login_link_invalid: {
    status: 400,
    title: "This sign-in link is no longer valid",
    cause: "The callback's state is missing, repeated, unknown, expired, already used, or belongs to another browser.",
    remedy:
      "Start the sign-in again. If it happens every time, check that the cookie reaches the callback: same host as BASE_URL, and no proxy that drops cookies.",
  },
  sign_in_refused: {
    status: 400,
    title: "The sign-in could not be completed",
    cause:
      "The provider refused the code, or its ID token or issuer did not pass verification. Or the sign-in was started before the present one and came back for another user.",
    remedy: "Start the sign-in again. If it happens every time, the log names the check that failed; compare client, issuer and clock.",
  },
  login_required: {
    status: 401,
    title: "Sign-in is required",
    cause: "The guarded route was asked for without a session within policy.",
    remedy: "Send the visitor to `login_url`.",
  },
  not_found: {
    status: 404,
    title: "There is nothing here",
    cause: "The path lies under the mount path but is no endpoint, or is the debug endpoint outside debug mode.",
    remedy: "Check the path; docs/reference/endpoints.md lists the endpoints.",
  },
  method_not_allowed: {
    status: 405,
    title: "This method is not allowed here",
    cause: "All endpoints are GET; index, session and debug also answer HEAD.",
    remedy: "Use a method that the Allow header lists.",
  },
  prefetch_refused: {
    status: 503,
    title: "Not available to prefetching",
    cause: "A browser or framework prefetched login or logout, which would act without a click.",
    remedy: "Nothing to do: the real click is answered. Exclude the two links from prefetching to save the request.",
  },
  provider_unavailable: {
    status: 503,
    title: "The identity provider cannot be reached right now",
    cause: "Network failure, timeout, an answer that is no answer, or an operator's mistake that the log names. The session is kept.",
    remedy: "Try again after Retry-After seconds. Nobody has been signed out.",
  },
  provider_misconfigured: {
    status: 503,
    title: "Sign-in is not set up correctly",
    cause:
      "The application and the provider do not fit together: for example a wrong client secret, an issuer that differs, a discovery document that redirects, or encrypted ID tokens. Sessions are kept.",
    remedy: "Read the log line with this code: it names the cause. `npx idpauth check --live` finds it, too.",
  },
  store_unavailable: {
    status: 503,
    title: "Sessions cannot be reached right now",
    cause: "The session store did not answer in time, or cannot take another login. Nothing was changed and no cookie was touched.",
    remedy: "Try again after Retry-After seconds; look at the store's health and capacity.",
  },
  session_missing: {
    status: 503,
    title: "The session middleware did not run",
    cause:
      '`session: "host"` is configured, but this request carries no session of the host: the middleware is missing, comes later, or has lost its store.',
    remedy: "Install the host's session middleware before idpauth, and look at its store's health.",
  },
  provider_refused: {
    status: 400,
    title: "The identity provider said no",
    cause:
      "The provider refused a code or a refresh token, or the ID token did not pass verification. Seen by host authors only: endpoints answer `sign_in_refused`, a refresh ends the session with `refresh_rejected`.",
    remedy: "A new sign-in.",
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** On every error of this package, whichever copy of it made the error. */
const BRAND = Symbol.for("idpauth.error");

/** Base of every error that the outside world or the configuration causes. A programmer's misuse is a TypeError instead. */
export class IdpAuthError extends Error {
  /** The class's name, which minifiers do not change. Each class has its own. */
  static readonly className: string = "IdpAuthError";

  readonly code: ErrorCode;
  /** HTTP status; frameworks read it under either name. */
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

  /** Bundlers make several copies of this package in one process, and each must know the errors of the others. */
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
  /** What is wrong here. Names settings, never a secret's content. */
  readonly message: string;
  readonly remedy: string;
}

/** The host must not start: holds every finding, errors first. */
export class ConfigurationError extends IdpAuthError {
  static override readonly className = "ConfigurationError";
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    const lines = findings.map((finding) => `  ${finding.code} ${finding.message}\n       ${finding.remedy}`);
    super("configuration_invalid", `idpauth cannot start:\n${lines.join("\n")}`);
    this.findings = findings;
  }
}

/** Seconds. People repair a wrong set-up; until then every retry fails. */
const MISCONFIGURED_RETRY_AFTER = 60;

/**
 * The provider did not respond, gave an unusable response, or is not set up correctly (`code` is then `provider_misconfigured`).
 * The session stays; a later call may succeed.
 */
export class ProviderUnavailableError extends IdpAuthError {
  static override readonly className = "ProviderUnavailableError";
  /** Seconds after which it is worth trying again. */
  readonly retryAfter: number;
  /** What happened, as a stable word for the log: `network`, `timeout`, `http_503`, `jwks`, `invalid_client`, `backing_off`, … */
  readonly reason: string;

  /** @param options `misconfigured`: an operator has to change the set-up; waiting does not help */
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

/** The provider's answer is a definite no. Not asked again. */
export class ProviderRefusedError extends IdpAuthError {
  static override readonly className = "ProviderRefusedError";
  /** The check or the answer that failed, as a stable word for the log: `invalid_grant`, `id_token_signature`, `id_token_sub`, … */
  readonly reason: string;

  constructor(reason: string, options?: { cause?: unknown }) {
    super("provider_refused", `The identity provider's answer was refused (${reason}).`, options);
    this.reason = reason;
  }
}

/** The store did not answer; nothing is known about the session, and nothing was changed. */
export class StoreUnavailableError extends IdpAuthError {
  static override readonly className = "StoreUnavailableError";
  readonly retryAfter: number;

  constructor(message = "The session store cannot be reached right now.", options?: { cause?: unknown; retryAfter?: number }) {
    super("store_unavailable", message, options);
    this.retryAfter = options?.retryAfter ?? 1;
  }
}

/** Whatever a store rejects with, the caller learns one thing: it could not answer. */
export function asStoreUnavailable(error: unknown): StoreUnavailableError {
  return error instanceof StoreUnavailableError ? error : new StoreUnavailableError(undefined, { cause: error });
}

/** `session: "host"` is configured and the host has no session on this request. */
export class SessionMissingError extends IdpAuthError {
  static override readonly className = "SessionMissingError";
  constructor() {
    super("session_missing", `${ERRORS.session_missing.title}: this request has no session of the host.`);
  }
}

/** An outage, of whichever side: answered with 503, and nothing lost. */
export function isOutage(error: unknown): error is ProviderUnavailableError | StoreUnavailableError | SessionMissingError {
  return error instanceof ProviderUnavailableError || error instanceof StoreUnavailableError || error instanceof SessionMissingError;
}

/** What happened, as the stable word that log and events carry. */
export function failureReason(error: unknown): string {
  if (error instanceof ProviderRefusedError || error instanceof ProviderUnavailableError) return error.reason;
  return error instanceof IdpAuthError ? error.code : "unexpected";
}
