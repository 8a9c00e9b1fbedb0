// Takes the pictures of docs/screenshots/, light and dark, in a browser: idpauth's own pages in the
// states that the docs show, and the demo. With optipng installed, they are a fifth smaller, without
// a difference.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { startPageServer } from "../test/pages/page-server.mjs";
import { startDemoProcess } from "./demo-process.mjs";
import { root } from "./run.mjs";

/** @typedef {import("playwright-core").Page} Page */

const TARGET = path.join(root, "docs/screenshots");

/** Name of the picture -> the state in test/pages/states.mjs that it shows. */
const STATES = {
  chooser: "chooser-two",
  sessions: "sessions-two",
  "index-signed-in": "landing-signed-in-no-picture",
  "index-ended-at-provider": "landing-ended-at-provider",
  "error-provider-unavailable": "error-provider-unavailable",
};

/** @param {string} file */
const built = (file) => import(pathToFileURL(path.join(root, "build", file)).href);
const [{ createPages }, { popupPage }, { stylesheet }] = await Promise.all(
  ["pages/pages.js", "pages/popup-page.js", "http/reply.js"].map(built),
);

mkdirSync(TARGET, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const tab = await browser.newPage({ viewport: { width: 900, height: 620 } });
  const server = await startPageServer({ createPages, popupPage, stylesheet });
  for (const [name, state] of Object.entries(STATES)) {
    await tab.goto(server.url(state), { waitUntil: "load" });
    await take(tab, name);
  }
  await server.close();
  const demo = await startDemoProcess("main.js");
  try {
    await tab.setViewportSize({ width: 1200, height: 600 });
    await useDemo(tab, demo.origin);
    await take(tab, "demo", false);
  } finally {
    await demo.end();
  }
} finally {
  await browser.close();
}

/**
 * @param {Page} tab
 * @param {string} name
 * @param {boolean} [fullPage] false: what the window shows
 */
async function take(tab, name, fullPage = true) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await tab.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const file = path.join(TARGET, `${name}-${colorScheme}.png`);
    await tab.screenshot({ path: file, fullPage });
    if (spawnSync("optipng", ["-quiet", "-o2", file]).status !== 0)
      console.error(`optipng didn't run, so ${name} stays larger than it must be`);
  }
}

/**
 * Signs in, and sends the 200 requests.
 *
 * @param {Page} tab
 * @param {string} origin
 */
async function useDemo(tab, origin) {
  await tab.goto(`${origin}/idpauth/login/?provider=staff`);
  await tab.getByRole("link", { name: "Ada Lovelace" }).click();
  await tab.getByText("Signed in as Ada Lovelace").waitFor();
  await tab.getByRole("button", { name: "send 200 requests" }).click();
  await tab.getByText("200 of 200 succeeded").waitFor();
}
