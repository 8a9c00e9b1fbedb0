import { describe, expect, it } from "vitest";
import {
  checkHost,
  formatHostReport,
  formatHostTable,
  HOST_FEATURES,
  HostObligationError,
  hostObligations,
  testHost,
  type HostReport,
  type HostResult,
  type HostSetup,
} from "../../src/testing/index.js";
import { checkHostObligation } from "../../src/conformance/adapter/check-requirement.js";
import { Stage } from "../../src/conformance/adapter/stage.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startExpress } from "../adapters/applications/express.js";
import { brokenHosts, type BrokenHost } from "./broken-hosts.js";

function nameOf({ area, promise }: { area: string; promise: string }): string {
  return `${area}: ${promise}`;
}

function obligationOf({ breaks: [area, beginning] }: BrokenHost) {
  const found = hostObligations.filter((obligation) => obligation.area === area && obligation.promise.startsWith(beginning));
  expect(found.map(nameOf), `${area}: ${beginning}…`).toHaveLength(1);
  return found[0]!;
}

describe("the suite finds a host that", () => {
  it.concurrent.each(brokenHosts)("$name", async (broken) => {
    const start = (setup: HostSetup) => startExpress(5, broken.setup?.(setup) ?? setup, broken);
    const result = await checkHostObligation({ name: broken.name, start }, "bundled", obligationOf(broken));
    expect(result.error).toBeInstanceOf(HostObligationError);
    expect(result).toMatchObject({ passed: false });
  });
});

describe("the table of obligations", () => {
  it("names each of them once, in sentences", () => {
    const names = hostObligations.map(nameOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    for (const { promise } of hostObligations) expect(promise).not.toMatch(/[.!]$|^\s|\s$/);
  });
});

describe("testHost", () => {
  it("registers a test for each obligation of that kind of sessions, but for what the host lacks", async () => {
    const registered = new Map<string, () => Promise<void>>();
    const start = (setup: HostSetup) => startExpress(5, setup);
    testHost({
      name: "Express",
      start,
      session: "host",
      lacks: ["raw targets"],
      test: (name, run) => registered.set(name, run),
    });
    const owed = hostObligations.filter(({ session, needs }) => session !== "bundled" && needs !== "raw targets");
    expect([...registered.keys()]).toEqual(owed.map((obligation) => `Express, host sessions, ${nameOf(obligation)}`));
    await registered.values().next().value?.();
  });

  it("fails a test with what was seen", async () => {
    const registered: (() => Promise<void>)[] = [];
    testHost({
      name: "Nothing",
      start: () => Promise.reject(new Error("it does not start")),
      test: (_name, run) => registered.push(run),
    });
    await expect(registered[0]!()).rejects.toThrow(/^Nothing breaks an obligation\. trip: [^]*\nSeen: it does not start$/);
  });
});

describe("the reports", () => {
  const result = (area: string, promise: string, rest: Partial<HostResult> = {}): HostResult => ({ area, promise, passed: true, ...rest });
  const error = new HostObligationError(
    "Two",
    { area: "guard", promise: "it guards", check: async () => undefined },
    new Error("it let\nme in"),
  );
  const one: HostReport = {
    name: "One",
    session: "bundled",
    results: [
      result("trip", "there and back"),
      result("guard", "it guards"),
      result("guard", "a | b", { passed: false, notChecked: HOST_FEATURES["raw targets"] }),
    ],
  };
  const two: HostReport = {
    name: "Two",
    session: "host",
    results: [result("trip", "there and back"), result("trip", "only here"), result("guard", "it guards", { passed: false, error })],
  };

  it("checkHost gives a result for each obligation that is owed, and tells each as it comes", async () => {
    const told: HostResult[] = [];
    const report = await checkHost({
      name: "Nothing",
      start: () => Promise.reject(new Error("it does not start")),
      lacks: ["sub-path"],
      report: (each) => told.push(each),
    });
    expect(told).toEqual(report.results);
    expect(report.session).toBe("bundled");
    expect(report.results.map(nameOf)).toEqual(hostObligations.filter(({ session }) => session !== "host").map(nameOf));
    // What does not even start holds nothing, and what it lacks is not held against it.
    const open = report.results.filter(({ notChecked }) => notChecked !== undefined);
    expect(new Set(open.map(({ notChecked }) => notChecked))).toEqual(new Set([HOST_FEATURES["sub-path"]]));
    expect(report.results.filter(({ passed }) => passed)).toEqual([]);
  });

  it("as text", () => {
    expect(formatHostReport(two)).toBe(
      [
        "Two with its own sessions: of 3 obligations 2 hold, 1 are broken, 0 were not checked.",
        "",
        "trip",
        "  holds        there and back",
        "  holds        only here",
        "",
        "guard",
        "  BROKEN       it guards",
        "",
        "What was seen",
        "- Two breaks an obligation. guard: it guards.",
        "  Seen: it let",
        "  me in",
        "",
      ].join("\n"),
    );
    expect(formatHostReport(one)).toContain(`  not checked  a | b (${HOST_FEATURES["raw targets"]})\n`);
  });

  it("as a table of cases and hosts", () => {
    expect(formatHostTable([one, two])).toBe(
      [
        "| Obligation | One | Two, its own sessions |",
        "| --- | :-: | :-: |",
        "| trip: there and back | yes | yes |",
        "| trip: only here |  | yes |",
        "| guard: it guards | yes | **no** |",
        "| guard: a \\| b | n/a |  |",
        "| **Hold, of those owed** | 2 of 3 | 2 of 3 |",
        "",
        `- n/a, One: ${HOST_FEATURES["raw targets"]}`,
        "",
      ].join("\n"),
    );
  });

  it("a provider that has something to complain of keeps no other one running", async () => {
    const stage = new Stage({ name: "none", start: () => Promise.reject(new Error("not started")) }, "bundled");
    const clock = new TestClock();
    const [first, second] = [await stage.startProvider(clock), await stage.startProvider(clock)];
    second.violations.push("made up");
    await expect(stage.stop()).rejects.toThrow("made up");
    await expect(fetch(first.issuer)).rejects.toThrow();
  });
});
