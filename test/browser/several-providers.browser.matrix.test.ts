import { describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { useStage, type Stage } from "./stage.js";
import { choose, expectUsable, heading, type TestUser } from "./test-user.js";

const executablePath = await chromiumForTests();
const OPTIONS = {
  provider: ["--providers=staff,customers"],
  sessionsPage: true,
  env: {
    IDP_PROVIDER_STAFF_NAME: "Example staff",
    IDP_PROVIDER_CUSTOMERS_NAME: "Customer account",
  },
} as const;
const PAGE = "/reports?quarter=3&name=%C3%A9%20%26%2Fx&empty=";

describe.skipIf(executablePath === undefined)("several providers, in a browser", () => {
  const stage: Stage = useStage(executablePath);
  const open = async (): Promise<TestUser> => (await stage.open(OPTIONS)).user;

  it("redirects from a guarded page to the chooser, which works with the keyboard, and after the sign-in back to that page", async () => {
    const user = await open();
    const tab = await user.askFor(PAGE);
    expect(await heading(tab)).toBe("Choose how to sign in");
    await expectUsable(tab);
    for (const name of ["Example staff", "Customer account"]) {
      await tab.keyboard.press("Tab");
      expect(await tab.evaluate("document.activeElement.textContent.trim()")).toBe(name);
      expect(await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe(
        "solid",
      );
    }
    await tab.keyboard.press("Enter");
    await tab.getByText("sign in at the provider customers").waitFor();
    await choose(tab, "grace");
    expect(tab.url()).toBe(user.url(PAGE));
    expect(await tab.innerText("main")).toContain("Signed in as Grace Hopper");
  });

  it("sends a customer from a page for staff to the login of staff, whose session replaces the customer's", async () => {
    const user = await open();
    const tab = await user.askFor("/idpauth/login/?provider=customers");
    await choose(tab, "grace");
    await tab.goto(user.url("/"));
    expect(await tab.innerText("main")).toContain("Signed in at customers");

    await tab.goto(user.url("/payroll"));
    await tab.getByText("sign in at the provider staff").waitFor();
    await choose(tab, "ada");
    expect(tab.url()).toBe(user.url("/payroll"));
    expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");

    await tab.goto(user.url("/idpauth/sessions"));
    expect(await tab.innerText("main")).toMatch(
      /^Your sessions\s+You are signed in with Example staff /,
    );
    expect(await tab.getByRole("listitem").filter({ hasText: "This session" }).count()).toBe(1);
    await expectUsable(tab);
    await tab.goto(user.url("/"));
    expect(await tab.innerText("main")).toContain("Signed in at staff");
  });
});
