import { describe, expect, it } from "vitest";
import { createLimitFollower } from "../../src/client/warning/follow-limits.js";
import { momentOf, type WarningView } from "../../src/client/warning/choose-warning-view.js";
import { labelsOf, newsOf, wordsOf } from "../../src/client/warning/choose-warning-texts.js";
import { Browser } from "./browser.js";
import { ADA, BOB } from "./session-server.js";

/** A page whose user has signed in, and everything that its warning shows. */
async function openPage(limits: { readonly idle?: number; readonly maxAge?: number } = {}) {
  const browser = new Browser();
  browser.server.signIn(ADA, limits);
  const tab = browser.tab();
  const views: WarningView[] = [];
  const follower = createLimitFollower({
    client: tab.client,
    clock: browser.clock,
    before: () => 120,
    show: (view) => void views.push(view),
  });
  follower.start();
  await browser.pass(1);
  return {
    browser,
    tab,
    views,
    follower,
    shown: () => views.at(-1),
    kinds: () => [...new Set(views.map(({ kind }) => kind))],
  };
}

/** What screen readers say while the warning shows these views. */
function said(views: readonly WarningView[], lang = "en"): string[] {
  let moment = "";
  return views.flatMap((view) => {
    const isNews = momentOf(view) !== moment;
    moment = momentOf(view);
    return isNews && view.kind !== "none" ? [newsOf(view, wordsOf(lang, {}))] : [];
  });
}

describe("the warning before the session ends", () => {
  it("counts down to the idle timeout, and goes when the user stays signed in", async () => {
    const { browser, tab, shown } = await openPage({ idle: 900, maxAge: 3600 });
    await browser.pass(778);
    expect(shown()).toEqual({ kind: "none" });
    await browser.pass(1);
    expect(shown()).toEqual({ kind: "idle", seconds: 120 });
    await browser.pass(75);
    expect(shown()).toEqual({ kind: "idle", seconds: 45 });
    await browser.settled(tab.client.keepAlive());
    expect(shown()).toEqual({ kind: "none" });
    await browser.pass(800);
    expect(shown()).toMatchObject({ kind: "idle" });
  });

  it("counts down to the maximum age, which staying signed in doesn't move", async () => {
    const { browser, tab, shown } = await openPage({ idle: 900, maxAge: 300 });
    await browser.pass(200);
    await browser.settled(tab.client.keepAlive());
    expect(shown()).toEqual({ kind: "limit", seconds: 98 });
  });

  it("shows each second once, the end, and nothing after the user has signed in again", async () => {
    const { browser, tab, views, shown } = await openPage({ maxAge: 150 });
    await browser.pass(148);
    const seconds = views.flatMap((view) => ("seconds" in view ? [view.seconds] : []));
    expect([...new Set(seconds)]).toEqual(Array.from({ length: 120 }, (_, passed) => 120 - passed));
    await browser.pass(4);
    expect(shown()).toEqual({ kind: "ended" });
    browser.server.signIn(ADA, { maxAge: 3600 });
    await browser.settled(tab.client.refresh());
    expect(shown()).toEqual({ kind: "none" });
  });

  it("says who ended the session: the user in another tab, or the server", async () => {
    const { browser, tab, shown } = await openPage({ idle: 900 });
    const other = browser.tab("other");
    await browser.pass(2);
    void other.client.signOut();
    browser.server.signOut();
    await browser.pass(2);
    expect(shown()).toEqual({ kind: "signedOut" });
    browser.server.signIn(BOB, { idle: 900 });
    await browser.settled(tab.client.refresh());
    browser.server.signOut("ended_everywhere");
    await browser.settled(tab.client.refresh());
    expect(shown()).toEqual({ kind: "ended" });
  });

  it("shows an outage near the end, and neither the end nor an earlier outage", async () => {
    const { browser, tab, shown } = await openPage({ idle: 300 });
    browser.server.outage = "network";
    await browser.settled(tab.client.refresh());
    expect(tab.state.status).toBe("unavailable");
    expect(shown()).toEqual({ kind: "none" });
    await browser.pass(400);
    expect(shown()).toEqual({ kind: "unavailable" });
    browser.server.outage = undefined;
    await browser.settled(tab.client.refresh());
    expect(shown()).toEqual({ kind: "ended" });
  });

  it("shows the end of a session that a server rendered the page for, and that ended before it started", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, {});
    const { client } = browser.tab("tab", { initialState: browser.server.details() });
    browser.server.signOut();
    await browser.settled(client.refresh());
    const views: WarningView[] = [];
    createLimitFollower({
      client,
      clock: browser.clock,
      before: () => 120,
      show: (view) => void views.push(view),
    }).start();
    expect(views).toEqual([{ kind: "ended" }]);
  });

  it("shows nothing on a page that nobody has been signed in on", async () => {
    const browser = new Browser();
    const views: WarningView[] = [];
    createLimitFollower({
      client: browser.tab().client,
      clock: browser.clock,
      before: () => 120,
      show: (view) => void views.push(view),
    }).start();
    await browser.pass(3600);
    expect(new Set(views.map(({ kind }) => kind))).toEqual(new Set(["none"]));
  });

  it("appears in time after the computer has slept", async () => {
    const { browser, shown } = await openPage({ idle: 900 });
    browser.clock.setNow(browser.clock.now() + 800_000);
    expect(shown()).toEqual({ kind: "none" });
    await browser.pass(10);
    expect(shown()).toMatchObject({ kind: "idle" });
  });

  it("that starts twice follows the session once, and stops whole", async () => {
    const { browser, tab, views, follower } = await openPage({ idle: 900 });
    follower.start();
    const before = views.length;
    browser.server.signOut("idle");
    await browser.settled(tab.client.refresh());
    expect(views.slice(before)).toEqual([{ kind: "ended" }]);
    follower.stop();
    browser.server.signIn(ADA);
    await browser.settled(tab.client.refresh());
    expect(views).toHaveLength(before + 1);
  });

  it("has no timer after it stops, nor after the end, and remembers the user if it starts again", async () => {
    const { browser, tab, follower, shown, views } = await openPage({ maxAge: 300 });
    tab.client.close();
    const own = browser.clock.pendingTimers;
    follower.stop();
    expect(browser.clock.pendingTimers).toBe(own - 1);
    const before = views.length;
    browser.server.signOut("max_age");
    await browser.settled(tab.client.refresh());
    expect(views).toHaveLength(before);
    const others = browser.clock.pendingTimers;
    follower.start();
    expect(shown()).toEqual({ kind: "ended" });
    expect(browser.clock.pendingTimers).toBe(others);
  });
});

describe("screen readers", () => {
  it("hear of the warning, of 60, 30 and 10 seconds and of the end, and nothing in between", async () => {
    const { browser, views } = await openPage({ maxAge: 150 });
    await browser.pass(152);
    expect(said(views)).toEqual([
      "Your session ends in 2 minutes.",
      "Your session ends in 60 seconds.",
      "Your session ends in 30 seconds.",
      "Your session ends in 10 seconds.",
      "Your session has ended.",
    ]);
    expect(said(views, "de-AT")[0]).toBe("Ihre Sitzung endet in 2 Minuten.");
  });

  it("hear the time that is left, not more, if the page opens late", async () => {
    const { views } = await openPage({ maxAge: 46 });
    expect(said(views)).toEqual(["Your session ends in 46 seconds."]);
  });
});

describe("the texts", () => {
  const VIEW = { kind: "idle", seconds: 30 } as const;
  const FRENCH = { remaining: "Votre session se termine {in}.", stay: "Rester connecté" };

  it.each([
    ["de", "Angemeldet bleiben"],
    ["DE-ch", "Angemeldet bleiben"],
    ["en-GB", "Stay signed in"],
    ["fr", "Stay signed in"],
    ["", "Stay signed in"],
    ["toString", "Stay signed in"],
  ])("for the language %j say %s", (lang, action) => {
    expect(labelsOf(VIEW, wordsOf(lang, {}))[2]).toBe(action);
  });

  it("of the application replace ours, and the time is in their language", () => {
    const words = wordsOf("fr-CA", FRENCH);
    expect(words.language).toBe("fr-CA");
    expect(labelsOf(VIEW, words)).toEqual([
      "Your session is about to end",
      "You haven't been active for a while.",
      "Rester connecté",
    ]);
    expect(newsOf(VIEW, words)).toBe("Votre session se termine dans 30 secondes.");
  });

  it("are said although the page declares a language that doesn't exist", () => {
    expect(newsOf(VIEW, wordsOf("fr_CA", FRENCH))).toMatch(/^Votre session se termine .*30/);
  });
});

it("a server can import the element", async () => {
  expect("HTMLElement" in globalThis).toBe(false);
  await expect(import("../../src/client/warning/warning.js")).resolves.toBeDefined();
});
