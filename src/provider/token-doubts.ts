/**
 * What is wrong with verified tokens because of this machine or of the configuration, and not
 * because they are another user's. Such tokens are never accepted, and never end a session.
 */
import type { SettingText } from "../config/setting-names.js";

export type Doubt =
  /** `seconds`: the difference of the clocks, rounded up. */
  | { readonly reason: "iat" | "nbf" | "exp"; readonly seconds: number }
  /** `seconds`: by which the token is older than the previous one, rounded up. */
  | { readonly reason: "iat"; readonly seconds: number; readonly isOlder: true }
  /** `value`: what the token has. */
  | { readonly reason: "iss" | "aud" | "alg"; readonly value: unknown }
  | { readonly reason: "azp" };

/** Returns the cause and the remedy, for the operator. Pure. @param clockTolerance seconds */
export function doubtInWords(doubt: Doubt, clockTolerance: number): SettingText {
  switch (doubt.reason) {
    case "iat":
    case "nbf":
    case "exp": {
      if ("isOlder" in doubt)
        return `The provider issued a new ID token ${String(doubt.seconds)} s before the session's previous one, as if its servers' clocks differed, and IDP_CLOCK_TOLERANCE is ${String(clockTolerance)} s. Have the provider's clocks synchronized, or raise IDP_CLOCK_TOLERANCE.`;
      const place = doubt.reason === "exp" ? "behind" : "ahead of";
      return `The provider's clock is at least ${String(doubt.seconds)} s ${place} this machine's, and IDP_CLOCK_TOLERANCE is ${String(clockTolerance)} s. Synchronize the clocks, or raise IDP_CLOCK_TOLERANCE.`;
    }
    case "iss":
      return ({ env }) =>
        `The ID tokens have ${shown(doubt.value)} as issuer (iss), which isn't the issuer in ${env("issuer")}. Have the provider use one issuer, or set ${env("issuer")} to it.`;
    case "aud":
      return ({ env }) =>
        `The ID tokens are also for ${shown(doubt.value)} (aud). If you trust this client, add it to ${env("trustedAudiences")}.`;
    case "alg":
      return ({ env }) =>
        `The ID tokens are signed with ${shown(doubt.value)}, which the discovery document doesn't advertise, or which isn't the algorithm in ${env("idTokenSignedResponseAlg")}. Have the provider advertise it in id_token_signing_alg_values_supported, or sign with an accepted algorithm.`;
    case "azp":
      return "The ID tokens have several audiences (aud) and no azp. Have the provider add azp, or only this client as audience.";
  }
}

/** A value of a token for a log line: it is the provider's text. */
function shown(value: unknown): string {
  return typeof value === "string" && /^[\x21-\x7e]{1,200}$/.test(value)
    ? `"${value}"`
    : "another value";
}
