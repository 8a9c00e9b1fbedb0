import { isDeepStrictEqual } from "node:util";
import { StoreUnavailableError } from "../errors.js";
import type { Change, UserSession } from "../ports/user-session.js";
import { isSameUser } from "../record/identity.js";
import { isObject } from "../record/json.js";
import { EMPTY_RECORD, withoutInherited } from "../record/own-properties.js";
import { parseRecord } from "../record/parse-record.js";
import { isOfClient, type ClientIdentity, type SessionRecord } from "../record/record.js";
import { storedForm, type KeyNames } from "../record/stored-form.js";
import type { EpochSeconds } from "../clock.js";

/** What a host's own session middleware is asked for; a host file implements it over its framework. */
export interface FrameworkSession {
  /** Names the session within this process. */
  readonly id: string;
  /** The copy of the session's data that this request carries. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The freshest data, from the middleware's own store; undefined: the session is not there, or is there no longer. */
  load(): Promise<Readonly<Record<string, unknown>> | undefined>;
  /**
   * Writes these keys, to the request's copy and to the store; an undefined value removes the key. Other keys stay.
   * Afterwards the middleware has nothing left to write of its own accord.
   */
  save(keys: Readonly<Record<string, unknown>>): Promise<void>;
  /** Gives the session a new id with these keys, and destroys the old one. When it fails, the old session is untouched. */
  regenerate(keys: Readonly<Record<string, unknown>>, keepApplicationKeys: boolean): Promise<void>;
  /** Removes the session with everything in it, and gives the visitor a new id. When it fails, nothing has changed. */
  destroy(): Promise<void>;
}

export interface FrameworkSessionsOptions {
  readonly names: KeyNames;
  readonly client: ClientIdentity;
  /** Outside debug mode a record's `debug` key is dropped. */
  readonly debug: boolean;
  /** Told of every operation of the host's sessions that failed. */
  readonly onStoreFailure?: (error: unknown) => void;
}

/**
 * Sessions out of the host's own: the record's keys lie in them, each under its own name. Such sessions know no
 * compare-and-set. Within this process the changes of one session take turns; what other processes, and the host itself,
 * write between a load and a save is lost: best effort, as `atomic` says.
 */
export interface FrameworkSessions {
  open(host: FrameworkSession): UserSession;
}

export function createFrameworkSessions(options: FrameworkSessionsOptions): FrameworkSessions {
  const turns = new Turns();
  return { open: (host) => new SessionInFramework(host, options, turns) };
}

/** Lets the changes of one session happen one after the other. */
class Turns {
  /** The last one in the queue of each session; none for a session that nobody is changing. */
  readonly #last = new Map<string, Promise<unknown>>();

  take<Answer>(id: string, work: () => Promise<Answer>): Promise<Answer> {
    // An empty name would be one queue for everybody.
    if (id === "") return work();
    const before = this.#last.get(id);
    const answer = before === undefined ? work() : before.then(work);
    const leave = () => {
      if (this.#last.get(id) === done) this.#last.delete(id);
    };
    // A turn that failed is over, too.
    const done: Promise<unknown> = answer.then(leave, leave);
    this.#last.set(id, done);
    return answer;
  }
}

class SessionInFramework implements UserSession {
  readonly atomic = false;
  readonly setCookies: readonly string[] = [];
  readonly #host: FrameworkSession;
  readonly #names: KeyNames;
  readonly #client: ClientIdentity;
  readonly #debug: boolean;
  readonly #turns: Turns;
  readonly #onStoreFailure: FrameworkSessionsOptions["onStoreFailure"];

  constructor(host: FrameworkSession, { names, client, debug, onStoreFailure }: FrameworkSessionsOptions, turns: Turns) {
    this.#host = host;
    this.#names = names;
    this.#client = client;
    this.#debug = debug;
    this.#turns = turns;
    this.#onStoreFailure = onStoreFailure;
  }

  get key(): string | undefined {
    // An empty name would be one for everybody.
    return this.#host.id === "" ? undefined : this.#host.id;
  }

  read(): Promise<SessionRecord | undefined> {
    return Promise.resolve(this.#parse(this.#host.data));
  }

  update(change: Change): Promise<SessionRecord | undefined> {
    return this.#inTurn(async () => {
      const before = await this.#load();
      return before && this.#write(before, after(change, before));
    });
  }

  begin(change: Change): Promise<SessionRecord> {
    return this.#inTurn(async () => {
      const stored = await this.#ask(() => this.#host.load());
      const before = this.#parse(stored);
      const next = after(change, before ?? EMPTY_RECORD);
      if (before === undefined && (this.#holdsIdentity(stored) || this.#holdsIdentity(this.#host.data))) {
        // Another user's record, or one that cannot be read: the application's keys beside it are that user's, too.
        await this.#ask(() => this.#host.regenerate(this.#keys(next), false));
        return next;
      }
      return this.#write(before, next);
    });
  }

  regenerate(change: Change, replaced?: () => void): Promise<SessionRecord | undefined> {
    return this.#inTurn(async () => {
      const stored = await this.#ask(() => this.#host.load());
      const before = this.#parse(stored);
      if (before === undefined) return undefined;
      const next = after(change, before);
      // The middleware takes the application's keys from the request's copy, which may differ from what is stored.
      const keepApplicationKeys = [stored, this.#host.data].every(
        (data) => !this.#holdsIdentity(data) || isSameUser(this.#parse(data)?.id_info, next.id_info),
      );
      await this.#ask(() => this.#host.regenerate(this.#keys(next), keepApplicationKeys));
      replaced?.();
      return next;
    });
  }

  destroy(): Promise<SessionRecord | undefined> {
    return this.#inTurn(async () => {
      const record = await this.#load();
      await this.#ask(() => this.#host.destroy());
      return record;
    });
  }

  touch(lastActive: EpochSeconds | null): Promise<void> | undefined {
    if (lastActive === null || isAtLeast(this.#parse(this.#host.data)?.idp_last_active, lastActive)) return undefined;
    return this.#inTurn(async () => {
      const fresh = await this.#load();
      if (fresh === undefined) return;
      await this.#write(fresh, isAtLeast(fresh.idp_last_active, lastActive) ? fresh : { ...fresh, idp_last_active: lastActive });
    });
  }

  #inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    return this.#turns.take(this.#host.id, work);
  }

  async #load(): Promise<SessionRecord | undefined> {
    return this.#parse(await this.#ask(() => this.#host.load()));
  }

  #parse(data: unknown): SessionRecord | undefined {
    const record = parseRecord(data, this.#names);
    return record !== undefined && isOfClient(record, this.#client) ? record : undefined;
  }

  /** Whether a user has signed in with this data, for whichever client and in whichever format. */
  #holdsIdentity(data: unknown): boolean {
    return isObject(data) && [this.#names.credentials, "id_info"].some((key) => Object.hasOwn(data, key) && data[key] !== undefined);
  }

  /**
   * Middleware writes the request's copy as a whole, at the end of the response and whenever it finds it changed. So the
   * copy must be the newest record, for handlers read it, and must be written by now: later it would be an old one.
   */
  async #write(stored: SessionRecord | undefined, next: SessionRecord): Promise<SessionRecord> {
    const isStored = next === (stored ?? EMPTY_RECORD);
    if (!isStored || (stored !== undefined && !isDeepStrictEqual(this.#parse(this.#host.data), stored))) {
      await this.#ask(() => this.#host.save(this.#keys(next)));
    }
    return next;
  }

  /** Every key of the record, so that one the record no longer has is removed. */
  #keys(record: SessionRecord): Record<string, unknown> {
    const none: Record<string, unknown> = {
      [this.#names.credentials]: undefined,
      [this.#names.oauth_state]: undefined,
      [this.#names.final_redirect]: undefined,
      id_info: undefined,
      debug: undefined,
      idp_login_at: undefined,
      idp_last_active: undefined,
    };
    const { debug, ...stored } = storedForm(record, this.#names);
    return { ...none, ...stored, ...(this.#debug && { debug }) };
  }

  async #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    try {
      return await question();
    } catch (error) {
      this.#onStoreFailure?.(error);
      throw new StoreUnavailableError(undefined, { cause: error });
    }
  }
}

function isAtLeast(stamp: unknown, moment: EpochSeconds): boolean {
  return typeof stamp === "number" && stamp >= moment;
}

/** The next record; the very one that was given when nothing changes. */
function after(change: Change, before: SessionRecord): SessionRecord {
  const next = change(before);
  return next === before ? before : withoutInherited(next);
}
