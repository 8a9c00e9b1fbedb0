import type { LogEntry, LogLevel } from "../ports/log.js";
import type { EventName, Events, ProviderEndpoint } from "./events.js";

interface LineRow {
  readonly level: LogLevel;
  /** The log line, without its full stop. The reason follows in parentheses, if there is one. */
  readonly text: string;
  /** One sentence for the operator. */
  readonly meaning: string;
  readonly remedy: string;
}

/**
 * The table of the log's codes that are neither error codes (docs/reference/errors.md has those) nor startup checks. Codes are never
 * renamed. Every refusal and every outage has a line, so you see it without listening to events.
 */
export const LOG_CODES = {
  blocked: {
    level: "info",
    text: "The guard blocked a request",
    meaning:
      "The guard blocked a request, because the user is not signed in or the session has ended. Or `auth.csrf` blocked a request that a page of another origin may have sent (`cross_origin`).",
    remedy:
      "You need to do nothing. `details.reason` is one of the reason codes below, `forbidden`, `step_up_required` or `cross_origin`. If `cross_origin` affects your own pages, set BASE_URL to the origin that browsers use.",
  },
  callback_failed: {
    level: "warn",
    text: "A sign-in could not be completed",
    meaning: "The user returned from the provider, but the sign-in could not be completed.",
    remedy:
      "`details.reason` names the check. `state`: the callback link was already used, has expired, or belongs to another browser. `iss` and `id_token_…`: the provider's response failed verification. `id_token_tenant`: the user's tenant is not in IDP_ALLOWED_TENANTS. `userinfo_refused` and `userinfo_sub`, with IDP_USERINFO=always: the userinfo endpoint refused the access token, or returned another user. `another_user`: while this sign-in was in progress, the browser signed in as a different user. Any other reason is an error code of the provider, or names an outage.",
  },
  claims_refused: {
    level: "warn",
    text: "The claims schema does not accept a user",
    meaning:
      "The application's claims schema (`claims`) does not accept a user's claims. `details.paths` names the claims, without values.",
    remedy: "Have the provider send the claims as the schema wants them, or change the schema.",
  },
  hook_threw: {
    level: "error",
    text: "A function of the application threw or took too long",
    meaning:
      "`onSignIn`, `onRefresh`, `onSignOut`, `clientData` or the claims schema threw or took longer than `hookTimeout`. `details` names the function, the kind of error and its place in the code. The error's message is left out, because it may contain a token.",
    remedy: "Correct that function.",
  },
  login_failed: {
    level: "warn",
    text: "A sign-in could not be started",
    meaning: "A sign-in could not be started.",
    remedy:
      "`invalid_parameter` in `details.reason`: correct the parameters in the link to the login. `host_invalid`: set BASE_URL. Any other reason names an outage.",
  },
  logout_failed: {
    level: "warn",
    text: "A sign-out was not carried out",
    meaning: "A sign-out failed. The session stays, and the response told the user that the sign-out failed.",
    remedy: "`invalid_parameter` in `details.reason`: correct the parameters in the link to the logout. Any other reason names an outage.",
  },
  logout_not_at_provider: {
    level: "warn",
    text: "A logout could not continue at the provider",
    meaning:
      "IDP_LOGOUT_AT_PROVIDER is on, but a logout ended only the session in the application. If the provider has no `end_session_endpoint`, `details.reason` is that name (logged once). Otherwise `details.reason` names the outage.",
    remedy:
      "Set `end_session_endpoint` in IDP_PROVIDER_METADATA, set IDP_LOGOUT_AT_PROVIDER to `auth0` or `cognito`, or turn the setting off.",
  },
  backchannel_logout_failed: {
    level: "warn",
    text: "A logout by the provider was not carried out",
    meaning:
      "idpauth refused a posted logout token, or could not end its sessions. Anyone can post a token. `details.reason` names the failed check (`logout_token_…`) or the outage. After an outage, idpauth tries again for five minutes.",
    remedy:
      "`logout_token_typ`: if your provider omits the header `typ`, set IDP_ALLOW_UNTYPED_LOGOUT_TOKENS. `logout_token_aud` or `logout_token_iss`: compare IDP_CLIENT_ID and the issuer with the client's registration at the provider.",
  },
  frontchannel_logout_failed: {
    level: "warn",
    text: "A logout by the provider's page was not carried out",
    meaning: "The address for front-channel logout was opened with a missing or wrong `sid` or `iss`, or the store did not respond.",
    remedy: "At the provider, turn on `frontchannel_logout_session_required` for the client. The provider then sends `iss` and `sid`.",
  },
  ends_not_told: {
    level: "warn",
    text: "The store no longer announces ended sessions; idpauth polls, and `whenEnded` reacts within 5 seconds",
    meaning:
      "The store lost the connection on which it receives announced ends. Until it is connected again, each process reads its watched sessions every three seconds.",
    remedy:
      "PostgreSQL: check the client of the option `listen`, which must not go through a pooler in transaction mode. Redis: check the server.",
  },
  origin_rejected: {
    level: "info",
    text: "The page to return to is not on this application's own origin",
    meaning: "A login requests to return to a page on another origin. The sign-in leads to the configured page instead.",
    remedy: "If users of your own pages are affected, compare BASE_URL with the address that they use.",
  },
  refresh_failed: {
    level: "error",
    text: "A refresh failed and the session stays",
    meaning: "Tokens could not be refreshed because of an outage. The session stays, and the next request tries again.",
    remedy: "`details.reason` names the outage. If it is `invalid_client` or similar, correct the client's settings.",
  },
  refresh_rejected: {
    level: "warn",
    text: "A refresh was refused",
    meaning: "The provider refused a refresh token, or its new ID token failed verification. The session ends.",
    remedy:
      "This is normal after the provider has withdrawn a user's access. If it happens often, check the lifetime and rotation of refresh tokens.",
  },
  silent_login_failed: {
    level: "info",
    text: "A sign-in with prompt=none was not possible; the provider needs the user",
    meaning: "A sign-in with `prompt=none` was not possible, because the provider needs the user. The user returned without a new session.",
    remedy: "You need to do nothing. `details.reason` is the provider's error code.",
  },
  page_render_failed: {
    level: "error",
    text: "The option `pages.render` returned no text or threw; the user got the page of idpauth",
    meaning:
      "The function in the option `pages.render` threw, or returned something other than text. The user got the page of idpauth. `details` names the kind of page and the place in the code, without the error's message.",
    remedy: "Correct that function. It returns an HTML document, or `undefined` for the page of idpauth.",
  },
  session_label_failed: {
    level: "error",
    text: "The option `sessionLabel` threw; the session has no label",
    meaning: "The function in the option `sessionLabel` threw. The session has no label.",
    remedy: "Correct that function.",
  },
  session_unreadable: {
    level: "warn",
    text: "A stored session could not be decrypted or read and counts as no session",
    meaning:
      "A stored session could not be decrypted or read, so idpauth ignores it. It has another key or another format, or it was tampered with.",
    remedy: "Give every process the same SECRET_KEY, and list earlier keys in SECRET_KEY_FALLBACKS.",
  },
  listener_failed: {
    level: "error",
    text: "A listener of an event threw",
    meaning: "A listener of an event threw. The request continues.",
    remedy: "Correct that function.",
  },
} as const satisfies Record<string, LineRow>;

export type LogCode = keyof typeof LOG_CODES;

/** The outages of the provider that have a line. For the other endpoints the line says what failed because of the outage. */
const PROVIDER_OUTAGES: Partial<Record<ProviderEndpoint, string>> = {
  discovery: "The discovery document could not be fetched.",
  jwks: "The provider's signing keys could not be fetched.",
};

/** The log line of an event; undefined if the event is no refusal and no outage, or if another line reports it. */
export function lineOf<Name extends EventName>(name: Name, event: Events[Name]): LogEntry | undefined {
  if (name === "blocked") return reasonLine("blocked", (event as Events["blocked"]).reason);
  if (name === "failure") return failureLine(event as Events["failure"]);
  return name === "outage" ? outageLine(event as Events["outage"]) : undefined;
}

/** The line of a code. @param message default the text of the table */
export function logLine(code: LogCode, message = `${LOG_CODES[code].text}.`): LogEntry {
  return { level: LOG_CODES[code].level, code, message };
}

function reasonLine(code: LogCode, reason: string): LogEntry {
  return { ...logLine(code, `${LOG_CODES[code].text} (${reason}).`), details: { reason } };
}

function failureLine({ during, kind, reason }: Events["failure"]): LogEntry | undefined {
  if (during === "refresh") return reasonLine(kind === "refusal" ? "refresh_rejected" : "refresh_failed", reason);
  if (during !== "session") return reasonLine(`${during}_failed`, reason);
  // The outage of the store has its own line.
  return kind === "outage" ? undefined : logLine("session_unreadable");
}

function outageLine({ side, endpoint, reason }: Events["outage"]): LogEntry | undefined {
  if (side === "session") {
    return { level: "error", code: "session_missing", message: 'A request has no session of the framework, although session is "host".' };
  }
  if (side === "store") {
    return { level: "error", code: "store_unavailable", message: `The session store did not respond (${reason}).`, details: { reason } };
  }
  if (endpoint === undefined) return undefined;
  const message = PROVIDER_OUTAGES[endpoint];
  return message === undefined ? undefined : { level: "warn", code: "provider_unavailable", message, details: { endpoint, reason } };
}
