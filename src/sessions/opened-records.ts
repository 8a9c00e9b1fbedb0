import type { SessionRecord } from "../core/record.js";

/** Records kept; with the usual two kilobytes each, and their sealed bytes, some six megabytes. */
const MAX_RECORDS = 2_000;

interface Opened {
  readonly sealed: Uint8Array;
  readonly record: SessionRecord;
}

/**
 * Records that were opened a moment ago. A visitor's requests come in bursts, and opening costs more than asking most
 * stores. It changes nothing but the time: the same bytes under the same key open to the same record. The store is asked
 * all the same, so a logout or a refresh elsewhere is seen at once. A record in here is shared, so it is frozen before it is
 * handed to an application.
 */
export class OpenedRecords {
  /** Oldest first. */
  readonly #opened = new Map<string, Opened>();

  get(key: string, sealed: Uint8Array): SessionRecord | undefined {
    const known = this.#opened.get(key);
    return known !== undefined && Buffer.compare(known.sealed, sealed) === 0 ? known.record : undefined;
  }

  set(key: string, sealed: Uint8Array, record: SessionRecord): void {
    // A copy: a driver's bytes may be a small part of what it has received.
    this.#opened.set(key, { sealed: new Uint8Array(sealed), record });
    if (this.#opened.size <= MAX_RECORDS) return;
    for (const oldest of this.#opened.keys()) {
      this.#opened.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#opened.delete(key);
  }
}
