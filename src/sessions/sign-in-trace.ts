/**
 * What a sign-in leaves under the key that it replaced. If its response never reached the browser,
 * or the user clicked twice, the same login can begin again, once. It contains nothing of the new
 * session, since cookie and state alone prove nothing (session fixation).
 */
import type { EpochSeconds } from "../clock.js";
import type { Entry, Stored } from "../ports/session-store.js";
import type { SignInTrace } from "../ports/user-session.js";
import { isObject, ownProperties } from "../record/json.js";
import type { LoginTarget } from "../record/record.js";
import { isLoginTarget } from "../record/stored-form.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { parsedJson, stampOf } from "./entry-summary.js";
import type { Sealer } from "./seal.js";

/** Seconds for which the trace counts: as long as a login may take. */
export const SIGN_IN_TRACE_SECONDS = 600;

/** The cookie value and the key that a sign-in has replaced. */
interface ReplacedKey {
  readonly value: string;
  readonly key: string;
}

/** A trace as it is read back. */
export interface ReadTrace extends SignInTrace {
  /**
   * The entry's own expiry can be later, because `replace` of a store never moves it back. So the
   * trace contains the time from which it counts no more.
   */
  readonly expiresAt: EpochSeconds;
}

/** Returns the entry of a trace. It is encrypted in every store, so it is never a record. */
export function signInTraceOf(
  sealer: Sealer,
  { value, key }: ReplacedKey,
  { stateHash, target, expiresAt }: ReadTrace,
): Entry {
  const { final_redirect, redirect_uri, origin, provider, step_up, api } = target;
  const plain = JSON.stringify({
    v: 1,
    state: stateHash,
    expires_at: expiresAt,
    target: withoutUndefined({ final_redirect, redirect_uri, origin, provider, step_up, api }),
  });
  return { data: sealer.sealTrace(plain, value, key), expiresAt };
}

/** Undefined: the entry is no trace of this key, or this process can't read it. */
export function readSignInTrace(
  sealer: Sealer,
  { value, key }: ReplacedKey,
  { data }: Stored,
): ReadTrace | undefined {
  if (!(data instanceof Uint8Array)) return undefined;
  const json = ownProperties(parsedJson(sealer.openTrace(data, value, key)));
  if (!isObject(json) || json["v"] !== 1) return undefined;
  const { state, target } = json;
  const expiresAt = stampOf(json["expires_at"]);
  const own = ownProperties(target);
  if (typeof state !== "string" || expiresAt === null || !isLoginTarget(own)) return undefined;
  return { stateHash: state, target: own as LoginTarget, expiresAt };
}
