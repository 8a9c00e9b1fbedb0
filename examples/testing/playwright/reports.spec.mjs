import { expect, test } from "@playwright/test";
import { browser, signedInCookie, startTestProvider } from "idpauth/testing";
import { createApp } from "./app.mjs";

const provider = await startTestProvider();
const { app, auth } = createApp({ env: provider.env, clock: provider.clock });
const { origin } = await browser(app); // serves it on a free port of this machine
test.afterAll(() => provider.stop());

test("the provider sends a user back signed in; an outage is 503, and later the session is refreshed", async ({ page }) => {
  await page.goto(`${origin}/reports`);
  await expect(page.getByText("ada@example.com")).toBeVisible(); // the provider's own person, who has agreed already
  provider.clock.advance(3_600_000); // milliseconds: the ID token has run out
  provider.fault("token", { kind: "status", status: 503, times: 1 });
  expect((await page.reload())?.status()).toBe(503);
  provider.clock.advance(60_000);
  expect((await page.reload())?.status()).toBe(200);
});

test("a user is signed in from the start", async ({ page, context }) => {
  await context.addCookies([{ ...(await signedInCookie(auth, { email: "grace@example.com" })), url: origin }]);
  expect(await (await page.goto(`${origin}/reports`))?.json()).toEqual({ for: "grace@example.com" });
});
