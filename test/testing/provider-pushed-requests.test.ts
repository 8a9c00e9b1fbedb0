import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { exportJWK, SignJWT, type JWTPayload } from "jose";
import * as client from "openid-client";
import { afterEach, describe, expect, it } from "vitest";
import {
  startTestProvider,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import { RunningClock } from "../../src/testing/running-clock.js";
import { TestClock } from "../../src/testing/test-clock.js";

const REDIRECT_URI = "http://127.0.0.1:1/callback";
const URN = /^urn:ietf:params:oauth:request_uri:[\w-]{20,}$/;

let provider: TestProvider;
let clock: TestClock;

async function start(options: TestProviderOptions = {}): Promise<void> {
  clock = new TestClock();
  provider = await startTestProvider({ clock, pkce: "ignored", pushedRequests: true, ...options });
}

afterEach(async () => {
  await provider.stop();
});

type Parameters = Readonly<Record<string, string>>;
const REQUEST: Parameters = { redirect_uri: REDIRECT_URI, response_type: "code", scope: "openid" };

async function push(
  parameters: Parameters = {},
  credentials: Parameters = { client_secret: provider.clientSecret },
  query = "",
) {
  const body = new URLSearchParams({
    client_id: provider.clientId,
    ...REQUEST,
    ...parameters,
    ...credentials,
  });
  const response = await fetch(`${provider.issuer}/par${query}`, { method: "POST", body });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown> };
}

const requestUri = async (parameters?: Parameters) =>
  String((await push(parameters)).body["request_uri"]);
const authorizationUrl = (parameters: Parameters) =>
  `${provider.issuer}/authorize?${new URLSearchParams({ client_id: provider.clientId, ...parameters }).toString()}`;
const ask = async (parameters: Parameters) =>
  new URL(await provider.signInCode(authorizationUrl(parameters))).searchParams;
const metadata = async () =>
  (await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json()) as Record<
    string,
    unknown
  >;

describe("pushed authorization requests", () => {
  it("have an endpoint only at a provider that supports them", async () => {
    await start({ pushedRequests: false });
    expect(await metadata()).not.toHaveProperty("pushed_authorization_request_endpoint");
    expect(await push()).toMatchObject({ status: 404, body: { error: "not_found" } });
    provider.settings.pushedRequests = true;
    expect(await metadata()).toMatchObject({
      pushed_authorization_request_endpoint: `${provider.issuer}/par`,
    });
    expect(await metadata()).not.toHaveProperty("require_pushed_authorization_requests");
  });

  it("work with openid-client", async () => {
    await start({ requirePushedRequests: true, pkce: "required", clock: new RunningClock() });
    const config = await client.discovery(
      new URL(provider.issuer),
      provider.clientId,
      {},
      client.ClientSecretBasic(provider.clientSecret),
      {
        execute: [client.allowInsecureRequests],
      },
    );
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const url = await client.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: REDIRECT_URI,
      scope: "openid",
      state: "s",
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
    });
    expect([...url.searchParams.keys()].sort()).toEqual(["client_id", "request_uri"]);
    const callback = new URL(await provider.signInCode(url));
    expect(
      await client.authorizationCodeGrant(config, callback, {
        pkceCodeVerifier,
        expectedState: "s",
      }),
    ).toHaveProperty("id_token");
  });

  it("get an address that is used once, within its lifetime", async () => {
    await start();
    const { status, body } = await push();
    expect([status, body]).toEqual([
      201,
      { request_uri: expect.stringMatching(URN), expires_in: 60 },
    ]);
    clock.advance(59_999);
    expect((await ask({ request_uri: String(body["request_uri"]) })).has("code")).toBe(true);
    await expect(ask({ request_uri: String(body["request_uri"]) })).rejects.toThrow(
      "request_uri is unknown, expired or used",
    );
    provider.settings.pushedRequestSeconds = 5;
    const late = await requestUri();
    clock.advance(5_000);
    await expect(ask({ request_uri: late })).rejects.toThrow(
      "request_uri is unknown, expired or used",
    );
  });

  it("are spent by an error response too", async () => {
    await start();
    const request = { request_uri: await requestUri({ prompt: "none" }) };
    expect((await ask(request)).get("error")).toBe("login_required");
    await expect(ask(request)).rejects.toThrow("request_uri is unknown");
  });

  it("belong to their client", async () => {
    await start();
    const pushed = await requestUri();
    provider.settings.clientId = "another";
    await expect(ask({ request_uri: pushed, client_id: "another" })).rejects.toThrow(
      "request_uri is unknown",
    );
    await expect(ask({ request_uri: pushed, client_id: "test-client" })).rejects.toThrow(
      "unknown client_id",
    );
    provider.settings.clientId = "test-client";
    expect((await ask({ request_uri: pushed })).has("code")).toBe(true);
  });

  it("decide every parameter: those in the browser's URL don't count", async () => {
    await start({ people: [{ email: "ada@example.com" }, { email: "grace@example.com" }] });
    const changed = {
      state: "theirs",
      redirect_uri: "http://127.0.0.1:1/other",
      prompt: "none",
      login_hint: "ada@example.com",
      scope: "x",
    };
    const pushed = await requestUri({ state: "ours", login_hint: "grace@example.com" });
    const callback = new URL(
      await provider.signInCode(authorizationUrl({ request_uri: pushed, ...changed })),
    );
    expect(callback.href).toContain(`${REDIRECT_URI}?`);
    expect(callback.searchParams.get("state")).toBe("ours");
    expect(provider.signedIn.size).toBe(1);
    const body = new URLSearchParams({
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
      grant_type: "authorization_code",
      redirect_uri: REDIRECT_URI,
      code: callback.searchParams.get("code") ?? "",
    });
    const tokens = (await (
      await fetch(`${provider.issuer}/token`, { method: "POST", body })
    ).json()) as Record<string, string>;
    const userinfo = await fetch(`${provider.issuer}/userinfo`, {
      headers: { authorization: `Bearer ${tokens["access_token"] ?? ""}` },
    });
    expect(await userinfo.json()).toMatchObject({ email: "grace@example.com" });
  });

  it("are the only ones that a provider accepts which requires them", async () => {
    await start({ pushedRequests: false, requirePushedRequests: true });
    expect(await metadata()).toMatchObject({
      pushed_authorization_request_endpoint: `${provider.issuer}/par`,
      require_pushed_authorization_requests: true,
    });
    expect(Object.fromEntries(await ask({ ...REQUEST, state: "s" }))).toMatchObject({
      error: "invalid_request",
      state: "s",
    });
    expect((await ask({ request_uri: await requestUri() })).has("code")).toBe(true);
  });

  it.each<[string, Parameters]>([
    ["invalid_request", { request_uri: "urn:ietf:params:oauth:request_uri:x" }],
    ["invalid_request", { redirect_uri: "http://127.0.0.1:1/other" }],
    ["invalid_request", { max_age: "soon" }],
    ["invalid_scope", { scope: "email" }],
    ["unsupported_response_type", { response_type: "token" }],
  ])("are refused at once: %s for %o", async (error, parameters) => {
    await start({ redirectUris: [REDIRECT_URI] });
    expect(await push(parameters)).toMatchObject({ status: 400, body: { error } });
  });

  it("are recorded as requests to the endpoint par, which has faults and barriers", async () => {
    await start();
    provider.fault("par", { kind: "status", status: 503, body: {}, times: 1 });
    expect((await push()).status).toBe(503);
    const barrier = provider.hold("par");
    const pushing = push({ state: "s" });
    await barrier.arrived;
    barrier.release();
    expect((await pushing).status).toBe(201);
    expect(provider.requestsTo("par", { state: "s" })).toHaveLength(1);
    expect(provider.requestsTo("par")).toHaveLength(2);
  });

  it("must not have their parameters in the URL", async () => {
    await start();
    expect((await push({}, undefined, "?client_assertion=a")).status).toBe(400);
    expect(provider.violations.splice(0)).toEqual([
      "POST par: client_assertion in the URL",
      "POST par: parameters in the URL",
    ]);
  });
});

describe("the client of a pushed request", () => {
  it.each([
    {},
    { client_secret: "wrong" },
    { client_id: "another", client_secret: "test secret:+%/é" },
  ])("is refused with %o", async (credentials) => {
    await start();
    expect(await push({}, credentials)).toMatchObject({
      status: 401,
      body: { error: "invalid_client" },
    });
    expect(provider.violations.splice(0)).toHaveLength(1);
  });

  it("authenticates with its key: signature, audience, expiry, and an assertion that wasn't used before", async () => {
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    await start({ clientJwks: [await exportJWK(pair.publicKey)] });
    const now = Math.floor(clock.now() / 1000);
    const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const assertion = async (claims: JWTPayload, signingKey: KeyObject = pair.privateKey) => {
      const { clientId, issuer } = provider;
      const payload = {
        iss: clientId,
        sub: clientId,
        aud: issuer,
        iat: now,
        exp: now + 60,
        ...claims,
      };
      const signed = await new SignJWT(payload)
        .setProtectedHeader({ alg: "ES256" })
        .sign(signingKey);
      return {
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: signed,
      };
    };
    const statusOf = async (credentials: Parameters) => (await push({}, credentials)).status;
    const right = await assertion({ jti: "1" });
    expect(await statusOf(right)).toBe(201);
    expect(await statusOf(right)).toBe(401);
    expect(await statusOf(await assertion({ jti: "2", aud: "https://other.example" }))).toBe(401);
    expect(await statusOf(await assertion({ jti: "3", exp: now }))).toBe(401);
    expect(await statusOf(await assertion({ jti: "4" }, stranger))).toBe(401);
    expect(await statusOf({ client_secret: provider.clientSecret })).toBe(401);
    expect(provider.violations.splice(0)).toHaveLength(5);
    provider.settings.clientAssertionAudience = "endpoint";
    expect(await statusOf(await assertion({ jti: "5" }))).toBe(401);
    expect(provider.violations.splice(0)).toHaveLength(1);
    expect(await statusOf(await assertion({ jti: "6", aud: `${provider.issuer}/par` }))).toBe(201);
  });
});
