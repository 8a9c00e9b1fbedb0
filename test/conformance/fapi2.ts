import { generateKeyPairSync } from "node:crypto";
import { decodeJwt } from "jose";
import { expect } from "vitest";
import { privateKeys } from "../../src/config/client-key-kinds.js";
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
  type StageOptions,
} from "./relying-party.js";

const plans: readonly Plan[] = ["fapi2-security-profile-final-client-test-plan"];

/**
 * As in the suite: the client authenticates with its key (`private_key_jwt`), and every
 * authorization request is pushed.
 */
function fapiClient(): StageOptions {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const clientJwks = (privateKeys.fromCode(privateKey) ?? []).flatMap(
    ({ publicJwk }) => publicJwk ?? [],
  );
  return {
    clientSecret: undefined,
    privateKey,
    provider: { clientJwks, requirePushedRequests: true },
  };
}

/** The provider's authorization response with another state, or none. */
async function expectStateRefused(
  stage: Stage,
  change: (parameters: URLSearchParams) => void,
): Promise<string> {
  const application = await stage.start();
  application.provider.authorizationResponse = change;
  const { browser, callback } = await signIn(application);
  expect(callback.status).toBe(400);
  expect(await userOf(browser)).toBeNull();
  expect(application.provider.requestsTo("token")).toEqual([]);
  return "400 page, no token request, no session";
}

/** The provider announces `iss`, and its authorization response has another one, or none. */
async function expectIssRefused(
  stage: Stage,
  change: (parameters: URLSearchParams) => void,
): Promise<string> {
  const application = await stage.start({ provider: { announceIss: true } });
  application.provider.authorizationResponse = change;
  return expectRefused(application, "iss");
}

const modules: readonly ConformanceModule[] = [
  {
    module: "fapi2-security-profile-final-client-test-happy-path",
    plans,
    demands: "push the request, authenticate with the key at both endpoints, and use the tokens",
    async run(stage) {
      const application = await stage.start();
      await expectSignedIn(application);
      const { provider } = application;
      const sent = [...provider.requestsTo("par"), ...provider.requestsTo("token")];
      const claims = sent.map(({ params }) => decodeJwt(params.get("client_assertion") ?? ""));
      expect(claims.map(({ aud }) => aud)).toEqual([provider.issuer, provider.issuer]);
      expect(new Set(claims.map(({ jti }) => jti)).size).toBe(2);
      return "signed in; one pushed request, two assertions with the issuer as aud";
    },
  },
  {
    module: "fapi2-security-profile-final-client-test-discovery-issuer-mismatch",
    plans,
    demands: "refuse a discovery document of another issuer",
    run: expectIssuerMismatch,
  },
  {
    module:
      "fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-missing-state-fails",
    plans,
    demands: "refuse an authorization response without state",
    run: (stage) =>
      expectStateRefused(stage, (parameters) => {
        parameters.delete("state");
      }),
  },
  {
    module:
      "fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-state-fails",
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
      application.provider.discoveryDocument = (document) => ({
        ...document,
        id_token_signing_alg_values_supported: ["PS256"],
      });
      return expectRefused(application, "id_token_alg", 503);
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
  claimsRefused({
    module: "fapi2-security-profile-final-client-test-invalid-aud",
    plans,
    demands: "refuse an ID token for another client",
    claims: { aud: "another-client" },
    reason: "id_token_aud",
  }),
  claimsRefused({
    module: "fapi2-security-profile-final-client-test-invalid-iss",
    plans,
    demands: "refuse an ID token of another issuer",
    claims: { iss: "https://op.evil.example/" },
    reason: "id_token_iss",
    status: 503,
  }),
  claimsRefused({
    module: "fapi2-security-profile-final-client-test-invalid-nonce",
    plans,
    demands: "refuse an ID token with another nonce",
    claims: { nonce: "another-nonce" },
    reason: "id_token_nonce",
  }),
  {
    module: "fapi2-security-profile-final-client-test-invalid-expired-exp",
    plans,
    demands: "refuse an ID token that has expired",
    async run(stage) {
      const application = await stage.start();
      application.provider.mutateIdToken = ({ claims }) => ({
        claims: { ...claims, exp: (claims["iat"] as number) - 300 },
      });
      return expectRefused(application, "id_token_exp", 503);
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
    status: 503,
  }),
  {
    module: "fapi2-security-profile-final-client-test-remove-authorization-response-iss",
    plans,
    demands:
      "refuse an authorization response without iss if the provider announces iss (RFC 9207)",
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

/** The modules of FAPI 2.0 that need no sender-constrained tokens. */
export const fapi2Modules: readonly ConformanceModule[] = modules.map((module) => ({
  ...module,
  run: (stage) => module.run(stage.defaultTo(fapiClient())),
}));
