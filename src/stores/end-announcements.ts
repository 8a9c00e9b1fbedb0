import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.js";
import type { EndWatcher } from "../ports/session-store.js";

/** Milliseconds between two proofs of a connection that works. */
const PROOF_INTERVAL = 30_000;
/** Milliseconds that a proof or a new connection may take. The time doubles with each failure. */
const PROOF_LIMIT = 5_000;

/** The publish/subscribe of a server. */
export interface EndsChannel {
  /** Sends a message to each listener of every process. */
  publish(message: string): Promise<unknown>;
  /**
   * Opens a connection that receives messages, and reopens it if the client can. Never throws.
   *
   * @returns closes the connection
   */
  listen(listener: ChannelListener): () => void;
}

export interface ChannelListener {
  readonly message: (text: string) => void;
  /** The connection listens, or may have stopped listening. A proof follows. */
  readonly ready: () => void;
  /** The connection is lost. If the client does not report this, the next proof fails. */
  readonly lost: () => void;
}

/**
 * Announces the ends of sessions, and tells watchers about the ends that any process has announced.
 *
 * Clients lose subscriptions without an event: a pooler in transaction mode, a half-open connection, a lost node of a Cluster. So a
 * connection counts as connected only while proofs arrive. A proof is a message on the same way as the announced ends.
 */
export class AnnouncedEnds {
  readonly #channel: EndsChannel;
  readonly #clock: Clock;
  /** Each in an object of its own, because the same watcher may watch twice. */
  readonly #watchers = new Set<{ readonly watcher: EndWatcher }>();
  #isConnected = false;
  /** The proof that has not arrived yet. */
  #proof: string | undefined;
  #failures = 0;
  #stopListening: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(channel: EndsChannel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
  }

  /** Never rejects, because an announcement is best effort. */
  async announce(key: string, reason: string): Promise<void> {
    await this.#channel.publish(`${key} ${reason}`).catch(ignore);
  }

  /** @returns removes the watcher */
  watch(watcher: EndWatcher): () => void {
    const own = { watcher };
    this.#watchers.add(own);
    if (this.#watchers.size === 1) this.#listen();
    else if (this.#isConnected) {
      queueMicrotask(() => {
        if (this.#isConnected && this.#watchers.has(own)) watcher.connected(true);
      });
    }
    return () => {
      if (this.#watchers.delete(own) && this.#watchers.size === 0) this.close();
    };
  }

  /** Removes all watchers, and closes the connection. */
  close(): void {
    this.#watchers.clear();
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#cancelTimer?.();
    this.#proof = undefined;
    this.#isConnected = false;
    this.#failures = 0;
  }

  #listen(): void {
    this.#stopListening?.();
    this.#proof = undefined;
    let isCurrent = true;
    const whileCurrent = (task: () => void): void => {
      if (isCurrent) task();
    };
    this.#expectProof();
    const close = this.#channel.listen({
      message: (text) => whileCurrent(() => this.#receive(text)),
      ready: () => whileCurrent(() => this.#prove()),
      lost: () => whileCurrent(() => this.#lose()),
    });
    this.#stopListening = () => {
      isCurrent = false;
      close();
    };
  }

  #prove(): void {
    if (this.#proof !== undefined) return;
    this.#proof = `proof-${randomBytes(12).toString("base64url")}`;
    this.#expectProof();
    this.#channel.publish(this.#proof).catch(ignore);
  }

  #expectProof(): void {
    this.#after(Math.min(PROOF_LIMIT * 2 ** this.#failures, PROOF_INTERVAL), () => {
      this.#failures += 1;
      this.#setConnected(false);
      this.#listen();
    });
  }

  #receive(text: string): void {
    const space = text.indexOf(" ");
    if (space > 0) {
      for (const { watcher } of [...this.#watchers]) watcher.ended(text.slice(0, space), text.slice(space + 1));
    } else if (text === this.#proof) {
      this.#proof = undefined;
      this.#failures = 0;
      this.#after(PROOF_INTERVAL, () => this.#prove());
      this.#setConnected(true);
    }
  }

  #lose(): void {
    // A client that reconnects reports each failure. These reports must not postpone the new connection.
    if (!this.#isConnected && this.#proof === undefined) return;
    this.#proof = undefined;
    this.#expectProof();
    this.#setConnected(false);
  }

  #setConnected(isConnected: boolean): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    for (const { watcher } of [...this.#watchers]) watcher.connected(isConnected);
  }

  #after(milliseconds: number, task: () => void): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.timer(milliseconds, task);
  }
}

function ignore(): void {}
