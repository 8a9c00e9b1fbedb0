import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { status } from "./client-application.js";
import { expectUsable } from "./test-user.js";
import { startWarningApplication, type WarningApplication } from "./warning-application.js";
import { watchedContext } from "./patient-context.js";

const executablePath = await chromiumForTests();

const ENDING = "Your session is about to end";
const ENDED = "Your session has ended";

const region = (tab: Page, name: string): Locator => tab.getByRole("region", { name });
/** What screen readers say. */
const said = (tab: Page) =>
  tab.evaluate<string>(`warning.shadowRoot.querySelector(".said").innerText`);
/** What has the focus: an element of the page, or a button of the warning. */
const focused = (tab: Page) =>
  tab.evaluate<string>(
    `(document.activeElement.shadowRoot?.activeElement ?? document.activeElement).innerText || document.activeElement.localName`,
  );
const draft = (tab: Page) => tab.getByLabel("Draft");

describe.skipIf(executablePath === undefined)("<idpauth-warning>", () => {
  let browser: Browser;
  let idle: WarningApplication;
  let aged: WarningApplication;
  let context: BrowserContext;
  /** What the browser complains about, such as the policy. */
  let complaints: string[];

  beforeAll(async () => {
    browser = await launchChromium(executablePath!);
    idle = await startWarningApplication({ sessionIdleTimeout: 3600 });
    aged = await startWarningApplication({ sessionMaxAge: 3600 });
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([idle.stop(), aged.stop()]);
  });
  beforeEach(async () => {
    ({ context, complaints } = await watchedContext(browser));
  });
  afterEach(async () => {
    await context.close();
    idle.isDown = false;
    const isHarmless = (text: string) => text.includes("the server responded with a status of 503");
    expect(complaints.filter((text) => !isHarmless(text))).toEqual([]);
  });

  /** A page of a user who has signed in, with a draft that has the focus. */
  async function openPage({ origin }: WarningApplication, query = ""): Promise<Page> {
    const tab = await context.newPage();
    await tab.goto(`${origin}/idpauth/login/`);
    await tab.goto(`${origin}/form?${query}`);
    await status(tab, "signed-in");
    await expect.poll(() => tab.evaluate("warning.client === undefined")).toBe(false);
    await draft(tab).fill("half a sentence");
    return tab;
  }

  /** Time passes for the server and the provider, and the page hears of it. */
  async function pass({ provider }: WarningApplication, seconds: number, tab: Page) {
    provider.clock.advance(seconds * 1000);
    await tab.evaluate("auth.refresh().then(() => {})");
  }

  /** Clicks, and waits until the window in which the user signs in has closed. */
  async function signInBy(tab: Page, button: string): Promise<void> {
    const opened = context.waitForEvent("page");
    await tab.getByRole("button", { name: button }).click();
    const popup = await opened;
    if (!popup.isClosed()) await popup.waitForEvent("close");
  }

  it("warns before the idle timeout, and keeps the user signed in by the keyboard alone", async () => {
    const tab = await openPage(idle);
    expect(await region(tab, ENDING).count()).toBe(0);
    await pass(idle, 3500, tab);
    await region(tab, ENDING).waitFor();
    expect(await focused(tab)).toBe("textarea");
    expect(await tab.getByRole("timer").innerText()).toMatch(/^1:[34]\d$/);
    expect(await said(tab)).toMatch(
      /^Your session ends in \d+ seconds\. You haven't been active for a while\.$/,
    );
    for (const name of ["Hide", "Stay signed in"]) {
      await tab.keyboard.press("Shift+Tab");
      expect(await focused(tab)).toBe(name);
    }
    await tab.keyboard.press("Enter");
    await region(tab, ENDING).waitFor({ state: "hidden" });
    expect(await focused(tab)).toBe("textarea");
    expect(await said(tab)).toBe("");
    expect(await tab.evaluate("auth.getState().deadlines.end - Date.now() > 3_500_000")).toBe(true);
  });

  it("hides by Escape, returns the focus, and shows the end all the same", async () => {
    const tab = await openPage(idle);
    await pass(idle, 3500, tab);
    await region(tab, ENDING).waitFor();
    await tab.evaluate("warning.focus()");
    expect(await focused(tab)).toBe("Stay signed in");
    await tab.keyboard.press("Escape");
    await region(tab, ENDING).waitFor({ state: "hidden" });
    expect(await focused(tab)).toBe("textarea");
    await pass(idle, 10, tab);
    expect(await region(tab, ENDING).count()).toBe(0);
    await pass(idle, 200, tab);
    await region(tab, ENDED).waitFor();
    expect(await said(tab)).toBe(
      "Your session has ended. Sign in again in a new window. This page stays open.",
    );
    await signInBy(tab, "Sign in");
    await region(tab, ENDED).waitFor({ state: "hidden" });
    await status(tab, "signed-in");
    expect(await draft(tab).inputValue()).toBe("half a sentence");
  });

  it("before the maximum age a new sign-in in a window starts a new session, and the page keeps its form", async () => {
    const tab = await openPage(aged);
    await pass(aged, 3500, tab);
    await region(tab, ENDING).waitFor();
    await signInBy(tab, "Sign in again");
    await region(tab, ENDING).waitFor({ state: "hidden" });
    expect(await tab.evaluate("auth.getState().deadlines.end - Date.now() > 3_500_000")).toBe(true);
    expect(await draft(tab).inputValue()).toBe("half a sentence");
  });

  it("says that the browser has blocked the window, and that a login has failed", async () => {
    const tab = await openPage(aged);
    await pass(aged, 3590, tab);
    await tab.evaluate("self.open = () => null");
    await tab.getByRole("button", { name: "Sign in again" }).click();
    const alert = tab.getByRole("alert").filter({ hasText: "blocked" });
    await alert.waitFor();
    expect(await alert.innerText()).toBe(
      "Your browser blocked the window. Allow pop-ups for this site, and try again.",
    );
    await tab.evaluate(
      `warning.client = { ...auth, signIn: () => Promise.reject(Object.assign(new Error("server_error"), { name: "SignInError" })) }`,
    );
    await tab.getByRole("button", { name: "Sign in again" }).click();
    await tab.getByText("You weren't signed in. Try again.").waitFor();
  });

  it("shows the sign-out in another tab, and no sign-out on a page that nobody has been signed in on", async () => {
    const tab = await openPage(idle);
    const other = await context.newPage();
    await other.goto(`${idle.origin}/form`);
    await status(other, "signed-in");
    await other.evaluate("void auth.signOut()");
    await region(tab, "You are signed out").waitFor();
    const later = await context.newPage();
    await later.goto(`${idle.origin}/form`);
    await status(later, "signed-out");
    expect(await later.getByRole("region").count()).toBe(0);
  });

  it("during an outage claims no end, and tries again", async () => {
    const tab = await openPage(idle);
    await pass(idle, 3500, tab);
    idle.isDown = true;
    await tab.getByRole("button", { name: "Stay signed in" }).click();
    await region(tab, "The server isn't responding").waitFor();
    idle.isDown = false;
    await tab.getByRole("button", { name: "Try again" }).click();
    await tab.getByRole("region").waitFor({ state: "hidden" });
    await status(tab, "signed-in");
  });

  it("signs in at the provider that its attribute or its property names", async () => {
    const element = `<idpauth-warning provider="staff"></idpauth-warning>`;
    const tab = await openPage(aged, `element=${encodeURIComponent(element)}`);
    await pass(aged, 3500, tab);
    await tab.evaluate(
      `self.opened = []; self.open = (url) => void opened.push(new URL(url).searchParams.get("provider"))`,
    );
    for (const provider of ["staff", "customers", undefined]) {
      if (provider !== "staff")
        await tab.evaluate(`warning.provider = ${JSON.stringify(provider)}`);
      await tab.getByRole("button", { name: "Sign in again" }).click();
    }
    expect(await tab.evaluate("opened")).toEqual(["staff", "customers", null]);
    expect(await tab.evaluate("warning.hasAttribute('provider')")).toBe(false);
  });

  it("has no timer and no panel after it is removed, and two elements are one warning each", async () => {
    const tab = await openPage(
      idle,
      `element=${encodeURIComponent("<idpauth-warning></idpauth-warning>".repeat(2))}`,
    );
    await pass(idle, 3500, tab);
    await expect.poll(() => region(tab, ENDING).count()).toBe(2);
    await tab.evaluate("document.querySelectorAll('idpauth-warning')[1].remove()");
    await expect.poll(() => region(tab, ENDING).count()).toBe(1);
    await tab.evaluate("warning.remove(); auth.close(); warning.seconds = 110; warning.texts = {}");
    expect(await region(tab, ENDING).count()).toBe(0);
    expect(await tab.evaluate("running.size")).toBe(0);
    await tab.evaluate("document.body.append(warning)");
    await region(tab, ENDING).waitFor();
  });

  it("speaks the page's language, and shows the application's texts and nodes", async () => {
    const element = `<idpauth-warning seconds="200"><b slot="idle">Nichts gespeichert.</b><button slot="actions">Speichern</button></idpauth-warning>`;
    const tab = await openPage(idle, `lang=de-AT&element=${encodeURIComponent(element)}`);
    await pass(idle, 3420, tab);
    const panel = region(tab, "Ihre Sitzung endet bald");
    await panel.waitFor();
    expect(await said(tab)).toBe("Ihre Sitzung endet in 3 Minuten. Nichts gespeichert.");
    await tab.getByRole("button", { name: "Speichern" }).waitFor();
    await tab.evaluate(`warning.texts = { stay: "Weiterarbeiten" }`);
    await tab.getByRole("button", { name: "Weiterarbeiten" }).click();
    await panel.waitFor({ state: "hidden" });
  });

  it.each(["Escape", "Hide"])(
    "returns the focus also from a button of the application (%s)",
    async (way) => {
      const element = `<idpauth-warning><button slot="actions">Save</button></idpauth-warning>`;
      const tab = await openPage(idle, `element=${encodeURIComponent(element)}`);
      await pass(idle, 3500, tab);
      const panel = region(tab, ENDING);
      await panel.waitFor();
      await tab.evaluate("warning.focus()");
      await tab.keyboard.press("Tab");
      expect(await focused(tab)).toBe("Save");
      if (way === "Hide") {
        await tab.keyboard.press("Tab");
        expect(await focused(tab)).toBe("Hide");
      }
      await tab.keyboard.press(way === "Hide" ? "Enter" : "Escape");
      await panel.waitFor({ state: "hidden" });
      expect(await focused(tab)).toBe("textarea");
    },
  );

  it.each([
    ["", 3500],
    ["lang=ar&dir=rtl", 3500],
    ["lang=de", 3700],
  ])(
    "is usable on a phone and a desktop, light and dark, with %j after %d s",
    async (query, seconds) => {
      const tab = await openPage(idle, query);
      await pass(idle, seconds, tab);
      const panel = tab.getByRole("region");
      await panel.waitFor();
      await expectUsable(tab);
      const [box, size] = [(await panel.boundingBox())!, tab.viewportSize()!];
      const isAtTheEnd = box.x > size.width - box.x - box.width;
      expect(isAtTheEnd).toBe(!query.includes("rtl"));
      // Without motion.
      expect(await tab.evaluate("warning.shadowRoot.getAnimations().length")).toBe(0);
    },
  );

  it("fits into 320 px at a text size of 200 %, and its buttons can be reached", async () => {
    const tab = await openPage(idle, "lang=de");
    await tab.setViewportSize({ width: 320, height: 480 });
    await tab.evaluate("document.documentElement.style.fontSize = '200%'");
    await pass(idle, 3500, tab);
    const panel = tab.getByRole("region");
    await panel.waitFor();
    const { x, y, width, height } = (await panel.boundingBox())!;
    expect(Math.min(x, y, 320 - x - width, 480 - y - height)).toBeGreaterThanOrEqual(0);
    expect(await panel.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0);
    await tab.getByRole("button", { name: "Angemeldet bleiben" }).click();
    await panel.waitFor({ state: "hidden" });
  });
});
