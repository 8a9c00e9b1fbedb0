import { decodeJwt, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { createHash, generateKeyPairSync } from "node:crypto";
import * as oauth from "oauth4webapi";
import { afterEach, describe, expect, it } from "vitest";
import type { Jwk } from "../../src/index.js";
import {
  RunningClock,
  startTestProvider,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/index.js";
import {
  assuranceClient,
  json,
  REDIRECT_URI,
  VERIFIER,
  type AssuranceClient,
} from "./assurance-client.js";

const CLIENT = { client_id: "test-client" };
const key = await generateKeyPair("ES256", { extractable: true });
const clientJwks = [(await exportJWK(key.publicKey)) as Jwk];
const auth = oauth.PrivateKeyJwt(key.privateKey);

let provider: TestProvider;
let client: AssuranceClient;
let clock: RunningClock;

async function start(options: TestProviderOptions = {}): Promise<void> {
  clock = new RunningClock();
  provider = await startTestProvider({ clock, clientJwks, ...options });
  client = await assuranceClient(provider, { auth });
}

afterEach(async () => {
  await provider.stop();
});

const seconds = () => Math.floor(clock.now() / 1000);

interface Forged {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly signedBy?: typeof key.privateKey;
}

/** A signed request that a library might refuse to make. */
function requestObject({ header, claims, signedBy = key.privateKey }: Forged = {}) {
  return new SignJWT({
    ...CLIENT,
    iss: "test-client",
    aud: provider.issuer,
    nbf: seconds(),
    exp: seconds() + 60,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    scope: "openid",
    state: "inside",
    code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
    code_challenge_method: "S256",
    ...claims,
  })
    .setProtectedHeader({ alg: "ES256", typ: "oauth-authz-req+jwt", ...header })
    .sign(signedBy);
}

/** The response to an authorization request with a signed one, and what is beside it. */
async function ask(request: string, beside: Readonly<Record<string, string>> = {}) {
  const url = new URL(`${provider.issuer}/authorize`);
  url.search = new URLSearchParams({ ...CLIENT, request, ...beside }).toString();
  const response = await fetch(url, { redirect: "manual" });
  const location = response.headers.get("location");
  if (location !== null) return { status: 302, params: new URL(location).searchParams };
  return { status: response.status, body: await json(response) };
}

describe("a signed request", () => {
  it("of oauth4webapi is accepted, and the parameters beside it don't count", async () => {
    await start({ signedRequests: "supported" });
    expect(client.server).toMatchObject({
      request_parameter_supported: true,
      request_object_signing_alg_values_supported: ["PS256", "ES256", "EdDSA"],
    });
    const params = (await client.address({ state: "inside" })).searchParams;
    const jwt = await oauth.issueRequestObject(
      client.server,
      client.client,
      params,
      key.privateKey,
    );
    const { status, params: answer } = await ask(jwt, {
      state: "outside",
      redirect_uri: "https://evil.example/",
    });
    expect([status, answer?.get("state")]).toEqual([302, "inside"]);
    expect((await client.redeem(answer?.get("code") ?? "")).status).toBe(200);
  });

  it("can be pushed, and is then demanded there", async () => {
    await start({ signedRequests: "required", pushedRequests: true });
    expect(client.server.require_signed_request_object).toBe(true);
    expect(await json(client.push({}))).toEqual({
      error: "invalid_request",
      error_description: expect.stringContaining("must be a signed one"),
    });
    const request = await requestObject();
    const pushed = await oauth.pushedAuthorizationRequest(
      client.server,
      client.client,
      auth,
      { ...CLIENT, request, state: "outside" },
      { [oauth.allowInsecureRequests]: true },
    );
    const { request_uri } = await json(pushed);
    const url = new URL(`${provider.issuer}/authorize`);
    url.search = new URLSearchParams({ ...CLIENT, request_uri: String(request_uri) }).toString();
    expect(new URL(await provider.signInCode(url)).searchParams.get("state")).toBe("inside");
  });

  it("is demanded, and else a request with plain parameters is as good", async () => {
    await start({ signedRequests: "supported" });
    expect((await client.code()).length).toBeGreaterThan(0);
    provider.settings.signedRequests = "required";
    await expect(client.code()).rejects.toThrow("must be a signed one");
  });

  it("is a parameter like any other to a provider that doesn't know it", async () => {
    await start();
    expect(client.server.request_parameter_supported).toBeUndefined();
    expect(await ask("nonsense")).toMatchObject({ status: 400 });
    expect((await client.code({ request: "nonsense" })).length).toBeGreaterThan(0);
  });

  it("may have parameters that are no texts", async () => {
    await start({ signedRequests: "supported" });
    await client.code();
    clock.advance(10_000);
    const claims = { id_token: { acr: { values: ["gold"] } } };
    const answer = await ask(await requestObject({ claims: { max_age: 0, claims } }));
    const tokens = await json(client.redeem(answer.params?.get("code") ?? ""));
    expect(decodeJwt(String(tokens["id_token"]))).toMatchObject({
      acr: "gold",
      auth_time: seconds(),
    });
  });

  const other = generateKeyPair("ES256", { extractable: true });
  it.each<[string, () => Forged | Promise<Forged>, RegExp]>([
    ["of another issuer", () => ({ claims: { iss: "other" } }), /iss is missing or wrong/],
    ["without iss", () => ({ claims: { iss: undefined } }), /iss is missing/],
    [
      "for another provider",
      () => ({ claims: { aud: "https://other.example" } }),
      /aud is missing or wrong/,
    ],
    ["that has expired", () => ({ claims: { exp: seconds() - 1 } }), /expired/],
    ["without exp", () => ({ claims: { exp: undefined } }), /exp is missing/],
    ["that isn't valid yet", () => ({ claims: { nbf: seconds() + 30 } }), /nbf is in the future/],
    ["without nbf", () => ({ claims: { nbf: undefined } }), /nbf is missing/],
    ["that lives too long", () => ({ claims: { exp: seconds() + 7200 } }), /more than an hour/],
    ["that could be an assertion", () => ({ claims: { sub: "test-client" } }), /sub is the client/],
    ["of another client", () => ({ claims: { client_id: "other" } }), /client_id isn't that/],
    ["of another typ", () => ({ header: { typ: "at+jwt" } }), /typ is at\+jwt/],
    ["with another inside", () => ({ claims: { request: "jwt" } }), /another signed request/],
    ["that names another", () => ({ claims: { request_uri: "urn:a" } }), /another signed request/],
    [
      "signed by another key",
      async () => ({ signedBy: (await other).privateKey }),
      /another key than the client's/,
    ],
  ])("is refused: %s", async (_name, forged, reason) => {
    await start({ signedRequests: "supported", pushedRequests: true });
    const request = await requestObject(await forged());
    expect(await ask(request)).toMatchObject({
      status: 400,
      body: { error_description: expect.stringMatching(reason) },
    });
    const pushed = await oauth.pushedAuthorizationRequest(
      client.server,
      client.client,
      auth,
      { ...CLIENT, request },
      { [oauth.allowInsecureRequests]: true },
    );
    expect(await json(pushed)).toMatchObject({
      error: "invalid_request_object",
      error_description: expect.stringMatching(reason),
    });
  });

  it("is refused without a signature, or with a secret for one", async () => {
    await start({ signedRequests: "supported" });
    const claims = { ...CLIENT, iss: "test-client", aud: provider.issuer, nbf: 0 };
    const unsigned = new UnsecuredJWT(claims).setExpirationTime("1m").encode();
    const symmetric = await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime("1m")
      .sign(new TextEncoder().encode(provider.clientSecret.padEnd(32)));
    for (const wrong of [unsigned, symmetric, "nonsense"])
      expect(await ask(wrong)).toMatchObject({ status: 400 });
  });
});

describe("a signed response", () => {
  async function answer(parameters: Readonly<Record<string, string>> = { response_mode: "jwt" }) {
    return client.ask({ state: "s", ...parameters });
  }
  const validated = async (url: URL) =>
    oauth.validateJwtAuthResponse(client.server, client.client, url, "s", {
      [oauth.allowInsecureRequests]: true,
    });

  it.each(["jwt", "query.jwt"])("comes in the query: %s", async (mode) => {
    await start({ signedResponses: "supported" });
    const url = await answer({ response_mode: mode });
    expect([...url.searchParams.keys()]).toEqual(["response"]);
    const params = await validated(url);
    expect(params.get("state")).toBe("s");
    expect((await client.redeem(params.get("code") ?? "")).status).toBe(200);
  });

  it("can be posted", async () => {
    await start({ signedResponses: "supported" });
    const page = await fetch(await client.address({ response_mode: "form_post.jwt", state: "s" }));
    const [, jwt] = /name="response" value="([^"]+)"/.exec(await page.text()) ?? [];
    const url = new URL(REDIRECT_URI);
    url.searchParams.set("response", jwt ?? "");
    expect((await validated(url)).get("state")).toBe("s");
  });

  it("also tells of an error", async () => {
    await start({ signedResponses: "supported", promptNoneError: "interaction_required" });
    const url = await answer({ response_mode: "jwt", prompt: "none" });
    expect([...url.searchParams.keys()]).toEqual(["response"]);
    await expect(validated(url)).rejects.toMatchObject({ error: "interaction_required" });
  });

  it("is announced, and its algorithm is the provider's", async () => {
    await start({ signedResponses: "supported", signingAlg: "PS256" });
    expect(client.server).toMatchObject({
      response_modes_supported: ["query", "form_post", "jwt", "query.jwt", "form_post.jwt"],
      authorization_signing_alg_values_supported: ["PS256"],
      id_token_signing_alg_values_supported: ["PS256"],
    });
    const ps256 = { ...client.client, authorization_signed_response_alg: "PS256" };
    const params = await oauth.validateJwtAuthResponse(client.server, ps256, await answer(), "s", {
      [oauth.allowInsecureRequests]: true,
    });
    const tokens = await client.redeem(params.get("code") ?? "");
    const validating = { ...client.client, id_token_signed_response_alg: "PS256" };
    const result = await oauth.processAuthorizationCodeResponse(client.server, validating, tokens);
    await oauth.validateApplicationLevelSignature(client.server, tokens, {
      [oauth.allowInsecureRequests]: true,
    });
    expect(result.id_token).toBeDefined();
  });

  it("is plain to a provider that doesn't know it, and can be demanded", async () => {
    await start();
    expect((await answer()).searchParams.get("state")).toBe("s");
    provider.settings.signedResponses = "required";
    expect((await answer({})).searchParams.get("error")).toBe("invalid_request");
    expect((await answer()).searchParams.has("response")).toBe(true);
  });

  it.each<[string, NonNullable<TestProvider["mutateResponseJwt"]>]>([
    ["another issuer", ({ claims }) => ({ claims: { ...claims, iss: "https://evil.example" } })],
    ["another audience", ({ claims }) => ({ claims: { ...claims, aud: "other" } })],
    ["an expiry in the past", ({ claims }) => ({ claims: { ...claims, exp: 1 } })],
    [
      "another key",
      ({ header, claims, sign }) =>
        sign(header, claims, generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey),
    ],
    ["alg none", ({ header }) => ({ header: { ...header, alg: "none" } })],
    ["no signature at all: plain parameters", () => null],
  ])("can have %s, which oauth4webapi refuses", async (_name, mutate) => {
    await start({ signedResponses: "supported" });
    await validated(await answer());
    provider.mutateResponseJwt = mutate;
    await expect(validated(await answer())).rejects.toThrow();
  });

  it("tells a hook that returns nonsense", async () => {
    await start({ signedResponses: "supported" });
    provider.mutateResponseJwt = () => ({ iss: "x" }) as object;
    await expect(answer()).rejects.toThrow("500");
    expect(provider.violations.splice(0)).toEqual([
      expect.stringContaining("`mutateResponseJwt` must return"),
    ]);
  });
});
