import type { EndWatcher } from "../../ports/session-store.js";

/** Announces the ends of sessions to the watchers in this process. */
export class EndsInProcess {
  readonly #watchers = new Set<EndWatcher>();

  announce(key: string, reason: string): void {
    for (const watcher of [...this.#watchers]) watcher.ended(key, reason);
  }

  /** @returns removes the watcher */
  watch(watcher: EndWatcher): () => void {
    const own: EndWatcher = {
      ended: (key, reason) => watcher.ended(key, reason),
      connected: (isConnected) => watcher.connected(isConnected),
    };
    this.#watchers.add(own);
    queueMicrotask(() => {
      if (this.#watchers.has(own)) own.connected(true);
    });
    return () => void this.#watchers.delete(own);
  }
}
