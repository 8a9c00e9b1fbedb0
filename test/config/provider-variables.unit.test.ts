import { describe, expect, it } from "vitest";
import { PROVIDER_LOOK, variableOf } from "../../src/config/provider-keys.js";
import { PROVIDER_SETTING_NAMES, SETTINGS } from "../../src/config/read-settings.js";

/** The variables of a provider's settings, without a key. */
const OWN = [
  ...Object.values(PROVIDER_LOOK).map((row) => row.env),
  ...PROVIDER_SETTING_NAMES.map((name) => SETTINGS[name].env),
];
const STEMS = OWN.map((env) => env.replace(/^IDP_/, ""));

/**
 * The pairs of names with which the keys `a` and `a-…` would read the same variable: one ends with
 * `_` and the other.
 */
function sharedBy(names: readonly string[]): string[][] {
  return names.flatMap((long) =>
    names.filter((short) => long.endsWith(`_${short}`)).map((short) => [long, short]),
  );
}

describe("each variable of a provider belongs to one key", () => {
  it("no setting's name ends with an underscore and another setting's name", () => {
    expect(sharedBy(STEMS)).toEqual([]);
  });

  it("a name that ended like this would be found", () => {
    expect(variableOf("staff", "IDP_LOGIN_SCOPE")).toBe(variableOf("staff-login", "SCOPE"));
    expect(sharedBy([...STEMS, "LOGIN_SCOPE"])).toEqual([["LOGIN_SCOPE", "SCOPE"]]);
  });

  it("no two keys and no setting without a key have the same variable", () => {
    const pieces = ["provider", "staff", ...STEMS.flatMap((stem) => stem.toLowerCase().split("_"))];
    const keys = [
      ...new Set(
        pieces.flatMap((piece) => [piece, `staff-${piece}`, `${piece}-x`, `staff-${piece}-x`]),
      ),
    ];
    const variables = [
      ...Object.values(SETTINGS).map(({ env }) => env),
      ...keys.flatMap((key) => OWN.map((env) => variableOf(key, env))),
    ];
    expect(variables.filter((name, index) => variables.indexOf(name) !== index)).toEqual([]);
  });
});
