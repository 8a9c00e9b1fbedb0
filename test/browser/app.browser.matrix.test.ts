import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumForTests, IN_A_BROWSER } from "../support/chromium.js";
import { useStage, type Stage } from "./stage.js";
import { choose, expectUsable, heading, PEOPLE, type Person, type TestUser } from "./test-user.js";

const executablePath = await chromiumForTests();

/**
 * Milliseconds for what the demo lets pass in real time: ten seconds before the warning, three of
 * an outage.
 */
const PATIENCE = { timeout: 20_000 };

/** The status of the account: who is signed in, or why not. */
const account = (tab: Page) =>
  tab.getByRole("region", { name: "Account" }).getByRole("status").innerText();
const items = (tab: Page) =>
  tab.getByRole("list", { name: "Your items" }).getByRole("listitem").allInnerTexts();
const input = (tab: Page) => tab.getByLabel("New item");
const press = (tab: Page, name: string) => tab.getByRole("button", { name, exact: true }).click();
const view = (tab: Page, name: string) =>
  tab.getByRole("navigation").getByRole("link", { name }).click();
const warning = (tab: Page) => tab.getByRole("region", { name: "Your session is about to end" });

/** Ends the session on the server, by the view "Session", and goes back to the items. */
async function endSession(tab: Page): Promise<void> {
  await view(tab, "Session");
  await press(tab, "End this session on the server");
  await expect.poll(() => account(tab)).toContain("You are signed out.");
  await view(tab, "Items");
}

describe.skipIf(executablePath === undefined)(
  "the single-page application of the demo, in a browser",
  IN_A_BROWSER,
  () => {
    const stage: Stage = useStage(executablePath);
    const ENV = { DEMO_OUTAGE_SECONDS: "3" };

    /** A tab of /app/ in which the person is signed in. */
    async function signedIn(
      path = "/app/",
      person: Person = "ada",
    ): Promise<{ user: TestUser; tab: Page }> {
      const { user } = await stage.open(ENV);
      const tab = await user.askFor(path);
      await press(tab, "Sign in");
      await choose(tab, person);
      await expect.poll(() => account(tab)).toBe(`Signed in as ${PEOPLE[person]}`);
      return { user, tab };
    }

    /** Signs in in the window that the click opens. */
    async function signInByPopup(
      tab: Page,
      click: () => Promise<void>,
      person: Person = "ada",
    ): Promise<void> {
      const [popup] = await Promise.all([tab.waitForEvent("popup"), click()]);
      const closed = popup.waitForEvent("close");
      await popup.getByRole("button", { name: PEOPLE[person] }).click();
      await closed;
      await expect.poll(() => account(tab)).toBe(`Signed in as ${PEOPLE[person]}`);
    }

    it("a deep link is the same page, and the sign-in returns to it", async () => {
      const { tab } = await signedIn("/app/session?from=mail#limits");
      expect(await heading(tab)).toBe("Session");
      expect(new URL(tab.url()).search).toBe("?from=mail");
      await expect
        .poll(() => tab.getByRole("row", { name: "Idle limit" }).innerText())
        .toMatch(/00:29:\d\d$/);
    });

    it("lists the user's items, adds one, and shows another user none of them", async () => {
      const { tab } = await signedIn();
      await input(tab).fill("Weigh the punched cards");
      await tab.keyboard.press("Enter");
      await expect.poll(() => items(tab)).toContain("Weigh the punched cards");
      expect(await input(tab).inputValue()).toBe("");

      await input(tab).fill("A draft of Ada");
      await endSession(tab);
      await signInByPopup(tab, () => press(tab, "Sign in in a new window"), "grace");
      await expect.poll(() => items(tab)).toHaveLength(3);
      expect(await items(tab)).not.toContain("Weigh the punched cards");
      expect(await input(tab).inputValue()).toBe("");
    });

    it("a half-filled form survives the end of the session, and is sent once after the sign-in", async () => {
      const { tab } = await signedIn();
      await input(tab).fill("Oil the Analytical Engine");
      await endSession(tab);
      expect(await account(tab)).toContain(
        "You are signed out. The session was ended on the server",
      );

      const posts: number[] = [];
      tab.on("response", (response) => {
        if (response.request().method() === "POST") posts.push(response.status());
      });
      await press(tab, "Add");
      await tab.getByText("Waiting for your sign-in. Your text is kept.").waitFor();
      expect(await input(tab).inputValue()).toBe("Oil the Analytical Engine");
      await signInByPopup(tab, () => press(tab, "Sign in in a new window"));
      await tab.getByText("Added: Oil the Analytical Engine").waitFor();
      expect(
        (await items(tab)).filter((text) => text === "Oil the Analytical Engine"),
      ).toHaveLength(1);
      expect(posts).toEqual([401, 201]);
      expect(await input(tab).inputValue()).toBe("");
    });

    it("warns one minute before the idle limit, and “Stay signed in” moves it", async () => {
      const { tab } = await signedIn("/app/session");
      await press(tab, "Let the session end in 70 seconds");
      await expect
        .poll(() => tab.getByRole("row", { name: "Idle limit" }).innerText())
        .toMatch(/00:01:\d\d$/);
      await warning(tab).waitFor(PATIENCE);
      expect(await tab.getByRole("timer").innerText()).toMatch(/^(?:1:00|0:[345]\d)$/);
      await expectUsable(tab);
      await press(tab, "Stay signed in");
      await warning(tab).waitFor({ state: "hidden" });
      await expect
        .poll(() => tab.getByRole("row", { name: "Idle limit" }).innerText())
        .toMatch(/00:(?:30:00|29:\d\d)$/);
    });

    it("an outage is unavailable: users stay signed in, and the page recovers by itself", async () => {
      const { tab } = await signedIn("/app/session");
      await press(tab, "Start an outage of the session store");
      await expect
        .poll(() => account(tab))
        .toBe("Ada Lovelace: the server does not respond. You are still signed in.");
      await expectUsable(tab);
      await expect.poll(() => account(tab), PATIENCE).toBe("Signed in as Ada Lovelace");
    });

    it("a sign-out shows in the second tab", async () => {
      const { user, tab } = await signedIn("/app/session");
      const [second] = await Promise.all([
        user.context.waitForEvent("page"),
        tab.getByRole("link", { name: "Open a second tab" }).click(),
      ]);
      await expect.poll(() => account(second)).toBe("Signed in as Ada Lovelace");
      await press(tab, "Sign out");
      await expect.poll(() => account(second)).toBe("You are signed out.");
      expect(await items(second)).toEqual([]);
    });

    it("lists the devices, and ends another one, whose page says so", async () => {
      const { user: phone, tab: elsewhere } = await signedIn("/app/devices", "alan");
      const { tab } = await signedIn("/app/devices", "alan");
      expect(phone.origin).toBe(new URL(tab.url()).origin);
      const devices = tab.getByRole("list", { name: "Your sessions" }).getByRole("listitem");
      await expect.poll(() => devices.count()).toBe(2);
      await expectUsable(tab);
      await press(tab, "End all other sessions");
      await tab.getByText("1 session ended.").waitFor();
      await expect.poll(() => devices.count()).toBe(1);
      // By the event stream: the next probe would be a minute away.
      await expect
        .poll(() => account(elsewhere))
        .toContain("You are signed out. The session was ended on the server");

      await tab.getByRole("button", { name: /^End session/ }).click();
      await expect.poll(() => account(tab)).toBe("You are signed out.");
    });

    it("can be used with the keyboard, on a phone, in the dark and with a screen reader", async () => {
      const { user } = await stage.open(ENV);
      const out = await user.askFor("/app/");
      await out.getByText("Sign in to see your items.").waitFor();
      await expectUsable(out);

      const { tab } = await signedIn();
      await expect.poll(() => items(tab)).not.toEqual([]);
      const focused = () => tab.evaluate<string>("document.activeElement.textContent");
      for (const name of ["The idpauth demo", "Items", "Devices"]) {
        await tab.keyboard.press("Tab");
        expect(await focused()).toBe(name);
      }
      await tab.keyboard.press("Enter");
      expect(await focused()).toBe("Devices");
      expect(await heading(tab)).toBe("Devices");
      await tab.goBack();
      expect(await heading(tab)).toBe("Items");
      await expectUsable(tab);
      await view(tab, "Session");
      await expectUsable(tab);
    });
  },
);
