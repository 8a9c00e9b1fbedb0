import type { TestClock } from "../../src/testing/test-clock.js";

/** Lets time pass until the work has settled, in steps of `milliseconds`. */
export async function whileTimePasses<Result>(
  clock: TestClock,
  work: Promise<Result>,
  milliseconds = 50,
): Promise<Result> {
  let isSettled = false as boolean;
  const mark = () => (isSettled = true);
  work.then(mark, mark);
  while (!isSettled) {
    await clock.advanceAsync(milliseconds);
    // Sockets need more than a turn.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return work;
}
