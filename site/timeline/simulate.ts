// A day of one session, decided by idpauth's own session policy. The page's timeline shows it.
import type { EndReason } from "../../src/record/end-reason.js";
import type { SessionRecord } from "../../src/record/record.js";
import { judge, untilEnd, type PolicySettings } from "../../src/record/session-policy.js";

/** What a day is like. Times are minutes. */
export interface Day {
  readonly tokenLife: number;
  /** Null: no such limit. */
  readonly idleTimeout: number | null;
  readonly maxAge: number | null;
  /** The user's app sends a request once in so many minutes. */
  readonly every: number;
  /** How long the user is away after {@link BREAK_START}. */
  readonly breakLength: number;
  /** Whether the provider sent a refresh token. */
  readonly isRefreshable: boolean;
}

/** What becomes of the session. Times are minutes since the sign-in. */
export interface Course {
  /** The requests of the signed-in user. */
  readonly requests: readonly number[];
  readonly tokens: readonly { readonly from: number; readonly to: number }[];
  /** Null: the session is valid at the end of the day. */
  readonly end: {
    /** When the limit is reached. */
    readonly at: number;
    /** The limit that is reached first. */
    readonly limit: EndReason;
    /** The request that finds the session ended, and the reason that it gets. */
    readonly foundAt: number;
    readonly reason: EndReason;
  } | null;
}

/** Minutes that the timeline shows, and when the user's break begins. */
export const DAY_LENGTH = 720;
export const BREAK_START = 180;

/** Returns when the requests of a day arrive. The first one is the sign-in. */
export function requestTimes({ every, breakLength }: Pick<Day, "every" | "breakLength">): number[] {
  const times: number[] = [];
  let next = 0;
  while (next <= DAY_LENGTH) {
    times.push(next);
    const isBreak = breakLength > 0 && next <= BREAK_START && next + every > BREAK_START;
    next = isBreak ? Math.max(next + every, BREAK_START + breakLength) : next + every;
  }
  return times;
}

/**
 * Runs a day's requests through the session policy.
 * @param times minutes since the sign-in; the first one is 0
 */
export function simulate(day: Day, times: readonly number[] = requestTimes(day)): Course {
  const settings: PolicySettings = {
    sessionAutoRefresh: true,
    sessionMaxAge: day.maxAge === null ? null : day.maxAge * 60,
    sessionIdleTimeout: day.idleTimeout === null ? null : day.idleTimeout * 60,
  };
  const tokens = [{ from: 0, to: day.tokenLife }];
  const requests: number[] = [];
  let record = recordAt(0, day.tokenLife, day.isRefreshable);
  for (const time of times) {
    const verdict = judge(record, settings, time * 60);
    if (verdict.kind === "ended") {
      const last = (requests.at(-1) ?? 0) * 60;
      const at = last + untilEnd(record, settings, last);
      // A limit is exceeded in the second after it, and an ID token in its very second.
      const first = judge(record, settings, at + 1);
      const limit = first.kind === "ended" ? first.reason : verdict.reason;
      return {
        requests,
        tokens,
        end: { at: at / 60, limit, foundAt: time, reason: verdict.reason },
      };
    }
    const expiry = verdict.kind === "refresh" ? time + day.tokenLife : tokens.at(-1)?.to;
    if (verdict.kind === "refresh") tokens.push({ from: time, to: time + day.tokenLife });
    record = recordAt(time, expiry ?? 0, day.isRefreshable);
    requests.push(time);
  }
  return { requests, tokens, end: null };
}

/** The stored record after a request, in the policy's unit, which is seconds. */
function recordAt(lastActive: number, tokenExpiry: number, isRefreshable: boolean): SessionRecord {
  return {
    credentials: {
      token: "",
      ...(isRefreshable && { refresh_token: "r" }),
      token_uri: "",
      client_id: "",
      client_secret: "",
      scopes: [],
    },
    id_info: { exp: tokenExpiry * 60 },
    idp_login_at: 0,
    idp_last_active: lastActive * 60,
    idp_state: { v: 1 },
  };
}

const LIMITS: Partial<Record<EndReason, string>> = {
  idle: "the idle timeout is reached",
  max_age: "the maximum age is reached",
  no_refresh_token: "the ID token expires and there's no refresh token",
};

/** Says in words what the timeline shows. */
export function describe({ tokens, end }: Course): string {
  const count = tokens.length - 1;
  const refreshes =
    count === 0
      ? "The tokens aren't refreshed."
      : `The tokens are refreshed ${count === 1 ? "once" : `${count} times`}.`;
  if (end === null) return `The session is still valid after ${duration(DAY_LENGTH)}. ${refreshes}`;
  const limit = LIMITS[end.limit] ?? end.limit;
  return `The session ends after ${duration(end.at)}, when ${limit}. The next request, after ${duration(end.foundAt)}, gets the reason ${end.reason}. ${refreshes}`;
}

/** @param minutes a whole number */
export function duration(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  if (hours === 0) return `${rest} min`;
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}
