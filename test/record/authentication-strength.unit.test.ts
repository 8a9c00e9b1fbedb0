import { describe, expect, it } from "vitest";
import { meetsStepUp, stepUpParameters } from "../../src/record/authentication-strength.js";

describe("the parameters of a login that requests an authentication", () => {
  it("name only what is required, and separate the classes by spaces", () => {
    expect(stepUpParameters({ max_age: 0 })).toEqual({ max_age: "0" });
    expect(stepUpParameters({ acr: ["gold", "silver"] })).toEqual({ acr_values: "gold silver" });
    expect(stepUpParameters({ max_age: 60, acr: ["gold"] })).toEqual({
      max_age: "60",
      acr_values: "gold",
    });
    expect(stepUpParameters({})).toEqual({});
  });
});

describe("an authentication", () => {
  const now = 10_000;
  const tolerance = 5;
  const meets = (
    claims: Record<string, unknown> | undefined,
    rule: { max_age?: number; acr?: string[] },
  ) => meetsStepUp(claims, rule, { now, tolerance });

  it.each<[string, unknown, boolean]>([
    ["as old as `maxAge`", now - 60, true],
    ["older than `maxAge` by the tolerance", now - 65, true],
    ["older by a second more", now - 66, false],
    ["in the future by the tolerance, as the provider's clock may be ahead", now + 5, true],
    ["in the future by a second more", now + 6, false],
    ["in the far future", Infinity, false],
    ["at a time that is missing", undefined, false],
    ["at a time that is a string", String(now), false],
    ["at a time that is a date", new Date(now), false],
    ["at a time that is null", null, false],
    ["at a time that is NaN", Number.NaN, false],
  ])("%s: whether it is recent enough", (_when, authTime, passes) => {
    expect(meets({ auth_time: authTime }, { max_age: 60 })).toBe(passes);
  });

  it("at the epoch is not recent, even for a machine whose clock shows the epoch, if it has no `auth_time`", () => {
    expect(meetsStepUp({ auth_time: null }, { max_age: 60 }, { now: 0, tolerance: 5 })).toBe(false);
  });

  it("is recent enough for nobody if `maxAge` is NaN", () => {
    expect(meets({ auth_time: now }, { max_age: Number.NaN })).toBe(false);
  });

  it.each<[string, Record<string, unknown>, boolean]>([
    ["`acr` is one of the required", { acr: "silver" }, true],
    ["`acr` is another", { acr: "bronze" }, false],
    ["`acr` is a list", { acr: ["gold"] }, false],
    ["`acrs` contains one of the required", { acrs: ["c1", "gold"] }, true],
    ["`acrs` contains none of the required", { acrs: ["c1"] }, false],
    [
      "`acr` is another, and `acrs` contains one of the required",
      { acr: "1", acrs: ["gold"] },
      true,
    ],
    ["`acrs` is a string that contains a required one", { acrs: "gold" }, false],
    ["both claims are missing", {}, false],
  ])("whose %s: whether it is strong enough", (_what, claims, passes) => {
    expect(meets(claims, { acr: ["gold", "silver"] })).toBe(passes);
  });

  it("that is strong enough needs no `auth_time` if the rule has no `maxAge`", () => {
    expect(meets({ acr: "gold" }, { acr: ["gold"] })).toBe(true);
  });

  it("has to be recent and strong enough if the rule requires both", () => {
    const both = { max_age: 60, acr: ["gold"] };
    expect(meets({ auth_time: now, acr: "gold" }, both)).toBe(true);
    expect(meets({ auth_time: now, acr: "bronze" }, both)).toBe(false);
    expect(meets({ auth_time: now - 3600, acr: "gold" }, both)).toBe(false);
  });

  it("of a session without claims meets no requirement", () => {
    expect(meets(undefined, { max_age: 60 })).toBe(false);
    expect(meets(undefined, { acr: ["gold"] })).toBe(false);
  });
});
