// Takes the pictures of docs/screenshots/, light and dark, in a browser: the landing page in each
// state, common error pages, the demo and the fleet. States that the demo cannot reach come from
// the list of the page tests.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { startPageServer } from "../test/pages/page-server.mjs";
import { takeSheet } from "./page-sheet.mjs";
import { startDemoProcess } from "./demo-process.mjs";
import { root } from "./run.mjs";

/**
 * @typedef {import("playwright-core").Page} Page
 * @typedef {import("playwright-core").Browser} Browser
 *
 * @typedef {object} Shot
 * @property {string} name
 * @property {Readonly<Record<string, string>>} [env] of the demo
 * @property {(tab: Page, origin: string) => Promise<unknown>} reach leads the tab to the page
 * @property {boolean} [phone] also on the screen of a phone
 */

const INDEX = "/idpauth/";
const TARGET = path.join(root, "docs/screenshots");

const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

/** @type {readonly Shot[]} */
const SHOTS = [
  { name: "demo-home", reach: (tab, origin) => tab.goto(`${origin}/`) },
  { name: "demo-sign-in", reach: (tab, origin) => tab.goto(`${origin}/reports`) },
  { name: "demo-reports", reach: (tab, origin) => signIn(tab, `${origin}/reports`) },
  {
    name: "demo-admin",
    env: { DEMO_RULE: "staff" },
    reach: (tab, origin) => signIn(tab, `${origin}/admin`),
  },
  { name: "demo-transfer", reach: (tab, origin) => signIn(tab, `${origin}/transfer`) },
  { name: "demo-orders", phone: true, reach: orders },
  { name: "demo-app", reach: singlePageApplication },
  { name: "index-signed-out", reach: (tab, origin) => tab.goto(origin + INDEX) },
  { name: "index-signed-in", reach: (tab, origin) => signIn(tab, `${origin}${INDEX}login/`) },
  {
    name: "index-sign-in-error",
    reach: (tab, origin) => signIn(tab, `${origin}${INDEX}login/`, "Cancel"),
  },
  {
    name: "index-signed-in-sign-in-error",
    async reach(tab, origin) {
      await signIn(tab, `${origin}${INDEX}login/`);
      await signIn(tab, `${origin}${INDEX}login/`, "Cancel");
    },
  },
  { name: "index-ended-max-age", env: { IDP_SESSION_MAX_AGE: "2" }, reach: untilEnded },
  { name: "index-ended-idle", env: { IDP_SESSION_IDLE_TIMEOUT: "2" }, reach: untilEnded },
  {
    name: "index-ended-auto-refresh-off",
    env: { IDP_SESSION_AUTO_REFRESH: "off", DEMO_ID_TOKEN_SECONDS: "2" },
    reach: untilEnded,
  },
  {
    name: "index-ended-no-refresh-token",
    env: { SCOPE: "openid email profile", DEMO_ID_TOKEN_SECONDS: "2" },
    reach: untilEnded,
  },
  { name: "sessions", env: { IDP_SESSIONS_PAGE: "on" }, phone: true, reach: twoSessions },
  {
    name: "chooser",
    env: { DEMO_PROVIDERS: "2" },
    phone: true,
    reach: (tab, origin) => tab.goto(`${origin}/reports`),
  },
  {
    name: "error-login-link-invalid",
    reach: (tab, origin) => tab.goto(`${origin}${INDEX}login-callback`),
  },
  {
    name: "error-invalid-parameter",
    reach: (tab, origin) => tab.goto(`${origin}${INDEX}login/?scheme=here&response=xml`),
  },
  {
    name: "error-provider-unavailable",
    // Nobody listens on the port of the discard protocol.
    env: { IDP_ISSUER: "http://127.0.0.1:9", IDP_CLIENT_ID: "demo", IDP_CLIENT_SECRET: "demo" },
    reach: (tab, origin) => tab.goto(`${origin}${INDEX}login/`),
  },
];

/** Responses that the page of the fleet shows before each picture, one each second. */
const RESPONSES = 9;

/** States of the page tests that the demo cannot reach. */
const FROM_LIST = [
  "index-signed-in-no-picture",
  "index-ended-refresh-rejected",
  "index-ended-at-provider",
  "index-ended-everywhere",
];

/**
 * The languages with a sheet: the pages in light, dark, on a phone and at 200 %. Fonts:
 * fonts-noto-core, fonts-noto-cjk.
 */
const SHEETS = ["en", "de", "ar", "ja"];

/** The names of the pictures to take; none: all. */
const ONLY = process.argv.slice(2);
/** @param {string} name */
const isWanted = (name) => ONLY.length === 0 || ONLY.includes(name);

mkdirSync(TARGET, { recursive: true });
/** @type {Set<string>} */
// taken by the browser test of Next.js: SCREENSHOTS=docs/screenshots
const taken = new Set(["next-signed-in.png"]);
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  for (const shot of SHOTS) if (isWanted(shot.name)) await takeFromDemo(browser, shot);
  await takeFromList(browser);
  if (isWanted("fleet")) for (const file of await takeFleet(browser, TARGET)) taken.add(file);
} finally {
  await browser.close();
}
// What an earlier run took of a state that is no more.
if (ONLY.length === 0)
  for (const file of readdirSync(TARGET))
    if (file.endsWith(".png") && !taken.has(file)) rmSync(path.join(TARGET, file));

/**
 * @param {Browser} browser
 * @param {Shot} shot
 */
async function takeFromDemo(browser, { name, env = {}, reach, phone = false }) {
  const demo = await startDemoProcess("main.js", { DEMO_SESSIONS: "memory", ...env });
  try {
    const tab = await browser.newPage({ viewport: { width: 900, height: 620 } });
    await reach(tab, demo.origin);
    await take(tab, name);
    if (phone) {
      await tab.setViewportSize({ width: 375, height: 667 });
      await tab.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
      await shoot(tab, `${name}-phone.png`);
    }
    await tab.close();
  } finally {
    await demo.end();
  }
}

/** @param {Browser} browser */
async function takeFromList(browser) {
  /** @param {string} file */
  const built = (file) => import(pathToFileURL(path.join(root, "build", file)).href);
  const [{ createPages }, { stylesheet }] = await Promise.all(
    ["pages/pages.js", "http/reply.js"].map(built),
  );
  const server = await startPageServer({ createPages, stylesheet });
  try {
    const tab = await browser.newPage({ viewport: { width: 900, height: 620 } });
    for (const state of FROM_LIST.filter(isWanted)) {
      await tab.goto(server.url(state), { waitUntil: "load" });
      await take(tab, state);
    }
    for (const language of SHEETS.filter((tag) => isWanted(`pages-${tag}`))) {
      const file = `pages-${language}.jpg`;
      await takeSheet(
        browser,
        (state) => server.url(state, language === "en" ? "" : language),
        path.join(TARGET, file),
      );
    }
  } finally {
    await server.close();
  }
}

/**
 * @param {Page} tab
 * @param {string} name
 */
async function take(tab, name) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await tab.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await shoot(tab, `${name}-${colorScheme}.png`);
  }
}

/**
 * @param {Page} tab
 * @param {string} file
 */
async function shoot(tab, file) {
  await tab.screenshot({ path: path.join(TARGET, file), fullPage: true });
  taken.add(file);
}

/**
 * @param {Page} tab
 * @param {string} address
 * @param {string} button
 */
async function signIn(tab, address, button = "Ada Lovelace") {
  await tab.goto(address);
  const provider = new URL(tab.url()).origin;
  await tab.getByRole("button", { name: button }).click();
  await tab.waitForURL((url) => url.origin !== provider, { waitUntil: "load" });
}

/**
 * The view with the deadlines, once they tick.
 *
 * @param {Page} tab
 * @param {string} origin
 */
async function singlePageApplication(tab, origin) {
  const page = `${origin}/app/session`;
  await signIn(
    tab,
    `${origin}${INDEX}login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(page)}`,
  );
  await tab.getByText("Signed in as Ada Lovelace").waitFor();
}

/**
 * The orders after a refused token, with both streams open.
 *
 * @param {Page} tab
 * @param {string} origin
 */
async function orders(tab, origin) {
  await signIn(tab, `${origin}/orders`);
  await tab.getByRole("button", { name: "Use a refused token" }).click();
  await tab.getByText("is the new one").waitFor();
  await tab.getByRole("button", { name: "Open the event stream" }).click();
  await tab.getByRole("button", { name: "Open the WebSocket" }).click();
  await tab.getByText("WebSocket: open, tick").waitFor();
}

/**
 * @param {Page} tab
 * @param {string} origin
 */
async function twoSessions(tab, origin) {
  const phone = await browser.newPage({ userAgent: IPHONE });
  await signIn(phone, `${origin}${INDEX}login/`);
  await phone.close();
  await signIn(tab, `${origin}${INDEX}login/`);
  await tab.getByRole("link", { name: "Your sessions" }).click();
}

/**
 * @param {Page} tab
 * @param {string} origin
 */
async function untilEnded(tab, origin) {
  await signIn(tab, `${origin}${INDEX}login/`);
  const ended = tab.getByRole("heading", { name: "Your session has ended" });
  for (let attempt = 0; (await ended.count()) === 0; attempt += 1) {
    if (attempt > 50) throw new Error(`The session does not end: ${origin}`);
    await tab.waitForTimeout(200);
    await tab.reload();
  }
}

/**
 * The fleet: signed in, and still signed in after `kill -9` ended one of its processes.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {string} target folder
 * @returns {Promise<string[]>} the files' names
 */
async function takeFleet(browser, target) {
  // The killed process stays away until the picture is taken.
  const fleet = await startDemoProcess("fleet.js", {
    ...process.env,
    PORT: "0",
    DEMO_FLEET_RESTART_SECONDS: "120",
  });
  try {
    const tab = await browser.newPage({
      viewport: { width: 900, height: 620 },
      colorScheme: "light",
    });
    await tab.goto(`${fleet.origin}/enter`);
    await tab.getByRole("button", { name: "Ada Lovelace" }).click();
    const shown = tab.locator("#answers li");
    await shown.nth(RESPONSES - 1).waitFor();
    await tab.screenshot({ path: path.join(target, "fleet-before-kill.png"), fullPage: true });

    process.kill(fleet.pidOf("app-2"), "SIGKILL");
    await tab.getByText("2 of 3 application processes are running.").waitFor();
    await shown.nth(2 * RESPONSES - 1).waitFor();
    await tab.getByText("Signed in as Ada Lovelace").waitFor();
    await tab.screenshot({ path: path.join(target, "fleet-after-kill.png"), fullPage: true });
    await tab.close();
  } finally {
    await fleet.end();
  }
  return ["fleet-before-kill.png", "fleet-after-kill.png"];
}
