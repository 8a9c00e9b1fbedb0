import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { bundle, startPageServer, type PageServer } from "./page-server.js";

const executablePath = await chromiumForTests();
type Who = "Ada" | "Bob" | "signed out";

describe.skipIf(executablePath === undefined)("ServerContent", () => {
  let browser: Browser;
  let server: PageServer;
  let tab: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    server = await startPageServer(await bundle("page/server-content.ts"));
    browser = await launchChromium(executablePath!);
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });
  afterEach(async () => {
    await tab.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  async function start(who: Who): Promise<void> {
    tab = await browser.newPage();
    tab.on("console", (message) => {
      if (!message.text().includes("Download the React DevTools")) complaints.push(message.text());
    });
    tab.on("pageerror", (error) => complaints.push(error.message));
    await tab.goto(server.url());
    await tab.evaluate(
      (one) => content.start(one === "signed out" ? content.signedOut : content.signedIn({}, one)),
      who,
    );
  }
  const now = (who: Who) =>
    tab.evaluate(
      (one) =>
        content.client.set(one === "signed out" ? content.signedOut : content.signedIn({}, one)),
      who,
    );
  const serve = (account: string | null) => tab.evaluate((one) => content.serve(one), account);
  /**
   * What the user sees, how often the page was to be refreshed, and how often the client was to
   * probe.
   */
  async function expectPage(text: string, refreshes: number, probes = 0): Promise<void> {
    await expect
      .poll(() =>
        tab.evaluate(() => [
          document.body.innerText.trim(),
          content.refreshes,
          content.client.calls.filter((call) => call === "refresh").length,
        ]),
      )
      .toEqual([text, refreshes, probes]);
  }
  const note = () => tab.locator("#note").inputValue();

  it("hides the content of a user who has signed out, and shows it to the same user, with the input of its form, and refreshes it", async () => {
    await start("Ada");
    await expectPage("Rendered for Ada.", 0);
    await tab.fill("#note", "Half a thou");
    await now("signed out");
    await expectPage("", 0);
    await now("Ada");
    await expectPage("Rendered for Ada.", 1);
    expect(await note()).toBe("Half a thou");
    await serve("Ada");
    expect(await note()).toBe("Half a thou");
  });

  it.each([["at once"], ["after a sign-out"]])(
    "hides the content from another user, %s, until the server has rendered it again; the form is empty",
    async (way) => {
      await start("Ada");
      await tab.fill("#note", "Ada's secret");
      if (way === "after a sign-out") await now("signed out");
      await now("Bob");
      await expectPage("", 1);
      await serve("Bob");
      await expectPage("Rendered for Bob.", 1);
      expect(await note()).toBe("");
    },
  );

  it("refreshes what the server rendered for a signed-out user when a user signs in", async () => {
    await start("signed out");
    await expectPage("Rendered for all.", 0);
    await now("Ada");
    await expectPage("", 1);
    await serve("Ada");
    await expectPage("Rendered for Ada.", 1);
  });

  it("after a sign-out, shows what the server has rendered for everyone", async () => {
    await start("Ada");
    await now("signed out");
    await serve(null);
    await expectPage("Rendered for all.", 0);
  });

  it("makes the client probe if the server knows of another user first", async () => {
    await start("Ada");
    await serve("Bob");
    await expectPage("", 0, 1);
    await now("Bob");
    await expectPage("Rendered for Bob.", 1, 1);
  });

  it("shows the content during an outage", async () => {
    await start("Ada");
    await tab.evaluate(() => content.client.set(content.unavailable(content.client.getState())));
    await expectPage("Rendered for Ada.", 0);
  });
});
