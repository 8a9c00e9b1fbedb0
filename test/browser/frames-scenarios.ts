import { beforeEach, describe, expect, it } from "vitest";
import { openedBy, PATIENCE, showsHeading, type BrowserUser, type Tab } from "./browser.js";
import type { Browsing } from "./scenarios.js";

/**
 * An application in a frame of another page: of the same site, and of another site. The provider is
 * on another site, and shows no page.
 */
export function frameScenarios(browsing: Pick<Browsing, "user" | "application">): void {
  const app = () => browsing.application;
  const origin = () => app().origin.replace("127.0.0.1", "localhost");

  /** Shows a page of the application in a frame. `reports` collects what that page tells. */
  async function showFrame(tab: Tab, around: string, path: string): Promise<void> {
    await tab.goto(around);
    await tab.evaluate(`(() => {
      window.reports = [];
      addEventListener("message", ({ data }) => reports.push(data));
      document.body.innerHTML = '<iframe src="${origin()}${path}"></iframe>';
    })()`);
  }

  const lastReport = (tab: Tab) =>
    expect.poll(() => tab.evaluate("reports.at(-1) ?? null"), PATIENCE);
  const callbacks = () => expect.poll(() => app().callbacks, PATIENCE);

  /** Signs in in a window that the framed page opens. */
  async function signInInAWindow(user: BrowserUser, tab: Tab): Promise<void> {
    await lastReport(tab).toBe("signed-out");
    app().askFirst();
    const opened = await openedBy(user, () => tab.click("iframe"));
    await showsHeading(opened, "Who is signing in?");
    await opened.click("a");
    await callbacks().toEqual([302]);
  }

  beforeEach(() => {
    app().callbacks.length = 0;
  });

  describe("in a frame of the same site", () => {
    const around = () => app().others.crossSite;

    it("a user is signed in; a login in the frame ends with 400 in Firefox, which doesn't send the cookie after a redirect of another site", async () => {
      const tab = await (await browsing.user()).open("about:blank");
      await showFrame(tab, around(), "/guarded");
      const isFirefox = String(await tab.evaluate("navigator.userAgent")).includes("Firefox");
      await callbacks().toEqual([isFirefox ? 400 : 302]);
      if (isFirefox) await tab.goto(`${origin()}/idpauth/login/`);
      await showFrame(tab, around(), "/framed");
      await lastReport(tab).toBe("signed-in");
    });

    it("a sign-in in a window signs in", async () => {
      const user = await browsing.user();
      const tab = await user.open("about:blank");
      await showFrame(tab, around(), "/framed");
      await signInInAWindow(user, tab);
      await lastReport(tab).toBe("window: signed-in");
    });
  });

  describe("in a frame of another site", () => {
    const around = () => app().others.sameSite;

    it("a login ends with 400, because browsers don't keep the cookie", async () => {
      const tab = await (await browsing.user()).open("about:blank");
      await showFrame(tab, around(), "/guarded");
      await callbacks().toEqual([400]);
    });

    it("a sign-in in a window signs in elsewhere, but not in the frame", async () => {
      const user = await browsing.user();
      const tab = await user.open("about:blank");
      await showFrame(tab, around(), "/framed");
      await signInInAWindow(user, tab);
      await showFrame(tab, around(), "/framed");
      await lastReport(tab).toBe("signed-out");
      await tab.goto(`${origin()}/idpauth/`);
      await showsHeading(tab, "You are signed in");
    });
  });
}
