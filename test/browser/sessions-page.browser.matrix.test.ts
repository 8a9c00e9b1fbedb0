import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { CHOICE, type StageOptions } from "./stage-application.js";
import { useStage, type Stage } from "./stage.js";
import { expectUsable, heading, type TestUser } from "./test-user.js";

const executablePath = await chromiumForTests();

const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

const items = (tab: Page) =>
  tab.getByRole("listitem").filter({ hasText: "Signed in" }).allInnerTexts();

describe.skipIf(executablePath === undefined)("the page of a user's sessions, in a browser", () => {
  const stage: Stage = useStage(executablePath);
  const OPTIONS: StageOptions = {
    sessionsPage: true,
    logoutAtProvider: false,
    sessionLabel: (request) =>
      request.header("user-agent") === IPHONE ? "Safari on iPhone" : null,
  };

  /** One person with two browsers: the tab of the first shows the sessions page. */
  async function twoBrowsers(
    javaScriptEnabled = true,
  ): Promise<{ user: TestUser; tab: Page; phone: TestUser }> {
    const { user: first } = await stage.open(OPTIONS);
    const user = javaScriptEnabled ? first : await stage.user(first.origin, { javaScriptEnabled });
    const phone = await stage.user(first.origin, { userAgent: IPHONE, javaScriptEnabled });
    await phone.signIn("/idpauth/login/", "grace");
    const tab = await user.signIn("/idpauth/login/", "grace");
    await tab.getByRole("link", { name: "Your sessions" }).click();
    expect(await heading(tab)).toBe("Your sessions");
    return { user, tab, phone };
  }

  /** Ends what a test has left, since the tests share the application. */
  async function endAll(tab: Page): Promise<void> {
    await tab.getByRole("button", { name: "Sign out everywhere" }).click();
    expect(await heading(tab)).toBe("You are signed out");
  }

  async function expectEnded(phone: TestUser): Promise<Page> {
    const tab = await phone.askFor("/idpauth/");
    expect(await heading(tab)).toBe("Your session has ended");
    expect(await tab.innerText("main")).toContain(
      "This session was ended on another device, or by an administrator.",
    );
    return tab;
  }

  it("shows both sessions, and axe finds nothing on a phone and a desktop", async () => {
    const { tab } = await twoBrowsers();
    const [own, other] = await items(tab);
    expect(own).toContain("This session");
    expect(other).toMatch(/^Safari on iPhone\s+Signed in \d\d \w{3} \d{4}, \d\d:\d\d UTC/);
    await expectUsable(tab);
    await endAll(tab);
  });

  it.each([true, false])(
    "[ASVS-7.4.2] ends the other session, whose next page says why; script: %s",
    async (javaScriptEnabled) => {
      const { tab, phone } = await twoBrowsers(javaScriptEnabled);
      await tab.getByRole("button", { name: "End session: Safari on iPhone" }).click();
      expect(await heading(tab)).toBe("Your sessions");
      expect(await items(tab)).toHaveLength(1);
      const ended = await expectEnded(phone);
      if (javaScriptEnabled) await expectUsable(ended);
      await ended.goto(phone.url("/reports"));
      expect(await heading(ended)).toBe(CHOICE);
      await endAll(tab);
    },
  );

  it("can be worked with the keyboard alone", async () => {
    const { tab, phone } = await twoBrowsers();
    const focused = () => tab.evaluate<string>("document.activeElement.textContent");
    for (const name of ["Sign out", "End session", "End all other sessions"]) {
      await tab.keyboard.press("Tab");
      expect(await focused()).toBe(name);
    }
    await tab.keyboard.press("Enter");
    await tab
      .getByRole("button", { name: "End all other sessions" })
      .waitFor({ state: "detached" });
    expect(await items(tab)).toHaveLength(1);
    await expectEnded(phone);
    await endAll(tab);
  });

  it("signs out everywhere, also here", async () => {
    const { user, tab, phone } = await twoBrowsers();
    await endAll(tab);
    await expectEnded(phone);
    await tab.goto(user.url("/idpauth/session"));
    expect(JSON.parse(await tab.innerText("pre"))).toEqual({ authenticated: false, user: null });
  });

  it("lists no session of another user", async () => {
    const { tab } = await twoBrowsers();
    const { user: other } = await stage.open(OPTIONS);
    const theirs = await other.signIn("/idpauth/sessions", "alan");
    expect(await heading(theirs)).toBe("Your sessions");
    expect(await items(theirs)).toHaveLength(1);
    await endAll(theirs);
    await tab.reload();
    expect(await items(tab)).toHaveLength(2);
    await endAll(tab);
  });

  it("does not exist while its setting is off", async () => {
    const { user } = await stage.open({ sessionsPage: false });
    const tab = await user.signIn("/idpauth/login/");
    expect(await tab.getByRole("link", { name: "Your sessions" }).count()).toBe(0);
    expect((await tab.goto(user.url("/idpauth/sessions")))?.status()).toBe(404);
  });
});
