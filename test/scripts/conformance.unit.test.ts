import { describe, expect, it } from "vitest";
import { countOf, isExpected, resultOf } from "../../scripts/conformance/result.mjs";

const LOG = [
  { src: "TEST-RUNNER", msg: "Test instance created", result: "INFO" },
  { src: "SignIdToken", msg: "Signed", result: "SUCCESS" },
  {
    src: "EnsureStatusIs200",
    msg: "The status is 400",
    result: "FAILURE",
    requirements: ["A-2.8", "B-1"],
  },
  { src: "-START-BLOCK-", msg: "Logout" },
  { src: "EnsureCacheHeaders", msg: "No Cache-Control", result: "WARNING", requirements: [] },
];

describe("the result of a module", () => {
  it("contains the suite's result and the words of each condition that wasn't met", () => {
    expect(resultOf("logout", { status: "FINISHED", result: "FAILED" }, LOG, undefined)).toEqual({
      module: "logout",
      result: "FAILED",
      conditions: [
        {
          condition: "EnsureStatusIs200",
          result: "FAILURE",
          message: "The status is 400",
          requirements: "A-2.8, B-1",
        },
        { condition: "EnsureCacheHeaders", result: "WARNING", message: "No Cache-Control" },
      ],
    });
  });

  it("names no condition of a module that passed", () => {
    const info = { status: "FINISHED", result: "PASSED" };
    expect(resultOf("login", info, LOG, undefined)).toEqual({ module: "login", result: "PASSED" });
  });

  it("is UNKNOWN, with the status, if the suite has none", () => {
    const expected = { module: "login", result: "UNKNOWN", status: "INTERRUPTED" };
    for (const info of [{ status: "INTERRUPTED" }, { status: "INTERRUPTED", result: null }])
      expect(resultOf("login", info, [], undefined)).toEqual(expected);
  });

  it.each([
    ["PASSED", undefined, true],
    ["SKIPPED", undefined, false],
    ["REVIEW", undefined, false],
    ["WARNING", undefined, false],
    ["SKIPPED", "SKIPPED", true],
    ["PASSED", "FAILED", false],
  ])("%s is as expected where %s is expected: %s", (result, expected, isRight) => {
    const reason = "because";
    const one = resultOf(
      "login",
      { status: "FINISHED", result },
      [],
      expected === undefined ? undefined : { result: expected, reason },
    );
    expect(isExpected({ ...one, seconds: 1 })).toBe(isRight);
    expect(one.reason).toBe(result === expected ? reason : undefined);
  });

  it("isn't as expected if something went wrong on our side", () => {
    const passed = { module: "login", result: "PASSED", seconds: 1 };
    expect([passed, { ...passed, driver: "no button" }].map(isExpected)).toEqual([true, false]);
  });

  it("is counted by the suite's own word, a skipped module as skipped", () => {
    const results = ["PASSED", "SKIPPED", "PASSED", "REVIEW"].map((result) => ({
      module: "login",
      result,
      seconds: 1,
    }));
    expect(countOf(results)).toBe("2 passed, 1 skipped, 1 review");
  });
});
