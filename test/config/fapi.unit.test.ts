import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { readSettings, type SettingOptions } from "../../src/config/read-settings.js";

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const rsaJwk = (alg: string) => ({ ...rsa.export({ format: "jwk" }), alg });

/** What the profile allows: a key, DPoP and pushed requests. */
const GOOD: SettingOptions = {
  secretKey: "a long enough secret key for 32 bytes!",
  baseUrl: "https://app.example",
  issuer: "https://idp.example",
  clientId: "app",
  privateKey: ec,
  scope: "openid",
  sessionAutoRefresh: false,
  pushedRequests: "always",
  dpop: true,
  fapi: 2,
};

const findingsOf = (changes: SettingOptions, good = GOOD) =>
  readSettings({ ...good, ...changes }).findings.map(
    ({ code, message, remedy }) => `${code}: ${message} ${remedy}`,
  );

const forbiddenBy = (changes: SettingOptions) =>
  findingsOf(changes).filter((text) => text.startsWith("E041"));

describe("with IDP_FAPI=2", () => {
  it("nothing is forbidden of what the profile allows", () => {
    expect(findingsOf({})).toEqual([]);
    expect(findingsOf({ idTokenSignedResponseAlg: "PS256", responseMode: "jwt" })).toEqual([]);
    expect(findingsOf({ privateKey: rsa, clientAssertionAudience: "issuer" })).toEqual([]);
    const logout = { end_session_endpoint: "https://idp.example/logout" };
    expect(findingsOf({ providerMetadata: logout })).toEqual([]);
    expect(
      findingsOf({ issuer: "http://localhost:9000", baseUrl: "http://localhost:3000" }),
    ).toEqual([]);
  });

  it.each<[string, SettingOptions, RegExp]>([
    [
      "requests that aren't pushed",
      { pushedRequests: "when-required" },
      /pushedRequests\) isn't `always` \(FAPI 2\.0, section 5\.3\.3\.2\)\. Set IDP_PUSHED_REQUESTS to `always`/,
    ],
    [
      "a secret",
      { privateKey: undefined, clientSecret: "s" },
      /authenticates with a secret .*5\.3\.3\.1/,
    ],
    [
      "bearer tokens",
      { dpop: false },
      /IDP_DPOP \(option dpop\) is off, and IDP_CLIENT_CERTIFICATE .*5\.3\.3\.1/,
    ],
    [
      "an audience of one endpoint",
      { clientAssertionAudience: "endpoint" },
      /clientAssertionAudience\) isn't `issuer` .*5\.3\.3\.1/,
    ],
    [
      "the audience that Okta documents",
      { issuer: "https://dev.okta.com" },
      /clientAssertionAudience\) isn't `issuer`/,
    ],
    [
      "a key for RS256 alone",
      { privateKey: rsaJwk("RS256") },
      /privateKey\) signs with RS256 .*5\.4\.1/,
    ],
    [
      "ID tokens with RS256",
      { idTokenSignedResponseAlg: "RS256" },
      /idTokenSignedResponseAlg\) is RS256 .*5\.4\.1/,
    ],
    [
      "ID tokens with ES384",
      { idTokenSignedResponseAlg: "ES384" },
      /idTokenSignedResponseAlg\) is ES384/,
    ],
    [
      "an endpoint that isn't from the discovery document",
      { providerMetadata: { token_endpoint: "https://idp.example/t" } },
      /providerMetadata\) sets token_endpoint, which may only come .*5\.3\.3\.1\)/,
    ],
    [
      "an endpoint without TLS",
      { providerMetadata: { end_session_endpoint: "http://idp.example/l" } },
      /providerMetadata\) contains an http address of another machine .*5\.2\.1\)/,
    ],
    [
      "a discovery document without TLS",
      { discoveryUrl: "http://keycloak:8080/x" },
      /discoveryUrl\) contains an http address/,
    ],
    [
      "an application without TLS",
      { baseUrl: "http://app.example" },
      /baseUrl\) contains an http address/,
    ],
  ])("%s is E041", (_what, changes, expected) => {
    const found = forbiddenBy(changes);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^E041: IDP_FAPI \(option fapi\) is 2, but /);
    expect(found[0]).toMatch(expected);
    // It's the profile that forbids it.
    expect(forbiddenBy({ ...changes, fapi: null })).toEqual([]);
  });

  it("each thing has a finding of its own", () => {
    const all = {
      privateKey: undefined,
      clientSecret: "s",
      dpop: false,
      pushedRequests: "when-required",
    } as const;
    expect(forbiddenBy(all)).toHaveLength(3);
  });

  it("a certificate may take the place of the key and of DPoP", () => {
    const { cert, key } = createCertificate({ name: "app" });
    const tls = { clientCertificate: cert, clientCertificateKey: key, dpop: false };
    expect(findingsOf(tls)).toEqual([]);
    const alone = {
      ...tls,
      privateKey: undefined,
      tokenEndpointAuthMethod: "tls_client_auth",
    } as const;
    expect(findingsOf(alone)).toEqual([]);
  });

  it("a provider of several is named", () => {
    const { issuer, clientId, privateKey, ...shared } = GOOD;
    const { findings } = readSettings({
      ...shared,
      providers: { bank: { issuer, clientId, privateKey, idTokenSignedResponseAlg: "RS256" } },
    } as SettingOptions);
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^Provider bank: .*providers\.bank\.idTokenSignedResponseAlg\) is RS256/,
      ),
    ]);
  });
});

describe("signed requests", () => {
  const plain = { ...GOOD, fapi: null, dpop: false };

  it("need a private key (E040)", () => {
    const secret = { privateKey: undefined, clientSecret: "s" };
    expect(findingsOf({ ...secret, signedRequests: "always" }, plain)).toEqual([
      expect.stringMatching(/^E040: IDP_SIGNED_REQUESTS .* but IDP_PRIVATE_KEY .* isn't set/),
    ]);
    expect(findingsOf({ ...secret, signedRequests: "when-required" }, plain)).toEqual([]);
    expect(findingsOf({ signedRequests: "always" }, plain)).toEqual([]);
  });
});
