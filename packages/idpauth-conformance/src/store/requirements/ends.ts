import assert from "node:assert/strict";
import type { SessionStore } from "idpauth";
import type { EndWatcher } from "idpauth/adapter";
import type { StoreRequirement } from "./requirement.js";
import { newKey } from "./store-steps.js";

const method = "watchEnds";
const needs = "ends";

/** Milliseconds after which an announcement counts as lost. */
const ARRIVAL_LIMIT_MS = 15_000;
/** Milliseconds between two looks. */
const LOOK_INTERVAL_MS = 5;

/** Requirements on two optional methods, `announceEnd` and `watchEnds`. */
export const endRequirements: readonly StoreRequirement[] = [
  {
    method,
    title:
      "notifies each connected watcher, of this and of another process, of each end that announceEnd announces",
    guarantees: [],
    properties: ["ends"],
    consequence:
      "An open connection would outlive its session, because no process polls while it is connected.",
    needs,
    async check(under) {
      const stores = [under.store, ...(under.another === undefined ? [] : [await under.another()])];
      await watching([...stores, under.store], async (watchers) => {
        for (const store of stores) {
          const [key, reason] = [newKey(), "ended_everywhere"];
          await store.announceEnd?.(key, reason);
          for (const { ends } of watchers)
            await soon(() => ends.get(key) === reason, "an announced end did not arrive");
        }
      });
    },
  },
  {
    method,
    title: "calls a watcher only after watchEnds has returned",
    guarantees: [],
    properties: ["ends"],
    consequence: "The watcher would be called before idpauth can remove it.",
    needs,
    async check({ store }) {
      let calls = 0;
      const count = () => void (calls += 1);
      const remove = watchEnds(store, { ended: count, connected: count });
      const callsInside = calls;
      remove();
      assert.equal(callsInside, 0);
    },
  },
  {
    method,
    title: "notifies a removed watcher of nothing more, and the others of everything",
    guarantees: [],
    properties: ["ends"],
    consequence: "The connections of the process that are closed would stay in its memory.",
    needs,
    async check({ store }) {
      await watching([store, store], async ([first, second]) => {
        assert.ok(first !== undefined && second !== undefined);
        first.remove();
        first.remove();
        const key = newKey();
        await store.announceEnd?.(key, "logged_out");
        await soon(() => second.ends.has(key), "an announced end did not arrive");
        assert.equal(first.ends.has(key), false, "a removed watcher was told");
      });
    },
  },
];

/** A watcher that keeps what it is told. */
export interface Watched {
  /** Reasons by key. */
  readonly ends: ReadonlyMap<string, string>;
  isConnected(): boolean;
  remove(): void;
}

/** Runs the work while a watcher of each store is connected. */
export async function watching(
  stores: readonly SessionStore[],
  work: (watchers: readonly Watched[]) => Promise<void>,
): Promise<void> {
  const watchers = stores.map(watched);
  try {
    for (const { isConnected } of watchers) await soon(isConnected, "watchEnds did not connect");
    await work(watchers);
  } finally {
    for (const { remove } of watchers) remove();
  }
}

function watched(store: SessionStore): Watched {
  const ends = new Map<string, string>();
  let isConnected = false;
  const remove = watchEnds(store, {
    ended: (key, reason) => void ends.set(key, reason),
    connected: (value) => void (isConnected = value),
  });
  return { ends, isConnected: () => isConnected, remove };
}

function watchEnds(store: SessionStore, watcher: EndWatcher): () => void {
  assert.ok(store.watchEnds !== undefined, "there is no watchEnds");
  return store.watchEnds(watcher);
}

/** Waits until something holds. */
export async function soon(holds: () => boolean, otherwise: string): Promise<void> {
  const started = performance.now();
  while (!holds()) {
    if (performance.now() - started > ARRIVAL_LIMIT_MS)
      assert.fail(`${otherwise} within ${ARRIVAL_LIMIT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
  }
}
