// @ts-check
import { deepEqual } from "node:assert/strict";
import { after, test } from "node:test";
import { browser } from "idpauth/testing";
import { chromium } from "playwright-core";
import { GRACE, startApplication } from "./application.mjs";

const { server, company, orders, stop } = await startApplication();
const { origin } = await browser(server); // listens on a free port
const chrome = await chromium.launch({
  executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
after(async () => {
  await chrome.close();
  await stop();
});

void test("in Chromium: a notice, an order, the warning before the end, and the end", async () => {
  company.person = GRACE;
  const context = await chrome.newContext();
  const tab = await context.newPage();
  await tab.goto(`${origin}/desk`);
  await tab.getByRole("link", { name: /company/i }).click(); // chooses the provider
  await tab.locator("#notices[data-opened]").waitFor({ state: "attached" });
  await tab.locator("#orders[data-opened]").waitFor({ state: "attached" });

  orders.send("shipped");
  await tab.locator("#orders").getByText("shipped").waitFor();
  await tab.getByRole("button", { name: "Order paper" }).click();
  await tab.locator("#orders").getByText("Ordered").waitFor();
  deepEqual([orders.requests.at(-1)?.method, orders.requests.at(-1)?.body], ["POST", "paper"]);

  const other = await context.newPage();
  await other.goto(`${origin}/desk`);
  await other.getByLabel("Publish notice").fill("Closing at five");
  await other.getByRole("button", { name: "Publish notice" }).click();
  await tab.locator("#notices").getByText("Closing at five").waitFor();
  await other.close();

  // The page asks the server when it gets the focus, at most every two seconds.
  await tab.evaluate(`setInterval(() => dispatchEvent(new Event("focus")), 500)`);
  company.clock.advance(1_700_000); // milliseconds: 100 s before the idle timeout
  await tab.getByRole("button", { name: "Stay signed in" }).click();
  await tab.getByRole("button", { name: "Stay signed in" }).waitFor({ state: "hidden" });
  company.clock.advance(1_790_000); // the session would have ended long ago
  await tab.getByRole("button", { name: "Stay signed in" }).waitFor();
  company.clock.advance(20_000);
  await tab.getByRole("region", { name: "Your session has ended" }).waitFor();
});
