import { expect, it } from "vitest";
import { createPlaces } from "../../src/work/places-per-key.js";

it("each key has its own places, and a place that was given back twice counts once", () => {
  const places = createPlaces(2);
  const leave = places.take("ada");
  expect(places.take("ada")).toBeTypeOf("function");
  expect(places.take("ada")).toBeUndefined();
  expect(places.take("grace")).toBeTypeOf("function");
  leave?.();
  leave?.();
  expect(places.take("ada")).toBeTypeOf("function");
  expect(places.take("ada")).toBeUndefined();
});

it("0 is no maximum, and neither has what belongs to no key", () => {
  const all = [createPlaces(0), createPlaces(1)] as const;
  for (let count = 0; count < 100; count += 1) {
    expect(all[0].take("ada")).toBeTypeOf("function");
    expect(all[1].take(undefined)).toBeTypeOf("function");
  }
});
