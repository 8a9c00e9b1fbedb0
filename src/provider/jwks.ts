import { createPublicKey } from "node:crypto";
import type { CompactJWSHeaderParameters, CryptoKey, JWK } from "jose";
import { JWKSMultipleMatchingKeys } from "jose/errors";
import { createLocalJWKSet } from "jose/jwks/local";
import { compactVerify } from "jose/jws/compact/verify";
import { ProviderUnavailableError } from "../errors.js";
import { isObject } from "../record/json.js";
import { oneAtATime } from "../work/slots.js";
import {
  jsonObject,
  untilAborted,
  type Backchannel,
  type ProviderConnection,
  type ProviderResponse,
} from "./provider-connection.js";

/** Milliseconds after which the keys are fetched again in the background. */
const REFRESH_AFTER = 10 * 60 * 1000;
/** Milliseconds after which the keys are not used any more. */
const MAX_AGE = 24 * 3600 * 1000;
/**
 * Unknown keys force fetches: each `kid` one within these milliseconds, and all of them together
 * this many.
 */
const FORCED = { interval: 30_000, limit: 10 };
/** The minimum milliseconds between two fetches for tokens that anyone can send. */
const UNASKED_INTERVAL = 5_000;
/** The maximum number of keys that are read from a key set. */
export const MAX_KEYS = 100;

/** The provider's signing keys (RFC 7517). */
export interface Jwks {
  /**
   * Whether one of the provider's keys signed this token. False: the signature is wrong under a key
   * that was fetched after this call began.
   *
   * @param header the token's header, with an allowed algorithm
   * @param signal ends the wait of this call
   * @param keyFits whether a key may sign this token, by its own member `issuer`; default every key
   * @throws ProviderUnavailableError `jwks`: the keys cannot be fetched; `unknown_key`: they lack
   *   the token's key, or cannot be fetched again yet
   */
  verify(
    token: string,
    header: CompactJWSHeaderParameters,
    signal?: AbortSignal,
    keyFits?: KeyFits,
  ): Promise<boolean>;
  /**
   * As `verify`, for a token that anyone can send, such as a logout token. It never delays a
   * sign-in or a refresh: its fetches have an interval of their own, and their failures start no
   * back-off.
   */
  verifyUnasked(
    token: string,
    header: CompactJWSHeaderParameters,
    keyFits?: KeyFits,
  ): Promise<boolean>;
  /** @throws ProviderUnavailableError while there are no keys and the back-off blocks a fetch */
  assertReady(): void;
}

/** @param issuer the key's member `issuer`, unchecked */
type KeyFits = (issuer: unknown) => boolean;

type KeySet = ReturnType<typeof keySetOf>;

/** Fetches the keys; undefined: the last fetch was too recent. */
type Fetch = () => Promise<KeySet> | undefined;

type Judgement = "verified" | "wrong" | "unknown_key";

/** @param uri returns the address of the key set, from the discovery document */
// eslint-disable-next-line max-lines-per-function -- A factory: small functions that share its variables.
export function createJwks(connection: ProviderConnection, uri: () => Promise<string>): Jwks {
  const { clock, backchannel } = connection;
  const backOff = connection.backOff();
  let cached: KeySet | undefined;
  /** When each key forced its last fetch. */
  const forced = new Map<string | undefined, number>();
  let unaskedAt = -Infinity;
  // Fetches are counted, since two of them may have the same time.
  let fetches = 0;
  let isReachable = false;

  /**
   * @param isAsked whether a failure counts: a stranger's token must not delay the fetch of a
   *   sign-in
   */
  async function load(isAsked: boolean): Promise<KeySet> {
    const address = await uri();
    if (backOff.secondsLeft() > 0)
      throw new ProviderUnavailableError("jwks", { retryAfter: backOff.secondsLeft() });
    const requestedAt = clock.monotonic();
    const fetchNumber = ++fetches;
    const loaded = connection.call({
      endpoint: "jwks",
      backOff: isAsked ? backOff : { ...backOff, failed: () => UNASKED_INTERVAL / 1000 },
      send: () => fetchKeySet(address, backchannel),
      read: (response) => {
        const fetched = keySetOf(usableKeys(response), requestedAt, fetchNumber);
        isReachable = true;
        // Two fetches may run at once, and the older one may end last.
        if (cached === undefined || cached.fetchNumber < fetchNumber) cached = fetched;
        return cached;
      },
    });
    return loaded.catch((error: unknown) => {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      isReachable = false;
      throw new ProviderUnavailableError("jwks", {
        retryAfter: error.retryAfter,
        cause: error.cause,
      });
    });
  }

  const fetchNow = oneAtATime(() => load(true));
  const fetchUnasked = oneAtATime(() => load(false));

  function mayForce(kid: string | undefined): boolean {
    const now = clock.monotonic();
    for (const [other, at] of forced) if (now - at >= FORCED.interval) forced.delete(other);
    if (forced.has(kid) || forced.size >= FORCED.limit) return false;
    forced.set(kid, now);
    return true;
  }

  function mayFetchUnasked(): boolean {
    const now = clock.monotonic();
    if (now - unaskedAt < UNASKED_INTERVAL) return false;
    unaskedAt = now;
    return true;
  }

  const age = () => clock.monotonic() - (cached?.requestedAt ?? -Infinity);
  const current = () => (age() > MAX_AGE ? undefined : cached);

  /**
   * @param renew for keys that are missing or old
   * @param force for keys that do not verify this token
   */
  async function judge(
    token: string,
    header: CompactJWSHeaderParameters,
    keyFits: KeyFits,
    renew: Fetch,
    force: Fetch,
  ): Promise<boolean> {
    const before = fetches;
    if (current() !== undefined && age() >= REFRESH_AFTER) renew()?.catch(() => undefined);
    for (let keys = current(); ;) {
      const judgement = await keys?.judge(token, header, keyFits);
      if (judgement === "verified") return true;
      // Only keys that were requested after the token came are not outdated.
      const isNewest = keys !== undefined && keys.fetchNumber > before;
      if (isNewest && judgement === "wrong") return false;
      const newer = cached === keys ? undefined : current();
      keys = newer ?? (isNewest ? undefined : await (keys === undefined ? renew() : force()));
      if (keys === undefined) {
        throw new ProviderUnavailableError(isReachable ? "unknown_key" : "jwks", {
          retryAfter: FORCED.interval / 1000,
        });
      }
    }
  }

  const unasked = () =>
    fetchUnasked.isRunning() || mayFetchUnasked() ? fetchUnasked() : undefined;

  return {
    verify(token, header, signal, keyFits = () => true) {
      // A fetch that the back-off blocks is none, so it does not count.
      const isFree = () => fetchNow.isRunning() || backOff.secondsLeft() > 0;
      const force = () => (isFree() || mayForce(header.kid) ? fetchNow() : undefined);
      return untilAborted(signal, () => judge(token, header, keyFits, fetchNow, force));
    },
    verifyUnasked: (token, header, keyFits = () => true) =>
      judge(token, header, keyFits, unasked, unasked),
    assertReady() {
      if (current() === undefined) backOff.assertReady();
    },
  };
}

export function fetchKeySet(address: string, backchannel: Backchannel): Promise<ProviderResponse> {
  return backchannel.send(address, {
    method: "GET",
    headers: { accept: "application/json, application/jwk-set+json" },
  });
}

/** @param requestedAt the clock's `monotonic()` when the request for it began */
function keySetOf(keys: JWK[], requestedAt: number, fetchNumber: number) {
  const kids = new Set(keys.map((key) => key.kid));
  const issuerOf = (key: JWK & { readonly issuer?: unknown }) => key.issuer;
  const issuers = [...new Set(keys.map(issuerOf))];
  /** The keys by their member `issuer`, which Entra ID adds. Other providers have one group. */
  const groups = issuers.map((issuer) => {
    return {
      issuer,
      find: createLocalJWKSet({ keys: keys.filter((key) => issuerOf(key) === issuer) }),
    };
  });

  async function judge(
    token: string,
    header: CompactJWSHeaderParameters,
    keyFits: KeyFits,
  ): Promise<Judgement> {
    let isKnown = header.kid !== undefined && kids.has(header.kid);
    for await (const key of candidates(header, keyFits)) {
      isKnown = true;
      if (await isSignedBy(key, token, header.alg)) return "verified";
    }
    return isKnown ? "wrong" : "unknown_key";
  }

  /**
   * Yields the key that the header names; without a name, every key for the algorithm. Skips
   * unusable keys.
   */
  async function* candidates(
    { alg, kid }: CompactJWSHeaderParameters,
    keyFits: KeyFits,
  ): AsyncGenerator<CryptoKey> {
    for (const { issuer, find } of groups) {
      if (!keyFits(issuer)) continue;
      try {
        yield await find({ alg, ...(kid !== undefined && { kid }) });
      } catch (error) {
        if (error instanceof JWKSMultipleMatchingKeys) yield* error;
      }
    }
  }

  return { requestedAt, fetchNumber, judge };
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
  const keys = listed.slice(0, MAX_KEYS).filter(isUsableKey);
  if (keys.length === 0) throw new ProviderUnavailableError("empty_key_set");
  return keys;
}

/** Whether a member of a key set is a public signature key of an accepted kind and size. */
export function isUsableKey(key: unknown): key is JWK {
  if (!isObject(key) || !["RSA", "EC", "OKP"].includes(key["kty"] as string)) return false;
  // A published private or symmetric key proves nothing.
  if (key["d"] !== undefined || (key["use"] !== undefined && key["use"] !== "sig")) return false;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey({ key, format: "jwk" });
    return asymmetricKeyType !== "rsa" || (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048;
  } catch {
    return false;
  }
}
