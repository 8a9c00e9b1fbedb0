import { describe, expect, it } from "vitest";
import type { ClientOptions } from "../../src/client/client-interface.js";
import { UserChangedError } from "../../src/client/client.js";
import { postFrom, type Tab } from "./browser.js";
import { ADA, BOB, ORIGIN } from "./session-server.js";
import { outcome, signedInTab } from "./signed-in-tab.js";

const LOGIN = "/idpauth/login/?max_age=300&acr_values=mfa";
const OUTAGE = { status: 503, headers: { "Retry-After": "5" } };

const query = (url: string) => Object.fromEntries(new URL(url).searchParams);
const attemptOf = (tab: Tab) =>
  query(query(tab.windows.at(-1)?.url ?? "")["origin_url"] ?? "")["attempt"];
/** The newest window reports how its login has ended. */
const report = (tab: Tab, failure?: string) =>
  postFrom(tab.browser, {
    type: failure === undefined ? "signed-in" : "failed",
    attempt: attemptOf(tab),
    failure,
  });

async function closeWindow(tab: Tab): Promise<void> {
  tab.windows.at(-1)!.closed = true;
  tab.fire("focus");
  await tab.browser.pass(1);
}

describe("stepUp", () => {
  it("is done when the window reports it: the page navigates nowhere, and the window can't reach it", async () => {
    const { browser, tab } = await signedInTab();
    const result = tab.client.stepUp({ maxAge: 300, acr: ["mfa", "pin"] });
    expect(query(tab.windows[0]?.url ?? "")).toEqual({
      max_age: "300",
      acr_values: "mfa pin",
      scheme: "PRESERVE_ORIGIN_QP",
      origin_url: `${ORIGIN}/idpauth/popup?attempt=${attemptOf(tab) ?? ""}`,
    });
    expect(tab.windows[0]?.opener).toBeNull();
    await browser.pass(600);
    expect(await outcome(result)).toBe("pending");
    report(tab);
    expect(await browser.settled(result)).toBe("done");
    expect(tab.navigations).toEqual([]);
  });

  it.each([
    [{ maxAge: 0 }, { max_age: "0" }],
    [{ acr: "mfa" }, { acr_values: "mfa" }],
    [{}, {}],
  ])("%j asks for %j", async (options, asked) => {
    const { tab } = await signedInTab();
    void tab.client.stepUp(options);
    const { scheme, origin_url: page, ...own } = query(tab.windows[0]?.url ?? "");
    expect([own, scheme !== undefined, page !== undefined]).toEqual([asked, true, true]);
  });

  it.each([
    ["cancelled", "cancelled"],
    ["step_up_failed", "failed"],
    ["provider_unavailable", "failed"],
  ])("if the window reports %s, it is %s", async (failure, expected) => {
    const { browser, tab } = await signedInTab();
    const result = tab.client.stepUp({ maxAge: 300 });
    report(tab, failure);
    expect(await browser.settled(result)).toBe(expected);
    expect(tab.state.status).toBe("signed-in");
  });

  it("is blocked if the browser opens no window", async () => {
    const { tab } = await signedInTab();
    tab.blocksWindows = true;
    expect(await tab.client.stepUp({ maxAge: 300 })).toBe("blocked");
    expect(tab.navigations).toEqual([]);
  });

  it("is cancelled if the user closes the window, also during an outage, after it", async () => {
    const { browser, tab } = await signedInTab();
    const first = tab.client.stepUp({ maxAge: 300 });
    await closeWindow(tab);
    expect(await outcome(first)).toBe("cancelled");
    const second = tab.client.stepUp({ maxAge: 300 });
    browser.server.outage = OUTAGE;
    await closeWindow(tab);
    expect(await outcome(second)).toBe("pending");
    browser.server.outage = undefined;
    await browser.pass(10);
    expect(await outcome(second)).toBe("cancelled");
  });

  it("is done by a window that only looks closed, as the provider cuts it off", async () => {
    const { browser, tab } = await signedInTab();
    const result = tab.client.stepUp({ maxAge: 300 });
    tab.windows[0]!.closed = true;
    await browser.pass(30);
    report(tab);
    expect(await browser.settled(result)).toBe("done");
  });

  it("has failed if the user is another one by then, in whichever tab", async () => {
    const { browser, tab } = await signedInTab();
    const reported = tab.client.stepUp({ maxAge: 300 });
    browser.server.signIn(BOB);
    browser.tab("other");
    await browser.pass(1);
    report(tab);
    expect(await browser.settled(reported)).toBe("failed");
    const closed = tab.client.stepUp({ maxAge: 300 });
    browser.server.signIn(ADA);
    await closeWindow(tab);
    expect(await outcome(closed)).toBe("failed");
  });

  it("is done if the same user has signed in again after a sign-out in another tab", async () => {
    const { browser, tab } = await signedInTab();
    const result = tab.client.stepUp({ maxAge: 300 });
    browser.server.signOut();
    await browser.settled(tab.client.refresh());
    browser.server.signIn(ADA);
    report(tab);
    expect(await browser.settled(result)).toBe("done");
  });

  it("is cancelled when the client is closed, and opens no window after that", async () => {
    const { browser, tab } = await signedInTab();
    const result = tab.client.stepUp({ maxAge: 300 });
    const { probes } = tab;
    tab.client.close();
    expect(await browser.settled(result)).toBe("cancelled");
    expect(await tab.client.stepUp({ maxAge: 300 })).toBe("blocked");
    expect([tab.windows.length, tab.probes]).toEqual([1, probes]);
  });

  it("shares the window with another one at the same time, and with no later one", async () => {
    const { browser, tab } = await signedInTab();
    const both = Promise.all([
      tab.client.stepUp({ maxAge: 300 }),
      tab.client.stepUp({ acr: "mfa" }),
    ]);
    expect(tab.windows).toHaveLength(1);
    report(tab);
    expect(await browser.settled(both)).toEqual(["done", "done"]);
    void tab.client.stepUp({ maxAge: 300 });
    expect(tab.windows).toHaveLength(2);
  });
});

describe("fetch with stepUp", () => {
  /** A request that has met the demand for a step-up. */
  async function demanded(options: ClientOptions = {}, init: RequestInit = {}) {
    const { browser, tab } = await signedInTab(options);
    browser.server.stepUpLogin = LOGIN;
    const response = tab.client.fetch("/api/pay", {
      method: "POST",
      body: "10 EUR",
      stepUp: true,
      ...init,
    });
    response.catch(() => undefined);
    await browser.pass(1);
    const sent = () => browser.server.requests.filter(({ target }) => target === "/api/pay").length;
    return { browser, tab, response, sent };
  }

  it("opens the login that the 401 names, and is repeated once, with its body", async () => {
    const { browser, tab, response, sent } = await demanded();
    expect(query(tab.windows[0]?.url ?? "")).toMatchObject({ max_age: "300", acr_values: "mfa" });
    browser.server.stepUpLogin = undefined;
    report(tab);
    expect((await browser.settled(response)).status).toBe(200);
    expect([browser.server.taken, sent()]).toEqual([["10 EUR"], 2]);
  });

  it("returns the second 401 if the step-up did not help", async () => {
    const { browser, tab, response, sent } = await demanded();
    report(tab);
    expect((await browser.settled(response)).status).toBe(401);
    expect([tab.windows.length, sent()]).toEqual([1, 2]);
  });

  it.each(["step_up_failed", "cancelled"])(
    "returns the 401, with its body, if the window reports %s",
    async (failure) => {
      const { browser, tab, response, sent } = await demanded({ whenSignedOut: "navigate" });
      report(tab, failure);
      const { status, body } = await browser
        .settled(response)
        .then(async (one) => ({ status: one.status, body: (await one.json()) as object }));
      expect([status, body]).toEqual([401, expect.objectContaining({ login_url: LOGIN })]);
      expect([tab.navigations, sent()]).toEqual([[], 1]);
    },
  );

  it("returns the 401 if the browser opens no window, the client is closed, or the user is another one by then", async () => {
    const { browser, tab, response } = await demanded();
    tab.client.close();
    expect((await browser.settled(response)).status).toBe(401);

    const blocked = await signedInTab();
    blocked.tab.blocksWindows = true;
    blocked.browser.server.stepUpLogin = LOGIN;
    const second = blocked.tab.client.fetch("/api/pay", { stepUp: true });
    expect((await blocked.browser.settled(second)).status).toBe(401);
    expect(blocked.tab.navigations).toEqual([]);

    const other = await demanded();
    other.browser.server.stepUpLogin = undefined;
    other.browser.server.signIn(BOB);
    report(other.tab);
    expect((await other.browser.settled(other.response)).status).toBe(401);
    expect(other.browser.server.taken).toEqual([]);
  });

  it("opens no window unless it is asked to, or for the login of another API", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.stepUpLogin = LOGIN;
    expect((await browser.settled(tab.client.fetch("/api/pay"))).status).toBe(401);
    browser.server.stepUpLogin = "https://other.example/idpauth/login/?max_age=300";
    const other = tab.client.fetch("/api/pay", { stepUp: true });
    expect((await browser.settled(other)).status).toBe(401);
    expect(tab.windows).toEqual([]);
  });

  it("waits first if the user is signed out, and then for the step-up", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.signOut("idle");
    const response = tab.client.fetch("/api/pay", { stepUp: true });
    await browser.pass(1);
    expect(tab.windows).toEqual([]);
    browser.server.stepUpLogin = LOGIN;
    browser.server.signIn(ADA);
    await browser.settled(tab.client.refresh());
    await browser.pass(1);
    expect(tab.windows).toHaveLength(1);
    browser.server.stepUpLogin = undefined;
    report(tab);
    expect((await browser.settled(response)).status).toBe(200);
  });

  it("requests at the same time share the window, and each is repeated once", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.stepUpLogin = LOGIN;
    const both = Promise.all(
      ["1", "2"].map((body) =>
        tab.client.fetch("/api/pay", { method: "POST", body, stepUp: true }),
      ),
    );
    await browser.pass(1);
    expect(tab.windows).toHaveLength(1);
    browser.server.stepUpLogin = undefined;
    report(tab);
    await browser.settled(both);
    expect(browser.server.taken.toSorted()).toEqual(["1", "2"]);
  });

  it("rejects as soon as its signal aborts, and isn't sent again", async () => {
    const abort = new AbortController();
    const { browser, response, sent } = await demanded({}, { signal: abort.signal });
    expect(await outcome(response)).toBe("pending");
    const reason = new Error("The user has left the page.");
    abort.abort(reason);
    await expect(browser.settled(response)).rejects.toBe(reason);
    expect(sent()).toBe(1);
  });

  it("rejects, and opens no window, if another user has signed in while it was on its way", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.stepUpLogin = LOGIN;
    browser.server.latency.back = 5000;
    const response = tab.client.fetch("/api/pay", { method: "POST", body: "1", stepUp: true });
    response.catch(() => undefined);
    await browser.pass(1);
    browser.server.latency.back = 1;
    browser.server.signIn(BOB);
    await browser.settled(tab.client.refresh());
    browser.server.stepUpLogin = undefined;
    await browser.pass(5);
    await expect(response).rejects.toThrow(UserChangedError);
    expect([tab.windows, browser.server.taken]).toEqual([[], []]);
  });

  it("rejects if another user has signed in while it waited for a sign-in", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.signOut("idle");
    const response = tab.client.fetch("/api/pay", { stepUp: true });
    response.catch(() => undefined);
    await browser.pass(1);
    browser.server.signIn(BOB);
    await browser.settled(tab.client.refresh());
    await expect(browser.settled(response)).rejects.toThrow(UserChangedError);
  });
});
