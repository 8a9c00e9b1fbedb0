// Takes docs/screenshots/: the landing page in every state and the commonest error pages, light and dark, as a browser
// shows them under the component's own headers. Run after `npm run build`; another build folder as the argument.
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { startPageServer } from "../test/pages/page-server.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = resolve(root, "docs/screenshots");
const build = resolve(root, process.argv[2] ?? "dist");
// Every state of the index, except where only a name is out of the ordinary, and the three errors that people do meet.
const shown = (/** @type {string} */ state) =>
  (state.startsWith("index-") && !/-(long|nameless)$/.test(state)) ||
  /^error-(login-link-invalid|invalid-parameter|provider-unavailable)$/.test(state);

/** @param {string} path */
const load = (path) => import(pathToFileURL(resolve(build, path)).href);
const [{ indexPage }, { errorPage }, { STYLE }, { page, stylesheet }] = await Promise.all(
  ["pages/index-page.js", "pages/error-page.js", "pages/style.js", "core/http.js"].map(load),
);

await mkdir(target, { recursive: true });
const server = await startPageServer({ indexPage, errorPage, STYLE, page, stylesheet });
const browser = await chromium.launch({ executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    const context = await browser.newContext({ colorScheme, viewport: { width: 900, height: 620 } });
    const tab = await context.newPage();
    for (const state of server.states.filter(shown)) {
      await tab.goto(server.url(state), { waitUntil: "load" });
      await tab.screenshot({ path: resolve(target, `${state}-${colorScheme}.png`), fullPage: true });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await server.close();
}
