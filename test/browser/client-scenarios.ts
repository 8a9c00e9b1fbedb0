import { describe, expect, it } from "vitest";
import {
  arriveAt,
  expectClosed,
  openedBy,
  PATIENCE,
  showsHeading,
  type BrowserUser,
  type Tab,
} from "./browser.js";
import type { Browsing } from "./scenarios.js";

function expectState(tab: Tab, expected: object) {
  return expect
    .poll(() => tab.evaluate("window.client?.getState()"), PATIENCE)
    .toMatchObject(expected);
}

export function clientScenarios(browsing: Browsing): void {
  const app = () => browsing.application;

  /** The page of the application, after its first probe. */
  async function openApp(user: BrowserUser, status: string, query = ""): Promise<Tab> {
    const tab = await user.open(`${app().origin}/app${query}`);
    await expectState(tab, { status });
    return tab;
  }
  async function openSignedIn(user: BrowserUser, query = ""): Promise<Tab> {
    const tab = await user.open(`${app().origin}/idpauth/login/`);
    await tab.goto(`${app().origin}/app${query}`);
    await expectState(tab, { status: "signed-in", user: { name: "Ada Lovelace" } });
    return tab;
  }
  /** As a sign-out in a page without the client: no tab is told. */
  async function signOutSilently(tab: Tab): Promise<void> {
    expect(
      await tab.evaluate("fetch('/idpauth/logout/?response=json').then(({ status }) => status)"),
    ).toBe(200);
  }

  describe("idpauth/client", () => {
    it("finds Web Locks, BroadcastChannel and EventSource", async () => {
      const user = await browsing.user();
      const tab = await openApp(user, "signed-out");
      expect(
        await tab.evaluate(
          "[typeof navigator.locks, typeof BroadcastChannel, typeof EventSource, isSecureContext]",
        ),
      ).toEqual(["object", "function", "function", true]);
    });

    it("signs in through a provider on another site and returns to the very address, with query and fragment", async () => {
      const user = await browsing.user();
      app().askFirst();
      const page = `${app().origin.replace("127.0.0.1", "localhost")}/app?view=list&q=a%26b#row-7`;
      const tab = await user.open(page);
      await expectState(tab, { status: "signed-out", reason: "no_credentials" });
      await tab.click("#in");
      await showsHeading(tab, "Who is signing in?");
      await tab.click("a");
      await arriveAt(tab, page);
      await expectState(tab, { status: "signed-in", user: { name: "Ada Lovelace" } });
    });

    it("a sign-out in one window shows in another one", async () => {
      const user = await browsing.user();
      const first = await openSignedIn(user);
      const second = await openApp(user, "signed-in");
      await first.click("#out");
      await expectState(second, { status: "signed-out" });
    });

    it("a request that gets 401 waits, and is repeated after the user has signed in again in another window", async () => {
      const user = await browsing.user();
      const first = await openSignedIn(user);
      const second = await openApp(user, "signed-in");
      await signOutSilently(second);
      app().arrived.length = 0;
      await first.evaluate(
        `void client.fetch("/items", { method: "POST", body: "a draft" }).then(async (response) => { window.result = await response.json(); })`,
      );
      await expectState(first, { status: "signed-out" });
      // The hint of the first window makes the second one ask.
      await expectState(second, { status: "signed-out" });
      expect(await first.evaluate("window.result ?? 'waits'")).toBe("waits");
      await second.click("#in");
      await expect.poll(() => first.evaluate("window.result"), PATIENCE).toEqual({ done: true });
      await expectState(first, { status: "signed-in" });
      expect(app().arrived.map(({ body, status }) => [body, status])).toEqual([
        ["a draft", 401],
        ["a draft", 200],
      ]);
    });

    it("a request is not repeated for another user", async () => {
      const user = await browsing.user();
      const first = await openSignedIn(user);
      const second = await openApp(user, "signed-in");
      await signOutSilently(second);
      app().arrived.length = 0;
      await first.evaluate(
        `void client.fetch("/items", { method: "POST", body: "a draft" }).catch(({ name }) => { window.result = name; })`,
      );
      await expectState(second, { status: "signed-out" });
      const before = app().provider.person;
      app().provider.person = { sub: "grace-1906", name: "Grace Hopper" };
      try {
        await second.click("#in");
        await expect.poll(() => first.evaluate("window.result"), PATIENCE).toBe("UserChangedError");
      } finally {
        app().provider.person = before;
      }
      expect(app().arrived.map(({ body, status }) => [body, status])).toEqual([["a draft", 401]]);
    });

    it("signs in in a window of its own, which closes", async () => {
      const user = await browsing.user();
      const tab = await openApp(user, "signed-out");
      app().askFirst();
      const popup = await openedBy(user, () => tab.click("#window"));
      await showsHeading(popup, "Who is signing in?");
      await popup.click("a");
      await expect.poll(() => tab.evaluate("window.resolved"), PATIENCE).toBe("signed-in");
      await expectClosed(user, popup);
    });

    it.each(["locks", "channel", "locks,channel"])(
      "works in a browser without %s: the next probe finds it",
      async (missing) => {
        const user = await browsing.user();
        const first = await openSignedIn(user, `?without=${missing}`);
        const second = await openApp(user, "signed-in", `?without=${missing}`);
        await signOutSilently(first);
        await expectState(second, { status: "signed-out" });
        await expectState(first, { status: "signed-out" });
      },
    );

    it("the event stream reports a sign-out at once, without another tab's hint", async () => {
      const user = await browsing.user();
      const first = await openSignedIn(user, "?events");
      const second = await user.open(`${app().origin}/other`);
      await signOutSilently(second);
      await expectState(first, { status: "signed-out" });
    });

    it("a page out of the back/forward cache probes again: it does not show a user who has signed out", async () => {
      const user = await browsing.user();
      const tab = await openSignedIn(user);
      await tab.goto(`${app().origin}/other`);
      await signOutSilently(tab);
      await tab.back();
      await arriveAt(tab, `${app().origin}/app`);
      await expectState(tab, { status: "signed-out" });
      // The cache kept the page: nothing of the client prevents it.
      expect(await tab.evaluate("shows.at(-1)")).toBe(true);
    });
  });
}
