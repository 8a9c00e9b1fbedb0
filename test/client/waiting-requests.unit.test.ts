import { describe, expect, it, vi } from "vitest";
import type { ClientOptions } from "../../src/client/client-interface.js";
import { UserChangedError } from "../../src/client/client.js";
import { Browser } from "./browser.js";
import { ADA, BOB, ORIGIN } from "./session-server.js";
import { outcome as outcomeOf, signedInTab } from "./signed-in-tab.js";

/** The status of the response, or what else has become of the request by now. */
const outcome = (response: Promise<Response>) => outcomeOf(response.then(({ status }) => status));

const api = (browser: Browser) =>
  browser.server.requests.filter(({ target }) => target.startsWith("/api/"));

describe("fetch", () => {
  it("sends the header X-Idpauth, and what the application gives", async () => {
    const { browser, tab } = await signedInTab();
    const response = await browser.settled(
      tab.client.fetch("/api/items?n=1", {
        method: "PUT",
        body: "text",
        headers: { "X-Own": "2" },
      }),
    );
    expect(response.status).toBe(200);
    const [request] = api(browser);
    expect(request).toMatchObject({ method: "PUT", target: "/api/items?n=1", body: "text" });
    expect(request?.headers.get("X-Idpauth")).toBe("1");
    expect(request?.headers.get("X-Own")).toBe("2");
  });

  it.each([
    "https://other.example/api",
    "//other.example/api",
    "http://app.example/api",
    "https://app.example:8443/",
    "data:,x",
  ])("refuses %s with a TypeError before anything is sent", async (url) => {
    const { browser, tab } = await signedInTab();
    const fetch = vi.spyOn(tab.env, "fetch");
    await expect(browser.settled(tab.client.fetch(url))).rejects.toThrow(TypeError);
    await expect(
      browser.settled(tab.client.fetch(new Request(new URL(url, ORIGIN)))),
    ).rejects.toThrow("Another origin");
    expect(fetch).not.toHaveBeenCalled();
  });

  it("after a 401 of idpauth the page is signed out with its reason, and the request waits", async () => {
    const { browser, tab } = await signedInTab();
    const other = browser.tab("other");
    await browser.pass(1);
    browser.server.signOut("max_age");
    const waiting = tab.client.fetch("/api/items");
    await browser.pass(1);
    expect(tab.state).toMatchObject({ status: "signed-out", reason: "max_age" });
    expect(other.state.status).toBe("signed-out");
    await browser.pass(600);
    expect(await outcome(waiting)).toBe("pending");
    expect(api(browser)).toHaveLength(1);
  });

  it("each later request that gets a 401 is news for the listeners, since one more request waits", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.signOut("idle");
    const states: unknown[] = [];
    tab.client.subscribe((state) => states.push(state));
    for (const count of [1, 2, 3]) {
      void tab.client.fetch("/api/items");
      await browser.pass(1);
      expect(new Set(states).size).toBe(count);
    }
    expect(states).toEqual(
      Array(3).fill(expect.objectContaining({ status: "signed-out", reason: "idle" })),
    );
    await browser.settled(tab.client.refresh());
    expect(states).toHaveLength(3);
  });

  it("a 401 that overlaps a probe is news, too, and no reason for the other tabs to probe", async () => {
    const { browser, tab } = await signedInTab();
    const other = browser.tab("other");
    await browser.pass(1);
    browser.server.signOut("idle");
    await browser.settled(tab.client.refresh());
    await browser.pass(1);
    const states: unknown[] = [];
    tab.client.subscribe((state) => states.push(state));
    const probes = other.probes;
    void tab.client.fetch("/api/items");
    void tab.client.refresh();
    await browser.pass(1);
    expect(states).toEqual([expect.objectContaining({ status: "signed-out", reason: "idle" })]);
    expect(other.probes).toBe(probes);
  });

  it("after the same user has signed in again, in whichever tab, the request is repeated once, with its body", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.signOut("idle");
    const waiting = tab.client.fetch("/api/items", {
      method: "POST",
      body: JSON.stringify({ draft: "ä".repeat(10_000) }),
    });
    await browser.pass(10);
    browser.server.signIn(ADA);
    browser.tab("landing");
    expect((await browser.settled(waiting)).status).toBe(200);
    expect(browser.server.taken).toEqual([JSON.stringify({ draft: "ä".repeat(10_000) })]);
    expect(api(browser).map(({ method }) => method)).toEqual(["POST", "POST"]);
    expect(api(browser)[1]?.headers.get("X-Idpauth")).toBe("1");
  });

  it("ten requests that wait are repeated once each", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.signOut("idle");
    const waiting = Promise.all(
      [..."0123456789"].map((body) => tab.client.fetch("/api/items", { method: "POST", body })),
    );
    await browser.pass(10);
    browser.server.signIn(ADA);
    await browser.settled(tab.client.refresh());
    expect((await browser.settled(waiting)).map(({ status }) => status)).toEqual(
      Array(10).fill(200),
    );
    expect(browser.server.taken.toSorted()).toEqual([..."0123456789"]);
    expect(api(browser)).toHaveLength(20);
  });

  it("a request is not repeated for another user", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.signOut("idle");
    const waiting = tab.client.fetch("/api/items", { method: "DELETE" });
    waiting.catch(() => undefined);
    await browser.pass(10);
    browser.server.signIn(BOB);
    await browser.settled(tab.client.refresh());
    await expect(waiting).rejects.toBeInstanceOf(UserChangedError);
    await expect(waiting).rejects.toMatchObject({
      name: "UserChangedError",
      message: "Another user",
    });
    expect(browser.server.taken).toEqual([]);
    expect(api(browser)).toHaveLength(1);
  });

  it("a request of an unknown user, before the first probe, is repeated for the user who signs in", async () => {
    const browser = new Browser();
    const tab = browser.tab();
    const waiting = tab.client.fetch("/api/items");
    await browser.pass(1);
    browser.server.signIn(BOB);
    await browser.settled(tab.client.refresh());
    expect((await browser.settled(waiting)).status).toBe(200);
  });

  it("the second 401 is returned, and the page is signed out", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.signOut("idle");
    const waiting = tab.client.fetch("/api/items");
    await browser.pass(1);
    browser.server.signIn(ADA);
    const stop = tab.client.subscribe(() => {
      stop();
      browser.server.signOut("max_age");
    });
    void tab.client.refresh();
    expect((await browser.settled(waiting)).status).toBe(401);
    expect(tab.state).toMatchObject({ status: "signed-out", reason: "max_age" });
    expect(api(browser)).toHaveLength(2);
  });

  it("an abort ends the wait, before and during it", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.signOut();
    const abort = new AbortController();
    const waiting = tab.client.fetch("/api/items", { signal: abort.signal });
    waiting.catch(() => undefined);
    await browser.pass(1);
    expect(await outcome(waiting)).toBe("pending");
    abort.abort(new Error("left the form"));
    await expect(waiting).rejects.toThrow("left the form");
    browser.server.signIn(ADA);
    await browser.settled(tab.client.refresh());
    expect(browser.server.taken).toEqual([]);
    await expect(tab.client.fetch("/api/items", { signal: abort.signal })).rejects.toThrow(
      "left the form",
    );
  });

  it("a late 401, from before the user has signed in again, does not sign the page out", async () => {
    const { browser, tab } = await signedInTab();
    browser.server.signOut();
    browser.server.latency.back = 5000;
    const waiting = tab.client.fetch("/api/items");
    await browser.pass(1);
    browser.server.latency.back = 1;
    browser.server.signIn(ADA);
    const states: string[] = [];
    tab.client.subscribe(({ status }) => states.push(status));
    await browser.settled(tab.client.refresh());
    await browser.pass(5);
    expect((await browser.settled(waiting)).status).toBe(200);
    expect(states).toEqual([]);
  });

  it.each<[string, object | string]>([
    [
      "a step-up",
      {
        authenticated: true,
        error: "insufficient_user_authentication",
        login_url: "/idpauth/login/?max_age=300",
      },
    ],
    [
      "another API's login_required",
      { error: "login_required", login_url: "https://other.example/login/" },
    ],
    ["another API's 401 without a login", { error: "login_required" }],
    ["text", "Unauthorized"],
    ["JSON null", "null"],
  ])("returns the 401 of %s as it is", async (_name, body) => {
    const { browser, tab } = await signedInTab();
    const text = typeof body === "string" ? body : JSON.stringify(body);
    vi.spyOn(browser.server, "respond").mockReturnValueOnce(new Response(text, { status: 401 }));
    const response = await browser.settled(tab.client.fetch("/api/items"));
    expect(response.status).toBe(401);
    expect(await response.text()).toBe(text);
    expect(tab.state.status).toBe("signed-in");
  });

  it("names the first 401 without login_url in the console, and no other response", async () => {
    const { browser, tab } = await signedInTab();
    const respond = vi.spyOn(browser.server, "respond");
    const get = async (path: string, body: string) => {
      respond.mockReturnValueOnce(new Response(body, { status: 401 }));
      await browser.settled(tab.client.fetch(path));
    };
    await get("/api/step-up", '{"login_url":"/idpauth/login/?max_age=300"}');
    respond.mockReturnValueOnce(new Response("{}", { status: 403 }));
    await browser.settled(tab.client.fetch("/api/forbidden"));
    expect(tab.warnings).toEqual([]);
    await get("/api/items", '{"error":"Unauthorized"}');
    await get("/api/others", "Unauthorized");
    expect(tab.warnings).toEqual([
      expect.stringMatching(/No login_url: https:\/\/app\.example\/api\/items/),
    ]);
  });

  it.each([200, 403, 500, 503])(
    "returns a response with status %d, for any body",
    async (status) => {
      const { browser, tab } = await signedInTab();
      vi.spyOn(browser.server, "respond").mockReturnValueOnce(
        Response.json(browser.server.unauthenticated(), { status }),
      );
      expect((await browser.settled(tab.client.fetch("/api/items"))).status).toBe(status);
      expect(tab.state.status).toBe("signed-in");
    },
  );

  it("rejects if the network fails", async () => {
    const { browser, tab } = await signedInTab();
    vi.spyOn(browser.server, "respond").mockImplementationOnce(() => {
      throw new TypeError("Failed to fetch");
    });
    await expect(browser.settled(tab.client.fetch("/api/items"))).rejects.toThrow(
      "Failed to fetch",
    );
    expect(tab.state.status).toBe("signed-in");
  });

  it("navigates to the login at once if the application wants it", async () => {
    const { browser, tab } = await signedInTab({ whenSignedOut: "navigate" });
    browser.server.signOut("idle");
    const waiting = tab.client.fetch("/api/items");
    await browser.pass(1);
    expect(tab.navigations).toHaveLength(1);
    expect(tab.navigations[0]).toMatch(/^https:\/\/app\.example\/idpauth\/login\/\?/);
    expect(await outcome(waiting)).toBe("pending");
  });

  it("whose signal aborts while it navigates to the login rejects with the signal's reason", async () => {
    const { browser, tab } = await signedInTab({ whenSignedOut: "navigate" });
    browser.server.signOut("idle");
    const abort = new AbortController();
    const waiting = tab.client.fetch("/api/items", { signal: abort.signal });
    waiting.catch(() => undefined);
    await browser.pass(1);
    expect(tab.navigations).toHaveLength(1);
    abort.abort(new Error("too late"));
    await browser.pass(1);
    expect(await outcome(waiting)).toEqual(new Error("too late"));
  });
});

describe("fetch, signed out, of a route that requires a provider", () => {
  const required = (url: string | undefined) =>
    Object.fromEntries(new URL(url ?? "").searchParams)["provider"];

  /** Requests to these routes wait, one after the other. */
  async function waitingFor(providers: readonly (string | undefined)[], options?: ClientOptions) {
    const { browser, tab } = await signedInTab(options);
    const abort = new AbortController();
    browser.server.signOut("idle");
    const responses: Promise<Response>[] = [];
    for (const provider of providers) {
      browser.server.requiredProvider = provider;
      const response = tab.client.fetch("/api/payroll", { signal: abort.signal });
      response.catch(() => undefined);
      responses.push(response);
      await browser.pass(1);
    }
    return { browser, tab, abort, responses };
  }

  it("waits as any other, and is no step-up", async () => {
    const { browser, tab, responses } = await waitingFor(["staff"]);
    expect(tab.state).toMatchObject({ status: "signed-out", reason: "idle" });
    expect(await outcome(responses[0]!)).toBe("pending");
    browser.server.signIn(ADA);
    await browser.settled(tab.client.refresh());
    expect((await browser.settled(responses[0]!)).status).toBe(200);
    expect(tab.windows).toEqual([]);
  });

  it("in the popup window the user signs in at that provider, unless the application names another", async () => {
    const { tab } = await waitingFor(["staff", undefined]);
    void tab.client.signIn({ popup: true });
    void tab.client.signIn({ popup: true, params: { provider: "customers" } });
    expect(tab.windows.map(({ url }) => required(url))).toEqual(["staff", "customers"]);
  });

  it("navigates to the login at that provider", async () => {
    const { tab } = await waitingFor(["staff"], { whenSignedOut: "navigate" });
    expect(tab.navigations.map(required)).toEqual(["staff"]);
  });

  it("no longer names the provider when the user has signed in, or the request's signal aborts", async () => {
    const signedIn = await waitingFor(["staff"]);
    signedIn.browser.server.signIn(ADA);
    await signedIn.browser.settled(signedIn.tab.client.refresh());
    await signedIn.browser.settled(signedIn.responses[0]!);
    void signedIn.tab.client.signIn({ popup: true });
    const aborted = await waitingFor(["staff"]);
    aborted.abort.abort();
    await aborted.browser.pass(1);
    void aborted.tab.client.signIn({ popup: true });
    expect([signedIn, aborted].map(({ tab }) => required(tab.windows[0]?.url))).toEqual([
      undefined,
      undefined,
    ]);
  });
});
