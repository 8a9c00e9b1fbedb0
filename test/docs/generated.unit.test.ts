import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { withFigures } from "../../scripts/evidence/page.mjs";
import { printedPage } from "../../scripts/project-links.mjs";
import {
  compatibilityPage,
  endpointsPage,
  errorsPage,
  eventsPage,
  pageTextsPage,
  rangeInWords,
  readOptionComments,
  readTables,
  settingsPages,
} from "../../scripts/reference-docs.mjs";
import { LIVE_CHECKS } from "../../src/cli/live/live-check-table.js";
import { CHECK_GROUPS, CHECKS as STARTUP_CHECKS } from "../../src/config/check-table.js";
import { SETTING_NAMES, textWith, type SettingText } from "../../src/config/setting-names.js";
import { ENDPOINTS } from "../../src/endpoints/router.js";
import { ERRORS } from "../../src/errors.js";
import { LOG_CODES } from "../../src/events/log-lines.js";
import { en } from "../../src/pages/locales/en.js";
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
const errors = printedPage(errorsPage(codes, tables), "docs/reference/errors.md");
const settingPages = Object.fromEntries(
  Object.entries(settingsPages(SETTINGS)).map(([file, text]) => [
    file,
    printedPage(text, `docs/reference/${file}`),
  ]),
);
const settings = Object.values(settingPages).join("\n");

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
  it("the pages of the settings are what the table of settings and the comments of its options say; if not, run `npm run docs`", () => {
    for (const [file, text] of Object.entries(settingPages)) expect(onDisk(file)).toBe(text);
  });

  it("docs/reference/errors.md is what the tables of errors, checks and reasons say; if not, run `npm run docs`", () => {
    expect(onDisk("errors.md")).toBe(errors);
  });

  it("docs/reference/events.md is what the tables of events and fields say; if not, run `npm run docs`", () => {
    expect(onDisk("events.md")).toBe(eventsPage());
    expect(onDisk("events.md")).toMatch(/^\| `subject` \| .* \| yes \|$/m);
  });

  it("docs/reference/endpoints.md has the router's endpoints, with their methods and settings; if not, run `npm run docs`", () => {
    const page = onDisk("endpoints.md");
    expect(endpointsPage(page, ENDPOINTS, SETTINGS, tables)).toBe(page);
    expect(page).toMatch(
      /^\| `\/idpauth\/events` \| GET, HEAD \| .* Only with \[`IDP_EVENTS`\]\(settings-sign-out\.md#idp_events\)\. \|$/m,
    );
  });

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

  it("docs/reference/page-texts.md is what the English texts of the pages say; if not, run `npm run docs`", () => {
    expect(onDisk("page-texts.md")).toBe(pageTextsPage(en));
  });

  it("docs/reference/compatibility.md has the versions of package.json and the lock files; if not, run `npm run docs`", () => {
    const page = onDisk("compatibility.md");
    expect(compatibilityPage(page)).toBe(page);
    expect(page).not.toMatch(/[{}]/);
  });

  it.each(["about/evidence.md", "explanation/performance.md"])(
    "docs/%s has the results of docs/evidence/; if not, run `npm run docs`",
    (name) => {
      const page = onDisk(name, "docs");
      expect(withFigures(page)).toBe(page);
      expect(page).not.toMatch(/\| (?:undefined|NaN)|\[object/);
    },
  );

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

  it("a page that a comment names is a link, and null as the default is unset", () => {
    const comments = readOptionComments(
      "  /**\n   * See\n   * docs/how-to/step-up.md.\n   *\n   * Second.\n   *\n   * In seconds. Default: no limit. Environment\n   * variable: `IDP_SESSION_MAX_AGE`.\n   */\n  readonly sessionMaxAge?: X;\n",
    );
    const { sessionMaxAge } = SETTINGS;
    const { "settings-sessions.md": page } = settingsPages(
      { sessionMaxAge } as unknown as typeof SETTINGS,
      comments,
    );
    expect(page).toContain(
      "\n\nSee [Require a recent or strong sign-in](../how-to/step-up.md).\n\nSecond.\n\n",
    );
    expect(page).toContain("- Default: unset: no limit\n");
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

  it("the pages of the settings have a section for each one, with both of its names", () => {
    for (const [option, { env }] of Object.entries(SETTINGS)) {
      expect(settings).toContain(`\n## ${env}\n`);
      expect(settings).toContain(`\n- Option in code: \`${option}\`, `);
    }
  });

  it("docs/reference/errors.md has a heading, and so an anchor of its own, for each code", () => {
    const codes = [CHECKS, ERRORS, LOG_CODES, REASONS].flatMap((table) => Object.keys(table));
    const headings = errors.split("\n").filter((line) => /^#{3,4} (?!Group: )/.test(line));
    expect(headings.map((line) => line.replace(/^#+ /, "")).sort()).toEqual([...codes].sort());
  });

  it("every link points to a heading", () => {
    const anchors = (page: string) =>
      page.split("\n").flatMap((line) => /^#+ (.+)$/.exec(line)?.[1]?.toLowerCase() ?? []);
    for (const [, target = "", anchor = ""] of settings.matchAll(/\]\(([^)#]*)#([^)]*)\)/g)) {
      expect(
        anchors(target === "errors.md" ? errors : (settingPages[target] ?? settings)),
      ).toContain(anchor);
    }
  });

  it("nothing in a page is undefined or an object", () => {
    expect(`${settings}${errors}`).not.toMatch(/undefined\b(?!`)|\[object/);
  });
});
