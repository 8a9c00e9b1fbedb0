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
  "examples/next renders the session on the server, hydrates it without a mismatch, and follows the end of the session",
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

      const other = await context.newPage();
      await other.goto(`${origin}/idpauth/logout/`);
      // A page of idpauth tells no other tab, so the next probe finds it. The browser's event stands for the minute until then.
      await tab.evaluate("dispatchEvent(new Event('online'))");
      await tab.getByText("you are signed out").waitFor();
      await tab.getByRole("alertdialog", { name: "Your session has ended" }).waitFor();
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
      await example.end();
      await provider.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  300_000,
);
