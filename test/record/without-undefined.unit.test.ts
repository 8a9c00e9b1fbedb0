import { describe, expect, expectTypeOf, it } from "vitest";
import { withoutUndefined } from "../../src/record/without-undefined.js";
import { polluted } from "../support/polluted.js";

describe("withoutUndefined", () => {
  it("leaves undefined members out and keeps every other value", () => {
    const copy = withoutUndefined({ a: undefined, b: null, c: 0, d: "", e: false });
    expect(Object.entries(copy)).toEqual([
      ["b", null],
      ["c", 0],
      ["d", ""],
      ["e", false],
    ]);
  });

  it("returns a copy with an ordinary prototype", () => {
    const members = Object.assign(Object.create(null) as object, { a: 1 });
    expect(Object.getPrototypeOf(withoutUndefined(members))).toBe(Object.prototype);
    expect(members).toEqual({ a: 1 });
  });

  it("copies own members only", async () => {
    await polluted({ a: 1 }, () => {
      expect(Object.keys(withoutUndefined({ b: 2 }))).toEqual(["b"]);
    });
  });

  it("makes a member optional if it can be undefined", () => {
    const members: { readonly a: number; readonly b: string | undefined } = { a: 1, b: "text" };
    const copy = withoutUndefined(members);
    expectTypeOf(copy.a).toEqualTypeOf<number>();
    expectTypeOf<Required<typeof copy>["b"]>().toEqualTypeOf<string>();
    const target: { readonly a: number; readonly b?: string } = copy;
    expect(target).toEqual({ a: 1, b: "text" });
  });
});
