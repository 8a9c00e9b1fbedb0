import { describe, expect, it } from "vitest";
import { respondedAt } from "../../src/client/deadlines.js";
import type { Deadlines } from "../../src/client/session-state.js";
import { Browser } from "./browser.js";
import { ADA } from "./session-server.js";

const LIMITS = { idToken: 300, maxAge: 3600, idle: 900, sessionExpiry: 7200 };

/**
 * Milliseconds of each deadline, and of the moments at which the server lets the limits end, by the
 * browser's clock.
 */
async function deadlines({ ahead = 0, there = 1, back = 1, offset = 0, sendsDate = true } = {}) {
  const browser = new Browser();
  // Not at the start of a second, where rounding shows nothing.
  browser.clock.advance(offset);
  Object.assign(browser.server, { ahead, sendsDate, latency: { there, back } });
  browser.server.signIn(ADA, LIMITS);
  const start = (browser.server.now - ahead) * 1000;
  const tab = browser.tab();
  await browser.pass(20);
  const state = tab.state.deadlines as Deadlines;
  const exact = {
    idToken: start + 300_000,
    maxAge: start + 3_600_000,
    idle: start + 900_000,
    sessionExpiry: start + 7_200_000,
  };
  return { state, exact: { ...exact, end: exact.idle } as Deadlines };
}

describe("the deadlines", () => {
  it.each([0, 1, 250, 500, 999])(
    "are exact if both clocks agree, %d ms into a second",
    async (offset) => {
      const { state, exact } = await deadlines({ offset });
      expect(state).toEqual(exact);
    },
  );

  it.each([
    ["a slow way to the server", { there: 4300, back: 1 }],
    ["a slow way back", { there: 1, back: 4300 }],
  ])("are exact after %s, if both clocks agree", async (_name, latency) => {
    const { state, exact } = await deadlines({ ...latency, offset: 400 });
    expect(state).toEqual(exact);
  });

  it.each([
    [3600, 80],
    [-3600, 80],
    [7.3, 80],
    [-7.3, 80],
    [0.4, 80],
    [-0.4, 80],
    [86_400 * 365, 2000],
    [-86_400 * 365, 2000],
  ])(
    "are off by less than the round trip and a second if the server's clock is %d s ahead",
    async (ahead, back) => {
      for (const offset of [0, 333, 999]) {
        const { state, exact } = await deadlines({ ahead, back, offset });
        for (const [name, at] of Object.entries(state) as [keyof Deadlines, number][]) {
          expect(Math.abs(at - (exact[name] ?? 0)), name).toBeLessThan(1000 + 1 + back);
        }
      }
    },
  );

  it("are counted from the request on if the response has no usable date", async () => {
    const { state, exact } = await deadlines({ sendsDate: false, back: 4000 });
    expect(state).toEqual(exact);
    expect(respondedAt(5500, 9000, "yesterday")).toBe(5000);
  });

  it("are null without a limit", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    expect(tab.state.deadlines).toEqual({
      idToken: null,
      maxAge: null,
      idle: null,
      sessionExpiry: null,
      end: null,
    });
  });

  it("stay the same object while they differ by rounding only", async () => {
    const browser = new Browser();
    browser.server.ahead = 3600.7;
    browser.server.signIn(ADA, LIMITS);
    const tab = browser.tab();
    await browser.pass(1);
    const { state } = tab;
    for (const milliseconds of [333, 1456, 777]) {
      await browser.pass(milliseconds / 1000);
      await browser.settled(tab.client.refresh());
      expect(tab.state).toBe(state);
    }
  });

  it("the idle deadline moves with keepAlive, by two seconds, too, and not with refresh", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, LIMITS);
    const tab = browser.tab();
    await browser.pass(1);
    const idle = tab.state.deadlines?.idle ?? 0;
    await browser.pass(1);
    expect((await browser.settled(tab.client.refresh())).deadlines?.idle).toBe(idle);
    expect((await browser.settled(tab.client.keepAlive())).deadlines?.idle).toBe(idle + 3000);
  });
});
