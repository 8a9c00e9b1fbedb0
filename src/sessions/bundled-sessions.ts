import { asStoreUnavailable, StoreUnavailableError } from "../errors.js";
import type { IdpRequest } from "../http/request-reply.js";
import type { Entry, SessionStore, Stored } from "../ports/session-store.js";
import type { Change, UserSession } from "../ports/user-session.js";
import { deepFreeze, isTooDeep } from "../record/json.js";
import { EMPTY_RECORD, withoutInherited } from "../record/own-properties.js";
import { parseRecord } from "../record/parse-record.js";
import { isOfClient, PENDING_LOGIN_SECONDS, type ClientIdentity, type SessionRecord } from "../record/record.js";
import { storedForm, type KeyNames } from "../record/stored-form.js";
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import { cookieNameFor, cookieValues, hasCookie, setCookie } from "./cookie.js";
import { newCookieValue, storeKeyOf, type Sealer } from "./seal.js";
import { readSummary, stampOf, writeSummary } from "./device-summary.js";

/** A session's life is renewed at most this often, in seconds; one that is not much longer at half of it. */
const RENEWAL_SECONDS = 86_400;

/** A writer that loses this often is not contending, it is looking at a broken store. */
const MAX_ATTEMPTS = 64;

export interface BundledSessionsOptions {
  readonly store: SessionStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly names: KeyNames;
  /** Null: by scheme and path, see {@link cookieNameFor}. */
  readonly cookieName: string | null;
  /** Where browsers find the endpoints. */
  readonly publicPath: string;
  readonly client: ClientIdentity;
  /** Seconds that a signed-in session lives after its last renewal. */
  readonly sessionTtl: number;
  /** Outside debug mode a record's `debug` key is dropped. */
  readonly debug: boolean;
  /** Told of every operation of the store that failed. */
  readonly onStoreFailure?: StoreFailureListener;
  /** What a device list calls a session that this request signs in to; null: nothing. */
  readonly labelOf?: (request: IdpRequest) => string | null;
}

/** @param duration milliseconds */
export type StoreFailureListener = (error: unknown, duration: number) => void;

/** The component's own sessions: a cookie, a sealed record, a store that compares and sets. */
export interface BundledSessions {
  /**
   * @param cookieHeader the request's Cookie header
   * @param secure whether the visitor reaches us over https
   * @param request asked for a label when it signs somebody in
   */
  open(cookieHeader: string | undefined, secure: boolean, request?: IdpRequest): UserSession;
}

export function createBundledSessions(options: BundledSessionsOptions): BundledSessions {
  const { cookieName, publicPath } = options;
  const secureName = cookieNameFor(cookieName, publicPath, true);
  const plainName = cookieNameFor(cookieName, publicPath, false);
  return {
    open: (cookieHeader, secure, request) => new BundledSession(options, secure ? secureName : plainName, cookieHeader, secure, request),
  };
}

/** A record as it was found, with what is needed to replace it. */
interface Found {
  readonly record: SessionRecord;
  readonly stored: Stored;
}

/** Which cookie value leads to the session, and under which key it is stored. */
interface Handle {
  readonly value: string;
  readonly key: string;
}

const NO_COOKIES: readonly string[] = [];

class BundledSession implements UserSession {
  readonly atomic = true;
  setCookies: readonly string[] = NO_COOKIES;
  readonly #options: BundledSessionsOptions;
  readonly #cookieName: string;
  readonly #cookieHeader: string | undefined;
  readonly #secure: boolean;
  readonly #request: IdpRequest | undefined;
  #handle: Handle | undefined;
  /** Where the cookie leads to a record that cannot be read: no session, but a logout still ends it for everybody. */
  #unreadable: Handle | undefined;
  #found: Found | undefined;
  #read: Promise<SessionRecord | undefined> | undefined;

  constructor(
    options: BundledSessionsOptions,
    cookieName: string,
    cookieHeader: string | undefined,
    secure: boolean,
    request: IdpRequest | undefined,
  ) {
    this.#options = options;
    this.#cookieName = cookieName;
    this.#request = request;
    this.#cookieHeader = cookieHeader;
    this.#secure = secure;
  }

  get key(): string | undefined {
    return this.#handle?.key;
  }

  get isUnreadable(): boolean {
    return this.#unreadable !== undefined;
  }

  read(): Promise<SessionRecord | undefined> {
    return (this.#read ??= this.#lookUp());
  }

  async update(change: Change): Promise<SessionRecord | undefined> {
    const handle = await this.#known();
    if (handle === undefined) return undefined;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const found = await this.#load(handle);
      if (found === undefined) return this.#keep(undefined);
      const changed = change(found.record);
      if (changed === found.record) return this.#keep(found);
      const next = withoutInherited(changed);
      const entry = this.#entry(next, handle, found.stored.expiresAt, this.#labelIn(found.stored, handle));
      if (await this.#ask((store) => store.replace(handle.key, entry, found.stored.version))) {
        // Another request may already have changed the record again; what is kept here is for this request only.
        return this.#keep({ record: next, stored: { ...entry, version: "" } });
      }
    }
    throw new StoreUnavailableError("The session store refused every write.");
  }

  async begin(change: Change): Promise<SessionRecord> {
    const updated = await this.update(change);
    if (updated !== undefined) {
      if (updated.credentials === undefined) this.#renewPending();
      return updated;
    }
    const record = withoutInherited(change(EMPTY_RECORD));
    await this.#create(record);
    return record;
  }

  async regenerate(change: Change, replaced?: () => void): Promise<SessionRecord | undefined> {
    const old = await this.#known();
    const found = old && (await this.#load(old));
    if (old === undefined || found === undefined) return this.#keep(undefined);
    const record = withoutInherited(change(found.record));
    const { labelOf } = this.#options;
    const label = labelOf === undefined || this.#request === undefined ? null : labelOf(this.#request);
    const created = await this.#insert(record, label);
    let removed: Stored | undefined;
    try {
      removed = orNothing(await this.#remove(old));
    } catch (error) {
      await this.#discard(created.handle);
      throw error;
    }
    const last = removed && this.#decode(removed, old);
    if (removed === undefined || last === undefined) {
      // A logout came between. It wins: what was just written goes again.
      await this.#discard(created.handle);
      return this.#keep(undefined);
    }
    replaced?.();
    this.#handle = created.handle;
    this.#sendCookie(created.handle.value, this.#options.sessionTtl);
    this.#keep({ record, stored: { ...created.entry, version: "" } });
    // Another writer came between: the change belongs onto what that one left.
    if (removed.version === found.stored.version) return record;
    // The old session is gone already: a store that fails now may cost what that writer left, never the sign-in.
    return this.update(() => change(last)).catch(() => this.#keep({ record, stored: { ...created.entry, version: "" } }));
  }

  async destroy(): Promise<SessionRecord | undefined> {
    const handle = (await this.#known()) ?? this.#unreadable;
    const removed = handle && orNothing(await this.#ask((store) => store.delete(handle.key)));
    const record = handle && removed && this.#decode(removed, handle);
    if (hasCookie(this.#cookieHeader, this.#cookieName)) this.#sendCookie("", 0);
    this.#handle = undefined;
    this.#keep(undefined);
    return record;
  }

  touch(lastActive: EpochSeconds | null, renew: boolean): Promise<void> | undefined {
    const handle = this.#handle;
    const found = this.#found;
    if (found === undefined || handle === undefined) return undefined;
    const { expiresAt, lastActive: stamped } = found.stored;
    const { sessionTtl } = this.#options;
    const fullLife = epochSeconds(this.#options.clock) + sessionTtl;
    const isDue = renew && fullLife - expiresAt >= Math.min(RENEWAL_SECONDS, sessionTtl / 2);
    const renewedLife = isDue ? fullLife : undefined;
    const stamp = lastActive !== null && (stamped === undefined || stamped < lastActive) ? lastActive : null;
    if (renewedLife === undefined && stamp === null) return undefined;
    return this.#stamp(handle, found, stamp, renewedLife);
  }

  async #stamp(
    handle: Handle,
    { record, stored }: Found,
    stamp: EpochSeconds | null,
    renewedLife: EpochSeconds | undefined,
  ): Promise<void> {
    const expiresAt = renewedLife ?? stored.expiresAt;
    const exists = await this.#ask((store) => store.touch(handle.key, stamp, expiresAt));
    if (!exists) return;
    this.#found = { record, stored: { ...stored, expiresAt, ...(stamp !== null && { lastActive: stamp }) } };
    if (renewedLife !== undefined) this.#sendCookie(handle.value, this.#options.sessionTtl);
  }

  /** The session that the cookie leads to; its first look-up is shared by the whole request. */
  async #known(): Promise<Handle | undefined> {
    if (this.#handle === undefined) await this.read();
    return this.#handle;
  }

  async #lookUp(): Promise<SessionRecord | undefined> {
    for (const value of cookieValues(this.#cookieHeader, this.#cookieName)) {
      const handle = { value, key: storeKeyOf(value) };
      // On every request: no closure, and no promise but the store's own.
      const started = this.#options.clock.monotonic();
      let stored: Stored | undefined;
      try {
        stored = orNothing(await this.#options.store.get(handle.key));
      } catch (error) {
        this.#options.onStoreFailure?.(error, this.#options.clock.monotonic() - started);
        throw asStoreUnavailable(error);
      }
      if (stored === undefined) continue;
      // The first value that the store knows decides, even when its record cannot be read.
      const record = this.#decode(stored, handle);
      if (record === undefined) {
        this.#unreadable = handle;
        return undefined;
      }
      this.#handle = handle;
      this.#found = { record, stored };
      return record;
    }
    return undefined;
  }

  async #load(handle: Handle): Promise<Found | undefined> {
    const stored = orNothing(await this.#ask((store) => store.get(handle.key)));
    const record = stored && this.#decode(stored, handle);
    // There, but not for us to read: whoever asks must not take it for a logout.
    if (stored !== undefined && record === undefined) this.#unreadable = handle;
    return stored && record && { record, stored };
  }

  async #create(record: SessionRecord): Promise<void> {
    const { handle, entry } = await this.#insert(record, null);
    this.#handle = handle;
    this.#sendCookie(handle.value, this.#options.sessionTtl);
    this.#keep({ record, stored: { ...entry, version: "" } });
  }

  async #insert(record: SessionRecord, label: string | null): Promise<{ handle: Handle; entry: Entry }> {
    const value = newCookieValue();
    const handle = { value, key: storeKeyOf(value) };
    const entry = this.#entry(record, handle, 0, label);
    // 256 random bits do not collide: a key that exists means a store that is broken.
    try {
      if (await this.#ask((store) => store.insert(handle.key, entry))) return { handle, entry };
    } catch (error) {
      await this.#discard(handle);
      throw error;
    }
    throw new StoreUnavailableError("The session store refused a new key.");
  }

  /**
   * Deletes the old session; a store that stumbles is asked again. When it then finds nothing, its first answer may only
   * have been lost, or a logout came between: nobody can tell, and a logout must win.
   */
  async #remove(handle: Handle): Promise<Stored | undefined> {
    try {
      return await this.#ask((store) => store.delete(handle.key));
    } catch {
      return this.#ask((store) => store.delete(handle.key));
    }
  }

  /** Nobody will ever hold this key's cookie, whether it was written or not. */
  async #discard(handle: Handle): Promise<void> {
    await this.#ask((store) => store.delete(handle.key)).catch(() => undefined);
  }

  /** A login was added to a session that nobody is signed in to: the browser keeps its cookie as long as a new one. */
  #renewPending(): void {
    if (this.#handle !== undefined) this.#sendCookie(this.#handle.value, this.#options.sessionTtl);
  }

  #sendCookie(value: string, maxAge: number): void {
    this.setCookies = [setCookie(this.#cookieName, value, maxAge, this.#secure || this.#cookieName.startsWith("__"))];
  }

  #keep(found: Found | undefined): SessionRecord | undefined {
    this.#found = found;
    this.#read = Promise.resolve(found?.record);
    return found?.record;
  }

  /** The idle stamp lies beside the data: stamping must not conflict with a writer of the data. */
  #entry(record: SessionRecord, handle: Handle, expiresAt: EpochSeconds, label: string | null): Entry {
    const { store, sealer, clock, names, sessionTtl, debug } = this.#options;
    const { idp_last_active: lastActive, debug: decision, ...rest } = record;
    const kept = withoutInherited(debug && decision !== undefined ? { ...rest, debug: decision } : rest);
    const iss = record.id_info?.iss;
    const sub = record.id_info?.sub;
    const isSignedIn = record.credentials !== undefined;
    const life = isSignedIn ? sessionTtl : PENDING_LOGIN_SECONDS;
    return {
      data: store.inProcess === true ? deepFreeze(kept) : sealer.seal(JSON.stringify(storedForm(kept, names)), handle.value, handle.key),
      expiresAt: isSignedIn && expiresAt > 0 ? expiresAt : epochSeconds(clock) + life,
      ...(typeof lastActive === "number" && Number.isFinite(lastActive) && { lastActive }),
      ...(isSignedIn && { subject: sealer.subjectHashes(textOf(iss), textOf(sub))[0] }),
      ...(isSignedIn && writeSummary(this.#options, handle.key, { loginAt: stampOf(record.idp_login_at), label })),
    };
  }

  /** The label that the sign-in gave; a write carries it on, under the present SECRET_KEY. */
  #labelIn(stored: Stored, handle: Handle): string | null {
    return readSummary(this.#options, handle.key, stored)?.label ?? null;
  }

  #decode(stored: Stored, handle: Handle): SessionRecord | undefined {
    const record = this.#open(stored, handle);
    if (record !== undefined && !isOfClient(record, this.#options.client)) return undefined;
    // Somebody is signed in, says the store, but under names of keys that a process with other settings has given: what this
    // one would write back would lose them.
    if (record?.credentials === undefined && stored.subject !== undefined) return undefined;
    return record === undefined || stored.lastActive === undefined ? record : { ...record, idp_last_active: stored.lastActive };
  }

  #open(stored: Stored, handle: Handle): SessionRecord | undefined {
    const { store, sealer, names } = this.#options;
    // A store of one's own may have copied the record.
    if (!(stored.data instanceof Uint8Array)) return store.inProcess === true ? asKept(stored.data) : undefined;
    const plain = sealer.open(stored.data, handle.value, handle.key);
    if (plain === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(plain);
      // Nothing that we wrote; it could not be written again.
      return isTooDeep(value) ? undefined : parseRecord(value, names);
    } catch {
      return undefined;
    }
  }

  /** Whatever a store rejects with, the caller learns one thing: the store could not answer. */
  async #ask<Answer>(question: (store: SessionStore) => Promise<Answer>): Promise<Answer> {
    const { store, clock, onStoreFailure } = this.#options;
    const started = clock.monotonic();
    try {
      return await question(store);
    } catch (error) {
      onStoreFailure?.(error, clock.monotonic() - started);
      throw asStoreUnavailable(error);
    }
  }
}

/** The very object that was stored, where the store has kept it: nothing is copied on the hot path. */
function asKept(record: SessionRecord): SessionRecord {
  return Object.getPrototypeOf(record) === null ? record : withoutInherited(record);
}

/** Many databases say null for what is not there; a store that passes that on must not make every stranger an error. */
function orNothing(stored: Stored | undefined): Stored | undefined {
  return stored ?? undefined;
}

/** A stored record is hostile: what is no text may also be no word. */
function textOf(claim: unknown): string {
  return typeof claim === "string" ? claim : "";
}
