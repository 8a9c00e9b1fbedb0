import type { EventName, Events } from "./events.js";
import type { LogEntry, LogLevel } from "../ports/log.js";

interface LineRow {
  readonly level: LogLevel;
  /** One sentence for a person who runs the application. */
  readonly meaning: string;
  readonly remedy: string;
}

/**
 * THE table of the log's codes that are no error code (docs/reference/errors.md has those) and no startup check. Codes are never renamed.
 * Every refusal and every outage has a line; nobody has to listen to events to see one.
 */
export const LOG_CODES = {
  blocked: {
    level: "info",
    meaning: "The guard turned a request away: nobody is signed in within policy.",
    remedy: "Nothing to do; `details.reason` is one of the reasons below.",
  },
  callback_failed: {
    level: "warn",
    meaning: "A sign-in came back from the provider and could not be completed.",
    remedy:
      "`details.reason` names the check: `state` a link that is used, expired or another browser's; `iss`, `id_token_…` an answer that is not to be believed; `another_user` a sign-in that was started before the present one and came back for another user; an error code of the provider; or an outage.",
  },
  login_failed: {
    level: "warn",
    meaning: "A sign-in could not be started.",
    remedy: "`details.reason`: `invalid_parameter` for parameters that are not allowed, else the outage.",
  },
  logout_failed: {
    level: "warn",
    meaning: "A sign-out was not carried out; the visitor was told so and the session stays.",
    remedy: "`details.reason`: `invalid_parameter` for parameters that are not allowed, else the outage.",
  },
  origin_rejected: {
    level: "info",
    meaning: "The page to come back to was not on this application's own origin; the sign-in leads to the configured page instead.",
    remedy: "If visitors of your own pages are meant, compare BASE_URL with the address that they use.",
  },
  refresh_failed: {
    level: "error",
    meaning: "Tokens could not be refreshed because of an outage; the session stays, and the next request tries again.",
    remedy: "`details.reason` names the outage; `invalid_client` and the like are the operator's to put right.",
  },
  refresh_rejected: {
    level: "warn",
    meaning: "The provider refused a refresh token, or its new ID token is not to be believed: the session ends.",
    remedy: "Routine when somebody's access was withdrawn. If it happens often, look at the lifetime and rotation of refresh tokens.",
  },
  session_label_failed: {
    level: "error",
    meaning: "The option `sessionLabel` threw; the session has no label.",
    remedy: "Correct that function.",
  },
  session_unreadable: {
    level: "warn",
    meaning: "A stored session could not be opened and counts as no session: another key, another format, or tampered with.",
    remedy: "Give every process the same SECRET_KEY, and list earlier keys in SECRET_KEY_FALLBACKS.",
  },
  listener_failed: {
    level: "error",
    meaning: "A listener of an event threw; the request was not disturbed.",
    remedy: "Correct that function.",
  },
} as const satisfies Record<string, LineRow>;

export type LogCode = keyof typeof LOG_CODES;

/** The line that an event writes into the log; undefined: none, since it is no refusal and no outage, or a line has told it already. */
export function lineOf<Name extends EventName>(name: Name, event: Events[Name]): LogEntry | undefined {
  switch (name) {
    case "blocked":
      return line("blocked", "A request was turned away", event as Events["blocked"]);
    case "failure":
      return failureLine(event as Events["failure"]);
    case "outage":
      return outageLine(event as Events["outage"]);
    default:
      return undefined;
  }
}

function failureLine({ during, kind, reason }: Events["failure"]): LogEntry | undefined {
  switch (during) {
    case "callback":
      return line("callback_failed", "A sign-in could not be completed", { reason });
    case "login":
      // That one has a line of its own, which names the Host.
      if (reason === "login_loop") return undefined;
      return line("login_failed", "A sign-in could not be started", { reason });
    case "logout":
      return line("logout_failed", "A sign-out was not carried out", { reason });
    case "refresh":
      return kind === "refusal"
        ? line("refresh_rejected", "A refresh was refused", { reason })
        : line("refresh_failed", "A refresh failed", { reason }, "; the session stays");
    case "session": {
      // The outage itself has a line.
      if (kind === "outage") return undefined;
      const { level, meaning } = LOG_CODES.session_unreadable;
      return { level, code: "session_unreadable", message: meaning };
    }
  }
}

function outageLine({ side, reason }: Events["outage"]): LogEntry | undefined {
  switch (side) {
    // Told where it was found, with what only that place knows.
    case "provider":
      return undefined;
    case "store":
      return { level: "error", code: "store_unavailable", message: `The session store did not answer (${reason}).`, details: { reason } };
    case "session":
      return { level: "error", code: "session_missing", message: "A request has no session of the host's, which are to be used." };
  }
}

function line(code: LogCode, sentence: string, { reason }: { readonly reason: string }, rest = ""): LogEntry {
  return { level: LOG_CODES[code].level, code, message: `${sentence} (${reason})${rest}.`, details: { reason } };
}
