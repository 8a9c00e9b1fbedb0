import { expect, it } from "vitest";
import type { Client } from "../../../src/client/client-interface.js";
import { FetchEventSource } from "../../../src/client/streams/fetch-event-source.js";
import type { StreamEnvironment } from "../../../src/client/streams/stream-environment.js";

/** A clock for many browsers. Timers run in steps of 100 ms. */
class SteppedClock {
  static readonly STEP_MS = 100;
  #step = 0;
  readonly #tasks = new Map<number, Set<() => void>>();

  now(): number {
    return this.#step * SteppedClock.STEP_MS;
  }

  timer(pause: number, task: () => void): () => void {
    const due = this.#step + Math.max(1, Math.ceil(pause / SteppedClock.STEP_MS));
    const tasks = this.#tasks.get(due) ?? new Set();
    this.#tasks.set(due, tasks.add(task));
    return () => tasks.delete(task);
  }

  async pass(seconds: number): Promise<void> {
    for (let steps = (seconds * 1000) / SteppedClock.STEP_MS; steps > 0; steps--) {
      for (const task of this.#tasks.get(++this.#step) ?? []) task();
      this.#tasks.delete(this.#step);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/**
 * When each of many browsers has connected again, in seconds after their server was lost.
 *
 * @param isSilent whether nothing tells them: no connection breaks
 */
async function returns(count: number, isSilent: boolean): Promise<number[]> {
  const clock = new SteppedClock();
  const times: number[] = [];
  let seed = 1;
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const state = { status: "signed-in", account: "ada" };
  const client = {
    getState: () => state,
    subscribe: () => () => undefined,
    refresh: () => Promise.resolve(state),
  } as unknown as Client;
  const drops: (() => void)[] = [];
  let lostAt = Infinity;
  const env = {
    Date: { now: () => clock.now() },
    Math: { random },
    document: { visibilityState: "visible" },
    location: { href: "https://app.example/", origin: "https://app.example" },
    setTimeout: (task: () => void, pause: number) => clock.timer(pause, task),
    clearTimeout: (cancel?: () => void) => cancel?.(),
    addEventListener: () => undefined,
    reportError: (error: unknown) => {
      throw error;
    },
    fetch(_url: string, { signal }: { signal: AbortSignal }) {
      if (clock.now() > lostAt) times.push((clock.now() - lostAt) / 1000);
      let drop: () => void = () => undefined;
      const read = new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
        drop = () => resolve({ done: true, value: undefined });
      });
      drops.push(drop);
      const headers = new Headers({
        "Content-Type": "text/event-stream",
        "X-Idpauth-Heartbeat": "25",
      });
      return Promise.resolve({
        status: 200,
        headers,
        body: { getReader: () => ({ read: () => read }) },
      });
    },
  } as unknown as StreamEnvironment;
  for (let opened = 0; opened < count; opened++)
    new FetchEventSource("/api/stream", { client, env, closeWhenHidden: false });
  await clock.pass(1);
  lostAt = clock.now();
  if (!isSilent) for (const drop of drops) drop();
  for (let passed = 0; passed < 150 && times.length < count; passed++) await clock.pass(1);
  return times.toSorted((one, other) => one - other);
}

const COUNT = 10_000;
const spread = (times: readonly number[]) => times.at(-1)! - times[0]!;

/** The most browsers that come back within one second. */
function busiest(times: readonly number[]): number {
  const bySecond = new Map<number, number>();
  for (const time of times)
    bySecond.set(Math.floor(time), (bySecond.get(Math.floor(time)) ?? 0) + 1);
  return Math.max(...bySecond.values());
}

it("10,000 browsers whose server goes silent come back over at least the pauses of connections that break", async () => {
  const broken = await returns(COUNT, false);
  const silent = await returns(COUNT, true);
  expect([broken.length, silent.length]).toEqual([COUNT, COUNT]);
  expect(spread(silent)).toBeGreaterThanOrEqual(spread(broken));
  expect(busiest(silent)).toBeLessThanOrEqual(busiest(broken));
  // Three missed heartbeats at least.
  expect(silent[0]).toBeGreaterThan(75);
  expect(silent.at(-1)).toBeLessThan(120);
});
