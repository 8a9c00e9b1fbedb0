/** Which keys of the provider's key set count, and whether one of them signed a token. */
import { createPublicKey } from "node:crypto";
import type { CompactJWSHeaderParameters, CryptoKey, JWK } from "jose";
import { JWKSMultipleMatchingKeys } from "jose/errors";
import { createLocalJWKSet, type LocalJWKSet } from "jose/jwks/local";
import { compactVerify } from "jose/jws/compact/verify";
import { ProviderUnavailableError } from "../errors.js";
import { isTooSmall } from "../keys/rsa-key-size.js";
import { isObject } from "../record/json.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { jsonObject, type ProviderHttp, type ProviderResponse } from "./http-to-provider.js";

/** The maximum number of keys that are read from a key set. */
export const MAX_KEYS = 100;

/**
 * The members of a key that are used. What else a provider publishes, such as certificates of a
 * kilobyte each, would stay in memory with it.
 */
const USED_MEMBERS = new Set("kty use key_ops alg kid ext issuer n e crv x y".split(" "));

/** A token whose signature is to be verified. */
export interface SignedToken {
  readonly token: string;
  /** The token's header, with an allowed algorithm. */
  readonly header: CompactJWSHeaderParameters;
  /**
   * Whether a key may sign this token, by its own member `issuer`, which is unchecked; default every
   * key.
   */
  readonly keyFits?: ((issuer: unknown) => boolean) | undefined;
  /**
   * Whether anyone can send this token. If it names a key that isn't listed, no other is tried, so
   * that it costs little, however often it is tried again.
   */
  readonly isUnasked?: boolean;
}

type Judgement = "verified" | "wrong" | "unknown_key";

export function fetchKeySet(address: string, http: ProviderHttp): Promise<ProviderResponse> {
  return http.send(address, {
    method: "GET",
    headers: { accept: "application/json, application/jwk-set+json" },
  });
}

/** The keys of one fetch. */
export interface KeySet {
  /** The clock's `monotonic()` when the request for it began. */
  readonly requestedAt: number;
  readonly fetchNumber: number;
  judge(signed: SignedToken): Promise<Judgement>;
}

/** @throws ProviderUnavailableError the response has no usable keys */
export function keySetOf(
  response: ProviderResponse,
  requestedAt: number,
  fetchNumber: number,
): KeySet {
  const { kids, groups } = indexed(usableKeys(response));

  async function judge(signed: SignedToken): Promise<Judgement> {
    const { token, header } = signed;
    let isKnown = header.kid !== undefined && kids.has(header.kid);
    for await (const key of candidates(signed)) {
      isKnown ||= header.kid === undefined;
      if (await isSignedBy(key, token, header.alg)) return "verified";
    }
    return isKnown ? "wrong" : "unknown_key";
  }

  /**
   * Yields the key that the header names, then the others for the algorithm, since a name is only a
   * hint (RFC 7515 section 4.1.4): some providers sign with a new key under the old one's name, also
   * when the old one is no longer listed.
   */
  async function* candidates({
    header: { alg, kid },
    keyFits = () => true,
    isUnasked = false,
  }: SignedToken): AsyncGenerator<CryptoKey> {
    const fitting = groups.filter(({ issuer }) => keyFits(issuer));
    for (const { find } of fitting) yield* found(find, withoutUndefined({ alg, kid }));
    if (kid === undefined || (isUnasked && !kids.has(kid))) return;
    for (const { find } of fitting) yield* found(find, { alg });
  }

  return { requestedAt, fetchNumber, judge };
}

/** Without the keys themselves, of which each group has a copy. */
function indexed(keys: readonly JWK[]) {
  return { kids: new Set(keys.map((key) => key.kid)), groups: groupsOf(keys) };
}

/** The keys by their member `issuer`, which Entra ID adds. Other providers have one group. */
function groupsOf(keys: readonly JWK[]): readonly KeyGroup[] {
  const issuerOf = (key: JWK & { readonly issuer?: unknown }) => key.issuer;
  const issuers = [...new Set(keys.map(issuerOf))];
  return issuers.map((issuer) => ({
    issuer,
    find: createLocalJWKSet({ keys: keys.filter((key) => issuerOf(key) === issuer) }),
  }));
}

interface KeyGroup {
  readonly issuer: unknown;
  readonly find: LocalJWKSet;
}

/** Yields the keys that a header names. Skips unusable ones. */
async function* found(
  find: LocalJWKSet,
  header: CompactJWSHeaderParameters,
): AsyncGenerator<CryptoKey> {
  try {
    yield await find(header);
  } catch (error) {
    if (error instanceof JWKSMultipleMatchingKeys) yield* error;
  }
}

async function isSignedBy(key: CryptoKey, token: string, alg: string): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: [alg] });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the public signature keys of a response. Throws for a set without usable keys, so that it
 * never replaces a good set.
 */
function usableKeys(response: ProviderResponse): JWK[] {
  if (response.status !== 200)
    throw new ProviderUnavailableError(`http_${String(response.status)}`);
  const listed = jsonObject(response)?.["keys"];
  if (!Array.isArray(listed)) throw new ProviderUnavailableError("not_a_key_set");
  const keys = listed.slice(0, MAX_KEYS).filter(isUsableKey).map(withUsedMembers);
  if (keys.length === 0) throw new ProviderUnavailableError("empty_key_set");
  return keys;
}

function withUsedMembers(key: JWK): JWK {
  const members = Object.entries(key).filter(([name]) => USED_MEMBERS.has(name));
  return Object.fromEntries(members);
}

/** Whether a member of a key set is a public signature key of an accepted kind and size. */
export function isUsableKey(key: unknown): key is JWK {
  if (!isObject(key) || !["RSA", "EC", "OKP"].includes(key["kty"] as string)) return false;
  // A published private or symmetric key proves nothing.
  if (key["d"] !== undefined || (key["use"] !== undefined && key["use"] !== "sig")) return false;
  try {
    return !isTooSmall(createPublicKey({ key, format: "jwk" }));
  } catch {
    return false;
  }
}
