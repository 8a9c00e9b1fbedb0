import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { startClientApplication, status, type ClientApplication } from "./client-application.js";
import { patientContext } from "./patient-context.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)("idpauth/client, in a browser", () => {
  let browser: Browser;
  let application: ClientApplication;
  let context: BrowserContext;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium(executablePath!);
    application = await startClientApplication({
      sessionIdleTimeout: 3600,
      sessionsPage: true,
      events: true,
      clientData: () => ({ role: "editor" }),
    });
  });
  afterAll(async () => {
    await browser.close();
    await application.stop();
  });
  beforeEach(async () => {
    context = await patientContext(browser);
    context.on("weberror", (error) => complaints.push(error.error().message));
    context.on("console", (message) => {
      if (/Content Security Policy|Uncaught/.test(message.text())) complaints.push(message.text());
    });
  });
  afterEach(async () => {
    await context.close();
    application.provider.person = { sub: "ada", name: "Ada Lovelace" };
    expect(complaints.splice(0)).toEqual([]);
  });

  const url = (path: string) => `${application.origin}${path}`;

  async function open(path = "/app", options: object = {}): Promise<Page> {
    const tab = await context.newPage();
    const target = new URL(url(path));
    target.searchParams.set("options", JSON.stringify(options));
    await tab.goto(target.href);
    return tab;
  }

  /** A tab whose user has signed in by the client. */
  async function signedIn(path = "/app", options: object = {}): Promise<Page> {
    const tab = await open(path, options);
    await status(tab, "signed-out");
    await navigate(tab, "auth.signIn()");
    await status(tab, "signed-in");
    return tab;
  }

  /**
   * Calls a function of the client that leaves the page, and waits for the page on which the
   * browser ends.
   */
  async function navigate(tab: Page, call: string): Promise<void> {
    await Promise.all([tab.waitForEvent("load"), tab.evaluate(`void ${call}`)]);
  }

  const state = (tab: Page) => tab.evaluate<Record<string, unknown>>("auth.getState()");

  it("signIn returns to the very address, fragment and all; the state has user, data and deadlines", async () => {
    const tab = await open("/list/3?q=a%26b+c#/row/7?x=1");
    await status(tab, "signed-out");
    expect(await state(tab)).toMatchObject({ reason: "no_credentials", user: null });
    const address = tab.url();
    await navigate(tab, "auth.signIn()");
    await status(tab, "signed-in");
    expect(tab.url()).toBe(address);
    const { user, data, deadlines, account } = (await state(tab)) as {
      deadlines: { idle: number; end: number };
    } & Record<string, unknown>;
    expect({ user, data }).toMatchObject({
      user: { name: "Ada Lovelace" },
      data: { role: "editor" },
    });
    expect(account).toEqual(expect.any(String));
    expect(deadlines.end).toBe(deadlines.idle);
    const now = await tab.evaluate<number>("Date.now()");
    expect(Math.abs(deadlines.idle - now - 3_600_000)).toBeLessThan(60_000);
  });

  it("a sign-out in one tab shows in all", async () => {
    const first = await signedIn();
    const others = await Promise.all([open("/a"), open("/b"), open("/c")]);
    for (const tab of others) await status(tab, "signed-in");
    await navigate(first, "auth.signOut()");
    expect(first.url()).toBe(url("/idpauth/"));
    for (const tab of others) await status(tab, "signed-out");
  });

  it("signOut everywhere ends the user's sessions in other browsers, too", async () => {
    const first = await signedIn();
    const other = await browser.newContext();
    const tab = await other.newPage();
    await tab.goto(url("/idpauth/login/"));
    await tab.goto(url("/app"));
    await status(tab, "signed-in");
    await navigate(first, "auth.signOut({ everywhere: true })");
    await tab.evaluate("auth.refresh()");
    await status(tab, "signed-out");
    await other.close();
  });

  it("a request that meets the end of the session waits, and is repeated once after a sign-in in another tab", async () => {
    const tab = await signedIn();
    await application.auth.endAllSessions({ iss: application.provider.issuer, sub: "ada" });
    const before = application.posts();
    await tab.evaluate(
      `void (self.saved = auth.fetch("/api/items", { method: "POST", body: "half-filled form" }).then((r) => r.status))`,
    );
    await status(tab, "signed-out");
    expect(await state(tab)).toMatchObject({ reason: "ended_everywhere" });
    const other = await open("/other");
    await status(other, "signed-out");
    expect(application.items).not.toContain("half-filled form");
    await navigate(other, "auth.signIn()");
    expect(await tab.evaluate("saved")).toBe(200);
    expect(application.items).toContain("half-filled form");
    expect(application.posts() - before).toBe(2);
    await status(tab, "signed-in");
  });

  it("the request is not repeated for another user, of whom the application is notified", async () => {
    const tab = await signedIn();
    await application.auth.endAllSessions({ iss: application.provider.issuer, sub: "ada" });
    const before = application.posts();
    await tab.evaluate(
      `void (self.failed = auth.fetch("/api/items", { method: "POST", body: "Ada's" }).catch((e) => e.name))`,
    );
    await status(tab, "signed-out");
    application.provider.person = { sub: "bob", name: "Bob" };
    const other = await open("/other");
    await navigate(other, "auth.signIn()");
    expect(await tab.evaluate("failed")).toBe("UserChangedError");
    expect(await tab.evaluate("changes")).toEqual(["Bob"]);
    expect(application.posts() - before).toBe(1);
  });

  it("a popup window signs in while the page keeps its form, and closes", async () => {
    const tab = await open("/form");
    await status(tab, "signed-out");
    await tab.evaluate(`document.body.innerHTML = "<input>"`);
    await tab.fill("input", "half-filled");
    const opened = context.waitForEvent("page");
    await tab.evaluate(
      "void (self.signing = auth.signIn({ popup: true }).then(({ status }) => status))",
    );
    const popup = await opened;
    if (!popup.isClosed()) await popup.waitForEvent("close");
    expect(await tab.evaluate("signing")).toBe("signed-in");
    expect(await tab.inputValue("input")).toBe("half-filled");
    expect(await state(tab)).toMatchObject({ user: { name: "Ada Lovelace" } });
  });

  it("a page in the back/forward cache probes again when it is shown", async () => {
    const other = await launchChromium(executablePath!, { cachesPages: true });
    context = await other.newContext();
    const tab = await signedIn();
    await tab.goto(url("/without-client"));
    await application.auth.endAllSessions({ iss: application.provider.issuer, sub: "ada" });
    // goBack() of Playwright waits for a navigation that the cache does not need.
    await tab.evaluate("void history.back()");
    await expect.poll(() => tab.url()).toBe(url("/app?options=%7B%7D"));
    expect(await tab.evaluate("isFromCache")).toBe(true);
    await status(tab, "signed-out");
    await other.close();
  });

  it("with the event stream an end on the server shows at once", async () => {
    const tab = await open("/app", { events: true, probeInterval: 86_400 });
    await status(tab, "signed-out");
    const opened = context.waitForEvent(
      "response",
      (response) => response.url() === url("/idpauth/events"),
    );
    await navigate(tab, "auth.signIn()");
    expect((await opened).status()).toBe(200);
    await application.auth.endAllSessions({ iss: application.provider.issuer, sub: "ada" });
    await status(tab, "signed-out");
    expect(await state(tab)).toMatchObject({ reason: "ended_everywhere" });
  });

  it("an outage of the network is unavailable with the user, and over when the network is back", async () => {
    const tab = await signedIn();
    await context.setOffline(true);
    await tab.evaluate("auth.refresh()");
    expect(await state(tab)).toMatchObject({
      status: "unavailable",
      user: { name: "Ada Lovelace" },
    });
    await context.setOffline(false);
    await status(tab, "signed-in");
  });

  it("fetch refuses another origin before anything is sent, also if the page's base element points there", async () => {
    const tab = await signedIn();
    const sent: string[] = [];
    context.on("request", (request) => sent.push(new URL(request.url()).origin));
    await tab.evaluate(
      `document.head.insertAdjacentHTML("beforeend", '<base href="https://other.example/">')`,
    );
    expect(await tab.evaluate(`auth.fetch("/api/items").catch((error) => error.name)`)).toBe(
      "TypeError",
    );
    await tab.evaluate("auth.refresh()");
    expect(new Set(sent)).toEqual(new Set([application.origin]));
    await status(tab, "signed-in");
  });

  it("close leaves nothing running", async () => {
    const tab = await signedIn();
    const [other, third] = [await open("/other"), await open("/third")];
    for (const one of [other, third]) await status(one, "signed-in");
    await tab.evaluate("auth.close()");
    await navigate(other, "auth.signOut()");
    await status(third, "signed-out");
    expect(await state(tab)).toMatchObject({ status: "signed-in" });
  });
});
