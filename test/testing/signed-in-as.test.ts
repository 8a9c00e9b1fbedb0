// Before idpauth/next, which needs it.
import "../adapters/applications/next-installed.js";
import express from "express";
import session from "express-session";
import fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import * as expressAdapter from "../../src/adapters/express/express.js";
import * as fastifyAdapter from "../../src/adapters/fastify/fastify.js";
import * as fetchAdapter from "../../src/adapters/fetch/fetch.js";
import * as honoAdapter from "../../src/adapters/hono/hono.js";
import * as koaAdapter from "../../src/adapters/koa/koa.js";
import * as nextAdapter from "../../src/adapters/next/next.js";
import * as nodeAdapter from "../../src/adapters/node/node.js";
import {
  browser,
  signedInAs,
  signedInCookie,
  signIn,
  startTestProvider,
  TestClock,
  type SignedInAsOptions,
} from "../../src/testing/index.js";

// No provider runs, so a request to one would fail.
const OPTIONS = {
  env: {
    IDP_ISSUER: "http://127.0.0.1:1",
    IDP_CLIENT_ID: "client",
    IDP_CLIENT_SECRET: "secret",
    SECRET_KEY: "a secret key of at least 32 bytes",
  },
  log: false,
} as const;
const ADA = { email: "ada@example.com", name: "Ada Lovelace" };

describe("a cookie in one line", () => {
  it("for fetch-style functions", async () => {
    const auth = fetchAdapter.idpAuth(OPTIONS);
    const reports = auth.idpRequired(async (request) =>
      Response.json((await auth.requireSession(request)).user),
    );
    const ask = (headers: Record<string, string>) =>
      reports(new Request("http://app.example/reports", { headers }));
    const response = await ask({ cookie: await signedInAs(auth, ADA) });
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { ...ADA, picture: null },
    ]);
    expect((await ask({})).status).toBe(401);
  });

  it("for app.request of Hono", async () => {
    const auth = honoAdapter.idpAuth(OPTIONS);
    const app = new Hono().get("/reports", auth.idpRequired, async (c) =>
      c.json((await auth.requireSession(c)).user),
    );
    const response = await app.request("/reports", {
      headers: { cookie: await signedInAs(auth, ADA) },
    });
    expect([response.status, await response.json()]).toMatchObject([200, ADA]);
  });

  it("for app.inject of Fastify", async () => {
    const app = fastify();
    const auth = fastifyAdapter.idpAuth(OPTIONS);
    await app.register(auth.plugin);
    app.get(
      "/reports",
      { preHandler: auth.idpRequired },
      async (request) => (await auth.requireSession(request)).user,
    );
    const response = await app.inject({
      url: "/reports",
      headers: { cookie: await signedInAs(auth, ADA) },
    });
    expect([response.statusCode, response.json()]).toMatchObject([200, ADA]);
    await app.close();
  });

  it("for any client over a socket", async () => {
    const app = express();
    const auth = expressAdapter.idpAuth(OPTIONS);
    auth.mount(app);
    app.get("/reports", auth.idpRequired, async (req, res) =>
      res.json((await auth.requireSession(req)).user),
    );
    const user = await browser(app);
    const response = await user.get("/reports", {
      headers: { cookie: await signedInAs(auth, ADA) },
    });
    expect([response.status, response.json()]).toMatchObject([200, ADA]);
    await user.close();
  });

  it("works with the auth of every adapter", async () => {
    for (const adapter of [
      expressAdapter,
      fastifyAdapter,
      fetchAdapter,
      honoAdapter,
      koaAdapter,
      nextAdapter,
      nodeAdapter,
    ]) {
      expect(await signedInAs(adapter.idpAuth(OPTIONS), ADA)).toMatch(/^idpauth=[\w.-]+$/);
    }
  });
});

describe("who is signed in", () => {
  const auth = fetchAdapter.idpAuth(OPTIONS);
  const subjectOf = async (claims?: Record<string, unknown>) => {
    const request = new Request("http://app.example/", {
      headers: { cookie: await signedInAs(auth, claims) },
    });
    return (await auth.readSessionRecord(request))?.["id_info"] as Record<string, unknown>;
  };

  it("without claims, it signs in the test provider's own user", async () => {
    expect(await subjectOf()).toMatchObject({
      sub: "ada-1815",
      email: "ada@example.com",
      iss: OPTIONS.env.IDP_ISSUER,
      aud: "client",
    });
  });

  it("has the subject that a test provider gives this user", async () => {
    const provider = await startTestProvider();
    const app = fetchAdapter.idpAuth({ env: provider.env, log: false });
    const grace = { email: "grace@example.com" };
    const user = await signIn((request: Request) => app.fetch(request), grace);
    const request = new Request(user.origin, { headers: { cookie: user.cookie } });
    const signedIn = (await app.readSessionRecord(request))?.["id_info"] as Record<string, unknown>;
    expect((await subjectOf(grace))["sub"]).toBe(signedIn["sub"]);
    expect((await subjectOf({ sub: "as-it-is" }))["sub"]).toBe("as-it-is");
    await user.close();
    await provider.stop();
  });
});

it("tokens and the time of the sign-in may be given, and the claims end the session", async () => {
  const clock = new TestClock();
  const auth = fetchAdapter.idpAuth({ ...OPTIONS, clock, sessionMaxAge: 3600 });
  const now = clock.now() / 1000;
  const ask = async (cookie: string) =>
    auth.explainIdpAuthentication(new Request("http://app.example/", { headers: { cookie } }));
  const token = async (cookie: string) =>
    (await auth.getCredentials(new Request("http://app.example/", { headers: { cookie } })))?.token;

  expect(await token(await signedInAs(auth, ADA, { tokens: { token: "an access token" } }))).toBe(
    "an access token",
  );
  expect((await ask(await signedInAs(auth, ADA, { signedInAt: now - 3601 }))).authenticated).toBe(
    false,
  );
  const brief = await signedInAs(auth, { ...ADA, exp: now + 60 });
  expect((await ask(brief)).authenticated).toBe(true);
  clock.advance(60_000);
  expect(await ask(brief)).toEqual({ authenticated: false, reason: "no_refresh_token" });
});

it("the time and level of the authentication may be given, and are claims", async () => {
  const auth = fetchAdapter.idpAuth(OPTIONS);
  const claims = async (options: SignedInAsOptions) => {
    const request = new Request("http://app.example/", {
      headers: { cookie: await signedInAs(auth, ADA, options) },
    });
    return (await auth.getSession(request))?.claims;
  };
  expect(await claims({ authTime: 1_700_000_000, acr: "gold" })).toMatchObject({
    auth_time: 1_700_000_000,
    acr: "gold",
  });
  expect(await claims({})).not.toHaveProperty("acr");
});

it("with several tenants, the issuer is that of the user's tenant, or of the first that is allowed", async () => {
  const [first, second] = [
    "11111111-2222-4333-8444-555555555555",
    "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee",
  ];
  const origin = "https://login.microsoftonline.com";
  const identityFor = async (given: object, allowedTenants: readonly string[] | "any") => {
    const auth = fetchAdapter.idpAuth({
      ...OPTIONS,
      issuer: `${origin}/common/v2.0`,
      allowedTenants,
    });
    const request = new Request("http://app.example/", {
      headers: { cookie: await signedInAs(auth, { ...ADA, ...given }) },
    });
    const claims = (await auth.getSession(request))?.claims;
    return [claims?.iss, claims?.["tid"]];
  };
  expect(await identityFor({}, [first, second])).toEqual([`${origin}/${first}/v2.0`, first]);
  expect(await identityFor({ tid: second }, [first, second])).toEqual([
    `${origin}/${second}/v2.0`,
    second,
  ]);
  const anyTenant = "00000000-0000-4000-8000-000000000000";
  expect(await identityFor({}, "any")).toEqual([`${origin}/${anyTenant}/v2.0`, anyTenant]);
});

it("a cookie for browser drivers is the one that a browser would have, https or not", async () => {
  const auth = fetchAdapter.idpAuth(OPTIONS);
  expect(await signedInCookie(auth, ADA)).toEqual({
    name: "idpauth",
    value: expect.any(String),
    httpOnly: true,
    secure: false,
    sameSite: "Lax",
  });
  expect(await signedInCookie(auth, ADA, { secure: true })).toMatchObject({
    name: "__Host-Http-idpauth",
    secure: true,
  });
  const secured = fetchAdapter.idpAuth({ ...OPTIONS, baseUrl: "https://app.example" });
  expect(await signedInCookie(secured, ADA)).toMatchObject({
    name: "__Host-Http-idpauth",
    secure: true,
  });
});

it("with the framework's own sessions the error names what to use instead", async () => {
  const app = express();
  app.use(session({ secret: "the framework's own", resave: false, saveUninitialized: false }));
  const auth = expressAdapter.idpAuth({ ...OPTIONS, session: "host" });
  auth.mount(app);
  await expect(signedInAs(auth, ADA)).rejects.toThrow(/signIn/);
  await expect(signedInAs(auth, ADA)).rejects.toBeInstanceOf(TypeError);
});

it("the application instead of its auth, and an email instead of claims, are named as what they are", async () => {
  await expect(signedInAs(express() as never)).rejects.toThrow(
    /`idpAuth` returned .*, not the application/,
  );
  await expect(
    signedInAs(expressAdapter.idpAuth(OPTIONS), "ada@example.com" as never),
  ).rejects.toThrow(/an object of claims/);
});

it.each<[string, unknown, RegExp]>([
  [
    "milliseconds",
    { signedInAt: 1_700_000_000_000 },
    /`signedInAt` must be in whole seconds since the epoch/,
  ],
  ["a date", { signedInAt: new Date() }, /whole seconds/],
  ["text", { signedInAt: "2020" }, /whole seconds/],
  ["no number", { signedInAt: Number.NaN }, /whole seconds/],
  ["parts of seconds", { signedInAt: 1_700_000_000.5 }, /whole seconds/],
  [
    "an option of another name",
    { login_at: 1 },
    /takes no option "login_at"; there are provider, tokens, signedInAt, secure, authTime, acr, data\./,
  ],
  [
    "milliseconds of the authentication",
    { authTime: 1_700_000_000_000 },
    /`authTime` must be in whole seconds since the epoch/,
  ],
  ["a level that is no text", { acr: 2 }, /`acr` must be a string/],
  ["data that is null", { data: null }, /data of a session must be a plain object/],
  ["data that is no object", { data: "" }, /data of a session must be a plain object/],
  [
    "a token of another name",
    { tokens: { accessToken: "x" } },
    /`tokens` has no "accessToken"; there are token, refresh_token\./,
  ],
])("options that would prove nothing are reported: %s", async (_name, options, message) => {
  const failure = signedInAs(expressAdapter.idpAuth(OPTIONS), ADA, options as never);
  await expect(failure).rejects.toBeInstanceOf(TypeError);
  await expect(failure).rejects.toThrow(message);
});

it("settings that are refused are refused here as well", async () => {
  await expect(signedInAs(fetchAdapter.idpAuth({ env: {}, log: false }))).rejects.toMatchObject({
    name: "ConfigurationError",
  });
});
