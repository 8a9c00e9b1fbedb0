import type { Clock, SessionStore } from "idpauth";
import type { Entry, EntryPage, Stored } from "idpauth/adapter";

/** Entries in a page of a list. */
const PAGE = 100;

/**
 * Sessions in a Map. Each method does its work in one step, so no other call runs between compare
 * and swap.
 */
export class MapStore implements SessionStore {
  readonly name = "map";
  protected readonly entries = new Map<string, Stored>();
  protected readonly clock: Pick<Clock, "now">;
  private writes = 0;

  constructor(clock: Pick<Clock, "now"> = Date) {
    this.clock = clock;
  }

  async get(key: string): Promise<Stored | undefined> {
    return structuredClone(this.live(key));
  }

  async insert(key: string, entry: Entry): Promise<boolean> {
    if (this.live(key)) return false;
    this.write(key, entry);
    return true;
  }

  async replace(key: string, entry: Entry, version: string): Promise<boolean> {
    const stored = this.live(key);
    if (stored?.version !== version) return false;
    this.write(key, { ...entry, ...later(stored, entry.lastActive, entry.expiresAt) });
    return true;
  }

  async touch(key: string, lastActive: number | null, expiresAt: number): Promise<boolean> {
    const stored = this.live(key);
    if (stored)
      this.entries.set(key, { ...stored, ...later(stored, lastActive ?? undefined, expiresAt) });
    return stored !== undefined;
  }

  async delete(key: string): Promise<Stored | undefined> {
    const stored = this.live(key);
    this.entries.delete(key);
    return stored;
  }

  async listBySubject(subject: string, cursor?: string): Promise<EntryPage> {
    return this.page((stored) => stored.subject === subject, cursor);
  }

  async listBySid(sid: string, cursor?: string): Promise<EntryPage> {
    return this.page((stored) => stored.sid === sid, cursor);
  }

  /**
   * The next entries after a key. Deleting those of earlier pages moves none of them to another
   * page.
   */
  protected page(belongs: (stored: Stored) => boolean, after = ""): EntryPage {
    const found = [...this.entries].filter(
      ([key, stored]) => key > after && this.live(key) && belongs(stored),
    );
    const page = found.sort(([one], [other]) => (one < other ? -1 : 1)).slice(0, PAGE);
    return {
      entries: structuredClone(new Map(page)),
      next: page.length < PAGE ? undefined : page.at(-1)?.[0],
    };
  }

  /** What has expired does not exist. */
  protected live(key: string): Stored | undefined {
    const stored = this.entries.get(key);
    return stored && stored.expiresAt > this.clock.now() / 1000 ? stored : undefined;
  }

  /** A copy, so that the caller's bytes stay the caller's. No version ever comes twice. */
  protected write(key: string, entry: Entry): void {
    this.entries.set(key, { ...structuredClone(entry), version: String(++this.writes) });
  }
}

/** The later of the stored and the given times, so that neither time moves back. */
function later(
  stored: Stored,
  lastActive: number | undefined,
  expiresAt: number,
): Pick<Entry, "lastActive" | "expiresAt"> {
  const stamps = [stored.lastActive, lastActive].filter((stamp) => stamp !== undefined);
  return {
    expiresAt: Math.max(stored.expiresAt, expiresAt),
    ...(stamps.length > 0 && { lastActive: Math.max(...stamps) }),
  };
}
