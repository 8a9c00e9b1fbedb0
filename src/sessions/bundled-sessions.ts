import { epochSeconds, type EpochSeconds } from "../clock.js";
import { StoreUnavailableError } from "../errors.js";
import type { Origin } from "../http/redirects.js";
import type { IdpRequest } from "../http/request.js";
import type { Entry } from "../ports/session-store.js";
import type {
  SeenSession,
  Change,
  Regeneration,
  SignInTrace,
  Updated,
  UserSession,
} from "../ports/user-session.js";
import type { EndReason, SessionEnd } from "../record/end-reason.js";
import { cookieLife } from "../record/entry-life.js";
import { isElsewhere, withOrigin } from "../record/record-origin.js";
import {
  EMPTY_RECORD,
  withoutInherited,
  type LoginTarget,
  type SessionRecord,
} from "../record/record.js";
import type { PolicySettings } from "../record/session-policy.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { cookieNameFor, cookieValues, hasCookie, setCookie, storeKeyOf } from "./cookie.js";
import { createOldTraces, type OldTraces } from "./old-traces.js";
import { createSessionEndWatch, type SessionEndWatch } from "./session-end-watch.js";
import {
  createSessionEntries,
  isGone,
  type Found,
  type SessionEntries,
  type Handle,
  type Loaded,
  type SessionEntriesOptions,
} from "./session-entries.js";
import { createSessionRenewal, type SessionRenewal } from "./session-renewal.js";
import type { ReadTrace } from "./sign-in-trace.js";

/** A write that fails this often is not a lost race: the store is broken. */
const MAX_ATTEMPTS = 64;

export interface BundledSessionsOptions extends SessionEntriesOptions {
  readonly policy: PolicySettings;
  /** Called when the store no longer announces ends. */
  readonly onEndsLost?: () => void;
  /** Null: by scheme and path, see {@link cookieNameFor}. */
  readonly cookieName: string | null;
  /** The path under which browsers reach the endpoints. */
  readonly publicPath: string;
  /** Returns the origin of a request. Absent: the application has one, which no record names. */
  readonly originOf?: (request: IdpRequest) => Origin | undefined;
  /** Returns what a device list calls a session that this request signs in to. */
  readonly labelOf?: (request: IdpRequest) => string | null;
}

/** The component's own sessions: a cookie, an encrypted record, a store with compare-and-swap. */
export interface BundledSessions {
  /**
   * @param cookieHeader the request's Cookie header
   * @param secure whether the browser uses https
   * @param request passed to `labelOf` when it signs a user in
   */
  open(cookieHeader: string | undefined, secure: boolean, request?: IdpRequest): UserSession;
  readonly ends: SessionEndWatch<Handle>;
}

export function createBundledSessions(options: BundledSessionsOptions): BundledSessions {
  const { cookieName, publicPath, store, clock } = options;
  const entries = createSessionEntries(options);
  const ends = createSessionEndWatch({
    look: (handles: readonly Handle[]) => entries.look(handles),
    clock,
    policy: options.policy,
    store: store.announcements,
    ...withoutUndefined({ onLost: options.onEndsLost }),
  });
  const oldTraces = createOldTraces(options);
  const renewal = createSessionRenewal({
    ...options,
    entries,
    recordsActivity: options.policy.sessionIdleTimeout === null,
  });
  const partsOf = (secure: boolean): Parts => {
    const name = cookieNameFor(cookieName, publicPath, secure);
    const cookie = { name, secure: secure || name.startsWith("__") };
    return { options, entries, ends, oldTraces, renewal, cookie };
  };
  const [ofHttps, ofHttp] = [partsOf(true), partsOf(false)];
  return {
    ends,
    open: (cookieHeader, secure, request) =>
      new BundledSession(secure ? ofHttps : ofHttp, cookieHeader, request),
  };
}

/** What all sessions over https share, and those over http. */
interface Parts {
  readonly options: BundledSessionsOptions;
  readonly entries: SessionEntries;
  readonly ends: SessionEndWatch<Handle>;
  readonly oldTraces: OldTraces;
  readonly renewal: SessionRenewal;
  readonly cookie: { readonly name: string; readonly secure: boolean };
}

/** What a touch writes. */
interface Touch {
  /** The idle stamp. Null: it stays. */
  readonly stamp: EpochSeconds | null;
  /** Undefined: the expiry stays. */
  readonly renewedUntil: EpochSeconds | undefined;
}

/** The newest that a request knows of its session: what it has found, or written. */
interface Known {
  readonly record: SessionRecord;
  readonly stored: Entry & {
    /** Undefined after a write: the store doesn't return the version that it gives an entry. */
    readonly version: string | undefined;
  };
}

/** The trace of a sign-in under a key of this browser. */
interface Traced {
  readonly key: string;
  readonly trace: ReadTrace;
}

const NO_COOKIES: readonly string[] = [];

class BundledSession implements UserSession {
  readonly atomic = true;
  setCookies: readonly string[] = NO_COOKIES;
  readonly #parts: Parts;
  readonly #cookieHeader: string | undefined;
  readonly #request: IdpRequest | undefined;
  #handle: Handle | undefined;
  /**
   * The handle of a record that cannot be read. It counts as no session, but a logout still deletes
   * it.
   */
  #unreadable: Handle | undefined;
  /** The traces of sign-ins that this request has found. A logout deletes these, too. */
  #traced: Traced[] | undefined;
  endedBy: EndReason | undefined;
  seen: SeenSession | undefined;
  #known: Known | undefined;
  #read: Promise<SessionRecord | undefined> | undefined;

  constructor(parts: Parts, cookieHeader: string | undefined, request: IdpRequest | undefined) {
    this.#parts = parts;
    this.#cookieHeader = cookieHeader;
    this.#request = request;
  }

  get key(): string | undefined {
    return this.#handle?.key;
  }

  get isUnreadable(): boolean {
    return this.#unreadable !== undefined;
  }

  get expiresAt(): EpochSeconds | undefined {
    return this.#known?.stored.expiresAt;
  }

  get removedKey(): string | undefined {
    return this.endedBy === "provider_removed" ? this.#unreadable?.key : undefined;
  }

  read(): Promise<SessionRecord | undefined> {
    return (this.#read ??= this.#lookUp());
  }

  async reload(): Promise<SessionRecord | undefined> {
    const handle = await this.#ownHandle();
    return this.#keep(handle && (await this.#foundIn(handle)));
  }

  async update(change: Change): Promise<Updated> {
    const { entries, options } = this.#parts;
    const handle = await this.#ownHandle();
    if (handle === undefined) return { changed: false, record: undefined };
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const found = await this.#foundIn(handle);
      if (found === undefined) return { changed: false, record: this.#keep(undefined) };
      const next = change(found.record);
      if (next === found.record) return { changed: false, record: this.#keep(found) };
      const record = withoutInherited(withOrigin(next, this.#origin));
      const entry = entries.replacementOf(found.stored, record, handle);
      if (await options.store.replace(handle.key, entry, found.stored.version))
        return { changed: true, record: this.#keepWritten(record, entry) };
    }
    throw new StoreUnavailableError("The session store refused every write.");
  }

  async begin(change: Change): Promise<SessionRecord> {
    const { record: updated } = await this.update(change);
    if (updated !== undefined) {
      // The browser keeps the cookie of a pending login as long as a new one.
      if (updated.credentials === undefined && this.#handle !== undefined)
        this.#sendCookie(this.#handle.value);
      return updated;
    }
    const record = withoutInherited(withOrigin(change(EMPTY_RECORD), this.#origin));
    const { handle, entry } = await this.#parts.entries.insertNew(record, null);
    return this.#replacedBy(handle, record, entry);
  }

  async regenerate(
    change: Change,
    { trace, replaced }: Regeneration,
  ): Promise<SessionRecord | undefined> {
    const old = await this.#ownHandle();
    const found = old && (await this.#foundIn(old));
    if (old === undefined || found === undefined) return this.#keep(undefined);
    const record = withoutInherited(withOrigin(change(found.record), this.#origin));
    const { labelOf } = this.#parts.options;
    const label =
      labelOf === undefined || this.#request === undefined ? null : labelOf(this.#request);
    const { handle, entry } = await this.#parts.entries.insertNew(record, label);
    const last = await this.#leaveTrace(old, found, trace).catch(async (error: unknown) => {
      await this.#parts.entries.discard(handle);
      throw error;
    });
    if (last === undefined) {
      // A logout came first and wins: the new entry is deleted.
      await this.#parts.entries.discard(handle);
      return this.#keep(undefined);
    }
    replaced?.();
    if (last.record.credentials !== undefined) this.#parts.ends.ended(old.key, "replaced");
    this.#replacedBy(handle, record, entry);
    if (last.stored.version === found.stored.version) return record;
    // Another write came first: the change is made again, to its record. If the store fails now,
    // the sign-in still counts.
    return this.update(() => change(last.record)).then(
      (updated) => updated.record,
      () => this.#keepWritten(record, entry),
    );
  }

  async takeTrace(stateHash: string): Promise<LoginTarget | undefined> {
    const { store, clock } = this.#parts.options;
    const now = epochSeconds(clock);
    await this.read();
    const traced = this.#traced?.find(({ trace }) => trace.stateHash === stateHash);
    if (traced === undefined || isElsewhere(traced.trace.target.origin, this.#origin))
      return undefined;
    // Of several requests at once, only one finds it here. A logout by the provider may have put its
    // own trace in its place.
    const removed = await store.delete(traced.key);
    const isTaken = removed !== undefined && !isEndTrace(removed);
    return isTaken && traced.trace.expiresAt > now ? traced.trace.target : undefined;
  }

  async destroy(): Promise<SessionRecord | undefined> {
    const { entries, options } = this.#parts;
    const own = await this.#ownHandle().catch((error: unknown) => {
      if (this.#unreadable === undefined) throw error;
    });
    const handle = own ?? this.#unreadable;
    // First: if the store fails now, the session is still there, with its tokens.
    for (const { key } of this.#traced ?? []) await options.store.delete(key);
    const removed = handle && (await options.store.delete(handle.key));
    const record = handle && removed && entries.recordOf(removed, handle);
    if (record?.credentials !== undefined) this.#parts.ends.ended(handle?.key ?? "", "logout");
    if (hasCookie(this.#cookieHeader, this.#parts.cookie.name)) this.#sendCookie("", 0);
    this.#handle = undefined;
    this.#keep(undefined);
    return record;
  }

  watchEnd(listener: (reason: SessionEnd) => void): () => void {
    const handle = this.#handle;
    return handle === undefined
      ? () => undefined
      : this.#parts.ends.watch(handle.key, handle, listener);
  }

  reportEnd(reason: EndReason): void {
    if (this.#handle !== undefined) this.#parts.ends.ended(this.#handle.key, reason);
  }

  touch(lastActive: EpochSeconds | null, sendsCookie: boolean): Promise<void> | undefined {
    const handle = this.#handle;
    const known = this.#known;
    if (known === undefined || handle === undefined) return undefined;
    const { lastActive: stamped } = known.stored;
    const stamp =
      lastActive !== null && (stamped === undefined || stamped < lastActive) ? lastActive : null;
    const { renewal } = this.#parts;
    const renewedUntil = renewal.renewedUntil(handle.key, known.stored, sendsCookie);
    if (renewedUntil === undefined && stamp === null) return undefined;
    return renewedUntil !== undefined && renewal.recordsActivity
      ? this.#renew(handle, known, renewedUntil)
      : this.#touch(handle, known, { stamp, renewedUntil });
  }

  /** If another writer comes first, the next request renews the session. */
  async #renew(handle: Handle, known: Known, expiresAt: EpochSeconds): Promise<void> {
    const { entries, options } = this.#parts;
    const last = isFound(known) ? known : await this.#foundIn(handle);
    if (last === undefined) return;
    const found = { ...last, record: withOrigin(last.record, this.#origin) };
    const entry = entries.renewalOf(found, handle, Math.max(expiresAt, found.stored.expiresAt));
    if (!(await options.store.replace(handle.key, entry, found.stored.version))) return;
    this.#keepWritten(found.record, entry);
    this.#sendCookie(handle.value);
  }

  async #touch(
    handle: Handle,
    { record, stored }: Known,
    { stamp, renewedUntil }: Touch,
  ): Promise<void> {
    const expiresAt = renewedUntil ?? stored.expiresAt;
    if (!(await this.#parts.options.store.touch(handle.key, stamp, expiresAt))) return;
    // What the same request reads later, such as `clientState`, has the new stamp.
    if (stamp === null) this.#keep({ record, stored: { ...stored, expiresAt } });
    else
      this.#keep({
        record: { ...record, idp_last_active: stamp },
        stored: { ...stored, expiresAt, lastActive: stamp },
      });
    if (renewedUntil !== undefined) this.#sendCookie(handle.value);
  }

  /** Undefined: the application has one origin. */
  get #origin(): Origin | undefined {
    const { originOf } = this.#parts.options;
    return originOf === undefined || this.#request === undefined
      ? undefined
      : originOf(this.#request);
  }

  /** The session that the cookie leads to. The whole request shares the first look-up. */
  async #ownHandle(): Promise<Handle | undefined> {
    if (this.#handle === undefined) await this.read();
    return this.#handle;
  }

  async #lookUp(): Promise<SessionRecord | undefined> {
    for (const value of cookieValues(this.#cookieHeader, this.#parts.cookie.name)) {
      const handle = { value, key: storeKeyOf(value) };
      const stored = await this.#parts.options.store.get(handle.key);
      if (stored === undefined) continue;
      const loaded = this.#parts.entries.loaded(stored, handle);
      const found = this.#foundOf(loaded, handle);
      // The first value that the store knows decides, even if its record cannot be read. A trace is
      // no session.
      if (loaded.kind === "replaced") continue;
      if (found === undefined) return undefined;
      // A cookie of another origin of ours is none of this one's.
      if (isElsewhere(found.record.idp_state.origin, this.#origin)) continue;
      if (found.record.idp_state.provider !== undefined) {
        // First: a logout deletes it, also while the source fails.
        this.#unreadable = handle;
        if (await isGone(found.record, this.#parts.options.isProviderKnown)) {
          this.endedBy = "provider_removed";
          return undefined;
        }
        this.#unreadable = undefined;
      }
      this.#handle = handle;
      this.#known = found;
      return found.record;
    }
    return undefined;
  }

  async #foundIn(handle: Handle): Promise<Found | undefined> {
    const stored = await this.#parts.options.store.get(handle.key);
    return stored && this.#foundOf(this.#parts.entries.loaded(stored, handle), handle);
  }

  /** Remembers what has become of a session that isn't found, and what a logout deletes even so. */
  #foundOf(loaded: Loaded, handle: Handle): Found | undefined {
    if (loaded.kind === "found") return loaded;
    if (loaded.kind === "replaced") {
      (this.#traced ??= []).push({ key: handle.key, trace: loaded.trace });
      return undefined;
    }
    this.endedBy = loaded.kind === "unreadable" ? undefined : loaded.reason;
    if (loaded.kind !== "ended") this.#unreadable = handle;
    return undefined;
  }

  /**
   * Replaces the old session by the trace, with a second attempt if the store fails.
   *
   * @param found the last that is known of the old session
   * @returns what the trace has replaced; undefined if a logout or another sign-in came first
   */
  async #leaveTrace(old: Handle, found: Found, trace: SignInTrace): Promise<Found | undefined> {
    const { entries, oldTraces, options } = this.#parts;
    const entry = entries.traceEntryOf(trace, old);
    let last = found;
    let hasFailed = false;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      let isReplaced = false;
      try {
        isReplaced = await options.store.replace(old.key, entry, last.stored.version);
      } catch (error) {
        if (hasFailed) throw error;
        hasFailed = true;
      }
      const stored = isReplaced ? undefined : await options.store.get(old.key);
      const loaded = stored && entries.loaded(stored, old);
      if (loaded?.kind === "found") {
        last = loaded;
        continue;
      }
      // The attempt that failed has written it after all: no other sign-in has this state.
      const isOurs =
        hasFailed && loaded?.kind === "replaced" && loaded.trace.stateHash === trace.stateHash;
      if (!isReplaced && !isOurs) return undefined;
      if (last.stored.expiresAt > entry.expiresAt) oldTraces.left(old.key);
      return last;
    }
    throw new StoreUnavailableError("The session store refused every write.");
  }

  /** The session continues under a new key. */
  #replacedBy(handle: Handle, record: SessionRecord, entry: Entry): SessionRecord {
    this.#handle = handle;
    this.#sendCookie(handle.value);
    return this.#keepWritten(record, entry);
  }

  #sendCookie(value: string, maxAge = cookieLife(this.#parts.options.policy.sessionMaxAge)): void {
    this.setCookies = [setCookie({ ...this.#parts.cookie, value, maxAge })];
  }

  /** Another request may have changed the record again: this copy serves the current request only. */
  #keepWritten(record: SessionRecord, entry: Entry): SessionRecord {
    this.#keep({ record, stored: { ...entry, version: undefined } });
    return record;
  }

  #keep(known: Known | undefined): SessionRecord | undefined {
    this.#known = known;
    this.#read = Promise.resolve(known?.record);
    return known?.record;
  }
}

/** Whether the store may compare the version: the request has not written the record since. */
function isFound(known: Known): known is Found {
  return known.stored.version !== undefined;
}

/** Whether what was found under a replaced key is there because the session ended afterwards. */
function isEndTrace({ summary }: Entry): boolean {
  return summary !== undefined;
}
