import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chromiumForTests, IN_A_BROWSER, launchChromium } from "../support/chromium.js";
import { bundle, startPageServer, type PageServer } from "./page-server.js";
import type { Limits } from "./page/fake-client.js";
import { openWarningPage, type OpenOptions, type WarningPage } from "./warning-page.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)("SessionWarning", IN_A_BROWSER, () => {
  let browser: Browser;
  let server: PageServer;
  let page: WarningPage;

  beforeAll(async () => {
    server = await startPageServer(await bundle("page/browser.ts"));
    browser = await launchChromium(executablePath!);
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });
  afterEach(async () => {
    expect(page.complaints).toEqual([]);
    await page.tab.close();
  });

  const open = async (limits: Limits, options?: OpenOptions) => {
    page = await openWarningPage(browser, server, limits, options);
  };
  const settle = (limits: Limits) =>
    page.tab.evaluate((one) => fixture.client.settle(fixture.signedIn(one)), limits);
  const focused = () =>
    page.tab.evaluate(() => {
      const { activeElement } = document;
      if (activeElement === document.body) return "the browser";
      return activeElement?.id || activeElement?.textContent;
    });
  const title = (text: string | null) => expect.poll(() => page.title()).toBe(text);

  it.each([
    ["idle", { idle: 65, maxAge: 3600 }, ["Stay signed in", "Sign out"]],
    ["maximum age", { maxAge: 65, idle: 66 }, ["Sign in again", "Sign out", "Close"]],
    ["provider's own", { sessionExpiry: 65, idle: 66 }, ["Sign in again", "Sign out", "Close"]],
    [
      "ID token's, without a refresh token,",
      { idToken: 65, idle: 66 },
      ["Sign in again", "Sign out", "Close"],
    ],
  ])(
    "the %s limit: opens 60 seconds before the end, is exact at each second, and says when the session has ended",
    async (_name, limits, buttons) => {
      await open(limits);
      await page.run(4.999);
      await title(null);
      await page.run(0.001);
      for (let left = 60; left >= 0; left -= 1) {
        await title(`Your session ends in ${left} s`);
        if (left === 60) expect(await page.buttons()).toEqual(buttons);
        await page.run(0.999);
        expect(await page.title()).toBe(`Your session ends in ${left} s`);
        await page.run(0.001);
      }
      await title("Your session has ended");
      expect(await page.buttons()).toEqual(["Sign in again", "Close"]);
    },
  );

  it("does not warn of an ID token that a refresh renews", async () => {
    await open({ idToken: 30, maxAge: 3600, end: 3600 });
    await page.run(120);
    await title(null);
  });

  it("is correct after timers that did not run, as on a computer that slept", async () => {
    await open({ idle: 3600 });
    await page.tab.clock.fastForward(3_558_000);
    await title("Your session ends in 42 s");
    await page.tab.clock.fastForward(20_300);
    await title("Your session ends in 22 s");
    await page.run(0.7);
    await title("Your session ends in 21 s");
    await page.tab.clock.fastForward(7_200_000);
    await title("Your session has ended");
  });

  it("renders nothing between two seconds, and nothing at all before the warning", async () => {
    await open({ idle: 120 });
    const before = await page.tab.evaluate(() => {
      const count = { changes: 0 };
      new MutationObserver((records) => (count.changes += records.length)).observe(
        document.querySelector("dialog")!,
        {
          subtree: true,
          childList: true,
          characterData: true,
          attributes: true,
        },
      );
      return Object.assign(globalThis, { count }).count.changes;
    });
    await page.run(59.9);
    expect(await page.tab.evaluate("count.changes")).toBe(before);
  });

  it("warnBefore moves the warning", async () => {
    await open({ idle: 200 }, { warning: { warnBefore: 120 } });
    await page.run(79.999);
    await title(null);
    await page.run(0.001);
    await title("Your session ends in 120 s");
  });

  it("by keyboard alone: the focus goes to the first button, stays in the dialog, and returns to where it was", async () => {
    await open({ idle: 65 });
    await page.run(5);
    await title("Your session ends in 60 s");
    expect(await focused()).toBe("Stay signed in");
    const visited = new Set<unknown>();
    for (let presses = 0; presses < 6; presses += 1) {
      await page.tab.keyboard.press("Tab");
      visited.add(await focused());
    }
    // Between the last and the first button, the focus is on the browser's own controls.
    expect(
      [...visited].filter(
        (name) => !["Stay signed in", "Sign out", "the browser"].includes(String(name)),
      ),
    ).toEqual([]);
    await page.tab.getByRole("button", { name: "Stay signed in" }).focus();
    await page.tab.keyboard.press("Enter");
    expect(await page.calls()).toEqual(["keepAlive"]);
    await settle({ idle: 3600 });
    await title(null);
    expect(await focused()).toBe("note");
  });

  it("Escape stays signed in; if the server does not respond, the warning is there again and says so", async () => {
    await open({ idle: 65 });
    await page.run(5);
    await title("Your session ends in 60 s");
    await page.tab.keyboard.press("Escape");
    await expect.poll(page.calls).toEqual(["keepAlive"]);
    await page.tab.evaluate(() =>
      fixture.client.settle(fixture.unavailable(fixture.client.getState())),
    );
    await page.tab.getByText("That failed. Try again.").waitFor();
    await title("Your session ends in 60 s");
    await page.tab.keyboard.press("Escape");
    await expect.poll(page.calls).toEqual(["keepAlive", "keepAlive"]);
    await settle({ idle: 3600 });
    await title(null);
    expect(await focused()).toBe("note");
    // The next warning begins without the message.
    await page.run(3590);
    await title("Your session ends in 10 s");
    expect(await page.tab.locator("[role=alert]").textContent()).toBe("");
  });

  it("opens again at the next second if the browser closed the dialog and the server has not responded", async () => {
    await open({ idle: 65 });
    await page.run(5);
    await title("Your session ends in 60 s");
    await page.tab.keyboard.press("Escape");
    await title(null);
    await page.run(1);
    await title("Your session ends in 59 s");
  });

  it("if the session cannot be extended, Escape closes the warning until the session has ended", async () => {
    await open({ maxAge: 65, idle: 600 });
    await page.run(5);
    await title("Your session ends in 60 s");
    expect(
      await page.tab
        .getByText("To continue, you have to sign in again. This page stays open.")
        .count(),
    ).toBe(1);
    await page.tab.keyboard.press("Escape");
    await title(null);
    expect(await focused()).toBe("note");
    await page.tab.locator("#note").fill("half of a");
    await page.run(60.9);
    await title(null);
    await page.run(0.1);
    await title("Your session has ended");
    expect(await page.tab.locator("[role=alert]").textContent()).toBe("");
    expect(await page.calls()).toEqual([]);
  });

  it("signs in again in a window of its own, so that the form survives; a window that does not open is reported", async () => {
    await open({ maxAge: 65, idle: 600 });
    await page.tab.locator("#note").fill("half of a");
    await page.run(5);
    await page.tab.getByRole("button", { name: "Sign in again" }).click();
    expect(await page.calls()).toEqual([`signIn {"popup":true}`]);
    await page.tab.evaluate(() => fixture.client.settle());
    await page.tab.getByText("That failed. Try again.").waitFor();
    await page.run(60);
    await page.tab.evaluate(() => fixture.client.set(fixture.states["signed-out"]));
    await title("Your session has ended");
    await page.tab.getByRole("button", { name: "Sign in again" }).click();
    await settle({ maxAge: 3600, idle: 600 });
    await title(null);
    expect(await page.tab.locator("#note").inputValue()).toBe("half of a");
    expect(await focused()).toBe("note");
  });

  it("a session that is still short after a new sign-in is no failure", async () => {
    await open({ maxAge: 65 });
    await page.run(50);
    await page.tab.getByRole("button", { name: "Sign in again" }).click();
    await settle({ maxAge: 45 });
    await title("Your session ends in 45 s");
    expect(await page.tab.locator("[role=alert]").textContent()).toBe("");
  });

  it("says at once that the session has ended when it ended elsewhere, and says nothing to a user who was never signed in", async () => {
    await open({ idle: 3600 });
    await page.tab.evaluate(() => fixture.client.set(fixture.states["signed-out"]));
    await title("Your session has ended");
    expect(await page.buttons()).toEqual(["Sign in again", "Close"]);
    await page.tab.getByRole("button", { name: "Close" }).click();
    await title(null);
    await page.run(4000);
    await title(null);
    await page.tab.evaluate(() => fixture.start(fixture.states["signed-out"]));
    await page.run(1);
    await title(null);
  });

  it("an event of an earlier closing that comes late, as in a hidden page, does not close the dialog", async () => {
    await open({ idle: 3600 });
    await page.tab.evaluate(() => fixture.client.set(fixture.states["signed-out"]));
    await title("Your session has ended");
    await page.tab.evaluate(`document.querySelector("dialog").dispatchEvent(new Event("close"))`);
    await page.run(1);
    await title("Your session has ended");
  });

  it("after a click on Close, another request that meets the end opens the dialog again", async () => {
    await open({ idle: 3600 });
    const meetTheEnd = () =>
      page.tab.evaluate(() => fixture.client.set({ ...fixture.states["signed-out"] }));
    await meetTheEnd();
    await title("Your session has ended");
    await page.tab.getByRole("button", { name: "Close" }).click();
    await title(null);
    await meetTheEnd();
    await title("Your session has ended");
  });

  it("after a click on Close, neither another reason nor an outage opens the dialog", async () => {
    await open({ idle: 65 });
    await page.tab.evaluate(() => fixture.client.set(fixture.states["signed-out"]));
    await title("Your session has ended");
    await page.tab.getByRole("button", { name: "Close" }).click();
    await title(null);
    await page.tab.evaluate(() =>
      fixture.client.set({ ...fixture.states["signed-out"], reason: "ended_everywhere" }),
    );
    await page.run(1);
    await title(null);
    for (const seconds of [0, 10]) {
      await page.run(seconds);
      await page.tab.evaluate(() =>
        fixture.client.set(fixture.unavailable(fixture.client.getState())),
      );
      await page.run(1);
      await title(null);
      await page.tab.evaluate(() =>
        fixture.client.set({ ...fixture.states["signed-out"], reason: "ended_everywhere" }),
      );
      await page.run(1);
      await title(null);
    }
  });

  it("an outage in the last minute changes nothing: the countdown goes on", async () => {
    await open({ idle: 65 });
    await page.run(15);
    await page.tab.evaluate(() =>
      fixture.client.set(fixture.unavailable(fixture.client.getState())),
    );
    await title("Your session ends in 50 s");
    await page.run(1);
    await title("Your session ends in 49 s");
  });

  it("signs out", async () => {
    await open({ idle: 65 });
    await page.run(5);
    await page.tab.getByRole("button", { name: "Sign out" }).click();
    expect(await page.calls()).toEqual(["signOut undefined"]);
  });

  it("a screen reader hears 60, 30 and 10 seconds and the end, and no other second", async () => {
    await open({ idle: 65 });
    await page.run(4);
    const heard: string[] = [];
    for (let second = 0; second < 62; second += 1) {
      await page.run(1);
      const left = 60 - second;
      await title(left >= 0 ? `Your session ends in ${left} s` : "Your session has ended");
      const live = await page.tab.locator("dialog h2").getAttribute("aria-live");
      if (live === "polite") heard.push((await page.title()) ?? "");
      else expect(live).toBe("off");
    }
    expect(heard).toEqual([
      ...["Your session ends in 60 s", "Your session ends in 30 s", "Your session ends in 10 s"],
      "Your session has ended",
    ]);
  });

  it("texts replaces every text", async () => {
    const texts = {
      ends: "Noch {seconds} Sekunden angemeldet",
      again: "Bitte melden Sie sich neu an.",
      ended: "Sie sind abgemeldet",
      failed: "Fehlgeschlagen.",
      stay: "Angemeldet bleiben",
      signIn: "Neu anmelden",
      signOut: "Abmelden",
      close: "Schließen",
    };
    const shown = () => page.tab.locator("dialog").innerText();
    await open({ maxAge: 65 }, { warning: { texts } });
    await page.run(8);
    await title("Noch 57 Sekunden angemeldet");
    await page.tab.getByRole("button", { name: "Neu anmelden" }).click();
    await page.tab.evaluate(() => fixture.client.settle());
    await page.tab.getByText("Fehlgeschlagen.").waitFor();
    const first = await shown();
    await page.run(60);
    await title("Sie sind abgemeldet");
    const all = [first, await shown()].join("\n");
    await page.tab.evaluate(() => fixture.client.set(fixture.signedIn({ idle: 20 })));
    await title("Noch 20 Sekunden angemeldet");
    const lines = `${all}\n${await shown()}`
      .split(/\n+/)
      .filter((line) => !line.startsWith("Noch"));
    expect(new Set(lines)).toEqual(new Set(Object.values(texts).slice(1)));
  });
});
