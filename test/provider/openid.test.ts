import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ProviderUnavailableError } from "../../src/errors.js";
import type { AuthorizationRequest } from "../../src/ports/provider.js";
import type { SignIn } from "../../src/record/credentials.js";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import { byStranger } from "../support/foreign-signature.js";
import {
  NONCE,
  REDIRECT_URI,
  refused,
  rejection,
  SESSION,
  unavailable,
  VERIFIER,
  type Rig,
} from "./rig.js";
import { AUTHORIZATION_PARAMETERS } from "../support/authorization-parameters.js";
import { rig, shareRig } from "./shared-rig.js";

let elsewhere: Server | undefined;

shareRig();
afterEach(() => elsewhere?.close());

const ENCRYPTED = `${Buffer.from('{"alg":"RSA-OAEP","enc":"A256GCM"}').toString("base64url")}.a.b.c.d`;
const SOMEBODY_ELSE = { sub: "somebody-else" };
const never = new AbortController().signal;
const at = (rig: Rig, seconds: number) => Math.floor(rig.clock.now() / 1000) + seconds;

describe("the authorization request", () => {
  it("has exactly the known parameters, each once", async () => {
    // The example of RFC 7636 appendix B.
    const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const url = new URL(
      (
        await rig.provider.authorizationUrl({
          redirectUri: REDIRECT_URI,
          state: "s",
          nonce: NONCE,
          verifier,
        })
      ).url,
    );
    expect(url.origin + url.pathname).toBe(`${rig.idp.issuer}/authorize`);
    expect([...url.searchParams.keys()].sort()).toEqual(AUTHORIZATION_PARAMETERS);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: "code",
      client_id: rig.idp.clientId,
      redirect_uri: REDIRECT_URI,
      scope: "openid email profile offline_access",
      prompt: "consent",
      code_challenge_method: "S256",
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    });
  });

  it("[ASVS-10.2.1] an explicit SCOPE is sent exactly", async () => {
    const provider = rig.settingsWith({ scope: ["openid", "email"], scopeIsDefault: false });
    const url = new URL(
      (
        await provider.authorizationUrl({
          redirectUri: REDIRECT_URI,
          state: "s",
          nonce: NONCE,
          verifier: VERIFIER,
        })
      ).url,
    );
    expect(url.searchParams.get("scope")).toBe("openid email");
    expect(url.searchParams.has("prompt")).toBe(false);
  });

  const requested = async (
    settings: Parameters<Rig["settingsWith"]>[0],
    more: Partial<AuthorizationRequest> = {},
  ) => {
    const request = {
      redirectUri: REDIRECT_URI,
      state: "s",
      nonce: NONCE,
      verifier: VERIFIER,
      ...more,
    };
    return new URL((await rig.settingsWith(settings).authorizationUrl(request)).url).searchParams;
  };

  it("carries IDP_AUTHORIZATION_PARAMS, a list as a repeated parameter, and encodes the values", async () => {
    const authorizationParams = {
      audience: "https://api.example/?a=1&b=2",
      resource: ["urn:a", "urn:b c"],
      claims_locales: "de fr",
    };
    const query = await requested({ authorizationParams });
    expect(query.getAll("audience")).toEqual(["https://api.example/?a=1&b=2"]);
    expect(query.getAll("resource")).toEqual(["urn:a", "urn:b c"]);
    expect(query.getAll("claims_locales")).toEqual(["de fr"]);
  });

  it.each<[string, Rig["idp"]["settings"]["stepUp"], (string | null)[]]>([
    ["claims if", "supported", ['{"id_token":{"auth_time":{"essential":true}}}', null]],
    ["max_age unless", "ignored", [null, "31536000"]],
  ])("requests auth_time with %s the provider supports claims", async (_how, stepUp, expected) => {
    rig.idp.settings.stepUp = stepUp;
    const query = await requested({}, { requestsAuthTime: true });
    expect([query.get("claims"), query.get("max_age")]).toEqual(expected);
  });

  it("carries the parameters of the login, over which IDP_AUTHORIZATION_PARAMS wins", async () => {
    const query = await requested(
      { authorizationParams: { hd: "example.com" } },
      { parameters: { hd: "evil.example", login_hint: "ada" } },
    );
    expect([query.getAll("hd"), query.getAll("login_hint")]).toEqual([["example.com"], ["ada"]]);
  });

  it("never lets a further parameter replace one of the protocol, and knows no name of Object.prototype", async () => {
    const parameters = {
      state: "evil",
      scope: "evil",
      redirect_uri: "https://evil.example",
      ["__proto__"]: "x",
    };
    const query = await requested({ authorizationParams: { nonce: ["a", "b"] } }, { parameters });
    expect([query.getAll("state"), query.getAll("nonce"), query.getAll("redirect_uri")]).toEqual([
      ["s"],
      [NONCE],
      [REDIRECT_URI],
    ]);
    expect(query.getAll("scope")).toEqual(["openid email profile offline_access"]);
    expect(query.getAll("__proto__")).toEqual(["x"]);
  });

  it("replaces a parameter in the endpoint's own address, and keeps the others", async () => {
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      authorization_endpoint: `${String(document["authorization_endpoint"])}?hd=a&hd=b&tenant=t`,
    });
    const query = await requested({ authorizationParams: { hd: "c" } });
    expect([query.getAll("hd"), query.getAll("tenant")]).toEqual([["c"], ["t"]]);
  });

  it.each<[string, Parameters<Rig["settingsWith"]>[0], Partial<AuthorizationRequest>, string]>([
    ["the default", {}, {}, "consent"],
    ["IDP_LOGIN_PROMPT over the default", { loginPrompt: "login" }, {}, "login"],
    [
      "the login's own over IDP_LOGIN_PROMPT",
      { loginPrompt: "login" },
      { parameters: { prompt: "none" } },
      "none",
    ],
    [
      "IDP_AUTHORIZATION_PARAMS over both",
      { loginPrompt: "login", authorizationParams: { prompt: "consent login" } },
      { parameters: { prompt: "none" } },
      "consent login",
    ],
    [
      "another account over all",
      { loginPrompt: "none", authorizationParams: { prompt: "none" } },
      { parameters: { prompt: "none" }, selectAccount: true },
      "login",
    ],
    [
      "step-up by acr keeps others",
      { loginPrompt: "select_account" },
      { stepUp: { acr: ["mfa"] } },
      "select_account",
    ],
  ])("has one prompt: %s", async (_name, settings, more, prompt) => {
    expect((await requested(settings, more)).getAll("prompt")).toEqual([prompt]);
  });

  it("a warning, once, when the default scopes will hardly bring a refresh token", async () => {
    rig.idp.settings.scopesSupported = ["openid"];
    await rig.code();
    await rig.code();
    expect(rig.logged.map(({ code }) => code)).toEqual(["W004"]);
  });
});

describe("a refresh token that comes although a warning said that there might be none", () => {
  const lines = () => rig.logged.map(({ level, code }) => `${level} ${code}`);

  it("takes W004 back, once", async () => {
    rig.idp.settings.scopesSupported = ["openid"];
    rig.idp.tokenResponse = (body) => ({ ...(body as object), refresh_token: "given-anyway" });
    await rig.exchange();
    await rig.exchange();
    expect(lines()).toEqual(["warn W004", "warn refresh_token_given"]);
  });

  it.each([
    ["the grant types lack refresh_token", { grant_types_supported: ["authorization_code"] }, {}],
    ["the prompt lacks consent", {}, { loginPrompt: "login" }],
  ])("takes W103 back: %s", async (_name, changes, settings) => {
    rig.idp.discoveryDocument = (document) => ({ ...document, ...changes });
    await rig.exchange(rig.settingsWith(settings));
    expect(lines()).toEqual(["info refresh_token_given"]);
  });

  it("takes W004 back that comes after a refresh token without a warning", async () => {
    await rig.exchange();
    rig.idp.discoveryDocument = (document) => ({ ...document, scopes_supported: ["openid"] });
    rig.clock.advance(3_601_000);
    // Fetches the new document in the background.
    await rig.exchange();
    await vi.waitFor(async () => {
      await rig.exchange();
      expect(lines().sort()).toEqual(["warn W004", "warn refresh_token_given"]);
    });
  });

  it("is no news where it was expected, and no line comes without one", async () => {
    await rig.exchange();
    rig.idp.settings.scopesSupported = ["openid"];
    rig.idp.tokenResponse = (body) => ({ ...(body as object), refresh_token: undefined });
    await rig.exchange(rig.settingsWith({ scopeIsDefault: false, scope: ["openid"] }));
    expect(lines()).toEqual([]);
  });

  it("also counts in the response to a refresh, as after a restart", async () => {
    const { credentials } = await rig.exchange();
    const restarted = rig.settingsWith({ scopeIsDefault: false, scope: ["openid"] });
    const signal = new AbortController().signal;
    await restarted.refresh({
      refreshToken: credentials.refresh_token ?? "",
      session: SESSION,
      signal,
    });
    expect(lines()).toEqual(["warn refresh_token_given"]);
  });
});

describe("ID tokens without sid", () => {
  const codes = () => rig.logged.map(({ code }) => code);

  it.each([{ backchannelLogout: true }, { frontchannelLogout: true }])(
    "are said once in the log: %j",
    async (settings) => {
      rig.idp.settings.sid = "ignored";
      const provider = rig.settingsWith(settings);
      await rig.exchange(provider);
      await rig.exchange(provider);
      expect(codes()).toEqual(["sid_missing"]);
    },
  );

  it("are nothing to say where they have one, or where both logouts are off", async () => {
    await rig.exchange(rig.settingsWith({ backchannelLogout: true, frontchannelLogout: true }));
    rig.idp.settings.sid = "ignored";
    await rig.exchange();
    expect(codes()).toEqual([]);
  });
});

describe("what the provider requires and this package does not do", () => {
  it.each([["require_signed_request_object", "request_object_required", "signed request objects"]])(
    "%s is a misconfiguration that the log names, and starts no sign-in",
    async (name, reason, words) => {
      rig.idp.discoveryDocument = (document) => ({ ...document, [name]: true });
      await expect(rig.code()).rejects.toMatchObject({ code: "provider_misconfigured", reason });
      expect(rig.logged.map(({ message }) => message).join()).toContain(words);
    },
  );
});

describe("the code exchange", () => {
  it("gives credentials and verified claims", async () => {
    const { credentials, idInfo, accessTokenExpiresAt } = await rig.exchange();
    expect(credentials).toEqual({
      token: expect.stringMatching(/^eyJ/) as string,
      refresh_token: expect.stringMatching(/^rt_/) as string,
      token_uri: `${rig.idp.issuer}/token`,
      client_id: rig.idp.clientId,
      client_secret: rig.idp.clientSecret,
      scopes: ["openid", "email", "profile", "offline_access"],
    });
    expect(idInfo).toMatchObject({
      sub: "ada-1815",
      email: "ada@example.com",
      iss: rig.idp.issuer,
      aud: rig.idp.clientId,
      nonce: NONCE,
    });
    expect(accessTokenExpiresAt).toBe(at(rig, 3600));
    expect(rig.idp.requestsTo("userinfo")).toHaveLength(0);
  });

  it.each([
    ["client_secret_basic", "my-app.v1_*", "s-1.2_3*", "my-app.v1_*:s-1.2_3*"],
    ["client_secret_basic", "a b", "ü:+%&=~!'()", "a%20b:%C3%BC%3A%2B%25%26%3D%7E%21%27%28%29"],
  ] as const)(
    "%s sends client ID %j and secret %j as %j",
    async (tokenEndpointAuthMethod, clientId, clientSecret, expected) => {
      const provider = rig.settingsWith({ tokenEndpointAuthMethod, clientId, clientSecret });
      await rejection(
        provider.exchange({
          code: "c",
          redirectUri: REDIRECT_URI,
          nonce: NONCE,
          verifier: VERIFIER,
        }),
      );
      const [, credentials = ""] =
        rig.idp.requestsTo("token")[0]?.headers.authorization?.split(" ") ?? [];
      expect(Buffer.from(credentials, "base64").toString()).toBe(expected);
      expect(rig.idp.requestsTo("token")[0]?.params.has("client_secret")).toBe(false);
      expect(rig.idp.violations.splice(0)).toEqual([
        "token: invalid_client: client_id isn't test-client",
      ]);
    },
  );

  it.each(["client_secret_post", "client_secret_basic"] as const)(
    "invalid_client is reported once, with the name of the method: %s",
    async (tokenEndpointAuthMethod) => {
      const provider = rig.settingsWith({ tokenEndpointAuthMethod, clientSecret: "wrong" });
      for (let round = 0; round < 3; round += 1) {
        const exchange = provider.exchange({
          code: "c",
          redirectUri: REDIRECT_URI,
          nonce: NONCE,
          verifier: VERIFIER,
        });
        await expect(exchange).rejects.toMatchObject({
          code: "provider_misconfigured",
          retryAfter: 60,
        });
        rig.clock.advance(60_000);
      }
      expect(rig.logged.map(({ code }) => code)).toEqual(["provider_misconfigured"]);
      expect(rig.logged[0]?.message).toContain(`\`${tokenEndpointAuthMethod}\``);
      expect(rig.logged[0]?.message).not.toContain("wrong");
      expect(rig.idp.violations.splice(0)).toEqual(
        Array(3).fill("token: invalid_client: the client secret is wrong"),
      );
    },
  );

  it("an encrypted ID token is a misconfiguration that the log names", async () => {
    rig.idp.tokenResponse = (answer) => ({ ...answer, id_token: ENCRYPTED });
    for (let signIn = 0; signIn < 3; signIn += 1) {
      await expect(rig.exchange()).rejects.toMatchObject({
        code: "provider_misconfigured",
        reason: "id_token_encrypted",
      });
    }
    expect(rig.logged.map(({ message }) => message)).toEqual([
      expect.stringContaining("encrypts its ID tokens, which idpauth doesn't support"),
    ]);
  });

  it.each(["client_secret_post", "client_secret_basic"] as const)(
    "client authentication by %s, with any characters in the secret",
    async (method) => {
      rig.idp.settings.tokenEndpointAuthMethods = [method];
      rig.idp.settings.clientSecret = "a:b+c%d e\u00fc&=";
      await rig.exchange(
        rig.settingsWith({ tokenEndpointAuthMethod: method, clientSecret: rig.idp.clientSecret }),
      );
      const [request] = rig.idp.requestsTo("token");
      expect(request?.params.get("code_verifier")).toBe(VERIFIER);
      expect(request?.params.get("redirect_uri")).toBe(REDIRECT_URI);
      expect(request?.headers.authorization?.startsWith("Basic ") ?? false).toBe(
        method === "client_secret_basic",
      );
    },
  );

  it("the requested scopes, if the provider does not name the granted ones", async () => {
    rig.idp.tokenResponse = ({ scope: _scope, ...answer }) => answer;
    expect((await rig.exchange()).credentials.scopes).toEqual([
      "openid",
      "email",
      "profile",
      "offline_access",
    ]);
  });

  it.each([[undefined], ["soon"], [-1], [1e30], [null], [[]]])(
    "expires_in %j is as good as none",
    async (expires_in) => {
      rig.idp.tokenResponse = (answer) => ({ ...answer, expires_in });
      expect((await rig.exchange()).accessTokenExpiresAt).toBeUndefined();
    },
  );

  it("a refresh token that is null is as good as none", async () => {
    rig.idp.tokenResponse = (answer) => ({ ...answer, refresh_token: null });
    expect((await rig.exchange()).credentials).not.toHaveProperty("refresh_token");
  });

  it.each([
    [
      "a code that was used",
      { kind: "status", status: 400, body: { error: "invalid_grant" } },
      refused("invalid_grant"),
    ],
    ["400 without a body", { kind: "status", status: 400 }, refused("http_400")],
    [
      "invalid_client",
      { kind: "status", status: 401, body: { error: "invalid_client" } },
      unavailable("invalid_client"),
    ],
    ["403", { kind: "status", status: 403 }, unavailable("http_403")],
    [
      "403 unauthorized_client",
      { kind: "status", status: 403, body: { error: "unauthorized_client" } },
      unavailable("unauthorized_client"),
    ],
    [
      "403 with an unknown error",
      { kind: "status", status: 403, body: { error: "denied_by_rule" } },
      refused("denied_by_rule"),
    ],
    ["404", { kind: "status", status: 404 }, refused("http_404")],
    ["500", { kind: "status", status: 500 }, unavailable("http_500")],
    ["no JSON", { kind: "garbage" }, unavailable("not_json")],
    ["a JSON list", { kind: "garbage", body: "[]" }, unavailable("not_json")],
    ["a reset connection", { kind: "reset" }, unavailable("network")],
    ["an answer cut off", { kind: "truncated" }, unavailable("network")],
    ["an oversized answer", { kind: "oversized", before: false }, unavailable("too_large")],
    ["a redirect", { kind: "redirect" }, unavailable("redirect")],
  ] satisfies [string, Fault, string][])(
    "[F4] is never tried twice: %s",
    async (_name, fault, expected) => {
      const code = await rig.code();
      rig.idp.fault("token", fault);
      expect(
        await rejection(
          rig.provider.exchange({
            code,
            redirectUri: REDIRECT_URI,
            nonce: NONCE,
            verifier: VERIFIER,
          }),
        ),
      ).toBe(expected);
      expect(rig.idp.requestsTo("token")).toHaveLength(1);
      expect(rig.idp.requestsTo("unknown")).toHaveLength(0);
    },
  );

  it.each([
    ["no ID token", { id_token: undefined }, "id_token_missing"],
    ["an ID token that is no string", { id_token: 1 }, "id_token_format"],
    ["an ID token that is empty", { id_token: "" }, "id_token_missing"],
  ])("is refused: %s", async (_name, changes, reason) => {
    rig.idp.tokenResponse = (answer) => ({ ...answer, ...changes });
    expect(await rejection(rig.exchange())).toBe(refused(reason));
  });

  it.each([
    ["no access token", { access_token: undefined }, "access_token_missing"],
    ["an access token that is no string", { access_token: { a: 1 } }, "access_token_missing"],
    ["no tokens", { access_token: "", id_token: "", refresh_token: "" }, "no_tokens"],
    ["another token type", { token_type: "DPoP" }, "token_type"],
    ["no token type", { token_type: undefined }, "token_type"],
  ])("is an outage, which does not block others: %s", async (_name, changes, reason) => {
    rig.idp.tokenResponse = (answer) => ({ ...answer, ...changes });
    expect(await rejection(rig.exchange())).toBe(unavailable(reason));
    rig.provider.assertReadyToExchange();
  });

  it("an empty code is refused without a request", async () => {
    expect(
      await rejection(
        rig.provider.exchange({
          code: "",
          redirectUri: REDIRECT_URI,
          nonce: NONCE,
          verifier: VERIFIER,
        }),
      ),
    ).toBe(refused("code_missing"));
    expect(rig.idp.requestsTo("token")).toHaveLength(0);
  });

  it("[F20] an access token of 64 KB is taken as it is", async () => {
    rig.idp.tokenResponse = (answer) => ({ ...answer, access_token: "x".repeat(65_536) });
    rig.idp.mutateIdToken = ({ claims }) => ({
      claims: Object.fromEntries(Object.entries(claims).filter(([name]) => name !== "at_hash")),
    });
    expect((await rig.exchange()).credentials.token).toHaveLength(65_536);
  });
});

describe("userinfo, when the ID token says only which account it is", () => {
  beforeEach(() => {
    rig.idp.settings.claimsInIdToken = false;
  });

  it("fills in the claims that the ID token lacks", async () => {
    rig.idp.userinfoResponse = (claims) => ({
      ...claims,
      hd: "example.com",
      iss: "https://evil.example",
      exp: 1,
    });
    const { idInfo } = await rig.exchange();
    expect(idInfo).toMatchObject({
      email: "ada@example.com",
      name: "Ada Lovelace",
      email_verified: true,
      iss: rig.idp.issuer,
    });
    expect(idInfo).toMatchObject({ hd: "example.com" });
    expect(rig.idp.requestsTo("userinfo")).toHaveLength(1);
    expect(rig.idp.requestsTo("userinfo")[0]?.headers.authorization).toMatch(/^Bearer eyJ/);
  });

  it.each([
    [
      "names another sub",
      () => (rig.idp.userinfoResponse = (claims) => ({ ...claims, sub: "somebody-else" })),
    ],
    [
      "names no sub",
      () =>
        (rig.idp.userinfoResponse = (claims) =>
          Object.fromEntries(Object.entries(claims).filter(([name]) => name !== "sub"))),
    ],
    ["is no JSON", () => rig.idp.fault("userinfo", { kind: "garbage" })],
    [
      "is a token",
      () =>
        rig.idp.fault("userinfo", {
          kind: "status",
          status: 200,
          headers: { "content-type": "application/jwt" },
          body: "a.b.c",
        }),
    ],
    ["is an outage", () => rig.idp.fault("userinfo", { kind: "status", status: 500 })],
    ["is a refusal", () => rig.idp.fault("userinfo", { kind: "status", status: 401 })],
    ["never comes", () => rig.idp.fault("userinfo", { kind: "reset" })],
    ["is oversized", () => rig.idp.fault("userinfo", { kind: "oversized" })],
    ["is a redirect", () => rig.idp.fault("userinfo", { kind: "redirect" })],
  ])("the sign-in stands with empty claims when the response %s", async (_name, spoil) => {
    spoil();
    const { idInfo } = await rig.exchange();
    expect(idInfo).toMatchObject({ sub: "ada-1815" });
    expect(idInfo).not.toHaveProperty("email");
    expect(rig.idp.requestsTo("unknown")).toHaveLength(0);
  });

  it("is not requested if there is no such endpoint", async () => {
    rig.idp.discoveryDocument = ({ userinfo_endpoint: _endpoint, ...document }) => document;
    expect((await rig.exchange()).idInfo).not.toHaveProperty("email");
    expect(rig.idp.requestsTo("userinfo")).toHaveLength(0);
  });
});

describe("a refresh response without an ID token", () => {
  beforeEach(() => {
    rig.idp.tokenResponse = ({ id_token, ...answer }, request) =>
      request.params.get("grant_type") === "refresh_token" ? answer : { ...answer, id_token };
  });

  it("userinfo stands in: same user, all claims kept, exp from expires_in", async () => {
    const signedIn = await rig.exchange();
    rig.clock.advance(3_600_000);
    const idInfo = await rig.renew(signedIn);
    expect(idInfo).toStrictEqual({ ...signedIn.idInfo, exp: at(rig, 3600) });
    expect(rig.idp.requestsTo("userinfo")).toHaveLength(1);
  });

  it("a claim that userinfo gave at the sign-in follows userinfo", async () => {
    rig.idp.settings.claimsInIdToken = false;
    const signedIn = await rig.exchange();
    rig.idp.userinfoResponse = ({ name: _gone, ...claims }) => ({
      ...claims,
      email: "new@example.com",
    });
    const idInfo = await rig.renew(signedIn);
    expect(idInfo).toMatchObject({ email: "new@example.com" });
    expect(idInfo).not.toHaveProperty("name");
  });

  it.each([
    ["expires_in above an hour", 86_400, 3600],
    ["a short expires_in", 60, 60],
    ["no expires_in", undefined, 300],
  ])("exp moves by at most an hour: %s", async (_name, expires_in, expected) => {
    rig.idp.mutateIdToken = ({ claims }) => ({
      claims: { ...claims, exp: (claims["iat"] as number) + 300 },
    });
    const signedIn = await rig.exchange();
    rig.idp.tokenResponse = ({ id_token: _none, ...answer }) => ({ ...answer, expires_in });
    rig.clock.advance(1_000_000);
    expect(await rig.renew(signedIn)).toMatchObject({ exp: at(rig, expected) });
  });

  it("another sub is refused", async () => {
    const signedIn = await rig.exchange();
    rig.idp.userinfoResponse = (claims) => ({ ...claims, sub: "somebody-else" });
    expect(await rejection(rig.renew(signedIn))).toBe(refused("userinfo_sub"));
  });

  it.each([
    ["", ({ sub: _none, ...claims }: Record<string, unknown>) => claims],
    [" that is empty", (claims: Record<string, unknown>) => ({ ...claims, sub: "" })],
  ])("claims without a sub%s are about nobody, and an outage", async (_name, change) => {
    const signedIn = await rig.exchange();
    rig.idp.userinfoResponse = change;
    expect(await rejection(rig.renew(signedIn))).toBe(unavailable("userinfo_sub_missing"));
  });

  it.each([
    ["network", { kind: "reset" }, "network"],
    ["503", { kind: "status", status: 503 }, "http_503"],
    ["403", { kind: "status", status: 403 }, "http_403"],
    ["no JSON", { kind: "garbage" }, "not_json"],
  ] satisfies [string, Fault, string][])(
    "a userinfo endpoint that does not respond is an outage: %s",
    async (_name, fault, reason) => {
      const signedIn = await rig.exchange();
      const spent = await rig.refresh(signedIn.credentials.refresh_token ?? "");
      const withdraw = rig.idp.fault("userinfo", fault);
      expect(await rejection(rig.verify(spent, signedIn))).toBe(unavailable(reason));
      // No further refresh token is spent meanwhile.
      expect(await rejection(rig.refresh(spent.refreshToken ?? ""))).toBe(
        unavailable("backing_off"),
      );
      withdraw();
      rig.clock.advance(60_000);
      const again = await rig.refresh(spent.refreshToken ?? "");
      await expect(rig.verify(again, signedIn)).resolves.toMatchObject({
        sub: signedIn.idInfo.sub,
      });
    },
  );

  const SIGNED = {
    kind: "status",
    status: 200,
    headers: { "content-type": "application/jwt" },
    body: "a.b.c",
  } as const;
  it.each<[string, Fault, string, string]>([
    ["signed", SIGNED, "userinfo_signed", "(application/jwt), which idpauth doesn't support"],
    [
      "that does not accept the fresh access token",
      { kind: "status", status: 401 },
      "userinfo_refused",
      "doesn't accept (401) an access token",
    ],
  ])(
    "userinfo %s: an operator must act, and only this session waits, up to 5 min",
    async (_name, fault, reason, words) => {
      const signedIn = await rig.exchange();
      const withdraw = rig.idp.fault("userinfo", fault);
      let token = signedIn.credentials.refresh_token ?? "";
      for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
        const spent = await rig.refresh(token);
        token = spent.refreshToken ?? "";
        await expect(rig.verify(spent, signedIn)).rejects.toMatchObject({
          code: "provider_misconfigured",
          reason,
          loginHelps: true,
        });
        rig.provider.assertReadyToRefresh("another session");
        rig.clock.advance(seconds * 1000 - 1);
        expect(await rejection(rig.refresh(token))).toBe(unavailable("backing_off"));
        rig.clock.advance(1);
      }
      expect(rig.logged.map(({ message }) => message).join()).toContain(words);
      withdraw();
      await expect(rig.verify(await rig.refresh(token), signedIn)).resolves.toBeDefined();
    },
  );

  it.each([
    ["IDP_REFRESH_WITHOUT_ID_TOKEN=refuse", { refreshWithoutIdToken: "refuse" as const }, false],
    ["no userinfo endpoint", {}, true],
  ])("%s: refused, with a remedy that names the setting", async (_name, changes, isGone) => {
    const signedIn = await rig.exchange();
    if (isGone) rig.idp.discoveryDocument = ({ userinfo_endpoint: _gone, ...document }) => document;
    const provider = rig.settingsWith(changes);
    const spent = await rig.refresh(signedIn.credentials.refresh_token ?? "");
    expect(await rejection(rig.verify(spent, signedIn, provider))).toBe(
      refused("id_token_missing"),
    );
    const again = await rig.refresh(spent.refreshToken ?? "");
    expect(await rejection(rig.verify(again, signedIn, provider))).toBe(
      refused("id_token_missing"),
    );
    expect(rig.logged.map(({ message }) => message)).toEqual([
      expect.stringContaining("IDP_REFRESH_WITHOUT_ID_TOKEN"),
    ]);
    expect(rig.idp.requestsTo("userinfo")).toHaveLength(0);
  });
});

describe("the response to a refresh", () => {
  let signedIn: SignIn;
  let refreshToken: string;
  beforeEach(async () => {
    signedIn = await rig.exchange();
    refreshToken = signedIn.credentials.refresh_token ?? "";
    rig.idp.requests.length = 0;
  });

  it("200 with a verified ID token: refreshed; missing identity keeps its old values", async () => {
    rig.idp.settings.claimsInIdToken = false;
    rig.clock.advance(3600_000);
    const spent = await rig.refresh(refreshToken);
    expect(spent.refreshToken).not.toBe(refreshToken);
    expect(spent.accessTokenExpiresAt).toBe(at(rig, 3600));
    const idInfo = await rig.verify(spent, signedIn);
    expect(idInfo).toMatchObject({
      email: "ada@example.com",
      name: "Ada Lovelace",
      email_verified: true,
      exp: at(rig, 3600),
    });
    expect(idInfo).not.toHaveProperty("nonce");
  });

  it("200 with a wrong ID token: refused, and the rotated refresh token was given first", async () => {
    rig.idp.mutateIdToken = (draft) => ({ claims: { ...draft.claims, ...SOMEBODY_ELSE } });
    const spent = await rig.refresh(refreshToken);
    expect(spent.refreshToken).toMatch(/^rt_/);
    expect(await rejection(rig.verify(spent, signedIn))).toBe(refused("id_token_sub"));
  });

  it.each([
    [
      "without an access token: outage",
      { access_token: undefined },
      unavailable("access_token_missing"),
    ],
    ["with another token type: outage", { token_type: "mac" }, unavailable("token_type")],
    ["with an ID token that is no token: refused", { id_token: "x" }, refused("id_token_format")],
  ])("200 %s, and the rotated refresh token was given first", async (_name, changes, expected) => {
    rig.idp.tokenResponse = (answer) => ({ ...answer, ...changes });
    const spent = await rig.refresh(refreshToken);
    expect(spent.refreshToken).toMatch(/^rt_/);
    expect(await rejection(rig.verify(spent, signedIn))).toBe(expected);
  });

  it("200 while the keys are unreachable: outage, and the rotated refresh token was given first", async () => {
    const spent = await rig.refresh(refreshToken);
    const cold = rig.settingsWith({});
    rig.idp.fault("jwks", { kind: "status", status: 503 });
    expect(spent.refreshToken).toMatch(/^rt_/);
    expect(await rejection(rig.verify(spent, signedIn, cold))).toBe(unavailable("jwks"));
    // And no further refresh token is spent while nothing could be verified.
    expect(
      await rejection(
        cold.refresh({ refreshToken: spent.refreshToken ?? "", session: SESSION, signal: never }),
      ),
    ).toBe(unavailable("backing_off"));
    expect(rig.idp.requestsTo("token")).toHaveLength(1);
    rig.idp.clearFaults();
    rig.clock.advance(1000);
    await expect(rig.verify(spent, signedIn, cold)).resolves.toBeDefined();
  });

  it("200 with a key that is unknown even after one forced fetch: outage", async () => {
    rig.idp.mutateIdToken = byStranger({ kid: "nobody-knows" });
    expect(await rejection(rig.renew(signedIn))).toBe(unavailable("unknown_key"));
    expect(rig.idp.requestsTo("jwks")).toHaveLength(1);
  });

  it.each<[string, () => void, number[]]>([
    [
      "the key is unknown, up to 5 min",
      () => (rig.idp.mutateIdToken = byStranger({ kid: "nobody-knows" })),
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300],
    ],
    [
      "the keys cannot be fetched, up to 30 s",
      () => {
        rig.idp.fault("jwks", { kind: "status", status: 500 });
        rig.idp.mutateIdToken = byStranger({ kid: "nobody-knows" });
      },
      [1, 2, 4, 8, 16, 30, 30],
    ],
    [
      "userinfo does not confirm them, up to 30 s",
      () => {
        rig.idp.fault("userinfo", { kind: "status", status: 500 });
        rig.idp.tokenResponse = ({ id_token: _none, ...rest }) => rest;
      },
      [1, 2, 4, 8, 16, 30, 30],
    ],
  ])(
    "a session whose new tokens cannot be verified backs off alone: %s",
    async (_what, spoil, waits) => {
      const before = rig.idp.mutateIdToken;
      spoil();
      let token = signedIn.credentials.refresh_token ?? "";
      for (const seconds of waits) {
        const spent = await rig.refresh(token);
        token = spent.refreshToken ?? "";
        await expect(rig.verify(spent, signedIn)).rejects.toMatchObject({ retryAfter: seconds });
        rig.clock.advance(seconds * 1000 - 1);
        expect(await rejection(rig.refresh(token))).toBe(unavailable("backing_off"));
        rig.provider.assertReadyToRefresh("another session");
        rig.provider.assertReadyToExchange();
        rig.clock.advance(1);
      }
      // Verified once, it starts again at 1 s.
      rig.idp.clearFaults();
      [rig.idp.mutateIdToken, rig.idp.tokenResponse] = [before, undefined];
      const good = await rig.refresh(token);
      await rig.verify(good, signedIn);
      spoil();
      const spent = await rig.refresh(good.refreshToken ?? "");
      await expect(rig.verify(spent, signedIn)).rejects.toMatchObject({ retryAfter: 1 });
    },
  );

  const REFUSED: [string, Fault, string][] = [
    [
      "400 invalid_grant",
      { kind: "status", status: 400, body: { error: "invalid_grant" } },
      "invalid_grant",
    ],
    [
      "403 access_denied",
      { kind: "status", status: 403, body: { error: "access_denied" } },
      "access_denied",
    ],
    [
      "200 invalid_grant",
      { kind: "status", status: 200, body: { error: "invalid_grant" } },
      "invalid_grant",
    ],
  ];
  it.each(REFUSED)("%s: refused, and the endpoint counts as well", async (_name, fault, reason) => {
    rig.idp.fault("token", fault);
    expect(await rejection(rig.refresh(refreshToken))).toBe(refused(reason));
    rig.provider.assertReadyToRefresh(SESSION);
  });

  const operator = (status: number, error?: string): [string, Fault, string] => [
    `${String(status)} ${error ?? "without an error code"}`,
    { kind: "status", status, body: { error, error_description: "secret words" } },
    error ?? `http_${String(status)}`,
  ];
  it.each([
    operator(400, "invalid_client"),
    operator(400, "unauthorized_client"),
    operator(400, "unsupported_grant_type"),
    operator(400, "invalid_scope"),
    operator(401, "invalid_client"),
    operator(401),
    operator(403),
    operator(404),
    operator(422),
  ])(
    "%s: the operator's error, loud in the log, otherwise an outage",
    async (_name, fault, reason) => {
      rig.idp.fault("token", fault);
      expect(await rejection(rig.refresh(refreshToken))).toBe(unavailable(reason));
      expect(rig.logged).toEqual([
        expect.objectContaining({
          level: "error",
          details: expect.objectContaining({ reason }) as object,
        }),
      ]);
      expect(JSON.stringify(rig.logged)).not.toContain("secret words");
    },
  );

  it.each([
    [400, "unauthorized_client", true],
    [401, "unauthorized_client", true],
    [403, "unauthorized_client", true],
    [403, undefined, true],
    [403, "denied", true],
    [400, "unsupported_grant_type", false],
    [400, "invalid_scope", false],
    [404, undefined, false],
  ])(
    "%i %s: some providers say so of a wrong secret, so whether the line names it is %s",
    async (status, error, isNamed) => {
      rig.idp.fault("token", { kind: "status", status, body: { error } });
      await rejection(rig.refresh(refreshToken));
      const [line] = rig.logged;
      expect(line?.message).toContain("Check the client's settings at the provider.");
      expect(line?.message.includes("IDP_CLIENT_SECRET")).toBe(isNamed);
    },
  );

  const OUTAGES: [string, Fault, string][] = [
    ["a reset connection", { kind: "reset" }, "network"],
    ["an answer cut off", { kind: "truncated" }, "network"],
    ["408", { kind: "status", status: 408 }, "http_408"],
    ["429", { kind: "status", status: 429 }, "http_429"],
    ["500", { kind: "status", status: 500, body: { error: "invalid_grant" } }, "http_500"],
    ["502", { kind: "status", status: 502, body: "<html>" }, "http_502"],
    ["503", { kind: "status", status: 503 }, "http_503"],
    ["a redirect", { kind: "redirect", status: 307 }, "redirect"],
    ["no JSON", { kind: "garbage" }, "not_json"],
    ["a web page", { kind: "wrong-type", body: "<html>" }, "not_json"],
    ["null", { kind: "garbage", body: "null" }, "not_json"],
    ["an empty body", { kind: "garbage", body: "" }, "not_json"],
    ["400 with a web page", { kind: "status", status: 400, body: "<p>no" }, "http_400"],
    ["400 without a body", { kind: "status", status: 400 }, "http_400"],
    [
      "200 with a maintenance notice in JSON",
      { kind: "status", status: 200, body: { status: "maintenance" } },
      "no_tokens",
    ],
    ["more than 1 MiB", { kind: "oversized", before: false }, "too_large"],
    ["an endless answer", { kind: "oversized", bytes: Infinity }, "too_large"],
  ];
  it.each(OUTAGES)("%s: outage", async (_name, fault, reason) => {
    rig.idp.fault("token", fault);
    expect(await rejection(rig.refresh(refreshToken))).toBe(unavailable(reason));
    expect(rig.idp.requestsTo("token")).toHaveLength(1);
    expect(rig.idp.requestsTo("unknown")).toHaveLength(0);
  });

  it("nobody listening: outage", async () => {
    await rig.idp.pause();
    expect(await rejection(rig.refresh(refreshToken))).toBe(unavailable("network"));
    await rig.idp.resume();
  });

  it.each(["hang", "drip"] as const)(
    "no complete response by the refresher's deadline (%s): outage",
    async (kind) => {
      rig.idp.fault("token", { kind });
      expect(
        await rejection(
          rig.provider.refresh({ refreshToken, session: SESSION, signal: AbortSignal.timeout(50) }),
        ),
      ).toBe(unavailable("timeout"));
    },
  );

  it("IDP_HTTP_TIMEOUT does not end a refresh: that has a deadline of its own", async () => {
    const hold = rig.idp.hold("token");
    const spent = rig.refresh(refreshToken);
    await hold.arrived;
    rig.clock.advance(29_000);
    hold.release();
    await expect(spent).resolves.toBeDefined();
  });

  it("an outage keeps this process away for a while, then the session can be refreshed again", async () => {
    const withdraw = rig.idp.fault("token", {
      kind: "status",
      status: 503,
      headers: { "retry-after": "7" },
    });
    await expect(rig.refresh(refreshToken)).rejects.toMatchObject({
      reason: "http_503",
      retryAfter: 7,
      status: 503,
    });
    expect(() => {
      rig.provider.assertReadyToRefresh(SESSION);
    }).toThrow(ProviderUnavailableError);
    rig.clock.advance(6000);
    await expect(rig.refresh(refreshToken)).rejects.toMatchObject({
      reason: "backing_off",
      retryAfter: 1,
    });
    expect(rig.idp.requestsTo("token")).toHaveLength(1);
    withdraw();
    rig.clock.advance(1000);
    rig.provider.assertReadyToRefresh(SESSION);
    await expect(rig.refresh(refreshToken)).resolves.toBeDefined();
  });

  it("[F17] invalid_client backs off longer each time, until the secret is repaired", async () => {
    rig.idp.fault("token", {
      kind: "status",
      status: 401,
      body: { error: "invalid_client" },
      times: 3,
    });
    const waits: number[] = [];
    const isReady = () => {
      try {
        rig.provider.assertReadyToRefresh(SESSION);
        return true;
      } catch {
        return false;
      }
    };
    for (let round = 0; round < 3; round++) {
      await expect(rig.refresh(refreshToken)).rejects.toMatchObject({
        code: "provider_misconfigured",
        retryAfter: 60,
      });
      let seconds = 0;
      for (; !isReady(); seconds += 1) rig.clock.advance(1000);
      waits.push(seconds);
    }
    expect(waits).toEqual([1, 2, 4]);
    await expect(rig.refresh(refreshToken)).resolves.toBeDefined();
  });

  it("[REV-4] [F7] a token is never sent again to where a redirect points", async () => {
    let strays = 0;
    elsewhere = createServer((_request, response) => {
      strays += 1;
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere?.listen(0, "127.0.0.1", resolve));
    const location = `http://127.0.0.1:${String((elsewhere.address() as AddressInfo).port)}/`;
    for (const status of [301, 302, 303, 307, 308]) {
      for (const endpoint of ["token", "revoke", "jwks", "discovery"] as const)
        rig.idp.fault(endpoint, { kind: "redirect", status, location, times: 1 });
      await rejection(rig.refresh(refreshToken));
      await rig.provider.revoke(refreshToken, "refresh_token");
      await rejection(rig.settingsWith({}).facts());
      rig.clock.advance(60_000);
    }
    expect(strays).toBe(0);
    expect(rig.idp.requestsTo("token")).toHaveLength(5);
    expect(rig.idp.requestsTo("revoke")).toHaveLength(5);
  });

  it("neither log nor error ever holds a token, a secret or the provider's words", async () => {
    const faults: Fault[] = [...REFUSED, ...OUTAGES].map(([, fault]) => ({ ...fault, times: 1 }));
    const errors: unknown[] = [];
    for (const fault of faults) {
      rig.idp.fault("token", fault);
      await rig.refresh(refreshToken).catch((error: unknown) => errors.push(error));
      rig.clock.advance(60_000);
    }
    rig.idp.mutateIdToken = (draft) => ({ claims: { ...draft.claims, exp: 1 } });
    const { inspect } = await import("node:util");
    const code = await rig.code();
    await rig.provider
      .exchange({ code, redirectUri: REDIRECT_URI, nonce: NONCE, verifier: VERIFIER })
      .catch((error: unknown) => errors.push(error));
    const seen = inspect(errors, { depth: 20 }) + JSON.stringify(rig.logged);
    for (const secret of [
      ...rig.idp.issued.map(({ value }) => value),
      rig.idp.clientSecret,
      NONCE,
      VERIFIER,
    ])
      expect(seen).not.toContain(secret);
  });
});

describe("revocation", () => {
  it.each(["refresh_token", "access_token"] as const)(
    "[REV-1] posts the token with client authentication and its hint: %s",
    async (hint) => {
      const { credentials } = await rig.exchange();
      const token =
        hint === "refresh_token" ? (credentials.refresh_token ?? "") : credentials.token;
      expect(await rig.provider.revoke(token, hint)).toBe(true);
      expect(rig.idp.isActive(token)).toBe(false);
      const [request] = rig.idp.requestsTo("revoke");
      expect(request?.method).toBe("POST");
      expect(Object.fromEntries(request?.params ?? [])).toEqual({
        token,
        token_type_hint: hint,
        client_id: rig.idp.clientId,
        client_secret: rig.idp.clientSecret,
      });
    },
  );

  it.each([
    ["client_secret_post", ["client_secret_basic"], "basic"],
    ["client_secret_basic", ["client_secret_post"], "post"],
    ["client_secret_post", ["client_secret_basic", "client_secret_post"], "post"],
    ["client_secret_basic", ["private_key_jwt"], "basic"],
    ["client_secret_post", undefined, "post"],
  ] as const)(
    "[REV-1] with %s, at an endpoint that lists %j, the secret goes by %s",
    async (tokenEndpointAuthMethod, listed, sent) => {
      rig.idp.discoveryDocument = (document) => ({
        ...document,
        revocation_endpoint_auth_methods_supported: listed,
      });
      const provider = rig.settingsWith({ tokenEndpointAuthMethod });
      const { credentials } = await rig.exchange(provider);
      expect(await provider.revoke(credentials.token, "access_token")).toBe(true);
      const [{ headers, params } = { headers: {}, params: new URLSearchParams() }] =
        rig.idp.requestsTo("revoke");
      expect([headers.authorization !== undefined, params.has("client_secret")]).toEqual([
        sent === "basic",
        sent === "post",
      ]);
    },
  );

  it("[REV-3] a token that the provider does not know counts as revoked", async () => {
    expect(await rig.provider.revoke("unknown", "refresh_token")).toBe(true);
  });

  it.each([
    ["400", { kind: "status", status: 400, body: { error: "unsupported_token_type" } }],
    ["401", { kind: "status", status: 401 }],
    ["429", { kind: "status", status: 429 }],
    ["500", { kind: "status", status: 500 }],
    ["503", { kind: "status", status: 503 }],
    ["204", { kind: "status", status: 204 }],
    ["a reset connection", { kind: "reset" }],
    ["a huge body", { kind: "oversized", bytes: Infinity }],
    ["a redirect", { kind: "redirect", status: 307 }],
  ] satisfies [string, Fault][])(
    "[REV-3] false and one line in the log, never a rejection: %s",
    async (_name, fault) => {
      await rig.provider.facts();
      rig.idp.fault("revoke", fault);
      expect(await rig.provider.revoke("the-token", "refresh_token")).toBe(false);
      expect(rig.logged).toEqual([expect.objectContaining({ level: "warn" })]);
      expect(JSON.stringify(rig.logged)).not.toContain("the-token");
    },
  );

  it("false when the response does not come within IDP_HTTP_TIMEOUT", async () => {
    await rig.provider.facts();
    const hold = rig.idp.hold("revoke");
    const revoked = rig.provider.revoke("t", "refresh_token");
    await hold.arrived;
    rig.clock.advance(5000);
    expect(await revoked).toBe(false);
  });

  it("false without a call where the provider has no revocation endpoint", async () => {
    rig.idp.discoveryDocument = ({ revocation_endpoint: _endpoint, ...document }) => document;
    expect(await rig.provider.revoke("t", "refresh_token")).toBe(false);
    expect(rig.idp.requestsTo("revoke")).toHaveLength(0);
    expect(rig.logged).toEqual([]);
  });

  it("false when the provider cannot even be discovered", async () => {
    await rig.idp.pause();
    expect(await rig.provider.revoke("t", "refresh_token")).toBe(false);
    await rig.idp.resume();
  });
});
