import { describe, expect, it } from "vitest";
import { createSignInSignatures } from "../../src/provider/sign-in-signatures.js";
import { TestClock } from "../../src/testing/test-clock.js";

function signatures(limit = 20) {
  const clock = new TestClock();
  const made = createSignInSignatures({ clock, random: () => 0, limit });
  /** Seconds until a sign-in may sign; 0: now. */
  const left = () => {
    try {
      made.assertReady();
      return 0;
    } catch (error) {
      return (error as { retryAfter: number }).retryAfter;
    }
  };
  const refuse = () => {
    made.refused(clock.monotonic());
    clock.advance(1);
  };
  clock.advance(1);
  return { clock, made, left, refuse };
}

describe("the signatures of sign-ins", () => {
  it("take no turns while the key refuses none, and use no more than their slots", async () => {
    const { made, left, clock } = signatures(2);
    const first = await made.take();
    await made.take();
    const third = made.take();
    first();
    await third;
    const fourth = made.take().catch((error: unknown) => error);
    await clock.advanceAsync(2_000);
    expect(await fourth).toMatchObject({ reason: "client_assertion" });
    expect(left()).toBe(0);
  });

  it("take turns after a refused one: one in each gap", async () => {
    const { made, left, clock, refuse } = signatures();
    refuse();
    expect(left()).toBe(1);
    await expect(made.take()).rejects.toMatchObject({ reason: "client_assertion", retryAfter: 1 });
    clock.advance(750);
    expect(left()).toBe(0);
    (await made.take())();
    expect(left()).toBe(1);
  });

  it("wait longer with each refused one, at most 30 seconds, and concurrent ones count once", () => {
    const { made, left, clock, refuse } = signatures();
    const together = clock.monotonic();
    for (let count = 0; count < 5; count += 1) made.refused(together);
    clock.advance(1);
    const waits = [left()];
    for (let count = 0; count < 6; count += 1) {
      refuse();
      waits.push(left());
    }
    expect(waits).toEqual([1, 2, 3, 6, 12, 23, 23]);
  });

  it("wait half as long after 30 seconds without a refused one, until they take no turns", async () => {
    const { made, left, clock, refuse } = signatures();
    refuse();
    refuse();
    clock.advance(29_000);
    (await made.take())();
    expect(left()).toBe(2);
    clock.advance(1_500);
    (await made.take())();
    expect(left()).toBe(1);
    clock.advance(30_000);
    (await made.take())();
    expect(left()).toBe(0);
  });
});
