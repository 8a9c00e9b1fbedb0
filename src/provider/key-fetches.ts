import { ProviderUnavailableError } from "../errors.js";
import { oneAtATime } from "../work/slots.js";
import type { FailureListener } from "./back-off.js";
import { untilAborted } from "./http-to-provider.js";
import { fetchKeySet, keySetOf, type KeySet, type SignedToken } from "./key-set.js";
import type { ProviderConnection } from "./provider-connection.js";

/** After which the keys are fetched again in the background. */
const KEY_REFRESH_MS = 10 * 60 * 1000;
/** After which the keys are not used any more. */
const MAX_KEY_AGE_MS = 24 * 3600 * 1000;
/** Unknown keys force fetches: each `kid` one within this time, and all together this many. */
const FORCED_FETCH_MS = 30_000;
const MAX_FORCED_FETCHES = 10;
/** The least time between two fetches for tokens that anyone can send. */
const UNASKED_FETCH_MS = 5_000;

/** The provider's signing keys (RFC 7517). */
export interface Jwks {
  /**
   * Whether one of the provider's keys signed this token. False: the signature is wrong under a key
   * that was fetched after this call began.
   *
   * @param signal ends the wait of this call
   * @throws ProviderUnavailableError `jwks`: the keys cannot be fetched; `unknown_key`: they lack
   *   the token's key, or cannot be fetched again yet
   */
  verify(signed: SignedToken, signal?: AbortSignal): Promise<boolean>;
  /**
   * As `verify`, for a token that anyone can send, such as a logout token. It never delays a
   * sign-in or a refresh: its fetches have an interval of their own, and their failures start no
   * back-off.
   */
  verifyUnasked(signed: SignedToken): Promise<boolean>;
  /** @throws ProviderUnavailableError while there are no keys and the back-off blocks a fetch */
  assertReady(): void;
}

/** How one token fetches keys. Undefined: the last fetch was too recent. */
interface Fetches {
  /** For keys that are missing or old. */
  readonly renew: () => Promise<KeySet> | undefined;
  /** For keys that do not verify this token. */
  readonly force: () => Promise<KeySet> | undefined;
}

/** @param uri returns the address of the key set, from the discovery document */
export function createJwks(connection: ProviderConnection, uri: () => Promise<string>): Jwks {
  const { clock, http } = connection;
  const backOff = connection.backOff();
  let cached: KeySet | undefined;
  /** When each key forced its last fetch. */
  const forced = new Map<string | undefined, number>();
  let unaskedAt = -Infinity;
  // Fetches are counted, since two of them may have the same time.
  let fetches = 0;
  let isReachable = false;

  const unasked: FailureListener = {
    succeeded() {
      backOff.succeeded();
    },
    failed: () => UNASKED_FETCH_MS / 1000,
  };

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
      backOff: isAsked ? backOff : unasked,
      send: () => fetchKeySet(address, http),
      read: (response) => {
        const fetched = keySetOf(response, requestedAt, fetchNumber);
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
    for (const [other, at] of forced) if (now - at >= FORCED_FETCH_MS) forced.delete(other);
    if (forced.has(kid) || forced.size >= MAX_FORCED_FETCHES) return false;
    forced.set(kid, now);
    return true;
  }

  function mayFetchUnasked(): boolean {
    const now = clock.monotonic();
    if (now - unaskedAt < UNASKED_FETCH_MS) return false;
    unaskedAt = now;
    return true;
  }

  const age = () => clock.monotonic() - (cached?.requestedAt ?? -Infinity);
  const current = () => (age() > MAX_KEY_AGE_MS ? undefined : cached);

  async function judge(signed: SignedToken, { renew, force }: Fetches): Promise<boolean> {
    const before = fetches;
    if (current() !== undefined && age() >= KEY_REFRESH_MS) renew()?.catch(() => undefined);
    for (let keys = current(); ;) {
      const judgement = await keys?.judge(signed);
      if (judgement === "verified") return true;
      // Only keys that were requested after the token came are not outdated.
      const isNewest = keys !== undefined && keys.fetchNumber > before;
      if (isNewest && judgement === "wrong") return false;
      const newer = cached === keys ? undefined : current();
      keys = newer ?? (isNewest ? undefined : await (keys === undefined ? renew() : force()));
      if (keys === undefined) {
        throw new ProviderUnavailableError(isReachable ? "unknown_key" : "jwks", {
          retryAfter: FORCED_FETCH_MS / 1000,
        });
      }
    }
  }

  function verify(signed: SignedToken, signal?: AbortSignal): Promise<boolean> {
    const { kid } = signed.header;
    // A fetch that the back-off blocks is none, so it does not count. Nor does one that fails: the
    // back-off decides when the next one may follow.
    const isFree = () => fetchNow.isRunning() || backOff.secondsLeft() > 0;
    const force = () => {
      if (!isFree() && !mayForce(kid)) return undefined;
      return fetchNow().catch((error: unknown) => {
        forced.delete(kid);
        throw error;
      });
    };
    return untilAborted(signal, () => judge(signed, { renew: fetchNow, force }));
  }

  function verifyUnasked(signed: SignedToken): Promise<boolean> {
    const fetch = () =>
      fetchUnasked.isRunning() || mayFetchUnasked() ? fetchUnasked() : undefined;
    return judge({ ...signed, isUnasked: true }, { renew: fetch, force: fetch });
  }

  function assertReady(): void {
    if (current() === undefined) backOff.assertReady();
  }

  return { verify, verifyUnasked, assertReady };
}
