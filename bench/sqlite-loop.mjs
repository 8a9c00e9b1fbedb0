// Measures how long SQLite stops the event loop: during stamps, durable writes, and the sweep of
// many expired entries. It runs in its own process, so that nothing else runs on its loop.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { systemClock } from "idpauth/adapter";
import { sqliteStore } from "idpauth/sqlite";
import { serveCalls } from "./children.mjs";

const RESOLUTION = 1;

const now = () => Math.floor(Date.now() / 1000);
const entry = (expiresAt = now() + 3600) => ({
  data: randomBytes(865),
  expiresAt,
  subject: "s".repeat(43),
  lastActive: now(),
});
const newKey = () => randomBytes(32).toString("base64url");

/** Returns the longest stop of the event loop during `work`, in milliseconds. */
async function longestStop(work) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  await work();
  delay.disable();
  return delay.max / 1e6 - RESOLUTION;
}

async function forMilliseconds(milliseconds, atOnce, work) {
  const end = performance.now() + milliseconds;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < end) await work();
    }),
  );
}

serveCalls({
  async measure({ entries, milliseconds }) {
    const folder = mkdtempSync(path.join(tmpdir(), "idpauth-bench-"));
    // The test clock moves the sweep's time forward.
    let skipped = 0;
    const timers = [];
    const clock = {
      now: () => Date.now() + skipped,
      monotonic: () => performance.now() + skipped,
      timer(after, task) {
        if (after < 10_000) return systemClock.timer(after, task);
        timers.push(task);
        return () => {};
      },
    };
    const store = sqliteStore(path.join(folder, "sessions.db"), { clock });
    try {
      const keys = [];
      for (let number = 0; number < 1_000; number += 1) {
        keys.push(newKey());
        await store.insert(keys.at(-1), entry(now() + 100_000));
      }
      const any = () => keys[Math.floor(Math.random() * keys.length)];
      let stamp = now();
      const stamps = await longestStop(() =>
        forMilliseconds(milliseconds, 16, () => store.touch(any(), (stamp += 1), now() + 100_000)),
      );
      const writes = await longestStop(() =>
        forMilliseconds(milliseconds, 16, () => store.insert(newKey(), entry(now() + 100_000))),
      );
      for (let number = 0; number < entries; number += 256) {
        await Promise.all(Array.from({ length: 256 }, () => store.insert(newKey(), entry())));
      }
      skipped = 7_200_000;
      const gone = async () => (await store.listBySubject("s".repeat(43))).length;
      const sweep = await longestStop(async () => {
        const scheduled = timers.length;
        timers.at(-1)();
        // The next sweep is scheduled when this one has ended.
        while (timers.length === scheduled) await new Promise((resolve) => setTimeout(resolve, 5));
      });
      return { stamps, writes, sweep, left: await gone() };
    } finally {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
});
