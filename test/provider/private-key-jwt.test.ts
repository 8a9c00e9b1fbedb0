import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  sign,
  X509Certificate,
} from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { certificate as certificateKind, privateKeys } from "../../src/config/client-key-kinds.js";
import type { ClientKey, SignAssertion } from "../../src/keys/client-keys.js";
import { assertionAudience } from "../../src/provider/client-assertion.js";
import { assertionAlgorithm } from "../../src/provider/client-signatures.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import { rejection, SESSION, unavailable } from "./rig.js";
import { rig, shareRig } from "./shared-rig.js";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const edwards = generateKeyPairSync("ed25519").privateKey;
const keysOf = (value: unknown): readonly ClientKey[] => privateKeys.fromCode(value) ?? [];
const published = (keys: readonly ClientKey[]) =>
  keys.flatMap(({ publicJwk }) => (publicJwk === undefined ? [] : [publicJwk]));

shareRig();
afterEach(() => {
  rig.idp.violations.length = 0;
});

/** A client with these keys, whose public halves the provider knows. */
function clientWith(keys: readonly ClientKey[], changes: Partial<ProviderSettings> = {}) {
  rig.idp.settings.clientJwks = published(keys);
  return rig.settingsWith({ clientSecret: "", privateKey: keys, ...changes });
}

const assertions = (endpoint: "token" | "revoke") =>
  rig.idp.requestsTo(endpoint).map(({ params }) => params.get("client_assertion") ?? "");

describe("a client that authenticates with its private key", () => {
  it.each([
    ["RSA", rsa, "PS256"],
    ["P-256", ec, "ES256"],
    ["Ed25519", edwards, "EdDSA"],
  ])(
    "signs in, refreshes and revokes with an %s key, and never sends a secret",
    async (_name, key, alg) => {
      const provider = clientWith(keysOf(key));
      const signIn = await rig.exchange(provider);
      expect(signIn.credentials.client_secret).toBe("");
      const refreshToken = signIn.credentials.refresh_token ?? "";
      const spent = await provider.refresh({
        refreshToken,
        session: "s",
        signal: new AbortController().signal,
      });
      expect(await provider.revoke(spent.refreshToken ?? "", "refresh_token")).toBe(true);
      const sent = [...assertions("token"), ...assertions("revoke")];
      expect(sent).toHaveLength(3);
      expect(new Set(sent.map((assertion) => decodeJwt(assertion).jti)).size).toBe(3);
      for (const assertion of sent) {
        const now = Math.floor(rig.clock.now() / 1000);
        expect(decodeProtectedHeader(assertion)).toEqual({
          alg,
          typ: "JWT",
          kid: keysOf(key)[0]?.kid,
        });
        const { clientId, issuer } = rig.idp;
        expect(decodeJwt(assertion)).toMatchObject({
          iss: clientId,
          sub: clientId,
          aud: issuer,
          iat: now,
          exp: now + 60,
        });
      }
      for (const { params, headers } of rig.idp.requests) {
        expect(params.has("client_secret")).toBe(false);
        expect(headers.authorization ?? "").not.toMatch(/^Basic/);
      }
    },
  );

  it.each(["issuer", "token_endpoint", "endpoint"] as const)(
    "[BCP-18] sends the one audience %s to each endpoint",
    async (audience) => {
      const provider = clientWith(keysOf(ec), { clientAssertionAudience: audience });
      rig.idp.settings.clientAssertionAudience = audience;
      const { credentials } = await rig.exchange(provider);
      expect(await provider.revoke(credentials.refresh_token ?? "", "refresh_token")).toBe(true);
    },
  );

  it("signs with the first of several keys, so that a new one can be registered before it is used", async () => {
    const [old, next] = [keysOf(ec)[0]!, keysOf(rsa)[0]!];
    await rig.exchange(clientWith([old, next]));
    const rotated = rig.settingsWith({ clientSecret: "", privateKey: [next, old] });
    await rig.exchange(rotated);
    expect(assertions("token").map((assertion) => decodeProtectedHeader(assertion).kid)).toEqual([
      old.kid,
      next.kid,
    ]);
  });

  it("is refused with a key that the provider doesn't know: the configuration is wrong, and the line names the settings", async () => {
    const provider = clientWith(keysOf(ec));
    rig.idp.settings.clientJwks = published(keysOf(rsa));
    expect(await rejection(rig.exchange(provider))).toBe(unavailable("invalid_client"));
    const line = rig.logged.find(({ code }) => code === "provider_misconfigured")?.message;
    expect(line).toContain("private_key_jwt");
    expect(line).toContain("IDP_PRIVATE_KEY");
    expect(line).not.toContain("IDP_CLIENT_SECRET");
  });

  it.each([
    ["exchange", "token", 401, unavailable("http_401")],
    ["exchange", "token", 403, unavailable("http_403")],
    ["push", "par", 401, unavailable("http_401")],
    ["push", "par", 403, unavailable("http_403")],
    ["refresh", "token", 401, unavailable("http_401")],
    ["refresh", "token", 403, unavailable("http_403")],
  ] as const)(
    "an empty %s response (%s, %i) may mean another audience: the line names the setting",
    async (kind, endpoint, status, expected) => {
      const provider = clientWith(keysOf(ec), {
        pushedRequests: kind === "push" ? "always" : "when-required",
      });
      rig.idp.settings.requirePushedRequests = kind === "push";
      const signedIn = kind === "refresh" ? await rig.exchange(provider) : undefined;
      const { refresh_token: refreshToken = "" } = signedIn?.credentials ?? {};
      rig.idp.fault(endpoint, { kind: "status", status });
      const signal = new AbortController().signal;
      const sent =
        kind === "refresh"
          ? provider.refresh({ refreshToken, session: SESSION, signal })
          : rig.exchange(provider);
      expect(await rejection(sent)).toBe(expected);
      const line = rig.logged.find(({ code }) => code === "provider_misconfigured");
      expect(line?.message).toContain("IDP_CLIENT_ASSERTION_AUDIENCE");
      // Other users' sign-ins go on.
      provider.assertReadyToExchange();
    },
  );

  it("names its certificate by the thumbprint", async () => {
    const { cert } = createCertificate({ name: "client", publicKey: createPublicKey(ec) });
    const provider = clientWith(keysOf(ec), {
      certificate: certificateKind.fromText(cert) ?? null,
    });
    await rig.exchange(provider);
    const thumbprint = createHash("sha256")
      .update(new X509Certificate(cert).raw)
      .digest("base64url");
    expect(decodeProtectedHeader(assertions("token")[0] ?? "")["x5t#S256"]).toBe(thumbprint);
  });
});

describe("a key of a key management service", () => {
  const local = keysOf(ec)[0]!;
  const remote = (sign: SignAssertion) => keysOf({ sign, kid: local.kid, alg: "ES256" });
  const withRemote = (sign: SignAssertion) => {
    const provider = clientWith(remote(sign));
    rig.idp.settings.clientJwks = published([local]);
    return provider;
  };

  it("signs the assertions", async () => {
    await rig.exchange(withRemote(local.sign));
    expect(decodeProtectedHeader(assertions("token")[0] ?? "")).toMatchObject({
      alg: "ES256",
      kid: local.kid,
    });
  });

  it.each<[string, SignAssertion]>([
    ["rejects", () => Promise.reject(new Error("the service is down"))],
    [
      "throws",
      () => {
        throw new Error("the service is down");
      },
    ],
    ["returns no signature", () => Promise.resolve(new Uint8Array(0))],
    ["returns DER", (input) => Promise.resolve(sign("sha256", input, ec))],
    ["returns text", () => Promise.resolve("signature" as unknown as Uint8Array)],
  ])("that %s is an outage: no request is sent, and the code isn't spent", async (_name, sign) => {
    const provider = withRemote(sign);
    expect(await rejection(rig.exchange(provider))).toBe(unavailable("client_assertion"));
    expect(rig.idp.requestsTo("token")).toEqual([]);
    expect(JSON.stringify(rig.logged)).not.toContain("the service is down");
  });

  it("that doesn't respond is an outage after IDP_HTTP_TIMEOUT", async () => {
    let signatures = 0;
    const provider = withRemote(() => {
      signatures += 1;
      return new Promise(() => undefined);
    });
    const exchange = rejection(rig.exchange(provider));
    await expect.poll(() => signatures).toBe(1);
    rig.clock.advance(5_000);
    expect(await exchange).toBe(unavailable("client_assertion"));
  });

  it("may return an ArrayBuffer, as crypto.subtle does", async () => {
    const { buffer } = new Uint8Array(await local.sign(new Uint8Array(1), { alg: "ES256" }));
    expect(buffer.byteLength).toBe(64);
    await rig.exchange(
      withRemote(
        async (input, options) => new Uint8Array(await local.sign(input, options)).buffer as never,
      ),
    );
  });

  it("that doesn't respond leaves a refresh the time for its request", async () => {
    let signatures = 0;
    const provider = withRemote(() => {
      signatures += 1;
      return new Promise(() => undefined);
    });
    await provider.facts();
    const refresh = rejection(
      provider.refresh({ refreshToken: "r", session: "s", signal: new AbortController().signal }),
    );
    await expect.poll(() => signatures).toBe(1);
    rig.clock.advance(5_000);
    expect(await refresh).toBe(unavailable("client_assertion"));
  });

  it("that fails while a token is revoked: the token isn't revoked, nothing is thrown, and the next one is revoked", async () => {
    let signatures = 0;
    const provider = withRemote((input, options) => {
      signatures += 1;
      return signatures === 1 ? Promise.reject(new Error()) : local.sign(input, options);
    });
    expect(await provider.revoke("token", "refresh_token")).toBe(false);
    expect(await provider.revoke("token", "refresh_token")).toBe(true);
  });
});

describe("the algorithm and the audience", () => {
  const ENTRA = "https://login.microsoftonline.com/5f1d5d4c-1d2b-4a6e-9c3f-0a1b2c3d4e5f/v2.0";
  const RSA = ["RS256", "PS256"] as const;

  it.each([
    [RSA, undefined, "https://idp.example", "RS256"],
    [RSA, undefined, ENTRA, "PS256"],
    [RSA, ["RS256", "ES256"], "https://idp.example", "RS256"],
    [RSA, ["RS256", "PS256"], "https://idp.example", "PS256"],
    [RSA, ["ES256"], "https://idp.example", undefined],
    [RSA, [], "https://idp.example", "RS256"],
    [["ES256"] as const, undefined, "https://idp.example", "ES256"],
    [["ES256"] as const, ["RS256"], "https://idp.example", undefined],
    [["EdDSA"] as const, ["RS256", "EdDSA"], "https://idp.example", "EdDSA"],
  ])(
    "a key that can sign with %j, at a provider that accepts %j: %s gets %s",
    (ofKey, accepted, issuer, expected) => {
      expect(assertionAlgorithm(ofKey, accepted, issuer)).toBe(expected);
    },
  );

  it("a provider that accepts none of the key's algorithms is a wrong configuration", async () => {
    rig.idp.discoveryDocument = (document) => {
      document["token_endpoint_auth_signing_alg_values_supported"] = ["HS256"];
    };
    const provider = clientWith(keysOf(ec));
    expect(await rejection(rig.exchange(provider))).toBe(unavailable("client_assertion_algorithm"));
  });

  it.each([
    ["https://idp.example", null, "https://idp.example"],
    [ENTRA, null, "https://token"],
    ["https://example.okta.com/oauth2/default", null, "https://revoke"],
    ["https://okta.com.example", null, "https://okta.com.example"],
    ["https://example.okta.com", "issuer" as const, "https://example.okta.com"],
    ["https://idp.example", "endpoint" as const, "https://revoke"],
  ])("for %s with the setting %s, `aud` is %s", (issuer, clientAssertionAudience, expected) => {
    const settings = { issuer, clientAssertionAudience };
    expect(assertionAudience(settings, "https://revoke", { token_endpoint: "https://token" })).toBe(
      expected,
    );
  });
});
