import {
  bindingMistake,
  presentedToken,
  type PresentedToken,
  type TokenRequest,
} from "../provider/bound-tokens.js";
import type { ProofCheck } from "../provider/dpop-proofs.js";
import type { CheckedToken, TokenCheck, TokenClaims } from "./access-token-checks.js";

/** What a step-up has to prove (RFC 9470). */
export interface StepUpRequirement {
  /** The `acr` that a token must have. */
  readonly acr?: string;
  /** The longest time since the sign-in at the provider, in seconds. */
  readonly maxAge?: number;
}

/** A response with a challenge. */
export interface Refusal {
  readonly kind: "refused";
  readonly status: 401 | 403;
  /** An error code of RFC 6750, 9449 or 9470; undefined if the request has no token. */
  readonly error: string | undefined;
  /** The header `WWW-Authenticate`. */
  readonly challenge: string;
  readonly claims: TokenClaims | undefined;
  /** Further headers: `DPoP-Nonce`. */
  readonly headers: Readonly<Record<string, string>>;
}

export type Admission =
  | {
      readonly kind: "admitted";
      readonly claims: TokenClaims;
      readonly headers: Readonly<Record<string, string>>;
    }
  | Refusal;

/** A request to the API, as far as its admission depends on it. */
export interface ApiCall extends Omit<TokenRequest, "presented"> {
  readonly authorization: string | undefined;
}

interface Requirements {
  readonly check: TokenCheck;
  readonly proofs: ProofCheck;
  /** Separated by spaces; undefined: none. */
  readonly scope: string | undefined;
  readonly stepUp: StepUpRequirement | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Decides whether a request may pass. */
export async function admission(call: ApiCall, requirements: Requirements): Promise<Admission> {
  const presented = presentedToken(call.authorization);
  if (presented === undefined) return refusal("Bearer", 401, {});
  const { proofs } = requirements;
  const admitted = await decision(call, presented, requirements);
  const isDemand = admitted.kind === "refused" && admitted.error === "use_dpop_nonce";
  const headers = isDemand
    ? proofs.demanded()
    : presented.scheme === "DPoP"
      ? proofs.offered()
      : {};
  return { ...admitted, headers };
}

async function decision(
  call: ApiCall,
  presented: PresentedToken,
  { check, proofs, scope, stepUp, now }: Requirements,
): Promise<Admission> {
  const { scheme } = presented;
  const checked: CheckedToken = await check(presented.token);
  if (checked.kind === "invalid")
    return refusal(scheme, 401, { error: "invalid_token", error_description: checked.reason });
  const { claims } = checked;
  const mistake = await bindingMistake({ ...call, presented }, claims, proofs);
  if (mistake !== undefined)
    return refusal(scheme, 401, { error: mistake.error, error_description: mistake.reason });
  const granted = typeof claims["scope"] === "string" ? claims["scope"].split(" ") : [];
  if (scope?.split(" ").some((one) => !granted.includes(one)) === true)
    return { ...refusal(scheme, 403, { error: "insufficient_scope", scope }), claims };
  if (stepUp !== undefined && !isMet(stepUp, claims, now)) {
    const error = "insufficient_user_authentication";
    return { ...refusal(scheme, 401, { error, ...demand(stepUp) }), claims };
  }
  return { kind: "admitted", claims, headers: {} };
}

function isMet({ acr, maxAge }: StepUpRequirement, claims: TokenClaims, now: number): boolean {
  const age = now / 1000 - Number(claims["auth_time"] ?? 0);
  return (acr === undefined || claims["acr"] === acr) && (maxAge === undefined || age <= maxAge);
}

function demand({ acr, maxAge }: StepUpRequirement): Readonly<Record<string, string>> {
  return {
    ...(acr !== undefined && { acr_values: acr }),
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
  };
}

function refusal(
  scheme: PresentedToken["scheme"],
  status: 401 | 403,
  parameters: Readonly<Record<string, string>>,
): Refusal {
  const pairs = Object.entries(parameters).map(
    ([name, value]) => `${name}="${value.replace(/["\\]/g, "'")}"`,
  );
  return {
    kind: "refused",
    status,
    error: parameters["error"],
    challenge: [scheme, pairs.join(", ")].join(" ").trim(),
    claims: undefined,
    headers: {},
  };
}
