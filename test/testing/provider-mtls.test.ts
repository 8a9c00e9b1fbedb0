import { createPrivateKey, X509Certificate } from "node:crypto";
import { getCACertificates } from "node:tls";
import { decodeJwt } from "jose";
import * as oauth from "oauth4webapi";
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/node/node.js";
import {
  signIn,
  startTestApi,
  startTestProvider,
  testCertificate,
  testCertificateAuthority,
  type ProviderSettings,
  type TestCertificate,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/index.js";
import {
  assuranceClient,
  dpopHandle,
  fetchWith,
  json,
  type ClientParts,
} from "./assurance-client.js";

let provider: TestProvider;
const cleanups: (() => Promise<unknown>)[] = [];

async function start(options: TestProviderOptions = {}): Promise<void> {
  provider = await startTestProvider({ tls: true, ...options });
  cleanups.push(() => provider.stop());
}

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A client with a certificate, which authenticates with it unless `auth` says otherwise. */
async function clientWith(certificate: TestCertificate | undefined, parts: ClientParts = {}) {
  const auth = oauth.TlsClientAuth();
  if (certificate === undefined) return assuranceClient(provider, { auth, ...parts });
  const sender = fetchWith(certificate);
  cleanups.push(() => sender.close());
  return assuranceClient(provider, { auth, fetch: sender.fetch, ...parts });
}

async function redeemed(certificate: TestCertificate | undefined, parts: ClientParts = {}) {
  const client = await clientWith(certificate, parts);
  return json(client.redeem(await client.code()));
}

const NAMED = { tlsClientAuth: { names: { subjectDn: "CN=test-client" } } };

describe("a client with a certificate", () => {
  it.each<[string, ProviderSettings["tlsClientAuth"], () => TestCertificate]>([
    ["a subject", { names: { subjectDn: "CN=test-client" } }, () => testCertificate()],
    [
      "a subject with several parts, in the order of RFC 4514",
      { names: { subjectDn: "CN=a\\, b,O=Example" } },
      () => testCertificate({ commonName: "a, b", organization: "Example" }),
    ],
    ["a DNS name", { names: { sanDns: "a.example" } }, () => testCertificate({ dns: "a.example" })],
    [
      "a URI",
      { names: { sanUri: "https://a.example/client" } },
      () => testCertificate({ uri: "https://a.example/client" }),
    ],
    ["an address", { names: { sanIp: "10.0.0.1" } }, () => testCertificate({ ip: "10.0.0.1" })],
    [
      "an email address",
      { names: { sanEmail: "a@example.com" } },
      () => testCertificate({ email: "a@example.com" }),
    ],
  ])("is known by %s", async (_name, tlsClientAuth, certificate) => {
    await start({ tlsClientAuth });
    expect(await redeemed(certificate())).toMatchObject({ token_type: "Bearer" });
    // The same names, but issued by nobody the provider trusts, and others.
    const wrong = [
      testCertificate({ commonName: "other", dns: "b.example", uri: "https://b.example/" }),
      testCertificate({ isSelfSigned: true }),
    ];
    for (const one of wrong) expect(await redeemed(one)).toMatchObject({ error: "invalid_client" });
    expect(provider.violations.splice(0)).toHaveLength(2);
  });

  it("is known by its self-signed certificate", async () => {
    const mine = testCertificate({ isSelfSigned: true });
    await start({ tlsClientAuth: { selfSigned: [mine.cert] } });
    const client = await clientWith(mine);
    expect(client.server.token_endpoint_auth_methods_supported).toEqual([
      "self_signed_tls_client_auth",
    ]);
    expect((await client.redeem(await client.code())).status).toBe(200);
    expect(await redeemed(testCertificate({ isSelfSigned: true }))).toMatchObject({
      error: "invalid_client",
      error_description: expect.stringContaining("isn't a registered one"),
    });
    expect(provider.violations.splice(0)).toHaveLength(1);
  });

  it.each<[string, () => TestCertificate | undefined, ClientParts, RegExp]>([
    ["without one", () => undefined, {}, /presented none/],
    [
      "whose certificate has expired",
      () => testCertificate({ until: Date.now() - 60_000 }),
      {},
      /isn't valid now/,
    ],
    ["with a secret", () => testCertificate(), { auth: oauth.ClientSecretPost("x") }, /secret/],
    [
      "with an assertion",
      () => testCertificate(),
      {
        auth: (_server, { client_id }, body) => {
          body.set("client_id", client_id);
          body.set("client_assertion", "an assertion");
        },
      },
      /contains a client_assertion/,
    ],
    [
      "with another client ID",
      () => testCertificate(),
      { auth: (_server, _client, body) => body.set("client_id", "other") },
      /client_id isn't/,
    ],
  ])("is refused %s", async (_name, certificate, parts, reason) => {
    await start(NAMED);
    expect(await redeemed(certificate(), parts)).toMatchObject({
      error: "invalid_client",
      error_description: expect.stringMatching(reason),
    });
    expect(provider.violations.splice(0)).toHaveLength(1);
  });

  it("is the only one with settings for it", async () => {
    const nameless: object = { tlsClientAuth: { names: {} } };
    await expect(startTestProvider(nameless)).rejects.toThrow("tlsClientAuth");
    await expect(startTestProvider({ mtlsAliases: true })).rejects.toThrow("tls: true");
    await start(NAMED);
    expect(provider.env.IDP_CLIENT_SECRET).toBe("");
    expect((await clientWith(undefined)).server.token_endpoint_auth_methods_supported).toEqual([
      "tls_client_auth",
    ]);
  });
});

describe("a token", () => {
  const secret = () => oauth.ClientSecretPost(provider.clientSecret);

  it("is bound to the certificate that the client presents", async () => {
    await start({ certificateBoundTokens: "supported" });
    const mine = testCertificate();
    const client = await clientWith(mine, { auth: secret() });
    expect(client.server.tls_client_certificate_bound_access_tokens).toBe(true);
    const tokens = await json(client.redeem(await client.code()));
    const accessToken = String(tokens["access_token"]);
    const cnf = { "x5t#S256": mine.thumbprint };
    expect(tokens["token_type"]).toBe("Bearer");
    expect(decodeJwt(accessToken)["cnf"]).toEqual(cnf);
    expect(provider.introspect(accessToken)).toMatchObject({ token_type: "Bearer", cnf });
    expect(provider.requestsTo("token")[0]?.certificate?.thumbprint).toBe(mine.thumbprint);
    const statuses = [
      (await client.userinfo(accessToken)).status,
      (await client.userinfo(accessToken, fetchOf(testCertificate()))).status,
      (await client.userinfo(accessToken, { fetch })).status,
    ];
    expect(statuses).toEqual([200, 401, 401]);
  });

  function fetchOf(certificate: TestCertificate): ClientParts {
    const sender = fetchWith(certificate);
    cleanups.push(() => sender.close());
    return { fetch: sender.fetch };
  }

  it("isn't bound unless the provider does it, and can have to be", async () => {
    await start();
    const unbound = await redeemed(testCertificate(), { auth: secret() });
    expect(decodeJwt(String(unbound["access_token"]))["cnf"]).toBeUndefined();
    provider.settings.certificateBoundTokens = "required";
    expect(await redeemed(undefined, { auth: secret() })).toMatchObject({
      error: "invalid_request",
    });
  });

  it("can be bound to a key besides", async () => {
    await start({ certificateBoundTokens: "supported", dpop: "required" });
    const mine = testCertificate();
    const dpop = await dpopHandle({ client_id: "test-client" });
    const tokens = await redeemed(mine, { auth: secret(), dpop });
    expect(decodeJwt(String(tokens["access_token"]))["cnf"]).toEqual({
      jkt: await dpop.calculateThumbprint(),
      "x5t#S256": mine.thumbprint,
    });
  });
});

describe("the aliases", () => {
  it("are on a port of their own, which alone asks for a certificate", async () => {
    await start({ ...NAMED, mtlsAliases: true, pushedRequests: true });
    const { server } = await clientWith(undefined);
    const alias = new URL(server.mtls_endpoint_aliases?.token_endpoint ?? "").origin;
    expect(alias).not.toBe(provider.issuer);
    expect(server.mtls_endpoint_aliases).toEqual({
      token_endpoint: `${alias}/token`,
      userinfo_endpoint: `${alias}/userinfo`,
      revocation_endpoint: `${alias}/revoke`,
      introspection_endpoint: `${alias}/introspect`,
      pushed_authorization_request_endpoint: `${alias}/par`,
    });
    expect(await redeemed(testCertificate())).toMatchObject({ token_type: "Bearer" });
    expect(provider.requestsTo("token").at(-1)?.certificate).toBeDefined();
    // The client with the certificate at the endpoint that isn't the alias.
    const mine = fetchWith(testCertificate());
    cleanups.push(() => mine.close());
    const client = await assuranceClient(provider, { auth: oauth.TlsClientAuth() });
    const refused = await client.redeem(await client.code(), { fetch: mine.fetch });
    expect(await json(refused)).toMatchObject({
      error: "invalid_client",
      error_description: expect.stringContaining("presented none"),
    });
    expect(provider.requestsTo("token").at(-1)?.certificate).toBeUndefined();
    provider.violations.length = 0;
  });

  it("are the address of their proofs", async () => {
    await start({ ...NAMED, mtlsAliases: true, dpop: "required" });
    const dpop = await dpopHandle({ client_id: "test-client" });
    expect(await redeemed(testCertificate(), { dpop })).toMatchObject({ token_type: "DPoP" });
  });

  it("stop and come back with the provider", async () => {
    await start({ ...NAMED, mtlsAliases: true });
    const client = await clientWith(testCertificate());
    const code = await client.code();
    await provider.pause();
    await expect(client.redeem(code)).rejects.toThrow();
    await provider.resume();
    expect((await client.redeem(code)).status).toBe(200);
  });
});

describe("the kit's authority", () => {
  it("is trusted by this process only while a server needs it", async () => {
    const trusts = () =>
      getCACertificates("default").some(
        (pem) => new X509Certificate(pem).subject === "CN=idpauth test kit",
      );
    expect(trusts()).toBe(false);
    await start();
    const api = await startTestApi(provider, { tls: true });
    await api.stop();
    expect(trusts()).toBe(true);
    await provider.stop();
    expect(trusts()).toBe(false);
  });

  it("issues certificates that OpenSSL's strict checks accept", () => {
    const authority = new X509Certificate(testCertificateAuthority());
    const { cert, key } = testCertificate({ dns: "a.example" });
    const certificate = new X509Certificate(cert);
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkIssued(authority)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect([authority.ca, certificate.ca]).toEqual([true, false]);
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  });

  it("lets an application sign in at a provider with TLS", async () => {
    await start();
    expect(new URL(provider.issuer).protocol).toBe("https:");
    const auth = idpAuth({ env: provider.env, clock: provider.clock, log: false });
    const listener = auth.listener((_request, response) => {
      response.end();
    });
    const user = await signIn(listener, { email: "ada@example.com" });
    await user.close();
    expect(provider.requestsTo("token")).toHaveLength(1);
  });
});
