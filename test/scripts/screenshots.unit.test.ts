import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { PICTURES } from "../../scripts/interop/keycloak/console-pictures.mjs";
import { DEMO, HASHES, shownNow, STATES } from "../../scripts/screenshot-list.mjs";
import { stylesheet } from "../../src/http/reply.js";
import { createPages } from "../../src/pages/pages.js";
import { popupPage } from "../../src/pages/popup-page.js";

const DOCS = path.resolve(import.meta.dirname, "../../docs");
const SCREENSHOTS = path.join(DOCS, "screenshots");
/** Bytes of a picture of Keycloak's console. */
const MOST = 60_000;

it("the screenshots show today's pages: if they don't, run `npm run screenshots`", async () => {
  const taken = JSON.parse(readFileSync(HASHES, "utf8")) as unknown;
  expect(await shownNow({ createPages, popupPage, stylesheet })).toEqual(taken);
});

it("each screenshot is on a page, in light and dark, and there is no other", () => {
  const onPages = readdirSync(DOCS, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) => [
      ...readFileSync(path.join(DOCS, file), "utf8").matchAll(
        /^!\[.{20,}\]\(\.\.\/screenshots\/([\w-]+)-light\.png\)$/gm,
      ),
    ])
    .map(([, name]) => name);
  const names = [DEMO, ...Object.keys(STATES)].toSorted();
  expect(onPages.toSorted()).toEqual(names);
  const pictures = readdirSync(SCREENSHOTS).filter((file) => !/\.svg$|^keycloak-/.test(file));
  expect(pictures.toSorted()).toEqual(
    names.flatMap((name) => ["dark", "light"].map((scheme) => `${name}-${scheme}.png`)).toSorted(),
  );
});

it("each picture of Keycloak's console is on its page, with an alternative text, and is small", () => {
  const names = Object.keys(PICTURES).map((name) => `${name}.png`);
  const files = readdirSync(SCREENSHOTS).filter((file) => file.startsWith("keycloak-"));
  expect(files.toSorted()).toEqual(names.toSorted());
  const page = readFileSync(path.join(DOCS, "providers/keycloak.md"), "utf8");
  for (const file of files) {
    expect(page).toMatch(new RegExp(`^!\\[.{20,}\\]\\(\\.\\./screenshots/${file}\\)$`, "m"));
    expect(statSync(path.join(SCREENSHOTS, file)).size).toBeLessThanOrEqual(MOST);
  }
});
