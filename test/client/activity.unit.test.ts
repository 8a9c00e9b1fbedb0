import { describe, expect, it } from "vitest";
import { Browser } from "./browser.js";
import { ADA } from "./session-server.js";

const moves = (browser: Browser) =>
  browser.server.probes().filter(({ target }) => !target.includes("slide=false")).length;

describe("trackActivity", () => {
  it("moves the idle timeout at most once a minute while pointer or keys are used", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 900 });
    const tab = browser.tab("tab", { trackActivity: true });
    await browser.pass(1);
    for (let second = 0; second < 600; second += 5) {
      tab.fire(second % 2 === 0 ? "pointerdown" : "keydown");
      await browser.pass(5);
    }
    expect(moves(browser)).toBe(10);
    expect(browser.server.now - (browser.server.lastActive ?? 0)).toBeLessThanOrEqual(60);
  });

  it("counts nothing in a hidden page, and nothing of a signed-out user", async () => {
    const browser = new Browser();
    const tab = browser.tab("tab", { trackActivity: true });
    await browser.pass(1);
    tab.fire("keydown");
    await browser.pass(1);
    expect(moves(browser)).toBe(0);
    browser.server.signIn(ADA, { idle: 900 });
    await browser.settled(tab.client.refresh());
    tab.hide();
    tab.fire("keydown");
    await browser.pass(1);
    expect(moves(browser)).toBe(0);
    tab.show();
    tab.fire("keydown");
    await browser.pass(1);
    expect(moves(browser)).toBe(1);
  });

  it("reports at once after the clock was set back", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 900 });
    const tab = browser.tab("tab", { trackActivity: true });
    await browser.pass(1);
    tab.fire("keydown");
    await browser.pass(1);
    browser.clock.setNow(browser.clock.now() - 3_600_000);
    tab.fire("keydown");
    await browser.pass(1);
    expect(moves(browser)).toBe(2);
  });

  it("hears what an element of the page keeps to itself", () => {
    const tab = new Browser().tab("tab", { trackActivity: true });
    expect(tab.captured).toEqual(["pointerdown", "keydown"]);
  });

  it("is off unless the application turns it on", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    tab.fire("pointerdown");
    tab.fire("keydown");
    await browser.pass(1);
    expect(moves(browser)).toBe(0);
  });
});

describe("the event stream", () => {
  const open = (tab: {
    readonly streams: readonly { readonly isOpen: boolean; readonly url: string }[];
  }) => tab.streams.filter(({ isOpen }) => isOpen).map(({ url }) => url);

  it("is open while the user is signed in and the page is visible, and only if the application wants it", async () => {
    const browser = new Browser();
    const tab = browser.tab("tab", { events: true });
    const other = browser.tab("other");
    await browser.pass(1);
    expect(open(tab)).toEqual([]);
    browser.server.signIn(ADA);
    await browser.settled(tab.client.refresh());
    expect(open(tab)).toEqual(["https://app.example/idpauth/events"]);
    tab.hide();
    expect(open(tab)).toEqual([]);
    tab.show();
    expect(open(tab)).toHaveLength(1);
    tab.fire("pagehide");
    expect(open(tab)).toEqual([]);
    tab.fire("pageshow", { persisted: true });
    await browser.pass(1);
    expect(open(tab)).toHaveLength(1);
    browser.server.outage = { status: 503 };
    await browser.settled(tab.client.refresh());
    expect(open(tab)).toEqual([]);
    browser.server.outage = undefined;
    await browser.settled(tab.client.refresh());
    expect(open(tab)).toHaveLength(1);
    browser.server.signOut();
    await browser.settled(tab.client.refresh());
    expect(open(tab)).toEqual([]);
    expect(other.streams).toEqual([]);
  });

  it("that says ended is a hint: the tab probes, and notifies the others", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab("tab", { events: true });
    const other = browser.tab("other");
    other.hide();
    await browser.pass(1);
    tab.streams[0]?.fire("ended");
    await browser.pass(1);
    expect(tab.state.status).toBe("signed-in");
    browser.server.signOut("logged_out_at_provider");
    tab.streams[0]?.fire("ended");
    await browser.pass(1);
    expect([tab.state, other.state].map(({ reason }) => reason)).toEqual([
      "logged_out_at_provider",
      "logged_out_at_provider",
    ]);
  });

  it("is opened once while it is open", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 600 });
    const tab = browser.tab("tab", { events: true });
    await browser.pass(1);
    browser.server.data = { changed: true };
    await browser.pass(200);
    tab.show();
    expect(tab.streams).toHaveLength(1);
  });

  it("opens again with the next probe after a response that is no stream, such as 503 or 429", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab("tab", { events: true });
    await browser.pass(1);
    // The browser itself connects again after a lost connection.
    Object.assign(tab.streams[0]!, { readyState: 0 }).fire("error");
    expect(open(tab)).toHaveLength(1);
    Object.assign(tab.streams[0]!, { readyState: 2 }).fire("error");
    expect(open(tab)).toEqual([]);
    await browser.pass(5);
    expect(open(tab)).toHaveLength(1);
    expect(tab.streams).toHaveLength(2);
  });

  it("that ends without a reason makes the tab probe within five seconds, which doesn't count as activity", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab("tab", { events: true });
    await browser.pass(1);
    browser.server.signOut("logged_out_at_provider");
    Object.assign(tab.streams[0]!, { readyState: 0 }).fire("error");
    expect(tab.state.status).toBe("signed-in");
    await browser.pass(5);
    expect(tab.state.reason).toBe("logged_out_at_provider");
    expect(browser.server.probes("tab").at(-1)?.target).toContain("slide=false");
  });
});
