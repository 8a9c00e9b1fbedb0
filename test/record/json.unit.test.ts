import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { isApplicationData } from "../../src/record/application-data.js";
import {
  deepFreeze,
  frozenCopy,
  isObject,
  isPlainObject,
  isTooDeep,
  MAX_LEVELS,
  MAX_RECORD_LEVELS,
  ownProperties,
} from "../../src/record/json.js";
import { polluted } from "../support/polluted.js";

const nested = (levels: number): Record<string, unknown> =>
  levels === 0 ? {} : { inner: nested(levels - 1) };

describe("isObject", () => {
  it.each([[{}], [{ a: 1 }], [Object.create(null) as object], [new Date(0)]])(
    "%j is an object",
    (value) => {
      expect(isObject(value)).toBe(true);
    },
  );

  it.each([[null], [undefined], [[]], [[{}]], ["text"], [""], [1], [true], [() => ({})]])(
    "%j isn't an object",
    (value) => {
      expect(isObject(value)).toBe(false);
    },
  );
});

describe("isPlainObject", () => {
  it.each([
    [{}],
    [{ a: 1 }],
    [Object.create(null) as object],
    [runInNewContext("({ a: 1 })") as object],
  ])("%j is a plain object", (value) => {
    expect(isPlainObject(value)).toBe(true);
  });

  it.each([
    [null],
    [undefined],
    [[]],
    ["text"],
    [1],
    [() => ({})],
    [new Date(0)],
    [new Map()],
    [new URLSearchParams()],
    [new Headers()],
    [Object.create({ a: 1 }) as object],
  ])("%j isn't a plain object", (value) => {
    expect(isPlainObject(value)).toBe(false);
  });
});

describe("the depth of what a provider sends", () => {
  const nestedIn = (levels: number, wrap: (inner: unknown) => unknown) => {
    let value: unknown = "leaf";
    for (let level = 0; level < levels; level += 1) value = wrap(value);
    return value;
  };

  it.each<[string, (inner: unknown) => unknown]>([
    ["lists", (inner) => [1, inner]],
    ["objects", (inner) => ({ first: null, inner, last: 1 })],
  ])("%s are taken down to the last level, and no further", (_name, wrap) => {
    expect([
      isTooDeep(nestedIn(MAX_LEVELS, wrap)),
      isTooDeep(nestedIn(MAX_LEVELS + 1, wrap)),
    ]).toEqual([false, true]);
    expect(isTooDeep(nestedIn(100_000, wrap))).toBe(true);
  });

  it.each([
    [null],
    [[null, { a: null }]],
    ["text"],
    [1],
    [undefined],
    [{}],
    [[]],
    [Array.from({ length: 1_000 }, () => [])],
  ])("%j is not deep", (value) => {
    expect(isTooDeep(value)).toBe(false);
  });
});

describe("the depth of a stored record", () => {
  it("has room for the application's data and the claims at their maximum depth", () => {
    const [deepest, deeper] = [nested(MAX_LEVELS - 1), nested(MAX_LEVELS)];
    expect([isApplicationData(deepest), isApplicationData(deeper)]).toEqual([true, false]);
    const record = { idp_state: { v: 1, data: deepest, claims: deepest } };
    expect(isTooDeep(record, MAX_RECORD_LEVELS)).toBe(false);
    expect(isTooDeep({ idp_state: { v: 1, data: deeper } }, MAX_RECORD_LEVELS)).toBe(true);
  });
});

describe("frozenCopy", () => {
  it("returns a copy that can't be changed at any level, and leaves the original changeable", () => {
    const original = { roles: ["admin"], address: { city: "Graz" } };
    const copy = frozenCopy(original);
    expect(copy).toEqual(original);
    expect([copy, copy.roles, copy.address].map((part) => Object.isFrozen(part))).toEqual([
      true,
      true,
      true,
    ]);
    original.roles.push("more");
    original.address.city = "Wien";
    expect(copy).toEqual({ roles: ["admin"], address: { city: "Graz" } });
  });
});

describe("deepFreeze", () => {
  it("freezes to the leaves and gives the same object back", () => {
    const value = { list: [{ leaf: { x: 1 } }], text: "t", nothing: null };
    expect(deepFreeze(value)).toBe(value);
    expect(
      [value, value.list, value.list[0], value.list[0]?.leaf].every((part) =>
        Object.isFrozen(part),
      ),
    ).toBe(true);
  });

  it("ends at an object that contains itself", () => {
    const loop: { self?: unknown } = {};
    loop.self = [loop];
    expect(Object.isFrozen(deepFreeze(loop).self)).toBe(true);
  });

  it("leaves functions alone: they belong to the application", () => {
    const hook = () => undefined;
    expect(Object.isFrozen(deepFreeze({ hook }).hook)).toBe(false);
  });

  it.each([["text"], [7], [true], [null], [undefined]])("returns %j as it is", (value) => {
    expect(deepFreeze(value)).toBe(value);
  });
});

describe("ownProperties", () => {
  it("keeps an object's own properties only", async () => {
    const object = Object.assign(Object.create({ inherited: 1 }) as object, { own: { a: 1 } });
    await polluted({ added: 1 }, () => {
      const copy = ownProperties(object) as Record<string, unknown>;
      expect([copy["inherited"], copy["added"], copy.toString]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect(Object.entries(copy)).toEqual([["own", object.own]]);
    });
    expect(Object.getPrototypeOf(ownProperties({}))).toBeNull();
  });

  it("doesn't change the object that it was given", () => {
    const object = { own: 1 };
    expect(ownProperties(object)).not.toBe(object);
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  });

  it("doesn't copy an object without a prototype again", () => {
    const object = ownProperties({ own: 1 });
    expect(ownProperties(object)).toBe(object);
  });

  it.each([[["a", { b: 1 }]], [[]], ["text"], [""], [7], [true], [null], [undefined]])(
    "returns %j as it is",
    (value: unknown) => {
      expect(ownProperties(value)).toBe(value);
    },
  );
});
