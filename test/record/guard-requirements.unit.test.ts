import { describe, expect, it } from "vitest";
import { idpAuth as fetchStyle } from "../../src/adapters/fetch/fetch.js";
import { assertGuardOptions } from "../../src/guard/guard-usage.js";
import type { GuardRule } from "../../src/index.js";
import {
  needsAuthTime,
  providersOf,
  requiredBy,
  REQUIREMENTS,
  stepUpOf,
  valueCheckOf,
  type GuardedUser,
} from "../../src/record/guard-requirements.js";

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

describe("the value of a requirement", () => {
  const isAllowed = (name: string, value: unknown) => valueCheckOf(name)?.[0](value);

  it.each<[string, readonly unknown[], readonly unknown[]]>([
    ["allow", [() => true, async () => false], [undefined, null, true, "function", {}]],
    ["maxAge", [30, 31, 86_400], [29, 30.5, 0, -30, "30", Number.NaN, Infinity, null, undefined]],
    [
      "acr",
      ["gold", ["gold", "silver"], Array.from({ length: 10 }, () => "gold"), "~".repeat(200)],
      [
        "",
        [],
        ["gold", "a b"],
        ["gold", 1],
        [["gold"]],
        1,
        null,
        "g\u00f6ld",
        "~".repeat(201),
        Array.from({ length: 11 }, () => "gold"),
      ],
    ],
    [
      "provider",
      ["staff", ["staff", "customers"]],
      ["", [], [""], ["staff", ""], ["staff", 1], 1, { length: 1 }, undefined],
    ],
  ])("%s", (name, allowed, refused) => {
    for (const value of allowed) expect([value, isAllowed(name, value)]).toEqual([value, true]);
    for (const value of refused) expect([value, isAllowed(name, value)]).toEqual([value, false]);
  });

  it.each([
    ["allow", "a function"],
    ["maxAge", "a whole number of seconds, at least 30"],
    ["acr", "a string without spaces, or a list of 1 to 10 such strings"],
    ["provider", "the key of a provider, or a list of keys"],
  ])("of %s is said in the error: %s", (name, allowed) => {
    expect(valueCheckOf(name)?.[1]).toBe(allowed);
  });

  it("has no check for a name that is none, such as one that every object has", () => {
    for (const name of ["alow", "toString", "__proto__", ""])
      expect(valueCheckOf(name)).toBeUndefined();
  });
});

describe("the requirements of a rule", () => {
  const userOf = (session: object | null, provider?: string) =>
    ({ provider, session: () => session }) as GuardedUser;

  it("are checked in one order, however the rule is written: a login is the last resort", () => {
    const rule: GuardRule = { acr: "gold", maxAge: 60, allow: () => true, provider: "staff" };
    const names = ["provider", "allow", "maxAge", "acr"];
    expect(requiredBy([rule]).map(({ name }) => name)).toEqual(names);
    const reversed = Object.fromEntries(Object.entries(rule).toReversed());
    expect(requiredBy([reversed]).map(({ name }) => name)).toEqual(names);
    const split = Object.entries(rule).map((entry) => Object.fromEntries([entry]) as GuardRule);
    expect(requiredBy(split).map(({ name }) => name)).toEqual(names);
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

describe("the providers that a rule allows", () => {
  it("are a list; none are named if all are allowed", () => {
    expect(providersOf([{ provider: "staff" }])).toEqual(["staff"]);
    expect(providersOf([{ maxAge: 60, provider: ["staff", "customers"] }])).toEqual([
      "staff",
      "customers",
    ]);
    expect(providersOf([{ maxAge: 60, acr: "gold", allow: () => true }])).toBeUndefined();
    expect(providersOf([{}])).toBeUndefined();
  });

  it("of several rules are those that all of them allow", () => {
    const lists = [{ provider: ["a", "b", "c"] }, { maxAge: 60 }, { provider: ["c", "b"] }];
    expect(providersOf(lists)).toEqual(["b", "c"]);
    expect(providersOf([{ provider: "a" }, { provider: "b" }])).toEqual([]);
  });
});

describe("whether a rule needs `auth_time`", () => {
  it.each<[GuardRule, boolean]>([
    [{ maxAge: 60 }, true],
    [{ maxAge: 60, acr: "gold", provider: "staff" }, true],
    [{ acr: "gold", provider: "staff", allow: () => true }, false],
    [{}, false],
  ])("%o: %s", (rule, needs) => {
    expect(needsAuthTime(rule)).toBe(needs);
  });
});

describe("what a user is blocked for", () => {
  it("is the requirement's reason", () => {
    const reasons = Object.entries(REQUIREMENTS).map(([name, { reason }]) => [name, reason]);
    expect(Object.fromEntries(reasons)).toEqual({
      allow: "forbidden",
      maxAge: "step_up_required",
      acr: "step_up_required",
      provider: "provider_required",
    });
  });

  it("depends on the user's own authentication, and on the time of the check", () => {
    const user = (claims: object, now: number) =>
      ({ record: { id_info: claims }, now, tolerance: 5 }) as unknown as GuardedUser;
    const claims = { auth_time: 1_000, acr: "gold" };
    expect(REQUIREMENTS.maxAge.isMet(60, user(claims, 1_065))).toBe(true);
    expect(REQUIREMENTS.maxAge.isMet(60, user(claims, 1_066))).toBe(false);
    expect(REQUIREMENTS.acr.isMet("gold", user(claims, 1_066))).toBe(true);
    expect(REQUIREMENTS.acr.isMet(["silver", "bronze"], user(claims, 1_066))).toBe(false);
  });
});

describe("what a rule requires of the authentication", () => {
  it("is nothing without `maxAge` and `acr`", () => {
    expect(stepUpOf([{}])).toBeUndefined();
    expect(stepUpOf([{ allow: () => true }])).toBeUndefined();
  });

  it("contains only what the rule names, with `acr` as a list", () => {
    expect(stepUpOf([{ maxAge: 60 }])).toStrictEqual({ max_age: 60 });
    expect(stepUpOf([{ acr: "gold" }])).toStrictEqual({ acr: ["gold"] });
    expect(stepUpOf([{ maxAge: 60, acr: ["gold", "silver"] }])).toStrictEqual({
      max_age: 60,
      acr: ["gold", "silver"],
    });
  });

  it("is of several rules the shortest `maxAge`, and the classes that each one accepts", () => {
    expect(
      stepUpOf([{ maxAge: 300 }, { acr: ["gold", "silver"] }, { maxAge: 60, acr: "silver" }, {}]),
    ).toStrictEqual({ max_age: 60, acr: ["silver"] });
    expect(stepUpOf([{ acr: "gold" }, { acr: ["silver", "gold"] }])).toEqual({ acr: ["gold"] });
    // The user may have both, such as in `acrs`.
    expect(stepUpOf([{ acr: "gold" }, { acr: ["c1", "c2"] }, { acr: "c1" }])).toEqual({
      acr: ["gold", "c1", "c2"],
    });
    // A login takes no more.
    const many = (letter: string) => Array.from({ length: 6 }, (_, at) => `${letter}${String(at)}`);
    expect(stepUpOf([{ acr: many("a") }, { acr: many("b") }])?.acr).toHaveLength(10);
  });

  it("is a copy of the rule's list", () => {
    const acr = ["gold"];
    const required = stepUpOf([{ acr }]);
    acr.push("bronze");
    expect(required).toEqual({ acr: ["gold"] });
  });
});
