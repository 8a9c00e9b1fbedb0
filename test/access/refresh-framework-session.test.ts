import { afterEach, expect, it } from "vitest";
import { type CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import {
  startExpressApplication,
  type ExpressApplication,
  type ExpressApplicationOptions,
} from "../support/express-application.js";
import { settled } from "../../src/testing/settled.js";

// With sessions of the host's own no list tells of a person's other sessions: what became of this
// one is all there is to go by.

let app: ExpressApplication;

afterEach(() => app.stop());

/** A user whose next refresh is held at the provider after it has rotated the token. */
async function beforeRefresh(options: ExpressApplicationOptions = {}) {
  app = await startExpressApplication({ session: "host", ...options });
  const browser = app.browser();
  expect((await browser.follow("/idpauth/login/")).status).toBe(200);
  app.clock.advance(3_600_000);
  const token = app.provider.hold("token", {
    before: false,
    when: ({ params }) => params.get("grant_type") === "refresh_token",
  });
  return { browser, token };
}

/** The same, once the refresh is held. */
async function duringRefresh() {
  const { browser, token } = await beforeRefresh();
  const probe = isSignedIn(browser);
  await token.arrived;
  return {
    browser,
    async finish() {
      token.release();
      await probe;
      await settled(app.auth);
    },
  };
}

const isSignedIn = async (browser: CookieBrowser) =>
  (await browser.get("/idpauth/session")).json().authenticated as boolean;
const revoked = () => app.provider.requestsTo("revoke").map(({ params }) => params.get("token"));
const rotated = () =>
  app.provider.issued.filter(({ kind }) => kind === "refresh_token").at(-1)?.value;

it("a sign-in during a refresh: the late tokens are dropped, not revoked, since the new session may share their grant", async () => {
  const { browser, finish } = await duringRefresh();
  expect((await browser.follow("/idpauth/login/")).status).toBe(200);
  await finish();
  expect(revoked()).toEqual([]);
  expect(await isSignedIn(browser)).toBe(true);
});

it("a framework that saves an old copy between the rotated token's write and the last one does not bring the spent token back", async () => {
  let letGo!: () => void;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let loaded!: () => void;
  const isLoaded = new Promise<void>((resolve) => (loaded = resolve));
  const { browser, token } = await beforeRefresh({
    routes: (express) =>
      express.get("/cart", async (request, response) => {
        loaded();
        await held;
        (request.session as unknown as Record<string, unknown>)["cart"] = "book";
        response.send("in the cart");
      }),
  });
  await app.provider.rotateKeys({ keepOld: false });
  const jwks = app.provider.hold("jwks");
  const probe = isSignedIn(browser);
  await token.arrived;
  const cart = browser.get("/cart");
  await isLoaded;
  token.release();
  // The rotated token is stored; its ID token waits for the keys.
  await jwks.arrived;
  letGo();
  await cart;
  jwks.release();
  expect(await probe).toBe(true);
  app.clock.advance(3_600_000);
  expect(await isSignedIn(browser)).toBe(true);
  expect(app.provider.reuses).toBe(0);
});

it("a logout during a refresh: the late tokens are revoked", async () => {
  const { browser, finish } = await duringRefresh();
  expect((await browser.get("/idpauth/logout/?response=json")).json()).toEqual({
    status: "logged_out",
  });
  const late = rotated();
  await finish();
  expect(revoked()).toContain(late);
  expect(await isSignedIn(browser)).toBe(false);
});
