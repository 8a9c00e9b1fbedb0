import { describe, expect, it } from "vitest";
import { Browser, postFrom, type Tab } from "./browser.js";
import { ADA, BOB } from "./session-server.js";

const statuses = (tabs: readonly Tab[]) => tabs.map(({ state }) => state.status);
const reasons = (tabs: readonly Tab[]) => tabs.map(({ state }) => state.reason);

/** A visible tab and hidden ones; all know the state. */
async function openTabs(browser: Browser, hidden: number, visible = 1): Promise<Tab[]> {
  const tabs: Tab[] = [];
  for (let index = 0; index < visible + hidden; index++) {
    const tab = browser.tab(`tab ${String(index)}`);
    await browser.pass(1);
    if (index >= visible) tab.hide();
    tabs.push(tab);
  }
  return tabs;
}

describe("several tabs", () => {
  it("a sign-out that one tab meets shows in all, with one probe in each other tab, hidden ones too", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tabs = await openTabs(browser, 8, 2);
    const before = tabs.map(({ probes }) => probes);
    browser.server.signOut("ended_everywhere");
    void tabs[0]?.client.refresh();
    await browser.pass(1);
    expect(statuses(tabs)).toEqual(tabs.map(() => "signed-out"));
    expect(tabs.map(({ state }) => state.reason)).toEqual(tabs.map(() => "ended_everywhere"));
    expect(tabs.map(({ probes }, index) => probes - (before[index] ?? 0))).toEqual(
      tabs.map(() => 1),
    );
  });

  it("a sign-out by the client shows in all as soon as the browser leaves the page", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tabs = await openTabs(browser, 9);
    void tabs[0]?.client.signOut();
    await browser.pass(0.05);
    expect(statuses(tabs)).toEqual(tabs.map(() => "signed-in"));
    browser.server.signOut();
    tabs[0]?.fire("pagehide");
    await browser.pass(0.01);
    expect(statuses(tabs.slice(1))).toEqual(tabs.slice(1).map(() => "signed-out"));
    expect(reasons(tabs.slice(1))).toEqual(tabs.slice(1).map(() => "logout"));
    tabs[0]?.client.close();
    tabs[1]?.show();
    // The server knows that there is no session, and not why.
    await browser.pass(120);
    expect(reasons(tabs.slice(1))).toEqual(tabs.slice(1).map(() => "logout"));
    browser.server.signIn(ADA);
    await browser.pass(120);
    browser.server.signOut();
    await browser.pass(120);
    expect(reasons(tabs.slice(1))).toEqual(tabs.slice(1).map(() => "no_credentials"));
  });

  it("a tab that has learned of the sign-out from the server first gives the reason, too, and a hidden one when it is shown", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const [leaving, other, hidden] = await openTabs(browser, 1, 2);
    hidden?.hide();
    void leaving?.client.signOut();
    browser.server.signOut();
    const heard: unknown[] = [];
    other?.client.subscribe(({ reason }) => heard.push(reason));
    void other?.client.refresh();
    await browser.pass(1);
    expect(heard).toEqual(["no_credentials", "logout"]);
    hidden?.show();
    await browser.pass(0.01);
    expect(hidden?.state.reason).toBe("logout");
  });

  it("a session that ends otherwise keeps the server's reason after a sign-out", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const [leaving, other] = await openTabs(browser, 1);
    void leaving?.client.signOut();
    browser.server.signOut("idle");
    leaving?.fire("pagehide");
    await browser.pass(0.01);
    expect(other?.state.reason).toBe("idle");
  });

  it("a tab of an older version, which does not say why, ends the session as before", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const [tab] = await openTabs(browser, 0);
    browser.server.signOut();
    postFrom(browser, { account: null, changed: true });
    await browser.pass(0.01);
    expect([tab?.state.status, tab?.state.reason]).toEqual(["signed-out", "no_credentials"]);
  });

  it("a sign-out by the client shows in all before the browser leaves the page, if the response of the logout takes long", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tabs = await openTabs(browser, 9);
    void tabs[0]?.client.signOut();
    await browser.pass(0.15);
    browser.server.signOut();
    await browser.pass(0.15);
    const [leaving, ...others] = statuses(tabs);
    expect(others).toEqual(others.map(() => "signed-out"));
    // No warning opens over the page that the browser is about to leave.
    expect(leaving).toBe("signed-in");
    const probes = tabs.map((tab) => tab.probes);
    await browser.pass(1);
    expect(tabs.map((tab) => tab.probes)).toEqual(probes);
    // It has not left.
    await browser.pass(60);
    expect(tabs[0]?.state.status).toBe("signed-out");
  });

  it("a page whose logout does not end the session watches it for two seconds", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const [tab] = await openTabs(browser, 0);
    await browser.pass(1);
    const before = browser.server.probes().length;
    void tab?.client.signOut();
    await browser.pass(50);
    expect(browser.server.probes().length - before).toBe(20);
  });

  it("another page that a user leaves notifies nobody", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const [tab, other] = await openTabs(browser, 1);
    const probes = other?.probes;
    tab?.fire("pagehide");
    await browser.pass(1);
    expect(other?.probes).toBe(probes);
  });

  it("a new page after a sign-in notifies the others, which probe themselves", async () => {
    const browser = new Browser();
    const tabs = await openTabs(browser, 2, 2);
    browser.server.signIn(ADA);
    browser.tab("landing");
    await browser.pass(1);
    expect(statuses(tabs)).toEqual(tabs.map(() => "signed-in"));
  });

  it("a new page that finds what the others know makes none of them probe", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 3600 });
    const tabs = await openTabs(browser, 2, 2);
    const before = browser.server.probes().length;
    browser.tab("new");
    await browser.pass(1);
    expect(browser.server.probes()).toHaveLength(before + 1);
    expect(statuses(tabs)).toEqual(tabs.map(() => "signed-in"));
  });

  it("a change of the deadlines is fetched at once by a visible tab, and by a hidden one when it becomes visible", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 3600 });
    const [active, visible, hidden] = await openTabs(browser, 1, 2);
    await browser.pass(10);
    void active?.client.keepAlive();
    await browser.pass(1);
    const moved = active?.state.deadlines?.idle;
    expect(visible?.state.deadlines?.idle).toBe(moved);
    expect(hidden?.state.deadlines?.idle).not.toBe(moved);
    hidden?.show();
    await browser.pass(1);
    expect(hidden?.state.deadlines?.idle).toBe(moved);
  });

  it("when the server is available again, the other visible tabs probe at once", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tabs = await openTabs(browser, 0, 3);
    browser.server.outage = { status: 503, headers: { "Retry-After": "600" } };
    await browser.settled(Promise.all(tabs.map(({ client }) => client.refresh())));
    expect(statuses(tabs)).toEqual(tabs.map(() => "unavailable"));
    browser.server.outage = undefined;
    void tabs[0]?.client.refresh();
    await browser.pass(1);
    expect(statuses(tabs)).toEqual(tabs.map(() => "signed-in"));
  });

  it("an outage in one tab notifies none of the others", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tabs = await openTabs(browser, 0, 2);
    browser.server.outage = { status: 503, headers: { "Retry-After": "600" } };
    const asked = browser.server.probes("tab 1").length;
    void tabs[0]?.client.refresh();
    await browser.pass(1);
    expect(statuses(tabs)).toEqual(["unavailable", "signed-in"]);
    expect(browser.server.probes("tab 1")).toHaveLength(asked);
  });

  it.each([
    ["one of five visible tabs asks", true, 10],
    ["without Web Locks, each of five visible tabs asks", false, 50],
  ])("%s in each interval", async (_name, hasLocks, expected) => {
    const browser = Object.assign(new Browser(), { hasLocks });
    browser.server.signIn(ADA, { idle: 7200 });
    await openTabs(browser, 0, 5);
    // A new page does not know whether the others are up to date, so it moves no probe of theirs.
    await browser.pass(60);
    const before = browser.server.probes().length;
    await browser.pass(600);
    expect(browser.server.probes().length - before).toBe(expected);
  });

  it("a visible page shows new deadlines within a minute after another page has signed in again", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { maxAge: 600 });
    const [tab] = await openTabs(browser, 0);
    await browser.pass(10);
    browser.server.signIn(ADA, { maxAge: 28_800 });
    browser.tab("landing");
    await browser.pass(60);
    expect(Number(tab?.state.deadlines?.maxAge) - browser.clock.now()).toBeGreaterThan(28_000_000);
  });

  it("five visible tabs whose timers end at the same moment probe once, by the lock", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 7200 });
    const tabs = [1, 2, 3, 4, 5].map((index) => browser.tab(`tab ${String(index)}`));
    await browser.pass(30);
    expect(browser.server.probes()).toHaveLength(5);
    await browser.pass(600);
    expect(browser.server.probes()).toHaveLength(15);
    expect(browser.heldLocks.size).toBe(0);
    expect(statuses(tabs)).toEqual(tabs.map(() => "signed-in"));
  });

  it("in an outage no tab leaves its retries to another", async () => {
    const browser = new Browser();
    browser.server.outage = { status: 503, headers: { "Retry-After": "10" } };
    const tabs = [1, 2, 3].map((index) => browser.tab(`tab ${String(index)}`));
    await browser.pass(35);
    expect(tabs.map(({ probes }) => probes)).toEqual([4, 4, 4]);
  });

  it("without BroadcastChannel, each visible tab learns of a sign-out at its next probe", async () => {
    const browser = Object.assign(new Browser(), { hasChannels: false });
    browser.server.signIn(ADA);
    const tabs = await openTabs(browser, 1, 2);
    browser.server.signOut();
    await browser.pass(60);
    expect(statuses(tabs)).toEqual(["signed-out", "signed-out", "signed-in"]);
    tabs[2]?.show();
    await browser.pass(1);
    expect(tabs[2]?.state.status).toBe("signed-out");
  });

  it("a tab probes without the lock if the browser refuses it", async () => {
    const browser = new Browser();
    const tab = browser.tab();
    await browser.pass(1);
    Object.assign(tab.env.navigator, {
      locks: { request: () => Promise.reject(new DOMException("No.", "SecurityError")) },
    });
    await browser.pass(60);
    expect(tab.probes).toBe(2);
  });

  it("tabs of another mount path have nothing to do with each other", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab("other", { mountPath: "/other/" });
    await browser.pass(1);
    const sent = browser.server.requests.length;
    postFrom(browser, { account: null, changed: true });
    await browser.pass(1);
    expect(browser.server.requests).toHaveLength(sent);
    expect(tab.state.status).toBe("unavailable");
  });
});

describe("a forged hint changes nothing but when the tab probes", () => {
  it.each([
    [{ account: null, changed: true }],
    [{ account: BOB.account, changed: true }],
    [{ account: BOB.account, changed: false }],
    [{ account: ADA.account, changed: true }],
    [{ type: "signed-in", attempt: "forged" }],
    [{ type: "signed-in", attempt: { toString: 1 } }],
    [{ type: "signed-in", attempt: "__proto__" }],
    [{}],
    [{ account: { status: "signed-out" }, reason: "denied", user: { name: "Mallory" } }],
    ["signed-out"],
    [42],
  ])("%j", async (hint) => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 3600 });
    const tab = browser.tab();
    await browser.pass(1);
    const { state, probes } = tab;
    const told: unknown[] = [];
    tab.client.subscribe((next) => told.push(next));
    postFrom(browser, hint);
    await browser.pass(1);
    expect(tab.state).toBe(state);
    expect(tab.probes).toBe(probes + 1);
    expect(told).toEqual([]);
  });

  it.each([null, { type: "received", attempt: "x" }])("%j is ignored", async (hint) => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    postFrom(browser, hint);
    await browser.pass(1);
    expect(tab.state.status).toBe("signed-in");
    expect(tab.probes).toBe(1);
  });

  it("a hint that nothing has changed does not hide another user from the tab", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    browser.server.signIn(BOB);
    postFrom(browser, { account: BOB.account, changed: false });
    await browser.pass(1);
    expect(tab.state.account).toBe(BOB.account);
  });

  it("a hint does not keep a tab from its first probe", async () => {
    const browser = new Browser();
    browser.server.latency.there = 500;
    const tab = browser.tab("tab", {}, { isVisible: false });
    postFrom(browser, { account: null, changed: false });
    await browser.pass(1);
    tab.show();
    await browser.pass(2);
    expect(tab.state.status).toBe("signed-out");
  });
});

describe("a change of user", () => {
  it("is notified after the state has changed, once, and only if another user was known", async () => {
    const browser = new Browser();
    const changes: unknown[] = [];
    const tab = browser.tab("tab", {
      onUserChange: (state) => changes.push([state.account, tab.state.account]),
    });
    const refresh = () => browser.settled(tab.client.refresh());
    await refresh();
    browser.server.signIn(ADA);
    await refresh();
    browser.server.signOut();
    await refresh();
    browser.server.signIn(ADA);
    await refresh();
    expect(changes).toEqual([]);
    browser.server.signOut();
    await refresh();
    expect(changes).toEqual([]);
    browser.server.signIn(BOB);
    await refresh();
    await refresh();
    expect(changes).toEqual([[BOB.account, BOB.account]]);
    browser.server.signIn(ADA);
    await refresh();
    expect(changes).toHaveLength(2);
  });

  it("is notified after an outage, too", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const changes: unknown[] = [];
    const tab = browser.tab("tab", { onUserChange: ({ account }) => changes.push(account) });
    await browser.pass(1);
    browser.server.outage = { status: 503 };
    await browser.settled(tab.client.refresh());
    browser.server.outage = undefined;
    browser.server.signIn(BOB);
    await browser.settled(tab.client.refresh());
    expect(changes).toEqual([BOB.account]);
  });
});
