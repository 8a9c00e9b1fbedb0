import { placeOf } from "../errors.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { Events, ProviderEndpoint } from "./events.js";
import type { LogDetails, LogEntry } from "./log.js";

/**
 * The table of the log's codes that are neither error codes (docs/reference/errors.md has those)
 * nor startup checks. Codes are never renamed. Every refusal and every outage has a line, so you
 * see it without listening to events. The documentation has the meanings. Each has its level, and
 * the log line without its full stop. The reason follows in parentheses, if there is one.
 */
export const LOG_CODES = {
  started: ["info", "idpauth has started"],
  not_mounted: [
    "error",
    "A guard blocked a request, but idpauth's endpoints aren't mounted, so nobody can sign in. Mount them, for example with `auth.mount(app)`",
  ],
  forwarded_list: [
    "warn",
    "`X-Forwarded-Proto` or `X-Forwarded-Host` contains a list, and BASE_URL isn't set, so the framework decides which entry is part of the application's origin. Set BASE_URL",
  ],
  blocked: ["info", "The guard blocked a request"],
  callback_failed: ["warn", "A sign-in couldn't be completed"],
  data_overwritten: [
    "warn",
    "`onSignIn` replaced data that `updateData` had changed while the hook ran",
  ],
  function_threw: ["error", "A function of the application threw or took too long"],
  login_failed: ["warn", "A sign-in couldn't be started"],
  logout_failed: ["warn", "A sign-out failed"],
  logout_not_at_provider: ["warn", "A logout couldn't continue at the provider"],
  backchannel_logout_failed: ["warn", "A back-channel logout failed"],
  frontchannel_logout_failed: ["warn", "A front-channel logout failed"],
  sid_missing: [
    "warn",
    "Logout by the provider is on, but the ID tokens don't contain `sid`, so a logout might not end any session",
  ],
  api_scopes_missing: [
    "warn",
    "The provider granted an API's token with fewer scopes than requested",
  ],
  api_failed: ["warn", "An API didn't respond as it should"],
  api_location_dropped: [
    "info",
    "An API sent a Location that's neither below its `url` nor below the proxy's path, so the browser didn't get this header",
  ],
  api_token_failed: ["warn", "There is no access token for an API now; the session continues"],
  refresh_token_given: [
    "info",
    "The provider sends refresh tokens, so the warnings W004 and W103 don't apply",
  ],
  ends_not_told: [
    "warn",
    "The store no longer sends notifications of ended sessions; idpauth polls, and `whenEnded` reacts within 5 seconds",
  ],
  origin_rejected: ["info", "The page to return to isn't a page on this application's origin"],
  refresh_failed: ["error", "A refresh failed; the session continues"],
  refresh_rejected: ["warn", "A refresh was rejected"],
  silent_login_failed: [
    "info",
    "A sign-in with prompt=none wasn't possible; the provider needs to show the user a page",
  ],
  language_not_loaded: [
    "error",
    "A language of the pages couldn't be loaded, so its pages are in English",
  ],
  provider_removed: [
    "warn",
    "A session has ended, because the settings no longer contain its provider: no provider has its issuer and client ID",
  ],
  session_unreadable: [
    "warn",
    "A stored session couldn't be decrypted or read, so idpauth ignores it",
  ],
  closed_late: [
    "warn",
    "The timeout of `auth.close()` has passed, so idpauth broke off what was still open",
  ],
} as const satisfies Record<string, readonly [level: LogEntry["level"], text: string]>;

export type LogCode = keyof typeof LOG_CODES;

/**
 * The outages of the provider that have a line. For the other endpoints the line says what failed
 * because of the outage.
 */
const PROVIDER_OUTAGES: Partial<Record<ProviderEndpoint, string>> = {
  discovery: "The discovery document couldn't be fetched.",
  jwks: "The provider's signing keys couldn't be fetched.",
};

/** The line of a code. @param message default the text of the table */
export function logLine(code: LogCode, message = `${LOG_CODES[code][1]}.`): LogEntry {
  return { level: LOG_CODES[code][0], code, message };
}

/**
 * The line of a code, with the reason in its message and its details.
 * @param about an API, and the cause of its failure
 */
export function reasonLine(
  code: LogCode,
  reason: string,
  { api, cause }: Pick<Events["failure"], "api" | "cause"> = {},
): LogEntry {
  const words = [
    api === undefined ? reason : `${api}: ${reason}`,
    ...(cause === undefined ? [] : [cause]),
  ].join(", ");
  const details = withoutUndefined({ reason, api, cause });
  return { ...logLine(code, `${LOG_CODES[code][1]} (${words}).`), details };
}

/**
 * The line of a function of the application that threw: its name, the kind of error and the place,
 * never the message, which may contain a token.
 *
 * @param name as the application writes it, such as `pages.render`
 */
export function functionThrew(name: string, error: unknown, more: LogDetails = {}): LogEntry {
  const kind = errorNameOf(error);
  const place = placeOf(error);
  return functionFailed(
    `threw ${kind}`,
    withoutUndefined({ function: name, kind, place, ...more }),
  );
}

/** The line of a function of the application that did something else that it must not. */
export function functionFailed(
  what: string,
  details: LogDetails & { readonly function: string; readonly kind: string },
): LogEntry {
  return { ...logLine("function_threw", `\`${details.function}\` ${what}.`), details };
}

function errorNameOf(error: unknown): string {
  if (!(error instanceof Error)) return "not_an_error";
  try {
    const { name }: { readonly name: unknown } = error;
    return typeof name === "string" ? name : "Error";
  } catch {
    // The application's error may have a getter that throws.
    return "Error";
  }
}

/** The line of a failure; undefined if another line reports it. */
export function failureLine({
  during,
  kind,
  reason,
  ...about
}: Events["failure"]): LogEntry | undefined {
  if (during === "refresh")
    return reasonLine(kind === "refusal" ? "refresh_rejected" : "refresh_failed", reason, about);
  // The application's own decision is no failure.
  if (reason === "sign_in_denied")
    return { level: "info", code: reason, message: "`onSignIn` refused a user." };
  if (during !== "session") return reasonLine(`${during}_failed`, reason, about);
  // The outage of the store has its own line.
  return kind === "outage" ? undefined : logLine("session_unreadable");
}

/** The line of an outage; undefined if another line reports it. */
export function outageLine({ side, endpoint, reason }: Events["outage"]): LogEntry | undefined {
  if (side === "session") {
    return {
      level: "error",
      code: "session_missing",
      message:
        'The framework didn\'t create a session for a request, although `session` is "host".',
    };
  }
  if (side === "store") {
    return {
      level: "error",
      code: "store_unavailable",
      message: `The session store didn't respond (${reason}).`,
      details: { reason },
    };
  }
  if (endpoint === undefined) return undefined;
  const message = PROVIDER_OUTAGES[endpoint];
  return message === undefined
    ? undefined
    : { level: "warn", code: "provider_unavailable", message, details: { endpoint, reason } };
}
