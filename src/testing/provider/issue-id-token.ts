import { createHash } from "node:crypto";
import { appleClaims } from "./apple.js";
import { issuerClaims } from "./entra-tenants.js";
import type { Family } from "./grants.js";
import { mutatedToken } from "./mutated-tokens.js";
import { compactJws } from "./signing-keys.js";
import type { IdTokenDraft, ProviderState } from "./test-provider-state.js";

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
  return mutatedToken("mutateIdToken", await hooks.mutateIdToken?.(draft), draft);
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
