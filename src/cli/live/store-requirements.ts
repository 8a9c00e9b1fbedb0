import { randomBytes } from "node:crypto";
import type { Entry, SessionStore, Stored } from "../../ports/session-store.js";
import { epochSeconds, type Clock } from "../../clock.js";

/** The number of writers in one race, and of races. Many races find a rare window. */
const WRITERS = 20;
const RACES = 10;
/** Seconds until a test entry expires. If the check is killed, no entry stays longer. */
const LIFE = 60;
/** Seconds for which an expired entry may still be returned, since the store's clock may be behind. */
const PATIENCE = 10;

/** One requirement of a session store, checked with test entries. */
export interface StoreRequirement {
  /** The violation. Completes "the store …". */
  readonly violation: string;
  /** What a violation causes. */
  readonly harm: string;
  isMet(trial: StoreTrial): Promise<boolean>;
}

/** The store, and the keys that the check has written. */
export class StoreTrial {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** All keys that were written. */
  readonly keys = new Set<string>();
  /** Written first and read last, so that it expires in the meantime. */
  readonly #shortLived = newKey();

  constructor(store: SessionStore, clock: Clock) {
    this.store = store;
    this.clock = clock;
  }

  /** Writes the entry that is to expire. */
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

  /** Inserts a new entry, and reads it back. */
  async inserted(fields: Partial<Entry> = {}): Promise<{ key: string; entry: Entry; stored: Stored | undefined }> {
    const key = newKey();
    const entry = this.entry(fields);
    await this.insert(key, entry);
    return { key, entry, stored: await this.store.get(key) };
  }

  /** Returns an entry with random content. */
  entry(fields: Partial<Entry> = {}): Entry {
    const text = randomBytes(64).toString("base64url");
    const record = () => Object.freeze({ idp_state: Object.freeze({ v: 1 as const }), final_redirect: text });
    const data = this.store.inProcess === true ? record() : new TextEncoder().encode(text);
    return { data, expiresAt: epochSeconds(this.clock) + LIFE, ...fields };
  }
}

/** Returns a random key in the form of session keys: 256 bits in base64url. */
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
    violation: "loses an inserted entry, or overwrites it on a second insert under the same key",
    harm: "Sessions would be lost, or two users would share one session.",
    async isMet(trial) {
      const key = trial.newKey();
      const entry = trial.entry();
      const first = await trial.insert(key, entry);
      const second = await trial.insert(key, trial.entry());
      return first && !second && isSame(await trial.store.get(key), entry);
    },
  },
  {
    violation: `is not atomic: ${WRITERS} concurrent writers with the same version do not have exactly one winner`,
    harm: "Two processes would spend the same refresh token, and a provider that detects reuse would sign the user out. Or a logout would be undone.",
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
    violation: "accepts a write with an outdated version",
    harm: "A request that read the session before a refresh would replace the new token with the spent one.",
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
    violation: "does not update an entry's times with touch, changes its version, or creates a missing entry",
    harm: "Users would be signed out as idle, or refreshes would be lost.",
    async isMet(trial) {
      const now = epochSeconds(trial.clock);
      const { key, stored } = await trial.inserted({ lastActive: now - 10 });
      const touched = await trial.store.touch(key, now, now + 2 * LIFE);
      const after = await trial.store.get(key);
      const absent = trial.newKey();
      // If the store creates it, the check removes it, too.
      trial.keys.add(absent);
      const created = (await trial.store.touch(absent, now, now + LIFE)) || (await trial.store.get(absent)) !== undefined;
      const moved = after?.lastActive === now && after.expiresAt === now + 2 * LIFE;
      return touched && moved && after.version === stored?.version && !created;
    },
  },
  {
    violation:
      "does not delete an entry completely: it does not return the deleted entry, can still read it, or lets a late write restore it",
    harm: "A logout would be undone, or its tokens would not be revoked.",
    async isMet(trial) {
      const { key, entry, stored } = await trial.inserted();
      const given = await trial.store.delete(key);
      const late = await trial.store.replace(key, trial.entry(), stored?.version ?? "");
      const touched = await trial.store.touch(key, null, entry.expiresAt);
      return isSame(given, entry) && !late && !touched && (await trial.store.get(key)) === undefined;
    },
  },
  {
    violation: "does not list an entry under its subject",
    harm: "A device list would be empty, and signing a user out everywhere would have no effect.",
    async isMet(trial) {
      const subject = trial.newKey();
      const { key } = await trial.inserted({ subject });
      const keys = await trial.store.listBySubject(subject);
      return keys.length === 1 && keys[0] === key;
    },
  },
  {
    violation: "does not list an entry under its provider session (`sid`)",
    harm: "A logout at the provider would not end the session here.",
    async isMet(trial) {
      const sid = trial.newKey();
      const { key } = await trial.inserted({ sid });
      const keys = await trial.store.listBySid(sid);
      return keys.length === 1 && keys[0] === key;
    },
  },
  {
    violation: `still returns an entry ${PATIENCE} seconds after it expired`,
    harm: "Sessions would never expire.",
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

/** Waits, and keeps the process alive, unlike a clock's timer. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
