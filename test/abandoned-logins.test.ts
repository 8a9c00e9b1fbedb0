import { afterEach, expect, it } from "vitest";
import type { Entry, SessionStore } from "../src/core/ports.js";
import { memoryStore } from "../src/stores/memory.js";
import { startApplication, type Application } from "./support/application.js";
import { TestClock } from "../src/testing/test-clock.js";

const LOGINS = 100_000;
const MINUTE = 60_000;

let app: Application;

afterEach(() => app.stop());

/** A store that is handed bytes, as one outside the process, and tells what lies in it. */
function weighedStore(clock: TestClock): SessionStore & { readonly keys: string[]; largest: number } {
  const inner = memoryStore({ clock, maxSessions: 2 * LOGINS });
  return {
    name: "weighed",
    keys: [],
    largest: 0,
    insert(key: string, entry: Entry) {
      this.keys.push(key);
      this.largest = Math.max(this.largest, (entry.data as Uint8Array).length);
      return inner.insert(key, entry);
    },
    get: (key) => inner.get(key),
    replace: (key, entry, version) => inner.replace(key, entry, version),
    touch: (key, lastActive, expiresAt) => inner.touch(key, lastActive, expiresAt),
    delete: (key) => inner.delete(key),
    listBySubject: (subject) => inner.listBySubject(subject),
  };
}

it("100,000 logins that nobody finishes leave ten minutes of small records, and then nothing", { timeout: 120_000 }, async () => {
  const clock = new TestClock();
  const store = weighedStore(clock);
  app = await startApplication({ store, clock });
  const stranger = () => app.visitor().get("/idpauth/login/", { headers: { "x-origin-url": "x".repeat(4_000) } });
  const live = async () => {
    let count = 0;
    for (const key of store.keys) if ((await store.get(key)) !== undefined) count += 1;
    return count;
  };

  // Over twenty minutes: at no moment more than those of the last ten are there.
  for (let login = 1; login <= LOGINS; login += 1) {
    expect((await stranger()).status).toBe(302);
    if (login % (LOGINS / 20) !== 0) continue;
    await clock.advanceAsync(MINUTE);
    if (login % (LOGINS / 5) === 0) expect(await live()).toBeLessThanOrEqual(LOGINS / 2);
  }
  expect(store.keys).toHaveLength(LOGINS);
  expect(store.largest).toBeLessThan(1_024);

  await clock.advanceAsync(10 * MINUTE);
  expect(await live()).toBe(0);
  // The store holds a timer exactly while it holds anything: what has expired was also removed.
  await clock.advanceAsync(MINUTE);
  expect(clock.pendingTimers).toBe(0);
});
