import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { ensureProgram } from "../support/debian-package.js";
import { startTestApplication, type TestApplication } from "./application.js";
import { installDrivers, PATIENCE } from "./browser.js";
import { startHeaded, type HeadedBrowser, type HeadedPage } from "./headed.js";

const drivers = await installDrivers();
const xvfb = drivers ? await ensureProgram("Xvfb", "xvfb") : undefined;
const programs = {
  chrome: drivers ? await chromiumForTests() : undefined,
  firefox: drivers ? await ensureProgram("firefox-esr", "firefox-esr") : undefined,
};

describe.each(["chrome", "firefox"] as const)(
  "the event streams of %s with windows, over HTTP/1.1",
  (name) => {
    const executablePath = programs[name];
    const isMissing = executablePath === undefined || xvfb === undefined;
    let browser: HeadedBrowser;
    let application: TestApplication;

    beforeEach(async () => {
      if (isMissing) return;
      [browser, application] = await Promise.all([
        startHeaded({ browser: name, executablePath, xvfb }),
        startTestApplication(),
      ]);
      console.log(`${browser.version}, with windows`);
    }, 120_000);
    afterEach(async () => {
      if (isMissing) return;
      await browser.stop();
      await application.stop();
    });

    async function open(type: "tab" | "window", page: string): Promise<HeadedPage> {
      const tab = await browser.open(type, `${application.origin}${page}`);
      await expectStatus(tab, "signed-in");
      return tab;
    }
    const expectStreams = (...pages: string[]) =>
      expect.poll(() => application.streams().toSorted(), PATIENCE).toEqual(pages);

    it.skipIf(isMissing).each([
      ["the client's event stream", "/app?events&tab="],
      ["a stream as in the guide", "/own?tab="],
    ])(
      "only visible tabs hold %s, so that a seventh request passes",
      async (_name, page) => {
        const first = await browser.open("tab", `${application.origin}/idpauth/login/`);
        await first.goto(`${application.origin}${page}0`);
        await expectStreams(`${page}0`);
        const tabs = [first];
        for (const number of [1, 2, 3, 4, 5])
          tabs.push(await open("tab", `${page}${String(number)}`));
        await expectStreams(`${page}5`);
        expect(
          await Promise.all(tabs.map((tab) => tab.evaluate("document.visibilityState"))),
        ).toEqual([...Array<string>(5).fill("hidden"), "visible"]);
        expect(await tabs[5]?.evaluate("fetch('/other').then(({ status }) => status)")).toBe(200);

        await tabs[2]?.bringToFront();
        await expectStreams(`${page}2`);

        // Each window has a visible tab, also behind another window.
        const other = await open("window", `${page}6`);
        await expectStreams(`${page}2`, `${page}6`);

        // By neither a hint of another tab nor a scheduled probe.
        expect(
          await other.evaluate(
            "fetch('/idpauth/logout/?response=json').then(({ status }) => status)",
          ),
        ).toBe(200);
        await expectStatus(other, "signed-out");
        await expectStreams();
        for (const tab of tabs) await expectStatus(tab, "signed-out");
      },
      120_000,
    );
  },
);

function expectStatus(tab: HeadedPage, status: string) {
  return expect.poll(() => tab.evaluate("window.client?.getState().status"), PATIENCE).toBe(status);
}
