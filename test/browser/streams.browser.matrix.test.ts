import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { status } from "./client-application.js";
import {
  CONNECTIONS,
  startLiveApplication,
  type Live,
  type LiveApplication,
} from "./live-application.js";

const executablePath = await chromiumForTests();
const PATIENCE = { timeout: 60_000 };
const URLS = Object.keys(CONNECTIONS);

describe.skipIf(executablePath === undefined)("idpauth/client/streams, in a browser", () => {
  let browser: Browser;
  let application: LiveApplication;
  let context: BrowserContext;

  beforeAll(async () => {
    browser = await launchChromium(executablePath!);
    application = await startLiveApplication();
  });
  afterAll(async () => {
    await browser.close();
    await application.stop();
  });
  beforeEach(async () => {
    context = await browser.newContext();
  });
  afterEach(() => context.close());

  const live = (tab: Page) => tab.evaluate<Record<string, Live>>("live");
  const expectLive = (tab: Page, expected: Partial<Live>) =>
    expect
      .poll(() => live(tab), PATIENCE)
      .toMatchObject(Object.fromEntries(URLS.map((url) => [url, expected])));

  /** A page of a signed-in user with the four connections. */
  async function connected({ origin } = application, query = ""): Promise<Page> {
    const tab = await context.newPage();
    await tab.goto(`${origin}/idpauth/login/`);
    await tab.goto(`${origin}/app${query}`);
    await status(tab, "signed-in");
    for (const [url, kind] of Object.entries(CONNECTIONS))
      await tab.evaluate(`open("${kind}", "${url}")`);
    await expectLive(tab, { opened: 1, messages: [expect.any(String)] });
    return tab;
  }
  /** The probes since the last call. */
  function probes(): number {
    const seen = application.requests.splice(0);
    return seen.filter((url) => url.startsWith("/idpauth/session?")).length;
  }

  it("an administrator ends the session: all end as signed out, each after one probe at most", async () => {
    const tab = await connected();
    probes();
    await application.auth.endAllSessions({ iss: application.provider.issuer, sub: "ada" });
    await expectLive(tab, { opened: 1, reason: "signed-out" });
    expect(probes()).toBeLessThanOrEqual(URLS.length);
  });

  it.each(URLS)("%s ends after exactly one probe", async (url) => {
    const tab = await connected();
    const other = await context.newPage();
    await tab.close();
    await other.goto(`${application.origin}/app`);
    await status(other, "signed-in");
    await other.evaluate(`open("${CONNECTIONS[url as keyof typeof CONNECTIONS]}", "${url}")`);
    await expect.poll(() => live(other), PATIENCE).toMatchObject({ [url]: { opened: 1 } });
    probes();
    await application.auth.endAllSessions({ iss: application.provider.issuer, sub: "ada" });
    await expect
      .poll(() => live(other), PATIENCE)
      .toMatchObject({ [url]: { reason: "signed-out" } });
    expect(probes()).toBe(1);
  });

  it("the user signs out in another tab: all end", async () => {
    const tab = await connected();
    const other = await context.newPage();
    await other.goto(`${application.origin}/app`);
    await status(other, "signed-in");
    await Promise.all([other.waitForEvent("load"), other.evaluate("void auth.signOut()")]);
    await expectLive(tab, { opened: 1, reason: "signed-out" });
  });

  it("a step-up in another tab replaces the session: all open again, and the page never shows a sign-out", async () => {
    const tab = await connected();
    const other = await context.newPage();
    await other.goto(`${application.origin}/idpauth/login/?max_age=0`);
    await expectLive(tab, { opened: 2, reason: null });
    expect(await tab.evaluate("states")).not.toContain("signed-out");
  });

  it("they also open again if the client's event stream has reported the end of the old session", async () => {
    const tab = await connected(application, "?events");
    const other = await context.newPage();
    await other.goto(`${application.origin}/idpauth/login/?max_age=0`);
    await expectLive(tab, { opened: 2, reason: null });
  });

  it("the application restarts: streams continue after the last event", async () => {
    const tab = await connected();
    application.ids.length = 0;
    await application.isDown(true);
    await expect.poll(() => tab.evaluate("states.at(-1)"), PATIENCE).toBe("unavailable");
    await application.isDown(false);
    await expectLive(tab, { opened: 2, reason: null });
    expect((await live(tab))["/api/stream"]?.messages).toEqual(["1", "2"]);
    expect((await live(tab))["/api/orders/stream"]?.messages).toEqual(["1", "2"]);
    expect(application.ids).toEqual(["1"]);
  });

  it("the session reaches its limit: all end with this reason", async () => {
    const limited = await startLiveApplication({ sessionMaxAge: 5 });
    try {
      const tab = await connected(limited);
      await expectLive(tab, { opened: 1, reason: "session-limit" });
    } finally {
      await limited.stop();
    }
  });

  it("a page of a signed-out user opens them when the user signs in", async () => {
    const tab = await context.newPage();
    await tab.goto(`${application.origin}/app`);
    await status(tab, "signed-out");
    await tab.evaluate('open("stream", "/api/orders/stream")');
    application.requests.length = 0;
    const other = await context.newPage();
    await other.goto(`${application.origin}/app`);
    await Promise.all([other.waitForURL("**/app"), other.evaluate("void auth.signIn()")]);
    await expect
      .poll(() => live(tab), PATIENCE)
      .toMatchObject({ "/api/orders/stream": { opened: 1 } });
    expect(application.requests.filter((url) => url.endsWith("/stream"))).toHaveLength(1);
  });
});
