import { expect, test } from "@playwright/test";
import { browser, signedInCookie, startTestProvider } from "idpauth/testing";
import { createApp } from "./app.mjs";

const provider = await startTestProvider();
const { app, auth } = createApp({ env: provider.env, clock: provider.clock });
const { origin } = await browser(app); // listens on a free port
test.afterAll(() => provider.stop());

test("the provider signs the user in; an outage is 503, and then idpauth refreshes the session", async ({
  page,
}) => {
  await page.goto(`${origin}/reports`);
  await expect(page.getByText("ada@example.com")).toBeVisible(); // the default user
  provider.clock.advance(3_600_000); // milliseconds: the ID token has expired
  provider.fault("token", { kind: "status", status: 503, times: 1 });
  expect((await page.reload())?.status()).toBe(503);
  provider.clock.advance(60_000);
  expect((await page.reload())?.status()).toBe(200);
});

test("a test starts with a signed-in user", async ({ page, context }) => {
  await context.addCookies([
    { ...(await signedInCookie(auth, { email: "grace@example.com" })), url: origin },
  ]);
  expect(await (await page.goto(`${origin}/reports`))?.json()).toEqual({
    for: "grace@example.com",
  });
});
