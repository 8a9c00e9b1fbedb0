import type { ClientState } from "../record/client-state.js";
import type { Deadlines } from "./session-state.js";

/**
 * Returns the moment at which the server made its response, by this browser's clock, in
 * milliseconds. The server counts whole seconds, and so does its `Date`: if both clocks agree, the
 * result is exact. If not, the error stays below the round trip and one second.
 *
 * @param date the header `Date` of the response
 */
export function respondedAt(sentAt: number, receivedAt: number, date: string | null): number {
  return Math.min(receivedAt, Math.max(sentAt - (sentAt % 1000), Date.parse(date as string) || 0));
}

/** @param at when the server made its response, see `respondedAt` */
export function deadlinesOf(details: ClientState<object>, at: number): Deadlines {
  const deadline = (seconds: unknown) => (typeof seconds === "number" ? at + seconds * 1000 : null);
  return Object.freeze({
    idToken: deadline(details.expires_in),
    maxAge: deadline(details.max_age_expires_in),
    idle: deadline(details.idle_expires_in),
    sessionExpiry: deadline(details.session_expiry_expires_in),
    end: deadline(details.ends_in),
  });
}
