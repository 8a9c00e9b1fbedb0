import { describe, expect, it } from "vitest";
import { arriveAt, PATIENCE, showsHeading, type Tab } from "./browser.js";
import type { Browsing } from "./scenarios.js";

const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };

/**
 * What the browser sends with a login and with its callback, and what the application makes of it.
 */
export function otherSiteScenarios(browsing: Pick<Browsing, "user" | "application">): void {
  const at = (host: string, origin: string) => `http://${host}:${new URL(origin).port}`;
  const app = () => at("a.app.localhost", browsing.application.origin);
  const others = () => ({
    sibling: at("b.app.localhost", browsing.application.others.sameSite),
    foreign: at("other.localhost", browsing.application.others.sameSite),
  });

  async function clickLink(tab: Tab, page: string, href: string): Promise<void> {
    await tab.goto(page);
    await tab.evaluate(`void (document.body.innerHTML = '<a id="link" href="${href}">link</a>')`);
    await tab.click("#link");
  }
  const who = (tab: Tab) =>
    tab.evaluate("fetch('/idpauth/session').then((r) => r.json()).then(({ user }) => user?.email)");

  describe("a login", () => {
    // Firefox takes all names below localhost for sites of their own. After a redirect to another
    // site it may send `none`.
    it.each<
      [
        from: string,
        page: () => string | undefined,
        login: readonly string[],
        callback: readonly string[],
      ]
    >([
      ["a typed address", () => undefined, ["none"], ["none"]],
      [
        "a page of the application",
        () => `${app()}/other`,
        ["same-origin"],
        ["cross-site", "none"],
      ],
      [
        "a sibling domain",
        () => `${others().sibling}/`,
        ["same-site", "cross-site"],
        ["cross-site", "none"],
      ],
      ["another site", () => `${others().foreign}/`, ["cross-site"], ["cross-site", "none"]],
    ])(
      "of %s keeps its Sec-Fetch-Site from a guarded page, and returns from the provider",
      async (_from, page, login, callback) => {
        const tab = await (await browsing.user()).open("about:blank");
        const { logins } = browsing.application;
        const from = page();
        logins.length = 0;
        if (from === undefined) await tab.goto(`${app()}/guarded`);
        else await clickLink(tab, from, `${app()}/guarded`);
        await arriveAt(tab, `${app()}/guarded`);
        expect(logins).toEqual([
          { path: "/idpauth/login/", site: expect.toBeOneOf([...login]) },
          { path: "/idpauth/login-callback", site: expect.toBeOneOf([...callback]) },
        ]);
        expect(await who(tab)).toBe("ada@example.com");
      },
    );

    it("of a link with noreferrer by way of a redirect with no-referrer comes from another site; Firefox sends none", async () => {
      const tab = await (await browsing.user()).open("about:blank");
      const { logins } = browsing.application;
      const { foreign } = others();
      await tab.goto(`${foreign}/`);
      const href = `${foreign}/?to=${encodeURIComponent(`${app()}/idpauth/login/`)}`;
      await tab.evaluate(
        `void (document.body.innerHTML = '<a id="link" rel="noreferrer" href="${href}">link</a>')`,
      );
      logins.length = 0;
      await tab.click("#link");
      await expect.poll(() => logins.length, PATIENCE).toBe(2);
      await arriveAt(tab, `${app()}/idpauth/`);
      const isFirefox = String(await tab.evaluate("navigator.userAgent")).includes("Firefox");
      expect(logins[0]?.site).toBe(isFirefox ? "none" : "cross-site");
    });

    it("that starts on another site shows a choice to a user who is signed in as another user, and replaces the session only when the user wants it", async () => {
      const user = await browsing.user();
      const tab = await user.open(`${app()}/guarded`);
      await arriveAt(tab, `${app()}/guarded`);
      // The policy of the page that asks lets no script send a request.
      const observer = await user.open(`${app()}/other`);
      const { provider } = browsing.application;
      const before = provider.person;
      provider.person = GRACE;
      try {
        for (const from of Object.values(others())) {
          await clickLink(tab, `${from}/`, `${app()}/idpauth/login/`);
          await showsHeading(tab, "Which account do you want to use?");
          expect(await who(observer)).toBe("ada@example.com");
        }
        await tab.click("button.quiet");
        await expect.poll(() => tab.evaluate("location.pathname"), PATIENCE).toBe("/idpauth/");
        expect(await who(observer)).toBe("grace@example.com");
        provider.person = before;
        await tab.goto(`${app()}/idpauth/login/`);
        expect(await who(observer)).toBe("ada@example.com");
      } finally {
        provider.person = before;
      }
    });
  });
}
