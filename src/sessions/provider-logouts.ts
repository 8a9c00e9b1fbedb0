import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import { StoreUnavailableError } from "../errors.js";
import type { LogoutToken } from "../ports/provider.js";
import type { SessionStore, Stored } from "../ports/session-store.js";
import { hasSubject, type IdInfo } from "../record/identity.js";
import type { ClientIdentity } from "../record/record.js";
import { readSummary, readSummaryJson, stampOf } from "./device-summary.js";
import { ReportedStore, type StoreFailureListener } from "./reported-store.js";
import type { KeyedHashes, Sealer } from "./seal.js";
import { inBatches, keysUnder, type SessionEnding } from "./session-ending.js";

/** Seconds by which the ID token of a sign-in may be newer than the logout token that ends its session. */
const TOLERANCE = 5;
/** Seconds for which a logout is stored: as long as a started login may take. */
const REMEMBERED = 600;
/** Rounds of listing and deleting. If sessions remain after them, the store is broken. */
const MAX_ROUNDS = 8;
/** Attempts to store a logout, each after a lost race. */
const MAX_ATTEMPTS = 16;

export interface ProviderLogoutsOptions {
  readonly store: SessionStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly client: ClientIdentity;
  readonly ending: SessionEnding;
  /** Called after every failed store operation. */
  readonly onStoreFailure?: StoreFailureListener;
}

/** Ends sessions on behalf of the provider. All methods reject with StoreUnavailableError if the store fails. */
export interface ProviderLogouts {
  /**
   * Ends the sessions that a logout token names: those of its `sid`, or without a `sid` all of its `sub`. With both claims, it also ends the
   * sessions of the `sub` whose ID token had no `sid`. A session that began after the logout stays. The logout is stored, so that a sign-in
   * whose session is not stored yet finds it.
   *
   * @returns how many sessions it ended
   */
  end(token: LogoutToken): Promise<number>;
  /** Ends the sessions of one session of the provider. The request is not authenticated, so the logout is not stored. */
  endSid(sid: string): Promise<number>;
  /** Whether a stored logout has ended the sign-in with these claims of its ID token. */
  hasEnded(claims: IdInfo): Promise<boolean>;
}

export function createProviderLogouts(options: ProviderLogoutsOptions): ProviderLogouts {
  const { sealer, clock, client, ending } = options;
  const store = new ReportedStore(options.store, clock, options.onStoreFailure);

  /** Stores the newest logout under a key. */
  async function remember(key: string, iat: EpochSeconds): Promise<void> {
    const entry = () => ({
      data: Uint8Array.of(0),
      summary: sealer.sealSummary(JSON.stringify({ v: 1, logout_iat: iat }), key),
      expiresAt: epochSeconds(clock) + REMEMBERED,
    });
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (await store.insert(key, entry())) return;
      const known = await store.get(key);
      if (known === undefined) continue;
      if ((logoutIat(key, known) ?? -Infinity) >= iat || (await store.replace(key, entry(), known.version))) return;
    }
    throw new StoreUnavailableError("The session store refused every write.");
  }

  const logoutIat = (key: string, stored: Stored) => stampOf(readSummaryJson(sealer, key, stored)?.["logout_iat"]);

  async function hasLogout(keys: KeyedHashes, signedInIat: unknown): Promise<boolean> {
    for (const key of keys) {
      const stored = await store.get(key);
      const iat = stored && logoutIat(key, stored);
      if (iat !== undefined && iat !== null && isNotNewer(signedInIat, iat)) return true;
    }
    return false;
  }

  /** Ends the listed sessions that belong to the logout, and returns how many it ended. */
  async function endListed(list: () => Promise<readonly string[]>, belongs: (key: string, stored: Stored) => boolean): Promise<number> {
    let ended = 0;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const found = await inBatches(await list(), async (key) => {
        const stored = await store.get(key);
        return stored !== undefined && belongs(key, stored) ? key : undefined;
      });
      const keys = found.filter((key) => key !== undefined);
      // Listed again after each round: a sign-in that just finished may have moved a session to a new key.
      if (keys.length === 0) return ended;
      ended += await ending.end(keys, "logged_out_at_provider");
    }
    throw new StoreUnavailableError("The session store still lists sessions that were just deleted.");
  }

  const withSid = (sid: string) => () => keysUnder(sealer.sidHashes(client, sid), (hash) => store.listBySid(hash));

  return {
    async end({ sid, sub, iat, issuer }) {
      const isConcerned = (key: string, stored: Stored) => {
        const summary = readSummary(sealer, key, stored);
        // Another client may share the store. If the summary cannot be read, the session ends.
        return (summary?.clientId ?? client.clientId) === client.clientId && isNotNewer(summary?.signedInIat, iat);
      };
      const subject = sub ?? "";
      const ofSubject = () => keysUnder(sealer.subjectHashes(issuer, subject), (hash) => store.listBySubject(hash));
      // A provider that did not send `sid` at the sign-in cannot have ended another session of the user alone.
      const withoutSid = (key: string, stored: Stored) => stored.sid === undefined && isConcerned(key, stored);
      const endConcerned = async () => {
        if (sid === undefined) return endListed(ofSubject, isConcerned);
        return (await endListed(withSid(sid), isConcerned)) + (sub === undefined ? 0 : await endListed(ofSubject, withoutSid));
      };
      const [key] = sid === undefined ? sealer.logoutKeys({ ...client, issuer }, "sub", subject) : sealer.logoutKeys(client, "sid", sid);
      const isRemembered = await remember(key, iat).then(
        () => true,
        () => false,
      );
      const ended = await endConcerned();
      if (isRemembered) return ended;
      // A full store refused to store the logout. Now it has space.
      await remember(key, iat);
      return ended + (await endConcerned());
    },
    endSid: (sid) => endListed(withSid(sid), () => true),
    async hasEnded(claims) {
      const { sid, iat } = claims;
      if (typeof sid === "string" && (await hasLogout(sealer.logoutKeys(client, "sid", sid), iat))) return true;
      return hasSubject(claims) && hasLogout(sealer.logoutKeys({ ...client, issuer: claims.iss }, "sub", claims.sub), iat);
    },
  };
}

/** Returns whether a sign-in is not newer than a logout. A sign-in without a time counts as older. */
function isNotNewer(signedInIat: unknown, logoutIat: EpochSeconds): boolean {
  return typeof signedInIat !== "number" || signedInIat <= logoutIat + TOLERANCE;
}
