import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { serveNext, type NextServer } from "../adapters/applications/next.js";
import { ApplicationStarter } from "../../packages/idpauth-conformance/src/adapter/application-starter.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { heading, TestUser } from "./test-user.js";

const executablePath = await chromiumForTests();

/** The provider agrees by itself: asking for a guarded page is the whole sign-in. */
describe.skipIf(executablePath === undefined)("a production build of Next.js, in a browser", () => {
  let server: NextServer;
  let browser: Browser;
  let starter: ApplicationStarter;
  let user: TestUser | undefined;

  beforeAll(async () => {
    server = await serveNext();
    browser = await launchChromium(executablePath!);
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await server.close();
  });
  afterEach(async () => {
    await user?.leave();
    await starter.stop();
    expect(user?.complaints).toEqual([]);
  });

  async function open() {
    starter = new ApplicationStarter({ name: "Next.js", start: server.start }, "bundled");
    const app = await starter.start({
      options: { authFinalRedirectUrl: "/welcome", authLogoutRedirectUrl: "/welcome" },
    });
    user = await TestUser.arrive(browser, app.origin, {
      colorScheme: "light",
      viewport: { width: 900, height: 620 },
    });
    return { app, user, tab: await user.tab() };
  }

  it("redirects from a guarded page to the provider and back, through pages without a reload, to the sign-out, and is guarded again", async () => {
    const { app, user: ada, tab } = await open();
    const loads: string[] = [];
    tab.on("request", (request) => {
      if (request.isNavigationRequest()) loads.push(new URL(request.url()).pathname);
    });

    await tab.goto(ada.url("/members?q=a%2Fb"));
    expect(tab.url()).toBe(ada.url("/members?q=a%2Fb"));
    expect([await heading(tab), await tab.innerText("p")]).toEqual([
      "Welcome, Ada Lovelace",
      "You asked for a/b.",
    ]);
    expect(loads).toEqual([
      "/members",
      "/idpauth/login/",
      "/authorize",
      "/idpauth/login-callback",
      "/members",
    ]);

    await follow(tab, "Ada’s page", "About ada");
    expect(await tab.innerText("p")).toBe("The access token is here.");
    await follow(tab, "All members", "Welcome, Ada Lovelace");
    expect(loads).toHaveLength(5);

    await follow(tab, "Sign out", "Hello, stranger");
    expect(loads.slice(5)).toEqual(["/idpauth/logout/", "/welcome"]);
    expect(app.provider.requestsTo("revoke")).toHaveLength(1);

    expect(app.provider.requestsTo("authorize")).toHaveLength(1);
    await tab.goto(ada.url("/members"));
    expect(app.provider.requestsTo("authorize")).toHaveLength(2);
  });

  it("a link within the application to a guarded page signs in as a click on it, once", async () => {
    const { app, user: ada, tab } = await open();
    await tab.goto(ada.url("/welcome"));
    await follow(tab, "Members", "Welcome, Ada Lovelace");
    expect(tab.url()).toBe(ada.url("/members"));
    expect(app.provider.requestsTo("authorize")).toHaveLength(1);
  });

  it("so does a link to the login itself; prefetching it does nothing", async () => {
    const { app, user: ada, tab } = await open();
    const prefetch = tab.waitForResponse((response) => response.url().includes("/idpauth/login/"));
    await tab.goto(ada.url("/welcome"));
    expect([(await prefetch).status(), await ada.context.cookies()]).toEqual([503, []]);
    await follow(tab, "Sign in", "Hello, Ada Lovelace");
    expect(app.provider.requestsTo("authorize")).toHaveLength(1);
  });

  it("a server action of a page that was left open after the sign-out redirects to a new sign-in and back", async () => {
    const { user: ada, tab } = await open();
    await tab.goto(ada.url("/welcome"));
    await tab.getByRole("button", { name: "Who am I?" }).click();
    await tab.waitForURL(ada.url("/welcome"));
    await expect.poll(() => heading(tab)).toBe("Hello, Ada Lovelace");
    await tab.getByRole("button", { name: "Who am I?" }).click();
    await expect.poll(() => heading(tab)).toBe("Welcome, Ada Lovelace");
    expect(await tab.innerText("p")).toBe("You asked for ada@example.com.");
  });

  it("a server action of a guarded page after the session's end redirects to the sign-in and back to the page with its query, and then works", async () => {
    const { app, user: ada, tab } = await open();
    const failures: string[] = [];
    tab.on("pageerror", (error) => failures.push(error.message));
    await tab.goto(ada.url("/members?q=a%2Fb"));
    const greet = tab.getByRole("button", { name: "Greet" });
    const other = await ada.tab();
    await other.goto(ada.url("/idpauth/logout/"));

    const action = tab.waitForResponse((response) => response.request().method() === "POST");
    const back = tab.waitForEvent("load");
    await greet.click();
    expect((await action).status()).toBe(401);
    await back;
    expect(tab.url()).toBe(ada.url("/members?q=a%2Fb"));
    expect([await heading(tab), await tab.innerText("p")]).toEqual([
      "Welcome, Ada Lovelace",
      "You asked for a/b.",
    ]);
    expect(app.provider.requestsTo("authorize")).toHaveLength(2);

    await greet.click();
    await expect.poll(() => tab.innerText("p")).toBe("You asked for greetings to Ada Lovelace.");
    expect(failures).toEqual([]);
  });
});

/** Clicks, and waits for the page that this leads to. */
async function follow(tab: Page, link: string, title: string): Promise<void> {
  await tab.getByRole("link", { name: link, exact: true }).click();
  await tab.getByRole("heading", { level: 1, name: title }).waitFor();
}
