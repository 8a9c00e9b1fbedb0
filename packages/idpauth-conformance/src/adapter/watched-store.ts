import { memoryStore, StoreUnavailableError, type Clock, type SessionStore } from "idpauth";
import type { Entry, EntryPage, Stored } from "idpauth/adapter";

/** A memory store that records its operations and fails on command. */
export class WatchedStore implements SessionStore {
  readonly name = "watched";
  readonly inProcess = true;
  /** The names of the operations so far, in order; a test may empty it. */
  readonly operations: string[] = [];
  /** While true, every operation fails. */
  isAway = false;
  readonly #store: SessionStore;

  constructor(clock: Clock) {
    this.#store = memoryStore({ clock });
  }

  get(key: string): Promise<Stored | undefined> {
    return this.#ask("get", () => this.#store.get(key));
  }

  insert(key: string, entry: Entry): Promise<boolean> {
    return this.#ask("insert", () => this.#store.insert(key, entry));
  }

  replace(key: string, entry: Entry, version: string): Promise<boolean> {
    return this.#ask("replace", () => this.#store.replace(key, entry, version));
  }

  touch(key: string, lastActive: number | null, expiresAt: number): Promise<boolean> {
    return this.#ask("touch", () => this.#store.touch(key, lastActive, expiresAt));
  }

  delete(key: string): Promise<Stored | undefined> {
    return this.#ask("delete", () => this.#store.delete(key));
  }

  listBySubject(subject: string, cursor?: string): Promise<EntryPage> {
    return this.#ask("listBySubject", () => this.#store.listBySubject(subject, cursor));
  }

  listBySid(sid: string, cursor?: string): Promise<EntryPage> {
    return this.#ask("listBySid", () => this.#store.listBySid(sid, cursor));
  }

  #ask<Answer>(operation: string, question: () => Promise<Answer>): Promise<Answer> {
    this.operations.push(operation);
    return this.isAway ? Promise.reject(new StoreUnavailableError()) : question();
  }
}
