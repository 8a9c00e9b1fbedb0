import { describe, expect, it } from "vitest";
import {
  checkAdapter,
  formatAdapterReport,
  formatAdapterTable,
  ADAPTER_FEATURES,
  AdapterRequirementError,
  adapterRequirements,
  testAdapter,
  type AdapterReport,
  type AdapterResult,
  type AdapterSetup,
} from "../../packages/idpauth-conformance/src/index.js";
import { requirementsIn } from "../../packages/idpauth-conformance/src/adapter/check-adapter.js";
import { checkAdapterRequirement } from "../../packages/idpauth-conformance/src/adapter/check-requirement.js";
import { ApplicationStarter } from "../../packages/idpauth-conformance/src/adapter/application-starter.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startExpress } from "../adapters/applications/express.js";
import { brokenApplications, type BrokenApplication } from "./broken-adapters.js";
import { brokenApis } from "./broken-apis.js";
import { brokenCsrf } from "./broken-csrf.js";
import { brokenEventStreams } from "./broken-event-streams.js";
import { brokenEvents } from "./broken-events.js";
import { brokenOtherSites } from "./broken-other-sites.js";
import { brokenSigningOut } from "./broken-signing-out.js";

function nameOf({ area, title }: { area: string; title: string }): string {
  return `${area}: ${title}`;
}

function requirementOf({ breaks: [area, beginning] }: BrokenApplication) {
  const found = adapterRequirements.filter(
    (requirement) => requirement.area === area && requirement.title.startsWith(beginning),
  );
  expect(found.map(nameOf), `${area}: ${beginning}…`).toHaveLength(1);
  return found[0]!;
}

describe("the suite finds an application that", () => {
  it.concurrent.each([
    ...brokenApplications,
    ...brokenApis,
    ...brokenCsrf,
    ...brokenEvents,
    ...brokenEventStreams,
    ...brokenOtherSites,
    ...brokenSigningOut,
  ])("$name", async (broken) => {
    const start = (setup: AdapterSetup) => startExpress(5, broken.setup?.(setup) ?? setup, broken);
    const result = await checkAdapterRequirement(
      { name: broken.name, start },
      "bundled",
      requirementOf(broken),
    );
    expect(result.error).toBeInstanceOf(AdapterRequirementError);
    expect(result).toMatchObject({ passed: false });
  });
});

describe("the table of requirements", () => {
  it("names each of them once, in sentences", () => {
    const names = adapterRequirements.map(nameOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    for (const { title } of adapterRequirements) expect(title).not.toMatch(/[.!]$|^\s|\s$/);
  });
});

describe("testAdapter", () => {
  it("registers a test for each requirement in scope, except for features that the adapter lacks", async () => {
    const registered = new Map<string, () => Promise<void>>();
    const start = (setup: AdapterSetup) => startExpress(5, setup);
    testAdapter({
      name: "Express",
      start,
      session: "host",
      lacks: ["raw targets"],
      test: (name, run) => registered.set(name, run),
    });
    const inScope = requirementsIn({ session: "host" }).filter(
      ({ needs }) => needs !== "raw targets",
    );
    expect([...registered.keys()]).toEqual(
      inScope.map((requirement) => `Express, host sessions, ${nameOf(requirement)}`),
    );
    await registered.values().next().value?.();
  });

  it("fails a test with what was seen", async () => {
    const registered: (() => Promise<void>)[] = [];
    testAdapter({
      name: "Nothing",
      start: () => Promise.reject(new Error("it does not start")),
      test: (_name, run) => registered.push(run),
    });
    await expect(registered[0]!()).rejects.toThrow(
      /^Nothing breaks a requirement\. trip: [^]*\nSeen: it does not start$/,
    );
  });
});

describe("the reports", () => {
  const result = (
    area: string,
    title: string,
    rest: Partial<AdapterResult> = {},
  ): AdapterResult => ({
    area,
    title,
    passed: true,
    ...rest,
  });
  const error = new AdapterRequirementError(
    "Two",
    { area: "guard", title: "it guards", check: async () => undefined },
    new Error("it let\nme in"),
  );
  const one: AdapterReport = {
    name: "One",
    session: "bundled",
    results: [
      result("trip", "there and back"),
      result("guard", "it guards"),
      result("guard", "a | b", { passed: false, notChecked: ADAPTER_FEATURES["raw targets"] }),
    ],
  };
  const two: AdapterReport = {
    name: "Two",
    session: "host",
    results: [
      result("trip", "there and back"),
      result("trip", "only here"),
      result("guard", "it guards", { passed: false, error }),
    ],
  };

  it("checkAdapter gives a result for each requirement in scope, and reports each one at once", async () => {
    const told: AdapterResult[] = [];
    const report = await checkAdapter({
      name: "Nothing",
      start: () => Promise.reject(new Error("it does not start")),
      lacks: ["sub-path"],
      report: (each) => told.push(each),
    });
    expect(told).toEqual(report.results);
    expect(report.session).toBe("bundled");
    expect(report.results.map(nameOf)).toEqual(requirementsIn({}).map(nameOf));
    // What does not even start holds nothing, and what it lacks is not held against it.
    const open = report.results.filter(({ notChecked }) => notChecked !== undefined);
    expect(new Set(open.map(({ notChecked }) => notChecked))).toEqual(
      new Set([ADAPTER_FEATURES["sub-path"]]),
    );
    expect(report.results.filter(({ passed }) => passed)).toEqual([]);
  });

  it("as plain text", () => {
    expect(formatAdapterReport(two)).toBe(
      [
        "Two with its own sessions: of 3 requirements 2 hold, 1 are broken, 0 were not checked.",
        "",
        "trip",
        "  holds        there and back",
        "  holds        only here",
        "",
        "guard",
        "  BROKEN       it guards",
        "",
        "What was seen",
        "- Two breaks a requirement. guard: it guards.",
        "  Seen: it let",
        "  me in",
        "",
      ].join("\n"),
    );
    expect(formatAdapterReport(one)).toContain(
      `  not checked  a | b (${ADAPTER_FEATURES["raw targets"]})\n`,
    );
  });

  it("as a table of requirements and frameworks", () => {
    expect(formatAdapterTable([one, two])).toBe(
      [
        "| Requirement | One | Two, its own sessions |",
        "| --- | :-: | :-: |",
        "| trip: there and back | yes | yes |",
        "| trip: only here |  | yes |",
        "| guard: it guards | yes | **no** |",
        "| guard: a \\| b | n/a |  |",
        "| **Checks passed** | 2 of 3 | 2 of 3 |",
        "",
        `- n/a, One: ${ADAPTER_FEATURES["raw targets"]}`,
        "",
      ].join("\n"),
    );
  });

  it("a provider that has something to complain of keeps no other one running", async () => {
    const starter = new ApplicationStarter(
      { name: "none", start: () => Promise.reject(new Error("not started")) },
      "bundled",
    );
    const clock = new TestClock();
    const [first, second] = [
      await starter.startProvider(clock),
      await starter.startProvider(clock),
    ];
    second.violations.push("made up");
    await expect(starter.stop()).rejects.toThrow("made up");
    await expect(fetch(first.issuer)).rejects.toThrow();
  });
});
