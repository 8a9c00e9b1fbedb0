import { ConfigurationError, ERRORS, type ErrorCode } from "../../index.js";
import type { BrowserResponse } from "../browser/cookie-browser.js";

/** A part of the way: the application's login, the provider's answer, the application's callback, its session afterwards. */
export type SignInStep = "login" | "provider" | "callback" | "session";

/** `signIn` came to no end. The message says where it stopped and what to check; it has nothing secret in it. */
export class SignInError extends Error {
  override readonly name = "SignInError";
  readonly step: SignInStep;
  /** Of the answer that ended it; undefined when there was none. */
  readonly status: number | undefined;
  /** A code of docs/reference/errors.md, or of the provider's error answer, where there was one. */
  readonly code: string | undefined;

  constructor(step: SignInStep, message: string, details: { status?: number; code?: string | undefined; cause?: unknown } = {}) {
    super(`signIn stopped at the ${step}: ${message}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.step = step;
    this.status = details.status;
    this.code = details.code;
  }
}

/** What to look at, beside what the table of errors says of the code. */
const HINTS: Partial<Record<string, string>> = {
  provider_unavailable:
    "Does the provider run (a fault, `pause` or `stop` may have ended that), and has the application got its `provider.env`, " +
    "with the client's secret? After an earlier failure it is asked again only after a while: move the clock on. " +
    "The application's log has the reason.",
  store_unavailable: "Does the store of the sessions run?",
  login_link_invalid: "The cookie of the login did not come back, or the sessions are not kept between two requests.",
  sign_in_refused:
    "The application does not accept what the provider says. Do both use one clock (`clock: provider.clock`)? " +
    "Does a hook such as `mutateIdToken` still stand? The application's log has the reason.",
  session_missing: "The session middleware has to run before idpauth.",
  not_found: "Is idpauth mounted at the path in option `mountPath`?",
};

/**
 * An answer of the application that leads no further.
 *
 * @param latest what the application's function threw last, in whatever request; only a 500 can come of that
 */
export function deadEnd(step: SignInStep, answer: BrowserResponse, latest: unknown): SignInError {
  const { status } = answer;
  const failure = status === 500 ? latest : undefined;
  const code = codeIn(answer);
  const where = `${placeOf(answer.url)} answered ${status}`;
  if (code !== undefined) return new SignInError(step, `${where}, ${explained(code)}`, { status, code, cause: failure });
  if (failure instanceof ConfigurationError) {
    const codes = failure.findings.filter(({ severity }) => severity === "error").map((finding) => finding.code);
    return new SignInError(step, `${where}, idpauth cannot start: ${codes.join(", ")}. See the cause.`, { status, cause: failure });
  }
  const hint =
    status === 404
      ? "Is idpauth mounted, before whatever answers 404? If it is, and not at `/idpauth/`, set the option `mountPath`."
      : status >= 500
        ? "The application itself failed; see its log."
        : "A redirect was expected. Does something in the application answer before idpauth?";
  return new SignInError(step, `${where}. ${hint}`, { status, cause: failure });
}

/** What an error code means, and what to look at. */
function explained(code: string): string {
  const row = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : undefined;
  return [`${code}${row === undefined ? "" : `: ${row.title}`}.`, HINTS[code] ?? row?.remedy]
    .filter((part) => part !== undefined)
    .join(" ");
}

/** The code of a problem document (RFC 9457) or of an OAuth error answer, if it looks like one. */
export function codeIn(answer: BrowserResponse): string | undefined {
  if (!/\bjson\b/i.test(answer.headers["content-type"] ?? "")) return undefined;
  try {
    const { code, error } = answer.json() as { code?: unknown; error?: unknown };
    return errorCode(code ?? error);
  } catch {
    return undefined;
  }
}

/** Nothing else than a code is repeated: a value could be a secret. */
export function errorCode(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z]+(?:_[a-z]+)*$/.test(value) && value.length <= 64 ? value : undefined;
}

/** Without the query, which may hold state and code. */
export function placeOf({ origin, pathname }: URL): string {
  return origin + pathname;
}
