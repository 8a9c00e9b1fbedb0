import { systemClock, type Clock } from "../../clock.js";
import { StoreUnavailableError } from "../../errors.js";
import type { EntryPage, SessionStore, Stored } from "../../ports/session-store.js";
import { createAnnouncedEnds } from "../end-announcements.js";
import { LIST_PAGE, newVersion, type ListField } from "../stored-entries.js";
import { checkTimeout, DEFAULT_STORE_TIMEOUT_MS, withinTime } from "../time-limit.js";
import { packEntry, stampDigits, unpackEntry } from "./entry-format.js";
import { keyNames, type Labels } from "./key-names.js";
import { connectionOf, type RedisClient } from "./redis-client.js";
import { withoutArguments, type RedisCommand, type RedisConnection } from "./redis-connection.js";
import { readFacts, serverProblemsOf } from "./redis-server-facts.js";
import { DELETE, INDEX, INSERT, REPLACE, TOUCH, type RedisScript } from "./scripts.js";

export type { RedisClient };
export type { IoRedisClient } from "./ioredis.js";
export type { NodeRedisClient } from "./node-redis.js";

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * Prefix of every key, by default `idpauth:`. Two applications on one server need two prefixes.
   * The keys are `{prefix}session:KEY`, `{prefix}subject:HASH` and `{prefix}sid:HASH`. The channel
   * is `{prefix}ended`.
   */
  readonly prefix?: string;
  /** Milliseconds for one operation, however many commands it takes. Default and maximum 2000. */
  readonly timeout?: number;
  /** The clock that drives `watchEnds`. Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * The first round finds out what to index. Each further round lost a race against another writer.
 */
const MAX_ROUNDS = 5;

/** Keys that one step of a scan reads, roughly. A page may have 500 entries. */
const SCAN_PAGE = 250;
/** The keys of sessions. */
const KEY = /^[\w-]{43}$/;
/** Milliseconds for which the store remembers whether its indexes are whole. */
const WHOLE_INDEXES_MS = 60_000;

/**
 * Returns a store in Redis 6.2 or later, or Valkey: one server, Sentinel or a Cluster. Takes a
 * client of the package `redis` (node-redis) or `ioredis`. The application connects and closes the
 * client.
 *
 * Turn off the client's command queue, and read from primaries only. Startup check E012 names a
 * wrong option where the client shows its options (`createClient`, `Redis`, `Cluster`):
 *
 * - `createClient({ disableOfflineQueue: true })`
 * - `createCluster({ rootNodes, defaults: { disableOfflineQueue: true } })`
 * - `createSentinel({ name, sentinelRootNodes, nodeClientOptions: { disableOfflineQueue: true }, maxCommandRediscovers: 0, scanInterval: 1000 })`
 * - `new Redis({ enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })`
 * - `new Redis({ sentinels, name, failoverDetector: true, … })` with the same three options
 * - `new Cluster(nodes, { enableOfflineQueue: false })` of ioredis
 *
 * The server expires entries by its own clock. It should not evict them
 * (`maxmemory-policy noeviction`): warning W025 otherwise. Acknowledged writes must survive its
 * restart (`appendonly yes`). Otherwise users are signed out.
 *
 * An operation that runs out of time rejects, and sends no further command. A command that was
 * already sent may still run later. That is harmless: see scripts.ts. If the network drops packets
 * silently, set the client's `socketTimeout`.
 *
 * @throws TypeError if the client is no object or an option is out of bounds
 *
 * @example
 * import { createClient } from "redis";
 * const client = createClient({ disableOfflineQueue: true });
 * await client.connect();
 * const auth = idpAuth({ store: redisStore(client) });
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): SessionStore {
  const { prefix = "idpauth:", timeout = DEFAULT_STORE_TIMEOUT_MS, clock = systemClock } = options;
  if (typeof prefix !== "string") throw new TypeError("redisStore: prefix must be a string.");
  checkTimeout("redisStore", timeout);
  return createRedisStore({ connection: connectionOf(client), prefix, timeout, clock });
}

interface RedisStoreParts extends Required<RedisStoreOptions> {
  readonly connection: RedisConnection;
}

/** Sends a command to the primary of `key`; rejects once the operation has ended. */
type Send = (key: string, command: RedisCommand) => Promise<unknown>;

/** A page of an index. */
interface Listing {
  readonly field: ListField;
  readonly hash: string;
  readonly cursor?: string | undefined;
}

/** A script that writes a record, and may ask for its indexes first. */
interface Write {
  readonly script: RedisScript;
  readonly args: readonly (string | Buffer)[];
  /** What the indexes have: until when, subject, sid. */
  readonly indexed?: readonly string[];
}

/** What the indexes name a session by, and until when. */
interface Indexed extends Labels {
  readonly until: string;
}

/**
 * The indexes by subject and by sid have other keys, on a Cluster on other nodes, so no step covers
 * an index and the record. The order of the steps guarantees that an index names every live entry
 * of its subject or sid. The reverse is not guaranteed: a reader of the index checks each record.
 * In the table, "index" means both indexes, written at once.
 *
 * | Operation | Steps | After the first step alone |
 * |---|---|---|
 * | insert | index, record | The index names a missing key until that entry would have expired. |
 * | replace | index, record | The old record stands. Its indexes name it, too. |
 * | replace, when a touch came first | index, record says "index first", index, record | As for replace. |
 * | touch, stamp alone | record | |
 * | touch, later expiry | stamp, and the record says "index first"; index, record | The record has the stamp. Its index entry outlives it. |
 * | delete | record, index | As for insert. |
 *
 * After a change of subject or sid the old index keeps its entry until the entry expires. Removing
 * it could hit a writer that goes back to the old one, as two processes do during a key rotation.
 * Listing removes nothing either: a key without a record may be an insert between its two steps.
 *
 * A server that evicts keys may evict an index and keep its records. Each replace and each later
 * expiry writes the index again. `lossyIndex` tells a logout to read all records until then.
 */
function createRedisStore({ connection, prefix, timeout, clock }: RedisStoreParts): SessionStore {
  const { session: sessionPrefix, channel, index: indexName, indexesOf } = keyNames(prefix);
  const ends = createAnnouncedEnds(
    {
      publish: (message) => operation((send) => send(channel, ["PUBLISH", channel, message])),
      listen: (listener) => connection.subscribe(channel, listener),
    },
    clock,
  );

  /** Whether the indexes name every entry, as the servers said last. */
  let whole = { is: true, until: -Infinity };
  const facts = () => operation(async () => readFacts(await connection.nodes()));

  async function entriesOf(
    send: Send,
    keys: readonly string[],
    belongs: (stored: Stored) => boolean,
  ): Promise<ReadonlyMap<string, Stored>> {
    const [first, ...others] = keys.map((key) => sessionPrefix + key);
    if (first === undefined) return new Map();
    // One command; on a Cluster one for each name, because the names are on several nodes.
    const values = connection.isCluster
      ? await Promise.all([first, ...others].map((name) => send(name, ["GET", name])))
      : ((await send(first, ["MGET", first, ...others])) as unknown[]);
    const found = new Map<string, Stored>();
    for (const [index, key] of keys.entries()) {
      const stored = entryOf(values[index]);
      if (stored !== undefined && belongs(stored)) found.set(key, stored);
    }
    return found;
  }

  /**
   * The cursor is that of ZSCAN, which returns every member that stays, whatever is removed between
   * two pages.
   */
  async function list(send: Send, { field, hash, cursor = "0" }: Listing): Promise<EntryPage> {
    const name = indexName(field, hash);
    const command = ["ZSCAN", name, cursor, "COUNT", String(LIST_PAGE)] as const;
    const [next, members] = (await send(name, command)) as [Buffer, Buffer[]];
    // A score follows each member.
    const keys = members.filter((_, index) => index % 2 === 0).map(String);
    const entries = await entriesOf(send, keys, (stored) => stored[field] === hash);
    return { entries, next: String(next) === "0" ? undefined : String(next) };
  }

  /**
   * A page of the scan of one node, then of the next one. A position of SCAN returns every key that
   * stays on its node.
   */
  async function scan(send: Send, cursor: string): Promise<EntryPage> {
    const nodes = [...(await connection.nodes())].sort((one, other) =>
      one.name < other.name ? -1 : 1,
    );
    const [name = "", position = "0"] = cursor === "" ? [nodes[0]?.name] : cursor.split(" ");
    const at = nodes.findIndex((node) => node.name === name);
    const node = nodes[at];
    if (node === undefined)
      throw new StoreUnavailableError("The nodes of the Redis Cluster have just changed.");
    const fullPrefix = node.keyPrefix + sessionPrefix;
    const match = fullPrefix.replace(/[\\*?[\]]/g, "\\$&");
    const [next, names] = (await node.send([
      "SCAN",
      position,
      "MATCH",
      `${match}*`,
      "COUNT",
      String(SCAN_PAGE),
    ])) as [unknown, unknown[]];
    const keys = names.map((found) => String(found).slice(fullPrefix.length));
    const entries = await entriesOf(
      send,
      keys.filter((key) => KEY.test(key)),
      ({ subject, sid }) => (subject ?? sid) !== undefined,
    );
    const following = nodes[at + 1];
    if (String(next) !== "0") return { entries, next: `${name} ${String(next)}` };
    return { entries, next: following && `${following.name} 0` };
  }

  /** Runs a script again after each index entry that it asks for. */
  async function write(
    send: Send,
    key: string,
    { script, args, indexed = ["0", "", ""] }: Write,
  ): Promise<boolean> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const names = [sessionPrefix + key, ...args, ...indexed] as const;
      const [outcome, ...missing] = (await run(send, script, names)) as [unknown, ...Buffer[]];
      if (Number(outcome) !== 2) return Number(outcome) === 1;
      indexed = missing.map(String);
      const [until = "", subject, sid] = indexed;
      await index(send, key, { until, subject, sid });
    }
    throw new StoreUnavailableError("Too many writers change one session at once.");
  }

  function index(send: Send, key: string, { until, ...labels }: Indexed): Promise<unknown> {
    return Promise.all(indexesOf(labels).map((name) => run(send, INDEX, [name, key, until])));
  }

  async function operation<Result>(work: (send: Send) => Promise<Result>): Promise<Result> {
    let isOver = false;
    const send: Send = async (key, command) => {
      if (isOver) throw new StoreUnavailableError();
      return connection.send(key, command);
    };
    try {
      return await withinTime(work(send), timeout);
    } catch (error) {
      throw failure(error);
    } finally {
      isOver = true;
    }
  }

  function failure(error: unknown): Error {
    const isMisuse = error instanceof TypeError && error.message.startsWith("redisStore:");
    if (isMisuse || error instanceof StoreUnavailableError) return error;
    const message = connection.isOpen()
      ? undefined
      : "The Redis client isn't connected: call and await its connect(), and don't close it.";
    return new StoreUnavailableError(message, { cause: withoutArguments(error) });
  }

  return {
    name: "redis",
    /**
     * Read at the start of the application, so that an error listener added after the store counts.
     */
    get problems() {
      return connection.problems();
    },

    get(key) {
      const name = sessionPrefix + key;
      return operation(async (send) => entryOf(await send(name, ["GET", name])));
    },

    insert(key, entry) {
      return operation(async (send) => {
        const value = packEntry(entry, newVersion());
        const { subject, sid } = entry;
        await index(send, key, { until: stampDigits(entry.expiresAt), subject, sid });
        const [outcome] = (await run(send, INSERT, [sessionPrefix + key, value])) as [unknown];
        return Number(outcome) === 1;
      });
    },

    replace(key, entry, version) {
      return operation(async (send) => {
        const args = [packEntry(entry, newVersion()), version];
        const until = stampDigits(entry.expiresAt);
        const { subject, sid } = entry;
        await index(send, key, { until, subject, sid });
        const indexed = [until, subject ?? "", sid ?? ""];
        return write(send, key, { script: REPLACE, args, indexed });
      });
    },

    touch(key, lastActive, expiresAt) {
      return operation(async (send) => {
        const stamps = [lastActive === null ? "" : stampDigits(lastActive), stampDigits(expiresAt)];
        return write(send, key, { script: TOUCH, args: stamps });
      });
    },

    async delete(key) {
      const stored = await operation(async (send) =>
        entryOf(await run(send, DELETE, [sessionPrefix + key])),
      );
      for (const index of indexesOf(stored)) {
        // The entry is gone, and readers ignore what is left in the index.
        operation((send) => send(index, ["ZREM", index, key])).catch(() => undefined);
      }
      return stored;
    },

    listBySubject: (subject, cursor) =>
      operation((send) => list(send, { field: "subject", hash: subject, cursor })),
    listBySid: (sid, cursor) =>
      operation((send) => list(send, { field: "sid", hash: sid, cursor })),
    serverProblems: async () => serverProblemsOf(await facts()),
    lossyIndex: {
      async isWhole() {
        if (clock.monotonic() < whole.until) return whole.is;
        const found = await facts().catch(() => undefined);
        // A server, or a proxy before it, that doesn't answer INFO may still be scanned.
        if (found === undefined) return false;
        const is = found.every(({ evicts, hasEvicted }) => evicts === undefined && !hasEvicted);
        whole = { is, until: clock.monotonic() + WHOLE_INDEXES_MS };
        return is;
      },
      scan: (cursor = "") => operation((send) => scan(send, cursor)),
    },
    getMany: (keys) => operation((send) => entriesOf(send, keys, () => true)),
    announceEnd: ends.announce,
    watchEnds: ends.watch,
    close: async () => ends.close(),
  };
}

/** @param names the key, then the arguments */
async function run(
  send: Send,
  { source, sha1 }: RedisScript,
  names: readonly [key: string, ...args: (string | Buffer)[]],
): Promise<unknown> {
  const [key] = names;
  try {
    return await send(key, ["EVALSHA", sha1, "1", ...names]);
  } catch (error) {
    // A new or restarted server, or one after SCRIPT FLUSH, has not run anything.
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
  }
  return send(key, ["EVAL", source, "1", ...names]);
}

function entryOf(value: unknown): Stored | undefined {
  return value === null || value === undefined ? undefined : unpackEntry(value as Buffer);
}
