import { StoreUnavailableError } from "../core/errors.js";
import type { Change, VisitorSession } from "../core/ports.js";
import { EMPTY_RECORD, parseRecord, storedForm, type KeyNames, type SessionRecord } from "../core/record.js";
import type { EpochSeconds } from "../core/time.js";

/** What a host's own session middleware is asked for; a host file implements it over its framework. */
export interface HostSession {
  /** Names the session within this process. */
  readonly id: string;
  /** The copy of the session's data that this request carries. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The freshest data, from the middleware's own store; undefined: the session is not there, or is there no longer. */
  load(): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Puts these keys into the request's copy alone; an undefined value removes the key. */
  mirror(keys: Readonly<Record<string, unknown>>): void;
  /** Writes these keys, to the request's copy and to the store; an undefined value removes the key. Other keys stay. */
  save(keys: Readonly<Record<string, unknown>>): Promise<void>;
  /** Gives the session a new id with these keys, and destroys the old one. */
  regenerate(keys: Readonly<Record<string, unknown>>, keepHostKeys: boolean): Promise<void>;
  /** Removes the session with everything in it, and gives the visitor a new id. */
  destroy(): Promise<void>;
}

/**
 * A session out of the host's own: the record's keys lie in it, each under its own name. Such sessions know no
 * compare-and-set, so what other writers do between a load and a save is lost: best effort, as `atomic` says.
 */
export function openHostSession(host: HostSession, names: KeyNames, debug: boolean): VisitorSession {
  return new SessionInHost(host, names, debug);
}

class SessionInHost implements VisitorSession {
  readonly atomic = false;
  readonly setCookies: readonly string[] = [];
  readonly #host: HostSession;
  readonly #names: KeyNames;
  readonly #debug: boolean;

  constructor(host: HostSession, names: KeyNames, debug: boolean) {
    this.#host = host;
    this.#names = names;
    this.#debug = debug;
  }

  get key(): string | undefined {
    // An empty name would be one for everybody.
    return this.#host.id === "" ? undefined : this.#host.id;
  }

  read(): Promise<SessionRecord | undefined> {
    return Promise.resolve(parseRecord(this.#host.data, this.#names));
  }

  async update(change: Change): Promise<SessionRecord | undefined> {
    const before = await this.#load();
    if (before === undefined) return undefined;
    return this.#write(before, change(before));
  }

  async begin(change: Change): Promise<SessionRecord> {
    const before = (await this.#load()) ?? EMPTY_RECORD;
    return this.#write(before, change(before));
  }

  async regenerate(change: Change): Promise<SessionRecord | undefined> {
    const before = await this.#load();
    if (before === undefined) return undefined;
    const next = change(before);
    const keepHostKeys = before.credentials === undefined || isSamePerson(before, next);
    await this.#ask(() => this.#host.regenerate(this.#keys(next), keepHostKeys));
    return next;
  }

  async destroy(): Promise<SessionRecord | undefined> {
    const record = await this.#load();
    await this.#ask(() => this.#host.destroy());
    return record;
  }

  async touch(lastActive: EpochSeconds | null): Promise<void> {
    if (lastActive === null || isAtLeast(this.#host.data["idp_last_active"], lastActive)) return;
    const fresh = await this.#load();
    if (fresh === undefined || isAtLeast(fresh.idp_last_active, lastActive)) return;
    await this.#ask(() => this.#host.save({ idp_last_active: lastActive }));
  }

  async #load(): Promise<SessionRecord | undefined> {
    const record = parseRecord(await this.#ask(() => this.#host.load()), this.#names);
    // Middleware writes the request's copy as a whole: an old one would bring spent tokens back, and handlers read it.
    if (record !== undefined) this.#host.mirror(this.#keys(record));
    return record;
  }

  async #write(before: SessionRecord, next: SessionRecord): Promise<SessionRecord> {
    if (next !== before) await this.#ask(() => this.#host.save(this.#keys(next)));
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
      throw new StoreUnavailableError(undefined, { cause: error });
    }
  }
}

function isAtLeast(stamp: unknown, moment: EpochSeconds): boolean {
  return typeof stamp === "number" && stamp >= moment;
}

function isSamePerson(before: SessionRecord, after: SessionRecord): boolean {
  return before.id_info?.iss === after.id_info?.iss && before.id_info?.sub === after.id_info?.sub;
}
