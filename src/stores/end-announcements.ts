import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.js";
import type { EndWatcher } from "../ports/session-store.js";

/** Milliseconds between two proofs of a connection that works. */
const PROOF_INTERVAL_MS = 30_000;
/** Milliseconds that a proof or a new connection may take. The time doubles with each failure. */
const PROOF_LIMIT_MS = 5_000;

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
 * Clients lose subscriptions without an event: a pooler in transaction mode, a half-open
 * connection, a lost node of a Cluster. So a connection counts as connected only while proofs
 * arrive. A proof is a message on the same way as the announced ends.
 */
export function createAnnouncedEnds(channel: EndsChannel, clock: Clock) {
  /** Each in an object of its own, because the same watcher may watch twice. */
  const watchers = new Set<{ readonly watcher: EndWatcher }>();
  let isConnected = false;
  let failures = 0;
  /** The proof that has not arrived yet. */
  let proof: string | undefined;
  let stopListening: (() => void) | undefined;
  let cancelTimer: (() => void) | undefined;

  /** Removes all watchers, and closes the connection. */
  function close(): void {
    watchers.clear();
    stopListening?.();
    stopListening = undefined;
    cancelTimer?.();
    proof = undefined;
    isConnected = false;
    failures = 0;
  }

  function listen(): void {
    stopListening?.();
    proof = undefined;
    let isCurrent = true;
    const whileCurrent = (task: () => void): void => {
      if (isCurrent) task();
    };
    expectProof();
    const stop = channel.listen({
      message: (text) => whileCurrent(() => receive(text)),
      ready: () => whileCurrent(prove),
      lost: () => whileCurrent(lose),
    });
    stopListening = () => {
      isCurrent = false;
      stop();
    };
  }

  function prove(): void {
    if (proof !== undefined) return;
    proof = `proof-${randomBytes(12).toString("base64url")}`;
    expectProof();
    channel.publish(proof).catch(ignore);
  }

  function expectProof(): void {
    after(Math.min(PROOF_LIMIT_MS * 2 ** failures, PROOF_INTERVAL_MS), () => {
      failures += 1;
      setConnected(false);
      listen();
    });
  }

  function receive(text: string): void {
    const space = text.indexOf(" ");
    if (space > 0) {
      for (const { watcher } of [...watchers])
        watcher.ended(text.slice(0, space), text.slice(space + 1));
    } else if (text === proof) {
      proof = undefined;
      failures = 0;
      after(PROOF_INTERVAL_MS, prove);
      setConnected(true);
    }
  }

  function lose(): void {
    // A client that reconnects reports each failure. These reports must not postpone the new
    // connection.
    if (!isConnected && proof === undefined) return;
    proof = undefined;
    expectProof();
    setConnected(false);
  }

  function setConnected(isNow: boolean): void {
    if (isConnected === isNow) return;
    isConnected = isNow;
    for (const { watcher } of [...watchers]) watcher.connected(isNow);
  }

  function after(milliseconds: number, task: () => void): void {
    cancelTimer?.();
    cancelTimer = clock.timer(milliseconds, task);
  }

  return {
    close,
    /** Never rejects, because an announcement is best effort. */
    async announce(key: string, reason: string): Promise<void> {
      await channel.publish(`${key} ${reason}`).catch(ignore);
    },

    /** @returns removes the watcher */
    watch(watcher: EndWatcher): () => void {
      const own = { watcher };
      watchers.add(own);
      if (watchers.size === 1) listen();
      else if (isConnected) {
        queueMicrotask(() => {
          if (isConnected && watchers.has(own)) watcher.connected(true);
        });
      }
      return () => {
        if (watchers.delete(own) && watchers.size === 0) close();
      };
    },
  };
}

function ignore(): void {}
