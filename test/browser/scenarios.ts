import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startHttpsFront, type HttpsFront } from "./https-front.js";
import { DemoProcess } from "../demo/demo-process.js";
import { freePort } from "../support/free-port.js";
import { startTestApplication, type TestApplication } from "./application.js";
import type { BrowserUser, RunningBrowser } from "./browser.js";
import { clientScenarios } from "./client.js";
import { csrfScenarios } from "./csrf.js";
import { otherSiteScenarios } from "./other-sites.js";
import { frameScenarios } from "./frames.js";
import { popupScenarios } from "./popup.js";
import { signInScenarios } from "./sign-in.js";

/** What the scenarios of one browser share. */
export interface Browsing {
  /** Starts an empty profile, which ends with the test. */
  user(): Promise<BrowserUser>;
  /**
   * The origin of the demo: https, behind a proxy. Its provider is another site, without https. The
   * demo signs out here only, without the way through the provider.
   */
  readonly demo: string;
  /** An application with `idpauth/client`. */
  readonly application: TestApplication;
}

/** Runs every scenario in this browser. The test fails if the demo writes a stack trace. */
export function scenarios(start: () => Promise<RunningBrowser>): void {
  let browser: RunningBrowser;
  let demo: DemoProcess;
  let front: HttpsFront;
  let application: TestApplication;
  const users: BrowserUser[] = [];

  beforeAll(async () => {
    front = await startHttpsFront();
    const port = await freePort();
    front.target = `http://127.0.0.1:${port}`;
    demo = new DemoProcess({
      PORT: String(port),
      BASE_URL: front.origin,
      IDP_LOGOUT_AT_PROVIDER: "off",
    });
    [browser, application] = await Promise.all([start(), startTestApplication(), demo.origin()]);
  });
  afterEach(async () => {
    for (const user of users.splice(0)) await user.leave();
  });
  afterAll(async () => {
    await browser.stop();
    await front.close();
    const { code, stderr } = await demo.kill();
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("    at ")]);
    await application.stop();
  });

  const browsing: Browsing = {
    async user() {
      const user = await browser.newUser();
      users.push(user);
      return user;
    },
    get demo() {
      return front.origin;
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
