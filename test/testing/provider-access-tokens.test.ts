import { generateKeyPairSync } from "node:crypto";
import {
  calculateJwkThumbprint,
  createRemoteJWKSet,
  decodeJwt,
  exportJWK,
  jwtVerify,
  SignJWT,
  type JWTPayload,
} from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { approve, readAuthorization } from "../../src/testing/provider/authorization-endpoint.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import type { ProviderState } from "../../src/testing/provider/test-provider-state.js";
import { TestClock } from "../../src/testing/test-clock.js";

const ORDERS = "https://orders.example.com";
const BILLING = "https://billing.example.com";
const CALLBACK = "http://127.0.0.1:1/callback";

let provider: TestProvider;
let clock: TestClock;

beforeEach(async () => {
  clock = new TestClock();
  provider = await startTestProvider({ clock, pkce: "ignored" });
});
afterEach(() => provider.stop());

type Parameters = Readonly<Record<string, string>> | readonly (readonly [string, string])[];
const paramsOf = (parameters: Parameters) =>
  new URLSearchParams(parameters as Readonly<Record<string, string>>);

async function post(endpoint: string, parameters: Parameters, credentials?: Parameters) {
  const { clientId, clientSecret } = provider;
  const body = paramsOf(parameters);
  const client = credentials ?? { client_id: clientId, client_secret: clientSecret };
  for (const [name, value] of paramsOf(client)) body.append(name, value);
  const response = await fetch(`${provider.issuer}/${endpoint}`, { method: "POST", body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

const asked = (parameters: Parameters) => {
  const url = new URL(`${provider.issuer}/authorize`);
  const request = {
    client_id: provider.clientId,
    redirect_uri: CALLBACK,
    response_type: "code",
    scope: "openid email offline_access",
  };
  for (const [name, value] of Object.entries(request)) url.searchParams.set(name, value);
  for (const [name, value] of paramsOf(parameters))
    if (name === "resource") url.searchParams.append(name, value);
    else url.searchParams.set(name, value);
  return url;
};

async function redeem(code: string): Promise<Tokens> {
  const request = { grant_type: "authorization_code", code, redirect_uri: CALLBACK };
  return (await post("token", request)).body as unknown as Tokens;
}

async function signIn(parameters: Parameters = {}): Promise<Tokens> {
  const callback = new URL(await provider.signInCode(asked(parameters)));
  return redeem(callback.searchParams.get("code") ?? "");
}

async function refresh({ refresh_token }: Tokens, parameters: Parameters): Promise<Tokens> {
  const grant: [string, string][] = [
    ["grant_type", "refresh_token"],
    ["refresh_token", refresh_token],
  ];
  const request = [...grant, ...paramsOf(parameters)];
  return (await post("token", request)).body as unknown as Tokens;
}

const introspect = async (token: string) => (await post("introspect", { token })).body;

describe("an access token", () => {
  const verified = (token: string, audience: string) =>
    jwtVerify(token, createRemoteJWKSet(new URL(`${provider.issuer}/jwks`)), {
      issuer: provider.issuer,
      audience,
      typ: "at+jwt",
      currentDate: new Date(clock.now()),
    });

  it("is a JWT that an API verifies with the provider's keys", async () => {
    const { access_token } = await signIn({ resource: ORDERS, acr_values: "mfa" });
    const { payload } = await verified(access_token, ORDERS);
    const now = Math.floor(clock.now() / 1000);
    expect(payload).toEqual({
      iss: provider.issuer,
      sub: "ada-1815",
      aud: ORDERS,
      client_id: provider.clientId,
      scope: "openid email offline_access",
      iat: now,
      exp: now + 3600,
      jti: expect.stringMatching(/^[\w-]{22}$/) as string,
      auth_time: now,
      acr: "mfa",
    });
  });

  it("of another audience, another typ, or after its expiry is refused by that API", async () => {
    const tokens = await signIn({ resource: ORDERS });
    const code = (reason: string) => expect.objectContaining({ code: reason }) as unknown;
    await expect(verified(tokens.access_token, BILLING)).rejects.toEqual(
      code("ERR_JWT_CLAIM_VALIDATION_FAILED"),
    );
    const idToken = provider.issued.findLast(({ kind }) => kind === "id_token")?.value ?? "";
    await expect(verified(idToken, provider.clientId)).rejects.toEqual(
      code("ERR_JWT_CLAIM_VALIDATION_FAILED"),
    );
    clock.advance(3_600_000);
    await expect(verified(tokens.access_token, ORDERS)).rejects.toEqual(code("ERR_JWT_EXPIRED"));
  });

  it("is for what its own request names, then for what the sign-in named, then for the issuer", async () => {
    const audienceOf = ({ access_token }: Tokens) => decodeJwt(access_token).aud;
    expect(audienceOf(await signIn())).toBe(provider.issuer);
    expect(audienceOf(await signIn({ audience: ORDERS }))).toBe(ORDERS);
    const both = await signIn([
      ["resource", ORDERS],
      ["resource", BILLING],
    ]);
    expect(audienceOf(both)).toEqual([ORDERS, BILLING]);
    const forBilling = await refresh(both, { resource: BILLING });
    expect(audienceOf(forBilling)).toBe(BILLING);
    expect(audienceOf(await refresh(forBilling, { audience: "orders" }))).toBe("orders");
  });

  it("that a refresh requested for an API isn't accepted by userinfo", async () => {
    const tokens = await signIn({ resource: ORDERS });
    const userinfo = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${provider.issuer}/userinfo`, { headers })).status;
    };
    expect(await userinfo(tokens.access_token)).toBe(200);
    expect(await userinfo((await refresh(tokens, { resource: ORDERS })).access_token)).toBe(401);
  });

  it("isn't issued for a resource that is no absolute URI", async () => {
    const { refresh_token } = await signIn();
    const request = { grant_type: "refresh_token", refresh_token, resource: "orders" };
    expect(await post("token", request)).toMatchObject({
      status: 400,
      body: { error: "invalid_target" },
    });
    expect(provider.isActive(refresh_token)).toBe(true);
    const callback = await provider.signInCode(asked({ resource: `${ORDERS}#part` }));
    expect(new URL(callback).searchParams.get("error")).toBe("invalid_target");
  });
});

describe.each(["jwt", "opaque"] as const)("introspection of %s access tokens", (form) => {
  beforeEach(() => {
    provider.settings.accessTokens = form;
  });

  it("says what an active token is for", async () => {
    const { access_token, refresh_token } = await signIn({ resource: ORDERS });
    expect(access_token.startsWith("eyJ")).toBe(form === "jwt");
    const common = {
      active: true,
      iss: provider.issuer,
      sub: "ada-1815",
      client_id: provider.clientId,
      scope: "openid email offline_access",
      iat: Math.floor(clock.now() / 1000),
    };
    expect(await introspect(access_token)).toMatchObject({
      ...common,
      token_type: "Bearer",
      aud: ORDERS,
      exp: common.iat + 3600,
    });
    expect(await introspect(refresh_token)).toEqual(common);
  });

  it.each<[string, (tokens: Tokens) => unknown]>([
    ["expired", () => clock.advance(3_600_000)],
    ["revoked", ({ access_token }) => fetchRevocation(access_token)],
    ["from a revoked sign-in", ({ refresh_token }) => fetchRevocation(refresh_token)],
    ["from an ended session", () => provider.endSession("ada-1815")],
  ])("says nothing of a token that is %s but that it's inactive", async (_name, end) => {
    const tokens = await signIn({ scope: "openid" });
    expect(await introspect(tokens.access_token)).toMatchObject({ active: true });
    await end(tokens);
    expect(await introspect(tokens.access_token)).toEqual({ active: false });
  });

  it("says nothing of a token that the provider doesn't know", async () => {
    expect(await introspect("unknown")).toEqual({ active: false });
  });

  it("is only for the client", async () => {
    const { access_token: token } = await signIn();
    const stranger = { client_id: provider.clientId, client_secret: "wrong" };
    const { status, body } = await post("introspect", { token }, stranger);
    expect([status, body["error"]]).toEqual([401, "invalid_client"]);
    expect(provider.violations.splice(0)).toEqual([
      "introspect: invalid_client: the client secret is wrong",
    ]);
  });
});

async function fetchRevocation(token: string): Promise<void> {
  const { clientId, clientSecret } = provider;
  const body = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret });
  expect((await fetch(`${provider.issuer}/revoke`, { method: "POST", body })).status).toBe(200);
}

describe("a user who leaves out scopes", () => {
  it("gives neither the scopes nor their claims, also at a refresh that asks for them", async () => {
    const state = provider as unknown as ProviderState;
    provider.settings.issueRefreshToken = true;
    await provider.signInCode(asked({}));
    const request = { ...provider.requestsTo("authorize")[0]!, query: asked({}).searchParams };
    const authorization = await readAuthorization(request, state);
    if ("unusable" in authorization) throw new Error(authorization.unusable);
    const reply = await approve(
      authorization,
      {
        person: provider.person,
        authTime: Math.floor(clock.now() / 1000),
        grantedScopes: ["openid", "admin"],
      },
      state,
    );
    const code = new URL(reply.headers["Location"] ?? "").searchParams.get("code") ?? "";
    const tokens = await redeem(code);
    expect(tokens.scope).toBe("openid");
    expect(decodeJwt(tokens.access_token)["scope"]).toBe("openid");
    const idToken = decodeJwt(
      provider.issued.findLast(({ kind }) => kind === "id_token")?.value ?? "",
    );
    expect([idToken["email"], idToken["name"]]).toEqual([undefined, "Ada Lovelace"]);
    const refreshed = await refresh(tokens, { scope: "openid email" });
    expect(refreshed.scope).toBe("openid");
    const others = [
      [{ scope: "email mail.read" }, "invalid_scope"],
      [{ resource: ORDERS }, "invalid_target"],
    ] as const;
    for (const [target, error] of others) {
      const { refresh_token } = refreshed;
      const body = { grant_type: "refresh_token", refresh_token, ...target };
      expect((await post("token", body)).body["error"]).toBe(error);
    }
    // A refusal leaves the refresh token usable.
    expect((await refresh(refreshed, {})).scope).toBe("openid");
  });
});

describe("the cause of a refused key", () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" });

  async function cause(
    header: Readonly<Record<string, unknown>>,
    claims: JWTPayload = {},
    key = pair.privateKey,
  ): Promise<string | undefined> {
    const { clientId, issuer } = provider;
    const now = Math.floor(clock.now() / 1000);
    const payload = {
      iss: clientId,
      sub: clientId,
      aud: issuer,
      iat: now,
      exp: now + 60,
      jti: "1",
    };
    const credentials = {
      client_id: clientId,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await new SignJWT({ ...payload, ...claims })
        .setProtectedHeader({ alg: "ES256", ...header })
        .sign(key),
    };
    const { status, body } = await post("introspect", { token: "t" }, credentials);
    const [violation] = provider.violations.splice(0);
    if (violation === undefined) expect(status).toBe(200);
    else expect(violation).toBe(`introspect: invalid_client: ${String(body["error_description"])}`);
    return violation?.replace("introspect: invalid_client: ", "");
  }

  it("is named, with the keys that the provider knows", async () => {
    const jwk = await exportJWK(pair.publicKey);
    provider.settings.clientJwks = { keys: [{ ...jwk, kid: "mine" }] };
    expect(await cause({ kid: "mine" })).toBeUndefined();
    expect(await cause({ kid: "mine" })).toBe("the assertion was used before: its jti is known");
    expect(await cause({ kid: 'a"\n' })).toBe(
      "the assertion's kid a?? is none of the client's keys: mine (of a key without a kid, its thumbprint counts)",
    );
    expect(await cause({ kid: "mine" }, { jti: "2" }, other.privateKey)).toContain("another key");
    expect(await cause({ kid: "mine" }, { jti: "2", aud: ORDERS })).toBe(
      `the assertion's aud is ${ORDERS}, and must be ${provider.issuer}`,
    );
    const expired = { jti: "2", exp: Math.floor(clock.now() / 1000) - 5 };
    expect(await cause({ kid: "mine" }, expired)).toBe(
      "the assertion expired 5 seconds ago by the provider's clock",
    );
  });

  it("can be one of the algorithms that each endpoint's metadata names", async () => {
    provider.settings.clientJwks = [await exportJWK(pair.publicKey)];
    const response = await fetch(`${provider.issuer}/.well-known/openid-configuration`);
    const metadata = (await response.json()) as Record<string, unknown>;
    // RFC 8414 section 2 requires them next to private_key_jwt.
    for (const endpoint of ["token", "revocation", "introspection"])
      expect(metadata[`${endpoint}_endpoint_auth_signing_alg_values_supported`]).toContain("ES256");
  });

  it("may be a thumbprint: a key without a kid is known by it", async () => {
    const jwk = await exportJWK(pair.publicKey);
    const thumbprint = await calculateJwkThumbprint(jwk);
    provider.settings.clientJwks = [{ ...jwk, kid: "mine" }];
    expect(await cause({ kid: thumbprint })).toContain(
      `the assertion's kid ${thumbprint} is the thumbprint of the client's key, which is registered with the kid mine`,
    );
    provider.settings.clientJwks = [jwk];
    expect(await cause({ kid: thumbprint })).toBeUndefined();
  });

  it("is no private key in the setting", async () => {
    const jwk = await exportJWK(pair.privateKey);
    expect(() => (provider.settings.clientJwks = [jwk])).toThrow(
      "must be a list or set of public JWKs",
    );
  });
});
