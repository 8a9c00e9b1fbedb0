import { describe, expect, it } from "vitest";
import { TestClock } from "../../src/testing/test-clock.js";
import { ANSWER_MS, RememberedAnswers } from "../../src/work/remembered-answers.js";

const LATE = new Error("late");

/** Settles what can settle without time passing. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

function answersOf(ask: (key: string) => Promise<string | undefined>, limit = 100) {
  const clock = new TestClock();
  const asked: string[] = [];
  const answers = new RememberedAnswers<string>({
    ask(key) {
      asked.push(key);
      return ask(key);
    },
    clock,
    limit,
    late: () => LATE,
  });
  return { answers, asked, clock };
}

const known = (key: string) => Promise.resolve(key.startsWith("known") ? `of ${key}` : undefined);

describe("remembered answers", () => {
  it("an answer counts for five minutes, and stays readable after it", async () => {
    const { answers, clock } = answersOf(known);
    expect(answers.isKnown("known")).toBe(false);
    expect(await answers.ask("known")).toBe("of known");
    clock.advance(ANSWER_MS - 1);
    expect(answers.isKnown("known")).toBe(true);
    clock.advance(1);
    expect([answers.isKnown("known"), answers.last("known")]).toEqual([false, "of known"]);
  });

  it("a key without an answer is unknown for ten seconds", async () => {
    const { answers, clock } = answersOf(known);
    expect(await answers.ask("stranger")).toBeUndefined();
    clock.advance(9_999);
    expect([answers.isKnown("stranger"), answers.last("stranger")]).toEqual([true, undefined]);
    clock.advance(1);
    expect(answers.isKnown("stranger")).toBe(false);
  });

  it("an answer that no longer exists is forgotten", async () => {
    let answer: string | undefined = "yes";
    const { answers } = answersOf(() => Promise.resolve(answer));
    await answers.ask("key");
    answer = undefined;
    await answers.ask("key");
    expect([answers.last("key"), answers.isKnown("key"), answers.size]).toEqual([
      undefined,
      true,
      1,
    ]);
  });

  it("a key is asked for once at a time", async () => {
    const { answers, asked } = answersOf(known);
    const found = await Promise.all(Array.from({ length: 50 }, () => answers.ask("known")));
    expect([new Set(found), asked]).toEqual([new Set(["of known"]), ["known"]]);
  });

  it("a failure reaches everyone who waits, and isn't remembered", async () => {
    let fails = true;
    const { answers, asked } = answersOf((key) =>
      fails ? Promise.reject(new Error("down")) : known(key),
    );
    const failed = await Promise.allSettled([answers.ask("known"), answers.ask("known")]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    fails = false;
    expect(await answers.ask("known")).toBe("of known");
    expect(asked).toEqual(["known", "known"]);
  });

  it("sixteen keys are asked for at a time; one that hangs gives its place back after five seconds", async () => {
    const { answers, asked, clock } = answersOf((key) =>
      key.startsWith("known") ? known(key) : new Promise(() => undefined),
    );
    const hanging = Array.from({ length: 16 }, (_, index) =>
      answers.ask(`hangs-${index}`).catch((error: unknown) => error),
    );
    await turn();
    clock.advance(1);
    const waiting = answers.ask("known");
    await turn();
    expect(asked).toHaveLength(16);
    clock.advance(4_999);
    expect(await Promise.all(hanging)).toEqual(Array.from({ length: 16 }, () => LATE));
    expect(await waiting).toBe("of known");
  });

  it("one that finds no place for five seconds is late", async () => {
    const { answers, clock } = answersOf(() => new Promise(() => undefined));
    const all = Array.from({ length: 17 }, (_, index) => answers.ask(`key-${index}`));
    const settled = Promise.allSettled(all);
    await turn();
    clock.advance(5_000);
    await turn();
    clock.advance(5_000);
    expect((await settled).every(({ status }) => status === "rejected")).toBe(true);
  });

  it("keeps the answers that were used last, and strangers push out none", async () => {
    const { answers } = answersOf(known, 3);
    for (const key of ["known-1", "known-2", "known-3"]) await answers.ask(key);
    expect(answers.isKnown("known-1")).toBe(true);
    await answers.ask("known-4");
    expect(["known-1", "known-2", "known-3", "known-4"].map((key) => answers.isKnown(key))).toEqual(
      [true, false, true, true],
    );
    for (let index = 0; index < 2_500; index += 1) await answers.ask(`stranger-${index}`);
    expect([answers.size, answers.isKnown("known-4")]).toEqual([1_003, true]);
  });
});
