import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { chromiumForTests, findChromium, launchChromium } from "./chromium.js";

const executablePath = await chromiumForTests();

it("CHROMIUM_PATH goes before everything, and is named when it points nowhere", async () => {
  expect(await findChromium({ CHROMIUM_PATH: process.execPath })).toEqual({
    executablePath: process.execPath,
  });
  expect(await findChromium({ CHROMIUM_PATH: "/nowhere/chromium" })).toMatchObject({
    executablePath: undefined,
    reason: expect.stringContaining("/nowhere/chromium"),
  });
});

it.skipIf(executablePath === undefined)(
  "Chromium starts, shows a page of this machine and ends",
  async () => {
    const server = createServer((_request, response) =>
      response.setHeader("Content-Type", "text/html").end("<!doctype html><title>here</title>"),
    ).listen(0, "127.0.0.1");
    await once(server, "listening");
    const browser = await launchChromium(executablePath!);
    try {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      expect(await page.title()).toBe("here");
    } finally {
      await browser.close();
      server.closeAllConnections();
      server.close();
    }
  },
);
