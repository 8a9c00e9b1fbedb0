import express from "express";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { confirmLogout, startOidcProvider, type OidcProvider } from "../support/oidc-provider.js";
import { settled } from "../../src/testing/settled.js";
import { optionsFor } from "../support/options-for.js";

// Signing out with oidc-provider, whose endpoints this project did not write.

let provider: OidcProvider;
let server: Server;
let origin: string;
let auth: ExpressIdpAuth;

async function start(options: IdpAuthOptions = {}, withSid = true): Promise<void> {
  const app = express();
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider = await startOidcProvider({ application: origin, withSid });
  auth = idpAuth({
    ...optionsFor(provider),
    scope: ["openid", "email", "profile"],
    log: false,
    ...options,
  });
  auth.mount(app);
}

afterEach(async () => {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  await provider.stop();
});

async function signIn(person: string): Promise<CookieBrowser> {
  provider.person = person;
  const browser = new CookieBrowser({ origin });
  await browser.follow("/idpauth/login/");
  expect(await userOf(browser)).toBe(`The user ${person}`);
  return browser;
}

async function userOf(browser: CookieBrowser): Promise<string | undefined> {
  const { user } = (await browser.get("/idpauth/session")).json() as {
    user: { name: string } | null;
  };
  return user?.name;
}

/** Whether a new login chooses the person again, because the provider's session has ended. */
async function asksAgain(browser: CookieBrowser): Promise<boolean> {
  const login = await browser.navigate("/idpauth/login/");
  const response = await browser.get(login.location ?? "");
  return new URL(response.location ?? "", provider.issuer).pathname.startsWith("/interaction/");
}

/** Signs out at the provider's own page. The application takes no part. */
const leaveProvider = async (browser: CookieBrowser) =>
  confirmLogout(browser, await browser.follow(`${provider.issuer}/session/end`));

describe("logoutAtProvider with oidc-provider", () => {
  it("ends the provider's session with the hint, comes back, and then revokes the token", async () => {
    await start({ logoutAtProvider: true });
    const logouts: unknown[] = [];
    auth.on("logout", ({ revoked }) => logouts.push(revoked));
    const browser = await signIn("ada");
    expect(await asksAgain(browser)).toBe(false);
    const page = await browser.follow("/idpauth/logout/");
    expect(page.url.origin).toBe(provider.issuer);
    expect(await userOf(browser)).toBeUndefined();
    expect(logouts).toEqual([]);
    const back = await confirmLogout(browser, page);
    expect([back.status, back.url.href]).toEqual([200, `${origin}/idpauth/`]);
    await settled(auth);
    expect(logouts).toEqual([true]);
    expect(await asksAgain(browser)).toBe(true);
  });

  it("gives a script an address without the hint, which ends the provider's session too", async () => {
    await start({ logoutAtProvider: true });
    const browser = await signIn("ada");
    const { redirect_to } = (await browser.get("/idpauth/logout/?response=json")).json() as {
      redirect_to: string;
    };
    expect(new URL(redirect_to).searchParams.has("id_token_hint")).toBe(false);
    const back = await confirmLogout(browser, await browser.follow(redirect_to));
    expect(back.url.href).toBe(`${origin}/idpauth/`);
    expect(await asksAgain(browser)).toBe(true);
  });

  it("without the option, the provider's session goes on", async () => {
    await start();
    const browser = await signIn("ada");
    expect((await browser.follow("/idpauth/logout/")).url.href).toBe(`${origin}/idpauth/`);
    expect(await userOf(browser)).toBeUndefined();
    expect(await asksAgain(browser)).toBe(false);
  });
});

describe("backchannelLogout with oidc-provider", () => {
  it.each([
    ["the session of the token's sid, and no other of this user", true, "The user ada"],
    ["all sessions of the user if the token has sub alone", false, undefined],
  ])("ends %s; other users stay signed in", async (_what, withSid, second) => {
    await start({ backchannelLogout: true }, withSid);
    const users = [await signIn("ada"), await signIn("ada"), await signIn("grace")];
    await leaveProvider(users[0]!);
    expect(provider.delivered).toEqual(["ok"]);
    expect(await Promise.all(users.map(userOf))).toEqual([undefined, second, "The user grace"]);
  });

  it("works during the logout that the application has started", async () => {
    await start({ backchannelLogout: true, logoutAtProvider: true });
    const browser = await signIn("ada");
    const back = await confirmLogout(browser, await browser.follow("/idpauth/logout/"));
    expect(back.url.href).toBe(`${origin}/idpauth/`);
    expect(provider.delivered).toEqual(["ok"]);
    expect(await userOf(await signIn("ada"))).toBe("The user ada");
  });

  it("without the option, the address is 404 and the session goes on", async () => {
    await start();
    const browser = await signIn("ada");
    await leaveProvider(browser);
    expect(provider.delivered).toEqual([expect.stringContaining("got: 404") as string]);
    expect(await userOf(browser)).toBe("The user ada");
  });
});
