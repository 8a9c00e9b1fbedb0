import type { Entry, Stored } from "../../src/adapter.js";
import { broken, moment, type BrokenStore } from "./broken-store.js";
import { MapStore } from "./map-store.js";

// Stores that are broken on purpose, each in one way that a real one might be.

type Bytes = Uint8Array<ArrayBuffer>;

/** A copy of the entry with its bytes changed. */
function withBytes<One extends Entry>(entry: One, change: (bytes: Bytes) => Bytes): One {
  const { data, summary } = entry;
  return {
    ...entry,
    ...(data instanceof Uint8Array && { data: change(Uint8Array.from(data)) }),
    ...(summary !== undefined && { summary: change(Uint8Array.from(summary)) }),
  };
}

/** Stores that are wrong all by themselves. */
export const brokenStores: readonly BrokenStore[] = [
  broken(
    "compares, then sets after a moment",
    ["replace", "of many replaces at once with"],
    [1, 2, 4, 5],
    class extends MapStore {
      override async replace(key: string, entry: Entry, version: string) {
        if ((await this.get(key))?.version !== version) return false;
        await moment();
        if (!this.live(key)) return false;
        return super.replace(key, entry, (await this.get(key))?.version ?? "");
      }
    },
  ),
  broken(
    "looks whether the key exists, then inserts after a moment",
    ["insert", "of many inserts at once under"],
    [5],
    class extends MapStore {
      override async insert(key: string, entry: Entry) {
        if (this.live(key)) return false;
        await moment();
        this.write(key, entry);
        return true;
      }
    },
  ),
  broken(
    "insert overwrites",
    ["insert", "refuses a key that exists, and"],
    [5, "everywhere"],
    class extends MapStore {
      override async insert(key: string, entry: Entry) {
        const isNew = !this.live(key);
        this.write(key, entry);
        return isNew;
      }
    },
  ),
  broken(
    "writes the index first, also for an insert that it then refuses",
    ["listBySubject", "returns the results of insert, replace"],
    ["expiry", "everywhere", "separation"],
    class extends MapStore {
      readonly index = new Map<string, string[]>();
      override async insert(key: string, entry: Entry) {
        if (entry.subject !== undefined)
          this.index.set(entry.subject, [...(this.index.get(entry.subject) ?? []), key]);
        return super.insert(key, entry);
      }
      override async listBySubject(subject: string, cursor?: string) {
        const indexed = (this.index.get(subject) ?? []).map((key) => this.live(key));
        return this.page(
          (stored) => stored.subject === subject || indexed.includes(stored),
          cursor,
        );
      }
    },
  ),
  broken(
    "replace writes where there is nothing",
    ["replace", "does not create an absent entry"],
    [6, "expiry", "everywhere"],
    class extends MapStore {
      override async replace(key: string, entry: Entry, version: string) {
        if (this.live(key)) return super.replace(key, entry, version);
        this.write(key, entry);
        return true;
      }
    },
  ),
  broken(
    "replace in flight during a delete brings the entry back",
    ["delete", "against a simultaneous replace and touch:"],
    [6],
    class extends MapStore {
      override async replace(key: string, entry: Entry, version: string) {
        const isFresh = this.live(key)?.version === version;
        await moment();
        if (!isFresh || this.live(key)) return super.replace(key, entry, version);
        this.write(key, entry);
        return true;
      }
    },
  ),
  broken(
    "replace ignores the version",
    ["replace", "refuses an old version and writes"],
    [1, 2, 3, 4, 5, 6, "expiry", "idle", "everywhere"],
    class extends MapStore {
      override async replace(key: string, entry: Entry, _version: string) {
        return super.replace(key, entry, this.live(key)?.version ?? "");
      }
    },
  ),
  broken(
    "compares the version as a number",
    ["replace", "gives no version twice, and rejects"],
    [2, 4, 5],
    class extends MapStore {
      override async replace(key: string, entry: Entry, version: string) {
        const present = this.live(key)?.version ?? "";
        return super.replace(key, entry, Number(version) === Number(present) ? present : version);
      }
    },
  ),
  broken(
    "a refused replace still moves the stamp",
    ["replace", "leaves lastActive and expiresAt unchanged when"],
    ["expiry", "idle"],
    class extends MapStore {
      override async replace(key: string, entry: Entry, version: string) {
        await this.touch(key, entry.lastActive ?? null, entry.expiresAt);
        return super.replace(key, entry, version);
      }
    },
  ),
  broken(
    "counts versions from one for each entry",
    ["replace", "an old version stays invalid after delete"],
    [5, 6, "expiry"],
    class extends MapStore {
      protected override write(key: string, entry: Entry) {
        const version = Number(this.live(key)?.version ?? 0) + 1;
        super.write(key, entry);
        this.entries.set(key, { ...(this.entries.get(key) as Stored), version: String(version) });
      }
    },
  ),
  broken(
    "takes a hash of the data for the version",
    ["replace", "gives a new version also if"],
    [4, 5, 6, "expiry"],
    class extends MapStore {
      protected override write(key: string, entry: Entry) {
        super.write(key, entry);
        this.entries.set(key, {
          ...(this.entries.get(key) as Stored),
          version: JSON.stringify(entry.data),
        });
      }
    },
  ),
  broken(
    "takes the second of the write for the version",
    ["replace", "gives no version twice, and rejects"],
    [1, 2, 3, 4, 5, 6, "expiry", "idle", "everywhere"],
    class extends MapStore {
      protected override write(key: string, entry: Entry) {
        super.write(key, entry);
        this.entries.set(key, {
          ...(this.entries.get(key) as Stored),
          version: String(this.clock.now()),
        });
      }
    },
  ),
  broken(
    "gives another version at each look",
    ["get", "returns the same version while nothing"],
    [1, 2, 3, 4, 5, 6, "expiry", "idle", "everywhere", "secrecy", "separation"],
    class extends MapStore {
      looks = 0;
      override async get(key: string) {
        const stored = await super.get(key);
        return stored && { ...stored, version: `${stored.version}.${++this.looks}` };
      }
    },
  ),
  broken(
    "touch reads the entry and writes it back whole",
    ["touch", "against a simultaneous replace"],
    [3, 5, "expiry", "idle"],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const early = this.live(key);
        await moment();
        if (!early || !this.live(key)) return false;
        this.entries.set(key, early);
        return super.touch(key, lastActive, expiresAt);
      }
    },
  ),
  broken(
    "touch returns, then writes the entry back as it was",
    ["delete", "against a simultaneous replace and touch:"],
    [3, 5, 6],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const early = this.live(key);
        const isThere = await super.touch(key, lastActive, expiresAt);
        if (early) {
          void moment()
            .then(moment)
            .then(() => this.entries.set(key, early));
        }
        return isThere;
      }
    },
  ),
  broken(
    "touch gives a new version",
    ["touch", "gives no new version: a replace"],
    [2],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const isThere = await super.touch(key, lastActive, expiresAt);
        const stored = this.entries.get(key);
        if (isThere && stored) this.write(key, stored);
        return isThere;
      }
    },
  ),
  broken(
    "touch creates",
    ["touch", "does not create an absent entry"],
    [6, "expiry", "everywhere"],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        if (!this.live(key)) this.write(key, { data: new Uint8Array(0), expiresAt });
        return super.touch(key, lastActive, expiresAt);
      }
    },
  ),
  broken(
    "touch drops the summary",
    ["touch", "changes nothing else: data, subject and"],
    [5],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const isThere = await super.touch(key, lastActive, expiresAt);
        const stored = this.entries.get(key);
        if (isThere && stored) {
          const { summary: _summary, ...rest } = stored;
          this.entries.set(key, rest);
        }
        return isThere;
      }
    },
  ),
  broken(
    "touch moves back",
    ["touch", "never moves a time back, and"],
    ["expiry", "idle"],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const stored = this.live(key);
        if (stored)
          this.entries.set(key, {
            ...stored,
            expiresAt,
            ...(lastActive !== null && { lastActive }),
          });
        return stored !== undefined;
      }
    },
  ),
  broken(
    "touch says false when nothing had to be moved",
    ["touch", "never moves a time back, and"],
    ["expiry", "idle"],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const before = this.live(key);
        await super.touch(key, lastActive, expiresAt);
        const after = this.live(key);
        return before?.lastActive !== after?.lastActive || before?.expiresAt !== after?.expiresAt;
      }
    },
  ),
  broken(
    "touch moves the stamp only together with the expiry",
    ["touch", "moves each of the two times"],
    ["expiry", "idle"],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const isDue = (this.live(key)?.expiresAt ?? 0) < expiresAt;
        return isDue ? super.touch(key, lastActive, expiresAt) : this.live(key) !== undefined;
      }
    },
  ),
  broken(
    "touch takes null for now",
    ["touch", "leaves lastActive unchanged for null, present"],
    ["idle"],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        return super.touch(key, lastActive ?? this.clock.now() / 1000, expiresAt);
      }
    },
  ),
  broken(
    "touch only updates a stamp that is there",
    ["touch", "stamps an entry that had no"],
    ["idle"],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        return super.touch(
          key,
          this.live(key)?.lastActive === undefined ? null : lastActive,
          expiresAt,
        );
      }
    },
  ),
  broken(
    "touch compares the stamp, then sets it after a moment",
    ["touch", "of many touches at once, the"],
    ["expiry", "idle"],
    class extends MapStore {
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const stored = this.live(key);
        await moment();
        const present = this.live(key);
        if (!stored || !present) return false;
        const stamp = Math.max(stored.lastActive ?? -1, lastActive ?? -1);
        this.entries.set(key, {
          ...present,
          expiresAt: Math.max(stored.expiresAt, expiresAt),
          ...(stamp >= 0 && { lastActive: stamp }),
        });
        return true;
      }
    },
  ),
  broken(
    "replace moves the stamp and the expiry back",
    ["replace", "keeps the later of the stored"],
    ["expiry", "idle"],
    class extends MapStore {
      override async replace(key: string, entry: Entry, version: string) {
        if (this.live(key)?.version !== version) return false;
        this.write(key, entry);
        return true;
      }
    },
  ),
  broken(
    "replace adds fields and takes none away",
    ["replace", "removes subject, sid and summary if"],
    ["everywhere"],
    class extends MapStore {
      override async replace(key: string, entry: Entry, version: string) {
        return super.replace(key, { ...this.live(key), ...entry }, version);
      }
    },
  ),
  broken(
    "replace cannot write a subject",
    ["replace", "writes if the version is still"],
    [2, 5, "everywhere"],
    class extends MapStore {
      override async replace(key: string, { subject: _subject, ...entry }: Entry, version: string) {
        const subject = this.live(key)?.subject;
        return super.replace(key, { ...entry, ...(subject !== undefined && { subject }) }, version);
      }
    },
  ),
  broken(
    "forgets the expiry",
    ["expiry", "an entry exists until the last"],
    [5, "expiry", "everywhere", "separation"],
    class extends MapStore {
      protected override live(key: string) {
        return this.entries.get(key);
      }
    },
  ),
  broken(
    "lets an entry live for its last second, too",
    ["expiry", "an entry exists until the last"],
    [5, "expiry", "everywhere", "separation"],
    class extends MapStore {
      protected override live(key: string) {
        const stored = this.entries.get(key);
        return stored && stored.expiresAt >= this.clock.now() / 1000 ? stored : undefined;
      }
    },
  ),
  broken(
    "rounds a life down to whole minutes",
    ["expiry", "an entry exists until the last"],
    ["expiry", "everywhere"],
    class extends MapStore {
      protected override live(key: string) {
        const stored = super.live(key);
        return stored && stored.expiresAt - this.clock.now() / 1000 > 60 ? stored : undefined;
      }
    },
  ),
  broken(
    "only get looks at the expiry",
    ["expiry", "each method treats an expired entry"],
    [5, "expiry", "everywhere", "separation"],
    class extends MapStore {
      override async get(key: string) {
        return structuredClone(super.live(key));
      }
      protected override live(key: string) {
        return this.entries.get(key);
      }
    },
  ),
  broken(
    "keeps the expiry of the insert, whatever touch and replace say",
    ["expiry", "an entry that touch or replace"],
    ["expiry", "everywhere"],
    class extends MapStore {
      readonly ends = new Map<string, number>();
      protected override live(key: string) {
        const stored = super.live(key);
        return stored && (this.ends.get(key) ?? Infinity) > this.clock.now() / 1000
          ? stored
          : undefined;
      }
      override async insert(key: string, entry: Entry) {
        const isNew = await super.insert(key, entry);
        if (isNew) this.ends.set(key, entry.expiresAt);
        return isNew;
      }
    },
  ),
  broken(
    "hands the server the latest expiry, not the later one",
    ["expiry", "neither touch nor replace with an"],
    ["expiry"],
    class extends MapStore {
      readonly ends = new Map<string, number>();
      protected override live(key: string) {
        const stored = super.live(key);
        return stored && (this.ends.get(key) ?? Infinity) > this.clock.now() / 1000
          ? stored
          : undefined;
      }
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const isThere = await super.touch(key, lastActive, expiresAt);
        if (isThere && expiresAt > this.clock.now() / 1000 + 1) this.ends.set(key, expiresAt);
        return isThere;
      }
      override async insert(key: string, entry: Entry) {
        if (!this.live(key)) this.ends.delete(key);
        return super.insert(key, entry);
      }
    },
  ),
  broken(
    "prolongs what is read",
    ["expiry", "reading prolongs nothing, and a life"],
    ["expiry", "everywhere"],
    class extends MapStore {
      readonly read = new Map<string, number>();
      protected override live(key: string) {
        const stored = this.entries.get(key);
        const end = Math.max(stored?.expiresAt ?? 0, this.read.get(key) ?? 0);
        return stored && end > this.clock.now() / 1000 ? stored : undefined;
      }
      override async get(key: string) {
        const stored = await super.get(key);
        if (stored && stored.expiresAt - this.clock.now() / 1000 < 2)
          this.read.set(key, this.clock.now() / 1000 + 300);
        return stored;
      }
      override async insert(key: string, entry: Entry) {
        this.read.delete(key);
        return super.insert(key, entry);
      }
    },
  ),
  broken(
    "lets a timer of 32 bits end a life",
    ["expiry", "reading prolongs nothing, and a life"],
    ["expiry"],
    class extends MapStore {
      readonly ends = new Map<string, number>();
      protected override live(key: string) {
        const stored = super.live(key);
        return stored && (this.ends.get(key) ?? Infinity) > this.clock.now() ? stored : undefined;
      }
      override async insert(key: string, entry: Entry) {
        const milliseconds = entry.expiresAt * 1000 - this.clock.now();
        const isNew = await super.insert(key, entry);
        if (isNew && milliseconds > 0x7fffffff) this.ends.set(key, this.clock.now() + 1);
        return isNew;
      }
    },
  ),
  broken(
    "takes an expiry in the past for none",
    ["expiry", "an entry with an expiresAt in"],
    ["expiry"],
    class extends MapStore {
      override async insert(key: string, entry: Entry) {
        const now = this.clock.now() / 1000;
        return super.insert(
          key,
          entry.expiresAt > now ? entry : { ...entry, expiresAt: now + 600 },
        );
      }
    },
  ),
  broken(
    "keeps times in 32 bits",
    ["get", "returns times beyond 32 bits"],
    ["expiry", "idle"],
    class extends MapStore {
      override async get(key: string) {
        const stored = await super.get(key);
        return (
          stored && {
            ...stored,
            expiresAt: stored.expiresAt | 0,
            ...(stored.lastActive !== undefined && { lastActive: stored.lastActive | 0 }),
          }
        );
      }
    },
  ),
  broken(
    "takes a stamp of zero for none, and none for zero",
    ["get", "leaves out absent fields, and does"],
    ["expiry", "idle", "everywhere", "separation"],
    class extends MapStore {
      override async get(key: string) {
        const stored = await super.get(key);
        return stored && { ...stored, lastActive: stored.lastActive ?? 0 };
      }
    },
  ),
  broken(
    "gives null for what is not there",
    ["get", "returns undefined for a key that"],
    [6, "expiry", "everywhere", "separation"],
    class extends MapStore {
      override async get(key: string) {
        return (await super.get(key)) ?? (null as unknown as undefined);
      }
      override async delete(key: string) {
        return (await super.delete(key)) ?? (null as unknown as undefined);
      }
    },
  ),
  broken(
    "says 1 and 0 for true and false",
    ["insert", "refuses a key that exists, and"],
    [1, 2, 3, 4, 5, 6, "expiry", "idle", "everywhere", "secrecy", "separation"],
    class extends MapStore {
      override async insert(key: string, entry: Entry) {
        return Number(await super.insert(key, entry)) as unknown as boolean;
      }
    },
  ),
  broken(
    "reads from a copy that lags behind",
    ["get", "returns a write as soon as"],
    [1, 2, 3, 4, 5, "expiry", "idle", "everywhere", "secrecy", "separation"],
    class extends MapStore {
      readonly lagging = new Map<string, Stored>();
      override async get(key: string) {
        const stored = await super.get(key);
        const early = this.lagging.get(key);
        if (stored) this.lagging.set(key, stored);
        return stored && early ? { ...early, version: stored.version } : stored;
      }
    },
  ),
  broken(
    "hands out the object that it goes on changing",
    ["get", "a returned entry stays unchanged when"],
    [5, 6, "secrecy"],
    class extends MapStore {
      override async get(key: string) {
        return this.live(key);
      }
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        const stored = this.live(key);
        const isThere = await super.touch(key, lastActive, expiresAt);
        if (stored) this.entries.set(key, Object.assign(stored, this.live(key)));
        return isThere;
      }
    },
  ),
  broken(
    "keeps the key of the call in a field, across a moment",
    ["get", "for many keys at once, returns"],
    ["separation"],
    class extends MapStore {
      key = "";
      override async get(key: string) {
        this.key = key;
        await moment();
        return super.get(this.key);
      }
    },
  ),
  broken(
    "delete gives nothing",
    ["delete", "returns the entry and removes it"],
    [6, "secrecy", "separation"],
    class extends MapStore {
      override async delete(key: string) {
        await super.delete(key);
        return undefined;
      }
    },
  ),
  broken(
    "delete removes nothing",
    ["delete", "returns the entry and removes it"],
    [5, 6, "everywhere", "separation"],
    class extends MapStore {
      override async delete(key: string) {
        return this.get(key);
      }
    },
  ),
  broken(
    "delete gives what was last read",
    ["delete", "returns the newest data, not the"],
    [6, "secrecy"],
    class extends MapStore {
      readonly known = new Map<string, Stored>();
      override async get(key: string) {
        const stored = await super.get(key);
        if (stored) this.known.set(key, stored);
        return stored;
      }
      override async delete(key: string) {
        const deleted = await super.delete(key);
        return deleted && (this.known.get(key) ?? deleted);
      }
    },
  ),
  broken(
    "delete gives an empty entry for what is not there",
    ["delete", "returns undefined for an absent entry"],
    [6, "expiry", "everywhere", "separation"],
    class extends MapStore {
      override async delete(key: string) {
        return (await super.delete(key)) ?? { data: new Uint8Array(0), expiresAt: 0, version: "" };
      }
    },
  ),
  broken(
    "delete reads, then removes after a moment",
    ["delete", "of many deletes at once, one"],
    [6],
    class extends MapStore {
      override async delete(key: string) {
        const stored = this.live(key);
        await moment();
        this.entries.delete(key);
        return stored;
      }
    },
  ),
  broken(
    "delete takes all of the subject",
    ["delete", "leaves other keys unchanged"],
    ["everywhere", "separation"],
    class extends MapStore {
      override async delete(key: string) {
        const deleted = await super.delete(key);
        if (deleted?.subject === undefined) return deleted;
        const { entries } = await this.listBySubject(deleted.subject);
        for (const other of entries.keys()) await super.delete(other);
        return deleted;
      }
    },
  ),
  broken(
    "marks a key as deleted for ever",
    ["insert", "accepts a key again after a"],
    [5, 6, "everywhere", "separation"],
    class extends MapStore {
      readonly dead = new Set<string>();
      override async insert(key: string, entry: Entry) {
        return !this.dead.has(key) && super.insert(key, entry);
      }
      override async delete(key: string) {
        this.dead.add(key);
        return super.delete(key);
      }
    },
  ),
  broken(
    "an insert over an expired entry keeps fields of it",
    ["insert", "accepts a key again after expiry,"],
    ["expiry", "everywhere", "separation"],
    class extends MapStore {
      override async insert(key: string, entry: Entry) {
        return super.insert(key, { ...this.entries.get(key), ...entry });
      }
    },
  ),
  broken(
    "takes bytes for text",
    ["data", "is opaque: every byte, no byte"],
    ["expiry", "idle", "everywhere", "secrecy", "separation"],
    class extends MapStore {
      protected override write(key: string, entry: Entry) {
        super.write(
          key,
          withBytes(entry, (bytes) => new TextEncoder().encode(new TextDecoder().decode(bytes))),
        );
      }
    },
  ),
  broken(
    "cuts bytes off after 64 KiB",
    ["data", "is opaque: every byte, no byte"],
    ["secrecy"],
    class extends MapStore {
      protected override write(key: string, entry: Entry) {
        super.write(
          key,
          withBytes(entry, (bytes) => bytes.slice(0, 65_536)),
        );
      }
    },
  ),
  broken(
    "takes no bytes for no data",
    ["data", "is opaque: every byte, no byte"],
    ["secrecy"],
    class extends MapStore {
      override async get(key: string) {
        const stored = await super.get(key);
        return (
          stored &&
          ({
            ...stored,
            data: (stored.data as Uint8Array).length > 0 ? stored.data : undefined,
          } as Stored)
        );
      }
    },
  ),
  broken(
    "keeps the whole buffer that the bytes lie in",
    ["data", "of a view into a larger"],
    ["secrecy", "separation"],
    class extends MapStore {
      protected override write(key: string, entry: Entry) {
        super.write(key, { ...entry, data: new Uint8Array((entry.data as Uint8Array).buffer) });
      }
    },
  ),
  broken(
    "keeps the caller's own bytes",
    ["data", "is the store's own copy: changing"],
    [5, "secrecy"],
    class extends MapStore {
      protected override write(key: string, entry: Entry) {
        super.write(key, entry);
        this.entries.set(key, { ...(this.entries.get(key) as Stored), data: entry.data });
      }
    },
  ),
  broken(
    "hands its own bytes out",
    ["data", "is the store's own copy: changing"],
    [5, "secrecy"],
    class extends MapStore {
      override async get(key: string) {
        const stored = this.live(key);
        return stored && { ...stored };
      }
    },
  ),
  broken(
    "folds keys in letter case",
    ["key", "is compared literally, for every kind"],
    ["expiry", "everywhere", "separation"],
    class extends MapStore {
      protected override live(key: string) {
        return super.live(key.toLowerCase());
      }
      protected override write(key: string, entry: Entry) {
        super.write(key.toLowerCase(), entry);
      }
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        return super.touch(key.toLowerCase(), lastActive, expiresAt);
      }
      override async delete(key: string) {
        return super.delete(key.toLowerCase());
      }
    },
  ),
  broken(
    "takes a key for a pattern when it deletes",
    ["key", "is compared literally, for every kind"],
    ["separation"],
    class extends MapStore {
      override async delete(key: string) {
        const deleted = await super.delete(key);
        if (key.endsWith("*"))
          for (const other of this.entries.keys())
            if (other.startsWith(key.slice(0, -1))) this.entries.delete(other);
        return deleted;
      }
    },
  ),
  broken(
    "never completes a touch without a stamp",
    ["touch", "leaves lastActive unchanged for null, present"],
    ["expiry", "idle", "everywhere"],
    class extends MapStore {
      override touch(key: string, lastActive: number | null, expiresAt: number) {
        return lastActive === null
          ? new Promise<boolean>(() => undefined)
          : super.touch(key, lastActive, expiresAt);
      }
    },
    100,
  ),
  broken(
    "says itself that its client is set up wrongly",
    ["setup", "reports no problem with the store's"],
    [7],
    class extends MapStore {
      readonly problems = [
        {
          message: "The client queues commands while its server is away.",
          remedy: "Set disableOfflineQueue.",
        },
      ];
    },
  ),
];
