import { ERRORS, type ErrorCode } from "./error-table.js";

export { PAGE_ERRORS } from "./error-table.js";
export { ERRORS, type ErrorCode };

/** Marks every error of this package, in all of its copies. */
const BRAND = Symbol.for("idpauth.error");

/**
 * The base class of errors that the configuration, the provider or the store causes. Wrong use of
 * the API is a TypeError.
 */
export class IdpAuthError extends Error {
  /** The class's name. Minifiers do not change it. */
  static readonly className: string = "IdpAuthError";

  /** Stable; docs/reference/errors.md lists them. */
  readonly code: ErrorCode;
  /** The HTTP status. Some frameworks read `status`, others `statusCode`. */
  readonly status: number;
  /** The same number as `status`. */
  readonly statusCode: number;
  /** What a developer or operator can do about it. */
  readonly remedy: string;
  /**
   * Returns the response for frameworks that read it from an error nobody caught, as Hono does: a
   * problem document with nothing of the error but its code. Absent with the status 500, a mistake
   * that frameworks report as any other.
   */
  declare readonly getResponse?: () => Response;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; remedy?: string }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.className;
    this.code = code;
    this.status = ERRORS[code].status;
    this.statusCode = this.status;
    this.remedy = options?.remedy ?? ERRORS[code].remedy;
    Object.defineProperty(this, BRAND, { value: true });
    if (this.status !== 500)
      Object.defineProperty(this, "getResponse", { value: () => responseOf(this) });
  }

  /**
   * Recognizes errors of all copies of this package, since bundlers put several copies into one
   * process.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== "object" || value === null || !(BRAND in value)) return false;
    return this === IdpAuthError || (value as { readonly name?: unknown }).name === this.className;
  }
}

/** The problem document of an error (RFC 9457). */
function responseOf(error: IdpAuthError): Response {
  const { code, status } = error;
  const { title } = ERRORS[code];
  const { retryAfter } = error as { readonly retryAfter?: number };
  const body = { type: "about:blank", title, status, code, detail: `${title}.` };
  const headers = {
    "Cache-Control": "no-store",
    "Content-Type": "application/problem+json; charset=utf-8",
    ...(retryAfter !== undefined && { "Retry-After": String(Math.ceil(retryAfter)) }),
  };
  return new Response(JSON.stringify(body), { status, headers });
}

/** One result of a startup check. */
export interface Finding {
  /** `E001`…, `W001`…; see docs/reference/errors.md. */
  readonly code: string;
  /** An error keeps the application from starting. */
  readonly severity: "error" | "warning";
  /** What is wrong, and which setting. Never contains a secret. */
  readonly message: string;
  /** How to correct it. */
  readonly remedy: string;
}

/**
 * Returns where a code is explained. A release replaces the page by the site's address, which needs
 * the code in upper case.
 */
export function seeExplanation(code: string): string {
  return `See docs/reference/errors.md#${code}`.replace(/#.+/, (anchor) => anchor.toLowerCase());
}

/** The application must not start. Contains all findings, errors first. */
export class ConfigurationError extends IdpAuthError {
  static override readonly className = "ConfigurationError";
  /** At least one has the severity `error`. */
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    const lines = findings.map(
      ({ code, message, remedy }) =>
        `  ${code} ${message}\n       ${remedy}\n       ${seeExplanation(code)}`,
    );
    super("configuration_invalid", `idpauth can't start:\n${lines.join("\n")}`);
    this.findings = findings;
  }
}

/** Every retry fails until an operator corrects the settings. */
const MISCONFIGURED_RETRY_SECONDS = 60;

/**
 * The provider did not respond, gave an unusable response, or is not set up correctly (`code` is
 * then `provider_misconfigured`). The session is kept. A later call may succeed.
 */
export class ProviderUnavailableError extends IdpAuthError {
  static override readonly className = "ProviderUnavailableError";
  /** Seconds to wait before the next try. */
  readonly retryAfter: number;
  /**
   * The cause as a stable word for the log: `network`, `certificate`, `timeout`, `http_503`,
   * `jwks`, `invalid_client`, `backing_off`, …
   */
  readonly reason: string;
  /**
   * True: only this session waits for the provider, so a new sign-in may succeed at once. The
   * session stays until then.
   */
  readonly loginHelps: boolean;
  /** With `loginHelps`, the key of the session's provider. Undefined: the only provider has none. */
  readonly provider: string | undefined;

  /**
   * @param options `misconfigured`: an operator must change the configuration; waiting does not
   *   help
   */
  constructor(
    reason: string,
    options: {
      cause?: unknown;
      retryAfter?: number;
      misconfigured?: boolean;
      loginHelps?: boolean;
      provider?: string | undefined;
    } = {},
  ) {
    const { misconfigured = false, retryAfter = 1, loginHelps = false } = options;
    const code = misconfigured ? "provider_misconfigured" : "provider_unavailable";
    super(code, `${ERRORS[code].title} (${reason}).`, options);
    this.reason = reason;
    this.retryAfter = misconfigured ? MISCONFIGURED_RETRY_SECONDS : retryAfter;
    this.loginHelps = loginHelps;
    this.provider = options.provider;
  }

  /** True: an operator must correct the settings; waiting doesn't help. */
  get isMisconfiguration(): boolean {
    return this.code === "provider_misconfigured";
  }
}

/** The provider refused definitely. The request is not repeated. */
export class ProviderRefusedError extends IdpAuthError {
  static override readonly className = "ProviderRefusedError";
  /**
   * The failed check or the provider's error code, as a stable word for the log: `invalid_grant`,
   * `id_token_signature`, `id_token_sub`, …
   */
  readonly reason: string;
  /**
   * What the next login has to ask for, as the text of the parameter `claims` (OpenID Connect Core
   * section 5.5). Entra ID sends it with `interaction_required`.
   */
  readonly claims: string | undefined;

  constructor(reason: string, options?: { cause?: unknown; claims?: string | undefined }) {
    super(
      "sign_in_refused",
      `The identity provider refused, or its response failed a check (${reason}).`,
      options,
    );
    this.reason = reason;
    this.claims = options?.claims;
  }
}

/** There is no access token for this API now. The session continues. */
export class ApiTokenError extends IdpAuthError {
  static override readonly className = "ApiTokenError";
  /** The name of the API in the option `apis`. */
  readonly api: string;
  /**
   * The cause as a stable word for the log: `consent_required`, `invalid_target`,
   * `api_token_audience`, `no_refresh_token`, …
   */
  readonly reason: string;
  /** The login that asks for what is missing; undefined if a login does not help. */
  readonly loginUrl: string | undefined;

  // eslint-disable-next-line @typescript-eslint/max-params -- Applications construct it in their tests.
  constructor(
    code:
      "api_sign_in_required" | "api_token_refused" | "api_token_missing" | "api_provider_mismatch",
    api: string,
    reason: string,
    loginUrl?: string,
  ) {
    super(code, `${ERRORS[code].title}: ${api} (${reason}).`);
    this.api = api;
    this.reason = reason;
    this.loginUrl = loginUrl;
  }
}

/** The store did not respond. The state of the session is unknown, and it was not changed. */
export class StoreUnavailableError extends IdpAuthError {
  static override readonly className = "StoreUnavailableError";
  /** Seconds to wait before the next try. Default 1. */
  readonly retryAfter: number;

  constructor(
    message = "The session store can't be reached right now.",
    options?: { cause?: unknown; retryAfter?: number },
  ) {
    super("store_unavailable", message, options);
    this.retryAfter = options?.retryAfter ?? 1;
  }
}

/** Returns the error itself if it is a StoreUnavailableError; otherwise wraps it in one. */
export function asStoreUnavailable(error: unknown): StoreUnavailableError {
  return error instanceof StoreUnavailableError
    ? error
    : new StoreUnavailableError(undefined, { cause: error });
}

/** The functions of an application that take part in a sign-in. */
export type HookName = Exclude<HookFailedError["hook"], "baseUrl">;

/**
 * A function of the application threw, or took too long. Nothing was decided about the user; a
 * later try may succeed.
 */
export class HookFailedError extends IdpAuthError {
  static override readonly className = "HookFailedError";
  /** The name of the option that contains the function. */
  readonly hook: "claims" | "onSignIn" | "onRefresh" | "onSignOut" | "baseUrl";
  /** `timeout`: it ran longer than `hookTimeout`, or `baseUrl` longer than five seconds. */
  readonly reason: "threw" | "timeout";
  /** Seconds to wait before the next try. */
  readonly retryAfter = 1;

  /**
   * @param options `cause`: what the function threw; it may contain tokens, so it is never logged
   */
  constructor(
    hook: HookFailedError["hook"],
    reason: "threw" | "timeout",
    options?: { cause?: unknown },
  ) {
    super(
      "hook_failed",
      reason === "timeout"
        ? `\`${hook}\` took longer than ${hook === "baseUrl" ? "5 seconds" : "hookTimeout"}.`
        : `\`${hook}\` threw.`,
      options,
    );
    this.hook = hook;
    this.reason = reason;
  }
}

/** `session: "host"` is set, and this request has no session of the framework. */
export class SessionMissingError extends IdpAuthError {
  static override readonly className = "SessionMissingError";
  constructor() {
    super(
      "session_missing",
      `${ERRORS.session_missing.title}: the framework didn't create a session for this request.`,
    );
  }
}

/**
 * `requireSession` or `eventStream` was called for a request that no guard of this `auth` object let
 * pass: a mistake in the application's routes.
 */
export class GuardMissingError extends IdpAuthError {
  static override readonly className = "GuardMissingError";
  constructor(called = "requireSession") {
    const missing = `\`${called}\` was called, but no guard of the same \`auth\` (\`auth.idpRequired\`, \`auth.idpRequiredWith\`) let the request pass.`;
    super("guard_missing", `${missing} ${ERRORS.guard_missing.remedy}`);
  }
}

/**
 * Returns what a function of the application threw as something that every framework takes for an
 * error. Some let a request pass if their continuation gets a falsy value, or a word such as `route`.
 *
 * @param name of the function
 */
export function thrownBy(name: string, thrown: unknown): unknown {
  return typeof thrown === "object" && thrown !== null
    ? thrown
    : new Error(`\`${name}\` threw a value that isn't an error.`, { cause: thrown });
}

/**
 * Where an error was thrown: the first frame of its stack. Never its message, which may contain a
 * token or a claim, and lines that look like frames. Undefined if the message cannot be told from
 * the frames.
 */
export function placeOf(error: unknown): string | undefined {
  try {
    if (!(error instanceof Error) || typeof error.stack !== "string") return undefined;
    const { message, stack } = error;
    const start = stack.indexOf(message);
    if (start === -1) return undefined;
    const frame = stack
      .slice(start + message.length)
      .split("\n")
      .find((line) => /^\s+at /.test(line));
    return frame?.trim().slice(0, 200);
  } catch {
    // The application's error may have a getter that throws.
    return undefined;
  }
}

/**
 * Whether an error is an outage of the provider, the store or the application's own code: the
 * response is 503, and the session is kept.
 *
 * @example
 * try {
 *   await auth.getAccessToken(request);
 * } catch (error) {
 *   if (!isOutage(error)) throw error;
 *   // The user may still be signed in: show the page without the data.
 * }
 */
export function isOutage(
  error: unknown,
): error is
  ProviderUnavailableError | StoreUnavailableError | SessionMissingError | HookFailedError {
  return [
    ProviderUnavailableError,
    StoreUnavailableError,
    SessionMissingError,
    HookFailedError,
  ].some((kind) => error instanceof kind);
}

/** Returns the cause of an error as a stable word, for the log and events. */
export function failureReason(error: unknown): string {
  if (
    error instanceof ProviderRefusedError ||
    error instanceof ProviderUnavailableError ||
    error instanceof ApiTokenError
  )
    return error.reason;
  return error instanceof IdpAuthError ? error.code : "unexpected";
}
