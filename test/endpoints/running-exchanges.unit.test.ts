import { expect, it } from "vitest";
import { RunningExchanges } from "../../src/endpoints/running-exchanges.js";

const isSettled = (work: Promise<void>) =>
  Promise.race([work.then(() => true), Promise.resolve(false)]);

it("an exchange is found by session and state, and its end reaches all that wait", async () => {
  const exchanges = new RunningExchanges();
  const end = exchanges.begin("session", "state");
  const endOther = exchanges.begin("another session", "state");
  expect(exchanges.endOf("session", "another state")).toBeUndefined();
  const waiting = [exchanges.endOf("session", "state"), exchanges.endOf("session", "state")];
  const other = exchanges.endOf("another session", "state");
  for (const one of [...waiting, other]) expect(await isSettled(one!)).toBe(false);
  end();
  for (const one of waiting) await one;
  expect(exchanges.endOf("session", "state")).toBeUndefined();
  expect(await isSettled(other!)).toBe(false);
  endOther();
  await other;
});
