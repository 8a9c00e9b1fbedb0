import { afterEach, describe, expect, it } from "vitest";
import { createIdpAuth, credentialsToDict, hasEpochTimePassed } from "../../src/adapter.js";
import {
  ConfigurationError,
  ProviderUnavailableError,
  StoreUnavailableError,
  type IdpRequest,
} from "../../src/index.js";
import { isValidIdpUrl } from "../../src/http/document-urls.js";
import { sessionView } from "../../src/record/session-view.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import {
  application,
  newest,
  pass,
  refreshes,
  signedIn,
  start,
  store,
} from "../support/one-application.js";

const HOUR = 3600;
const ADA = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};

/** A request of its own each time, as from a host. */
const request = (user: TestUser) => user.request("/reports");

describe("getCredentials", () => {
  afterEach(() => application.stop());

  it("gives the six fields", async () => {
    const user = await signedIn();
    expect(await application.auth.getCredentials(request(user))).toEqual({
      token: newest("access_token"),
      refresh_token: newest("refresh_token"),
      token_uri: `${application.provider.issuer}/token`,
      client_id: application.provider.clientId,
      client_secret: application.provider.clientSecret,
      scopes: ["openid", "email", "profile", "offline_access"],
    });
  });

  it("leaves the key refresh_token out when there is none", async () => {
    const user = await signedIn({ provider: { issueRefreshToken: false } });
    expect(Object.keys((await application.auth.getCredentials(request(user))) ?? {})).toEqual([
      "token",
      "token_uri",
      "client_id",
      "client_secret",
      "scopes",
    ]);
  });

  it("gives the scopes that were granted, if the provider says so, otherwise those requested", async () => {
    const user = await start();
    application.provider.tokenResponse = (answer) => ({ ...answer, scope: "openid email" });
    await user.signIn();
    expect((await application.auth.getCredentials(request(user)))?.scopes).toEqual([
      "openid",
      "email",
    ]);
    application.provider.tokenResponse = ({ scope: _gone, ...answer }) => answer;
    await user.signIn();
    expect((await application.auth.getCredentials(request(user)))?.scopes).toEqual([
      "openid",
      "email",
      "profile",
      "offline_access",
    ]);
  });

  it("gives null to a user without a session, at no cost", async () => {
    const user = await start();
    expect(await application.auth.getCredentials(request(user))).toBeNull();
    expect(store.operations).toEqual([]);
  });

  it.each<[string, ApplicationOptions, number]>([
    ["beyond the maximum age", { sessionMaxAge: 600 }, 601],
    ["beyond the idle timeout", { sessionIdleTimeout: 600 }, 601],
    ["expired with automatic refresh off", { sessionAutoRefresh: false }, HOUR],
    ["expired without a refresh token", { provider: { issueRefreshToken: false } }, HOUR],
  ])("gives null %s", async (_name, options, seconds) => {
    const user = await signedIn(options);
    pass(seconds);
    expect(await application.auth.getCredentials(request(user))).toBeNull();
    expect(refreshes()).toBe(0);
  });

  it("refreshes once, however many request it at once, and writes back", async () => {
    const user = await signedIn();
    const old = newest("access_token");
    pass(HOUR);
    const all = await Promise.all(
      Array.from({ length: 200 }, () => application.auth.getCredentials(request(user))),
    );
    expect(new Set(all.map((credentials) => credentials?.token))).toEqual(
      new Set([newest("access_token")]),
    );
    expect(newest("access_token")).not.toBe(old);
    expect(refreshes()).toBe(1);
    expect(
      (
        (await application.auth.readSessionRecord(request(user)))?.["credentials"] as {
          token: string;
        }
      ).token,
    ).toBe(newest("access_token"));
  });

  it("keeps the refresh token that was not replaced", async () => {
    const user = await signedIn({ provider: { rotation: false } });
    const before = (await application.auth.getCredentials(request(user)))?.refresh_token;
    pass(HOUR);
    expect((await application.auth.getCredentials(request(user)))?.refresh_token).toBe(before);
    expect(refreshes()).toBe(1);
  });

  it("rejects with a 503 in an outage of the provider, and the session stays", async () => {
    const user = await signedIn();
    pass(HOUR);
    application.provider.fault("token", {
      kind: "status",
      status: 503,
      headers: { "Retry-After": "17" },
    });
    const failure = await application.auth
      .getCredentials(request(user))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderUnavailableError);
    expect(failure).toMatchObject({
      code: "provider_unavailable",
      status: 503,
      statusCode: 503,
      retryAfter: 17,
    });
    application.provider.clearFaults();
    pass(17);
    expect(await application.auth.getCredentials(request(user))).not.toBeNull();
  });

  it("rejects with a 503 in an outage of the store", async () => {
    const user = await signedIn();
    store.isDown = true;
    const failure = await application.auth
      .getCredentials(request(user))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure).toMatchObject({ code: "store_unavailable", status: 503 });
  });

  it("gives what no caller can change for others", async () => {
    const user = await signedIn();
    const credentials = (await application.auth.getCredentials(request(user))) as unknown as {
      token: string;
      scopes: string[];
    };
    expect(() => {
      credentials.token = "mine";
    }).toThrow(TypeError);
    expect(() => credentials.scopes.push("admin")).toThrow(TypeError);
    expect((await application.auth.getCredentials(request(user)))?.token).toBe(
      newest("access_token"),
    );
  });
});

describe("checkIdpAuthentication and explainIdpAuthentication", () => {
  afterEach(() => application.stop());

  it.each<[string, ApplicationOptions, number, boolean, string | null]>([
    ["valid", {}, 0, true, null],
    ["one second before the ID token's expiry", {}, HOUR - 1, true, null],
    ["expired and refreshable", {}, HOUR, false, "id_token_expired"],
    [
      "expired without a refresh token",
      { provider: { issueRefreshToken: false } },
      HOUR,
      false,
      "no_refresh_token",
    ],
    [
      "expired with automatic refresh off",
      { sessionAutoRefresh: false },
      HOUR,
      false,
      "auto_refresh_off",
    ],
    [
      "expired with both",
      { sessionAutoRefresh: false, provider: { issueRefreshToken: false } },
      HOUR,
      false,
      "auto_refresh_off",
    ],
    ["at the maximum age", { sessionMaxAge: 600 }, 600, true, null],
    ["beyond the maximum age", { sessionMaxAge: 600 }, 601, false, "max_age"],
    ["beyond the idle timeout", { sessionIdleTimeout: 600 }, 601, false, "idle"],
    ["beyond both caps", { sessionMaxAge: 600, sessionIdleTimeout: 600 }, 601, false, "max_age"],
    ["beyond a cap and expired", { sessionIdleTimeout: 600 }, HOUR, false, "idle"],
  ])("%s", async (_name, options, seconds, authenticated, reason) => {
    const user = await signedIn(options);
    pass(seconds);
    expect(await application.auth.checkIdpAuthentication(request(user))).toBe(authenticated);
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated,
      reason,
    });
  });

  it("without a session: no_credentials", async () => {
    const user = await start();
    expect(await application.auth.checkIdpAuthentication(request(user))).toBe(false);
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated: false,
      reason: "no_credentials",
    });
    await user.get("/idpauth/login/");
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated: false,
      reason: "no_credentials",
    });
  });

  it("after a refusal: refresh_rejected", async () => {
    const user = await signedIn();
    application.provider.revokeAll();
    pass(HOUR);
    await application.auth.getCredentials(request(user));
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated: false,
      reason: "refresh_rejected",
    });
    await user.signIn();
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated: true,
      reason: null,
    });
  });
});

describe("functions without side effects", () => {
  afterEach(() => application.stop());
  type Look = (user: TestUser) => Promise<unknown>;
  const LOOKS: [string, Look][] = [
    ["checkIdpAuthentication", (user) => application.auth.checkIdpAuthentication(request(user))],
    [
      "explainIdpAuthentication",
      (user) => application.auth.explainIdpAuthentication(request(user)),
    ],
    ["readSessionRecord", (user) => application.auth.readSessionRecord(request(user))],
  ];
  const SESSIONS: [string, ApplicationOptions, number][] = [
    ["valid", { sessionIdleTimeout: 10 * HOUR }, 60],
    ["expired and refreshable", { sessionIdleTimeout: 10 * HOUR }, HOUR],
    ["due for a longer life", { sessionIdleTimeout: 10 * 86_400 }, 2 * 86_400],
    ["beyond a cap", { sessionMaxAge: 60 }, 61],
  ];

  it.each(
    LOOKS.flatMap(([name, look]) =>
      SESSIONS.map(([state, options, seconds]) => [name, state, options, seconds, look] as const),
    ),
  )(
    "%s of a session that is %s: one read, no write, no request, no log line, no event",
    async (_name, _state, options, seconds, look) => {
      const user = await signedIn(options);
      pass(seconds);
      const events: unknown[] = [];
      for (const name of ["login", "refresh", "logout", "blocked", "ended", "failure"] as const)
        application.auth.on(name, (event) => events.push(event));
      store.operations.length = 0;
      const [requests, lines, cookies] = [
        application.provider.requests.length,
        application.log.length,
        new Map(user.cookies),
      ];
      const before = JSON.stringify(await store.entries());
      await look(user);
      expect(store.operations).toEqual(["get"]);
      expect(JSON.stringify(await store.entries())).toBe(before);
      expect([application.provider.requests.length, application.log.length, events]).toEqual([
        requests,
        lines,
        [],
      ]);
      expect(user.cookies).toEqual(cookies);
    },
  );

  it.each(LOOKS)("%s of a user without a session does nothing at all", async (_name, look) => {
    const user = await start();
    await look(user);
    expect(store.operations).toEqual([]);
    expect(application.provider.requests).toEqual([]);
  });
});

describe("a component that was never started", () => {
  const host = { name: "plain", request: (raw: IdpRequest) => raw };
  const visit: IdpRequest = {
    method: "GET",
    target: "/reports",
    scheme: "http",
    host: "app.example",
    header: () => undefined,
  };

  it("is checked at its first use: a configuration error is never taken for signed out", async () => {
    const auth = createIdpAuth({ env: {}, log: false }, host);
    await expect(auth.getCredentials(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.getSession(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.getSession(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.readSessionRecord(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.checkIdpAuthentication(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.guard(visit)).rejects.toBeInstanceOf(ConfigurationError);
  });

  it("works when its settings are correct", async () => {
    const env = {
      SECRET_KEY: "a secret key of at least 32 bytes",
      IDP_CLIENT_ID: "c",
      IDP_CLIENT_SECRET: "s",
      BASE_URL: "https://app.example",
    };
    expect(await createIdpAuth({ env, log: false }, host).getCredentials(visit)).toBeNull();
  });
});

describe("the user of clientState", () => {
  afterEach(() => application.stop());

  it("gives email, name and picture, or null", async () => {
    const user = await signedIn({ sessionMaxAge: 600 });
    expect((await application.auth.clientState(request(user))).user).toEqual(ADA);
    expect(await application.auth.getSession(request(application.user()))).toBeNull();
    pass(601);
    expect(await application.auth.getSession(request(user))).toBeNull();
  });
});

describe("readSessionRecord", () => {
  afterEach(() => application.stop());

  it("gives the specified keys, read-only, and not the private one", async () => {
    const user = await signedIn({ sessionIdleTimeout: 600 });
    const session = (await application.auth.readSessionRecord(request(user))) as Record<
      string,
      Record<string, unknown>
    >;
    expect(Object.keys(session).sort()).toEqual([
      "credentials",
      "final_redirect",
      "id_info",
      "idp_last_active",
      "idp_login_at",
    ]);
    expect(() => {
      session["credentials"] = {};
    }).toThrow(TypeError);
    for (const key of ["credentials", "id_info"]) {
      expect(() => {
        (session[key] as Record<string, unknown>)["x"] = 1;
      }).toThrow(TypeError);
    }
  });

  it("uses the configured key names", async () => {
    const user = await start({
      credentialsSessionKeyName: "creds",
      stateKeyName: "st",
      finalRedirectKeyName: "fr",
    });
    await user.signIn();
    await user.get("/idpauth/login/");
    expect(
      Object.keys((await application.auth.readSessionRecord(request(user))) ?? {}).sort(),
    ).toEqual(["creds", "fr", "id_info", "idp_login_at", "st"]);
  });

  it("shows a session as it is, past the gate", async () => {
    const user = await signedIn({ sessionMaxAge: 60 });
    pass(61);
    expect(await application.auth.readSessionRecord(request(user))).toMatchObject({
      id_info: { email: "ada@example.com" },
    });
  });

  it("is null without a session, and rejects when the store is away", async () => {
    const user = await signedIn();
    expect(await application.auth.readSessionRecord(request(application.user()))).toBeNull();
    store.isDown = true;
    await expect(application.auth.readSessionRecord(request(user))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
  });
});

describe("getSession", () => {
  afterEach(() => application.stop());
  const session = (user: TestUser) => application.auth.getSession(request(user));
  const now = () => application.clock.now() / 1000;

  it("gives the user, the verified claims and the times, and no token", async () => {
    const user = await signedIn();
    const given = await session(user);
    expect(given).toEqual({
      user: { ...ADA, id: "ada-1815", email_verified: true },
      claims: expect.objectContaining({
        iss: application.provider.issuer,
        sub: "ada-1815",
        email: ADA.email,
        exp: now() + HOUR,
      }) as unknown,
      data: {},
      signedInAt: now(),
      lastActive: null,
      expiresAt: null,
    });
    expect(JSON.stringify(given)).not.toContain(newest("access_token"));
  });

  it.each<[string, ApplicationOptions, number, number, string]>([
    ["beyond the maximum age", { sessionMaxAge: 600 }, 600, 1, "max_age"],
    ["beyond the idle timeout", { sessionIdleTimeout: 600 }, 600, 601, "idle"],
    ["with automatic refresh off", { sessionAutoRefresh: false }, HOUR - 1, 1, "auto_refresh_off"],
    [
      "without a refresh token",
      { provider: { issueRefreshToken: false } },
      HOUR - 1,
      1,
      "no_refresh_token",
    ],
  ])(
    "is null %s, while the record is still there",
    async (_name, options, before, after, reason) => {
      const user = await signedIn(options);
      pass(before);
      expect(await session(user)).not.toBeNull();
      pass(after);
      expect(await session(user)).toBeNull();
      expect(await application.auth.readSessionRecord(request(user))).toHaveProperty("id_info");
      expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
        authenticated: false,
        reason,
      });
    },
  );

  it.each<[string, ApplicationOptions, number, number | null]>([
    ["the maximum age, counted from the sign-in", { sessionMaxAge: 600 }, 100, 600],
    ["the idle timeout, counted from this request", { sessionIdleTimeout: 600 }, 100, 700],
    ["the earlier of both", { sessionMaxAge: 650, sessionIdleTimeout: 600 }, 100, 650],
    [
      "the ID token's expiry with automatic refresh off",
      { sessionAutoRefresh: false, sessionMaxAge: 2 * HOUR },
      100,
      HOUR,
    ],
    [
      "the ID token's expiry without a refresh token",
      { provider: { issueRefreshToken: false } },
      100,
      HOUR,
    ],
    ["nothing while the ID token can be refreshed", {}, 100, null],
  ])("says when the session ends: %s", async (_name, options, seconds, expected) => {
    const user = await signedIn(options);
    const signedInAt = now();
    pass(seconds);
    const { expiresAt } = (await session(user))!;
    expect(expiresAt === null ? null : expiresAt - signedInAt).toBe(expected);
  });

  it("refreshes an expired ID token, keeps the sign-in time and counts as activity", async () => {
    const user = await signedIn({ sessionIdleTimeout: 2 * HOUR });
    const signedInAt = now();
    pass(HOUR);
    expect(await session(user)).toMatchObject({
      claims: { exp: now() + HOUR },
      signedInAt,
      lastActive: now(),
    });
    expect(refreshes()).toBe(1);
    expect((await application.auth.readSessionRecord(request(user)))?.["idp_last_active"]).toBe(
      now(),
    );
  });

  it("is null without a session, and rejects in an outage of the provider or the store", async () => {
    const user = await signedIn();
    expect(await session(application.user())).toBeNull();
    pass(HOUR);
    application.provider.fault("token", { kind: "status", status: 503 });
    await expect(session(user)).rejects.toBeInstanceOf(ProviderUnavailableError);
    store.isDown = true;
    await expect(session(user)).rejects.toBeInstanceOf(StoreUnavailableError);
  });

  it("cannot be changed by a caller", async () => {
    const given = (await session(await signedIn())) as unknown as {
      user: { name: string };
      claims: { sub: string; aud: unknown };
    };
    expect(() => (given.user.name = "Eve")).toThrow(TypeError);
    expect(() => (given.claims.sub = "eve")).toThrow(TypeError);
  });
});

describe("sessionView", () => {
  const policy = { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null };
  const idInfo = { iss: "https://idp.example", sub: "ada", nested: { list: [1] } };

  it.each([
    [undefined],
    [{}],
    [{ sub: "ada" }],
    [{ iss: "https://idp.example" }],
    [{ ...idInfo, sub: "" }],
    [{ ...idInfo, sub: 1 }],
  ])("is null for claims that do not identify a user: %j", (claims) => {
    expect(
      sessionView(
        { ...(claims && { id_info: claims }), idp_state: { v: 1 } },
        { policy, now: 1000 },
      ),
    ).toBeNull();
  });

  it("leaves the claims in a framework's own session changeable", () => {
    const view = sessionView(
      { id_info: idInfo, idp_login_at: "never", idp_state: { v: 1 } },
      { policy, now: 1000 },
    );
    expect(Object.isFrozen(idInfo) || Object.isFrozen(idInfo.nested.list)).toBe(false);
    expect(Object.isFrozen((view?.claims["nested"] as typeof idInfo.nested).list)).toBe(true);
    expect(view?.signedInAt).toBeNull();
  });
});

describe("getAccessToken", () => {
  afterEach(() => application.stop());
  const SHORT = { provider: { accessTokenSeconds: 300 } };
  const token = (user: TestUser, minValidity?: number) =>
    application.auth.getAccessToken(
      request(user),
      minValidity === undefined ? {} : { minValidity },
    );

  it.each([
    [0, undefined, 0],
    [270, undefined, 0],
    [271, undefined, 1],
    [300, undefined, 1],
    [0, 301, 0],
    [150, 301, 0],
    [151, 301, 1],
    [150, 200, 0],
    [151, 200, 1],
    [299, 0, 0],
    [300, 0, 1],
  ])("after %i s, with minValidity %s: %i refreshes", async (seconds, minValidity, count) => {
    const user = await signedIn(SHORT);
    pass(seconds);
    expect(await token(user, minValidity)).toBe(newest("access_token"));
    expect(refreshes()).toBe(count);
  });

  it("is null when the token has expired and nothing newer is to be had", async () => {
    const user = await signedIn({
      provider: { accessTokenSeconds: 300, issueRefreshToken: false },
    });
    pass(299);
    expect(await token(user)).toBe(newest("access_token"));
    pass(1);
    expect(await token(user)).toBeNull();
  });

  it("is null when signed out", async () => {
    expect(await token(await start())).toBeNull();
  });

  it("an outage takes nothing away that still works, and is an error for what does not", async () => {
    const user = await signedIn(SHORT);
    pass(280);
    application.provider.fault("token", { kind: "reset" });
    expect(await token(user)).toBe(newest("access_token"));
    pass(20);
    await expect(token(user)).rejects.toBeInstanceOf(ProviderUnavailableError);
  });

  it("does not lift a session limit", async () => {
    const user = await signedIn({ ...SHORT, sessionMaxAge: 300 });
    pass(301);
    expect(await token(user)).toBeNull();
    expect(refreshes()).toBe(0);
  });
});

describe("revokeIdpToken", () => {
  afterEach(() => application.stop());

  it("posts the token and resolves true", async () => {
    await signedIn();
    expect(await application.auth.revokeIdpToken(newest("refresh_token"))).toBe(true);
    expect(application.provider.isActive(newest("refresh_token"))).toBe(false);
    expect(
      application.provider.requestsTo("revoke", { token_type_hint: "refresh_token" }),
    ).toHaveLength(1);
  });

  it("sends the hint it is given; a token nobody knows is no failure (RFC 7009)", async () => {
    await start();
    expect(await application.auth.revokeIdpToken("unknown", "access_token")).toBe(true);
    expect(
      application.provider.requestsTo("revoke", {
        token: "unknown",
        token_type_hint: "access_token",
      }),
    ).toHaveLength(1);
  });

  it.each<Fault>([
    { kind: "reset" },
    { kind: "status", status: 400 },
    { kind: "status", status: 503 },
    { kind: "redirect", status: 307 },
    { kind: "oversized" },
  ])("resolves false and never rejects: %j", async (fault) => {
    await start();
    application.provider.fault("revoke", fault);
    expect(await application.auth.revokeIdpToken("token")).toBe(false);
  });

  it("resolves false while the provider is down altogether", async () => {
    await start();
    await application.provider.pause();
    expect(await application.auth.revokeIdpToken("token")).toBe(false);
    await application.provider.resume();
  });

  it("has no effect on the session", async () => {
    const user = await signedIn();
    const before = store.operations.length;
    await application.auth.revokeIdpToken(newest("access_token"), "access_token");
    expect(store.operations.length).toBe(before);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("the pure functions", () => {
  it("credentialsToDict gives the six fields", () => {
    const given = {
      token: "t",
      refreshToken: "r",
      tokenUri: "https://idp.example/token",
      clientId: "c",
      clientSecret: "s",
      scopes: ["openid", "email"],
    };
    const dict = credentialsToDict(given);
    expect(dict).toEqual({
      token: "t",
      refresh_token: "r",
      token_uri: "https://idp.example/token",
      client_id: "c",
      client_secret: "s",
      scopes: ["openid", "email"],
    });
    given.scopes.push("more");
    expect(dict.scopes).toEqual(["openid", "email"]);
  });

  it.each([undefined, null, ""])(
    "credentialsToDict leaves out a refresh token that is %j",
    (refreshToken) => {
      expect(
        credentialsToDict({
          token: "t",
          refreshToken,
          tokenUri: "u",
          clientId: "c",
          clientSecret: "s",
          scopes: [],
        }),
      ).toEqual({
        token: "t",
        token_uri: "u",
        client_id: "c",
        client_secret: "s",
        scopes: [],
      });
    },
  );

  it.each([
    [99, 100, true],
    [100, 100, true],
    [101, 100, false],
    [100.5, 100, false],
    [0, 100, true],
    [-1, 100, true],
    [NaN, 100, true],
    [Infinity, 100, true],
    [undefined, 100, true],
    ["101", 100, true],
    [null, 100, true],
  ])("hasEpochTimePassed(%s, now %i) is %s", (target, now, passed) => {
    expect(hasEpochTimePassed(target as number, now)).toBe(passed);
  });

  it("hasEpochTimePassed reads the system's clock by default", () => {
    const now = Date.now() / 1000;
    expect(hasEpochTimePassed(now - 10)).toBe(true);
    expect(hasEpochTimePassed(now + 1_000)).toBe(false);
  });
});

describe("isValidIdpUrl", () => {
  afterEach(() => application.stop());
  const ROWS: [string, boolean][] = [
    ["https://docs.idp.example/", true],
    ["https://docs.idp.example/d/1?x=1#y", true],
    ["https://docs.idp.example", true],
    ["http://docs.idp.example/", false],
    ["https://docs.idp.example:443/", false],
    ["https://docs.idp.example:8443/", false],
    ["https://user@docs.idp.example/", false],
    ["https://evil.example/docs.idp.example", false],
    ["https://docs.idp.example.evil.example/", false],
    ["https://x.docs.idp.example/", false],
    ["https://docs.idp.example@evil.example/", false],
    ["https://docs.idp.example\\@evil.example/", false],
    ["https://DOCS.idp.example/", false],
    ["https://docs.idp.example./", false],
    [" https://docs.idp.example/", false],
    ["//docs.idp.example/", false],
    ["docs.idp.example", false],
    ["javascript:alert(1)", false],
    ["", false],
  ];
  it("accepts exactly the provider's document hostnames over https", () => {
    const isValid = (url: string) => isValidIdpUrl(url, ["docs.idp.example"]);
    expect(ROWS.map(([url]) => [url, isValid(url)])).toEqual(ROWS);
    for (const value of [undefined, null, 1, {}]) expect(isValid(value as string)).toBe(false);
  });

  it("of an auth object takes the issuer's hostname", async () => {
    await start();
    expect(application.auth.isValidIdpUrl("https://127.0.0.1/x")).toBe(true);
    expect(application.auth.isValidIdpUrl("https://docs.google.com/x")).toBe(false);
    expect(store.operations).toEqual([]);
    expect(application.provider.requests).toEqual([]);
  });
});
