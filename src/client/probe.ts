import type { ClientState } from "../record/client-state.js";
import { respondedAt } from "./deadlines.js";
import type { Environment } from "./environment.js";
import { stateOf } from "./make-session-state.js";
import type { SessionState } from "./session-state.js";

/** Milliseconds after which a probe without a response counts as an outage. */
const TIMEOUT_MS = 30_000;

/**
 * Requests the session's state. Never rejects.
 *
 * @returns the state; or, if the server did not respond as a probe does, the seconds of its
 *   `Retry-After`, else 0 or NaN
 */
export async function requestState<ClientData extends object>(
  env: Environment,
  url: string,
): Promise<SessionState<ClientData> | number> {
  const sentAt = env.Date.now();
  let retryAfter = 0;
  try {
    const response = await env.fetch(url, {
      cache: "no-store",
      headers: { Accept: "application/json" },
      signal: env.AbortSignal.timeout(TIMEOUT_MS),
    });
    const at = respondedAt(sentAt, env.Date.now(), response.headers.get("Date"));
    retryAfter = Number(response.headers.get("Retry-After"));
    const details = (await response.json()) as ClientState<ClientData>;
    const isProbe = details.authenticated === Boolean(details.account);
    // During an outage the body says signed out: the status decides.
    if (isProbe && response.status === 200) return stateOf(details, at);
  } catch {
    // The network fails, or the body is not JSON.
  }
  return retryAfter;
}
