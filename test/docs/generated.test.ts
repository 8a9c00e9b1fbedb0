import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorsPage, pageTextsPage, settingsPage } from "../../scripts/reference-docs.mjs";
import { LIVE_CHECKS } from "../../src/cli/live/live-check-table.js";
import { CHECK_GROUPS, CHECKS as STARTUP_CHECKS } from "../../src/config/startup-checks.js";
import { ERRORS } from "../../src/errors.js";
import { LOG_CODES } from "../../src/events/log-lines.js";
import { en } from "../../src/pages/locales/en.js";
import { REASONS } from "../../src/record/reason-texts.js";
import { SETTINGS } from "../../src/config/read-settings.js";

const CHECKS = { ...STARTUP_CHECKS, ...LIVE_CHECKS };
const errors = errorsPage({ errors: ERRORS, checks: CHECKS, groups: CHECK_GROUPS, reasons: REASONS, logCodes: LOG_CODES });
const settings = settingsPage(SETTINGS);

function onDisk(name: string): string {
  return readFileSync(new URL(`../../docs/reference/${name}`, import.meta.url), "utf8");
}

describe("[ASVS-7.6.1] the generated pages", () => {
  it("docs/reference/settings.md is what the table of settings says; if not, run `npm run docs`", () => {
    expect(onDisk("settings.md")).toBe(settings);
  });

  it("docs/reference/errors.md is what the tables of errors, checks and reasons say; if not, run `npm run docs`", () => {
    expect(onDisk("errors.md")).toBe(errors);
  });

  it("docs/reference/page-texts.md is what the English texts of the pages say; if not, run `npm run docs`", () => {
    expect(onDisk("page-texts.md")).toBe(pageTextsPage(en));
  });

  it("docs/reference/settings.md has a section for each setting, with both of its names", () => {
    for (const [option, { env }] of Object.entries(SETTINGS)) {
      expect(settings).toContain(`\n## ${env}\n`);
      expect(settings).toContain(`\n- Option in code: \`${option}\`\n`);
    }
  });

  it("docs/reference/errors.md has a heading, and so an anchor of its own, for each code", () => {
    const codes = [...Object.keys(CHECKS), ...Object.keys(ERRORS), ...Object.keys(REASONS)];
    const headings = errors.split("\n").filter((line) => /^#{3,4} (?!Group: )/.test(line));
    expect(headings.map((line) => line.replace(/^#+ /, "")).sort()).toEqual([...codes].sort());
  });

  it("docs/reference/errors.md has a line for each code of the log", () => {
    for (const code of Object.keys(LOG_CODES)) expect(errors).toContain(`\n| \`${code}\` |`);
  });

  it("every link leads to a heading", () => {
    const anchors = (page: string) => page.split("\n").flatMap((line) => /^#+ (.+)$/.exec(line)?.[1]?.toLowerCase() ?? []);
    for (const [, target = "", anchor = ""] of settings.matchAll(/\]\(([^)#]*)#([^)]*)\)/g)) {
      expect(anchors(target === "errors.md" ? errors : settings)).toContain(anchor);
    }
  });

  it("nothing in a page is undefined or an object", () => {
    expect(`${settings}${errors}`).not.toMatch(/undefined\b(?!`)|\[object/);
  });
});
