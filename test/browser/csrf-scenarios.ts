import { describe, expect, it } from "vitest";
import { element, POSTS, sandboxed, send, type Attempt } from "./cross-site-requests.js";
import type { Arrived } from "./application.js";
import { PATIENCE, type Tab } from "./browser.js";
import type { Browsing } from "./scenarios.js";

/** What the browser sends for requests to a route behind auth.csrf, and how auth.csrf decides. */
export function csrfScenarios(browsing: Browsing): void {
  const app = () => browsing.application;

  async function signedIn(): Promise<Tab> {
    return (await browsing.user()).open(`${app().origin}/idpauth/login/`);
  }
  /**
   * Makes each attempt from a page of that origin, and returns the requests that arrived, by name.
   */
  async function attempted(
    tab: Tab,
    from: string,
    attempts: readonly (readonly [name: string, attempt: Attempt, ...unknown[]])[],
  ) {
    const requests: Record<string, Partial<Arrived>> = {};
    for (const [name, attempt] of attempts) {
      await tab.goto(`${from}/other`);
      app().arrived.length = 0;
      await tab.evaluate(`(async () => { ${attempt(`${app().origin}/items`)} })()`);
      await expect.poll(() => app().arrived.length, PATIENCE).toBeGreaterThan(0);
      const { method, site, origin, hasCookie, status } = app().arrived[0]!;
      requests[name] = { method, site, origin, hasCookie, status };
    }
    return requests;
  }
  const each = (expected: object) => Object.fromEntries(POSTS.map(([name]) => [name, expected]));

  const JSON_POSTS = [
    ["JSON", send({ headers: { "Content-Type": "application/json" }, body: "{}" })],
    ["with X-Idpauth", send({ headers: { "X-Idpauth": "1" }, body: "{}" })],
  ] as const;

  describe("[CSRF-2] a route behind auth.csrf", () => {
    it("runs for every request of the application's own pages", async () => {
      const { origin } = app();
      const expected = {
        method: "POST",
        site: "same-origin",
        origin,
        hasCookie: true,
        status: 200,
      };
      expect(await attempted(await signedIn(), origin, [...POSTS, ...JSON_POSTS])).toEqual({
        ...each(expected),
        JSON: expected,
        "with X-Idpauth": expected,
      });
    });

    it("refuses every request of a page on another port of the same site, although the cookie came with it", async () => {
      const origin = app().others.sameSite;
      const expected = { method: "POST", site: "same-site", origin, hasCookie: true, status: 403 };
      expect(await attempted(await signedIn(), origin, POSTS)).toEqual(each(expected));
    });

    it("refuses every request of another site, which comes without the cookie", async () => {
      const origin = app().others.crossSite;
      const expected = {
        method: "POST",
        site: "cross-site",
        origin,
        hasCookie: false,
        status: 403,
      };
      expect(await attempted(await signedIn(), origin, POSTS)).toEqual(each(expected));
    });

    it("refuses a form in a sandboxed frame, and gets only the preflight of a request with JSON or X-Idpauth from elsewhere", async () => {
      const tab = await signedIn();
      const { origin, others } = app();
      for (const from of [origin, others.sameSite, others.crossSite]) {
        const { frame } = await attempted(tab, from, [["frame", sandboxed]]);
        expect(frame).toMatchObject({
          method: "POST",
          site: "cross-site",
          origin: "null",
          status: 403,
        });
      }
      for (const from of [others.sameSite, others.crossSite]) {
        for (const { method } of Object.values(await attempted(tab, from, JSON_POSTS)))
          expect(method).toBe("OPTIONS");
        expect(app().arrived).toHaveLength(1);
      }
    });

    it("does not refuse GET from another site: a safe method must change nothing", async () => {
      const { image } = await attempted(await signedIn(), app().others.crossSite, [
        ["image", element("img")],
      ]);
      // The guard refuses, since the cookie does not come with it.
      expect(image).toEqual({
        method: "GET",
        site: "cross-site",
        origin: undefined,
        hasCookie: false,
        status: 401,
      });
    });
  });
}
