import { isDeepStrictEqual } from "node:util";
import type { EpochSeconds } from "../clock.js";
import { StoreUnavailableError } from "../errors.js";
import type { Origin } from "../http/redirects.js";
import type {
  SeenSession,
  Change,
  Regeneration,
  Updated,
  UserSession,
} from "../ports/user-session.js";
import { keepsData } from "../record/application-data.js";
import type { EndReason, SessionEnd } from "../record/end-reason.js";
import { isObject } from "../record/json.js";
import { isElsewhere, withOrigin } from "../record/record-origin.js";
import {
  EMPTY_RECORD,
  isOfClients,
  userIn,
  withoutIdToken,
  withoutInherited,
  type SessionRecord,
} from "../record/record.js";
import type { PolicySettings } from "../record/session-policy.js";
import { parseRecord, storedKeys } from "../record/stored-form.js";
import { createSessionEndWatch, type SessionEndWatch, type Looked } from "./session-end-watch.js";
import { isGone, type SessionEntriesOptions } from "./session-entries.js";

/** The session of a framework's own middleware. An adapter implements it. */
export interface FrameworkSession {
  /** Identifies the session within this process. */
  readonly id: string;
  /** The request's copy of the session data. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Loads the newest data from the middleware's store. Undefined: there is no such session. */
  load(): Promise<Readonly<Record<string, unknown>> | undefined>;
  /**
   * Writes these keys to the request's copy and to the store. An undefined value removes the key;
   * other keys stay. Afterwards the middleware has no unsaved change.
   */
  save(keys: Readonly<Record<string, unknown>>): Promise<void>;
  /**
   * Gives the session a new id with these keys, and destroys the old one. If it fails, the old
   * session stays as it is.
   */
  regenerate(keys: Readonly<Record<string, unknown>>, keepApplicationKeys: boolean): Promise<void>;
  /**
   * Deletes the session with all its data, and gives the browser a new id. If it fails, nothing has
   * changed.
   */
  destroy(): Promise<void>;
}

export interface FrameworkSessionsOptions extends Pick<
  SessionEntriesOptions,
  "clock" | "names" | "clients" | "hasSource" | "isProviderKnown" | "namesProviders" | "debug"
> {
  readonly policy: PolicySettings;
  /** Called after every failed operation of the middleware. */
  readonly onStoreFailure?: (error: unknown) => void;
}

/**
 * Stores the record's keys in the framework's own session, each under its own name. Such sessions
 * have no compare-and-swap. Within this process, the changes of one session take turns. A write of
 * another process or of the framework between a load and a save is lost.
 */
export interface FrameworkSessions {
  /** @param origin the request's. Undefined: the application has one, which no record names */
  open(session: FrameworkSession, origin?: Origin): UserSession;
}

export function createFrameworkSessions(options: FrameworkSessionsOptions): FrameworkSessions {
  const turns = new Turns();
  const look = (sessions: readonly SessionInFramework[]) =>
    Promise.all(sessions.map((session) => session.look()));
  const ends = createSessionEndWatch({ look, clock: options.clock, policy: options.policy });
  const parts = { options, turns, ends };
  return { open: (session, origin) => new SessionInFramework(session, parts, origin) };
}

/** Runs the changes of one session one after the other. */
class Turns {
  /** The last change in the queue of each session. */
  readonly #last = new Map<string, Promise<unknown>>();

  take<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    // With an empty id, all users would share one queue.
    if (id === "") return work();
    const before = this.#last.get(id);
    const result = before === undefined ? work() : before.then(work);
    const leave = () => {
      if (this.#last.get(id) === done) this.#last.delete(id);
    };
    // The next turn also starts after a failed one.
    const done: Promise<unknown> = result.then(leave, leave);
    this.#last.set(id, done);
    return result;
  }
}

/** What all sessions share. */
interface Parts {
  readonly options: FrameworkSessionsOptions;
  readonly turns: Turns;
  readonly ends: SessionEndWatch<SessionInFramework>;
}

class SessionInFramework implements UserSession {
  readonly atomic = false;
  readonly setCookies: readonly string[] = [];
  seen: SeenSession | undefined;
  /** A source no longer has the provider. */
  #isProviderGone = false;
  readonly #framework: FrameworkSession;
  readonly #options: FrameworkSessionsOptions;
  readonly #turns: Turns;
  readonly #ends: SessionEndWatch<SessionInFramework>;
  readonly #origin: Origin | undefined;

  constructor(
    framework: FrameworkSession,
    { options, turns, ends }: Parts,
    origin: Origin | undefined,
  ) {
    this.#framework = framework;
    this.#options = options;
    this.#turns = turns;
    this.#ends = ends;
    this.#origin = origin;
  }

  get key(): string | undefined {
    // With an empty id, all users would share one key.
    return this.#framework.id === "" ? undefined : this.#framework.id;
  }

  get endedBy(): "provider_removed" | undefined {
    const { namesProviders, names } = this.#options;
    if (this.#isProviderGone) return "provider_removed";
    const record = namesProviders ? parseRecord(this.#framework.data, names) : undefined;
    return record === undefined || isOfClients(record, this.#options)
      ? undefined
      : "provider_removed";
  }

  get removedKey(): string | undefined {
    return this.endedBy === undefined ? undefined : this.key;
  }

  async read(): Promise<SessionRecord | undefined> {
    return this.#present(this.#framework.data);
  }

  async reload(): Promise<SessionRecord | undefined> {
    return (await this.update((record) => record)).record;
  }

  update(change: Change): Promise<Updated> {
    return this.#inTurn(async () => {
      const before = await this.#load();
      if (before === undefined) return { changed: false, record: undefined };
      const next = this.#after(change, before);
      return { changed: next !== before, record: await this.#write(before, next) };
    });
  }

  begin(change: Change): Promise<SessionRecord> {
    return this.#inTurn(async () => {
      const stored = await this.#run(() => this.#framework.load());
      const before = await this.#present(stored);
      const next = this.#after(change, before ?? EMPTY_RECORD);
      if (
        before === undefined &&
        (this.#holdsIdentity(stored) || this.#holdsIdentity(this.#framework.data))
      ) {
        // The session has another user's record, that of a provider which is gone, or one that cannot
        // be read. The application's keys in it belong to that user too.
        await this.#run(() => this.#framework.regenerate(this.#keys(next), false));
        return next;
      }
      return this.#write(before, next);
    });
  }

  regenerate(change: Change, { replaced }: Regeneration): Promise<SessionRecord | undefined> {
    return this.#inTurn(async () => {
      const stored = await this.#run(() => this.#framework.load());
      const before = this.#parse(stored);
      if (before === undefined) return undefined;
      const next = this.#after(change, before);
      // The middleware copies the application's keys from the request's copy, which may differ from
      // the stored data.
      const keepApplicationKeys = [stored, this.#framework.data].every(
        (data) => !this.#holdsIdentity(data) || keepsData(this.#parse(data), userIn(next)),
      );
      const { key } = this;
      await this.#run(() => this.#framework.regenerate(this.#keys(next), keepApplicationKeys));
      replaced?.();
      if (key !== undefined && before.credentials !== undefined) this.#ends.ended(key, "replaced");
      return next;
    });
  }

  destroy(): Promise<SessionRecord | undefined> {
    return this.#inTurn(async () => {
      const stored = await this.#run(() => this.#framework.load());
      // A logout ends it also while the source of providers fails.
      const record = await this.#present(stored).catch(() => this.#parse(stored));
      // A session of another origin of ours isn't this request's to end.
      if (record === undefined && this.#isOfOtherOrigin(stored)) return undefined;
      const { key } = this;
      await this.#run(() => this.#framework.destroy());
      if (key !== undefined) this.#ends.ended(key, "logout");
      return record;
    });
  }

  watchEnd(listener: (reason: SessionEnd) => void): () => void {
    return this.key === undefined ? () => undefined : this.#ends.watch(this.key, this, listener);
  }

  reportEnd(reason: EndReason): void {
    if (this.key !== undefined) this.#ends.ended(this.key, reason);
  }

  /**
   * The stored record. Unlike `reload`, it leaves the request's copy as it is. Undefined: it cannot
   * be read, which must not hide the ends of other sessions.
   */
  async look(): Promise<Looked | undefined> {
    try {
      const record = await this.#load();
      // While the source fails, nobody is signed out.
      const isEnded =
        record !== undefined &&
        (await isGone(record, this.#options.isProviderKnown).catch(() => false));
      return isEnded ? { record: undefined, reason: "provider_removed" } : { record };
    } catch {
      return undefined;
    }
  }

  touch(lastActive: EpochSeconds | null): Promise<void> | undefined {
    if (
      lastActive === null ||
      isAtLeast(this.#parse(this.#framework.data)?.idp_last_active, lastActive)
    )
      return undefined;
    return this.#inTurn(async () => {
      const fresh = await this.#load();
      if (fresh === undefined) return;
      await this.#write(
        fresh,
        isAtLeast(fresh.idp_last_active, lastActive)
          ? fresh
          : { ...fresh, idp_last_active: lastActive },
      );
    });
  }

  /** Returns the next record, or `before` itself if nothing changes. */
  #after(change: Change, before: SessionRecord): SessionRecord {
    const next = change(before);
    return next === before ? before : withoutInherited(withOrigin(next, this.#origin));
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.take(this.#framework.id, work);
  }

  async #load(): Promise<SessionRecord | undefined> {
    return this.#parse(await this.#run(() => this.#framework.load()));
  }

  #parse(data: unknown): SessionRecord | undefined {
    const record = parseRecord(data, this.#options.names);
    return record !== undefined &&
      isOfClients(record, this.#options) &&
      !isElsewhere(record.idp_state.origin, this.#origin)
      ? record
      : undefined;
  }

  #isOfOtherOrigin(data: unknown): boolean {
    const record = parseRecord(data, this.#options.names);
    return isElsewhere(record?.idp_state.origin, this.#origin);
  }

  /** The record, unless a source no longer has its provider. @throws ProviderUnavailableError */
  async #present(data: unknown): Promise<SessionRecord | undefined> {
    const record = this.#parse(data);
    this.#isProviderGone =
      record !== undefined && (await isGone(record, this.#options.isProviderKnown));
    return this.#isProviderGone ? undefined : record;
  }

  /** Whether a user has signed in with this data, for any client and in any format. */
  #holdsIdentity(data: unknown): boolean {
    return (
      isObject(data) &&
      [this.#options.names.credentials, "id_info"].some(
        (key) => Object.hasOwn(data, key) && data[key] !== undefined,
      )
    );
  }

  /**
   * Middleware writes the request's copy as a whole at the end of the response, if the copy
   * changed. So this brings the copy up to date, because handlers read it, and saves it now,
   * because a later write could overwrite newer data.
   */
  async #write(stored: SessionRecord | undefined, next: SessionRecord): Promise<SessionRecord> {
    const isStored = next === (stored ?? EMPTY_RECORD);
    if (
      !isStored ||
      (stored !== undefined && !isDeepStrictEqual(this.#parse(this.#framework.data), stored))
    ) {
      await this.#run(() => this.#framework.save(this.#keys(next)));
    }
    return next;
  }

  /**
   * Returns all keys. A key that the record does not have is undefined, so that `save` removes it.
   */
  #keys(record: SessionRecord): Record<string, unknown> {
    // A framework's session is not encrypted.
    const keys = storedKeys(withoutIdToken(record), this.#options.names);
    return this.#options.debug ? keys : { ...keys, debug: undefined };
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.#options.onStoreFailure?.(error);
      throw new StoreUnavailableError(undefined, { cause: error });
    }
  }
}

function isAtLeast(stamp: unknown, moment: EpochSeconds): boolean {
  return typeof stamp === "number" && stamp >= moment;
}
