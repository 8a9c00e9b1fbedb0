import type { StoreUnderTest } from "../../packages/idpauth-conformance/src/index.js";
import type { Entry, EntryPage, Stored } from "../../src/adapter.js";
import type { SessionStore } from "../../src/index.js";
import type { EndWatcher } from "../../src/ports/session-store.js";
import { moment, StoppedClock } from "./broken-store.js";
import { MapStore } from "./map-store.js";

// A store over a server that several such stores share, as those of several processes do, and that
// can be away.

/** Can be brought back to what it was, as by a client that writes all of an entry. */
export class ServerData extends MapStore {
  restore(key: string, stored: Stored): void {
    this.entries.set(key, stored);
  }
  every(cursor?: string): EntryPage {
    return this.page(({ subject, sid }) => (subject ?? sid) !== undefined, cursor);
  }
}

/** The data that the stores share, one moment away. */
export class Server {
  store: ServerData;
  readonly watchers = new Set<EndWatcher>();
  #isAway = false;
  readonly clock: StoppedClock;

  constructor(clock: StoppedClock) {
    this.clock = clock;
    this.store = new ServerData(clock);
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  set isAway(isAway: boolean) {
    this.#isAway = isAway;
    for (const watcher of this.watchers) watcher.connected(!isAway);
  }

  async ask<Result>(question: (store: ServerData) => Promise<Result>): Promise<Result> {
    await moment();
    if (this.isAway) throw new Error("The server does not respond.");
    return question(this.store);
  }
}

/** A store as it should be. */
export class SharedStore implements SessionStore {
  readonly name = "shared";
  readonly inProcess: boolean = false;
  protected readonly server: Server;

  constructor(server: Server) {
    this.server = server;
  }

  get(key: string): Promise<Stored | undefined> {
    return this.server.ask((store) => store.get(key));
  }
  insert(key: string, entry: Entry): Promise<boolean> {
    return this.server.ask((store) => store.insert(key, entry));
  }
  replace(key: string, entry: Entry, version: string): Promise<boolean> {
    return this.server.ask((store) => store.replace(key, entry, version));
  }
  touch(key: string, lastActive: number | null, expiresAt: number): Promise<boolean> {
    return this.server.ask((store) => store.touch(key, lastActive, expiresAt));
  }
  delete(key: string): Promise<Stored | undefined> {
    return this.server.ask((store) => store.delete(key));
  }
  listBySubject(subject: string, cursor?: string): Promise<EntryPage> {
    return this.server.ask((store) => store.listBySubject(subject, cursor));
  }
  listBySid(sid: string, cursor?: string): Promise<EntryPage> {
    return this.server.ask((store) => store.listBySid(sid, cursor));
  }
  getMany(keys: readonly string[]): Promise<ReadonlyMap<string, Stored>> {
    return this.server.ask(async (store) => {
      const found = await Promise.all(
        keys.map(async (key) => [key, await store.get(key)] as const),
      );
      return new Map(
        found.flatMap(([key, stored]) => (stored === undefined ? [] : [[key, stored] as const])),
      );
    });
  }
  readonly lossyIndex = {
    isWhole: () => this.server.ask(async () => true),
    scan: (cursor?: string) => this.server.ask(async (store) => store.every(cursor)),
  };
  async announceEnd(key: string, reason: string): Promise<void> {
    await this.server
      .ask(async () => {
        for (const watcher of this.server.watchers) watcher.ended(key, reason);
      })
      .catch(() => undefined);
  }
  watchEnds(watcher: EndWatcher): () => void {
    const own: EndWatcher = {
      ended: (key, reason) => watcher.ended(key, reason),
      connected: (isConnected) => watcher.connected(isConnected),
    };
    this.server.watchers.add(own);
    void moment().then(() => own.connected(!this.server.isAway));
    return () => void this.server.watchers.delete(own);
  }
}

/** With all powers. */
export function underTest(
  open: new (server: Server) => SessionStore,
  timeLimit = 2_000,
  afterOutage?: (server: Server) => void,
): StoreUnderTest {
  const clock = new StoppedClock();
  const server = new Server(clock);
  return {
    store: new open(server),
    now: () => clock.seconds,
    advance: async (seconds) => void (clock.seconds += seconds),
    timeLimit,
    another: () => new open(server),
    outage: {
      begin: async () => void (server.isAway = true),
      async end() {
        server.isAway = false;
        afterOutage?.(server);
      },
    },
  };
}

/** The one that meets every requirement. */
export const soundSharedStore = (): StoreUnderTest => underTest(SharedStore);
