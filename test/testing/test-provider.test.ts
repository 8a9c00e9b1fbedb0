import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, jwtVerify, decodeJwt, decodeProtectedHeader } from "jose";
import * as client from "openid-client";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  startTestProvider,
  type Endpoint,
  type Fault,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import { idpAuth } from "../../src/adapters/fetch/fetch.js";
import { memoryStore, type ConfigurationError, type IdpAuthOptions } from "../../src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { PATIENCE } from "../support/eventually.js";

const REDIRECT_URI = "http://127.0.0.1:1/callback";

let provider: TestProvider;

async function start(options?: TestProviderOptions): Promise<TestProvider> {
  provider = await startTestProvider(options);
  return provider;
}

afterEach(async () => {
  await provider.stop();
});

/** The certified client, set up as an application would. */
async function discover(
  auth: (secret: string) => client.ClientAuth = client.ClientSecretPost,
): Promise<client.Configuration> {
  const config = await client.discovery(
    new URL(provider.issuer),
    provider.clientId,
    {},
    auth(provider.clientSecret),
    {
      execute: [client.allowInsecureRequests],
    },
  );
  client.enableNonRepudiationChecks(config);
  return config;
}

async function signIn(
  config: client.Configuration,
  options: { person?: Record<string, unknown>; parameters?: Record<string, string> } = {},
) {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const nonce = client.randomNonce();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: "openid email profile offline_access",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
    ...options.parameters,
  });
  const callback = new URL(await provider.signInCode(url, options.person));
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce };
  return {
    callback,
    checks,
    exchange: () => client.authorizationCodeGrant(config, callback, checks),
  };
}

/** A token request by hand, for what no client library would send. */
function post(
  endpoint: "token" | "revoke",
  body: string | Record<string, string>,
  headers: Record<string, string> = {},
  query = "",
): Promise<Response> {
  return fetch(`${provider.issuer}/${endpoint}${query}`, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: typeof body === "string" ? body : new URLSearchParams(body).toString(),
  });
}

function credentials(): { client_id: string; client_secret: string } {
  return { client_id: provider.clientId, client_secret: provider.clientSecret };
}

async function errorIn(response: Response): Promise<string | undefined> {
  return ((await response.json()) as { error?: string }).error;
}

describe("a sign-in by the certified client", () => {
  it.each([
    ["client_secret_post", client.ClientSecretPost],
    ["client_secret_basic", client.ClientSecretBasic],
  ] as const)("gives verified claims, userinfo and tokens with %s", async (method, auth) => {
    await start({ tokenEndpointAuthMethods: [method] });
    const config = await discover(auth);
    const tokens = await (await signIn(config)).exchange();
    const claims = tokens.claims()!;
    expect(claims).toMatchObject({
      iss: provider.issuer,
      aud: provider.clientId,
      sub: "ada-1815",
      email: "ada@example.com",
      name: "Ada Lovelace",
    });
    expect(claims.exp - claims.iat).toBe(3600);
    const userinfo = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
    expect(userinfo.email).toBe("ada@example.com");
    expect(provider.requests.map(({ endpoint }) => endpoint)).toEqual([
      "discovery",
      "authorize",
      "token",
      "jwks",
      "userinfo",
    ]);
    expect(provider.requestsTo("token")[0]?.params.get("redirect_uri")).toBe(REDIRECT_URI);
  });

  it("signs in the user that is set, hinted at, or named for this once", async () => {
    await start({ people: [{ email: "ada@example.com" }, { email: "grace@example.com" }] });
    const config = await discover();
    const emailOf = async (options?: Parameters<typeof signIn>[1]) =>
      (await (await signIn(config, options)).exchange()).claims()?.["email"];
    expect(await emailOf()).toBe("ada@example.com");
    expect(await emailOf({ parameters: { login_hint: "grace@example.com" } })).toBe(
      "grace@example.com",
    );
    expect(await emailOf({ person: { email: "émile@example.com" } })).toBe("émile@example.com");
    provider.person = { email: "joan@example.com" };
    expect(await emailOf()).toBe("joan@example.com");
  });

  it("gives the same user the same subject, and another user another", async () => {
    await start();
    const config = await discover();
    const subjectOf = async (email: string) =>
      (await (await signIn(config, { person: { email } })).exchange()).claims()?.sub;
    expect(await subjectOf("a@example.com")).toBe(await subjectOf("a@example.com"));
    expect(await subjectOf("a@example.com")).not.toBe(await subjectOf("b@example.com"));
  });

  it.each(["/tenant", "/"])("works under an issuer with the path %s", async (issuerPath) => {
    await start({ issuerPath });
    expect((await (await signIn(await discover())).exchange()).claims()?.iss).toBe(provider.issuer);
    expect(provider.issuer).toMatch(new RegExp(`:\\d+${issuerPath}$`));
  });

  it("puts only the subject into the ID token if set so", async () => {
    await start({ claimsInIdToken: false });
    const config = await discover();
    const tokens = await (await signIn(config)).exchange();
    expect(tokens.claims()).not.toHaveProperty("email");
    expect(await client.fetchUserInfo(config, tokens.access_token, "ada-1815")).toHaveProperty(
      "email",
    );
  });
});

describe("what the provider refuses", () => {
  it.each<[string, (params: URLSearchParams) => void]>([
    [
      "another verifier",
      (params) => params.set("code_verifier", "another-verifier-".padEnd(43, "w")),
    ],
    ["no verifier", (params) => params.delete("code_verifier")],
    ["another redirect_uri", (params) => params.set("redirect_uri", `${REDIRECT_URI}/`)],
    ["no redirect_uri", (params) => params.delete("redirect_uri")],
    ["another code", (params) => params.set("code", "code_x")],
  ])("an exchange with %s, and the code that was tried is spent", async (_name, change) => {
    await start();
    const { callback, checks } = await signIn(await discover());
    const right = new URLSearchParams({
      ...credentials(),
      grant_type: "authorization_code",
      code: callback.searchParams.get("code")!,
      redirect_uri: REDIRECT_URI,
      code_verifier: checks.pkceCodeVerifier,
    });
    const wrong = new URLSearchParams(right);
    change(wrong);
    const refused = await post("token", wrong.toString());
    expect([refused.status, await errorIn(refused)]).toEqual([400, "invalid_grant"]);
    const sameCode = wrong.get("code") === right.get("code");
    expect((await post("token", right.toString())).status).toBe(sameCode ? 400 : 200);
  });

  it("an access token is for what its refresh named, and a scope comes back", async () => {
    await start();
    const tokens = await (await signIn(await discover())).exchange();
    expect(provider.targetOf(tokens.access_token)).toEqual({});
    const target = { resource: "https://orders.example.com", scope: "orders.read" };
    const grant = { grant_type: "refresh_token", refresh_token: tokens.refresh_token! };
    const reply = (await (
      await post("token", { ...credentials(), ...grant, ...target })
    ).json()) as {
      access_token: string;
      scope: string;
    };
    expect(reply.scope).toBe("orders.read");
    expect(provider.targetOf(reply.access_token)).toEqual(target);
    expect(provider.targetOf("unknown")).toBeUndefined();
  });

  it("a code that comes back, and revokes what it gave", async () => {
    await start();
    const { exchange } = await signIn(await discover());
    const tokens = await exchange();
    expect(provider.isActive(tokens.refresh_token!)).toBe(true);
    await expect(exchange()).rejects.toMatchObject({ error: "invalid_grant" });
    expect(provider.isActive(tokens.refresh_token!)).toBe(false);
  });

  it("a wrong client secret, in either form", async () => {
    await start();
    expect(
      (await post("token", { ...credentials(), client_secret: "no", grant_type: "refresh_token" }))
        .status,
    ).toBe(401);
    const basic = (id: string, secret: string) => ({
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
    });
    // Not percent-encoded, although the secret needs it.
    expect(
      (
        await post(
          "token",
          { grant_type: "refresh_token" },
          basic(provider.clientId, provider.clientSecret),
        )
      ).status,
    ).toBe(401);
    expect(provider.violations.splice(0)).toEqual([
      "token: invalid_client: the client secret is wrong",
      "token: invalid_client: the Authorization header isn't Basic credentials whose parts are percent-encoded",
    ]);
    const encoded = encodeURIComponent(provider.clientSecret);
    const known = await post(
      "token",
      { grant_type: "refresh_token", refresh_token: "rt_x" },
      basic(provider.clientId, encoded),
    );
    expect(await errorIn(known)).toBe("invalid_grant");
  });

  it("an authorization request without S256, by an error response that carries state and iss", async () => {
    await start();
    const url = new URL(`${provider.issuer}/authorize`);
    const parameters = {
      client_id: provider.clientId,
      redirect_uri: REDIRECT_URI,
      response_type: "code",
      scope: "openid",
      state: "s1",
      code_challenge: "x",
    };
    url.search = new URLSearchParams(parameters).toString();
    const callback = new URL(await provider.signInCode(url));
    expect(Object.fromEntries(callback.searchParams)).toMatchObject({
      error: "invalid_request",
      state: "s1",
      iss: provider.issuer,
    });
    url.searchParams.set("client_id", "stranger");
    await expect(provider.signInCode(url)).rejects.toThrow("unknown client_id");
    await expect(
      provider.signInCode("https://login.example/authorize?state=s2", { email: "ada@example.com" }),
    ).rejects.toThrow(
      /^the application redirected to https:\/\/login\.example instead of to this provider$/,
    );
  });
});

describe("refresh tokens", () => {
  async function refreshed(options?: TestProviderOptions) {
    await start(options);
    const config = await discover();
    const first = await (await signIn(config)).exchange();
    return { config, first, refresh: (token: string) => client.refreshTokenGrant(config, token) };
  }

  it("rotate, and the fresh ID token is about the same user without a nonce", async () => {
    const { first, refresh } = await refreshed();
    const second = await refresh(first.refresh_token!);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(second.claims()).toMatchObject({ sub: first.claims()!.sub, iss: provider.issuer });
    expect(second.claims()).not.toHaveProperty("nonce");
    expect((await refresh(second.refresh_token!)).refresh_token).toBeDefined();
  });

  it("revoke the whole family when a spent one comes back", async () => {
    const { first, refresh } = await refreshed();
    const second = await refresh(first.refresh_token!);
    await expect(refresh(first.refresh_token!)).rejects.toMatchObject({ error: "invalid_grant" });
    expect(provider.reuses).toBe(1);
    expect(provider.isActive(second.access_token)).toBe(false);
    await expect(refresh(second.refresh_token!)).rejects.toMatchObject({ error: "invalid_grant" });
  });

  it("leave the family alone without reuse detection", async () => {
    const { first, refresh } = await refreshed({ reuseDetection: false });
    const second = await refresh(first.refresh_token!);
    await expect(refresh(first.refresh_token!)).rejects.toMatchObject({ error: "invalid_grant" });
    expect((await refresh(second.refresh_token!)).access_token).toBeDefined();
    expect(provider.reuses).toBe(0);
  });

  it("may come back within the grace that is set", async () => {
    const clock = new TestClock(Date.now());
    const { first, refresh } = await refreshed({ reuseGraceSeconds: 10, clock });
    await refresh(first.refresh_token!);
    clock.advance(9_999);
    await refresh(first.refresh_token!);
    clock.advance(1);
    await expect(refresh(first.refresh_token!)).rejects.toMatchObject({ error: "invalid_grant" });
  });

  it("stay the same, and are not sent again, without rotation", async () => {
    const { first, refresh } = await refreshed({ rotation: false });
    expect((await refresh(first.refresh_token!)).refresh_token).toBeUndefined();
    expect((await refresh(first.refresh_token!)).access_token).toBeDefined();
  });

  it.each([
    [true, "openid", true],
    [false, "openid offline_access", false],
    ["offline_access", "openid", false],
    ["offline_access", "openid offline_access", true],
  ] as const)(
    "with issueRefreshToken %s and the scopes %s: %s",
    async (issueRefreshToken, scope, given) => {
      await start({ issueRefreshToken });
      const tokens = await (await signIn(await discover(), { parameters: { scope } })).exchange();
      expect(tokens.refresh_token !== undefined).toBe(given);
    },
  );

  it("fall with their access tokens when they are revoked; an access token falls alone", async () => {
    const { config, first } = await refreshed();
    await client.tokenRevocation(config, first.access_token);
    expect([
      provider.isActive(first.access_token),
      provider.isActive(first.refresh_token!),
    ]).toEqual([false, true]);
    const { refresh_token, access_token } = await client.refreshTokenGrant(
      config,
      first.refresh_token!,
    );
    await client.tokenRevocation(config, refresh_token!, { token_type_hint: "refresh_token" });
    expect([provider.isActive(access_token), provider.isActive(refresh_token!)]).toEqual([
      false,
      false,
    ]);
    await client.tokenRevocation(config, "never issued");
    expect(provider.requestsTo("revoke", { token_type_hint: "refresh_token" })).toHaveLength(1);
  });
});

describe("time", () => {
  it("is the clock's: it dates ID tokens and ends codes and access tokens", async () => {
    const clock = new TestClock(Date.now());
    await start({ clock, idTokenSeconds: 1, accessTokenSeconds: 2 });
    const config = await discover();
    const tokens = await (await signIn(config)).exchange();
    const claims = tokens.claims()!;
    expect([claims.iat, claims.exp - claims.iat]).toEqual([Math.floor(clock.now() / 1000), 1]);
    clock.advance(1_999);
    expect(provider.isActive(tokens.access_token)).toBe(true);
    clock.advance(1);
    await expect(client.fetchUserInfo(config, tokens.access_token, claims.sub)).rejects.toThrow();
    const late = await signIn(config);
    clock.advance(60_000);
    await expect(late.exchange()).rejects.toMatchObject({ error: "invalid_grant" });
  });

  it("is the system's without a clock, and can be moved on", async () => {
    await start();
    const [before, now, after] = [Date.now(), provider.clock.now(), Date.now()];
    expect([before <= now, now <= after]).toEqual([true, true]);
    const tokens = await (await signIn(await discover())).exchange();
    provider.clock.advance(3_599_000);
    expect(provider.isActive(tokens.access_token)).toBe(true);
    provider.clock.advance(1_000);
    expect(provider.isActive(tokens.access_token)).toBe(false);
  });
});

describe("what a client is set up with", () => {
  it("provider.env is all that idpauth needs", async () => {
    await start();
    expect(idpAuth({ env: provider.env, log: false }).start()).toEqual([]);
    expect(provider.env).toMatchObject({
      IDP_ISSUER: provider.issuer,
      SCOPE: "openid email profile offline_access",
    });
  });

  it("and wins over what a test runner or a developer has put into the environment", async () => {
    await start();
    const codes = (env: Record<string, string>) => {
      // With the test's own key, idpauth says nothing about BASE_URL.
      const secretKey = "a key of an application, not of a test";
      return idpAuth({ env, secretKey, log: false })
        .start()
        .map(({ code }) => code);
    };
    expect(codes({ ...provider.env, BASE_URL: "/" })).toEqual(["W001", "W005"]);
    expect(codes({ ...provider.env, BASE_URL: "https://app.example" })).toEqual(["W005"]);
    const env = { BASE_URL: "https://app.example", IDP_DEBUG: "on", SCOPE: "email" };
    expect(codes(Object.assign(env, provider.env))).toEqual(["W001", "W005"]);
  });

  it("follows the settings", async () => {
    await start();
    provider.settings.clientId = "another";
    expect(provider.env.IDP_CLIENT_ID).toBe("another");
  });
});

it("each response names the test provider, under every fault", async () => {
  await start();
  const from = async (path: string) =>
    (await fetch(`${provider.issuer}${path}`, { redirect: "manual" })).headers.get("server");
  const responses = [
    await from("/jwks"),
    await from("/unknown"),
    await from("/token"),
    await from("/authorize"),
  ];
  for (const kind of [
    "status",
    "garbage",
    "oversized",
    "redirect",
    "wrong-type",
    "drip",
    "truncated",
  ] as const) {
    provider.fault("jwks", { kind, times: 1 });
    responses.push(await from("/jwks"));
  }
  provider.clearFaults();
  expect(new Set(responses)).toEqual(new Set(["idpauth-test-provider"]));
  expect(responses).toHaveLength(11);
});

it("stops where its scope ends", async () => {
  await start();
  await provider[Symbol.asyncDispose]();
  await expect(fetch(`${provider.issuer}/jwks`)).rejects.toMatchObject({
    cause: { code: "ECONNREFUSED" },
  });
});

describe("[START-2] the SECRET_KEY of provider.env, which is published", () => {
  const codesWith = (options: IdpAuthOptions) => {
    try {
      return idpAuth({
        env: provider.env,
        log: false,
        baseUrl: "https://app.example",
        store: memoryStore(),
        ...options,
      })
        .start()
        .map(({ code }) => code);
    } catch (error) {
      return (error as ConfigurationError).findings.map(({ code }) => code);
    }
  };

  it("is E013 where the provider is not on this machine", async () => {
    const { SECRET_KEY } = (await start()).env;
    for (const issuer of ["https://id.example", "https://127.0.0.1.id.example"]) {
      expect(codesWith({ issuer })).toEqual(["E013"]);
      expect(
        codesWith({
          issuer,
          secretKey: "another-key-with-at-least-32-bytes",
          secretKeyFallbacks: [SECRET_KEY],
        }),
      ).toEqual(["E013"]);
    }
  });

  it("is accepted where the provider is on loopback", async () => {
    const { SECRET_KEY } = (await start()).env;
    for (const issuer of [provider.issuer, "http://localhost:9400/realms/x", "http://[::1]:9400"]) {
      expect(codesWith({ issuer, secretKeyFallbacks: [SECRET_KEY] })).toEqual([]);
    }
  });

  it("is no further error where the issuer is refused", async () => {
    await start();
    expect(codesWith({ issuer: "localhost" })).toEqual(["E006"]);
  });
});

describe("signing keys", () => {
  /** A fresh ID token, and whether it verifies with what is published now. */
  async function verified(): Promise<boolean> {
    const { callback, checks } = await signIn(await discover());
    const response = await post("token", {
      ...credentials(),
      grant_type: "authorization_code",
      code: callback.searchParams.get("code")!,
      redirect_uri: REDIRECT_URI,
      code_verifier: checks.pkceCodeVerifier,
    });
    const { id_token } = (await response.json()) as { id_token: string };
    return verifies(id_token);
  }

  function verifies(idToken: string): Promise<boolean> {
    const keys = createRemoteJWKSet(new URL(`${provider.issuer}/jwks`));
    return jwtVerify(idToken, keys, {
      issuer: provider.issuer,
      audience: provider.clientId,
      algorithms: ["RS256"],
    }).then(
      () => true,
      () => false,
    );
  }

  async function idToken(): Promise<string> {
    const tokens = await (await signIn(await discover())).exchange();
    return tokens.id_token!;
  }

  it("rotate: the new key signs at once, and the old one stays published only if kept", async () => {
    await start();
    const before = await idToken();
    await provider.rotateKeys();
    const between = await idToken();
    expect(decodeProtectedHeader(between).kid).not.toBe(decodeProtectedHeader(before).kid);
    expect([await verifies(before), await verifies(between)]).toEqual([true, true]);
    await provider.rotateKeys({ keepOld: false });
    expect([await verifies(before), await verifies(await idToken())]).toEqual([false, true]);
  });

  it("can take an old kid for a new key", async () => {
    await start();
    const before = await idToken();
    await provider.rotateKeys({ keepOld: false, kid: decodeProtectedHeader(before).kid! });
    expect([await verifies(before), await verified()]).toEqual([false, true]);
  });

  it.each<[string, (jwks: TestProvider["jwks"]) => void | Promise<void>, boolean]>([
    ["several keys", (jwks) => jwks.publishSeveral(2), true],
    ["one key without kid", (jwks) => jwks.publishWithoutKid(), true],
    ["no key", (jwks) => jwks.publishEmpty(), false],
    ["garbage", (jwks) => jwks.publishGarbage(), false],
    [
      "a document of the test's own",
      (jwks) => jwks.publish({ keys: [{ kty: "PQ" }, ...jwks.document().keys] }),
      true,
    ],
  ])("published as %s", async (_name, publish, verifiable) => {
    await start();
    await publish(provider.jwks);
    expect(await verified()).toBe(verifiable);
    provider.jwks.reset();
    expect(await verified()).toBe(true);
  });

  it.each<[string, NonNullable<TestProvider["mutateIdToken"]>]>([
    ["alg none", ({ header, claims, sign }) => sign({ ...header, alg: "none" }, claims)],
    [
      "HS256 keyed with the public key",
      ({ header, claims, sign, publicKeyPem }) =>
        sign({ ...header, alg: "HS256" }, claims, Buffer.from(publicKeyPem)),
    ],
    ["PS256", ({ header, claims }) => ({ header: { ...header, alg: "PS256" }, claims })],
    ["a truncated signature", ({ header, claims, sign }) => sign(header, claims).slice(0, -8)],
    ["another audience", ({ claims }) => ({ claims: { ...claims, aud: "other" } })],
    ["an unknown kid", ({ header }) => ({ header: { ...header, kid: "unknown" } })],
    ["claims that are no object", () => ({ claims: "[1]" })],
    ["no token at all", () => ""],
  ])("an ID token made to have %s does not verify", async (_name, mutate) => {
    await start();
    provider.mutateIdToken = mutate;
    expect(await verified()).toBe(false);
    provider.mutateIdToken = undefined;
    expect(await verified()).toBe(true);
  });

  it("an ID token whose claims are changed in place is signed as usual", async () => {
    await start();
    provider.mutateIdToken = (draft) => {
      draft.claims["hd"] = draft.grant;
      return draft;
    };
    const token = await idToken();
    expect([decodeJwt(token)["hd"], await verifies(token)]).toEqual(["authorization_code", true]);
  });
});

describe("responses that a test changes", () => {
  it("token response, authorization response, discovery document and userinfo", async () => {
    await start({ announceIss: false });
    const config = await discover();
    provider.tokenResponse = (response, { params }) => {
      delete response["refresh_token"];
      response["asked_for"] = params.get("grant_type");
    };
    const tokens = await (await signIn(config)).exchange();
    expect(tokens.refresh_token).toBeUndefined();
    expect(tokens["asked_for"]).toBe("authorization_code");

    provider.authorizationResponse = (params) => params.set("iss", "https://evil.example");
    expect((await signIn(config)).callback.searchParams.get("iss")).toBe("https://evil.example");
    provider.authorizationResponse = undefined;

    provider.tokenResponse = ({ id_token: _left, ...response }) => response;
    await expect((await signIn(config)).exchange()).rejects.toMatchObject({
      cause: { message: expect.stringContaining("id_token") },
    });

    provider.discoveryDocument = (document) => ({ ...document, issuer: "https://evil.example" });
    await expect(discover()).rejects.toThrow();

    provider.userinfoResponse = () => ({ sub: "someone else" });
    await expect(client.fetchUserInfo(config, tokens.access_token, "ada-1815")).rejects.toThrow();
  });

  it("responses may be any JSON, not only objects", async () => {
    await start();
    const config = await discover();
    for (const value of [null, [], 7, "text"]) {
      provider.tokenResponse = () => value;
      await expect((await signIn(config)).exchange()).rejects.toThrow();
    }
  });
});

describe("idle connections", () => {
  it("stay open until the client closes them, so no response advertises a timeout", async () => {
    const { issuer } = await start();
    const { headers } = await fetch(`${issuer}/jwks`);
    expect(headers.get("connection")).toBe("keep-alive");
    expect(headers.get("keep-alive")).toBeNull();
  });
});

describe("faults", () => {
  let other: Server | undefined;
  afterEach(() => {
    other?.closeAllConnections();
    other?.close();
    other = undefined;
  });

  const jwks = (init: RequestInit = {}) =>
    fetch(`${provider.issuer}/jwks`, { redirect: "manual", ...init });

  it("status: with body and headers, as often as was said, then as before", async () => {
    await start();
    provider.fault("jwks", {
      kind: "status",
      status: 503,
      headers: { "Retry-After": "7" },
      body: { error: "busy" },
      times: 2,
    });
    for (let round = 0; round < 2; round += 1) {
      const response = await jwks();
      expect([response.status, response.headers.get("retry-after"), await response.json()]).toEqual(
        [503, "7", { error: "busy" }],
      );
    }
    expect((await jwks()).status).toBe(200);
  });

  it("several at one endpoint are a script; one without an end stays until it is removed", async () => {
    await start();
    provider.fault("jwks", { kind: "status", status: 500, times: 1 });
    const withdraw = provider.fault("jwks", { kind: "status", status: 502 });
    const statuses = async () => [(await jwks()).status, (await jwks()).status];
    expect(await statuses()).toEqual([500, 502]);
    expect(await statuses()).toEqual([502, 502]);
    withdraw();
    expect(await statuses()).toEqual([200, 200]);
  });

  it("strike only at their own endpoint, and only requests that they choose", async () => {
    await start();
    const config = await discover();
    provider.fault("token", {
      kind: "status",
      status: 429,
      when: ({ params }) => params.get("grant_type") === "refresh_token",
    });
    const tokens = await (await signIn(config)).exchange();
    await expect(client.refreshTokenGrant(config, tokens.refresh_token!)).rejects.toThrow();
  });

  it.each([
    [true, true],
    [false, false],
  ])(
    "a token endpoint that fails with before: %s leaves the refresh token usable: %s",
    async (before, usable) => {
      await start();
      const config = await discover();
      const tokens = await (await signIn(config)).exchange();
      provider.fault("token", { kind: "reset", before });
      await expect(client.refreshTokenGrant(config, tokens.refresh_token!)).rejects.toThrow();
      provider.clearFaults();
      expect(provider.isActive(tokens.refresh_token!)).toBe(usable);
    },
  );

  it.each<[string, Fault]>([
    ["reset", { kind: "reset" }],
    ["truncated", { kind: "truncated" }],
    ["truncated", { kind: "truncated", bytes: 1 }],
    ["garbage", { kind: "garbage" }],
  ])("%s: no JSON can be read", async (_name, fault) => {
    await start();
    provider.fault("jwks", fault);
    await expect(jwks().then((response) => response.json())).rejects.toThrow();
  });

  it("truncated: the status and a part of the body did come", async () => {
    await start();
    provider.fault("jwks", { kind: "truncated", bytes: 5 });
    const response = await jwks();
    expect(response.status).toBe(200);
    const first = await response.body!.getReader().read();
    expect(Buffer.from(first.value).toString()).toBe('{"key');
  });

  it("wrong-type: the real response under another media type", async () => {
    await start();
    provider.fault("jwks", { kind: "wrong-type" });
    const response = await jwks();
    expect(response.headers.get("content-type")).toBe("text/html");
    expect(await response.json()).toEqual(provider.jwks.document());
  });

  it("oversized: well-formed, the real response within when the work was done", async () => {
    await start();
    provider.fault("jwks", { kind: "oversized", bytes: 3_000_000, before: false });
    const text = await (await jwks()).text();
    expect(text).toHaveLength(3_000_000);
    expect(JSON.parse(text)).toMatchObject(provider.jwks.document());
  });

  it("oversized without end: streams until the client leaves", async () => {
    await start();
    provider.fault("jwks", { kind: "oversized", bytes: Infinity });
    const reader: ReadableStreamDefaultReader<Uint8Array> = (await jwks()).body!.getReader();
    let size = 0;
    while (size < 5_000_000) size += (await reader.read()).value!.length;
    await reader.cancel();
  });

  it("redirect: the status and target that were said, and no request follows it", async () => {
    await start();
    let visits = 0;
    other = createServer((_request, response) => {
      visits += 1;
      response.end();
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    provider.fault("token", { kind: "redirect", status: 307, location });
    const response = await post("token", credentials());
    expect([response.status, response.headers.get("location"), visits]).toEqual([307, location, 0]);
  });

  it("hang: never a response; clearing the faults cuts it off", async () => {
    await start();
    provider.fault("jwks", { kind: "hang" });
    const response = jwks();
    const failed = expect(response).rejects.toThrow();
    await vi.waitUntil(() => provider.requestsTo("jwks").length === 1);
    expect(
      await Promise.race([response.catch(() => "cut off"), turns(20).then(() => "waiting")]),
    ).toBe("waiting");
    provider.clearFaults();
    await failed;
  });

  it("delay and drip: by the provider's clock", async () => {
    const clock = new TestClock(Date.now());
    await start({ clock });
    provider.fault("jwks", { kind: "delay", ms: 60_000, times: 1 });
    const delayed = jwks();
    await vi.waitUntil(() => clock.pendingTimers === 1);
    clock.advance(59_999);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1);
    expect((await delayed).status).toBe(200);

    // After the work: what was revoked stays revoked, however long the response takes.
    provider.fault("revoke", { kind: "delay", ms: 60_000, before: false, times: 1 });
    const tokens = await (await signIn(await discover())).exchange();
    const revoking = post("revoke", { ...credentials(), token: tokens.access_token });
    await vi.waitUntil(() => clock.pendingTimers === 1);
    expect(provider.isActive(tokens.access_token)).toBe(false);
    clock.advance(60_000);
    expect((await revoking).status).toBe(200);

    provider.fault("jwks", { kind: "drip", body: "[1]", ms: 1_000 });
    const dripping = await jwks();
    const reader = dripping.body!.getReader();
    for (const byte of "[1]") {
      await vi.waitUntil(() => clock.pendingTimers === 1);
      clock.advance(1_000);
      expect(Buffer.from((await reader.read()).value).toString()).toBe(byte);
    }
    expect((await reader.read()).done).toBe(true);
  });

  it("a paused provider refuses connections, and comes back at the same address", async () => {
    await start();
    await provider.pause();
    await expect(jwks()).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
    await provider.resume();
    expect((await jwks()).status).toBe(200);
  });
});

describe("barriers", () => {
  it.each([
    [true, true],
    [false, false],
  ])(
    "a request held with before: %s has left the refresh token usable: %s",
    async (before, usable) => {
      await start();
      const config = await discover();
      const tokens = await (await signIn(config)).exchange();
      const hold = provider.hold("token", { before });
      const refreshing = client.refreshTokenGrant(config, tokens.refresh_token!);
      await hold.arrived;
      expect(hold.held).toBe(1);
      expect(provider.isActive(tokens.refresh_token!)).toBe(usable);
      hold.release();
      expect((await refreshing).refresh_token).toBeDefined();
      expect(hold.held).toBe(0);
    },
  );

  it("hold as many as was said, wait for as many as was said, and are gone after the release", async () => {
    await start();
    const ask = () => fetch(`${provider.issuer}/jwks`).then(({ status }) => status);
    const hold = provider.hold("jwks", { times: 2, count: 2 });
    const held = [ask(), ask()];
    await hold.arrived;
    expect(await ask()).toBe(200);
    expect(hold.held).toBe(2);
    hold.release();
    expect(await Promise.all(held)).toEqual([200, 200]);
    expect(await ask()).toBe(200);
  });

  it("are released when the provider stops", async () => {
    await start();
    const hold = provider.hold("jwks");
    const response = expect(fetch(`${provider.issuer}/jwks`)).rejects.toThrow();
    await hold.arrived;
    await provider.stop();
    await response;
  });
});

describe("violations", () => {
  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      "an access token in a URL",
      () => fetch(`${provider.issuer}/userinfo?access_token=x`),
      /access_token in the URL/,
    ],
    [
      "a refresh token in a URL",
      () => post("token", credentials(), {}, "?refresh_token=x"),
      /refresh_token in the URL/,
    ],
    [
      "a parameter twice",
      () => post("token", "grant_type=a&grant_type=a"),
      /grant_type more than once in the body/,
    ],
    [
      "two authentication methods",
      () => post("token", credentials(), { authorization: "Basic eDp5" }),
      /two client authentication methods/,
    ],
    [
      "a token in the URL of a path that is not there",
      () => fetch(`${provider.issuer}/elsewhere?refresh_token=x`),
      /refresh_token in the URL/,
    ],
  ])("%s: is recorded, refused, and fails the stop", async (_name, offend, message) => {
    await start();
    const response = (await offend()) as Response;
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(provider.violations.join("\n")).toMatch(message);
    await expect(provider.stop()).rejects.toThrow(message);
    provider.violations.length = 0;
  });

  it("several resources of one request are none (RFC 8707)", async () => {
    await start();
    await fetch(`${provider.issuer}/authorize?resource=urn:a&resource=urn:b`, {
      redirect: "manual",
    });
    expect(provider.violations).toEqual([]);
  });

  it("a hook that throws is one too", async () => {
    await start();
    provider.discoveryDocument = () => {
      throw new Error("mistake in the test");
    };
    expect((await fetch(`${provider.issuer}/.well-known/openid-configuration`)).status).toBe(500);
    expect(provider.violations).toEqual(["the provider failed: Error: mistake in the test"]);
    provider.violations.length = 0;
  });
});

describe("what was handed out", () => {
  it("is on record, every code and token", async () => {
    await start();
    const config = await discover();
    const { callback, exchange } = await signIn(config);
    const first = await exchange();
    const second = await client.refreshTokenGrant(config, first.refresh_token!);
    const values = [
      callback.searchParams.get("code"),
      first.access_token,
      first.refresh_token,
      first.id_token,
      second.access_token,
      second.refresh_token,
      second.id_token,
    ];
    expect(new Set(provider.issued.map(({ value }) => value))).toEqual(new Set(values));
  });

  it("is refused from the moment that everything is revoked", async () => {
    await start();
    const config = await discover();
    const tokens = await (await signIn(config)).exchange();
    provider.revokeAll();
    await expect(client.refreshTokenGrant(config, tokens.refresh_token!)).rejects.toMatchObject({
      error: "invalid_grant",
    });
    expect((await (await signIn(config)).exchange()).access_token).toBeDefined();
  });
});

it.each([
  "discovery",
  "jwks",
  "token",
  "revoke",
  "introspect",
  "userinfo",
  "authorize",
] satisfies Endpoint[])("a request to %s is recorded with all it carried", async (endpoint) => {
  await start();
  const document = (await (
    await fetch(`${provider.issuer}/.well-known/openid-configuration`)
  ).json()) as Record<string, unknown>;
  provider.requests.length = 0;
  const key = {
    discovery: "",
    jwks: "jwks_uri",
    token: "token_endpoint",
    revoke: "revocation_endpoint",
    introspect: "introspection_endpoint",
    userinfo: "userinfo_endpoint",
    authorize: "authorization_endpoint",
  };
  const url =
    endpoint === "discovery"
      ? `${provider.issuer}/.well-known/openid-configuration`
      : String(document[key[endpoint]]);
  await fetch(url, {
    method: "POST",
    headers: { "x-test": "1" },
    body: new URLSearchParams({ a: "b" }),
  });
  const request = provider.requestsTo(endpoint, { a: "b" })[0]!;
  expect(request).toMatchObject({
    endpoint,
    method: "POST",
    url: new URL(url).pathname,
    body: "a=b",
  });
  expect(request.headers["x-test"]).toBe("1");
  // The request is for no client.
  provider.violations.length = 0;
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("a slip that JavaScript lets through", () => {
  it.each<[string, (provider: TestProvider) => unknown, string]>([
    [
      "an endpoint",
      (provider) => provider.fault("tokens" as never, { kind: "hang" }),
      'There is no endpoint "tokens". The endpoints are discovery',
    ],
    [
      "an endpoint of a barrier",
      (provider) => provider.hold("login" as never),
      'There is no endpoint "login"',
    ],
    [
      "a fault",
      (provider) => provider.fault("token", { kind: "timeout" } as never),
      'no fault of the kind "timeout". The kinds are status, hang',
    ],
    [
      "a fault without a kind",
      (provider) => provider.fault("token", undefined as never),
      "no fault of the kind undefined",
    ],
    [
      "time as text",
      (provider) => provider.clock.advance("3600" as never),
      "a number of milliseconds",
    ],
  ])("%s is reported at once", async (_name, act, message) => {
    const provider = await startTestProvider();
    expect(() => act(provider)).toThrow(message);
    await provider.stop();
  });

  it("an option is reported before anything listens", async () => {
    await expect(startTestProvider({ idTokenSecond: 3 } as never)).rejects.toThrow(
      'has no option "idTokenSecond". Its options are clientId',
    );
  });

  it("a property that the fault does not have", async () => {
    await start();
    expect(() => provider.fault("token", { kind: "status", stauts: 503 } as never)).toThrow(
      'has no "stauts"; it has kind,',
    );
  });

  it.each<[string, object]>([
    ["status", { kind: "status", status: "500" }],
    ["status", { kind: "redirect", status: 1000 }],
    ["ms", { kind: "delay", ms: -3 }],
    ["ms", { kind: "drip", ms: Number.NaN }],
    ["bytes", { kind: "oversized", bytes: "1000" }],
    ["body", { kind: "garbage", body: { a: 1 } }],
    ["headers", { kind: "wrong-type", headers: "text/plain" }],
    ["times", { kind: "hang", times: 0 }],
    ["times", { kind: "hang", times: "1" }],
    ["before", { kind: "hang", before: "false" }],
    ["when", { kind: "hang", when: true }],
  ])("the %s of a fault that is none: %o", async (name, fault) => {
    await start();
    expect(() => provider.fault("token", fault as never)).toThrow(
      `A fault of the kind "${(fault as Fault).kind}": \`${name}\` must be `,
    );
    expect(() => provider.fault("token", { kind: "hang", times: 2, before: false })).not.toThrow();
  });

  it("what a barrier does not have", async () => {
    await start();
    expect(() => provider.hold("token", { time: 1 } as never)).toThrow(
      'A barrier has no "time"; it has before, times, count, when.',
    );
    expect(() => provider.hold("token", { count: "2" } as never)).toThrow(
      "A barrier: `count` must be a whole number, 1 or more.",
    );
  });

  const SETTINGS: readonly [string, unknown][] = [
    ["idTokenSeconds", "3"],
    ["accessTokenSeconds", Infinity],
    ["reuseGraceSeconds", -1],
    ["issueRefreshToken", "never"],
    ["rotation", "false"],
    ["pkce", "optional"],
    ["redirectUris", "http://127.0.0.1:1/callback"],
    ["scopesSupported", "openid email"],
    ["clientSecret", undefined],
    ["userinfoOnly", "groups"],
    ["stepUp", true],
    ["acrValues", "gold"],
    ["promptNoneError", false],
  ];
  it.each(SETTINGS)("the setting %s that is none: %o", async (name, value) => {
    await expect(startTestProvider({ [name]: value })).rejects.toThrow(
      `The option \`${name}\` must be `,
    );
    await start();
    const before = { ...provider.settings };
    expect(() => Object.assign(provider.settings, { [name]: value })).toThrow(
      `The option \`${name}\` must be `,
    );
    expect({ ...provider.settings }).toEqual(before);
  });

  it("a setting that has no effect", async () => {
    await start();
    expect(() => Object.assign(provider.settings, { idTokenSecond: 3 })).toThrow(
      'has no option "idTokenSecond". Its options are clientId',
    );
    provider.settings.idTokenSeconds = 3;
    provider.settings.redirectUris = undefined;
    expect(provider.settings).toMatchObject({ idTokenSeconds: 3, redirectUris: undefined });
  });

  it.each<[string, (draft: { header: object; claims: object }) => unknown]>([
    ["claims alone", ({ claims }) => ({ ...claims, aud: "x" })],
    ["a list", ({ header, claims }) => [header, claims]],
    ["an empty list", () => []],
    ["a number", () => 7],
    ["null", () => null],
    ["claims that are a number", () => ({ claims: 7 })],
    ["one name too many", ({ claims }) => ({ claims, kid: "x" })],
  ])("an ID token changed into %s is a violation, and none is given", async (_name, mutate) => {
    await start();
    provider.mutateIdToken = mutate as never;
    await expect((await signIn(await discover())).exchange()).rejects.toThrow();
    expect(provider.violations).toEqual([
      "the provider failed: TypeError: `mutateIdToken` must return { header, claims }, one of the two, the finished token as a string, or nothing.",
    ]);
    provider.violations.length = 0;
    provider.mutateIdToken = (draft) => ({
      ...draft,
      claims: { ...draft.claims, hd: "example.com" },
    });
    expect((await (await signIn(await discover())).exchange()).claims()?.["hd"]).toBe(
      "example.com",
    );
  });

  it("an issuer path that is none", async () => {
    await expect(startTestProvider({ issuerPath: "tenant" })).rejects.toThrow(
      /`issuerPath` must be empty or a path/,
    );
  });

  it("a `when` that finds nothing accepts nothing", async () => {
    await start();
    provider.fault("jwks", { kind: "status", when: ({ query }) => query.get("nothing") as never });
    expect((await fetch(`${provider.issuer}/jwks`)).status).toBe(200);
  });
});

describe("what has ended leaves nothing behind", () => {
  it("a delayed request that was cut off spends no refresh token afterwards", async () => {
    await start();
    const config = await discover();
    const { refresh_token } = await (await signIn(config)).exchange();
    provider.fault("token", { kind: "delay", ms: 1000 });
    const cut = client.refreshTokenGrant(config, refresh_token!).catch((error: unknown) => error);
    await vi.waitFor(
      () => expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1),
      PATIENCE,
    );
    provider.clearFaults();
    expect(await cut).toBeInstanceOf(Error);
    const next = await client.refreshTokenGrant(config, refresh_token!);
    provider.clock.advance(1000);
    await fetch(`${provider.issuer}/jwks`);
    expect([provider.reuses, provider.isActive(next.refresh_token!)]).toEqual([0, true]);
  });

  it("a spent refresh token is active while the grace lets it be used", async () => {
    await start({ reuseGraceSeconds: 60 });
    const config = await discover();
    const { refresh_token } = await (await signIn(config)).exchange();
    await client.refreshTokenGrant(config, refresh_token!);
    expect(provider.isActive(refresh_token!)).toBe(true);
    provider.clock.advance(60_000);
    expect(provider.isActive(refresh_token!)).toBe(false);
  });

  it("keys that sign nothing go with a reset, old ones that were kept stay", async () => {
    await start();
    await provider.rotateKeys();
    const before = provider.jwks.document();
    await provider.jwks.publishSeveral(2);
    expect(provider.jwks.document().keys).toHaveLength(4);
    provider.jwks.reset();
    expect(provider.jwks.document()).toEqual(before);
  });
});
