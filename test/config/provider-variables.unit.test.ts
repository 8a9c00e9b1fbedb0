import { describe, expect, it } from "vitest";
import { environmentOf, PROVIDER_LOOK, variableOf } from "../../src/config/provider-keys.js";
import { PROVIDER_SETTING_NAMES, readSettings, SETTINGS } from "../../src/config/read-settings.js";

/** The variables of a provider's settings, without a key. */
const OWN = [
  ...Object.values(PROVIDER_LOOK).map((row) => row.env),
  ...PROVIDER_SETTING_NAMES.map((name) => SETTINGS[name].env),
];
const SHARED = ["CLIENT_CERTIFICATE", "CERTIFICATE"];
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
  it("no setting's name ends with an underscore and another setting's name, but for one", () => {
    expect(sharedBy(STEMS)).toEqual([SHARED]);
  });

  it("that one's variable is the longer key's, so that no provider reads another's", () => {
    const cert = "IDP_PROVIDER_STAFF_CLIENT_CERTIFICATE";
    const refusedWith = (keys: string) =>
      readSettings({}, { IDP_PROVIDERS: keys, [cert]: "x" })
        .findings.filter(({ code }) => code === "E006" || code === "E039")
        .map(({ message }) => /option (\S+)\)/.exec(message)?.[1]);
    expect(refusedWith("staff staff-client")).toEqual(["providers.staff-client.certificate"]);
    expect(refusedWith("staff")).toEqual(["providers.staff.clientCertificate"]);
  });

  it("a name that ended like this would be found", () => {
    expect(variableOf("staff", "IDP_LOGIN_SCOPE")).toBe(variableOf("staff-login", "SCOPE"));
    expect(sharedBy([...STEMS, "LOGIN_SCOPE"])).toEqual([SHARED, ["LOGIN_SCOPE", "SCOPE"]]);
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
      ...keys.flatMap((key) => {
        const own = OWN.map((env) => variableOf(key, env));
        const read = environmentOf(key, keys, Object.fromEntries(own.map((name) => [name, name])));
        return own.filter((name) => read[name] !== undefined);
      }),
    ];
    expect(variables.filter((name, index) => variables.indexOf(name) !== index)).toEqual([]);
  });
});
