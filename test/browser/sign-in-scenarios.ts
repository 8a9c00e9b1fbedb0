import { describe, expect, it } from "vitest";
import { arriveAt, showsHeading, type BrowserUser, type Tab } from "./browser.js";
import type { Browsing } from "./scenarios.js";
import { CHOICE } from "./stage-application.js";

/** Opens a guarded page, chooses a person at the provider and waits until the browser is back. */
export async function signIn(user: BrowserUser, url: string, person = "ada"): Promise<Tab> {
  const tab = await user.open(url);
  await choose(tab, person);
  await arriveAt(tab, url);
  return tab;
}

/** Clicks on a person at the provider. */
export async function choose(tab: Tab, person: string): Promise<void> {
  await showsHeading(tab, CHOICE);
  await tab.click(`button[value="${person}"]`);
}

export function signInScenarios(browsing: Browsing): void {
  describe("signing in and out", () => {
    it("redirects from a guarded page to the provider and back to exactly that page, with its query", async () => {
      const user = await browsing.user();
      // The provider's form is on another site: SameSite=Lax lets the cookie through when it leads
      // back.
      const page = `${browsing.secure}/reports?quarter=3&name=%C3%A9%20%26%2Fx&empty=`;
      const tab = await signIn(user, page);
      expect(await tab.evaluate("document.querySelector('main').innerText")).toContain(
        "Signed in as Ada Lovelace",
      );
    });

    it("brings the cookie although the provider's page posts its response (form_post)", async () => {
      const user = await browsing.user();
      const tab = await signIn(user, `${browsing.posting}/reports?quarter=3`);
      expect(await tab.evaluate("document.querySelector('main').innerText")).toContain(
        "Signed in as Ada Lovelace",
      );
    });

    it("redirects back to the very address of a page that requests it, with query and fragment", async () => {
      const user = await browsing.user();
      const page = `${browsing.secure}/reports?view=list&q=a%26b#row-7`;
      const query = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page });
      const tab = await user.open(`${browsing.secure}/idpauth/login/?${query.toString()}`);
      await choose(tab, "grace");
      await arriveAt(tab, page);
    });

    it("shows the landing page in its states, and nothing of the session after signing out and going back", async () => {
      const user = await browsing.user();
      const landing = `${browsing.secure}/idpauth/`;
      const tab = await user.open(landing);
      await showsHeading(tab, "You are signed out");
      await tab.click("main a.button");
      await choose(tab, "ada");
      await arriveAt(tab, landing);
      await showsHeading(tab, "You are signed in");
      await tab.goto(`${browsing.secure}/reports`);
      await tab.click("a[href$='/logout/']");
      await showsHeading(tab, "You are signed out");
      await arriveAt(tab, landing);
      await tab.back();
      await showsHeading(tab, CHOICE);
    });

    it("sets one cookie: for this hostname over https only, out of reach of scripts, SameSite=Lax", async () => {
      const user = await browsing.user();
      const tab = await signIn(user, `${browsing.secure}/reports`);
      const cookies = await user.cookies(tab);
      expect(cookies).toEqual([
        expect.objectContaining({
          name: "__Host-Http-idpauth",
          domain: "localhost",
          path: "/",
          httpOnly: true,
          secure: true,
          sameSite: "Lax",
        }),
      ]);
      expect(await tab.evaluate("document.cookie")).toBe("");
      const days = ((cookies[0]?.expires ?? 0) - Date.now() / 1000) / 86_400;
      expect(days).toBeGreaterThan(399.9);
      // A browser's clock, or the response's Date header, differs by up to seconds.
      expect(days).toBeLessThan(400.001);
      await tab.goto(`${browsing.secure}/idpauth/logout/`);
      expect(await user.cookies(tab)).toEqual([]);
    });
  });
}
