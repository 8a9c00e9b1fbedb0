import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { packFolder } from "../../scripts/pack-package.mjs";
import { stagePackage } from "../../scripts/stage-package.mjs";
import { CHECKS } from "../../src/config/check-table.js";
import { LIVE_CHECKS } from "../../src/live/live-check-table.js";
import { ERRORS, seeExplanation } from "../../src/errors.js";
import { LOG_CODES } from "../../src/events/log-lines.js";
import { buildPackage } from "../support/build.js";
import { anchorsOf } from "../support/page-anchors.js";

// What the package prints, or says in a docstring, names a page that its reader can open: in
// node_modules, or on the site if project.json has its address.

const ROOT = path.resolve(import.meta.dirname, "../..");
const ERRORS_PAGE = "docs/reference/errors.md";
const CODES = Object.keys({ ...CHECKS, ...LIVE_CHECKS, ...ERRORS, ...LOG_CODES });

const anchorsIn = (file: string) => anchorsOf(readFileSync(path.join(ROOT, file), "utf8"));

let temporary: string;

beforeAll(async () => {
  await buildPackage();
  temporary = mkdtempSync(path.join(tmpdir(), "idpauth-addresses-"));
  return () => {
    rmSync(temporary, { recursive: true });
  };
});

/** Packs the package for a site, and returns its files and the text of its code. */
function packed(documentation: string) {
  const stage = mkdtempSync(path.join(temporary, "stage-"));
  const repository = documentation === "" ? "" : "https://git.example/idpauth/idpauth";
  stagePackage(stage, { documentation, repository, contact: documentation });
  const files = new Set(packFolder(stage, stage).files.map((file) => file.path));
  const code = [...files]
    .filter((file) => /\.(?:js|ts|tsx)$/.test(file))
    .map((file) => readFileSync(path.join(stage, file), "utf8"))
    .join("\n");
  return { files, code };
}

/** Each match, with its groups; empty for a group that is missing. */
const found = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, page = "", anchor = ""]) => ({ page, anchor }));

it("each code of a check, an error and a log line has a section on the errors page", () => {
  const anchors = anchorsIn(ERRORS_PAGE);
  expect(CODES.length).toBeGreaterThan(100);
  expect(CODES.filter((code) => !anchors.has(code.toLowerCase()))).toEqual([]);
  expect(seeExplanation("E016")).toBe(`See ${ERRORS_PAGE}#e016`);
});

describe("an address in the packed code", () => {
  it("is a page of the package and one of its headings, if project.json has no address", () => {
    const { files, code } = packed("");
    expect(code.match(/(?<!node_modules\/idpauth\/)(?<![\w/.:-])docs\/[\w/-]+\.md/g)).toBeNull();
    const named = found(code, /node_modules\/idpauth\/(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ page }) => !files.has(page))).toEqual([]);
    expect(
      named.filter(({ page, anchor }) => anchor !== "" && !anchorsIn(page).has(anchor)),
    ).toEqual([]);
    expect(
      code.match(/`See node_modules\/idpauth\/docs\/reference\/errors\.md#\$\{\w+\}`/g),
    ).toHaveLength(2);
  });

  it("is a page of the site and one of its headings, if project.json has an address", () => {
    const { code } = packed("https://idpauth.example");
    expect(code.match(/(?<![\w/.:-])docs\/[\w/-]+\.md/g)).toBeNull();
    expect(code.match(/node_modules\/idpauth\/docs/g)).toBeNull();
    const named = found(code, /https:\/\/idpauth\.example\/([\w/-]+)\.html(?:#([\w-]+))?/g);
    expect(named.length).toBeGreaterThan(10);
    const wrong = named.filter(({ page, anchor }) => {
      const anchors = anchorsIn(`docs/${page}.md`);
      return anchor !== "" && !anchors.has(anchor);
    });
    expect(wrong).toEqual([]);
    // In dist/ and in src/.
    expect(code.match(/`See https:\/\/idpauth\.example\/e\/\$\{\w+\}`/g)).toHaveLength(2);
  });
});
