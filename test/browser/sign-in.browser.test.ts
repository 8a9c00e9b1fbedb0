import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { startTestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../adapters/applications/listen.js";
import { chromiumForTests } from "../support/chromium.js";
import { CHOICE } from "./stage-application.js";
import { useStage } from "./stage.js";
import { choose, expectUsable, heading, type TestUser } from "./test-user.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)("signing in, in a browser", () => {
  const stage = useStage(executablePath);

  it("redirects from a guarded page to the provider and back to exactly that page, with its query", async () => {
    const { user } = await stage.open();
    const page = "/reports?quarter=3&name=%C3%A9%20%26%2Fx&empty=";
    const tab = await user.askFor(page);
    expect(await heading(tab)).toBe(CHOICE);
    await choose(tab, "ada");
    expect(tab.url()).toBe(user.url(page));
    expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
  });

  it("works as a whole: home, guarded page, interfaces, landing page, sign-out", async () => {
    const { user } = await stage.open();
    const tab = await user.askFor("/");
    await tab.getByRole("link", { name: "Reports", exact: true }).click();
    await choose(tab, "ada");
    expect(tab.url()).toBe(user.url("/reports"));

    for (const [path, expected] of [
      ["/api/reports", { user: { name: "Ada Lovelace" } }],
      ["/idpauth/session", { authenticated: true, user: { email: "ada@example.com" } }],
    ] as const) {
      await tab.goto(user.url(path));
      expect(await shownJson(tab)).toMatchObject(expected);
    }

    await tab.goto(user.url("/idpauth/"));
    expect(await heading(tab)).toBe("You are signed in");
    await expectUsable(tab);
    await tab.getByRole("link", { name: "Sign out" }).click();
    expect(tab.url()).toBe(user.url("/idpauth/"));
    expect(await heading(tab)).toBe("You are signed out");
    await expectUsable(tab);
  });

  it("loading the callback again brings the user to their page again, and does not sign anybody in again", async () => {
    const { user } = await stage.open();
    const tab = await user.signIn("/reports?again=1");
    const callback = user.callbacks.at(-1) ?? "";
    const before = await debugJson(user);
    await tab.goto(callback);
    expect(tab.url()).toBe(user.url("/reports?again=1"));
    const after = await debugJson(user);
    expect(after.session).toEqual(before.session);
  });

  it("a callback that arrives twice at once, as after a double click, signs in once and harms nothing", async () => {
    const { user } = await stage.open();
    const [first, second] = [await user.askFor("/reports?double=1"), await user.tab()];
    await user.context.route("**/login-callback?*", (route) => route.abort());
    await first.getByRole("button", { name: "Ada Lovelace" }).click();
    await expect.poll(() => user.callbacks.length).toBe(1);
    await user.context.unroute("**/login-callback?*");
    await Promise.all([first, second].map((tab) => tab.goto(user.callbacks[0] ?? "")));
    for (const tab of [first, second]) {
      expect(tab.url()).toBe(user.url("/reports?double=1"));
      expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
    }
  });

  it("two tabs log in at the same time, and each comes back to its own page", async () => {
    const { user } = await stage.open();
    const first = await user.askFor("/reports?tab=1");
    const second = await user.askFor("/reports?tab=2");
    await choose(second, "ada");
    await choose(first, "ada");
    expect(first.url()).toBe(user.url("/reports?tab=1"));
    expect(second.url()).toBe(user.url("/reports?tab=2"));
    for (const tab of [first, second])
      expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
  });

  it("another account takes the place of the first one", async () => {
    const { user } = await stage.open();
    const tab = await user.signIn("/idpauth/login/", "ada");
    expect(await tab.innerText("main")).toContain("ada@example.com");
    await tab.getByRole("link", { name: "Use another account" }).click();
    await choose(tab, "grace");
    expect(tab.url()).toBe(user.url("/idpauth/"));
    expect(await tab.innerText("main")).toContain("grace@example.com");
    expect(await shownJson(tab, user.url("/api/reports"))).toMatchObject({
      user: { email: "grace@example.com" },
    });
  });

  it("the browser gets one cookie: for this hostname only, out of reach of scripts, not sent along by other sites' posts", async () => {
    const { user } = await stage.open();
    await user.signIn("/reports");
    const own = await ownCookies(user);
    expect(own).toEqual([
      expect.objectContaining({
        name: "idpauth",
        domain: "127.0.0.1",
        path: "/",
        httpOnly: true,
        sameSite: "Lax",
        secure: false,
      }),
    ]);
    const days = ((own[0]?.expires ?? 0) - Date.now() / 1000) / 86_400;
    expect(days).toBeGreaterThan(399.9);
    expect(days).toBeLessThan(400.001);
    // Fixation: what the browser held before the sign-in leads nowhere afterwards.
    const other = await stage.user(user.origin);
    const tab = await other.askFor("/reports");
    const before = (await ownCookies(other))[0]?.value;
    await choose(tab, "ada");
    expect((await ownCookies(other))[0]?.value).not.toBe(before);
  });

  it("a user who only opens public pages gets no cookie", async () => {
    const { user } = await stage.open();
    const tab = await user.askFor("/");
    await tab.goto(user.url("/idpauth/"));
    await tab.goto(user.url("/idpauth/session"));
    expect(await user.context.cookies()).toEqual([]);
  });

  it("the browser sends requests only to the provider: for its pages, and for the one picture", async () => {
    const pictures = await listen((_request, response) => {
      response.setHeader("Content-Type", "image/svg+xml");
      response.end('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>');
    });
    const picture = `http://127.0.0.1:${pictures.port}/ada.svg`;
    const provider = await startTestProvider({ person: { sub: "ada", name: "Ada", picture } });
    const { user } = await stage.open({ provider });
    const tab = await user.askFor("/idpauth/");
    await tab.getByRole("link", { name: "Sign in" }).click();
    const { origin } = new URL(picture);
    expect([...user.asked.keys()].sort()).toEqual([user.origin, provider.issuer, origin].sort());
    expect(await tab.locator("main img").getAttribute("src")).toBe(picture);
    await expect
      .poll(() => tab.evaluate("document.querySelector('main img').naturalWidth"))
      .toBeGreaterThan(0);
    // What the landing page itself asked for.
    user.asked.clear();
    await tab.reload({ waitUntil: "networkidle" });
    expect(user.asked).toEqual(
      new Map([
        [user.origin, new Set(["document", "stylesheet"])],
        [origin, new Set(["image"])],
      ]),
    );
    await pictures.stop();
  });

  it("Cancel at the provider redirects to the landing page, which explains access_denied; its button tries the same login again", async () => {
    const { user } = await stage.open();
    const tab = await user.askFor("/reports");
    await choose(tab, "cancel");
    expect(tab.url()).toBe(user.url("/idpauth/?error=access_denied"));
    expect(await tab.getByRole("alert").innerText()).toContain("You did not give your consent");
    expect(await heading(tab)).toBe("You are signed out");
    await expectUsable(tab);
    await tab.getByRole("link", { name: "Try again" }).click();
    await choose(tab, "ada");
    expect(tab.url()).toBe(user.url("/reports"));
    expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
  });

  it("Cancel while signed in leaves the user signed in", async () => {
    const { user } = await stage.open();
    const tab = await user.signIn();
    await tab.getByRole("link", { name: "Use another account" }).click();
    await choose(tab, "cancel");
    expect(await tab.getByRole("alert").innerText()).toContain("access_denied");
    expect(await heading(tab)).toBe("You are signed in");
    await expectUsable(tab);
  });

  it("[R11] the back button after the sign-in sends nothing twice and shows no error", async () => {
    const { user } = await stage.open();
    const tab = await user.signIn("/reports");
    const before = await debugJson(user);
    const failed: string[] = [];
    tab.on("response", (response) => {
      if (response.url().startsWith(user.origin) && response.status() >= 400)
        failed.push(`${String(response.status())} ${response.url()}`);
    });
    await tab.goBack();
    // The provider's page, which is the provider's: the callback is not in the browser's history.
    expect(new URL(tab.url()).origin).not.toBe(user.origin);
    await tab.goForward();
    expect(tab.url()).toBe(user.url("/reports"));
    expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
    expect(user.callbacks).toHaveLength(1);
    expect((await debugJson(user)).session).toEqual(before.session);
    expect(failed).toEqual([]);
  });

  it("a sign-in link of another browser is refused with a page that starts again", async () => {
    const { user } = await stage.open();
    await user.signIn("/reports");
    const stranger = await stage.user(user.origin);
    const tab = await stranger.askFor(user.callbacks[0] ?? "");
    expect(await heading(tab)).toBe("This sign-in link is no longer valid");
    await expectUsable(tab);
    await tab.getByRole("link", { name: "Start again" }).click();
    await choose(tab, "grace");
    expect(await tab.innerText("main")).toContain("Grace Hopper");
  });

  it.each([
    ["/idpauth/login/?scheme=NONSENSE&response=xml", 400, "PRESERVE_ORIGIN_QP"],
    ["/idpauth/nowhere", 404, "not_found"],
    ["/idpauth/login-callback", 400, "login_link_invalid"],
    ["/idpauth/logout/?response=", 400, "invalid_parameter"],
  ])("%s is a page with status %i that everybody can read", async (path, status, text) => {
    const { user } = await stage.open();
    const tab = await user.tab();
    const response = await tab.goto(user.url(path));
    expect(response?.status()).toBe(status);
    expect(await tab.innerText("main")).toContain(text);
    await expectUsable(tab);
  });
});

/**
 * The user's cookies that the application set; the provider lives on the same host, and cookies
 * know no ports.
 */
async function ownCookies(user: TestUser) {
  return (await user.context.cookies()).filter(({ name }) => !name.startsWith("_"));
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the test knows what it asked for
async function shownJson(tab: Page, url?: string): Promise<any> {
  if (url !== undefined) await tab.goto(url);
  return JSON.parse(await tab.innerText("pre"));
}

/** What the debug endpoint responds to a script in the browser; a navigation gets a page. */
async function debugJson(user: TestUser): Promise<{ readonly session: unknown }> {
  const response = await user.context.request.get(user.url("/idpauth/debug"));
  return (await response.json()) as { session: unknown };
}
