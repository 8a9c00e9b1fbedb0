// @ts-check
import { expect, test } from "@playwright/test";
import { browser, startTestApi, startTestProvider } from "idpauth/testing";
import { createApp } from "./app.mjs";

const provider = await startTestProvider({ person: { sub: "ada", name: "Ada Lovelace" } });
const api = await startTestApi(provider);
const { app } = await createApp(api.url, {
  env: provider.env,
  clock: provider.clock,
  sessionIdleTimeout: 1800, // seconds
});
const { origin } = await browser(app); // listens on a free port
test.afterAll(async () => {
  await api.stop();
  await provider.stop();
});

/** @param {string} path what reached the API there */
const statuses = (path) =>
  api.requests.filter((request) => request.path === path).map(({ status }) => status);

/** @param {import("@playwright/test").Page} page */
const ordersOf = (page) => page.getByRole("list", { name: "Orders" });

test.beforeEach(async ({ page }) => {
  api.requests.splice(0);
  await page.goto(origin);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText("Ada Lovelace")).toBeVisible();
  await expect.poll(() => statuses("/stream")).toEqual([200]);
  api.send([{ id: 1, text: "Punched cards", isPaid: false }]);
  await expect(ordersOf(page)).toContainText("Punched cards");
});

test("what the page says on the WebSocket reaches the API with the user's token", async ({
  page,
}) => {
  await page.getByLabel("Message").fill("Hello");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("list", { name: "Chat" })).toContainText("Hello"); // the API's echo
  expect(api.requests.find(({ path }) => path === "/chat")?.claims?.sub).toBe("ada");
});

test("a form survives the end of the session, and is sent after the user has signed in again", async ({
  page,
  context,
}) => {
  await page.getByLabel("New order").fill("Engine oil");
  await context.clearCookies();
  await page.getByRole("button", { name: "Add" }).click();
  const ended = page.getByRole("region", { name: "Your session has ended" });
  await expect(ended).toBeVisible();
  await expect(ordersOf(page)).toBeHidden();
  await expect(page.getByLabel("New order")).toHaveValue("Engine oil");
  await ended.getByRole("button", { name: "Sign in" }).click(); // in a new window
  await expect(page.getByText("Added.")).toBeVisible();
  expect(statuses("/orders")).toEqual([200]);
});

test("a payment waits for the step-up that the API requires, and the page keeps its forms", async ({
  page,
}) => {
  await page.getByLabel("New order").fill("Engine oil");
  provider.clock.advance(600_000); // milliseconds
  api.requireStepUp({ maxAge: 300 }); // seconds
  await page.getByRole("button", { name: "Pay" }).click();
  await expect(page.getByText("Paid.")).toBeVisible();
  expect(statuses("/payments")).toEqual([401, 200]);
  await expect(page.getByLabel("New order")).toHaveValue("Engine oil");
  await expect(ordersOf(page)).toContainText("Punched cards");
  api.requireStepUp();
});

test("before the idle timeout, the user can stay signed in", async ({ page }) => {
  provider.clock.advance(1_740_000); // milliseconds
  const stay = page.getByRole("button", { name: "Stay signed in" });
  await expect(async () => {
    await page.evaluate(() => dispatchEvent(new Event("focus"))); // the client asks the server
    await expect(stay).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await stay.click();
  await expect(stay).toBeHidden();
  await expect(page.getByText("Ada Lovelace")).toBeVisible();
});
