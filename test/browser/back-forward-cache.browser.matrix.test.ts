import { afterAll, afterEach, beforeAll, describe, it } from "vitest";
import type { PersonClaims } from "../../src/testing/index.js";
import { chromiumForTests } from "../support/chromium.js";
import {
  startExpressApplication,
  type ExpressApplication,
} from "../support/express-application.js";
import { arriveAt, showsHeading, type BrowserUser, type RunningBrowser } from "./browser.js";
import { startChromium } from "./chromium.js";
import { startHttpsFront, type HttpsFront } from "./https-front.js";

const executablePath = await chromiumForTests();

const RELOAD = `addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });`;
const CHOICE = `<!doctype html><title>Sign in</title><h1>Who is signing in?</h1><a href="/">Ada</a>
<script>document.querySelector("a").href = location.href + "&chosen=1";</script>`;

describe.skipIf(executablePath === undefined)(
  "[R11] the back button with the back/forward cache, over https",
  () => {
    let browser: RunningBrowser;
    let front: HttpsFront;
    let app: ExpressApplication;
    let user: BrowserUser;
    let person: PersonClaims;

    beforeAll(async () => {
      browser = await startChromium(executablePath!, { cachesPages: true });
      front = await startHttpsFront();
      app = await startExpressApplication({
        baseUrl: front.origin,
        routes(express, auth) {
          express.get("/reports", auth.idpRequired, async (request, response) => {
            const { query } = request;
            const { user: signedIn } = await auth.requireSession(request);
            if (query["stored"] !== undefined)
              response.set("Cache-Control", "private, max-age=600");
            const script = query["reload"] === undefined ? "" : RELOAD;
            response.send(`<!doctype html><title>Reports</title><h1>Reports of ${String(signedIn.name)}</h1>
              <a href="/idpauth/logout/">Sign out</a><script>${script}</script>`);
          });
        },
      });
      front.target = app.origin;
      ({ person } = app.provider);
    }, 120_000);
    afterEach(async () => {
      app.provider.person = person;
      await user.leave();
    });
    afterAll(async () => {
      await browser.stop();
      await app.stop();
      await front.close();
    });

    /** The provider shows a page. */
    function askEachTime(times?: number) {
      return app.provider.fault("authorize", {
        kind: "status",
        status: 200,
        headers: { "Content-Type": "text/html" },
        body: CHOICE,
        ...(times !== undefined && { times }),
      });
    }

    it.each([
      ["nothing of a guarded page", "", "Who is signing in?"],
      ["a page whose handler lets the browser store it", "?stored", "Reports of Ada Lovelace"],
      ["nothing of such a page if it reloads itself", "?stored&reload", "Who is signing in?"],
    ])("after a sign-out shows %s", async (_what, query, heading) => {
      user = await browser.newUser();
      const tab = await user.open(`${front.origin}/idpauth/login/`);
      await tab.goto(`${front.origin}/reports${query}`);
      await tab.click("a");
      await showsHeading(tab, "You are signed out");
      const noLonger = askEachTime();
      try {
        await tab.back();
        await showsHeading(tab, heading);
      } finally {
        noLonger();
      }
    });

    it.each([
      [
        "brings a user who is still signed in to their page, even if they chose another account",
        false,
      ],
      ["shows a user who has signed out a page that starts again", true],
    ])("and another sign-in on the provider's page %s", async (_what, signsOut) => {
      user = await browser.newUser();
      askEachTime(1);
      const page = `${front.origin}/reports`;
      const tab = await user.open(page);
      await showsHeading(tab, "Who is signing in?");
      await tab.click("a");
      await arriveAt(tab, page);
      if (signsOut) await tab.evaluate("fetch('/idpauth/logout/?response=json').then(() => 0)");
      await tab.back();
      await showsHeading(tab, "Who is signing in?");
      app.provider.person = { sub: "grace", name: "Grace Hopper" };
      await tab.click("a");
      await showsHeading(
        tab,
        signsOut ? "This sign-in link is no longer valid" : "Reports of Ada Lovelace",
      );
    });
  },
);
