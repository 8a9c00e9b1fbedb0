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
import type { BackOff } from "./back-off.js";
import { untilAborted, type ProviderResponse, type Backchannel } from "./transport.js";
import { oneAtATime } from "./one-at-a-time.js";

/** Milliseconds after which the keys are fetched again in the background. */
const REFRESH_AFTER = 10 * 60 * 1000;
/** Milliseconds after which they are not believed any more. */
const MAX_AGE = 24 * 3600 * 1000;
/** Milliseconds between two fetches that tokens with unknown keys can force. */
const FORCED_INTERVAL = 30_000;
/** Of a key set, as many are looked at. */
export const MAX_KEYS = 100;

/** The provider's signing keys (RFC 7517), for as long as they can be believed. */
export interface Jwks {
  /**
   * Whether one of the provider's keys signed this token. False: its key is known and the signature is wrong.
   *
   * @param header the token's, its algorithm already allowed
   * @param signal ends this caller's wait
   * @throws ProviderUnavailableError `jwks`: the keys cannot be had, or the token's key is not among them even after
   * fetching them again
   */
  verify(token: string, header: CompactJWSHeaderParameters, signal?: AbortSignal): Promise<boolean>;
  /** @throws ProviderUnavailableError while keys, or the one that was asked for last, are missing and their endpoint is backed off from */
  assertReady(): void;
}

interface JwksOptions {
  /** For events. */
  readonly issuer: string;
  /** The address of the key set, from the discovery document. */
  readonly uri: () => Promise<string>;
  readonly backchannel: Backchannel;
  readonly backOff: BackOff;
  readonly clock: Clock;
  readonly events: EventHub;
}

/** `unsure`: the token names no key, and none of those at hand fits. */
type Judgement = "verified" | "wrong" | "unsure" | "unknown_key";

export function createJwks({ uri, issuer, backchannel, backOff, clock, events }: JwksOptions): Jwks {
  let cached: KeySet | undefined;
  let forcedAt = -Infinity;
  // A token was signed with a key that is not published: the next one would be, too.
  let isKeyMissing = false;
  // Fetches are counted, since two of them may fall into one tick of the clock.
  let fetches = 0;

  const fetchNow = oneAtATime(async () => {
    const address = await uri();
    if (backOff.secondsLeft() > 0) throw new ProviderUnavailableError("jwks", { retryAfter: backOff.secondsLeft() });
    const requestedAt = clock.monotonic();
    const fetchNumber = ++fetches;
    let response: ProviderResponse | undefined;
    try {
      response = await backchannel.send(address, { method: "GET", headers: { accept: "application/json, application/jwk-set+json" } });
      const keys = usableKeys(response);
      backOff.succeeded();
      cached = new KeySet(keys, requestedAt, fetchNumber);
      return cached;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      const retryAfter = backOff.failed(requestedAt, { retryAfter: response?.headers.get("retry-after") });
      const duration = clock.monotonic() - requestedAt;
      events.emit("outage", { issuer, side: "provider", endpoint: "jwks", reason: error.reason, duration });
      throw new ProviderUnavailableError("jwks", { retryAfter, cause: error.cause });
    }
  });

  /** The keys at hand while they can be believed, refreshed in the background; else those of a fetch. */
  async function current(): Promise<KeySet> {
    const now = clock.monotonic();
    if (cached === undefined || now - cached.requestedAt > MAX_AGE) return fetchNow();
    if (now - cached.requestedAt >= REFRESH_AFTER && backOff.secondsLeft() === 0) fetchNow().catch(() => undefined);
    return cached;
  }

  /** Keys newer than these; undefined while another fetch would come too soon. */
  async function newerThan(keys: KeySet): Promise<KeySet | undefined> {
    if (cached !== undefined && cached !== keys) return cached;
    if (!fetchNow.isRunning()) {
      const now = clock.monotonic();
      if (now - forcedAt < FORCED_INTERVAL) return undefined;
      forcedAt = now;
    }
    return fetchNow();
  }

  async function judge(token: string, header: CompactJWSHeaderParameters): Promise<boolean> {
    // A set that was asked for after the token had come cannot be outdated.
    const before = fetches;
    const isNewest = () => keys.fetchNumber > before;
    let keys = await current();
    let judgement = await keys.judge(token, header);
    if (judgement !== "verified" && !isNewest()) {
      try {
        const newer = await newerThan(keys);
        if (newer !== undefined) {
          keys = newer;
          judgement = await keys.judge(token, header);
        }
      } catch (error) {
        if (judgement !== "wrong") throw error;
      }
    }
    if (judgement === "verified") {
      isKeyMissing = false;
      return true;
    }
    // Without a key's name, a wrong signature proves something only under keys that are known to be the newest.
    if (judgement === "wrong" || (judgement === "unsure" && isNewest())) return false;
    isKeyMissing = true;
    backOff.failed(clock.monotonic());
    const seconds = Math.ceil((forcedAt + FORCED_INTERVAL - clock.monotonic()) / 1000);
    throw new ProviderUnavailableError("jwks", { retryAfter: Math.max(1, Math.min(seconds, FORCED_INTERVAL / 1000)) });
  }

  return {
    verify: (token, header, signal) => untilAborted(signal, () => judge(token, header)),
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
  readonly #find: ReturnType<typeof createLocalJWKSet>;

  constructor(keys: JWK[], requestedAt: number, fetchNumber: number) {
    this.requestedAt = requestedAt;
    this.fetchNumber = fetchNumber;
    this.#kids = new Set(keys.map((key) => key.kid));
    this.#find = createLocalJWKSet({ keys });
  }

  async judge(token: string, header: CompactJWSHeaderParameters): Promise<Judgement> {
    let tried = false;
    for await (const key of this.#candidates(header)) {
      tried = true;
      if (await isSignedBy(key, token, header.alg)) return "verified";
    }
    if (header.kid === undefined) return tried ? "unsure" : "unknown_key";
    return this.#kids.has(header.kid) ? "wrong" : "unknown_key";
  }

  /** The key that the header names; without a name every key that fits the algorithm. Unusable ones are skipped. */
  async *#candidates({ alg, kid }: CompactJWSHeaderParameters): AsyncGenerator<CryptoKey> {
    try {
      yield await this.#find({ alg, ...(kid !== undefined && { kid }) });
    } catch (error) {
      if (error instanceof JWKSMultipleMatchingKeys) yield* error;
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

/** The public signature keys of a response; a set without any is no set, so that it never replaces a good one. */
function usableKeys(response: ProviderResponse): JWK[] {
  if (response.status !== 200) throw new ProviderUnavailableError(`http_${String(response.status)}`);
  const listed = jsonObject(response)?.["keys"];
  if (!Array.isArray(listed)) throw new ProviderUnavailableError("not_a_key_set");
  const keys = listed.slice(0, MAX_KEYS).filter(isUsableKey);
  if (keys.length === 0) throw new ProviderUnavailableError("empty_key_set");
  return keys;
}

/** Whether a member of a key set is a public signature key, of a kind and size that are accepted. */
export function isUsableKey(key: unknown): key is JWK {
  if (!isObject(key) || !["RSA", "EC", "OKP"].includes(key["kty"] as string)) return false;
  // A private or symmetric key in the open proves nothing.
  if (key["d"] !== undefined || (key["use"] !== undefined && key["use"] !== "sig")) return false;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey({ key, format: "jwk" });
    return asymmetricKeyType !== "rsa" || (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048;
  } catch {
    return false;
  }
}
