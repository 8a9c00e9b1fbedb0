import { describe, expect, it } from "vitest";
import {
  departed,
  ended,
  heard,
  hinted,
  leaving,
  responded,
  superseded,
  type Probe,
  type Step,
  type TabState,
} from "../../src/client/session-reducer.js";
import type { SignedIn } from "../../src/client/session-state.js";
import { LOADING, signedOut } from "../../src/client/make-session-state.js";
import { Browser } from "./browser.js";
import { ADA, BOB, type User } from "./session-server.js";

/** The state of a signed-in user. */
function signedIn({ account, name }: User, provider: string | null = null): SignedIn<object> {
  return {
    ...LOADING,
    status: "signed-in",
    user: { name, email: null, picture: null },
    account,
    provider,
    deadlines: { idToken: null, maxAge: null, idle: null, sessionExpiry: null, end: null },
  };
}

const NEW: TabState = {
  session: LOADING,
  account: null,
  provider: null,
  generation: 0,
  heardAt: 0,
  isLeaving: false,
};
const OUTAGE = 0;

/** The tab after a probe with this result. */
function probed(tab: TabState, result: Parameters<typeof responded>[2], probe: Probe = {}): Step {
  return responded(superseded(tab, probe), probe, result);
}

/** The tab after a step, when the other tabs have been told of it. */
function told({ tell: _, ...tab }: Step): TabState {
  return tab;
}

/** A tab in which a user is signed in, as the server has said. */
const tabOf = (user: User, provider?: string): TabState =>
  heard(told(probed(NEW, signedIn(user, provider))), 1);

describe("a response", () => {
  it.each([
    ["another probe", (tab: TabState) => superseded(tab, {})],
    ["one with the same options", (tab: TabState) => superseded(tab, { slide: true })],
    ["an end of the session", (tab: TabState) => ended(tab, "idle")],
    ["the beginning of a sign-out", leaving],
    ["a return from the back/forward cache, or close()", (tab: TabState) => superseded(tab)],
  ])("changes nothing after %s", (_name, event) => {
    const probe = { slide: true };
    const later = event(superseded(tabOf(ADA), probe));
    for (const result of [signedIn(BOB), signedOut("max_age"), OUTAGE])
      expect(responded(later, probe, result)).toBe(later);
  });

  it("counts once", () => {
    const probe = {};
    const tab = responded(superseded(tabOf(ADA), probe), probe, signedIn(BOB));
    expect(tab.account).toBe(BOB.account);
    expect(responded(tab, probe, signedIn(ADA))).toBe(tab);
  });

  it("counts although the tab has heard of another one meanwhile, and of a sign-out", () => {
    const probe = {};
    const tab = hinted(heard(superseded(tabOf(ADA), probe), 2), { left: true });
    expect(responded(tab, probe, signedIn(BOB))).toMatchObject({
      account: BOB.account,
      left: false,
      probe: undefined,
    });
  });

  it("leaves the state as it is, the same object, if nothing has changed", () => {
    const tab = tabOf(ADA);
    expect(probed(tab, signedIn(ADA)).session).toBe(tab.session);
  });

  it("of an outage keeps the user, and the other tabs hear nothing", () => {
    const tab = probed(tabOf(ADA), OUTAGE);
    expect(tab.session).toEqual({ ...signedIn(ADA), status: "unavailable" });
    expect(tab).toMatchObject({ account: ADA.account, probe: undefined });
    expect(tab.tell).toBeUndefined();
  });
});

describe("what the other tabs hear of a response", () => {
  it("of the first one: the account, and not whether anything has changed", () => {
    expect(probed(NEW, signedIn(ADA)).tell).toEqual({
      left: false,
      account: ADA.account,
      changed: undefined,
    });
  });

  it("of a later one: whether it has changed", () => {
    const tab = tabOf(ADA);
    expect(probed(tab, signedIn(ADA)).tell?.changed).toBe(false);
    expect(probed(tab, signedIn(BOB)).tell?.changed).toBe(true);
  });

  it("nothing, if their own hint was the reason for the probe", () => {
    expect(probed(tabOf(ADA), signedOut("idle"), { isHinted: true }).tell).toBeUndefined();
  });
});

describe("an end of the session that a response other than a probe's reports", () => {
  it("while a probe is under way counts, and the probe no longer does", () => {
    const before = superseded(tabOf(ADA), {});
    const tab = ended(before, "max_age");
    expect(tab.session).toEqual(signedOut("max_age"));
    expect(tab.tell).toEqual({ left: false, account: null, changed: true });
    expect(tab.probe).toBeUndefined();
    expect(tab.generation).toBe(before.generation + 1);
  });

  it("is a logout if another tab has signed out", () => {
    const before = superseded(hinted(tabOf(ADA), { left: true }), { isHinted: true });
    for (const reason of [null, undefined, "no_credentials"] as const)
      expect(ended(before, reason).session).toEqual(signedOut("logout"));
    expect(ended(before, "idle").session).toEqual(signedOut("idle"));
    expect(ended(tabOf(ADA), null).session).toEqual(signedOut("no_credentials"));
    // The probe that would have found out is no longer under way.
    const late = hinted(ended(tabOf(ADA), null), { left: true });
    expect(ended(superseded(late, { isHinted: true }), null).session).toEqual(signedOut("logout"));
  });

  it("that is known already is a new state with the same reason, and the other tabs hear nothing", () => {
    const before = ended(tabOf(ADA), "max_age");
    const tab = ended(told(before), "idle");
    expect(tab.session).not.toBe(before.session);
    expect(tab.session).toEqual(signedOut("max_age"));
    expect(tab.tell).toBeUndefined();
  });
});

describe("a page that signs out", () => {
  const told = { left: true, account: null, changed: true };

  it("keeps its state when the server confirms the sign-out, and the other tabs hear of it, even if they hinted", () => {
    const before = leaving(tabOf(ADA));
    for (const probe of [{}, { isHinted: true }]) {
      const tab = probed(before, signedOut(null), probe);
      expect(tab.session).toBe(before.session);
      expect(tab).toMatchObject({ isLeaving: false, left: true, tell: told });
    }
  });

  it("shows it at the next probe if the browser has not left the page, as a logout", () => {
    const gone = probed(leaving(tabOf(ADA)), signedOut(null));
    expect(probed(gone, signedOut(null)).session).toMatchObject({ reason: "logout" });
  });

  it("still signs out after an outage, and as long as the server says signed in", () => {
    const before = leaving(tabOf(ADA));
    for (const result of [OUTAGE, signedIn(ADA)])
      expect(probed(before, result)).toMatchObject({ isLeaving: true });
  });

  it("tells the other tabs when the browser leaves it", () => {
    expect(departed(leaving(tabOf(ADA)))).toMatchObject({ left: true, tell: told });
  });
});

describe("a tab that has heard of a sign-out in another tab", () => {
  const tab = hinted(tabOf(ADA), { account: null, left: true });

  it("believes only the server", () => {
    expect(tab.session).toEqual(signedIn(ADA));
    expect(probed(tab, signedIn(ADA))).toMatchObject({ left: false });
  });

  it.each([
    ["no_credentials", "logout"],
    ["idle", "idle"],
  ] as const)("shows the server's reason %s as %s", (reason, expected) => {
    expect(probed(tab, signedOut(reason)).session.reason).toBe(expected);
  });

  it("forgets it when a user has signed in", () => {
    const later = probed(probed(tab, signedOut(null)), signedIn(ADA));
    expect(probed(later, signedOut(null)).session.reason).toBe("no_credentials");
  });

  it("remembers it when another tab, which doesn't know, posts something", () => {
    expect(hinted(tab, { account: null }).left).toBe(true);
  });
});

describe("with several providers", () => {
  it("the provider of the newest session counts, also after its end and in an outage", () => {
    const staff = probed(tabOf(ADA, "customers"), signedIn(BOB, "staff"));
    for (const tab of [
      staff,
      ended(staff, "idle"),
      probed(staff, signedOut("max_age")),
      probed(staff, OUTAGE),
      probed(probed(staff, signedOut(null)), OUTAGE),
    ])
      expect(tab).toMatchObject({ provider: "staff", account: BOB.account });
  });

  it("a late response of another provider's session changes neither provider nor account", () => {
    const probe = {};
    const later = probed(superseded(tabOf(ADA, "customers"), probe), signedIn(BOB, "staff"));
    expect(responded(later, probe, signedIn(ADA, "customers"))).toMatchObject({
      provider: "staff",
      account: BOB.account,
    });
  });

  it("a provider that the application doesn't have any more is forgotten, and the account isn't", () => {
    const tab = ended(tabOf(ADA, "customers"), "provider_removed");
    expect(tab).toMatchObject({ provider: null, account: ADA.account });
    expect(probed(tab, signedIn(ADA, "staff")).provider).toBe("staff");
  });
});

describe("a page whose probe is under way", () => {
  it.each(["focus", "visibilitychange", "online"])("sends no second one at %s", async (event) => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(60);
    browser.server.latency.back = 500;
    void tab.client.refresh();
    await browser.pass(0.1);
    const { probes } = tab;
    browser.clock.setNow(browser.clock.now() + 10_000);
    tab.fire(event);
    await browser.pass(0.1);
    expect(tab.probes).toBe(probes);
  });

  it("sends a second one for refresh(), which needs a response from now on", async () => {
    const browser = new Browser();
    const tab = browser.tab();
    await browser.pass(1);
    browser.server.latency.back = 500;
    void tab.client.refresh();
    await browser.pass(0.1);
    const { probes } = tab;
    void tab.client.refresh();
    await browser.pass(0.1);
    expect(tab.probes).toBe(probes + 1);
  });
});
