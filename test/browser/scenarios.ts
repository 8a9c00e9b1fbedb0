import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startHttpsFront, type HttpsFront } from "./https-front.js";
import { startTestApplication, type TestApplication } from "./application.js";
import type { BrowserUser, RunningBrowser } from "./browser.js";
import { clientScenarios } from "./client-scenarios.js";
import { csrfScenarios } from "./csrf-scenarios.js";
import { otherSiteScenarios } from "./other-sites-scenarios.js";
import { frameScenarios } from "./frames-scenarios.js";
import { popupScenarios } from "./popup-scenarios.js";
import { signInScenarios } from "./sign-in-scenarios.js";
import { startStageApplication, type StageApplication } from "./stage-application.js";

/** What the scenarios of one browser share. */
export interface Browsing {
  /** Starts an empty profile, which ends with the test. */
  user(): Promise<BrowserUser>;
  /**
   * The origin of an application over https, behind a proxy. Its provider is another site, without
   * https. The application signs out here only, without the way through the provider.
   */
  readonly secure: string;
  /** The origin of an application whose provider, on another site, posts its responses. */
  readonly posting: string;
  /** An application with `idpauth/client`. */
  readonly application: TestApplication;
}

/** Runs every scenario in this browser. */
export function scenarios(start: () => Promise<RunningBrowser>): void {
  let browser: RunningBrowser;
  let secure: StageApplication;
  let posting: StageApplication;
  let front: HttpsFront;
  let application: TestApplication;
  const users: BrowserUser[] = [];

  beforeAll(async () => {
    front = await startHttpsFront();
    [browser, application, posting, secure] = await Promise.all([
      start(),
      startTestApplication(),
      startStageApplication({ responseMode: "form_post", logoutAtProvider: false }),
      startStageApplication({ baseUrl: front.origin, logoutAtProvider: false }),
    ]);
    front.target = secure.origin;
  });
  afterEach(async () => {
    for (const user of users.splice(0)) await user.leave();
  });
  afterAll(async () => {
    await browser.stop();
    await front.close();
    await secure.stop();
    await posting.stop();
    await application.stop();
    expect(secure.errors).toEqual([]);
  });

  const browsing: Browsing = {
    async user() {
      const user = await browser.newUser();
      users.push(user);
      return user;
    },
    get secure() {
      return front.origin;
    },
    get posting() {
      return posting.origin.replace("127.0.0.1", "localhost");
    },
    get application() {
      return application;
    },
  };

  it("says which one it is", () => {
    expect(browser.version).toMatch(/^(?:Firefox|WebKitGTK) \d+\.\d/);
    console.log(browser.version);
  });
  signInScenarios(browsing);
  popupScenarios(browsing);
  clientScenarios(browsing);
  csrfScenarios(browsing);
  otherSiteScenarios(browsing);
  frameScenarios(browsing);
}
