import { describe, expect, it, vi } from "vitest";
import { ProviderUnavailableError } from "../../src/errors.js";
import { createSlots, type Release, type Slots } from "../../src/work/slots.js";
import { TestClock } from "../../src/testing/test-clock.js";

/** Settles what can settle without time passing. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function takeAll(slots: Slots, count: number): Promise<Release[]> {
  return Promise.all(Array.from({ length: count }, () => slots.take()));
}

/** Takers in the order in which they got their slots. */
function queueUp(slots: Slots, count: number): { order: number[]; releases: Release[] } {
  const order: number[] = [];
  const releases: Release[] = [];
  for (let taker = 0; taker < count; taker += 1) {
    void slots.take().then((release) => {
      order.push(taker);
      releases.push(release);
    });
  }
  return { order, releases };
}

describe("refresh slots", () => {
  it("no more than the limit are held at a time; the others wait in the order in which they came", async () => {
    const slots = createSlots({ limit: 2, reason: "refresh_queue_full", clock: new TestClock() });
    const { order, releases } = queueUp(slots, 100);
    for (let held = 2; held <= 100; held += 1) {
      await turn();
      expect(order).toEqual(Array.from({ length: held }, (_, taker) => taker));
      releases.shift()?.();
    }
  });

  it("a slot that nobody waits for is free again", async () => {
    const slots = createSlots({ limit: 2, reason: "refresh_queue_full", clock: new TestClock() });
    const [one, other] = await takeAll(slots, 2);
    one?.();
    other?.();
    await takeAll(slots, 2);
    const { order } = queueUp(slots, 1);
    await turn();
    expect(order).toEqual([]);
  });

  it("a slot that is given back twice counts once", async () => {
    const slots = createSlots({ limit: 1, reason: "refresh_queue_full", clock: new TestClock() });
    const release = await slots.take();
    release();
    release();
    await slots.take();
    const { order } = queueUp(slots, 1);
    await turn();
    expect(order).toEqual([]);
  });

  it("beyond fifty that wait for each slot, the next is turned away at once, and nobody else is disturbed", async () => {
    const slots = createSlots({ limit: 2, reason: "refresh_queue_full", clock: new TestClock() });
    const { order, releases } = queueUp(slots, 102);
    await turn();
    const refusal: unknown = await slots.take().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ProviderUnavailableError);
    expect(refusal).toMatchObject({ status: 503, reason: "refresh_queue_full" });
    expect([1, 2]).toContain((refusal as ProviderUnavailableError).retryAfter);
    releases.shift()?.();
    await turn();
    expect(order).toHaveLength(3);
    queueUp(slots, 1);
    await expect(slots.take()).rejects.toBeInstanceOf(ProviderUnavailableError);
  });

  it("Retry-After says how long the queue will take, from 1 to 30 s, spread over twice that", async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0);
    const clock = new TestClock();
    const slots = createSlots({ limit: 1, reason: "refresh_queue_full", clock: clock });
    // Each is held for a second, until the running average says so.
    for (let round = 0; round < 100; round += 1) {
      const release = await slots.take();
      clock.advance(200);
      release();
    }
    queueUp(slots, 51);
    await turn();
    const refusal = (await slots
      .take()
      .catch((error: unknown) => error)) as ProviderUnavailableError;
    expect(refusal.retryAfter).toBe(10);
    random.mockReturnValue(0.75);
    expect(await slots.take().catch((error: unknown) => error)).toMatchObject({ retryAfter: 18 });

    const slow = createSlots({ limit: 1, reason: "refresh_queue_full", clock: clock });
    for (let round = 0; round < 100; round += 1) {
      const release = await slow.take();
      clock.advance(30_000);
      release();
    }
    queueUp(slow, 51);
    await turn();
    expect(await slow.take().catch((error: unknown) => error)).toMatchObject({ retryAfter: 53 });
    random.mockRestore();
  });
});
