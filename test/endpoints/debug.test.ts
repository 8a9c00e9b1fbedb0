import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startApplication, OWN_ORIGIN } from "../support/application.js";
import { leaksIn, secretsOf } from "../support/secrets.js";
import { expectOrderlyPage } from "../pages/expect-orderly-page.js";
import { textOf } from "../pages/tags.js";
import { application, start, store } from "../support/one-application.js";

const DEBUG = "/idpauth/debug";
const PAGE = `${OWN_ORIGIN}/reports`;
const login = (originUrl: string) =>
  `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: originUrl }).toString()}`;

describe("in debug mode", () => {
  afterEach(() => application.stop());
  const OPTIONS = { debug: true, sessionMaxAge: 7200, sessionIdleTimeout: 600 };

  it("leaves out W004 where the session has a refresh token", async () => {
    const user = await start({ ...OPTIONS, scope: ["openid"] });
    const codes = async () =>
      ((await user.get(DEBUG)).json().checks as { code: string }[]).map(({ code }) => code);
    expect(await codes()).toContain("W004");
    application.provider.tokenResponse = (body) => ({
      ...(body as object),
      refresh_token: "given-anyway",
    });
    await user.signIn(login(PAGE));
    expect(await codes()).not.toContain("W004");
    expect(application.log.filter(({ code }) => code === "refresh_token_given")).toHaveLength(1);
  });

  it("shows session, policy, settings and checks", async () => {
    const user = await start(OPTIONS);
    await user.signIn(login(PAGE));
    application.clock.advance(60_000);
    const answer = await user.get(DEBUG);
    expect(answer.status).toBe(200);
    expect(answer.headers["Content-Type"]).toBe("application/json; charset=utf-8");
    const document = answer.json();
    const { provider, clock } = application;
    const now = Math.floor(clock.now() / 1000);
    expect(Object.keys(document)).toEqual(["session", "policy", "settings", "checks"]);
    expect(document.session).toEqual({
      credentials: {
        token: "present",
        refresh_token: "present",
        token_uri: `${provider.issuer}/token`,
        client_id: provider.clientId,
        client_secret: "present",
        scopes: ["openid", "email", "profile", "offline_access"],
      },
      id_info: {
        email: "ada@example.com",
        name: "Ada Lovelace",
        picture: "https://pictures.example.com/ada.png",
      },
      oauth_state: "absent",
      final_redirect: PAGE,
      debug: { scheme: "PRESERVE_ORIGIN_QP", origin: "accepted", final_redirect: PAGE },
      idp_login_at: now - 60,
      idp_last_active: now - 60,
      idp_state: expect.objectContaining({
        v: 1,
        logins: 0,
        used: 1,
        lease: "absent",
        refresh_rejected: false,
        issuer: provider.issuer,
      }) as unknown,
    });
    expect(document.policy).toEqual({
      verdict: { kind: "valid" },
      remaining: { idToken: 3540, maxAge: 7140, idle: 540, sessionExpiry: null },
      now,
    });
    expect(document.settings).toMatchObject({
      SECRET_KEY: "present",
      SECRET_KEY_FALLBACKS: "absent",
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: "present",
      IDP_SESSION_MAX_AGE: 7200,
      IDP_SESSION_IDLE_TIMEOUT: 600,
      IDP_DEBUG: true,
    });
    expect(Array.isArray(document.checks)).toBe(true);
    for (const check of document.checks as unknown[])
      expect(check).toMatchObject({
        code: expect.stringMatching(/^[EW]\d{3}$/) as unknown,
        severity: "warning",
      });
  });

  it("is a page for a navigation, with the same values in lists, and indented JSON for a script", async () => {
    const user = await start(OPTIONS);
    await user.signIn(login(PAGE));
    const { status, headers, body } = await user.get(DEBUG, { headers: { accept: "text/html" } });
    expect([status, headers["Content-Type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers["Content-Security-Policy"]).toContain("style-src 'self'");
    const page = body as string;
    expectOrderlyPage(page);
    expect(textOf(page)).toContain("verdict.kind valid remaining.idToken 3600 (1 hour)");
    expect(textOf(page)).toContain("credentials.token present");
    expect(textOf(page)).toContain(`final_redirect ${PAGE}`);
    const [differing = "", usual = ""] = textOf(page).split("Settings with their defaults");
    expect(differing).toContain("IDP_SESSION_MAX_AGE 7200");
    expect(usual).toContain("IDP_SESSION_AUTO_REFRESH true");
    expect(usual).not.toContain("IDP_SESSION_MAX_AGE");
    const secrets = secretsOf(application);
    expect(leaksIn(page, secrets)).toEqual([]);
    expect((await user.get(DEBUG)).body).toContain('\n  "policy": {\n');
  });

  it("holds no secret: not one of the tokens, states, nonces, verifiers, keys and cookies of the run", async () => {
    const user = await start({
      ...OPTIONS,
      secretKeyFallbacks: ["a fallback key of at least 32 bytes!"],
    });
    await user.get(login(PAGE));
    await user.signIn(login(PAGE));
    application.clock.advance(500_000);
    await user.signIn(login(PAGE));
    const pending = await user.approve();
    const other = await user.get("/idpauth/login/");
    const answer = await user.get(DEBUG);
    const secrets = secretsOf(application);
    for (const kind of [
      "client secret",
      "SECRET_KEY",
      "state",
      "nonce",
      "verifier",
      "code",
      "access_token",
      "refresh_token",
      "id_token",
    ]) {
      expect(secrets.map((secret) => secret.kind)).toContain(kind);
    }
    const records = (await store.entries()).filter(({ data }) => !(data instanceof Uint8Array));
    const inStore = records.flatMap(({ data }) => {
      const { logins = [], used = [] } = (
        data as unknown as { idp_state: { logins?: Record<string, string>[]; used?: string[] } }
      ).idp_state;
      return [
        ...logins.flatMap(({ state = "", nonce = "", verifier = "" }) => [state, nonce, verifier]),
        ...used,
      ].map((value) => ({
        kind: "stored",
        value,
      }));
    });
    expect(inStore.length).toBeGreaterThanOrEqual(8);
    const rest = [
      ...inStore,
      { kind: "fallback", value: "a fallback key of at least 32 bytes!" },
      { kind: "cookie", value: user.cookies.get("idpauth") ?? "" },
      { kind: "code", value: new URL(pending, OWN_ORIGIN).searchParams.get("code") ?? "" },
      { kind: "state", value: new URL(other.location).searchParams.get("state") ?? "" },
    ];
    const everything = JSON.stringify(answer);
    expect(leaksIn(everything, [...secrets, ...rest])).toEqual([]);
    expect(everything).not.toContain("ada-1815");
  });

  it("anonymous: session null, no cookie, no store entry", async () => {
    const user = await start(OPTIONS);
    const answer = await user.get(DEBUG);
    expect(answer.json()).toMatchObject({
      session: null,
      policy: { verdict: { kind: "ended", reason: "no_credentials" }, remaining: null },
    });
    expect(answer.setCookies ?? []).toEqual([]);
    expect(store.operations).toEqual([]);
  });

  it("neither refreshes nor writes", async () => {
    const user = await start({ debug: true, sessionIdleTimeout: 7200 });
    await user.signIn();
    application.clock.advance(3_600_000);
    const [writes, requests] = [store.writes.length, application.provider.requests.length];
    expect((await user.get(DEBUG)).json().policy.verdict).toEqual({
      kind: "refresh",
      reason: "id_token_expired",
    });
    await user.get(DEBUG, { method: "HEAD" });
    expect([store.writes.length, application.provider.requests.length]).toEqual([writes, requests]);
  });

  it("HEAD is 200; another method is 405", async () => {
    const user = await start(OPTIONS);
    expect((await user.get(DEBUG, { method: "HEAD" })).status).toBe(200);
    expect((await user.get(`${DEBUG}/`)).status).toBe(200);
    const answer = await user.get(DEBUG, { method: "POST" });
    expect([answer.status, answer.headers["Allow"]]).toEqual([405, "GET, HEAD"]);
  });

  it.each([
    [login(PAGE), { scheme: "PRESERVE_ORIGIN_QP", origin: "accepted", final_redirect: PAGE }],
    [
      login("http://evil.example/"),
      { scheme: "PRESERVE_ORIGIN_QP", origin: "rejected", final_redirect: "/idpauth/" },
    ],
    ["/idpauth/login/", { scheme: "DEFAULT", origin: "not_used", final_redirect: "/idpauth/" }],
  ])("the record's debug key says what the last login decided: %s", async (target, decision) => {
    const user = await start(OPTIONS);
    await user.get(target);
    expect((await application.auth.readSessionRecord(user.request("/")))?.["debug"]).toEqual(
      decision,
    );
    expect((await user.get(DEBUG)).json().session.debug).toEqual(decision);
  });

  it("takes the names of renamed keys", async () => {
    const user = await start({
      ...OPTIONS,
      credentialsSessionKeyName: "creds",
      stateKeyName: "st",
      finalRedirectKeyName: "fr",
    });
    await user.signIn();
    const { session } = (await user.get(DEBUG)).json();
    expect(session).toMatchObject({ creds: { token: "present" }, st: "absent", fr: "/idpauth/" });
    expect(session).not.toHaveProperty("credentials");
  });

  it("store away: 503", async () => {
    const user = await start(OPTIONS);
    await user.signIn();
    store.isDown = true;
    expect((await user.get(DEBUG)).status).toBe(503);
  });
});

describe("outside debug mode", () => {
  beforeAll(async () => {
    await start();
  });
  afterAll(() => application.stop());

  const spellings = [
    DEBUG,
    `${DEBUG}/`,
    `${DEBUG}?x=1`,
    `${DEBUG}//`,
    "/idpauth/DEBUG",
    "/idpauth/Debug/",
    "/idpauth/%64ebug",
    "/idpauth//debug",
    "/idpauth/debug.json",
    "/idpauth/debug/x",
    "/idpauth/./debug",
  ];
  it.each(
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"].flatMap((method) =>
      spellings.map((target) => [method, target] as const),
    ),
  )("%s %s is 404", async (method, target) => {
    const answer = await application.user().get(target, { method });
    expect(answer.status).toBe(404);
    expect(answer.headers["Allow"]).toBeUndefined();
    expect(answer.json()).toMatchObject({ code: "not_found", status: 404 });
  });

  it("the response is the same as for a path that was never there", async () => {
    const [debug, other] = await Promise.all([
      application.user().get(DEBUG),
      application.user().get("/idpauth/nothing"),
    ]);
    expect({ ...debug, json: undefined }).toEqual({ ...other, json: undefined });
  });

  it("the record has no debug key", async () => {
    const user = application.user();
    await user.signIn(login(PAGE));
    expect(await application.auth.readSessionRecord(user.request("/"))).not.toHaveProperty("debug");
  });

  it("neither DEBUG nor NODE_ENV opens it, IDP_DEBUG does", async () => {
    for (const [env, status] of [
      [{ DEBUG: "*", NODE_ENV: "development" }, 404],
      [{ IDP_DEBUG: "1" }, 200],
    ] as const) {
      const other = await startApplication({ env });
      expect((await other.user().get(DEBUG)).status).toBe(status);
      await other.stop();
    }
  });
});
