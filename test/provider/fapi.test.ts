import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { privateKeys } from "../../src/config/client-key-kinds.js";
import { profileProblems } from "../../src/provider/fapi-document.js";
import { refused, rejection, unavailable } from "./rig.js";
import { rig, shareRig } from "./shared-rig.js";

const ec =
  privateKeys.fromCode(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey) ?? [];

/** What a provider that satisfies the profile advertises. */
const GOOD = {
  authorization_response_iss_parameter_supported: true,
  code_challenge_methods_supported: ["S256"],
  id_token_signing_alg_values_supported: ["PS256", "RS256"],
  authorization_signing_alg_values_supported: ["ES256"],
  token_endpoint: "https://idp.example/token",
};

describe("what FAPI 2.0 demands of a document", () => {
  const reasonsFor = (
    changes: object,
    responseMode: "query" | "jwt" = "query",
    fapi: 2 | null = 2,
  ) => profileProblems({ ...GOOD, ...changes }, { fapi, responseMode }).map(({ reason }) => reason);

  it.each<[string, object, "query" | "jwt", string[]]>([
    ["all of it", {}, "query", []],
    [
      "no issuer in responses",
      { authorization_response_iss_parameter_supported: false },
      "query",
      ["fapi_iss"],
    ],
    [
      "no issuer beside signed responses, which have one",
      { authorization_response_iss_parameter_supported: undefined },
      "jwt",
      [],
    ],
    ["plain PKCE", { code_challenge_methods_supported: ["plain"] }, "query", ["fapi_pkce"]],
    ["no PKCE", { code_challenge_methods_supported: undefined }, "query", ["fapi_pkce"]],
    [
      "ID tokens with RS256 and ES384",
      { id_token_signing_alg_values_supported: ["RS256", "ES384"] },
      "query",
      ["fapi_algorithms"],
    ],
    [
      "ID tokens with the default",
      { id_token_signing_alg_values_supported: undefined },
      "query",
      ["fapi_algorithms"],
    ],
    [
      "signed responses with RS256",
      { authorization_signing_alg_values_supported: ["RS256"] },
      "jwt",
      ["fapi_algorithms"],
    ],
    [
      "signed responses with RS256 that nobody requests",
      { authorization_signing_alg_values_supported: ["RS256"] },
      "query",
      [],
    ],
    [
      "Ed25519 by its new name",
      { id_token_signing_alg_values_supported: ["Ed25519"] },
      "query",
      [],
    ],
    [
      "an endpoint without TLS",
      { token_endpoint: "http://idp.example/token" },
      "query",
      ["fapi_https"],
    ],
    ["an endpoint on this machine", { token_endpoint: "http://localhost:9/token" }, "query", []],
  ])("%s", (_what, changes, mode, expected) => {
    expect(reasonsFor(changes, mode)).toEqual(expected);
    expect(reasonsFor(changes, mode, null)).toEqual([]);
  });
});

describe("a client with IDP_FAPI=2", () => {
  shareRig();
  const fapi = () => {
    rig.idp.settings.clientJwks = ec.flatMap(({ publicJwk }) => publicJwk ?? []);
    return rig.settingsWith({ fapi: 2, clientSecret: "", privateKey: ec });
  };

  it("begins no login at a provider that violates the profile, and the log says why", async () => {
    expect(await rejection(rig.code(fapi()))).toBe(unavailable("fapi_algorithms"));
    const [line] = rig.logged.filter(({ code }) => code === "provider_misconfigured");
    expect(line?.message).toMatch(
      /^IDP_FAPI is 2, but the provider doesn't sign ID tokens with PS256/,
    );
  });

  it("refuses an ID token with another algorithm, although the provider advertises and signs it", async () => {
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      id_token_signing_alg_values_supported: ["RS256", "PS256"],
    });
    const provider = fapi();
    const error = await provider
      .exchange({
        code: await rig.code(provider),
        redirectUri: "http://127.0.0.1:3000/idpauth/login-callback",
        nonce: "the-nonce",
        verifier: "v".repeat(43),
      })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ reason: "id_token_alg" });
    expect(await rejection(provider.verifyLogoutToken(rig.idp.logoutToken({ sub: "ada" })))).toBe(
      refused("logout_token_alg"),
    );
    // Without the profile, the same provider is fine.
    await rig.exchange(rig.settingsWith({ clientSecret: "", privateKey: ec }));
  });

  it("refuses a signed response with another algorithm", async () => {
    const provider = fapi();
    rig.idp.settings.signedResponses = "supported";
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      id_token_signing_alg_values_supported: ["PS256"],
      authorization_signing_alg_values_supported: ["RS256", "PS256"],
    });
    const { url } = await provider.authorizationUrl({
      redirectUri: "http://127.0.0.1:3000/idpauth/login-callback",
      state: "s",
      nonce: "n",
      verifier: "v".repeat(43),
    });
    const asked = new URL(url);
    asked.searchParams.set("response_mode", "jwt");
    const response =
      new URL(await rig.idp.signInCode(asked.href)).searchParams.get("response") ?? "";
    expect(await rejection(provider.verifyResponse(response))).toBe(refused("response_alg"));
    const plain = rig.settingsWith({ clientSecret: "", privateKey: ec });
    expect(await plain.verifyResponse(response)).toMatchObject({ state: "s" });
  });
});
