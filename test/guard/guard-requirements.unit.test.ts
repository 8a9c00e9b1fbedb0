import { describe, expect, it } from "vitest";
import { idpAuth as fetchStyle } from "../../src/adapters/fetch/fetch.js";
import { assertGuardOptions } from "../../src/guard/guard-usage.js";
import type { GuardRule } from "../../src/index.js";
import {
  requiredBy,
  REQUIREMENTS,
  stepUpOf,
  type GuardedUser,
} from "../../src/record/guard-requirements.js";
import { meetsStepUp } from "../../src/record/authentication-strength.js";

describe("a wrong rule", () => {
  it.each(["allow", "maxAge", "acr"])(
    "`%s` that is undefined is refused: its route would be open to every user",
    (name) => {
      expect(() => {
        assertGuardOptions({ [name]: undefined });
      }).toThrow(`It got nothing as \`${name}\`.`);
    },
  );

  it("`acr` is a string without spaces or a list of such strings; anything else is refused", () => {
    for (const acr of ["gold", ["gold", "silver"]]) {
      expect(() => {
        assertGuardOptions({ acr });
      }).not.toThrow();
    }
    for (const acr of ["", "gold silver", [], [""], 1, Array.from({ length: 11 }, () => "gold")]) {
      expect(() => {
        assertGuardOptions({ acr });
      }).toThrow(/`acr` of `auth\.idpRequiredWith` must be/);
    }
  });

  it("is refused by `guard` on fetch too, which has no idpRequiredWith before it", async () => {
    const auth = fetchStyle();
    const rules = [
      { allow: undefined },
      { maxAge: Number.NaN },
      { alow: () => false },
    ] as unknown as GuardRule[];
    for (const rule of rules)
      await expect(auth.guard(new Request("http://app.example/"), rule)).rejects.toThrow(TypeError);
  });
});

describe("the requirements of a rule", () => {
  const userOf = (session: object | null, provider?: string) =>
    ({ provider, session: () => session }) as GuardedUser;

  it("are checked in one order, however the rule is written: a login is the last resort", () => {
    const rule: GuardRule = { acr: "gold", maxAge: 60, allow: () => true, provider: "staff" };
    const names = ["provider", "allow", "maxAge", "acr"];
    expect(requiredBy(rule).map(({ name }) => name)).toEqual(names);
    const reversed = Object.fromEntries(Object.entries(rule).toReversed());
    expect(requiredBy(reversed).map(({ name }) => name)).toEqual(names);
  });

  it("`allow` lets nobody pass with anything but `true`, and isn't called for a record without a user", async () => {
    const { allow } = REQUIREMENTS;
    for (const result of [true, Promise.resolve(true)])
      expect(await allow.isMet(() => result, userOf({}))).toBe(true);
    for (const result of [1, "true", {}, null, undefined, Promise.resolve("true")] as never[])
      expect(await allow.isMet(() => result, userOf({}))).toBe(false);
    const never = () => expect.unreachable();
    expect(await allow.isMet(never, userOf(null))).toBe(false);
  });

  it.each([
    ["staff", "staff", true],
    [["customers", "staff"], "staff", true],
    [["customers"], "staff", false],
    ["staff", undefined, false],
    ["staff-of-another", "staff", false],
  ])("`provider` %j of a user of %s: %s", (required, provider, isMet) => {
    expect(REQUIREMENTS.provider.isMet(required, userOf({}, provider))).toBe(isMet);
  });
});

describe("what a rule requires of the authentication", () => {
  it("is nothing without `maxAge` and `acr`", () => {
    expect(stepUpOf({})).toBeUndefined();
    expect(stepUpOf({ allow: () => true })).toBeUndefined();
  });

  it("contains only what the rule names, with `acr` as a list", () => {
    expect(stepUpOf({ maxAge: 60 })).toStrictEqual({ max_age: 60 });
    expect(stepUpOf({ acr: "gold" })).toStrictEqual({ acr: ["gold"] });
    expect(stepUpOf({ maxAge: 60, acr: ["gold", "silver"] })).toStrictEqual({
      max_age: 60,
      acr: ["gold", "silver"],
    });
  });

  it("is a copy of the rule's list", () => {
    const acr = ["gold"];
    const required = stepUpOf({ acr });
    acr.push("bronze");
    expect(required).toEqual({ acr: ["gold"] });
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
