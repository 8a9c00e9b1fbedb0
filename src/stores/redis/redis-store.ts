import { randomBytes } from "node:crypto";
import { StoreUnavailableError } from "../../errors.js";
import type { Entry, SessionStore, Stored, StoreProblem } from "../../ports/session-store.js";
import type { EpochSeconds } from "../../clock.js";
import { connectionOf, type RedisClient } from "./client.js";
import type { RedisConnection } from "./connection.js";
import { DELETE, INDEX, INSERT, REPLACE, TOUCH, type RedisScript } from "./scripts.js";
import { isAnswer, RedisSilence } from "./silence.js";
import { HEAD_LENGTH, packEntry, stampDigits, unpackEntry, VERSION_BYTES } from "./value.js";
import { checkTimeout, DEFAULT_STORE_TIMEOUT, withinTime } from "../time-limit.js";

export type { RedisClient };

export interface RedisStoreOptions {
  /**
   * Goes before every key. Default `idpauth:`. Two applications on one server need two. The keys are
   * `{prefix}session:KEY` and `{prefix}subject:HASH`.
   */
  readonly prefix?: string;
  /** Milliseconds for one operation, however many commands it takes; at most 2000, the default. */
  readonly timeout?: number;
}

/** Records that are looked at together while a subject is listed. */
const LIST_BATCH = 100;
/** How often an operation is told to index first: once, and again only when another writer came between. */
const MAX_ROUNDS = 5;

/**
 * Sessions in Redis 6.2 or later, or in Valkey: one server, Sentinel or Cluster. Takes a client of the package `redis`
 * (node-redis) or `ioredis`, which stays the application's to connect and to end.
 *
 * The client must refuse commands while the server is away rather than keep them for later, and must read from primaries
 * only. Startup check E012 names what is set otherwise:
 *
 * - `createClient({ disableOfflineQueue: true })`
 * - `createCluster({ rootNodes, defaults: { disableOfflineQueue: true } })`
 * - `createSentinel({ name, sentinelRootNodes, nodeClientOptions: { disableOfflineQueue: true }, maxCommandRediscovers: 0 })`
 * - `new Redis({ enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })`, with or without
 *   `sentinels` (the last one only spares the wait for the timeout when a connection is lost)
 * - `new Cluster(nodes, { enableOfflineQueue: false })` of ioredis
 *
 * The server expires the entries, by its own clock. It must not evict them (`maxmemory-policy noeviction`), and what it has
 * acknowledged must survive its restart (`appendonly yes`); otherwise people are signed out.
 *
 * The client should be the store's own, since the store may reset its connections: one on which nothing is answered for two
 * timeouts is given up for a new one (ioredis first waits for its `disconnectTimeout`), and so is one to a primary that has
 * become a replica. Whatever else was waiting on it is refused then. A client that the application has closed stays closed.
 * Out of the store's reach are connections of `createSentinel`, which last until its Sentinels name another primary or TCP
 * gives up (on Linux some 15 minutes), and, of the package `redis`, one that a frozen server has accepted without a word.
 *
 * An operation that has rejected does nothing any more when it is sent later, from whatever queue of the client. Only what had
 * already been written to the connection may still run: in the server's socket, in the network and, with ioredis, in the
 * socket's buffer in this process. That is harmless: writes compare the version first, stamps only move forward, an insert is
 * of a key that nobody else has, and a delete was wanted. Where a client of a Cluster sends a command twice because the first
 * answer was lost, a write that has run already says so; a delete says that nothing was there.
 *
 * @throws TypeError when the client is no object, or an option has no valid value
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): SessionStore {
  const { prefix = "idpauth:", timeout = DEFAULT_STORE_TIMEOUT } = options;
  if (typeof prefix !== "string") throw new TypeError("redisStore: prefix must be a string.");
  checkTimeout("redisStore", timeout);
  return new RedisStore(connectionOf(client), prefix, timeout);
}

/**
 * The index by subject lies under another key, on a Cluster on another node, so no step covers both. The order of the steps
 * keeps one thing true: an entry is in the index of its subject, and stays there for as long as the entry lives. The reverse
 * is not promised: whoever lists a subject looks at each record.
 *
 * | Operation | Steps | It ends after the first step |
 * |---|---|---|
 * | insert | index, record | the index names a key without a record: not listed; gone when that entry would have expired |
 * | replace, same subject and expiry | record | there is one step |
 * | replace, other subject or later expiry | record says "index first", index, record | the old record stands, in the old index; the new index names it too: not listed, or listed once |
 * | touch, stamp alone | record | there is one step |
 * | touch, later expiry | stamp, and the record says "index first"; index, record | stamped; the index outlives the record: not listed after its end |
 * | delete | record, index | the index names a key without a record: as for insert |
 *
 * After a change of subject the old index keeps its entry until that expires: taking it out could hit a writer that goes back to the old
 * subject, which two processes do in the middle of a key rotation. For the same reason nothing is taken out while listing: a
 * key without a record may be an insert between its two steps.
 */
class RedisStore implements SessionStore {
  readonly name = "redis";

  readonly #connection: RedisConnection;
  readonly #sessionPrefix: string;
  readonly #subjectPrefix: string;
  readonly #timeout: number;
  readonly #silence: RedisSilence;

  constructor(connection: RedisConnection, prefix: string, timeout: number) {
    this.#connection = connection;
    this.#sessionPrefix = `${prefix}session:`;
    this.#subjectPrefix = `${prefix}subject:`;
    this.#timeout = timeout;
    this.#silence = new RedisSilence(() => connection.lines(), timeout);
  }

  /** Asked when the application starts, so that a listener which is added after the store counts. */
  get problems(): readonly StoreProblem[] {
    return this.#connection.problems();
  }

  async get(key: string): Promise<Stored | undefined> {
    const name = this.#sessionPrefix + key;
    try {
      const value = await withinTime(this.#send(name, ["GET", name]), this.#timeout);
      return value === null ? undefined : unpackEntry(value as Buffer);
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  insert(key: string, entry: Entry): Promise<boolean> {
    return this.#write(async (permit) => {
      const value = packEntry(entry, newVersion());
      if (entry.subject !== undefined) await this.#index(entry.subject, key, entry.expiresAt, permit);
      return Number(await this.#run(INSERT, this.#sessionPrefix + key, permit, value)) === 1;
    });
  }

  replace(key: string, entry: Entry, version: string): Promise<boolean> {
    return this.#write(async (permit) => {
      const value = packEntry(entry, newVersion());
      let indexedUntil = 0;
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const reply = await this.#run(REPLACE, this.#sessionPrefix + key, permit, version, value, stampDigits(indexedUntil));
        const [outcome, detail] = reply as [unknown, Buffer?];
        if (Number(outcome) !== 2) return Number(outcome) === 1;
        indexedUntil = Number(detail);
        await this.#index(entry.subject ?? "", key, indexedUntil, permit);
      }
      throw new StoreUnavailableError("Too many writers at one session.");
    });
  }

  touch(key: string, lastActive: EpochSeconds | null, expiresAt: EpochSeconds): Promise<boolean> {
    return this.#write(async (permit) => {
      const stamp = lastActive === null ? "" : stampDigits(lastActive);
      let indexed = "";
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const reply = await this.#run(TOUCH, this.#sessionPrefix + key, permit, stamp, stampDigits(expiresAt), indexed);
        const [outcome, detail] = reply as [unknown, Buffer?];
        if (Number(outcome) !== 2) return Number(outcome) === 1;
        indexed = String(detail);
        await this.#index(indexed, key, expiresAt, permit);
      }
      throw new StoreUnavailableError("Too many writers at one session.");
    });
  }

  async delete(key: string): Promise<Stored | undefined> {
    const stored = await this.#write(async (permit) => {
      const value = await this.#run(DELETE, this.#sessionPrefix + key, permit);
      return value === null ? undefined : unpackEntry(value as Buffer);
    });
    // Nobody waits for it, and an orphan does no harm: the entry is gone, and that is the answer.
    if (stored?.subject !== undefined) this.#unindex(stored.subject, key);
    return stored;
  }

  async listBySubject(subject: string): Promise<string[]> {
    let isLate = false;
    try {
      return await withinTime(
        this.#list(subject, () => isLate),
        this.#timeout,
      );
    } catch (error) {
      isLate = true;
      throw this.#unavailable(error);
    }
  }

  async #list(subject: string, isLate: () => boolean): Promise<string[]> {
    const name = this.#subjectPrefix + subject;
    const keys = new Set<string>();
    let cursor = "0";
    do {
      const page = await this.#send(name, ["ZSCAN", name, cursor, "COUNT", String(LIST_BATCH)]);
      const [next, members] = page as [Buffer, Buffer[]];
      cursor = String(next);
      // Each member is followed by its score.
      const named = members.filter((_, index) => index % 2 === 0).map(String);
      // A small index comes in one page, whatever COUNT says.
      for (let from = 0; from < named.length && !isLate(); from += LIST_BATCH) {
        const batch = named.slice(from, from + LIST_BATCH);
        const belongs = await Promise.all(batch.map((key) => this.#hasSubject(key, subject)));
        batch.filter((_, index) => belongs[index]).forEach((key) => keys.add(key));
      }
    } while (cursor !== "0" && !isLate());
    return [...keys];
  }

  async #hasSubject(key: string, subject: string): Promise<boolean> {
    const name = this.#sessionPrefix + key;
    // One byte more than the subject, so that a longer one does not look the same.
    const end = HEAD_LENGTH + Buffer.byteLength(subject);
    const start = (await this.#send(name, ["GETRANGE", name, "0", String(end)])) as Buffer;
    return start.length > 0 && unpackEntry(start).subject === subject;
  }

  #index(subject: string, key: string, expiresAt: EpochSeconds, permit: Buffer): Promise<unknown> {
    return this.#run(INDEX, this.#subjectPrefix + subject, permit, key, stampDigits(expiresAt));
  }

  #unindex(subject: string, key: string): void {
    const name = this.#subjectPrefix + subject;
    this.#send(name, ["ZREM", name, key]).catch(() => undefined);
  }

  /** One operation that writes. Its permit is taken back when it fails, also for the steps that it has not come to yet. */
  async #write<Result>(work: (permit: Buffer) => Promise<Result>): Promise<Result> {
    // Memory of its own: a client sends what lies there when the command leaves.
    const permit = Buffer.alloc(1, "1");
    try {
      return await withinTime(work(permit), this.#timeout);
    } catch (error) {
      permit.fill("0");
      throw this.#unavailable(error);
    }
  }

  async #run({ source, sha1 }: RedisScript, name: string, permit: Buffer, ...args: (string | Buffer)[]): Promise<unknown> {
    try {
      return await this.#send(name, ["EVALSHA", sha1, "1", name, permit, ...args]);
    } catch (error) {
      // New, restarted, failed over or flushed: the server has run nothing.
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    }
    return this.#send(name, ["EVAL", source, "1", name, permit, ...args]);
  }

  async #send(name: string, command: readonly [string, ...(string | Buffer)[]]): Promise<unknown> {
    try {
      const reply = await this.#connection.send(name, command);
      this.#silence.answered();
      return reply;
    } catch (error) {
      if (isAnswer(error)) this.#silence.answered();
      throw error;
    }
  }

  /** Whatever the client or the server says, the session's state is unknown. Only misuse is an error of its own. */
  #unavailable(error: unknown): Error {
    if (error instanceof TypeError && error.message.startsWith("redisStore:")) return error;
    this.#silence.failed(error);
    if (error instanceof StoreUnavailableError) return error;
    const cause = withoutArguments(error);
    if (this.#connection.isOpen() !== false) return new StoreUnavailableError(undefined, { cause });
    return new StoreUnavailableError("The Redis client is not connected: call and await its connect(), and do not close it.", { cause });
  }
}

function newVersion(): string {
  return randomBytes(VERSION_BYTES).toString("base64url");
}

/**
 * The error without what was sent: ioredis hangs the command, sealed bytes and all, on its errors, and the server repeats the
 * arguments of a command that it does not know.
 */
function withoutArguments(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(typeof error);
  const cause = new Error(error.message.split(/,? with args/)[0]);
  cause.name = error.name;
  return "code" in error ? Object.assign(cause, { code: error.code }) : cause;
}
