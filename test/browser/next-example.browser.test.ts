import "../adapters/applications/next-installed.js";
import { rmSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { startTestProvider } from "../../src/testing/provider/test-provider.js";
import { ExampleProcess, installExample, PackedPackage } from "../examples/example-process.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

const executablePath = await chromiumForTests();
const EXAMPLE = path.resolve(import.meta.dirname, "../../examples/next");

it.skipIf(executablePath === undefined)(
  "examples/next renders the session on the server, hydrates it without a mismatch, runs a server action, and follows the end of the session",
  async () => {
    const packed = await PackedPackage.pack();
    const folder = installExample(EXAMPLE, packed);
    packed.remove();
    const provider = await startTestProvider({ person: { sub: "ada", name: "Ada Lovelace", email: "ada@example.com" } });
    const example = new ExampleProcess(folder, {
      SECRET_KEY: "a secret key of at least 32 bytes",
      IDP_ISSUER: provider.issuer,
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: provider.clientSecret,
    });
    const browser = await launchChromium(executablePath!);
    try {
      const origin = await example.origin();
      const context = await browser.newContext();
      const tab = await context.newPage();
      const complaints: string[] = [];
      tab.on("console", (message) => {
        if (!message.location().url.endsWith("/favicon.ico")) complaints.push(message.text());
      });
      const probes: string[] = [];
      tab.on("requestfinished", (request) => {
        if (request.url().includes("/idpauth/session")) probes.push(request.url());
      });
      tab.on("pageerror", (error) => complaints.push(error.message));
      // The provider agrees by itself: asking for a guarded page is the whole sign-in.
      const response = await tab.goto(`${origin}/reports`);
      expect(await response?.text()).toMatch(/Hello, (?:<!-- -->)?Ada Lovelace/);
      // The probe shows that the client runs, after the hydration.
      await expect.poll(() => probes.length).toBeGreaterThan(0);
      expect(await tab.innerText("body")).toContain("Hello, Ada Lovelace");
      expect(await tab.locator("dialog").getAttribute("class")).toBe("session-warning");

      await tab.getByLabel("Note").fill("The first");
      await tab.getByRole("button", { name: "Add" }).click();
      await tab.getByRole("listitem").getByText("Ada Lovelace: The first").waitFor();

      const other = await context.newPage();
      await other.goto(`${origin}/idpauth/logout/`);
      // A page of idpauth tells no other tab, so the next probe finds it. The browser's event stands for the minute until then.
      await tab.evaluate("dispatchEvent(new Event('online'))");
      await tab.getByText("you are signed out").waitFor();
      await tab.getByRole("alertdialog", { name: "Your session has ended" }).waitFor();

      expect(complaints.splice(0)).toEqual([]);

      // A page that does not know yet calls the action: the browser goes to the sign-in and comes back, and the action has not run.
      const before = probes.length;
      await tab.goto(`${origin}/reports?month=10`);
      await expect.poll(() => probes.length).toBe(before + 1);
      await other.goto(`${origin}/idpauth/logout/`);
      await tab.getByLabel("Note").fill("Too late");
      await Promise.all([
        tab.waitForRequest((request) => request.url().startsWith(provider.issuer)),
        tab.getByRole("button", { name: "Add" }).click(),
      ]);
      await tab.getByText("Hello, Ada Lovelace").waitFor();
      expect(tab.url()).toBe(`${origin}/reports?month=10`);
      expect(await tab.getByRole("listitem").allInnerTexts()).toEqual(["Ada Lovelace: The first"]);
      // The browser's line for the response that leads to the sign-in.
      expect(complaints).toEqual([expect.stringContaining("401 (Unauthorized)")]);
    } finally {
      await browser.close();
      await example.end();
      await provider.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  300_000,
);
