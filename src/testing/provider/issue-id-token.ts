import { createHash } from "node:crypto";
import { appleClaims } from "./apple.js";
import { issuerClaims } from "./entra-tenants.js";
import type { Family } from "./grants.js";
import { compactJws } from "./signing-keys.js";
import type { IdTokenDraft, MutatedIdToken, ProviderState } from "./test-provider-state.js";

/** What tokens are issued for. */
export interface IssuedFor {
  readonly grant: IdTokenDraft["grant"];
  readonly family: Family;
  readonly nonce: string | undefined;
}

/** OpenID Connect Core section 2. */
export async function idToken(
  { grant, family, nonce }: IssuedFor,
  accessToken: string,
  state: ProviderState,
): Promise<string> {
  const { keys, hooks } = state;
  const claims = claimsOf(family, accessToken, state);
  if (nonce !== undefined) claims["nonce"] = nonce;
  const { header } = keys;
  const sign: IdTokenDraft["sign"] = (itsHeader, itsClaims, key = keys.privateKey) =>
    compactJws(itsHeader, itsClaims, key);
  const draft = {
    header,
    claims,
    grant,
    privateKey: keys.privateKey,
    publicKeyPem: keys.publicKeyPem,
    publicJwk: keys.publicJwk,
    sign,
  };
  const returned: unknown = await hooks.mutateIdToken?.(draft);
  assertMutated(returned, draft);
  const mutated = returned ?? draft;
  return typeof mutated === "string"
    ? mutated
    : sign(mutated.header ?? header, mutated.claims ?? claims);
}

function claimsOf(
  { approval: { person, authentication, sid } }: Family,
  accessToken: string,
  state: ProviderState,
): Record<string, unknown> {
  const { settings, now } = state;
  const { apple, claimsInIdToken, userinfoOnly } = settings;
  const inToken = claimsInIdToken
    ? Object.entries(apple === undefined ? person : appleClaims(person)).filter(
        ([name]) => !userinfoOnly.includes(name),
      )
    : [];
  const issuedAt = Math.floor(now() / 1000);
  return {
    ...authentication,
    ...Object.fromEntries(inToken),
    sub: person["sub"],
    ...issuerClaims(person, state),
    aud: settings.clientId,
    azp: settings.clientId,
    iat: issuedAt,
    exp: issuedAt + settings.idTokenSeconds,
    at_hash: createHash("sha256")
      .update(accessToken)
      .digest()
      .subarray(0, 16)
      .toString("base64url"),
    ...(settings.sid === "supported" && sid !== undefined ? { sid } : {}),
  };
}

/**
 * Checks the hook's result. Without the check, claims alone or a list would be ignored, and the
 * test would prove nothing.
 *
 * @throws TypeError
 */
function assertMutated(
  mutated: unknown,
  draft: IdTokenDraft,
): asserts mutated is MutatedIdToken | undefined {
  if (mutated === undefined || typeof mutated === "string") return;
  const names = typeof mutated === "object" && mutated !== null ? Object.keys(mutated) : [];
  const { header, claims } = Object(mutated) as {
    readonly header?: unknown;
    readonly claims?: unknown;
  };
  const areParts = [header, claims].every(
    (part) => part === undefined || typeof part === "string" || Object(part) === part,
  );
  // A copy of the draft also has its other members.
  const areKnown = names.every((name) => Object.hasOwn(draft, name));
  if ((names.includes("header") || names.includes("claims")) && areKnown && areParts) return;
  throw new TypeError(
    "`mutateIdToken` must return { header, claims }, one of the two, the finished token as a string, or nothing.",
  );
}
