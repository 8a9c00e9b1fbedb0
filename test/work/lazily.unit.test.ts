import { expect, it } from "vitest";
import { lazily } from "../../src/work/lazily.js";

it("loads once, at the first call, for callers at the same time and later ones", async () => {
  let loads = 0;
  const load = lazily(() => Promise.resolve((loads += 1)));
  expect(loads).toBe(0);
  expect(await Promise.all([load(), load()])).toEqual([1, 1]);
  expect(await load()).toBe(1);
});

it("forgets a failure: who waited for it gets it, the next call loads again", async () => {
  let loads = 0;
  const load = lazily(async () => {
    loads += 1;
    if (loads === 1) throw new Error("too many open files");
    return loads;
  });
  expect(await Promise.allSettled([load(), load()])).toMatchObject([
    { reason: { message: "too many open files" } },
    { reason: { message: "too many open files" } },
  ]);
  expect(await load()).toBe(2);
  expect(await load()).toBe(2);
});
