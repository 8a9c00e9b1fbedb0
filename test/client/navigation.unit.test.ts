import { describe, expect, it, vi } from "vitest";
import { SignInError } from "../../src/client/sign-in-error.js";
import { sameOriginUrl } from "../../src/http/same-origin-url.js";
import { Browser, messagesOf, postFrom, type Tab } from "./browser.js";
import { ADA, BOB, ORIGIN } from "./session-server.js";

const query = (url: string | undefined) => Object.fromEntries(new URL(url ?? "").searchParams);
const attemptOf = (tab: Tab, index = 0) =>
  query(query(tab.windows[index]?.url)["origin_url"])["attempt"];

/** Whether a promise has settled by now, and as which status. */
async function status(promise: Promise<{ readonly status: string }>): Promise<string> {
  const later = new Promise<string>((resolve) => setImmediate(resolve, "pending"));
  return Promise.race([promise.then((state) => state.status), later]);
}

describe("signIn", () => {
  it("returns to this very address, with query and fragment", async () => {
    const href = `${ORIGIN}/search?q=a%26b&x=%C3%A4+#/deep?tab=2&y`;
    const tab = new Browser().tab("tab", {}, { href });
    expect(await status(tab.client.signIn())).toBe("pending");
    const [url] = tab.navigations;
    expect(url).toMatch(/^https:\/\/app\.example\/idpauth\/login\/\?/);
    expect(query(url)).toEqual({ scheme: "PRESERVE_ORIGIN_QP", origin_url: href });
    expect(sameOriginUrl(query(url)["origin_url"], ORIGIN)).toBe(href);
  });

  it("returns to another page, passes parameters on, and keeps its own", async () => {
    const tab = new Browser().tab("tab", { mountPath: "/auth/" }, { href: `${ORIGIN}/a/b` });
    void tab.client.signIn({
      returnTo: "c?d=1#e",
      params: { login_hint: "ada@example.com", origin_url: "https://evil.example" },
    });
    expect(tab.navigations[0]).toMatch(/^https:\/\/app\.example\/auth\/login\/\?/);
    expect(query(tab.navigations[0])).toEqual({
      login_hint: "ada@example.com",
      scheme: "PRESERVE_ORIGIN_QP",
      origin_url: `${ORIGIN}/a/c?d=1#e`,
    });
  });
});

describe("with several providers", () => {
  /** A page whose session has been at `customers`. */
  async function customersTab(reason?: Parameters<Browser["server"]["signOut"]>[0]) {
    const browser = new Browser();
    browser.server.provider = "customers";
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    if (reason !== undefined) {
      browser.server.signOut(reason);
      await browser.settled(tab.client.refresh());
    }
    return { browser, tab };
  }
  const providerOf = (url: string | undefined) => query(url)["provider"];

  it.each([undefined, "max_age", "idle", "ended_everywhere", "no_credentials"] as const)(
    "a login goes to the session's provider (ended by: %s), in each of its forms",
    async (reason) => {
      const { tab } = await customersTab(reason);
      expect(tab.state.provider).toBe(reason === undefined ? "customers" : null);
      void tab.client.signIn();
      void tab.client.signIn({ popup: true });
      void tab.client.stepUp({ maxAge: 60 });
      const urls = [...tab.navigations, ...tab.windows.map(({ url }) => url)];
      expect(urls.map(providerOf)).toEqual(Array(3).fill("customers"));
    },
  );

  it("a page that a server rendered for a session knows its provider at once", () => {
    const browser = new Browser();
    browser.server.provider = "customers";
    browser.server.signIn(ADA);
    const tab = browser.tab("tab", { initialState: browser.server.details() });
    void tab.client.signIn();
    expect(providerOf(tab.navigations[0])).toBe("customers");
  });

  it("the provider of the newest session counts, also during an outage", async () => {
    const { browser, tab } = await customersTab();
    browser.server.provider = "staff";
    browser.server.signIn(BOB);
    await browser.settled(tab.client.refresh());
    browser.server.outage = "network";
    await browser.settled(tab.client.refresh());
    expect(tab.state).toMatchObject({ status: "unavailable", provider: "staff" });
    void tab.client.signIn();
    expect(providerOf(tab.navigations[0])).toBe("staff");
  });

  it.each([
    [{ provider: "staff" }, "staff"],
    [{ provider: "" }, undefined],
    [{ iss: "https://login.example" }, undefined],
    [{ api: "orders" }, undefined],
    [{ login_hint: "ada" }, "customers"],
  ])("with the parameters %j, a login goes to %s", async (params, expected) => {
    const { tab } = await customersTab("idle");
    void tab.client.signIn({ params });
    void tab.client.signIn({ popup: true, params });
    expect([tab.navigations[0], tab.windows[0]?.url].map(providerOf)).toEqual([expected, expected]);
  });

  it("a login that a waiting request needs goes to the provider that its guard requires", async () => {
    const { browser, tab } = await customersTab("idle");
    browser.server.requiredProvider = "staff";
    void tab.client.fetch("/api/items");
    await browser.pass(1);
    void tab.client.signIn();
    expect(providerOf(tab.navigations[0])).toBe("staff");
  });

  it("no login goes to a provider that the application doesn't have any more", async () => {
    const { tab } = await customersTab("provider_removed");
    void tab.client.signIn();
    expect(providerOf(tab.navigations[0])).toBeUndefined();
  });

  it("a page without a session leaves the choice to the server", async () => {
    const browser = new Browser();
    browser.server.provider = "customers";
    const tab = browser.tab();
    await browser.pass(1);
    void tab.client.signIn();
    expect(providerOf(tab.navigations[0])).toBeUndefined();
  });
});

describe("signIn in a popup window", () => {
  it("opens the login in a window that cannot reach this page, with an attempt that nobody can guess", () => {
    const tab = new Browser().tab();
    for (let count = 0; count < 100; count++)
      void tab.client.signIn({ popup: true, params: { login_hint: "ada" } });
    expect(query(tab.windows[0]?.url)).toEqual({
      login_hint: "ada",
      scheme: "PRESERVE_ORIGIN_QP",
      origin_url: `${ORIGIN}/idpauth/popup?attempt=${attemptOf(tab) ?? ""}`,
    });
    const attempts = tab.windows.map((_, index) => attemptOf(tab, index) ?? "");
    expect(new Set(attempts).size).toBe(100);
    for (const attempt of attempts) expect(attempt).toMatch(/^[\w-]{16,64}$/);
    expect(tab.windows.map(({ opener }) => opener)).toEqual(attempts.map(() => null));
    expect(tab.navigations).toEqual([]);
  });

  it("resolves when the window says that it has signed in, and the server confirms it", async () => {
    const browser = new Browser();
    const tab = browser.tab();
    await browser.pass(1);
    const signedIn = tab.client.signIn({ popup: true });
    await browser.pass(5);
    browser.server.signIn(ADA);
    postFrom(browser, { type: "signed-in", attempt: attemptOf(tab) });
    expect(await browser.settled(signedIn)).toMatchObject({
      status: "signed-in",
      account: ADA.account,
    });
  });

  it("only the page that opened the window permits it to close", async () => {
    const browser = new Browser();
    const tab = browser.tab("opener");
    const other = browser.tab("other");
    await browser.pass(1);
    const messages = messagesOf(browser);
    void tab.client.signIn({ popup: true });
    const attempt = attemptOf(tab);
    const probes = other.probes;
    postFrom(browser, { type: "signed-in", attempt });
    await browser.pass(1);
    expect(messages).toEqual([
      { type: "signed-in", attempt },
      { type: "received", attempt },
    ]);
    expect(other.probes).toBe(probes + 1);
  });

  it("does not resolve by a hint that the server does not confirm", async () => {
    const browser = new Browser();
    const tab = browser.tab();
    await browser.pass(1);
    const signedIn = tab.client.signIn({ popup: true });
    postFrom(browser, { type: "signed-in", attempt: attemptOf(tab) });
    await browser.pass(1);
    expect(await status(signedIn)).toBe("pending");
  });

  it("while the user is signed in it resolves by the hint of its own attempt, and by nothing else", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA, { idle: 600 });
    const tab = browser.tab();
    await browser.pass(1);
    const signedIn = tab.client.signIn({ popup: true });
    await browser.pass(10);
    await browser.settled(tab.client.keepAlive());
    postFrom(browser, { type: "signed-in", attempt: "of-another-window" });
    await browser.pass(1);
    expect(await status(signedIn)).toBe("pending");
    postFrom(browser, { type: "signed-in", attempt: attemptOf(tab) });
    expect((await browser.settled(signedIn)).status).toBe("signed-in");
  });

  it("resolves without a hint when the page gets the focus again", async () => {
    const browser = Object.assign(new Browser(), { hasChannels: false });
    const tab = browser.tab();
    await browser.pass(1);
    const signedIn = tab.client.signIn({ popup: true });
    await browser.pass(3);
    browser.server.signIn(BOB);
    tab.fire("focus");
    expect(await browser.settled(signedIn)).toMatchObject({ account: BOB.account });
  });

  it.each(["loading", "unavailable"])(
    "does not resolve with the user who was signed in before, if the state was %s",
    async (status) => {
      const browser = new Browser();
      browser.server.signIn(ADA);
      const tab = browser.tab();
      if (status === "unavailable") {
        await browser.pass(1);
        browser.server.outage = { status: 503, headers: { "Retry-After": "5" } };
        await browser.settled(tab.client.refresh());
        browser.server.outage = undefined;
      }
      expect(tab.state.status).toBe(status);
      let resolved = false;
      const signedIn = tab.client.signIn({ popup: true }).then(() => (resolved = true));
      await browser.pass(30);
      expect(tab.state.status).toBe("signed-in");
      expect(resolved).toBe(false);
      postFrom(browser, { type: "signed-in", attempt: attemptOf(tab) });
      await browser.settled(signedIn);
    },
  );

  it("resolves after an outage that began just when the popup window signed in", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    const signedIn = tab.client.signIn({ popup: true });
    browser.server.outage = { status: 503, headers: { "Retry-After": "5" } };
    postFrom(browser, { type: "signed-in", attempt: attemptOf(tab) });
    await browser.pass(1);
    expect(tab.state.status).toBe("unavailable");
    browser.server.outage = undefined;
    await browser.pass(10);
    expect((await browser.settled(signedIn)).status).toBe("signed-in");
  });

  it.each(["cancelled", "step_up_failed"])("rejects if the window reports %s", async (failure) => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    const messages = messagesOf(browser);
    const signedIn = tab.client.signIn({ popup: true });
    const attempt = attemptOf(tab);
    postFrom(browser, { type: "failed", attempt, failure });
    await expect(browser.settled(signedIn)).rejects.toThrow(new SignInError(failure));
    expect(messages).toContainEqual({ type: "received", attempt });
    expect(tab.state.status).toBe("signed-in");
  });

  describe.each([
    ["signed out", false],
    ["signed in", true],
  ])("that was closed, of a user who is %s", (_state, isSignedIn) => {
    async function opened() {
      const browser = new Browser();
      if (isSignedIn) browser.server.signIn(ADA);
      const tab = browser.tab();
      await browser.pass(1);
      return { browser, tab, signedIn: tab.client.signIn({ popup: true }) };
    }

    it("is cancelled when the page gets the focus again, and the session is unchanged", async () => {
      const { browser, tab, signedIn } = await opened();
      tab.windows[0]!.closed = true;
      await browser.pass(30);
      expect(await status(signedIn)).toBe("pending");
      tab.fire("focus");
      await expect(browser.settled(signedIn)).rejects.toThrow(new SignInError("cancelled"));
    });

    it("is not cancelled while the window is open, or the server does not respond", async () => {
      const { browser, tab, signedIn } = await opened();
      tab.fire("focus");
      await browser.pass(1);
      tab.windows[0]!.closed = true;
      browser.server.outage = { status: 503, headers: { "Retry-After": "5" } };
      tab.fire("focus");
      await browser.pass(1);
      expect(await status(signedIn)).toBe("pending");
      browser.server.outage = undefined;
      const settled = expect(signedIn).rejects.toThrow(new SignInError("cancelled"));
      await browser.pass(20);
      await settled;
    });

    it("that only looked closed may still report its sign-in", async () => {
      const { browser, tab, signedIn } = await opened();
      tab.windows[0]!.closed = true;
      browser.server.signIn(BOB);
      postFrom(browser, { type: "signed-in", attempt: attemptOf(tab) });
      tab.fire("focus");
      expect(await browser.settled(signedIn)).toMatchObject({ account: BOB.account });
    });
  });

  describe("whose window closes while the page asks the server about its report", () => {
    /** Of a signed-in user. The browser gives the focus back at once, and the server is slow. */
    async function reported(failure?: string, onFocus?: (tab: Tab) => void) {
      const browser = new Browser();
      browser.server.signIn(ADA);
      const tab = browser.tab();
      await browser.pass(1);
      const signedIn = tab.client.signIn({ popup: true });
      signedIn.catch(() => undefined);
      browser.server.latency = { there: 50, back: 50 };
      postFrom(browser, {
        type: failure ? "failed" : "signed-in",
        attempt: attemptOf(tab),
        failure,
      });
      await browser.clock.advanceAsync(10);
      tab.windows[0]!.closed = true;
      onFocus?.(tab);
      tab.fire("focus");
      return browser.settled(signedIn);
    }

    it("resolves after a sign-in of the same user", async () => {
      expect(await reported()).toMatchObject({ status: "signed-in", account: ADA.account });
    });

    it("resolves, too, if the application asks the server itself", async () => {
      const state = reported(undefined, (tab) => void tab.client.refresh());
      expect(await state).toMatchObject({ status: "signed-in" });
    });

    it("rejects with the failure", async () => {
      await expect(reported("step_up_failed", (tab) => void tab.client.refresh())).rejects.toThrow(
        new SignInError("step_up_failed"),
      );
    });
  });

  describe("whose window is closed without a report", () => {
    async function closed(tab: Tab) {
      tab.windows[0]!.closed = true;
      tab.fire("focus");
      await tab.browser.pass(1);
    }

    it("resolves if another user has signed in", async () => {
      const browser = new Browser();
      browser.server.signIn(ADA);
      const tab = browser.tab();
      await browser.pass(1);
      const signedIn = tab.client.signIn({ popup: true });
      browser.server.signIn(BOB);
      await closed(tab);
      expect(await browser.settled(signedIn)).toMatchObject({ account: BOB.account });
    });

    it("is cancelled if the session has ended meanwhile", async () => {
      const browser = new Browser();
      browser.server.signIn(ADA);
      const tab = browser.tab();
      await browser.pass(1);
      const signedIn = tab.client.signIn({ popup: true });
      const settled = expect(signedIn).rejects.toThrow(new SignInError("cancelled"));
      browser.server.signOut("idle");
      await closed(tab);
      await settled;
    });

    it.each([ADA, undefined])("is cancelled if the state was loading: %o", async (user) => {
      const browser = new Browser();
      if (user) browser.server.signIn(user);
      const tab = browser.tab();
      const signedIn = tab.client.signIn({ popup: true });
      const settled = expect(signedIn).rejects.toThrow(new SignInError("cancelled"));
      await browser.pass(1);
      await closed(tab);
      await settled;
    });

    it("waits for the end of an outage that had begun before", async () => {
      const browser = new Browser();
      browser.server.signIn(ADA);
      const tab = browser.tab();
      await browser.pass(1);
      browser.server.outage = { status: 503, headers: { "Retry-After": "5" } };
      await browser.settled(tab.client.refresh());
      const signedIn = tab.client.signIn({ popup: true });
      await closed(tab);
      expect(await status(signedIn)).toBe("pending");
      browser.server.outage = undefined;
      const settled = expect(signedIn).rejects.toThrow(new SignInError("cancelled"));
      await closed(tab);
      await settled;
    });

    it("is forgotten: a later focus asks the server nothing", async () => {
      const browser = new Browser();
      const tab = browser.tab();
      await browser.pass(1);
      const before = tab.listeners.get("focus")?.size;
      const settled = expect(tab.client.signIn({ popup: true })).rejects.toThrow("cancelled");
      await closed(tab);
      await settled;
      const { probes } = tab;
      tab.fire("focus");
      await browser.pass(1);
      expect([tab.probes, tab.listeners.get("focus")?.size]).toEqual([probes, before]);
    });

    it("is forgotten: nothing waits for its report", async () => {
      const browser = new Browser();
      const tab = browser.tab();
      await browser.pass(1);
      const settled = expect(tab.client.signIn({ popup: true })).rejects.toThrow("cancelled");
      await closed(tab);
      await settled;
      const messages = messagesOf(browser);
      postFrom(browser, { type: "signed-in", attempt: attemptOf(tab) });
      await browser.pass(1);
      expect(messages).not.toContainEqual(expect.objectContaining({ type: "received" }));
    });
  });

  it("rejects if the browser opens no window", async () => {
    const tab = new Browser().tab();
    tab.blocksWindows = true;
    await expect(tab.client.signIn({ popup: true })).rejects.toThrow(new SignInError("blocked"));
  });

  it("lets requests that wait go on", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    browser.server.signOut("idle");
    const waiting = tab.client.fetch("/api/items", { method: "POST", body: "draft" });
    await browser.pass(1);
    void tab.client.signIn({ popup: true });
    browser.server.signIn(ADA);
    postFrom(browser, { type: "signed-in", attempt: attemptOf(tab) });
    expect((await browser.settled(waiting)).status).toBe(200);
    expect(browser.server.taken).toEqual(["draft"]);
  });
});

describe("signOut", () => {
  it("navigates to the logout", async () => {
    const tab = new Browser().tab();
    void tab.client.signOut();
    await Promise.resolve();
    expect(tab.navigations).toEqual([`${ORIGIN}/idpauth/logout/`]);
  });

  it("everywhere: ends the other sessions first", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    void tab.client.signOut({ everywhere: true });
    expect(tab.navigations).toEqual([]);
    await browser.pass(1);
    const posted = browser.server.requests.find(({ method }) => method === "POST");
    expect(posted).toMatchObject({ target: "/idpauth/sessions", body: "end=others" });
    expect(posted?.headers.get("Accept")).toBe("application/json");
    expect(tab.navigations).toEqual([`${ORIGIN}/idpauth/logout/`]);
  });

  it("everywhere: signs nobody out if the other sessions did not end", async () => {
    const browser = new Browser();
    browser.server.signIn(ADA);
    const tab = browser.tab();
    await browser.pass(1);
    vi.spyOn(browser.server, "respond").mockReturnValueOnce(new Response(null, { status: 404 }));
    await expect(browser.settled(tab.client.signOut({ everywhere: true }))).rejects.toThrow(
      /Check IDP_SESSIONS_PAGE: 404/,
    );
    expect(tab.navigations).toEqual([]);
    tab.fire("pagehide");
    expect(tab.state.status).toBe("signed-in");
  });
});

describe("a page of the application at the login's address", () => {
  const worker = "http://localhost:3000/service-worker.js";
  const warnings = (href: string, page: { worker?: string } = {}) =>
    new Browser().tab("tab", {}, { href, ...page }).warnings;

  it.each(["http://localhost:3000", "https://app.localhost", "http://127.0.0.1:8080"])(
    "warns its developer, and names the service worker: %s",
    (origin) => {
      const href = `${origin}/idpauth/login/?origin_url=x`;
      const advice = `hides ${origin}/idpauth/login/.`;
      expect(warnings(href)).toEqual([`A fallback ${advice}`]);
      expect(warnings(href, { worker })).toEqual([`${worker} ${advice}`]);
    },
  );

  it.each([
    "https://app.example/idpauth/login/?origin_url=http://localhost/",
    "http://localhost:3000/idpauth/login-callback?code=x",
    "http://localhost:3000/idpauth/",
    "http://localhost:3000/app?next=/idpauth/login/",
  ])("doesn't warn in production or elsewhere: %s", (href) => {
    expect(warnings(href, { worker })).toEqual([]);
  });
});
