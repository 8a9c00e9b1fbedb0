// Writes the transcript of docs/reference/provider.md: the README's quick start with `npx idpauth provider`. Takes the build as it is.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { followQuickStart, MARK, PAGE } from "./provider-quick-start.mjs";
import { root } from "./run.mjs";

const { CookieBrowser } = /** @type {typeof import("../src/testing/browser/cookie-browser.js")} */ (
  await import(pathToFileURL(path.join(root, "build/testing/browser/cookie-browser.js")).href)
);
const [head = ""] = readFileSync(PAGE, "utf8").split(MARK);
writeFileSync(PAGE, `${head}${MARK}\n\n${await followQuickStart(CookieBrowser)}`);
console.log("docs/reference/provider.md written");
