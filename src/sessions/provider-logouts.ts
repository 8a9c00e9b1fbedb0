import { epochSeconds, type EpochSeconds } from "../clock.js";
import { ProviderRefusedError, StoreUnavailableError } from "../errors.js";
import type { LogoutToken } from "../ports/provider.js";
import type { Stored } from "../ports/session-store.js";
import { hasSubject, type IdInfo } from "../record/identity.js";
import { PENDING_LOGIN_SECONDS } from "../record/pending-logins.js";
import type { ClientIdentity } from "../record/record.js";
import type { SessionEnding } from "./end-by-key.js";
import { noteOf, readSummary, readSummaryJson, stampOf } from "./entry-summary.js";
import { allPagesUnder } from "./listed-pages.js";
import type { KeyedHashes } from "./seal.js";
import type { SessionEntriesOptions } from "./session-entries.js";
import type { EntryPages } from "./store-failures.js";

/**
 * Seconds by which the ID token of a sign-in may be newer than the logout token that ends its
 * session.
 */
const NEWER_SIGN_IN_SECONDS = 5;
/** Attempts to store a logout, each after a lost race. */
const MAX_ATTEMPTS = 16;

export interface ProviderLogoutsOptions extends Pick<
  SessionEntriesOptions,
  "store" | "sealer" | "clock"
> {
  readonly client: ClientIdentity;
  readonly ending: SessionEnding;
}

/**
 * Ends sessions on behalf of the provider. All methods reject with StoreUnavailableError if the
 * store fails.
 */
export interface ProviderLogouts {
  /**
   * Ends the sessions that a logout token names: those of its `sid`, or without a `sid` all of its
   * `sub`. With both claims, it also ends the sessions of the `sub` whose ID token had no `sid`. A
   * session that began after the logout stays. The logout is stored, so that a sign-in whose
   * session is not stored yet finds it.
   *
   * @param announce called for each session as soon as it has ended, also if a later one fails
   * @throws ProviderRefusedError `logout_token_alg`: it ends no session, and those that it names, or
   *   the client's newest ID token, were signed with another algorithm
   */
  end(token: LogoutToken, announce: () => void): Promise<void>;
  /**
   * Ends the sessions of one session of the provider. The request is not authenticated, so the
   * logout is not stored.
   */
  endSid(sid: string, announce: () => void): Promise<void>;
  /** Whether a stored logout has ended the sign-in with these claims of its ID token. */
  hasEnded(claims: IdInfo): Promise<boolean>;
}

export function createProviderLogouts(options: ProviderLogoutsOptions): ProviderLogouts {
  const { store, sealer, clock, client, ending } = options;

  /** Stores the newest logout under a key. */
  async function remember(key: string, iat: EpochSeconds): Promise<void> {
    // As long as a started login may take.
    const entry = () =>
      noteOf(sealer, key, {
        members: { logout_iat: iat },
        expiresAt: epochSeconds(clock) + PENDING_LOGIN_SECONDS,
      });
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (await store.insert(key, entry())) return;
      const known = await store.get(key);
      if (known === undefined) continue;
      if (
        (logoutIat(key, known) ?? -Infinity) >= iat ||
        (await store.replace(key, entry(), known.version))
      )
        return;
    }
    throw new StoreUnavailableError("The session store refused every write.");
  }

  const logoutIat = (key: string, stored: Stored) =>
    stampOf(readSummaryJson(sealer, key, stored)?.["logout_iat"]);

  async function hasLogout(keys: KeyedHashes, signedInIat: unknown): Promise<boolean> {
    for (const key of keys) {
      const stored = await store.get(key);
      const iat = stored && logoutIat(key, stored);
      if (iat !== undefined && iat !== null && isNotNewer(signedInIat, iat)) return true;
    }
    return false;
  }

  const withSid = (sid: string) => () => allPagesUnder(store, "sid", sealer.sidHashes(client, sid));
  const reason = "logged_out_at_provider";

  return {
    async end({ sid, sub, iat, issuer, onlySignedWith, isUnusual = false }, announce) {
      let [ended, signedOtherwise] = [0, 0];
      // If the summary cannot be read, the session ends.
      const isConcerned = (key: string, stored: Stored) => {
        const { signedInIat, idTokenAlg = null } = readSummary(sealer, key, stored) ?? {};
        if (!isNotNewer(signedInIat, iat)) return false;
        if (onlySignedWith === undefined || (idTokenAlg ?? onlySignedWith) === onlySignedWith)
          return true;
        signedOtherwise += 1;
        return false;
      };
      const subject = sub ?? "";
      const hashes = sealer.subjectHashes({ ...client, issuer }, subject);
      const ofSubject = () => allPagesUnder(store, "subject", hashes);
      // A provider that did not send `sid` at the sign-in cannot have ended another session of the
      // user alone.
      const withoutSid = (key: string, stored: Stored) =>
        stored.sid === undefined && isConcerned(key, stored);
      const endAll = async (list: () => EntryPages, belongs: typeof isConcerned) => {
        ended += await ending.endListed(list, belongs, { reason, announce });
      };
      const endConcerned = async () => {
        if (sid !== undefined) await endAll(withSid(sid), isConcerned);
        if (sub !== undefined)
          await endAll(ofSubject, sid === undefined ? isConcerned : withoutSid);
      };
      const [key] =
        sid === undefined
          ? sealer.logoutKeys({ ...client, issuer }, "sub", subject)
          : sealer.logoutKeys(client, "sid", sid);
      const isRemembered = await remember(key, iat).then(
        () => true,
        () => false,
      );
      await endConcerned();
      if (!isRemembered) {
        // A full store refused to store the logout. Now it has space.
        await remember(key, iat);
        await endConcerned();
      }
      if (ended === 0 && (isUnusual || signedOtherwise > 0))
        throw new ProviderRefusedError("logout_token_alg");
    },
    async endSid(sid, announce) {
      await ending.endListed(withSid(sid), () => true, { reason, announce });
    },
    async hasEnded(claims) {
      const { sid, iat } = claims;
      if (typeof sid === "string" && (await hasLogout(sealer.logoutKeys(client, "sid", sid), iat)))
        return true;
      return (
        hasSubject(claims) &&
        hasLogout(sealer.logoutKeys({ ...client, issuer: claims.iss }, "sub", claims.sub), iat)
      );
    },
  };
}

/**
 * Returns whether a sign-in is not newer than a logout. A sign-in without a time counts as older.
 */
function isNotNewer(signedInIat: unknown, logoutIat: EpochSeconds): boolean {
  return typeof signedInIat !== "number" || signedInIat <= logoutIat + NEWER_SIGN_IN_SECONDS;
}
