import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { expect } from "vitest";
import {
  BASIC,
  claimsRefused,
  COMPREHENSIVE,
  CONFIG,
  expectRefused,
  expectSignedIn,
  withHeader,
} from "./relying-party.js";
import type { ConformanceModule } from "./relying-party.js";

/** The ID token of a sign-in: its signature and its claims. */
export const idTokenModules: readonly ConformanceModule[] = [
  {
    module: "oidcc-client-test-idtoken-sig-none",
    plans: [BASIC, CONFIG],
    demands: "accept or refuse an unsigned ID token; this replay requires idpauth to refuse it",
    async run(stage) {
      return expectRefused(
        withHeader(await stage.start(), { alg: "none", kid: undefined }),
        "id_token_alg",
      );
    },
  },
  {
    module: "oidcc-client-test-idtoken-sig-rs256",
    plans: [BASIC],
    demands: "accept an ID token signed with RS256",
    async run(stage) {
      const application = await stage.start();
      let alg: unknown;
      application.provider.mutateIdToken = (draft) => {
        alg = draft.header["alg"];
        return draft;
      };
      await expectSignedIn(application);
      expect(alg).toBe("RS256");
      expect(application.provider.requestsTo("jwks")).toHaveLength(1);
      return "signed in; idpauth fetched the keys once and verified the signature";
    },
  },
  {
    module: "oidcc-client-test-invalid-sig-es256",
    plans: [COMPREHENSIVE],
    demands: "refuse an ID token with a wrong ES256 signature",
    async run(stage) {
      const application = await stage.start();
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
      const { provider } = application;
      provider.discoveryDocument = (document) => ({
        ...document,
        id_token_signing_alg_values_supported: ["ES256"],
      });
      provider.jwks.publish({
        keys: [{ ...publicKey.export({ format: "jwk" }), kid: "ec", use: "sig", alg: "ES256" }],
      });
      const signedBy = (key: KeyObject) => {
        provider.mutateIdToken = ({ sign, claims: { at_hash: _hash, ...claims } }) =>
          sign({ alg: "ES256", kid: "ec" }, claims, key);
      };
      signedBy(stranger);
      const seen = await expectRefused(application, "id_token_signature");
      signedBy(privateKey);
      await expectSignedIn(application);
      return `${seen}; a token signed with the right key is accepted`;
    },
  },
  {
    module: "oidcc-client-test-invalid-sig-hs256",
    plans: [COMPREHENSIVE],
    demands:
      "refuse an ID token with a wrong HS256 signature; idpauth accepts no symmetric signature",
    async run(stage) {
      const application = await stage.start();
      const { provider } = application;
      provider.mutateIdToken = ({ sign, header, claims }) =>
        sign({ ...header, alg: "HS256" }, claims, Buffer.from("not the client secret"));
      return expectRefused(application, "id_token_alg");
    },
  },
  {
    module: "oidcc-client-test-invalid-sig-rs256",
    plans: [BASIC],
    demands:
      "refuse an ID token with a wrong RS256 signature, although it comes directly from the token endpoint",
    async run(stage) {
      const application = await stage.start();
      application.provider.mutateIdToken = ({ sign, header, claims }) => {
        const [head, body, signature = ""] = sign(header, claims).split(".");
        const bytes = Buffer.from(signature, "base64url").map((byte) => byte ^ 0x5a);
        return [head, body, Buffer.from(bytes).toString("base64url")].join(".");
      };
      return expectRefused(application, "id_token_signature");
    },
  },
  claimsRefused({
    module: "oidcc-client-test-invalid-athash",
    plans: [COMPREHENSIVE],
    demands: "refuse an ID token whose at_hash does not match the access token",
    claims: { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" },
    reason: "id_token_at_hash",
  }),
  claimsRefused({
    module: "oidcc-client-test-invalid-aud",
    plans: [BASIC],
    demands: "refuse an ID token whose aud is not the client",
    claims: { aud: "another-client" },
    reason: "id_token_aud",
  }),
  claimsRefused({
    module: "oidcc-client-test-invalid-iss",
    plans: [BASIC],
    demands: "refuse an ID token whose iss is not the issuer",
    claims: { iss: "https://op.evil.example/" },
    reason: "id_token_iss",
    status: 503,
  }),
  claimsRefused({
    module: "oidcc-client-test-missing-aud",
    plans: [COMPREHENSIVE],
    demands: "refuse an ID token without aud",
    claims: { aud: undefined },
    reason: "id_token_aud",
  }),
  claimsRefused({
    module: "oidcc-client-test-missing-iat",
    plans: [BASIC],
    demands: "refuse an ID token without iat",
    claims: { iat: undefined },
    reason: "id_token_iat",
  }),
  claimsRefused({
    module: "oidcc-client-test-missing-sub",
    plans: [BASIC],
    demands: "refuse an ID token without sub",
    claims: { sub: undefined },
    reason: "id_token_sub",
  }),
  claimsRefused({
    module: "oidcc-client-test-nonce-invalid",
    plans: [BASIC],
    demands: "refuse an ID token whose nonce differs from the nonce in the authorization request",
    claims: { nonce: "not-the-one-that-was-sent" },
    reason: "id_token_nonce",
  }),
];
