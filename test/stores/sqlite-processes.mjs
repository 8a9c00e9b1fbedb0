// What other processes do to one file, over the built package; test/stores/sqlite.test.ts starts
// them.
//   node sqlite-processes.mjs ROLE FILE [COUNT]
import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { sqliteStore } from "idpauth/sqlite";

const [role = "", file = "", count = "0"] = process.argv.slice(2);
const expiresAt = Math.floor(Date.now() / 1000) + 3_600;

/** @param {unknown} message */
function tell(message) {
  process.send?.(message);
}

/** @returns {Promise<unknown>} */
function told() {
  return new Promise((resolve) => process.once("message", resolve));
}

/** @param {string} text */
function bytes(text) {
  return new TextEncoder().encode(text);
}

/** @type {Readonly<Record<string, () => Promise<unknown>>>} */
const ROLES = {
  /**
   * Adds to one counter by compare-and-set; then fights over keys with insert and delete. Opens the
   * file when all are ready.
   */
  async race() {
    tell("ready");
    await told();
    const store = sqliteStore(file);
    await store.insert("counter", { data: bytes("0"), expiresAt });
    let lost = 0;
    let slowest = 0;
    for (let added = 0; added < Number(count);) {
      const start = performance.now();
      const stored = await store.get("counter");
      if (stored === undefined) throw new Error("the counter is gone");
      const next = Number(new TextDecoder().decode(/** @type {Uint8Array} */ (stored.data))) + 1;
      if (await store.replace("counter", { data: bytes(String(next)), expiresAt }, stored.version))
        added += 1;
      else lost += 1;
      slowest = Math.max(slowest, performance.now() - start);
    }
    const keys = Array.from({ length: Number(count) }, (_, index) => `key ${index}`);
    const inserted = await Promise.all(
      keys.map((key) => store.insert(key, { data: bytes(String(process.pid)), expiresAt })),
    );
    tell({ pid: process.pid, lost, slowest, inserted: keys.filter((_, index) => inserted[index]) });
    await told();
    const deleted = await Promise.all(keys.map((key) => store.delete(key)));
    tell({ deleted: keys.filter((_, index) => deleted[index] !== undefined) });
    await store.close();
  },

  /**
   * Replaces ten records without end, each filled with the number of its write; says which writes
   * were acknowledged.
   */
  async write() {
    const store = sqliteStore(file);
    for (let write = Number(count); ; write += 1) {
      const key = `record ${write % 10}`;
      const data = new Uint8Array(new Uint32Array(2_000 + randomInt(2_000)).fill(write).buffer);
      const stored = await store.get(key);
      const entry = { data, expiresAt, lastActive: write };
      if (
        stored === undefined
          ? await store.insert(key, entry)
          : await store.replace(key, entry, stored.version)
      )
        tell({ key, write });
      if (write % 7 === 0) await store.touch(key, write, expiresAt + write);
      // Only what was sent counts, and the channel is drained between turns.
      if (write % 20 === 0) await wait(1);
    }
  },

  /** Opens a store and says how that went, and whether Node had loaded its SQLite. */
  async open() {
    const { moduleLoadList = [] } = /** @type {{ moduleLoadList?: string[] }} */ (
      /** @type {unknown} */ (process)
    );
    const loaded = () => moduleLoadList.includes("NativeModule sqlite");
    const before = loaded();
    const store = sqliteStore(file);
    const answer = await store.get("nobody").then(
      () => "answered",
      (/** @type {unknown} */ error) => String(error),
    );
    tell({ problems: store.problems, answer, before, after: loaded() });
    await store.close();
  },
};

await ROLES[role]?.();
if (process.connected) process.disconnect();
