import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import {
  startExpressApplication,
  type ExpressApplication,
} from "../support/express-application.js";

const executablePath = await chromiumForTests();

const SIGN_OUT = '<a href="/idpauth/logout/">Sign out</a>';

describe.skipIf(executablePath === undefined)(
  "[R11] the back button after a sign-out, in a browser",
  () => {
    let browser: Browser;
    let app: ExpressApplication;
    let rendered: number;

    beforeAll(async () => {
      // Playwright switches the back/forward cache off, so that what is shown again comes from the
      // HTTP cache or from the server.
      browser = await launchChromium(executablePath!);
    }, 120_000);
    afterAll(() => browser.close());

    async function start(headers: Readonly<Record<string, string>> = {}): Promise<void> {
      rendered = 0;
      app = await startExpressApplication({
        routes(express, auth) {
          express.get("/reports", auth.idpRequired, async (request, response) => {
            rendered += 1;
            const user = (await auth.clientState(request)).user;
            response
              .set(headers)
              .send(
                `<!doctype html><title>Reports</title><h1>Reports of ${String(user?.name)}</h1>${SIGN_OUT}`,
              );
          });
        },
      });
    }
    afterEach(() => app.stop());

    /** What a user sees who signs in, opens the guarded page, signs out and goes back to it. */
    async function headingAfterGoingBack(): Promise<string> {
      const context = await browser.newContext();
      try {
        const tab = await context.newPage();
        await tab.goto(`${app.origin}/idpauth/login/`);
        await tab.goto(`${app.origin}/reports`);
        expect(await tab.innerText("h1")).toBe("Reports of Ada Lovelace");
        await tab.getByRole("link", { name: "Sign out" }).click();
        expect(tab.url()).toBe(`${app.origin}/idpauth/`);
        // The test provider asks nothing of the user, and would sign in again; a provider with a
        // page shows it.
        const body = "<!doctype html><title>Sign in</title><h1>Who is signing in?</h1>";
        app.provider.fault("authorize", {
          kind: "status",
          status: 200,
          headers: { "Content-Type": "text/html" },
          body,
        });
        await tab.goBack();
        return await tab.innerText("h1");
      } finally {
        await context.close();
      }
    }

    it("shows nothing of a guarded page, though its handler says nothing to caches", async () => {
      await start();
      expect([await headingAfterGoingBack(), rendered]).toEqual(["Who is signing in?", 1]);
    });

    it("shows nothing of one that the application lets the browser store: the cookie is gone, and Vary names it", async () => {
      await start({ "Cache-Control": "private, max-age=600" });
      expect([await headingAfterGoingBack(), rendered]).toEqual(["Who is signing in?", 1]);
    });
  },
);
