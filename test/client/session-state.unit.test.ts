import { describe, expect, it, vi } from "vitest";
import { createClient } from "../../src/client/client.js";
import { Browser, postFrom } from "./browser.js";
import { ADA, BOB, ORIGIN } from "./session-server.js";

const SIGNED_OUT = {
  status: "signed-out",
  user: null,
  account: null,
  provider: null,
  data: null,
  deadlines: null,
};

describe("the state", () => {
  it("is loading until the first probe has its response, then signed in", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { maxAge: 600 });
    browser.server.data = { role: "admin" };
    const tab = browser.tab();
    expect(tab.state).toEqual({ ...SIGNED_OUT, status: "loading", reason: null });
    await browser.pass(1);
    expect(tab.state).toMatchObject({
      status: "signed-in",
      user: { name: "Ada" },
      account: ADA.account,
      data: { role: "admin" },
      reason: null,
    });
    const [probe] = browser.server.requests;
    expect(probe).toMatchObject({
      method: "GET",
      target: "/idpauth/session?details=true&slide=false",
    });
    expect(probe?.headers.get("Accept")).toBe("application/json");
  });

  it("is signed out with the server's reason", async () => {
    const browser = new Browser();
    browser.server.signOut("max_age");
    const tab = browser.tab();
    await browser.pass(1);
    expect(tab.state).toEqual({ ...SIGNED_OUT, reason: "max_age" });
  });

  it("is a frozen object, the same one until something changes, and each listener gets it once", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    const told: unknown[] = [];
    const stop = tab.client.subscribe((state) => told.push(state));
    await browser.pass(1);
    const { state } = tab;
    expect(Object.isFrozen(state) && Object.isFrozen(state.deadlines)).toBe(true);
    expect(await browser.settled(tab.client.refresh())).toBe(state);
    expect(told).toEqual([state]);
    stop();
    browser.server.signIn(BOB);
    expect((await browser.settled(tab.client.refresh())).user?.name).toBe("Bob");
    expect(told).toHaveLength(1);
  });

  it("changes when only the application's data changes", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    browser.server.data = { theme: "dark" };
    const tab = browser.tab();
    await browser.pass(1);
    browser.server.data = { theme: "light" };
    expect((await browser.settled(tab.client.refresh())).data).toEqual({ theme: "light" });
  });

  it("starts as the server rendered the page, and probes once to learn what has changed since", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { maxAge: 600 });
    const initialState = browser.server.details();
    browser.server.signOut("ended_everywhere");
    const tab = browser.tab("tab", { initialState });
    expect(tab.state).toMatchObject({
      status: "signed-in",
      user: { name: "Ada" },
      deadlines: { maxAge: browser.clock.now() + 600_000 },
    });
    const first = tab.state;
    await browser.pass(1);
    expect(tab.state).toMatchObject({ status: "signed-out", reason: "ended_everywhere" });
    expect(tab.client.getInitialState()).toBe(first);
    expect(tab.probes).toBe(1);
  });

  it("a listener that throws keeps no other from the state; the browser reports its error", async () => {
    const browser = new Browser();
    const tab = browser.tab();
    const told: string[] = [];
    tab.client.subscribe(() => {
      throw new Error("of a listener");
    });
    tab.client.subscribe(({ status }) => told.push(status));
    await browser.pass(1);
    expect(told).toEqual(["signed-out"]);
    expect(tab.errors).toEqual([new Error("of a listener")]);
    expect(await browser.settled(tab.client.refresh())).toMatchObject({ status: "signed-out" });
  });

  it("a probe goes to the origin of the page, not that of its base element, and past any cache", async () => {
    const browser = new Browser();
    const tab = browser.tab("tab", { mountPath: "/team/auth/" });
    const fetch = vi.spyOn(tab.env, "fetch");
    await browser.settled(tab.client.keepAlive());
    expect(fetch.mock.calls[0]?.[0]).toBe(`${ORIGIN}/team/auth/session?details=true`);
    expect(fetch.mock.calls[0]?.[1]).toMatchObject({ cache: "no-store" });
  });
});

describe("an outage", () => {
  const OUTAGES = {
    "a 503 whose body says signed out": { status: 503 },
    "a 500": { status: 500, body: "oops" },
    "a proxy's 502": { status: 502, body: "<html>" },
    "a 404": { status: 404, body: "{}" },
    "a page of another login with status 200": {
      status: 200,
      body: "<!doctype html><title>Wi-Fi login</title>",
    },
    "JSON with status 200 that is no probe": {
      status: 200,
      body: '{"authenticated":"no","account":null}',
    },
    "a signed-in probe without an account": {
      status: 200,
      body: '{"authenticated":true,"user":{},"account":null}',
    },
    "a signed-out body that has an account": {
      status: 200,
      body: '{"authenticated":false,"user":null,"account":"x"}',
    },
    "JSON null": { status: 200, body: "null" },
    "an empty response": { status: 204, body: "" },
    "a failure of the network": "network",
  } as const;

  it.each(Object.entries(OUTAGES))(
    "%s: unavailable, with the last known user",
    async (_name, outage) => {
      const browser = new Browser();
      browser.server.signIn(ADA, { idle: 600 });
      browser.server.data = { role: "admin" };
      const tab = browser.tab();
      await browser.pass(1);
      const known = tab.state;
      browser.server.outage = outage;
      const state = await browser.settled(tab.client.refresh());
      expect(state).toEqual({ ...known, status: "unavailable" });
      browser.server.outage = undefined;
      expect(await browser.settled(tab.client.refresh())).toEqual(known);
    },
  );

  it("before the first response: unavailable without a user", async () => {
    const browser = new Browser();
    browser.server.outage = { status: 503 };
    const tab = browser.tab();
    await browser.pass(1);
    expect(tab.state).toEqual({ ...SIGNED_OUT, status: "unavailable", reason: null });
  });

  it("a server that does not respond for 30 seconds is unavailable", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    browser.server.latency.there = 1e9;
    const tab = browser.tab("tab", { probeInterval: 1000 });
    await browser.pass(29);
    expect(tab.state.status).toBe("loading");
    await browser.pass(2);
    expect(tab.state.status).toBe("unavailable");
  });
});

describe("a late response", () => {
  it("changes nothing after the application's request has met the end of the session", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    browser.server.latency.back = 5000;
    const late = tab.client.refresh();
    await browser.pass(1);
    browser.server.latency.back = 1;
    browser.server.signOut("ended_everywhere");
    void tab.client.fetch("/api/items");
    // The probe began before the request, so the request's response is not the newer one for sure:
    // it is asked again.
    await browser.pass(1);
    expect(tab.state).toMatchObject({ status: "signed-out", reason: "ended_everywhere" });
    await browser.pass(10);
    expect(tab.state.status).toBe("signed-out");
    expect((await late).status).toBe("signed-out");
  });

  it("changes nothing after a newer probe", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    browser.server.latency.back = 5000;
    const late = tab.client.refresh();
    await browser.pass(1);
    browser.server.latency.back = 1;
    browser.server.signOut();
    postFrom(browser, { account: null, changed: true });
    await browser.pass(1);
    expect(tab.state.status).toBe("signed-out");
    await browser.pass(10);
    expect((await late).status).toBe("signed-out");
    expect(tab.state.status).toBe("signed-out");
  });

  it("changes nothing while the page signs out", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    const { state } = tab;
    browser.server.latency.back = 60;
    browser.server.data = { of: "the late response" };
    const late = tab.client.refresh();
    await browser.pass(0.01);
    void tab.client.signOut();
    browser.server.signOut();
    await browser.pass(0.06);
    expect(tab.state).toBe(state);
    expect(await late).toBe(state);
  });

  it("is never the result of refresh, which an ended stream of the page calls", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    browser.server.latency.back = 500;
    const early = tab.client.refresh();
    await browser.pass(0.1);
    browser.server.signOut("ended_everywhere");
    const states = await browser.settled(Promise.all([early, tab.client.refresh()]));
    expect(states).toEqual(
      Array(2).fill(expect.objectContaining({ status: "signed-out", reason: "ended_everywhere" })),
    );
    expect(tab.state).toBe(states[0]);
  });
});

describe("on a server", () => {
  it("a client keeps its initial state and requests nothing", async () => {
    const fetch = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("requested"));
    const browser = new Browser();
    browser.server.signIn(ADA);
    const rendered = createClient({
      initialState: browser.server.details(),
      trackActivity: false,
      events: true,
    });
    const other = createClient();
    const stop = other.subscribe(() => undefined);
    expect(rendered.getState()).toMatchObject({ status: "signed-in", user: { name: "Ada" } });
    expect(rendered.getInitialState()).toBe(rendered.getState());
    expect(await rendered.refresh()).toBe(rendered.getState());
    expect(await other.keepAlive()).toMatchObject({ status: "loading" });
    expect(fetch).not.toHaveBeenCalled();
    stop();
    other.close();
    fetch.mockRestore();
  });
});
