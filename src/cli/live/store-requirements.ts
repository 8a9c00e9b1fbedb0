import { randomBytes } from "node:crypto";
import type { Entry, SessionStore, Stored } from "../../ports/session-store.js";
import { epochSeconds, type Clock } from "../../clock.js";

/** Writers in one race, and races: a window that is rarely hit has many chances. */
const WRITERS = 20;
const RACES = 10;
/** Seconds: the life of an entry whose end is not waited for. Should the check be killed, nothing stays longer. */
const LIFE = 60;
/** Seconds for which an entry that has expired may still be seen, since the store's clock may be behind. */
const PATIENCE = 10;

/** One thing that a store owes, asked of it with throw-away entries. */
export interface StoreRequirement {
  /** Goes on after "the store": `keeps …`. */
  readonly broken: string;
  /** What happens over a store that breaks it. */
  readonly harm: string;
  isMet(trial: StoreTrial): Promise<boolean>;
}

/** The store, and what the check has put into it. */
export class StoreTrial {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Every key that was ever written. */
  readonly keys = new Set<string>();
  /** Begun first and looked at last, so that its life passes meanwhile. */
  readonly #shortLived = newKey();

  constructor(store: SessionStore, clock: Clock) {
    this.store = store;
    this.clock = clock;
  }

  /** Writes the entry whose end is waited for. */
  async begin(): Promise<void> {
    await this.insert(this.#shortLived, this.entry({ expiresAt: epochSeconds(this.clock) + 2 }));
  }

  get shortLived(): string {
    return this.#shortLived;
  }

  newKey(): string {
    return newKey();
  }

  insert(key: string, entry: Entry): Promise<boolean> {
    this.keys.add(key);
    return this.store.insert(key, entry);
  }

  /** A new entry, and what was stored of it. */
  async inserted(fields: Partial<Entry> = {}): Promise<{ key: string; entry: Entry; stored: Stored | undefined }> {
    const key = newKey();
    const entry = this.entry(fields);
    await this.insert(key, entry);
    return { key, entry, stored: await this.store.get(key) };
  }

  /** Random content, as meaningless as sealed bytes are to a store. */
  entry(fields: Partial<Entry> = {}): Entry {
    const text = randomBytes(64).toString("base64url");
    const record = () => Object.freeze({ idp_state: Object.freeze({ v: 1 as const }), final_redirect: text });
    const data = this.store.inProcess === true ? record() : new TextEncoder().encode(text);
    return { data, expiresAt: epochSeconds(this.clock) + LIFE, ...fields };
  }
}

/** In the form of all keys: 256 bits in base64url. Nobody else has it. */
function newKey(): string {
  return randomBytes(32).toString("base64url");
}

function isSame(stored: Stored | undefined, { data }: Entry): boolean {
  if (stored === undefined) return false;
  if (data instanceof Uint8Array) return stored.data instanceof Uint8Array && Buffer.compare(stored.data, data) === 0;
  return JSON.stringify(stored.data) === JSON.stringify(data);
}

export const STORE_REQUIREMENTS: readonly StoreRequirement[] = [
  {
    broken: "does not keep what was inserted, or lets a second insert under the same key overwrite it",
    harm: "Sessions would be lost, or two visitors share one.",
    async isMet(trial) {
      const key = trial.newKey();
      const entry = trial.entry();
      const first = await trial.insert(key, entry);
      const second = await trial.insert(key, trial.entry());
      return first && !second && isSame(await trial.store.get(key), entry);
    },
  },
  {
    broken: `is not atomic: of ${WRITERS} writers at once with one version, not exactly one wins`,
    harm: "Two processes would both spend one refresh token, and a provider that detects reuse signs the visitor out; or a logout would be undone.",
    async isMet(trial) {
      for (let race = 0; race < RACES; race += 1) {
        const { key, stored } = await trial.inserted();
        const entries = Array.from({ length: WRITERS }, () => trial.entry());
        const won = await Promise.all(entries.map((entry) => trial.store.replace(key, entry, stored?.version ?? "")));
        const winners = entries.filter((_, index) => won[index]);
        const [winner] = winners;
        if (winner === undefined || winners.length > 1 || !isSame(await trial.store.get(key), winner)) return false;
      }
      return true;
    },
  },
  {
    broken: "lets a writer with an outdated version write",
    harm: "A request that read before a refresh would write the spent token back over the new one.",
    async isMet(trial) {
      const { key, stored } = await trial.inserted();
      const version = stored?.version ?? "";
      const second = trial.entry();
      await trial.store.replace(key, second, version);
      const late = await trial.store.replace(key, trial.entry(), version);
      return !late && isSame(await trial.store.get(key), second);
    },
  },
  {
    broken: "does not move an entry's stamps forward with touch, or gives it a new version, or creates what is not there",
    harm: "People would be signed out as idle, or refreshes be thrown away.",
    async isMet(trial) {
      const now = epochSeconds(trial.clock);
      const { key, stored } = await trial.inserted({ lastActive: now - 10 });
      const touched = await trial.store.touch(key, now, now + 2 * LIFE);
      const after = await trial.store.get(key);
      const absent = trial.newKey();
      // Where it is created after all, it is removed, too.
      trial.keys.add(absent);
      const created = (await trial.store.touch(absent, now, now + LIFE)) || (await trial.store.get(absent)) !== undefined;
      const moved = after?.lastActive === now && after.expiresAt === now + 2 * LIFE;
      return touched && moved && after.version === stored?.version && !created;
    },
  },
  {
    broken: "does not delete for good: what was deleted is not given back, can be read, or comes back with a late write",
    harm: "A logout would be undone, or its tokens not be revoked.",
    async isMet(trial) {
      const { key, entry, stored } = await trial.inserted();
      const given = await trial.store.delete(key);
      const late = await trial.store.replace(key, trial.entry(), stored?.version ?? "");
      const touched = await trial.store.touch(key, null, entry.expiresAt);
      return isSame(given, entry) && !late && !touched && (await trial.store.get(key)) === undefined;
    },
  },
  {
    broken: "does not list an entry under its subject",
    harm: "A device list would be empty, and signing a person out everywhere do nothing.",
    async isMet(trial) {
      const subject = trial.newKey();
      const { key } = await trial.inserted({ subject });
      const keys = await trial.store.listBySubject(subject);
      return keys.length === 1 && keys[0] === key;
    },
  },
  {
    broken: `still gives an entry ${PATIENCE} seconds after it has expired`,
    harm: "Sessions would never end by themselves.",
    async isMet(trial) {
      const end = trial.clock.now() + (2 + PATIENCE) * 1000;
      for (;;) {
        if ((await trial.store.get(trial.shortLived)) === undefined) return true;
        if (trial.clock.now() > end) return false;
        await pause(250);
      }
    },
  },
];

/** Unlike a clock's timer, it keeps the process alive. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
