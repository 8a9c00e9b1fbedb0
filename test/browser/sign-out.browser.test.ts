import { describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { CHOICE } from "./stage-application.js";
import { useStage } from "./stage.js";
import { expectUsable, heading } from "./test-user.js";

/** Signing out here only, without the way through the provider. */
const HERE = { logoutAtProvider: false } as const;

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)("signing out, in a browser", () => {
  const stage = useStage(executablePath);

  it("[R11] the landing page says signed out, and the back button shows nothing of the session", async () => {
    const { user } = await stage.open(HERE);
    const tab = await user.signIn("/idpauth/login/");
    await tab.goto(user.url("/reports"));
    await tab.getByRole("link", { name: "Sign out" }).click();
    expect(tab.url()).toBe(user.url("/idpauth/"));
    expect(await heading(tab)).toBe("You are signed out");
    await expectUsable(tab);
    await tab.goBack();
    expect(await heading(tab)).toBe(CHOICE);
    await tab.goBack();
    expect(tab.url()).toBe(user.url("/idpauth/"));
    expect(await heading(tab)).toBe("You are signed out");
  });

  it("ends the session in every tab, and makes the cookie worthless", async () => {
    const { user } = await stage.open();
    const first = await user.signIn("/reports");
    const second = await user.askFor("/reports");
    expect(await second.innerText("main")).toContain("Signed in as Ada Lovelace");
    const before = await user.context.cookies();
    await first.getByRole("link", { name: "Sign out" }).click();
    await second.reload();
    expect(await heading(second)).toBe(CHOICE);
    // Who has kept the cookie has nothing.
    const thief = await stage.user(user.origin);
    await thief.context.addCookies(before);
    const tab = await thief.askFor("/idpauth/session");
    expect(JSON.parse(await tab.innerText("pre"))).toEqual({ authenticated: false, user: null });
  });

  it("[R11] the address of the old callback is harmless: a page that explains, and nobody is signed in", async () => {
    const { user } = await stage.open();
    const tab = await user.signIn("/reports");
    const callback = user.callbacks[0] ?? "";
    await tab.getByRole("link", { name: "Sign out" }).click();
    expect((await tab.goto(callback))?.status()).toBe(400);
    expect(await heading(tab)).toBe("This sign-in link is no longer valid");
    await expectUsable(tab);
    await tab.goto(user.url("/idpauth/"));
    expect(await heading(tab)).toBe("You are signed out");
  });

  it("the cookie is gone afterwards", async () => {
    const { user } = await stage.open();
    const tab = await user.signIn("/reports");
    await tab.getByRole("link", { name: "Sign out" }).click();
    expect((await user.context.cookies()).map(({ name }) => name)).not.toContain("idpauth");
  });

  it("redirects to authLogoutRedirectUrl", async () => {
    const { user } = await stage.open({ ...HERE, authLogoutRedirectUrl: "/" });
    const tab = await user.signIn("/reports");
    await tab.getByRole("link", { name: "Sign out" }).click();
    expect(tab.url()).toBe(user.url("/"));
  });

  it("at the provider too: back to the landing page, and the session at the provider has ended", async () => {
    const { application, user } = await stage.open();
    const provider = await user.askFor(application.provider);
    const sessionOfAlan = provider.getByRole("button", { name: "End the session of Alan Turing" });
    const tab = await user.signIn("/reports", "alan");
    await provider.reload();
    expect(await sessionOfAlan.count()).toBe(1);
    await tab.getByRole("link", { name: "Sign out" }).click();
    expect(tab.url()).toBe(user.url("/idpauth/"));
    expect(await heading(tab)).toBe("You are signed out");
    await provider.reload();
    expect(await sessionOfAlan.count()).toBe(0);
    await tab.goto(user.url("/reports"));
    expect(await heading(tab)).toBe(CHOICE);
  });

  it("signing out while signed out is harmless", async () => {
    const { user } = await stage.open();
    const tab = await user.askFor("/idpauth/logout/");
    expect(tab.url()).toBe(user.url("/idpauth/"));
    expect(await heading(tab)).toBe("You are signed out");
    expect(await user.context.cookies()).toEqual([]);
  });
});
