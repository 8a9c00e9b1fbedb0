import "../adapters/applications/next-installed.js";
import { rmSync } from "node:fs";
import path from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { ExampleProcess, installExample, PackedPackage } from "../examples/example-process.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

const executablePath = await chromiumForTests();
const EXAMPLE = path.resolve(import.meta.dirname, "../../examples/next");
const ADA = { sub: "ada", name: "Ada Lovelace", email: "ada@example.com" };
const BOB = { sub: "bob", name: "Bob", email: "bob@example.com" };

/**
 * Notes each text that shows Ada's reports below the name of Bob. `innerText` leaves out what is
 * hidden.
 */
const WATCH = `new MutationObserver(() => {
  const { innerText } = document.body ?? {};
  if (/Hello, Bob/.test(innerText) && /Reports of Ada/.test(innerText)) sessionStorage.setItem("mixed", innerText);
}).observe(document, { subtree: true, childList: true, characterData: true, attributes: true })`;

describe.skipIf(executablePath === undefined)("examples/next", () => {
  let folder: string;
  let provider: TestProvider;
  let example: ExampleProcess;
  let origin: string;
  let browser: Browser;
  let context: BrowserContext;
  let tab: Page;
  const complaints: string[] = [];
  const probes: string[] = [];

  beforeAll(async () => {
    const packed = await PackedPackage.pack();
    folder = installExample(EXAMPLE, packed);
    packed.remove();
    provider = await startTestProvider({ person: ADA });
    example = new ExampleProcess(folder, {
      SECRET_KEY: "a secret key of at least 32 bytes",
      IDP_ISSUER: provider.issuer,
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: provider.clientSecret,
    });
    [browser, origin] = await Promise.all([launchChromium(executablePath!), example.origin()]);
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await example.end();
    await provider.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    provider.person = ADA;
    probes.length = 0;
    context = await browser.newContext();
    tab = await context.newPage();
    await tab.addInitScript(WATCH);
    tab.on("console", (message) => {
      if (!message.location().url.endsWith("/favicon.ico")) complaints.push(message.text());
    });
    tab.on("pageerror", (error) => complaints.push(error.message));
    tab.on("requestfinished", (request) => {
      if (request.url().includes("/idpauth/session")) probes.push(request.url());
    });
  });
  afterEach(async () => {
    const mixed = await tab.evaluate("sessionStorage.getItem('mixed')");
    await context.close();
    expect([mixed, complaints.splice(0)]).toEqual([null, []]);
  });

  const header = () => tab.getByRole("banner");
  const reports = (name: string) => tab.getByText(`Reports of ${name}.`);
  const note = () => tab.getByLabel("Note");

  /** The provider agrees by itself: asking for a guarded page is the whole sign-in. */
  async function open(page = "/reports"): Promise<void> {
    const response = await tab.goto(`${origin}${page}`);
    expect(await response?.text()).toMatch(/Hello, (?:<!-- -->)?Ada Lovelace/);
    // The probe shows that the client runs, after the hydration.
    await expect.poll(() => probes.length).toBeGreaterThan(0);
    await reports("Ada Lovelace").waitFor();
  }
  /** Signs out in a page without the client, which tells no other tab. */
  async function signOutElsewhere(): Promise<Page> {
    const other = await context.newPage();
    await other.goto(`${origin}/idpauth/logout/`);
    return other;
  }
  /** Makes the client probe, as it does after a minute. */
  const probeNow = () => tab.evaluate("dispatchEvent(new Event('online'))");
  const signIn = () => tab.getByRole("button", { name: "Sign in", exact: true });

  it("renders the session on the server, hydrates it without a mismatch, and runs a server action", async () => {
    await open();
    expect(await header().innerText()).toBe("Hello, Ada Lovelace. Sign out");
    await note().fill("The first");
    await tab.getByRole("button", { name: "Add" }).click();
    await tab.getByRole("listitem").getByText("Ada Lovelace: The first").waitFor();
    expect(await note().inputValue()).toBe("");
  });

  it("after a sign-out in another tab, the reports are hidden; the same user gets new ones, and an open form keeps its input", async () => {
    await open();
    await note().fill("Half a thou");
    await signOutElsewhere();
    await probeNow();
    await signIn().waitFor();
    expect(await header().innerText()).toBe("You are signed out.");
    expect(await reports("Ada Lovelace").isVisible()).toBe(false);
    expect(await note().isVisible()).toBe(false);
    expect(new URL(tab.url()).pathname).toBe("/reports");

    const elsewhere = await (await browser.newContext()).newPage();
    await elsewhere.goto(`${origin}/reports`);
    await elsewhere.getByLabel("Note").fill("From another browser");
    await elsewhere.getByRole("button", { name: "Add" }).click();
    await elsewhere.getByRole("listitem").getByText("From another browser").waitFor();
    await elsewhere.context().close();

    await signIn().click();
    await reports("Ada Lovelace").waitFor();
    await tab.getByRole("listitem").getByText("From another browser").waitFor();
    expect(await note().inputValue()).toBe("Half a thou");
  });

  it("a sign-out through the client in another tab hides the reports at once", async () => {
    await open();
    const other = await context.newPage();
    await other.goto(`${origin}/reports`);
    await other.getByRole("button", { name: "Sign out" }).click();
    await signIn().waitFor();
    expect(await reports("Ada Lovelace").isVisible()).toBe(false);
    expect(await header().innerText()).toBe("You are signed out.");
  });

  it("a page for administrators is a 403 with a page of its own for other users, and stays at its address", async () => {
    await open();
    const refused = await tab.goto(`${origin}/admin`);
    await tab.getByRole("heading", { name: "Ask your team lead for access." }).waitFor();
    expect([refused?.status(), new URL(tab.url()).pathname]).toEqual([403, "/admin"]);
    // Chromium logs each response of 403.
    expect(complaints.splice(0)).toEqual([expect.stringContaining("403")]);
    await tab.goto(`${origin}/idpauth/logout/`);
    provider.person = { ...ADA, groups: ["admin"] };
    expect((await tab.goto(`${origin}/admin`))?.status()).toBe(200);
    await tab.getByRole("heading", { name: "For administrators" }).waitFor();
  });

  it("another user who signs in in another tab sees nothing of the earlier user", async () => {
    await open();
    await note().fill("Ada's secret");
    const other = await signOutElsewhere();
    provider.person = BOB;
    await other.goto(`${origin}/reports`);
    await reports("Bob").waitFor();
    expect(await header().innerText()).toBe("Hello, Bob. Sign out");
    expect(await note().inputValue()).toBe("");
  });

  it("a server action whose session has ended keeps the input of its form, and then works", async () => {
    await open("/reports?month=10");
    await tab.evaluate("window.page = 'the same'");
    await signOutElsewhere();
    await note().fill("Too late");
    await tab.getByRole("button", { name: "Add" }).click();
    await signIn().click();
    await tab.getByRole("status").getByText("Not added. Try again.").waitFor();
    expect(await note().inputValue()).toBe("Too late");
    await tab.getByRole("button", { name: "Add" }).click();
    await tab.getByRole("listitem").getByText("Ada Lovelace: Too late").waitFor();
    expect(await tab.getByRole("listitem").getByText("Too late").count()).toBe(1);
    expect(await tab.evaluate("window.page")).toBe("the same");
  });
});
