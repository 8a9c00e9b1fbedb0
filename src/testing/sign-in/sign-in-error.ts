import { ERRORS } from "../../adapter.js";
import { ConfigurationError, type ErrorCode } from "../../index.js";
import type { BrowserResponse } from "../browser/cookie-browser.js";

/**
 * A step of the sign-in: the application's login, the provider, the application's callback, the
 * session afterwards.
 */
export type SignInStep = "login" | "provider" | "callback" | "session";

/** `signIn` failed. The message names the step and what to check, and contains no secret. */
export class SignInError extends Error {
  /** Minifiers don't change it. */
  override readonly name = "SignInError";
  /** The step that failed. */
  readonly step: SignInStep;
  /** The status of the last response; undefined if there was none. */
  readonly status: number | undefined;
  /** A code of docs/reference/errors.md, or of the provider's error response, if there was one. */
  readonly code: string | undefined;

  constructor(
    step: SignInStep,
    message: string,
    details: { status?: number; code?: string | undefined; cause?: unknown } = {},
  ) {
    super(
      `signIn stopped at the ${step}: ${message}`,
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    this.step = step;
    this.status = details.status;
    this.code = details.code;
  }
}

const REFUSED =
  "The application refuses the provider's response. Check that both use one clock (`clock: provider.clock`) " +
  "and that no hook such as `mutateIdToken` is set. The application's log contains the reason.";

/** What to check, in addition to the table of errors. */
const HINTS: Partial<Record<string, string>> = {
  provider_unavailable:
    "Check that the provider runs, without a fault, `pause` or `stop`, and that the application has its `provider.env`, " +
    "with the client's secret. After a failure, idpauth waits before it tries the provider again: advance the clock. " +
    "The application's log contains the reason.",
  store_unavailable: "Check that the session store runs.",
  login_link_invalid:
    "The browser didn't return the login's cookie, or the application doesn't keep sessions between two requests.",
  sign_in_refused: REFUSED,
  provider_misconfigured:
    "Check that the application has its `provider.env` and its clock (`clock: provider.clock`). " +
    "`provider.violations` and the application's log contain the cause.",
  claims_rejected:
    "The schema in the option `claims` doesn't accept the person's claims. The log line `claims_rejected` names them.",
  session_missing: "Run the session middleware before idpauth.",
  not_found: "Check that idpauth is mounted at the path in the option `mountPath`.",
};

/**
 * Returns the error for a response of the application that is no redirect.
 *
 * @param latest the last error of the application's function, in any request; used only for a 500
 */
export function deadEnd(step: SignInStep, response: BrowserResponse, latest: unknown): SignInError {
  const { status } = response;
  const failure = status === 500 ? latest : undefined;
  const code = codeIn(response);
  const where = `${placeOf(response.url)} responded with ${status}`;
  if (code === "sign_in_denied") {
    const rule =
      "Check the rule in `onSignIn`, and the claims that it reads, such as `email_verified` for `emailDomain`.";
    return new SignInError(
      step,
      `${where}, ${code}: \`onSignIn\` returned deny(), and the user sees: "${detailIn(response)}" ${rule}`,
      {
        status,
        code,
      },
    );
  }
  if (code !== undefined)
    return new SignInError(step, `${where}, ${explained(code)}`, { status, code, cause: failure });
  if (failure instanceof ConfigurationError) {
    const codes = failure.findings
      .filter(({ severity }) => severity === "error")
      .map((finding) => finding.code);
    return new SignInError(
      step,
      `${where}, idpauth can't start: ${codes.join(", ")}. See the cause.`,
      { status, cause: failure },
    );
  }
  const hint =
    status === 404
      ? "Mount idpauth before the handler that responds with 404. If idpauth isn't at `/idpauth/`, set the option `mountPath`."
      : status >= 500
        ? "The application failed. See its log."
        : "A redirect was expected. Check whether another part of the application responds before idpauth.";
  return new SignInError(step, `${where}. ${hint}`, { status, cause: failure });
}

/**
 * Returns the error for a login at one of several providers whose key is missing or wrong;
 * undefined for any other response.
 */
export function providerNotChosen(response: BrowserResponse): SignInError | undefined {
  const { status } = response;
  const code = codeIn(response);
  if (code === undefined) return undefined;
  const { providers, valid_options } = response.json() as {
    readonly providers?: readonly { readonly key: string }[];
    readonly valid_options?: { readonly provider?: readonly string[] };
  };
  const keys = providers?.map(({ key }) => key) ?? valid_options?.provider;
  if (keys === undefined) return undefined;
  const listed = keys.map((key) => JSON.stringify(key)).join(", ");
  // Those of a source aren't listed.
  const message = `the application has several providers. Set the option \`provider\` to the key of one of them${listed === "" ? "" : `: ${listed}`}.`;
  return new SignInError("login", message, { status, code });
}

/** Returns the meaning of an error code, and what to check. */
function explained(code: string): string {
  const row = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : undefined;
  return [`${code}${row === undefined ? "" : `: ${row.title}`}.`, HINTS[code] ?? row?.remedy]
    .filter((part) => part !== undefined)
    .join(" ");
}

/** Returns the code of a problem document (RFC 9457) or of an OAuth error response. */
export function codeIn(response: BrowserResponse): string | undefined {
  if (!/\bjson\b/i.test(response.headers["content-type"] ?? "")) return undefined;
  try {
    const { code, error } = response.json() as { code?: unknown; error?: unknown };
    return errorCode(code ?? error);
  } catch {
    return undefined;
  }
}

/** Returns the detail of a problem document; for a denial, it is the message of `deny()`. */
function detailIn(response: BrowserResponse): string {
  const { detail } = response.json() as { detail?: unknown };
  return typeof detail === "string" ? detail : "";
}

/** The form of a code. Other values could be secret and are not repeated. */
export function errorCode(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z]+(?:_[a-z]+)*$/.test(value) && value.length <= 64
    ? value
    : undefined;
}

/** Returns the address without its query, which may contain state and code. */
export function placeOf({ origin, pathname }: URL): string {
  return origin + pathname;
}
