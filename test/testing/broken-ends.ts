import type { EndWatcher, SessionStore } from "../../src/ports/session-store.js";
import type { BrokenStore } from "./broken-store.js";
import { SharedStore, underTest, type Server } from "./shared-store.js";

// Stores whose announcements of ended sessions are broken on purpose.

function broken(
  name: string,
  breaks: BrokenStore["breaks"],
  loses: BrokenStore["loses"],
  open: new (server: Server) => SessionStore,
): BrokenStore {
  return { name, breaks, loses, create: () => underTest(open) };
}

export const brokenEnds: readonly BrokenStore[] = [
  broken(
    "announces an end in its own process only",
    ["watchEnds", "notifies each connected watcher"],
    ["ends"],
    class extends SharedStore {
      readonly #own = new Set<EndWatcher>();
      override async announceEnd(key: string, reason: string) {
        for (const watcher of this.#own) watcher.ended(key, reason);
      }
      override watchEnds(watcher: EndWatcher) {
        this.#own.add(watcher);
        const remove = super.watchEnds(watcher);
        return () => {
          this.#own.delete(watcher);
          remove();
        };
      }
    },
  ),
  broken(
    "connects a watcher at once",
    ["watchEnds", "calls a watcher only after"],
    ["ends"],
    class extends SharedStore {
      override watchEnds(watcher: EndWatcher) {
        watcher.connected(true);
        return super.watchEnds(watcher);
      }
    },
  ),
  broken(
    "goes on telling a watcher that was removed",
    ["watchEnds", "notifies a removed watcher of nothing more"],
    ["ends"],
    class extends SharedStore {
      override watchEnds(watcher: EndWatcher) {
        super.watchEnds(watcher);
        return () => undefined;
      }
    },
  ),
  broken(
    "rejects an announcement during an outage",
    ["outage", "announceEnd, if the store has it"],
    ["ends"],
    class extends SharedStore {
      override async announceEnd(key: string, reason: string) {
        await this.server.ask(async () => undefined);
        return super.announceEnd(key, reason);
      }
    },
  ),
  broken(
    "leaves its watchers connected during an outage",
    ["outage", "announceEnd, if the store has it"],
    ["ends"],
    class extends SharedStore {
      override watchEnds({ ended, connected }: EndWatcher) {
        return super.watchEnds({
          ended,
          connected: (isConnected) => isConnected && connected(true),
        });
      }
    },
  ),
];
