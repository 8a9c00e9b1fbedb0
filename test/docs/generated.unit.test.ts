import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  compatibilityPage,
  errorsPage,
  rangeInWords,
  readOptionComments,
  readTables,
  settingsPages,
} from "../../scripts/reference-docs.mjs";
import { LIVE_CHECKS } from "../../src/live/live-check-table.js";
import { CHECK_GROUPS, CHECKS as STARTUP_CHECKS } from "../../src/config/check-table.js";
import { SETTING_NAMES, textWith, type SettingText } from "../../src/config/setting-names.js";
import { ENDPOINTS } from "../../src/endpoints/router.js";
import { ERRORS } from "../../src/errors.js";
import { LOG_CODES } from "../../src/events/log-lines.js";
import type { EndReason } from "../../src/record/end-reason.js";
import { SETTINGS } from "../../src/config/read-settings.js";

const CHECKS = { ...STARTUP_CHECKS, ...LIVE_CHECKS };
const tables = readTables();
const codes = {
  errors: ERRORS,
  checks: CHECKS,
  groups: CHECK_GROUPS,
  logCodes: LOG_CODES,
  plain: (text: SettingText) => textWith(SETTING_NAMES, text),
};
/** What `npm run docs` writes. */
const GENERATED = [
  ...Object.keys(settingsPages(SETTINGS)).map((name) => `docs/reference/${name}`),
  ...["compatibility", "endpoints", "errors", "events"].map((name) => `docs/reference/${name}.md`),
];
const FIGURES = ["docs/about/evidence.md", "docs/explanation/performance.md"];

/** What describes the current version to users. */
const PAGES_FOR_USERS = [
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...readdirSync(new URL("../../docs", import.meta.url), { recursive: true, encoding: "utf8" })
    .map((file) => `docs/${file.replaceAll("\\", "/")}`)
    .filter((file) => /^docs\/(?!contributing\/).*\.md$/.test(file)),
];

/** Each reason code. The type names a missing one. */
const REASONS: Readonly<Record<EndReason | "id_token_expired" | "review_due", true>> = {
  no_credentials: true,
  max_age: true,
  idle: true,
  signed_in_before: true,
  session_expiry: true,
  logged_out_at_provider: true,
  ended_everywhere: true,
  provider_removed: true,
  too_many_sessions: true,
  claims_rejected: true,
  denied: true,
  review_due: true,
  id_token_expired: true,
  auto_refresh_off: true,
  refresh_rejected: true,
  no_refresh_token: true,
};

function onDisk(name: string, folder = "docs/reference"): string {
  return readFileSync(new URL(`../../${folder}/${name}`, import.meta.url), "utf8");
}

it.each(PAGES_FOR_USERS)("every check that %s names exists", (page) => {
  const named = onDisk(page, ".").match(/\b[EW]\d{3}\b/g) ?? [];
  expect(named.filter((code) => !Object.hasOwn(CHECKS, code))).toEqual([]);
});

it("the page about the specification names each of its endpoints that accepts POST, and counts the others", () => {
  const page = readFileSync(
    new URL("../../docs/reference/specification-names.md", import.meta.url),
    "utf8",
  );
  const [, row = ""] = /^\| All endpoints are GET\. \|(.*)$/m.exec(page) ?? [];
  const posted = Object.keys(ENDPOINTS).filter((name) => ENDPOINTS[name]?.methods.includes("POST"));
  const named = posted.filter((name) => row.includes(`\`${name}\``));
  expect(named).toEqual(["login", "login-callback"]);
  expect(posted).toHaveLength(named.length + 2);
  expect(row).toContain("Two endpoints that the specification doesn't have accept POST.");
});

describe("[ASVS-7.6.1] the generated pages", () => {
  it("docs/tables/endpoints.md has no section without an endpoint", () => {
    const methods = Object.entries(ENDPOINTS).flatMap(([path, row]) =>
      row.methods
        .filter((method) => method !== "HEAD")
        .map((method) => `${method} /idpauth/${path}`),
    );
    expect(
      [...tables.endpoints.keys()].map((name) => name.replace(/(?<=\w)\/$/, "")).sort(),
    ).toEqual(methods.map((name) => (name.endsWith("idpauth/") ? "GET /idpauth" : name)).sort());
  });

  it("a version that no file contains fails", () => {
    const read = (file: string) =>
      file.endsWith("compatibility.md")
        ? "| | A |\n|---|---|\n| X | {tested x} |\n"
        : '{ "packages": {} }';
    expect(() => compatibilityPage("", read)).toThrow(
      "docs/tables/compatibility.md has {tested x}, which no file contains.",
    );
  });

  it.each([
    [">=22.19", "22.19 or later"],
    ["^4.20.0 || ^5.0.0", "4 from 4.20, 5"],
    ["^12.0.0", "12"],
  ])("the range %s is written as %s", (range, words) => {
    expect(rangeInWords(range)).toBe(words);
  });

  it("each setting has an option with a comment, and the comments have the table's defaults", () => {
    expect([...readOptionComments().keys()].sort()).toEqual(Object.keys(SETTINGS).sort());
  });

  it.each([
    ["no comment", "", "debug"],
    ["another unit", "In seconds. Default: `false`. Environment variable: `IDP_DEBUG`.", "debug"],
    ["another default", "Default: `true`. Environment variable: `IDP_DEBUG`.", "debug"],
    ["another name", "Default: `false`. Environment variable: `IDP_DEBUGGING`.", "debug"],
    ["no default", "Required. Environment variable: `IDP_DEBUG`.", "debug"],
    ["no unit", "Default: `5`. Environment variable: `IDP_HOOK_TIMEOUT`.", "hookTimeout"],
  ] as const)("an option whose comment has %s fails", (_name, facts, option) => {
    const comments = readOptionComments(
      `  /**\n   * Text.\n   *\n   * ${facts}\n   */\n  readonly ${option}?: X;\n`,
    );
    const row = { [option]: SETTINGS[option] } as unknown as typeof SETTINGS;
    expect(() => settingsPages(row, comments)).toThrow(
      `The comment of the option ${option} in src/config/ doesn't end with a paragraph like this: ${
        option === "debug"
          ? "Default: `false`. Environment variable: `IDP_DEBUG`."
          : "In seconds. Default: `5`. Environment variable: `IDP_HOOK_TIMEOUT`."
      }`,
    );
  });

  it("the comments of the options are text, without links", () => {
    for (const file of ["setting-options.ts", "provider-options.ts"])
      expect(onDisk(file, "src/config")).not.toMatch(/\]\(|undefined\.|\[object/);
  });

  it.each([
    ["checks", Object.keys(CHECKS)],
    ["errors", Object.keys(ERRORS)],
    ["log", Object.keys(LOG_CODES)],
    ["reasons", Object.keys(REASONS)],
  ] as const)(
    "docs/tables/%s.md has one section for each code, and none without a code",
    (name, codes) => {
      expect([...tables[name].keys()].sort()).toEqual([...codes].sort());
      const needsRemedy = name === "log" || name === "reasons";
      for (const [code, { text, remedy }] of tables[name]) {
        expect(text, code).toMatch(name === "checks" ? /^[A-Z].*[^.]$/ : /\.$/);
        expect(remedy !== undefined, code).toBe(needsRemedy);
      }
    },
  );

  it("a code without a section fails", () => {
    const without = readTables((name) => (name === "errors" ? "# Errors\n" : "# Empty\n"));
    expect(() => errorsPage(codes, without)).toThrow(
      'docs/tables/checks.md has no section "## E001".',
    );
  });

  it.each(GENERATED)("nothing in %s is undefined or an object", (page) => {
    expect(onDisk(page, ".")).not.toMatch(/undefined\b(?!`)|\[object/);
  });

  // What a server said can be the word.
  it.each(FIGURES)("no cell of %s is undefined or an object", (page) => {
    expect(onDisk(page, ".")).not.toMatch(/\| (?:undefined|NaN)|\[object/);
  });
});
