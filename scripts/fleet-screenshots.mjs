// Takes the two pictures of the fleet: signed in, and still signed in after one of its processes was killed with kill -9.
// `npm run screenshots` takes them with all others; `node scripts/fleet-screenshots.mjs` over a built demo takes them alone.
import path from "node:path";
import { chromium } from "playwright-core";
import { startDemoProcess } from "./demo-process.mjs";
import { root } from "./run.mjs";

/** Answers that the page shows before each picture, at one a second. */
const ANSWERS = 9;

/**
 * @param {import("playwright-core").Browser} browser
 * @param {string} target folder
 * @returns {Promise<string[]>} the files' names
 */
export async function takeFleet(browser, target) {
  // The killed process stays away until the picture is taken.
  const fleet = await startDemoProcess("fleet.js", { ...process.env, PORT: "0", DEMO_FLEET_RESTART_SECONDS: "120" });
  try {
    const tab = await browser.newPage({ viewport: { width: 900, height: 620 }, colorScheme: "light" });
    await tab.goto(`${fleet.origin}/enter`);
    await tab.getByRole("button", { name: "Ada Lovelace" }).click();
    const shown = tab.locator("#answers li");
    await shown.nth(ANSWERS - 1).waitFor();
    await tab.screenshot({ path: path.join(target, "fleet-before-kill.png"), fullPage: true });

    process.kill(fleet.pidOf("app-2"), "SIGKILL");
    await tab.getByText("2 of 3 application processes are running.").waitFor();
    await shown.nth(2 * ANSWERS - 1).waitFor();
    await tab.getByText("Signed in as Ada Lovelace").waitFor();
    await tab.screenshot({ path: path.join(target, "fleet-after-kill.png"), fullPage: true });
    await tab.close();
  } finally {
    await fleet.end();
  }
  return ["fleet-before-kill.png", "fleet-after-kill.png"];
}

if (process.argv[1] === import.meta.filename) {
  const browser = await chromium.launch({ executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    await takeFleet(browser, path.join(root, "docs/screenshots"));
  } finally {
    await browser.close();
  }
}
