import { generateKeyPairSync } from "node:crypto";
import { decodeProtectedHeader, importJWK, jwtVerify, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import { privateKeys } from "../../src/config/client-key-kinds.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import type { ClientKey, SignAssertion } from "../../src/keys/client-keys.js";
import type { AuthorizationRequest } from "../../src/ports/provider.js";
import { requestClaims } from "../../src/provider/request-object.js";
import { NONCE, REDIRECT_URI, rejection, unavailable, VERIFIER } from "./rig.js";
import { rig, shareRig } from "./shared-rig.js";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const edwards = generateKeyPairSync("ed25519").privateKey;
const keysOf = (value: unknown): readonly ClientKey[] => privateKeys.fromCode(value) ?? [];

shareRig();

interface Sent {
  readonly keys?: readonly ClientKey[];
  readonly changes?: Partial<ProviderSettings>;
  readonly login?: Partial<AuthorizationRequest>;
}

function authorize({ keys = keysOf(ec), changes = {}, login = {} }: Sent = {}) {
  rig.idp.settings.clientJwks = keys.flatMap(({ publicJwk }) => publicJwk ?? []);
  const provider = rig.settingsWith({
    clientSecret: "",
    privateKey: keys,
    signedRequests: "always",
    ...changes,
  });
  const request = { redirectUri: REDIRECT_URI, state: "s", nonce: NONCE, verifier: VERIFIER };
  return provider.authorizationUrl({ ...request, ...login });
}

/** What is in a request object, after its signature is verified as a provider does it. */
async function verified(jwt: string | null, keys = keysOf(ec)) {
  const { alg } = decodeProtectedHeader(jwt ?? "");
  const key = await importJWK(keys[0]?.publicJwk as JWK, alg);
  return jwtVerify(jwt ?? "", key, {
    issuer: rig.idp.clientId,
    audience: rig.idp.issuer,
    typ: "oauth-authz-req+jwt",
    currentDate: new Date(rig.clock.now()),
    requiredClaims: ["iat", "nbf", "exp", "jti"],
  });
}

const query = (url: string) => new URL(url).searchParams;

describe("a signed request", () => {
  it.each([
    ["RSA", rsa, "RS256"],
    ["P-256", ec, "ES256"],
    ["Ed25519", edwards, "EdDSA"],
  ])("contains every parameter, signed with an %s key", async (_name, key, alg) => {
    const keys = keysOf(key);
    const { url } = await authorize({ keys });
    const { payload, protectedHeader } = await verified(query(url).get("request"), keys);
    expect(protectedHeader).toEqual({ alg, typ: "oauth-authz-req+jwt", kid: keys[0]?.kid });
    const now = Math.floor(rig.clock.now() / 1000);
    expect(payload).toEqual({
      client_id: rig.idp.clientId,
      response_type: "code",
      redirect_uri: REDIRECT_URI,
      scope: "openid email profile offline_access",
      prompt: "consent",
      state: "s",
      nonce: NONCE,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: "S256",
      iss: rig.idp.clientId,
      aud: rig.idp.issuer,
      iat: now,
      nbf: now,
      exp: now + 300,
      jti: expect.stringMatching(/^[\w-]{22}$/) as string,
    });
  });

  it("leaves outside only what OpenID Connect Core demands there", async () => {
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      authorization_endpoint: `${rig.idp.issuer}/authorize?tenant=a&state=planted&nonce=planted`,
    });
    const { url } = await authorize();
    expect([...query(url).keys()].sort()).toEqual(
      ["client_id", "request", "response_type", "scope", "tenant"].sort(),
    );
  });

  it("is never the same twice", async () => {
    const requests = await Promise.all([authorize(), authorize()]);
    const ids = requests.map(
      async ({ url }) => (await verified(query(url).get("request"))).payload.jti,
    );
    expect(new Set(await Promise.all(ids)).size).toBe(2);
  });

  it("is the only parameter of a pushed request besides the client's authentication", async () => {
    const pushed: URLSearchParams[] = [];
    const fetchBy: typeof fetch = (input, init) => {
      if (!String(input).endsWith("/par")) return fetch(input, init);
      pushed.push(new URLSearchParams(String(init?.body)));
      return Promise.resolve(
        Response.json({ request_uri: "urn:x:1", expires_in: 60 }, { status: 201 }),
      );
    };
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      pushed_authorization_request_endpoint: `${rig.idp.issuer}/par`,
    });
    const provider = rig.settingsWith(
      {
        clientSecret: "",
        privateKey: keysOf(ec),
        signedRequests: "always",
        pushedRequests: "always",
      },
      fetchBy,
    );
    const login = { redirectUri: REDIRECT_URI, state: "s", nonce: NONCE, verifier: VERIFIER };
    const { url } = await provider.authorizationUrl(login);
    expect([...query(url)]).toEqual([
      ["client_id", rig.idp.clientId],
      ["request_uri", "urn:x:1"],
    ]);
    expect([...(pushed[0]?.keys() ?? [])].sort()).toEqual(
      ["client_assertion", "client_assertion_type", "client_id", "request"].sort(),
    );
    const { payload } = await verified(pushed[0]?.get("request") ?? null);
    expect(payload).toMatchObject({ state: "s", nonce: NONCE, redirect_uri: REDIRECT_URI });
  });

  it("is sent if the provider requires it, and otherwise only if the setting says so", async () => {
    const changes = { signedRequests: "when-required" } as const;
    expect(query((await authorize({ changes })).url).has("request")).toBe(false);
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      require_signed_request_object: true,
    });
    expect(query((await authorize({ changes })).url).has("request")).toBe(true);
  });

  it("still says whether the login is silent", async () => {
    const changes = { authorizationParams: { prompt: "none" } };
    expect(await authorize({ changes })).toMatchObject({ isSilent: true });
    expect(await authorize()).toMatchObject({ isSilent: false });
  });

  it("uses an algorithm that the provider accepts, or is the operator's fault", async () => {
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      request_object_signing_alg_values_supported: ["none", "RS256"],
    });
    const { url } = await authorize({ keys: keysOf(rsa) });
    const { protectedHeader } = await verified(query(url).get("request"), keysOf(rsa));
    expect(protectedHeader.alg).toBe("RS256");
    const error = await authorize().catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "provider_misconfigured",
      reason: "request_object_algorithm",
    });
  });

  it("is signed with PS256 alone where FAPI 2.0 applies", async () => {
    const fapi = { keys: keysOf(rsa), changes: { fapi: 2 } as const };
    const advertise = (changes: object) => {
      rig.idp.discoveryDocument = (document) => ({
        ...document,
        id_token_signing_alg_values_supported: ["PS256"],
        ...changes,
      });
    };
    advertise({});
    const { url } = await authorize(fapi);
    expect((await verified(query(url).get("request"), keysOf(rsa))).protectedHeader.alg).toBe(
      "PS256",
    );
    advertise({ request_object_signing_alg_values_supported: ["RS256"] });
    expect(await rejection(authorize(fapi))).toBe(unavailable("request_object_algorithm"));
  });

  it("keeps no more than its share of a key service: the others wait, or get 503", async () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    let running = 0;
    const sign: SignAssertion = async (...given) => {
      running += 1;
      await opened;
      return keysOf(ec)[0]!.sign(...given);
    };
    const provider = rig.settingsWith({
      clientSecret: "",
      privateKey: keysOf({ sign, alg: "ES256", kid: "k" }),
      signedRequests: "always",
      refreshConcurrency: 3,
    });
    const login = { redirectUri: REDIRECT_URI, state: "s", nonce: NONCE, verifier: VERIFIER };
    const logins = Array.from({ length: 8 }, () => provider.authorizationUrl(login));
    await expect.poll(() => running).toBe(3);
    open();
    expect(await Promise.all(logins)).toHaveLength(8);
    expect(running).toBe(8);
  });

  it("waits while the key refuses, and says so with 503", async () => {
    const broken = { sign: () => Promise.reject(new Error("Throttling")), alg: "ES256" as const };
    expect(await rejection(authorize({ keys: keysOf(broken) }))).toBe(
      unavailable("client_assertion"),
    );
  });
});

describe("a provider that requires signed requests", () => {
  const client = (changes: Partial<ProviderSettings> = {}) => {
    rig.idp.settings.clientJwks = keysOf(ec).flatMap(({ publicJwk }) => publicJwk ?? []);
    rig.idp.settings.signedRequests = "required";
    return rig.settingsWith({ clientSecret: "", privateKey: keysOf(ec), ...changes });
  };

  it("accepts a login in the address, and one that is pushed", async () => {
    await rig.exchange(client());
    const [plain] = rig.idp.requestsTo("authorize");
    expect(plain?.query.has("code_challenge")).toBe(false);
    rig.idp.settings.pushedRequests = true;
    await rig.exchange(client({ pushedRequests: "always" }));
    expect(rig.idp.requestsTo("par")).toHaveLength(1);
    expect(rig.idp.violations).toEqual([]);
  });

  it("gets what a login requests for its APIs and of the user's authentication", async () => {
    const provider = client({
      authorizationParams: { resource: ["https://a.example", "https://b.example"] },
    });
    const { url } = await provider.authorizationUrl({
      redirectUri: REDIRECT_URI,
      state: "s",
      nonce: NONCE,
      verifier: VERIFIER,
      stepUp: { max_age: 60, acr: ["gold"] },
      claims: '{"id_token":{"acr":{"essential":true}}}',
    });
    const { payload } = await verified(query(url).get("request"));
    expect(payload).toMatchObject({
      resource: ["https://a.example", "https://b.example"],
      max_age: 60,
      prompt: "login consent",
      acr_values: "gold",
      claims: { id_token: { acr: { essential: true } } },
    });
  });
});

describe("the claims of a request object", () => {
  const ours = { clientId: "app", issuer: "https://idp.example" };

  it.each<[string, Parameters<typeof requestClaims>[0], object]>([
    [
      "several values as a list",
      { resource: ["https://a", "https://b"] },
      { resource: ["https://a", "https://b"] },
    ],
    ["a single value as a string", { resource: ["https://a"] }, { resource: "https://a" }],
    [
      "`claims` as an object",
      { claims: '{"id_token":{"acr":null}}' },
      { claims: { id_token: { acr: null } } },
    ],
    ["`max_age` as a number", { max_age: "31536000" }, { max_age: 31_536_000 }],
    [
      "`authorization_details` as a list",
      { authorization_details: '[{"type":"x"}]' },
      { authorization_details: [{ type: "x" }] },
    ],
    [
      "what can't be read as it was",
      { claims: "x", max_age: "-1", authorization_details: "{}" },
      { claims: "x", max_age: "-1", authorization_details: "{}" },
    ],
    [
      "names of Object's own members",
      { constructor: "1", toString: "2" } as never,
      { constructor: "1", toString: "2" },
    ],
    ["nothing for an empty list", { prompt: [] }, {}],
    // RFC 9101 section 10.8: with a `sub` it could pass for a client assertion.
    [
      "no `sub`, and no other's issuer or audience",
      { sub: "app", iss: "x", aud: "y", jti: "z" },
      {},
    ],
  ])("have %s", (_name, parameters, expected) => {
    const { jti, ...claims } = requestClaims(parameters, ours);
    expect(claims).toEqual({ ...expected, iss: "app", aud: "https://idp.example" });
    expect(jti).toMatch(/^[\w-]{22}$/);
  });
});
