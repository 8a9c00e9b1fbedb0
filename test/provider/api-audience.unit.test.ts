import { describe, expect, it } from "vitest";
import type { TokenTarget } from "../../src/ports/provider.js";
import type { SpentRefresh } from "../../src/record/credentials.js";
import { askedAtLogin } from "../../src/config/api-scopes.js";
import { checkAudience, missingScopes, targetParameters } from "../../src/provider/api-audience.js";

const ANY = "https://idp.example";
const ENTRA = "https://login.microsoftonline.com/11111111-2222-4333-8444-555555555555/v2.0";
const AUTH0 = "https://example.eu.auth0.com/";

const target = (changes: Partial<TokenTarget> = {}): TokenTarget => ({
  api: "orders",
  audience: [],
  scope: [],
  consentLater: false,
  ...changes,
});

describe("what a refresh for an API sends", () => {
  it.each<[string, Partial<TokenTarget>, object, object]>([
    ["a resource", { resource: "api://x" }, { resource: "api://x" }, { scope: "api://x/.default" }],
    [
      "scopes",
      { scope: ["api://x/read", "api://x/write"] },
      { scope: "api://x/read api://x/write" },
      { scope: "api://x/read api://x/write" },
    ],
    [
      "an audience",
      { audience: ["api://x", "guid"] },
      { audience: "api://x" },
      { scope: "api://x/.default" },
    ],
    [
      "a resource and scopes",
      { resource: "api://x", scope: ["api://x/read"] },
      { resource: "api://x", scope: "api://x/read" },
      { scope: "api://x/read" },
    ],
    [
      "a resource and audiences",
      { resource: "api://x", audience: ["guid"] },
      { resource: "api://x" },
      { scope: "api://x/.default" },
    ],
  ])("for %s; Entra ID gets one scope parameter", (_name, changes, any, entra) => {
    expect(targetParameters(target(changes), ANY)).toEqual(any);
    expect(targetParameters(target(changes), ENTRA)).toEqual(entra);
  });
});

describe("what a login requests", () => {
  const targets = [
    target({ api: "a", resource: "api://a" }),
    target({ api: "b", scope: ["api://b/read"], audience: ["b"] }),
    target({ api: "c", audience: ["api://c"] }),
    target({ api: "d", resource: "api://d", scope: ["d"], consentLater: true }),
  ];
  it.each<[string, string | undefined, string, object]>([
    ["at most providers", undefined, ANY, { resources: ["api://a"], scopes: ["api://b/read"] }],
    [
      "with an API of a later consent",
      "d",
      ANY,
      { resources: ["api://a", "api://d"], scopes: ["api://b/read", "d"] },
    ],
    [
      "at Entra ID, which has no resource parameter",
      undefined,
      ENTRA,
      { resources: [], scopes: ["api://a/.default", "api://b/read", "api://c/.default"] },
    ],
  ])("%s", (_name, api, issuer, expected) => {
    expect(askedAtLogin(targets, issuer, api)).toEqual(expected);
  });
});

describe("whether a token is for the API", () => {
  const jwt = (claims: unknown) =>
    `${btoa("{}")}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.x`;
  const spent = (accessToken: string | undefined, resources?: string[]): SpentRefresh => ({
    accessToken,
    refreshToken: undefined,
    idToken: undefined,
    scopes: undefined,
    resources,
    receivedAt: 0,
    accessTokenExpiresAt: undefined,
  });
  const reasonOf = (
    token: string,
    changes: Partial<TokenTarget>,
    issuer = ANY,
    resources?: string[],
  ) => {
    try {
      checkAudience(spent(token, resources), target(changes), issuer);
      return "ok";
    } catch (error) {
      return (error as { reason: string }).reason;
    }
  };

  it.each<[string, string, Partial<TokenTarget>, string, string]>([
    ["an opaque token", "opaque", { audience: ["x"] }, ANY, "ok"],
    [
      "an opaque token of Auth0 for an audience",
      "opaque",
      { audience: ["x"] },
      AUTH0,
      "api_token_opaque",
    ],
    [
      "an encrypted token of Auth0 for an audience",
      "a.b.c.d.e",
      { audience: ["x"] },
      AUTH0,
      "api_token_opaque",
    ],
    ["an opaque token of Auth0 for scopes alone", "opaque", { scope: ["x"] }, AUTH0, "ok"],
    [
      "a JWT of Auth0 for its default audience",
      jwt({ aud: "default" }),
      { audience: ["x"] },
      AUTH0,
      "api_token_audience",
    ],
    [
      "a JWT of Auth0 for the audience and userinfo",
      jwt({ aud: ["x", "https://example.eu.auth0.com/userinfo"] }),
      { audience: ["x"] },
      AUTH0,
      "ok",
    ],
    [
      "a JWT of Entra ID for the GUID in a list",
      jwt({ aud: "guid" }),
      { resource: "api://x", audience: ["guid"] },
      ENTRA,
      "ok",
    ],
    [
      "a JWT for the resource, which isn't in the list",
      jwt({ aud: "api://x" }),
      { resource: "api://x", audience: ["guid"] },
      ANY,
      "ok",
    ],
    [
      "a JWT whose audience only begins the same",
      jwt({ aud: "api://x/" }),
      { resource: "api://x" },
      ANY,
      "api_token_audience",
    ],
    [
      "a JWT with an odd audience",
      jwt({ aud: [null, 7, { x: 1 }] }),
      { resource: "api://x" },
      ANY,
      "api_token_audience",
    ],
    ["a JWT that is a list", jwt([]), { resource: "api://x" }, ANY, "ok"],
  ])("%s", (_name, token, changes, issuer, expected) => {
    expect(reasonOf(token, changes, issuer)).toBe(expected);
  });

  it("the response's `resource` counts only if the API has one", () => {
    expect(reasonOf("opaque", { resource: "api://x" }, ANY, ["api://y"])).toBe(
      "api_token_resource",
    );
    expect(reasonOf("opaque", { resource: "api://x" }, ANY, ["api://y", "api://x"])).toBe("ok");
    expect(reasonOf("opaque", { audience: ["x"] }, ANY, ["api://y"])).toBe("ok");
  });

  it.each([
    "https://auth0.com.evil.example",
    "https://evilauth0.com",
    "https://login.example.com/auth0.com",
  ])("%s isn't taken for Auth0", (issuer) => {
    expect(reasonOf("opaque", { audience: ["x"] }, issuer)).toBe("ok");
  });
});

describe("the scopes that are missing", () => {
  it.each<[string, string[], string[] | undefined, string[]]>([
    ["none, if the response names none", ["a"], undefined, []],
    ["those that were not granted", ["a", "b"], ["b", "c"], ["a"]],
    [
      "never those of OpenID Connect, nor `.default`",
      ["openid", "email", "offline_access", "api://x/.default"],
      ["api://x/read"],
      [],
    ],
    [
      "not those that Entra ID names in short",
      ["https://graph.microsoft.com/User.Read"],
      ["user.read", "openid"],
      [],
    ],
  ])("are %s", (_name, scope, granted, expected) => {
    expect(missingScopes(target({ scope }), granted)).toEqual(expected);
  });
});
