import { createHash } from "node:crypto";
import type { Clock } from "../clock.js";
import type { RefreshRequest } from "../ports/provider.js";
import { keyOf } from "./refresh-back-off.js";

/** The sessions whose ambiguous responses are remembered. The oldest is forgotten first. */
const MAX_AMBIGUOUS_RESPONSES = 10_000;
/** Until an ambiguous response counts as one of another outage. Our decision. */
const AMBIGUOUS_MS = 600_000;

/**
 * The memory of ambiguous responses. An ambiguous response refuses a session at the second time, if
 * a token request of the same client has succeeded in between: neither a wrong secret nor an
 * overload, which concern all sessions, explains it then. A response of long ago, or to a token that
 * has been replaced since, belongs to another outage: another process may have refreshed meanwhile.
 */
export interface AmbiguousResponses {
  /**
   * Whether an ambiguous response, which has just come, refuses. Remembers it if not.
   * @param needsSuccess false: a second one refuses, whatever came in between
   */
  isSecond(refresh: RefreshRequest, needsSuccess: boolean): boolean;
  /** @param refresh undefined: a code exchange */
  succeeded(refresh?: RefreshRequest): void;
}

export function createAmbiguousResponses(clock: Clock): AmbiguousResponses {
  /** The first times: by API of a session; of a session by its token, as a hash. */
  const before = new Map<string, { readonly successes: number; readonly at: number }>();
  let successes = 0;

  function nameOf(refresh: RefreshRequest): string {
    // The refreshes for other APIs rotate the token, too.
    if (refresh.target !== undefined) return keyOf(refresh);
    const text = `${refresh.session} ${refresh.refreshToken}`;
    return createHash("sha256").update(text).digest("base64url");
  }

  return {
    isSecond(refresh: RefreshRequest, needsSuccess: boolean): boolean {
      const name = nameOf(refresh);
      const at = clock.monotonic();
      const first = before.get(name);
      if (first !== undefined && at - first.at < AMBIGUOUS_MS) {
        if (needsSuccess && first.successes === successes) return false;
        before.delete(name);
        return true;
      }
      before.delete(name);
      before.set(name, { successes, at });
      const [oldest] = before.keys();
      if (before.size > MAX_AMBIGUOUS_RESPONSES && oldest !== undefined) before.delete(oldest);
      return false;
    },
    succeeded(refresh?: RefreshRequest): void {
      successes += 1;
      if (refresh === undefined || before.size === 0) return;
      before.delete(nameOf(refresh));
      // Also of the session, whose refresh token works.
      before.delete(nameOf({ ...refresh, target: undefined }));
    },
  };
}
