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
  /** An error code of RFC 6750 or RFC 9470; undefined if the request has no token. */
  readonly error: string | undefined;
  /** The header `WWW-Authenticate`. */
  readonly challenge: string;
  readonly claims: TokenClaims | undefined;
}

export type Admission = { readonly kind: "admitted"; readonly claims: TokenClaims } | Refusal;

interface Requirements {
  readonly check: TokenCheck;
  /** Separated by spaces; undefined: none. */
  readonly scope: string | undefined;
  readonly stepUp: StepUpRequirement | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Decides whether a request may pass. @param authorization the header */
export async function admission(
  authorization: string | undefined,
  { check, scope, stepUp, now }: Requirements,
): Promise<Admission> {
  const [, token] = /^Bearer (\S+)$/i.exec(authorization ?? "") ?? [];
  if (token === undefined) return refusal(401, {});
  const checked: CheckedToken = await check(token);
  if (checked.kind === "invalid")
    return refusal(401, { error: "invalid_token", error_description: checked.reason });
  const { claims } = checked;
  const granted = typeof claims["scope"] === "string" ? claims["scope"].split(" ") : [];
  if (scope?.split(" ").some((one) => !granted.includes(one)) === true)
    return refusal(403, { error: "insufficient_scope", scope }, claims);
  if (stepUp !== undefined && !isMet(stepUp, claims, now))
    return refusal(401, { error: "insufficient_user_authentication", ...demand(stepUp) }, claims);
  return { kind: "admitted", claims };
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
  status: 401 | 403,
  parameters: Readonly<Record<string, string>>,
  claims?: TokenClaims,
): Refusal {
  const pairs = Object.entries(parameters).map(
    ([name, value]) => `${name}="${value.replace(/["\\]/g, "'")}"`,
  );
  return {
    kind: "refused",
    status,
    error: parameters["error"],
    challenge: ["Bearer", pairs.join(", ")].join(" ").trim(),
    claims,
  };
}
