import { createPublicKey, generateKeyPairSync, sign as signedBy } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { readSettings } from "../../src/config/read-settings.js";
import { profileOf } from "../../src/config/provider-profiles.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import { readAuthorizationResponse } from "../../src/endpoints/authorization-response.js";
import { loginScopes } from "../../src/provider/authorization-request.js";
import type { PendingLogin } from "../../src/record/record.js";
import type { SignAssertion } from "../../src/keys/client-keys.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { CROSS, formFor } from "../support/posted-response.js";

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const P8 = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const JWKS = [createPublicKey(privateKey).export({ format: "jwk" })];
const APPLE = { teamId: "TEAM123456", keyId: "KEY1234567" };
const ADA = {
  sub: "001.ada",
  email: "ada@privaterelay.appleid.com",
  email_verified: true,
  given_name: "Ada",
  family_name: "Lovelace",
  name: "Ada Lovelace",
};
const HOUR = 3_600_000;

let app: Application;

afterEach(() => app.stop());

/** What `onSignIn` got at each sign-in. */
let names: unknown[];

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  names = [];
  app = await startApplication({
    provider: { apple: APPLE, clientJwks: JWKS, rotation: false, announceIss: false, person: ADA },
    clientSecret: undefined,
    privateKey: P8,
    appleTeamId: APPLE.teamId,
    appleKeyId: APPLE.keyId,
    scope: ["openid", "email", "name"],
    responseMode: "form_post",
    onSignIn: ({ postedName }) => {
      names.push(postedName);
    },
    ...options,
  });
  return app.user();
}

/** Signs in; the browser posts these fields beside Apple's. */
async function signIn(user: TestUser, changes: Record<string, string> = {}): Promise<number> {
  const { path, fields } = await formFor(user);
  const { location } = await app.user().post(path, { ...fields, ...changes }, { headers: CROSS });
  return (await user.get(location)).status;
}

const secrets = () =>
  app.provider.requests.flatMap(({ params }) => params.get("client_secret") ?? []);

describe("Sign in with Apple", () => {
  it("signs in, refreshes and revokes with a secret that the key makes anew each hour", async () => {
    const user = await start({ sessionAutoRefresh: true });
    expect(await signIn(user)).toBe(302);
    expect(await user.isSignedIn()).toBe(true);
    app.clock.advance(HOUR - 1000);
    expect(await user.isSignedIn()).toBe(true);
    app.clock.advance(2000);
    expect(await user.isSignedIn()).toBe(true);
    await user.get("/idpauth/logout/", { headers: { "sec-fetch-site": "same-origin" } });
    await app.auth.close();
    expect(app.provider.requestsTo("revoke")).toHaveLength(1);
    const sent = secrets();
    // The code and a refresh close to the end of the first hour; then the revocation.
    expect([sent.length, new Set(sent).size]).toEqual([3, 2]);
    for (const secret of sent) {
      expect(decodeProtectedHeader(secret)).toEqual({ alg: "ES256", kid: APPLE.keyId });
      const { iat = 0, exp, ...claims } = decodeJwt(secret);
      expect(claims).toEqual({
        iss: APPLE.teamId,
        sub: app.provider.clientId,
        aud: app.provider.issuer,
      });
      expect(exp).toBe(iat + 7200);
    }
  });

  it("makes one signature for many sign-ins at once, and another after one that failed", async () => {
    let failures = 1;
    let signed = 0;
    const sign: SignAssertion = (input) => {
      signed++;
      return failures-- > 0
        ? Promise.reject(new Error("busy"))
        : Promise.resolve(
            signedBy("sha256", input, { key: privateKey, dsaEncoding: "ieee-p1363" }),
          );
    };
    const user = await start({ privateKey: { sign, alg: "ES256" } });
    expect(await signIn(user)).toBe(503);
    const users = [1, 2, 3, 4, 5].map(() => app.user());
    expect(await Promise.all(users.map((one) => signIn(one)))).toEqual([302, 302, 302, 302, 302]);
    expect(signed).toBe(2);
  });

  it("makes another secret after the clock was set back", async () => {
    const user = await start();
    await signIn(user);
    app.clock.setNow(app.clock.now() - HOUR);
    await signIn(app.user());
    expect(new Set(secrets()).size).toBe(2);
  });

  it("gives `onSignIn` the name, which comes with the first sign-in alone", async () => {
    const user = await start();
    await signIn(user);
    await signIn(app.user());
    expect(names).toEqual([{ given_name: "Ada", family_name: "Lovelace" }, null]);
    const session = await app.auth.getSession(user.request("/"));
    expect(session?.user).toMatchObject({ name: null, email: ADA.email, email_verified: true });
    expect(session?.claims.email_verified).toBe("true");
  });

  it.each<[string, string, unknown]>([
    ["is no JSON", "{", null],
    ["has no name", JSON.stringify({ email: "a@evil.example" }), null],
    ["has a name that is a list", JSON.stringify({ name: ["Ada"] }), null],
    ["has parts that are no text", JSON.stringify({ name: { firstName: 1, lastName: {} } }), null],
    ["is too long", JSON.stringify({ name: { firstName: "a".repeat(101) } }), null],
    ["has control characters", JSON.stringify({ name: { firstName: "a\u0000b" } }), null],
    [
      "has one part, of the longest length, and another address",
      JSON.stringify({ name: { lastName: ` ${"ß".repeat(100)} ` }, email: "a@evil.example" }),
      { given_name: null, family_name: "ß".repeat(100) },
    ],
  ])("takes a `user` that %s as what it is: the browser's text", async (_what, text, expected) => {
    const user = await start();
    expect(await signIn(user, { user: text })).toBe(302);
    expect(names).toEqual([expected]);
    const session = await app.auth.getSession(user.request("/"));
    expect(session?.user.email).toBe(ADA.email);
  });

  it("refuses a posted name without a response", async () => {
    await start();
    const user = JSON.stringify({ name: { firstName: "Eve" } });
    const { status } = await app
      .user()
      .post("/idpauth/login-callback", { user }, { headers: CROSS });
    expect(status).toBe(400);
  });

  it("takes no name from the query, and none without IDP_APPLE_TEAM_ID", async () => {
    const user = await start();
    const { fields } = await formFor(user);
    const query = new URLSearchParams({ ...fields, given_name: "Eve", user: "{}" });
    expect((await user.get(`/idpauth/login-callback?${query.toString()}`)).status).toBe(302);
    await app.stop();
    const other = await startApplication({
      responseMode: "form_post",
      onSignIn: ({ postedName }) => {
        names.push(postedName);
      },
    });
    app = other;
    await signIn(other.user(), { user: JSON.stringify({ name: { firstName: "Eve" } }) });
    expect(names).toEqual([null, null]);
  });
});

it("the code with which Apple says that the user has cancelled means access_denied, and only Apple's", () => {
  app = { stop: () => Promise.resolve() } as Application;
  const issuer = "https://appleid.apple.com";
  const read = (facts: { issuer: string }) =>
    readAuthorizationResponse(
      new URLSearchParams({ error: "user_cancelled_authorize", state: "s" }),
      { issuer: facts.issuer } as PendingLogin,
      { ...facts, sendsIss: false, cancelled: profileOf(facts.issuer).cancelled },
    );
  expect(read({ issuer })).toEqual({ kind: "error", code: "access_denied" });
  expect(read({ issuer: "https://idp.example" })).toEqual({
    kind: "error",
    code: "provider_error",
  });
});

it("a login without SCOPE asks Apple for `name`, and others for `profile`", () => {
  app = { stop: () => Promise.resolve() } as Application;
  const scopes = (issuer: string, scope: readonly string[], scopeIsDefault: boolean) =>
    loginScopes({ issuer, scope, scopeIsDefault } as ProviderSettings, {});
  const unset = ["openid", "email", "profile"];
  const apple = "https://appleid.apple.com";
  expect(scopes(apple, unset, true)).toEqual(["openid", "email", "name"]);
  expect(scopes(apple, unset, false)).toEqual(unset);
  expect(scopes("https://idp.example", unset, true)).toEqual(unset);
});

describe("the settings for Apple", () => {
  const ENV = {
    SECRET_KEY: "a secret key of at least 32 bytes",
    BASE_URL: "https://app.example",
    IDP_CLIENT_ID: "com.example.web",
    IDP_ISSUER: "https://appleid.apple.com",
    IDP_APPLE_TEAM_ID: APPLE.teamId,
    IDP_APPLE_KEY_ID: APPLE.keyId,
    IDP_PRIVATE_KEY: P8,
    IDP_RESPONSE_MODE: "form_post",
    SCOPE: "openid email name",
  };
  const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
  const errors = (changes: Record<string, string>) =>
    readSettings({}, { ...ENV, ...changes }).findings.flatMap(({ code, severity }) =>
      severity === "error" ? [code] : [],
    );

  it.each<[string, Record<string, string>, string[]]>([
    ["all of them", {}, []],
    ["no key ID", { IDP_APPLE_KEY_ID: "" }, ["E031"]],
    ["no team", { IDP_APPLE_TEAM_ID: "" }, ["E031"]],
    ["no key", { IDP_PRIVATE_KEY: "", IDP_CLIENT_SECRET: "s" }, ["E031"]],
    ["a key that can't sign with ES256", { IDP_PRIVATE_KEY: RSA }, ["E031"]],
    ["a team ID of another form", { IDP_APPLE_TEAM_ID: "team" }, ["E006"]],
    ["the query", { IDP_RESPONSE_MODE: "query" }, ["E031"]],
    ["the query, and neither name nor address", { IDP_RESPONSE_MODE: "", SCOPE: "openid" }, []],
    [
      "a secret that somebody made",
      {
        IDP_APPLE_TEAM_ID: "",
        IDP_APPLE_KEY_ID: "",
        IDP_PRIVATE_KEY: "",
        IDP_CLIENT_SECRET: "a.b.c",
      },
      [],
    ],
  ])("%s", (_what, changes, expected) => {
    app = { stop: () => Promise.resolve() } as Application;
    expect(errors(changes)).toEqual(expected);
  });
});
