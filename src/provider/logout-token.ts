import { profileOf } from "../config/provider-profiles.js";
import { ProviderRefusedError } from "../errors.js";
import type { LogoutToken } from "../ports/provider.js";
import type { IdInfo } from "../record/identity.js";
import { isObject } from "../record/json.js";
import { withoutUndefined } from "../record/without-undefined.js";
import {
  checkIssuance,
  isSid,
  isSubject,
  readJwt,
  withoutAbsent,
  type ExpectedClaims,
} from "./id-token.js";
import type { Jwks } from "./key-fetches.js";
import type { ProviderMetadata } from "./provider-metadata.js";
import type { Doubt } from "./token-doubts.js";

/**
 * The member of `events` by which a token is a logout token (OpenID Connect Back-Channel Logout 1.0
 * section 2.4).
 */
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Seconds after which a token without `exp` has expired: the longest life that is recommended. */
const LIFE_WITHOUT_EXP_SECONDS = 120;

/** A logout token has few claims, and anyone can send one. */
const MAX_LOGOUT_TOKEN_LENGTH = 16 * 1024;

const LOGOUT_TYPE = "logout+jwt";

export interface ExpectedLogout extends ExpectedClaims {
  /** Reads the discovery document. */
  readonly metadata: () => Promise<ProviderMetadata>;
  /** Reads the discovery document again, since the provider may have changed its algorithms. */
  readonly newerMetadata: () => Promise<ProviderMetadata>;
  /** The setting `idTokenSignedResponseAlg`. Null: any algorithm of the discovery document. */
  readonly algorithm: string | null;
  /** Whether the token must have the type, since the provider has sent one with it. */
  readonly requiresType: boolean;
}

/** A logout token with its provider's signature. */
export interface VerifiedLogout {
  readonly logout: LogoutToken;
  readonly hasType: boolean;
  /** Of the signature. */
  readonly algorithm: string;
  /** With any of them, the token must not be obeyed. */
  readonly doubts: readonly Doubt[];
}

/**
 * Verifies a logout token (Back-Channel Logout 1.0 section 2.6). Checks the claims before it needs
 * the provider, so that an outage never keeps a token that is not for this client.
 *
 * Section 2.4 only recommends the type. What keeps an ID token from passing for a logout token is
 * `events`, and that there is no `nonce`.
 *
 * @throws ProviderRefusedError `logout_token_…`, with the failed check
 * @throws ProviderUnavailableError the provider's metadata or the key for the signature cannot be
 *   fetched now
 */
export async function verifyLogoutToken(
  token: string,
  expected: ExpectedLogout,
  jwks: Jwks,
): Promise<VerifiedLogout> {
  if (token.length > MAX_LOGOUT_TOKEN_LENGTH) throw refused("size");
  const { header, type, claims } = readJwt(token, [LOGOUT_TYPE, "jwt", undefined], refused);
  const hasType = type === LOGOUT_TYPE;
  if (!hasType && expected.requiresType) throw refused("typ");
  const checked = checkLogoutClaims(claims, expected);
  const metadata = await expected.metadata();
  if (claims.exp === undefined && !profileOf(metadata.issuer, metadata).logoutTokensMayLackExp)
    throw refused("exp");
  const algorithm = header.alg;
  const isAccepted =
    expected.algorithm === null
      ? advertises(metadata, algorithm) || advertises(await expected.newerMetadata(), algorithm)
      : algorithm === expected.algorithm;
  if (!isAccepted) throw refused("alg");
  const { tenants } = expected;
  const keyFits = tenants && ((own: unknown) => tenants.keyFits(own, claims.iss));
  if (!(await jwks.verifyUnasked({ token, header, keyFits }))) throw refused("signature");
  return { ...checked, hasType, algorithm };
}

function advertises(metadata: ProviderMetadata, algorithm: string): boolean {
  return metadata.id_token_signing_alg_values_supported.includes(algorithm);
}

function refused(what: string): ProviderRefusedError {
  return new ProviderRefusedError(`logout_token_${what}`);
}

/** Checks the claims of a logout token (sections 2.4 and 2.6). Pure. */
function checkLogoutClaims(
  claims: IdInfo,
  expected: ExpectedClaims,
): { readonly logout: LogoutToken; readonly doubts: readonly Doubt[] } {
  const { sub, sid } = withoutAbsent(claims);
  const { exp = Number(claims["iat"]) + LIFE_WITHOUT_EXP_SECONDS } = claims;
  const { issuer, iat, doubts } = checkIssuance({ ...claims, exp }, expected, refused);
  if (doubts.some(({ reason }) => reason === "iss")) throw refused("iss");
  const events = claims["events"];
  if (!isObject(events) || !Object.hasOwn(events, LOGOUT_EVENT) || !isObject(events[LOGOUT_EVENT]))
    throw refused("events");
  // A token with a nonce may be an ID token, which browsers receive.
  if ("nonce" in claims) throw refused("nonce");
  if (sub === undefined && sid === undefined) throw refused("sub");
  if (sub !== undefined && !isSubject(sub)) throw refused("sub");
  if (sid !== undefined && !isSid(sid)) throw refused("sid");
  return { logout: withoutUndefined({ iat, issuer, sub, sid }), doubts };
}
