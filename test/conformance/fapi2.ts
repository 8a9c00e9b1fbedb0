import { expect } from "vitest";
import {
  claimsRefused,
  expectIssuerMismatch,
  expectRefused,
  expectSignedIn,
  signIn,
  userOf,
  withClaims,
  withHeader,
  type ConformanceModule,
  type Plan,
  type Stage,
} from "./relying-party.js";

const plans: readonly Plan[] = ["fapi2-security-profile-final-client-test-plan"];

/** The provider's authorization response with another state, or none. */
async function expectStateRefused(stage: Stage, change: (parameters: URLSearchParams) => void): Promise<string> {
  const application = await stage.start();
  application.provider.authorizationResponse = change;
  const { browser, callback } = await signIn(application);
  expect(callback.status).toBe(400);
  expect(await userOf(browser)).toBeNull();
  expect(application.provider.requestsTo("token")).toEqual([]);
  return "400 page, no token request, no session";
}

/** The provider announces `iss`, and its authorization response has another one, or none. */
async function expectIssRefused(stage: Stage, change: (parameters: URLSearchParams) => void): Promise<string> {
  const application = await stage.start({ provider: { announceIss: true } });
  application.provider.authorizationResponse = change;
  return expectRefused(application, "iss");
}

/** The modules of FAPI 2.0 that fit every relying party. */
export const fapi2Modules: readonly ConformanceModule[] = [
  {
    module: "fapi2-security-profile-final-client-test-discovery-issuer-mismatch",
    plans,
    demands: "refuse a discovery document of another issuer",
    run: expectIssuerMismatch,
  },
  {
    module: "fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-missing-state-fails",
    plans,
    demands: "refuse an authorization response without state",
    run: (stage) =>
      expectStateRefused(stage, (parameters) => {
        parameters.delete("state");
      }),
  },
  {
    module: "fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-state-fails",
    plans,
    demands: "refuse an authorization response with another state",
    run: (stage) =>
      expectStateRefused(stage, (parameters) => {
        parameters.set("state", `${parameters.get("state") ?? ""}x`);
      }),
  },
  {
    module: "fapi2-security-profile-final-client-test-invalid-alternate-alg",
    plans,
    demands: "refuse an ID token with an unexpected signature algorithm",
    async run(stage) {
      const application = await stage.start();
      // The expected one is PS256; the token is signed with RS256 by the right key.
      application.provider.discoveryDocument = (document) => ({ ...document, id_token_signing_alg_values_supported: ["PS256"] });
      return expectRefused(application, "id_token_alg");
    },
  },
  {
    module: "fapi2-security-profile-final-client-test-invalid-authorization-response-iss",
    plans,
    demands: "refuse an authorization response with another issuer's iss (RFC 9207)",
    run: (stage) =>
      expectIssRefused(stage, (parameters) => {
        parameters.set("iss", "https://op.evil.example/");
      }),
  },
  {
    module: "fapi2-security-profile-final-client-test-invalid-expired-exp",
    plans,
    demands: "refuse an ID token that has expired",
    async run(stage) {
      const application = await stage.start();
      application.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, exp: (claims["iat"] as number) - 300 } });
      return expectRefused(application, "id_token_exp");
    },
  },
  claimsRefused({
    module: "fapi2-security-profile-final-client-test-invalid-missing-aud",
    plans,
    demands: "refuse an ID token without aud",
    claims: { aud: undefined },
    reason: "id_token_aud",
  }),
  claimsRefused({
    module: "fapi2-security-profile-final-client-test-invalid-missing-exp",
    plans,
    demands: "refuse an ID token without exp",
    claims: { exp: undefined },
    reason: "id_token_exp",
  }),
  claimsRefused({
    module: "fapi2-security-profile-final-client-test-invalid-missing-iss",
    plans,
    demands: "refuse an ID token without iss",
    claims: { iss: undefined },
    reason: "id_token_iss",
  }),
  claimsRefused({
    module: "fapi2-security-profile-final-client-test-invalid-missing-nonce",
    plans,
    demands: "refuse an ID token without nonce",
    claims: { nonce: undefined },
    reason: "id_token_nonce",
  }),
  {
    module: "fapi2-security-profile-final-client-test-invalid-null-alg",
    plans,
    demands: "refuse an unsigned ID token",
    async run(stage) {
      return expectRefused(withHeader(await stage.start(), { alg: "none" }), "id_token_alg");
    },
  },
  claimsRefused({
    module: "fapi2-security-profile-final-client-test-invalid-secondary-aud",
    plans,
    demands: "refuse an ID token with a further audience that is not trusted",
    claims: { aud: ["test-client", "another-client"] },
    reason: "id_token_aud",
  }),
  {
    module: "fapi2-security-profile-final-client-test-remove-authorization-response-iss",
    plans,
    demands: "refuse an authorization response without iss if the provider announces iss (RFC 9207)",
    run: (stage) =>
      expectIssRefused(stage, (parameters) => {
        parameters.delete("iss");
      }),
  },
  {
    module: "fapi2-security-profile-final-client-test-token-endpoint-response-without-expires_in",
    plans,
    demands: "accept a token response without expires_in",
    async run(stage) {
      const application = await stage.start();
      application.provider.tokenResponse = ({ expires_in: _left, ...response }) => response;
      await expectSignedIn(application);
      return "signed in";
    },
  },
  {
    module: "fapi2-security-profile-final-client-test-token-type-case-insensitivity",
    plans,
    demands: "accept token_type in any letter case",
    async run(stage) {
      const application = await stage.start();
      const types = ["bEaReR", "BEARER", "bearer"];
      for (const token_type of types) {
        application.provider.tokenResponse = (response) => ({ ...response, token_type });
        await expectSignedIn(application);
      }
      return `signed in with ${types.join(", ")}`;
    },
  },
  {
    module: "fapi2-security-profile-final-client-test-valid-aud-as-array",
    plans,
    demands: "accept an ID token whose aud is a list with only the client",
    async run(stage) {
      await expectSignedIn(withClaims(await stage.start(), { aud: ["test-client"] }));
      return "signed in";
    },
  },
];
