import { expect, it } from "vitest";
import {
  authorizationParameters,
  stepUpAuthorizationParams,
} from "../../src/provider/authorization-request.js";
import type { ProviderMetadata } from "../../src/provider/provider-metadata.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import type { AuthorizationRequest } from "../../src/ports/provider.js";

const ENTRA = "https://login.microsoftonline.com/organizations/v2.0";
const OTHER = "https://idp.example";

it.each([
  ["max_age, with prompt=login", { max_age: 60 }, undefined, { max_age: "60", prompt: "login" }],
  [
    "a consent of the usual prompt stays",
    { max_age: 60 },
    "select_account consent",
    { max_age: "60", prompt: "login consent" },
  ],
  [
    "acr_values, separated by spaces",
    { acr: ["gold", "silver"] },
    undefined,
    { acr_values: "gold silver" },
  ],
  ["prompt=none is left out", { acr: ["gold"] }, "none", { acr_values: "gold", prompt: [] }],
])("%s", (_name, stepUp, prompt, expected) => {
  expect(stepUpAuthorizationParams(stepUp, prompt)).toEqual(expected);
});

/** The parameters by which a login requests the user's authentication. */
async function asked(
  request: Pick<AuthorizationRequest, "stepUp" | "requestsAuthTime">,
  { issuer = OTHER, supportsClaims = false } = {},
) {
  const settings = { issuer, clientId: "c", scope: ["openid"], authorizationParams: {} };
  const { max_age, acr_values, claims } = await authorizationParameters(
    { redirectUri: "https://app.example/", state: "s", nonce: "n", verifier: "v", ...request },
    {
      settings: settings as unknown as ProviderSettings,
      metadata: { claims_parameter_supported: supportsClaims } as ProviderMetadata,
    },
  );
  return { max_age, acr_values, claims: claims && (JSON.parse(claims as string) as unknown) };
}

it("requests Entra ID's authentication contexts in the parameter `claims`, one as `value`, several as `values`", async () => {
  const claimsOf = async (acr: readonly string[]) =>
    (await asked({ stepUp: { acr } }, { issuer: ENTRA })).claims;
  expect(await claimsOf(["C1"])).toEqual({ id_token: { acrs: { essential: true, value: "C1" } } });
  expect(await claimsOf(["C1", "C2"])).toEqual({
    id_token: { acrs: { essential: true, values: ["C1", "C2"] } },
  });
  expect((await asked({ stepUp: { max_age: 60 } }, { issuer: ENTRA })).claims).toBeUndefined();
});

const AUTH_TIME = { auth_time: { essential: true } };

it.each<[string, Parameters<typeof asked>, Awaited<ReturnType<typeof asked>>]>([
  ["nothing", [{}], {}],
  [
    "auth_time with claims",
    [{ requestsAuthTime: true }, { supportsClaims: true }],
    { claims: { id_token: AUTH_TIME } },
  ],
  [
    "auth_time with max_age where claims isn't advertised",
    [{ requestsAuthTime: true }],
    { max_age: "31536000" },
  ],
  [
    "both, and the step-up's max_age wins",
    [{ requestsAuthTime: true, stepUp: { max_age: 60 } }],
    { max_age: "60" },
  ],
  [
    "both for a stronger sign-in",
    [{ requestsAuthTime: true, stepUp: { acr: ["gold"] } }],
    { max_age: "31536000", acr_values: "gold" },
  ],
  [
    "auth_time beside Entra ID's contexts",
    [
      { requestsAuthTime: true, stepUp: { acr: ["C1"] } },
      { issuer: ENTRA, supportsClaims: true },
    ],
    {
      acr_values: "C1",
      claims: { id_token: { ...AUTH_TIME, acrs: { essential: true, value: "C1" } } },
    },
  ],
] as never)("a login requests %s", async (_name, parameters, expected) => {
  expect(await asked(...parameters)).toEqual(expected);
});
