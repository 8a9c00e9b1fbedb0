import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { startClientApplication, status, type ClientApplication } from "./client-application.js";
import { patientContext } from "./patient-context.js";

const executablePath = await chromiumForTests();
const PATIENCE = { timeout: 30_000 };

/** How a sign-in in a window of its own ends without a new session. */
describe.skipIf(executablePath === undefined)("a sign-in in a popup window", () => {
  let browser: Browser;
  let application: ClientApplication;
  let context: BrowserContext;

  beforeAll(async () => {
    browser = await launchChromium(executablePath!);
    application = await startClientApplication();
  });
  afterAll(async () => {
    await browser.close();
    await application.stop();
  });
  beforeEach(async () => {
    context = await patientContext(browser);
  });
  afterEach(async () => {
    await context.close();
    application.provider.person = { sub: "ada", name: "Ada Lovelace" };
  });

  async function open(): Promise<Page> {
    const tab = await context.newPage();
    await tab.goto(`${application.origin}/app?options=%7B%7D`);
    await status(tab, "signed-out");
    return tab;
  }

  async function signedIn(): Promise<Page> {
    const tab = await open();
    await Promise.all([tab.waitForEvent("load"), tab.evaluate("void auth.signIn()")]);
    await status(tab, "signed-in");
    return tab;
  }

  /** Signs in in a new window. `self.outcome` becomes the state's status or the error. */
  async function popupOf(tab: Page, params: Record<string, string> = {}): Promise<Page> {
    const opened = context.waitForEvent("page");
    const options = JSON.stringify({ popup: true, params });
    await tab.evaluate(`self.outcome = "pending"; void auth.signIn(${options}).then(
      ({ status }) => (self.outcome = status),
      ({ name, message }) => (self.outcome = name + " " + message),
    );`);
    return opened;
  }

  const expectOutcome = (tab: Page, outcome: string) =>
    expect.poll(() => tab.evaluate("outcome"), PATIENCE).toBe(outcome);
  const expectClosed = (popup: Page) => expect.poll(() => popup.isClosed(), PATIENCE).toBe(true);

  /** The provider shows a page once, on which the user can cancel. A reload signs in. */
  function askFirst(headers: Record<string, string> = {}): void {
    const script = `const asked = new URLSearchParams(location.search);
      const back = new URL(asked.get("redirect_uri"));
      back.search = new URLSearchParams({ error: "access_denied", state: asked.get("state"), iss: location.origin });
      document.querySelector("a").href = back;`;
    application.provider.fault("authorize", {
      kind: "status",
      status: 200,
      times: 1,
      headers: { "Content-Type": "text/html", ...headers },
      body: `<!doctype html><title>Provider</title><a href="/">Cancel</a><script>${script}</script>`,
    });
  }

  it("as another user, where the page needs the same one: closes, and the page learns why", async () => {
    const tab = await signedIn();
    application.provider.person = { sub: "bob", name: "Bob" };
    const popup = await popupOf(tab, { max_age: "60" });
    await expectOutcome(tab, "SignInError step_up_failed");
    await expectClosed(popup);
    expect(await tab.evaluate("auth.getState().user.name")).toBe("Ada Lovelace");
  });

  it("that the user cancels at the provider: closes, and the page learns it", async () => {
    askFirst();
    const tab = await open();
    const popup = await popupOf(tab);
    await popup.getByRole("link", { name: "Cancel" }).click();
    await expectOutcome(tab, "SignInError cancelled");
    await expectClosed(popup);
    await status(tab, "signed-out");
  });

  it("during an outage of the provider: closes, and the page learns it", async () => {
    const tab = await open();
    application.provider.fault("token", { kind: "status", status: 503, times: 1 });
    const popup = await popupOf(tab);
    await expectOutcome(tab, "SignInError provider_unavailable");
    await expectClosed(popup);
  });

  it("whose window the user closes: the page learns it when it gets the focus again", async () => {
    askFirst();
    const tab = await open();
    const popup = await popupOf(tab);
    await popup.getByRole("link", { name: "Cancel" }).waitFor();
    await tab.evaluate(`dispatchEvent(new Event("focus"))`);
    await tab.evaluate("auth.refresh()");
    expect(await tab.evaluate("outcome")).toBe("pending");
    await popup.close();
    // Chromium tells the page a moment later that the window has closed.
    await expect
      .poll(() => tab.evaluate(`dispatchEvent(new Event("focus")), outcome`), PATIENCE)
      .toBe("SignInError cancelled");
  });

  it("whose provider cuts the tie between the windows: only looks closed, and signs in", async () => {
    askFirst({ "Cross-Origin-Opener-Policy": "same-origin" });
    const tab = await open();
    const popup = await popupOf(tab);
    await popup.getByRole("link", { name: "Cancel" }).waitFor();
    await popup.reload();
    await expectOutcome(tab, "signed-in");
    await expectClosed(popup);
  });
});
