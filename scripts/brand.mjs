// Writes the site's logo, icons and social image to site/public, which needs Chromium.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import { DARK, favicon, LIGHT, mark, socialPage } from "../site/brand/brand.mjs";
import { OUTCOME, title } from "../site/diagrams/race.mjs";
import { needPackages } from "./framework-install.mjs";
import { packageFolder } from "./locked-packages.mjs";
import { root } from "./run.mjs";

const folder = path.join(root, "site/public");
mkdirSync(folder, { recursive: true });
const write = (/** @type {string} */ name, /** @type {string | Buffer} */ content) =>
  writeFileSync(path.join(folder, name), content);

write("logo-light.svg", mark(LIGHT));
write("logo-dark.svg", mark(DARK));
write("favicon.svg", favicon());

const [, headline = ""] =
  /^# (.+)$/m.exec(readFileSync(path.join(root, "docs/index.md"), "utf8")) ?? [];
const fonts = path.join(
  packageFolder(await needPackages("site"), "vitepress"),
  "dist/client/theme-default/fonts/inter-roman-latin.woff2",
);
const social = socialPage({
  headline,
  font: `data:font/woff2;base64,${readFileSync(fonts).toString("base64")}`,
  race: {
    title,
    results: [
      [String(OUTCOME.tokenRequests), "token request"],
      [`${OUTCOME.succeeded} of ${OUTCOME.requests}`, "requests succeeded"],
      [String(OUTCOME.signedOut), "users signed out"],
    ],
  },
});

const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  write("social.png", await picture(social, 1200, 630));
  write("favicon-32.png", await picture(icon(32, 8), 32, 32));
  // iOS rounds the corners itself.
  write("apple-touch-icon.png", await picture(icon(180, 0), 180, 180));
} finally {
  await browser.close();
}

/**
 * @param {number} size
 * @param {number} radius
 */
function icon(size, radius) {
  const svg = mark(LIGHT, radius).replace(
    'width="32" height="32"',
    `width="${size}" height="${size}"`,
  );
  return `<!doctype html><style>*{margin:0}svg{display:block}</style>${svg}`;
}

/**
 * @param {string} html
 * @param {number} width
 * @param {number} height
 */
async function picture(html, width, height) {
  const tab = await browser.newPage({ viewport: { width, height } });
  await tab.setContent(html);
  await tab.evaluate("document.fonts.ready");
  const png = await tab.screenshot({ omitBackground: true });
  await tab.close();
  return png;
}
