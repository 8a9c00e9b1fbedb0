import { createHash, generateKeyPairSync } from "node:crypto";
import { decodeJwt } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { privateKeys } from "../../src/config/client-key-kinds.js";
import type { Events } from "../../src/index.js";
import { startTestProvider, type Fault } from "../../src/testing/provider/test-provider.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import { application, start as startPlain, store } from "../support/one-application.js";

const LOGIN = "/idpauth/login/";
const JSON_LOGIN = `${LOGIN}?response=json`;
const REQUIRED = { requirePushedRequests: true };
const EVIL = "https://evil.example";

/** The options of a client that authenticates with a key, and what the provider knows of it. */
function ownKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const clientJwks = (privateKeys.fromCode(privateKey) ?? []).flatMap(
    ({ publicJwk }) => publicJwk ?? [],
  );
  return { clientSecret: undefined, privateKey, clientJwks };
}

let failures: Events["failure"][];

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  const user = await startPlain({ provider: REQUIRED, ...options });
  failures = [];
  application.auth.on("failure", (event) => failures.push(event));
  return user;
}
afterEach(() => application.stop());

const pushes = () => application.provider.requestsTo("par");
const namesIn = (location: string) => [...new URL(location).searchParams.keys()];
const logged = (code: string) =>
  application.log.filter((entry) => entry.code === code).map(({ message }) => message);

describe("a login", () => {
  it.each<
    [
      pushedRequests: ApplicationOptions["pushedRequests"],
      provider: ApplicationOptions["provider"],
      isPushed: boolean,
    ]
  >([
    [undefined, {}, false],
    [undefined, { pushedRequests: true }, false],
    [undefined, REQUIRED, true],
    ["always", { pushedRequests: true }, true],
    // The provider may except this client.
  ])(
    "with pushedRequests %s at a provider with %o: pushed %s",
    async (pushedRequests, provider = {}, isPushed) => {
      const user = await start({
        provider,
        ...(pushedRequests !== undefined && { pushedRequests }),
      });
      const { location } = await user.get(LOGIN);
      expect(pushes()).toHaveLength(isPushed ? 1 : 0);
      expect(new URL(location).searchParams.has("request_uri")).toBe(isPushed);
      expect(new URL(location).searchParams.has("state")).toBe(!isPushed);
    },
  );

  it("has its parameters in the pushed request alone, and the browser carries client_id and request_uri", async () => {
    const user = await start({
      loginParams: ["login_hint"],
      authorizationParams: { resource: ["https://a.example", "https://b.example"] },
    });
    const { location } = await user.get(`${LOGIN}?login_hint=ada@example.com&max_age=60`);
    expect(namesIn(location)).toEqual(["client_id", "request_uri"]);
    const [pushed] = pushes();
    expect(Object.fromEntries(pushed?.params ?? [])).toMatchObject({
      client_id: "test-client",
      response_type: "code",
      redirect_uri: "http://app.example/idpauth/login-callback",
      login_hint: "ada@example.com",
      max_age: "60",
      code_challenge_method: "S256",
    });
    expect(pushed?.params.getAll("resource")).toEqual(["https://a.example", "https://b.example"]);
    for (const name of ["state", "nonce", "code_challenge"])
      expect(pushed?.params.get(name)).toMatch(/^[\w-]{43}$/);
  });

  it("[BCP-5] has the S256 challenge of the verifier that the exchange sends, with the same redirect URI", async () => {
    const user = await start();
    expect((await user.signIn()).status).toBe(302);
    const [pushed] = pushes();
    const [exchange] = application.provider.requestsTo("token");
    const verifier = exchange?.params.get("code_verifier") ?? "";
    expect(verifier).toMatch(/^[\w-]{43}$/);
    expect(createHash("sha256").update(verifier).digest("base64url")).toBe(
      pushed?.params.get("code_challenge"),
    );
    expect(exchange?.params.get("redirect_uri")).toBe(pushed?.params.get("redirect_uri"));
  });

  it.each<[string, (parameters: URLSearchParams) => void]>([
    ["[BCP-2] without state", (parameters) => parameters.delete("state")],
    [
      "[BCP-2] with another state",
      (parameters) => parameters.set("state", `${parameters.get("state") ?? ""}x`),
    ],
    ["[ISS-1] with another issuer's iss", (parameters) => parameters.set("iss", EVIL)],
    [
      "[ISS-2] without the iss that the provider advertises",
      (parameters) => parameters.delete("iss"),
    ],
  ])("that comes back %s is refused before the code is sent", async (_name, change) => {
    const { clientJwks, ...keys } = ownKey();
    const user = await start({ ...keys, provider: { ...REQUIRED, clientJwks, announceIss: true } });
    application.provider.authorizationResponse = change;
    expect((await user.signIn()).status).toBe(400);
    expect(application.provider.requestsTo("token")).toEqual([]);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("signs the user in once with each address", async () => {
    const user = await start();
    const { location } = await user.get(LOGIN);
    const callback = new URL(await application.provider.signInCode(location));
    expect((await user.get(callback.pathname + callback.search)).status).toBe(302);
    expect(await user.isSignedIn()).toBe(true);
    await expect(application.provider.signInCode(location)).rejects.toThrow(
      "request_uri is unknown, expired or used",
    );
    expect((await user.get(LOGIN)).location).not.toBe(location);
  });

  it("that a script starts gets the seconds for which its address works", async () => {
    const user = await start({ provider: { ...REQUIRED, pushedRequestSeconds: 90 } });
    expect((await user.get(JSON_LOGIN)).json()).toEqual({
      redirect_to: expect.stringContaining("request_uri="),
      expires_in: 90,
    });
  });

  it("that isn't pushed has no such limit", async () => {
    const user = await start({ provider: {} });
    expect(Object.keys((await user.get(JSON_LOGIN)).json() as object)).toEqual(["redirect_to"]);
  });

  it("with prompt=none is silent: a provider that would show a page sends the user back signed out", async () => {
    const user = await start({ loginPrompt: "none" });
    const { location } = await user.get(LOGIN);
    const callback = new URL(await application.provider.signInCode(location));
    expect(callback.searchParams.get("error")).toBe("login_required");
    const reply = await user.get(callback.pathname + callback.search, {
      headers: { accept: "text/html" },
    });
    expect([reply.status, reply.location]).toEqual([302, "/idpauth/"]);
  });

  it("isn't pushed for a prefetch", async () => {
    const user = await start();
    const reply = await user.get(LOGIN, { headers: { "sec-purpose": "prefetch" } });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(application.provider.requests).toEqual([]);
  });

  it("isn't pushed for a wrong parameter", async () => {
    const user = await start();
    expect((await user.get(`${LOGIN}?scheme=NONE`)).status).toBe(400);
    expect(pushes()).toEqual([]);
  });

  it("is pushed to the provider that the user chose, and to no other", async () => {
    await start({ provider: { pushedRequests: true }, pushedRequests: "always" });
    const other = await startTestProvider({ clock: application.clock, ...REQUIRED });
    const of = ({ issuer, clientId, clientSecret }: typeof other) => ({
      issuer,
      clientId,
      clientSecret,
    });
    const providers = {
      staff: { ...of(application.provider), pushedRequests: "when-required" as const },
      customers: of(other),
    };
    const auth = application.another({
      issuer: undefined,
      clientId: undefined,
      clientSecret: undefined,
      providers,
    });
    const user = application.user().at(auth);
    expect(namesIn((await user.get(`${LOGIN}?provider=staff`)).location)).toContain("state");
    expect((await user.get(`${LOGIN}?provider=customers`)).location).toContain(
      `${other.issuer}/authorize?`,
    );
    expect([pushes().length, other.requestsTo("par").length]).toEqual([0, 1]);
    await other.stop();
  });
});

describe("the client of a pushed login", () => {
  it.each(["client_secret_post", "client_secret_basic"] as const)(
    "authenticates as at the token endpoint: %s",
    async (method) => {
      const user = await start({
        tokenEndpointAuthMethod: method,
        provider: { ...REQUIRED, tokenEndpointAuthMethods: [method] },
      });
      expect((await user.signIn()).status).toBe(302);
      expect(await user.isSignedIn()).toBe(true);
    },
  );

  it("[BCP-18] authenticates with its key, and each attempt has a new assertion", async () => {
    const { clientJwks, ...keys } = ownKey();
    const user = await start({ ...keys, provider: { ...REQUIRED, clientJwks } });
    application.provider.fault("par", { kind: "status", status: 503, before: false, times: 1 });
    expect((await user.get(LOGIN)).status).toBe(503);
    expect((await user.signIn()).status).toBe(302);
    const sent = [...pushes(), ...application.provider.requestsTo("token")].map(
      ({ params }) => params,
    );
    const claims = sent.map((params) => decodeJwt(params.get("client_assertion") ?? ""));
    expect(sent).toHaveLength(3);
    expect(new Set(claims.map(({ jti }) => jti)).size).toBe(3);
    for (const { aud } of claims) expect(aud).toBe(application.provider.issuer);
    for (const params of sent) expect(params.has("client_secret")).toBe(false);
  });

  it.each(["token_endpoint", "endpoint"] as const)(
    "sends the audience %s",
    async (clientAssertionAudience) => {
      const { clientJwks, ...keys } = ownKey();
      const provider = { ...REQUIRED, clientJwks, clientAssertionAudience };
      const user = await start({ ...keys, clientAssertionAudience, provider });
      expect((await user.signIn()).status).toBe(302);
    },
  );
});

describe("an outage of the endpoint for pushed requests", () => {
  const FAULTS: [reason: string, fault: Fault][] = [
    ["http_503", { kind: "status", status: 503 }],
    ["http_429", { kind: "status", status: 429 }],
    ["network", { kind: "reset" }],
    ["not_json", { kind: "garbage" }],
    ["too_large", { kind: "oversized" }],
    ["par_response", { kind: "status", status: 201, body: { expires_in: 60 } }],
    [
      "par_response",
      {
        kind: "status",
        status: 201,
        body: { request_uri: `urn:${"x".repeat(2048)}`, expires_in: 60 },
      },
    ],
  ];
  it.each(FAULTS)("is the 503 page, and nothing is stored: %s", async (reason, fault) => {
    const user = await start();
    application.provider.fault("par", fault);
    const reply = await user.get(LOGIN, { headers: { accept: "text/html" } });
    expect([reply.status, reply.headers["Content-Type"]]).toEqual([
      503,
      "text/html; charset=utf-8",
    ]);
    expect(Number(reply.headers["Retry-After"])).toBeGreaterThan(0);
    expect(reply.body).toContain('href="/idpauth/login/?scheme=');
    expect(reply.setCookies ?? []).toEqual([]);
    expect(await store.entries()).toEqual([]);
    expect(failures).toMatchObject([{ during: "login", kind: "outage", reason }]);
  });

  it("is the 503 page after IDP_HTTP_TIMEOUT", async () => {
    const user = await start();
    await user.get(LOGIN);
    const stored = (await store.entries()).length;
    const held = application.provider.hold("par");
    const stranger = application.user();
    const reply = stranger.get(LOGIN);
    await held.arrived;
    await application.clock.advanceAsync(5_000);
    expect((await reply).status).toBe(503);
    expect(await store.entries()).toHaveLength(stored);
    held.release();
  });

  it("without a response delays every login; a response delays no other", async () => {
    const user = await start();
    application.provider.fault("par", { kind: "status", status: 503, times: 1 });
    expect((await user.get(LOGIN)).status).toBe(503);
    expect((await application.user().get(LOGIN)).status).toBe(302);
    application.provider.fault("par", { kind: "reset", times: 1 });
    expect((await user.get(LOGIN)).status).toBe(503);
    const sent = pushes().length;
    expect((await application.user().get(LOGIN)).status).toBe(503);
    expect(pushes()).toHaveLength(sent);
    application.clock.advance(1_000);
    expect((await application.user().get(LOGIN)).status).toBe(302);
  });

  it("leaves refreshes alone", async () => {
    const user = await start();
    await user.signIn();
    application.provider.fault("par", { kind: "reset" });
    expect((await application.user().get(LOGIN)).status).toBe(503);
    application.clock.advance(3_600_000);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("a refusal of a pushed request", () => {
  it("invalid_client is reported as a misconfiguration, and delays everybody", async () => {
    const user = await start();
    application.provider.settings.clientSecret = "another";
    const reply = await user.get(LOGIN, { headers: { accept: "text/html" } });
    expect(reply.status).toBe(503);
    expect(reply.body).toContain("provider_misconfigured");
    const [line, ...more] = logged("provider_misconfigured");
    expect(more).toEqual([]);
    expect(line).toContain("endpoint for pushed authorization requests");
    expect(line).toContain("IDP_CLIENT_SECRET");
    expect((await application.user().get(LOGIN)).status).toBe(503);
    expect(pushes()).toHaveLength(1);
    expect(application.provider.violations.splice(0)).toHaveLength(1);
    application.provider.settings.clientSecret = "test secret:+%/é";
    application.clock.advance(1_000);
    expect((await user.get(LOGIN)).status).toBe(302);
  });

  it.each([
    ["invalid_request", 400],
    ["invalid_scope", 400],
    ["access_denied", 403],
  ])("%s (%i) ends that login alone, and the logins of others continue", async (error, status) => {
    const user = await start();
    application.provider.fault("par", { kind: "status", status, body: { error }, times: 1 });
    const reply = await user.get(LOGIN, { headers: { accept: "text/html" } });
    expect([reply.status, reply.setCookies ?? []]).toEqual([400, []]);
    expect(await store.entries()).toEqual([]);
    expect(failures).toMatchObject([{ during: "login", kind: "refusal", reason: error }]);
    expect(logged("provider_misconfigured")).toEqual([]);
    expect((await application.user().signIn()).status).toBe(302);
  });

  it.each([
    ["unauthorized_client", 403],
    ["unauthorized_client", 400],
    ["http_401", 401],
    ["http_403", 403],
  ])("%s (%i) is the operator's mistake, and delays nobody", async (reason, status) => {
    const user = await start();
    const body = reason.startsWith("http_") ? undefined : { error: reason };
    application.provider.fault("par", { kind: "status", status, body, times: 1 });
    const reply = await user.get(LOGIN);
    expect([reply.status, reply.headers["Retry-After"]]).toEqual([503, "60"]);
    expect(reply.body).toContain("provider_misconfigured");
    expect(logged("provider_misconfigured").join()).toContain("IDP_CLIENT_SECRET");
    expect((await application.user().signIn()).status).toBe(302);
  });

  it("keeps the user's existing session", async () => {
    const user = await start();
    await user.signIn();
    application.provider.fault("par", {
      kind: "status",
      status: 400,
      body: { error: "invalid_request" },
      times: 1,
    });
    expect((await user.get(LOGIN)).status).toBe(400);
    expect(await user.isSignedIn()).toBe(true);
  });
});

it("pushing without an endpoint in the discovery document is a misconfiguration, which IDP_PROVIDER_METADATA corrects", async () => {
  const user = await start({ pushedRequests: "always", provider: {} });
  expect((await user.get(LOGIN)).status).toBe(503);
  expect(logged("provider_misconfigured")[0]).toContain("IDP_PUSHED_REQUESTS");
  application.provider.settings.pushedRequests = true;
  application.provider.discoveryDocument = ({
    pushed_authorization_request_endpoint: _left,
    ...document
  }) => document;
  const providerMetadata = {
    pushed_authorization_request_endpoint: `${application.provider.issuer}/par`,
  };
  const corrected = application
    .user()
    .at(application.another({ pushedRequests: "always", providerMetadata }));
  expect(namesIn((await corrected.get(LOGIN)).location)).toContain("request_uri");
});

describe("many logins at once", () => {
  it("push 50 requests at a time to a provider; a further login waits for 2 seconds, and code exchanges don't", async () => {
    const user = await start();
    const callback = await user.approve();
    const held = application.provider.hold("par", { count: 50 });
    const logins = Array.from({ length: 51 }, () => application.user().get(LOGIN));
    await held.arrived;
    expect((await user.get(callback)).status).toBe(302);
    await application.clock.advanceAsync(2_000);
    expect(pushes()).toHaveLength(51);
    held.release();
    const statuses = (await Promise.all(logins)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 302)).toHaveLength(50);
    expect(statuses.filter((status) => status === 503)).toHaveLength(1);
    expect(failures).toMatchObject([{ during: "login", reason: "push_queue_full" }]);
    expect((await application.user().get(LOGIN)).status).toBe(302);
  });

  it("wait at one provider while the logins at another are pushed", async () => {
    await start();
    const other = await startTestProvider({ clock: application.clock, ...REQUIRED });
    const of = ({ issuer, clientId, clientSecret }: typeof other) => ({
      issuer,
      clientId,
      clientSecret,
    });
    const providers = { staff: of(application.provider), customers: of(other) };
    const auth = application.another({
      issuer: undefined,
      clientId: undefined,
      clientSecret: undefined,
      providers,
    });
    const login = (key: string) => application.user().at(auth).get(`${LOGIN}?provider=${key}`);
    const held = application.provider.hold("par", { count: 50 });
    const waiting = Array.from({ length: 60 }, () => login("staff"));
    await held.arrived;
    expect((await login("customers")).status).toBe(302);
    held.release();
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(
      new Set([302]),
    );
    await other.stop();
  });
});
