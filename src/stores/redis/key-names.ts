import { LIST_FIELDS, type ListField } from "../stored-entries.js";

/** What an entry is listed by. An empty text counts as absent. */
export type Labels = Readonly<Partial<Record<ListField, string | undefined>>>;

/** The names of a store's keys in Redis. */
export interface KeyNames {
  /** Before the key of a session. */
  readonly session: string;
  readonly channel: string;
  /** Returns the name of the index of one subject or sid. */
  index(field: ListField, hash: string): string;
  /** Returns the names of the indexes that an entry is in. */
  indexesOf(entry?: Labels): string[];
}

/**
 * Returns the names. None has a hash tag, so a session and its indexes are in different slots of a
 * Cluster, and each command is about one name.
 */
export function keyNames(prefix: string): KeyNames {
  const index = (field: ListField, hash: string): string => `${prefix}${field}:${hash}`;
  return {
    session: `${prefix}session:`,
    channel: `${prefix}ended`,
    index,
    indexesOf(entry = {}) {
      return LIST_FIELDS.flatMap((field) => (entry[field] ? index(field, entry[field]) : []));
    },
  };
}
