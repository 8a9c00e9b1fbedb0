import { createPublicKey } from "node:crypto";
import type { CompactJWSHeaderParameters, CryptoKey, JWK } from "jose";
import { JWKSMultipleMatchingKeys } from "jose/errors";
import { createLocalJWKSet } from "jose/jwks/local";
import { compactVerify } from "jose/jws/compact/verify";
import { ProviderUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { isObject } from "../record/json.js";
import type { Clock } from "../clock.js";
import { jsonObject } from "./token-responses.js";
import type { BackOff } from "./endpoint-back-off.js";
import { untilAborted, type ProviderResponse, type Backchannel } from "./transport.js";
import { oneAtATime } from "./one-at-a-time.js";

/** Milliseconds after which the keys are fetched again in the background. */
const REFRESH_AFTER = 10 * 60 * 1000;
/** Milliseconds after which the keys are not used any more. */
const MAX_AGE = 24 * 3600 * 1000;
/** The minimum milliseconds between two fetches because of unknown keys. */
const FORCED_INTERVAL = 30_000;
/** The maximum number of keys that are read from a key set. */
export const MAX_KEYS = 100;

/** The provider's signing keys (RFC 7517). */
export interface Jwks {
  /**
   * Whether one of the provider's keys signed this token. False: the key is known, and the signature is wrong.
   *
   * @param header the token's header, with an allowed algorithm
   * @param signal ends the wait of this call
   * @param keyFits whether a key may sign this token, by its own member `issuer`; default every key
   * @throws ProviderUnavailableError `jwks`: the keys cannot be fetched, or lack the token's key even after another fetch
   */
  verify(token: string, header: CompactJWSHeaderParameters, signal?: AbortSignal, keyFits?: KeyFits): Promise<boolean>;
  /**
   * As `verify`, for a token that anyone can send, such as a logout token. It never delays a sign-in or a refresh: its fetches for unknown
   * keys have a separate interval.
   */
  verifyUnasked(token: string, header: CompactJWSHeaderParameters, keyFits?: KeyFits): Promise<boolean>;
  /** @throws ProviderUnavailableError while keys, or the last token's key, are missing and the back-off blocks a fetch */
  assertReady(): void;
}

/** @param issuer the key's member `issuer`, unchecked */
type KeyFits = (issuer: unknown) => boolean;

interface JwksOptions {
  /** For events. */
  readonly issuer: string;
  /** Returns the address of the key set, from the discovery document. */
  readonly uri: () => Promise<string>;
  readonly backchannel: Backchannel;
  readonly backOff: BackOff;
  readonly clock: Clock;
  readonly events: EventHub;
}

/** `unsure`: the token names no key, and no known key fits. */
type Judgement = "verified" | "wrong" | "unsure" | "unknown_key";

export function createJwks({ uri, issuer, backchannel, backOff, clock, events }: JwksOptions): Jwks {
  let cached: KeySet | undefined;
  let forcedAt = -Infinity;
  let unaskedAt = -Infinity;
  // The last token's key is not published. The next token would have the same key.
  let isKeyMissing = false;
  // Fetches are counted, since two of them may have the same time.
  let fetches = 0;

  /** @param isAsked whether a failure counts: a stranger's token must not delay the fetch of a sign-in */
  async function load(isAsked: boolean): Promise<KeySet> {
    const address = await uri();
    if (backOff.secondsLeft() > 0) throw new ProviderUnavailableError("jwks", { retryAfter: backOff.secondsLeft() });
    const requestedAt = clock.monotonic();
    const fetchNumber = ++fetches;
    let response: ProviderResponse | undefined;
    try {
      response = await backchannel.send(address, { method: "GET", headers: { accept: "application/json, application/jwk-set+json" } });
      const keys = usableKeys(response);
      backOff.succeeded();
      const fetched = new KeySet(keys, requestedAt, fetchNumber);
      // Two fetches may run at once, and the older one may end last.
      if (cached === undefined || cached.fetchNumber < fetchNumber) cached = fetched;
      return cached;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      const retryAfter = isAsked
        ? backOff.failed(requestedAt, { retryAfter: response?.headers.get("retry-after") })
        : FORCED_INTERVAL / 1000;
      const duration = clock.monotonic() - requestedAt;
      events.emit("outage", { issuer, side: "provider", endpoint: "jwks", reason: error.reason, duration });
      throw new ProviderUnavailableError("jwks", { retryAfter, cause: error.cause });
    }
  }

  const fetchNow = oneAtATime(() => load(true));
  const fetchUnasked = oneAtATime(() => load(false));

  /** Returns the keys in the cache, refreshed in the background, or fetches them. */
  async function current(): Promise<KeySet> {
    const now = clock.monotonic();
    if (cached === undefined || now - cached.requestedAt > MAX_AGE) return fetchNow();
    if (now - cached.requestedAt >= REFRESH_AFTER && backOff.secondsLeft() === 0) fetchNow().catch(() => undefined);
    return cached;
  }

  /** Returns newer keys than these; undefined if the last fetch was too recent. */
  async function newerThan(keys: KeySet): Promise<KeySet | undefined> {
    if (cached !== undefined && cached !== keys) return cached;
    if (!fetchNow.isRunning()) {
      const now = clock.monotonic();
      if (now - forcedAt < FORCED_INTERVAL) return undefined;
      forcedAt = now;
    }
    return fetchNow();
  }

  async function judge(token: string, header: CompactJWSHeaderParameters, keyFits: KeyFits): Promise<boolean> {
    // A key set that was requested after the token arrived is not outdated.
    const before = fetches;
    const isNewest = () => keys.fetchNumber > before;
    let keys = await current();
    let judgement = await keys.judge(token, header, keyFits);
    if (judgement !== "verified" && !isNewest()) {
      try {
        const newer = await newerThan(keys);
        if (newer !== undefined) {
          keys = newer;
          judgement = await keys.judge(token, header, keyFits);
        }
      } catch (error) {
        if (judgement !== "wrong") throw error;
      }
    }
    if (judgement === "verified") {
      isKeyMissing = false;
      return true;
    }
    // If the token names no key, only the newest keys prove that its signature is wrong.
    if (judgement === "wrong" || (judgement === "unsure" && isNewest())) return false;
    isKeyMissing = true;
    backOff.failed(clock.monotonic());
    const seconds = Math.ceil((forcedAt + FORCED_INTERVAL - clock.monotonic()) / 1000);
    throw new ProviderUnavailableError("jwks", { retryAfter: Math.max(1, Math.min(seconds, FORCED_INTERVAL / 1000)) });
  }

  async function judgeUnasked(token: string, header: CompactJWSHeaderParameters, keyFits: KeyFits): Promise<boolean> {
    let judgement = await (await current()).judge(token, header, keyFits);
    const now = clock.monotonic();
    if (judgement === "unknown_key" && now - unaskedAt >= FORCED_INTERVAL) {
      unaskedAt = now;
      judgement = await (await fetchUnasked()).judge(token, header, keyFits);
    }
    if (judgement === "unknown_key") throw new ProviderUnavailableError("jwks", { retryAfter: FORCED_INTERVAL / 1000 });
    return judgement === "verified";
  }

  return {
    verifyUnasked: (token, header, keyFits = () => true) => judgeUnasked(token, header, keyFits),
    verify: (token, header, signal, keyFits = () => true) => untilAborted(signal, () => judge(token, header, keyFits)),
    assertReady() {
      if (isKeyMissing || cached === undefined || clock.monotonic() - cached.requestedAt > MAX_AGE) backOff.assertReady();
    },
  };
}

class KeySet {
  /** The clock's `monotonic()` when the request for it began. */
  readonly requestedAt: number;
  readonly fetchNumber: number;
  readonly #kids: ReadonlySet<unknown>;
  /** The keys by their member `issuer`, which Entra ID adds. Other providers have one group. */
  readonly #groups: readonly { readonly issuer: unknown; readonly find: ReturnType<typeof createLocalJWKSet> }[];

  constructor(keys: JWK[], requestedAt: number, fetchNumber: number) {
    this.requestedAt = requestedAt;
    this.fetchNumber = fetchNumber;
    this.#kids = new Set(keys.map((key) => key.kid));
    const issuerOf = (key: JWK & { readonly issuer?: unknown }) => key.issuer;
    const issuers = [...new Set(keys.map(issuerOf))];
    this.#groups = issuers.map((issuer) => {
      return { issuer, find: createLocalJWKSet({ keys: keys.filter((key) => issuerOf(key) === issuer) }) };
    });
  }

  async judge(token: string, header: CompactJWSHeaderParameters, keyFits: KeyFits): Promise<Judgement> {
    let tried = false;
    for await (const key of this.#candidates(header, keyFits)) {
      tried = true;
      if (await isSignedBy(key, token, header.alg)) return "verified";
    }
    if (header.kid === undefined) return tried ? "unsure" : "unknown_key";
    return this.#kids.has(header.kid) ? "wrong" : "unknown_key";
  }

  /** Yields the key that the header names; without a name, every key for the algorithm. Skips unusable keys. */
  async *#candidates({ alg, kid }: CompactJWSHeaderParameters, keyFits: KeyFits): AsyncGenerator<CryptoKey> {
    for (const { issuer, find } of this.#groups) {
      if (!keyFits(issuer)) continue;
      try {
        yield await find({ alg, ...(kid !== undefined && { kid }) });
      } catch (error) {
        if (error instanceof JWKSMultipleMatchingKeys) yield* error;
      }
    }
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

/** Returns the public signature keys of a response. Throws for a set without usable keys, so that it never replaces a good set. */
function usableKeys(response: ProviderResponse): JWK[] {
  if (response.status !== 200) throw new ProviderUnavailableError(`http_${String(response.status)}`);
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
