import { expect, it } from "vitest";
import { stepUpParameters } from "../../src/provider/authorization-request.js";

const ENTRA = { issuer: "https://login.microsoftonline.com/organizations/v2.0" };
const OTHER = { issuer: "https://idp.example" };

it.each([
  [
    "max_age, with prompt=login",
    OTHER,
    { max_age: 60 },
    undefined,
    { max_age: "60", prompt: "login" },
  ],
  [
    "a consent of the usual prompt stays",
    OTHER,
    { max_age: 60 },
    "select_account consent",
    { max_age: "60", prompt: "login consent" },
  ],
  [
    "acr_values, separated by spaces",
    OTHER,
    { acr: ["gold", "silver"] },
    undefined,
    { acr_values: "gold silver" },
  ],
  ["prompt=none is left out", OTHER, { acr: ["gold"] }, "none", { acr_values: "gold", prompt: [] }],
])("%s", (_name, settings, stepUp, prompt, expected) => {
  expect(stepUpParameters(settings, stepUp, prompt)).toEqual(expected);
});

it("requests Entra ID's authentication contexts in the parameter `claims`, one as `value`, several as `values`", () => {
  const claimsOf = (acr: readonly string[]): unknown => {
    const { claims } = stepUpParameters(ENTRA, { acr }, undefined);
    return JSON.parse(claims as string);
  };
  expect(claimsOf(["C1"])).toEqual({ id_token: { acrs: { essential: true, value: "C1" } } });
  expect(claimsOf(["C1", "C2"])).toEqual({
    id_token: { acrs: { essential: true, values: ["C1", "C2"] } },
  });
  expect(stepUpParameters(ENTRA, { max_age: 60 }, undefined)).not.toHaveProperty("claims");
});
