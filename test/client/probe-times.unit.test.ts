import { describe, expect, it } from "vitest";
import { Browser } from "./browser.js";
import { ADA, BOB } from "./session-server.js";

/** Seconds from the first probe to each later one. */
function times(browser: Browser): number[] {
  const sent = browser.server.probes().map(({ at }) => at);
  return sent.slice(1).map((at) => (at - (sent[0] ?? 0)) / 1000);
}

describe("a visible page probes", () => {
  it("at once, then every 60 seconds, without moving the idle timeout", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 3600 });
    const stamp = browser.server.lastActive;
    browser.tab();
    await browser.pass(200);
    expect(times(browser).map(Math.floor)).toEqual([60, 120, 180]);
    expect(browser.server.lastActive).toBe(stamp);
    expect(browser.server.requests.every(({ target }) => target.endsWith("&slide=false"))).toBe(
      true,
    );
  });

  it("at the interval that the application sets", async () => {
    const browser = new Browser();
    browser.tab("tab", { probeInterval: 300 });
    await browser.pass(299);
    expect(times(browser)).toEqual([]);
    await browser.pass(2);
    expect(times(browser).map(Math.floor)).toEqual([300]);
  });

  it("one second after the session's end, and the server decides", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 20, maxAge: 3600 });
    const tab = browser.tab("tab", { probeInterval: 300 });
    await browser.pass(1);
    browser.server.signIn(ADA, { idle: 40, maxAge: 3600 });
    await browser.pass(21);
    expect(times(browser)).toEqual([expect.closeTo(21, 1)]);
    expect(tab.state.status).toBe("signed-in");
    await browser.pass(21);
    expect(tab.state).toMatchObject({ status: "signed-out", reason: "idle" });
    expect(tab.probes).toBe(3);
  });

  it("in the normal interval if the server extends the session beyond an end in the past", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { sessionExpiry: -100 });
    const tab = browser.tab();
    await browser.pass(59);
    expect(tab.probes).toBe(1);
    expect(tab.state.status).toBe("signed-in");
  });

  it("after a limit of 60 days only as often as the interval says", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { maxAge: 60 * 86_400 });
    const tab = browser.tab("tab", { probeInterval: 90 * 86_400 });
    await browser.pass(23 * 86_400);
    expect(tab.probes).toBe(1);
    await browser.pass(2 * 86_400);
    // The longest timer is a little more than 23 days.
    expect(tab.probes).toBe(2);
  });
});

describe("a hidden page", () => {
  it("sends no probe, not at the start either, until it is visible", async () => {
    const browser = new Browser();
    const tab = browser.tab("tab", { events: true }, { isVisible: false });
    await browser.pass(3600);
    expect(browser.server.requests).toEqual([]);
    expect(tab.timers.size).toBe(0);
    tab.show();
    await browser.pass(1);
    expect(tab.state.status).toBe("signed-out");
  });

  it("probes when it becomes visible, unless it has heard of the server less than two seconds ago", async () => {
    const browser = new Browser();
    const tab = browser.tab();
    await browser.pass(1);
    tab.hide();
    await browser.pass(0.5);
    tab.show();
    await browser.pass(1);
    expect(tab.probes).toBe(1);
    tab.hide();
    await browser.pass(3600);
    expect(tab.probes).toBe(1);
    tab.show();
    await browser.pass(1);
    expect(tab.probes).toBe(2);
  });

  it("that the user returns to after the clock was set back asks at once, and each minute from then on", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    const { probes } = tab;
    browser.clock.setNow(browser.clock.now() - 3_600_000);
    tab.fire("focus");
    await browser.pass(1);
    expect(tab.probes).toBe(probes + 1);
    await browser.pass(60);
    expect(tab.probes).toBe(probes + 2);
  });

  it.each(["focus", "visibilitychange"])(
    "%s shows a user who has signed in by a page without a client",
    async (event) => {
      const browser = new Browser();
      browser.server.signIn(ADA);
      const tab = browser.tab();
      await browser.pass(10);
      browser.server.signIn(BOB);
      tab.fire(event);
      await browser.pass(0.5);
      expect(tab.state.account).toBe(BOB.account);
    },
  );

  it.each(["focus", "visibilitychange"])(
    "%s does not probe earlier in an outage",
    async (event) => {
      const browser = new Browser();
      browser.server.outage = { status: 503, headers: { "Retry-After": "20" } };
      const tab = browser.tab();
      await browser.pass(10);
      tab.fire(event);
      await browser.pass(1);
      expect(tab.probes).toBe(1);
    },
  );
});

describe("during an outage a visible page probes again", () => {
  it("after 2, 4, 8 … 60 seconds, up to half as long again by chance", async () => {
    for (const random of [0, 0.5, 0.999]) {
      const browser = new Browser();
      browser.random = random;
      browser.server.outage = { status: 500 };
      browser.tab();
      await browser.pass(400);
      const sent = [0, ...times(browser)];
      const pauses = sent
        .slice(1)
        .map((at, index) => Math.round((at - (sent[index] ?? 0)) * 10) / 10);
      const expected = [2, 4, 8, 16, 32, 60, 60].map(
        (seconds) => Math.round(seconds * (1 + random / 2) * 10) / 10,
      );
      expect(pauses.slice(0, 5)).toEqual(expected.slice(0, 5));
      expect(pauses.slice(5)).toEqual(pauses.slice(5).map(() => expected[6]));
    }
  });

  it("after two seconds, if Retry-After is negative", async () => {
    const browser = new Browser();
    browser.server.outage = { status: 503, headers: { "Retry-After": "-3" } };
    const tab = browser.tab();
    await browser.pass(1.9);
    expect(tab.probes).toBe(1);
  });

  it("after the seconds of Retry-After, up to half as long again by chance", async () => {
    const browser = new Browser();
    browser.random = 0.5;
    browser.server.outage = { status: 503, headers: { "Retry-After": "20" } };
    browser.tab();
    await browser.pass(26);
    expect(times(browser)).toEqual([expect.closeTo(25, 1)]);
  });

  it("begins with short pauses again after it has succeeded", async () => {
    const browser = new Browser();
    browser.server.outage = { status: 500 };
    const tab = browser.tab();
    await browser.pass(40);
    browser.server.outage = undefined;
    await browser.settled(tab.client.refresh());
    browser.server.outage = { status: 500 };
    await browser.settled(tab.client.refresh());
    const { probes } = tab;
    await browser.pass(2);
    expect(tab.probes).toBe(probes + 1);
  });

  it("at once when the browser is online again, but not while it is hidden", async () => {
    const browser = new Browser();
    browser.server.outage = "network";
    const tab = browser.tab();
    await browser.pass(31);
    const { probes } = tab;
    tab.hide();
    await browser.pass(600);
    tab.fire("online");
    await browser.pass(1);
    expect(tab.probes).toBe(probes);
    browser.server.outage = undefined;
    tab.show();
    await browser.pass(1);
    expect(tab.state.status).toBe("signed-out");
    browser.server.outage = "network";
    await browser.settled(tab.client.refresh());
    browser.server.outage = undefined;
    tab.fire("online");
    await browser.pass(0.1);
    expect(tab.state.status).toBe("signed-out");
  });
});

describe("a page that comes back from the back/forward cache", () => {
  it("probes at once, and hears the other tabs again", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab("cached");
    await browser.pass(1);
    tab.fire("pagehide", { persisted: true });
    expect(browser.channels.size).toBe(0);
    browser.server.signOut();
    tab.fire("pageshow", { persisted: true });
    await browser.pass(1);
    expect(tab.state.status).toBe("signed-out");
    browser.server.signIn(ADA);
    browser.tab("other");
    await browser.pass(1);
    expect(tab.state.status).toBe("signed-in");
  });

  it("does not wait for a probe from before", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    browser.server.latency.back = 20_000;
    const tab = browser.tab();
    await browser.pass(1);
    tab.fire("pagehide", { persisted: true });
    browser.server.latency.back = 1;
    tab.fire("pageshow", { persisted: true });
    await browser.pass(1);
    expect(tab.state.status).toBe("signed-in");
  });

  it("ignores pageshow at the page's first load", async () => {
    const browser = new Browser();
    const tab = browser.tab();
    tab.fire("pageshow", { persisted: false });
    await browser.pass(1);
    expect(tab.probes).toBe(1);
    expect(browser.channels.size).toBe(1);
  });
});

describe("close", () => {
  it("stops timers, listeners, the channel, the stream, and a response that is on its way", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 600 });
    const tab = browser.tab("tab", { trackActivity: true, events: true });
    await browser.pass(1);
    browser.server.signOut();
    void tab.client.refresh();
    tab.client.close();
    const { state } = tab;
    await browser.pass(3600);
    for (const type of [
      "visibilitychange",
      "online",
      "focus",
      "pageshow",
      "pagehide",
      "pointerdown",
      "keydown",
    ]) {
      expect(tab.listeners.get(type)?.size, type).toBe(0);
    }
    expect(tab.state).toBe(state);
    // The first, and the one that was on its way.
    expect(tab.probes).toBe(2);
    browser.server.signIn(ADA, { idle: 600 });
    expect(await browser.settled(tab.client.refresh())).toMatchObject({ status: "signed-in" });
    expect(tab.timers.size).toBe(0);
    expect(browser.channels.size).toBe(0);
    expect(tab.streams.map(({ isOpen }) => isOpen)).toEqual([false]);
  });
});
