import { describe, expect, it } from "vitest";
import { ApiTokenError } from "../../src/index.js";
import { BILLING, HOUR, ORDERS, app, startForEachTest, APIS } from "../support/api-application.js";

startForEachTest();

const credentials = () => app.auth.getCredentials(app.request());
const jwt = (claims: object) =>
  ["{}", JSON.stringify(claims), "signature"]
    .map((part) => Buffer.from(part).toString("base64url"))
    .join(".");

describe("the access token for an API", () => {
  it("comes from a refresh that names the API, and stays until it expires", async () => {
    await app.user.signIn();
    const first = await app.token("orders");
    expect(first).toMatch(/^at_https:\/\/orders/);
    expect(await app.token("orders")).toBe(first);
    expect(app.targets()).toEqual([ORDERS]);
    app.application.clock.advance(2 * HOUR);
    expect(await app.token("orders")).not.toBe(first);
    // The session's own tokens first, since its ID token has expired, too.
    expect(app.targets()).toEqual([ORDERS, null, ORDERS]);
  });

  it("is requested with `resource`, `audience` or `scope`, and nothing else", async () => {
    await app.user.signIn();
    for (const api of ["orders", "graph", "reports"]) await app.token(api);
    const own = ["grant_type", "refresh_token", "client_id", "client_secret"];
    const added = app
      .refreshes()
      .map(({ params }) => Object.fromEntries([...params].filter(([name]) => !own.includes(name))));
    expect(added).toEqual([{ resource: ORDERS }, { scope: "mail.read" }, { audience: "reports" }]);
  });

  it("changes nothing else in the session, and requests no userinfo", async () => {
    await app.user.signIn();
    const before = await app.auth.readSessionRecord(app.request());
    app.responses[ORDERS] = { scope: "openid orders.write" };
    await app.token("orders");
    const after = await app.auth.readSessionRecord(app.request());
    const rotated = {
      ...(before?.["credentials"] as object),
      refresh_token: expect.stringMatching(/^rt_/) as string,
    };
    expect(after).toEqual({ ...before, credentials: rotated });
    expect((after?.["credentials"] as Record<string, unknown>)["refresh_token"]).not.toBe(
      (before?.["credentials"] as Record<string, unknown>)["refresh_token"],
    );
    expect(app.application.provider.requestsTo("userinfo")).toEqual([]);
  });

  it("emits a refresh with the API's name and its duration, also if it is refused", async () => {
    await app.user.signIn();
    const emitted: unknown[] = [];
    for (const name of ["refresh", "failure"] as const)
      app.auth.on(name, ({ api, duration }) => emitted.push([name, api, typeof duration]));
    await app.token("orders");
    app.refuse("invalid_target");
    await app.failure("billing");
    expect(emitted).toEqual([
      ["refresh", "orders", "number"],
      ["failure", "billing", "number"],
    ]);
  });

  it("without parameters of its own is the session's", async () => {
    await app.user.signIn();
    expect(await app.token("own")).toBe((await credentials())?.token);
    expect(app.refreshes()).toEqual([]);
  });

  it("is null when signed out", async () => {
    expect(await app.token("orders")).toBeNull();
  });

  it("is an error for a session without a refresh token, with a login that may bring one", async () => {
    app.application.provider.settings.issueRefreshToken = false;
    await app.user.signIn();
    expect(await app.failure("orders")).toMatchObject({
      code: "api_sign_in_required",
      status: 401,
      reason: "no_refresh_token",
      loginUrl: "/idpauth/login/?api=orders",
    });
    expect(await app.user.isSignedIn()).toBe(true);
  });

  it("of an API that isn't in the table is a TypeError", async () => {
    await expect(app.token("toString")).rejects.toThrow(TypeError);
  });

  it("ends with a sign-in of another user", async () => {
    await app.user.signIn();
    const first = await app.token("orders");
    await app.user.signIn(undefined, { sub: "grace-1906", email: "grace@example.com" });
    expect(await app.token("orders")).not.toBe(first);
    expect(app.refreshes().length).toBe(2);
  });

  it("is requested again when the settings of the API change", async () => {
    await app.user.signIn();
    await app.token("orders");
    const { user } = app;
    app.use({ apis: { ...APIS, orders: { ...APIS.orders, resource: BILLING } } });
    app.user = user.at(app.auth);
    expect(await app.token("orders")).toMatch(/billing/);
  });

  it("is renewed early for `minValidity`, but not in the first half of its life", async () => {
    await app.user.signIn();
    const first = await app.token("orders");
    expect(await app.token("orders", { minValidity: 86_400 })).toBe(first);
    app.application.clock.advance(0.6 * HOUR);
    expect(await app.token("orders", { minValidity: 600 })).toBe(first);
    expect(await app.token("orders", { minValidity: 86_400 })).not.toBe(first);
    expect(app.targets()).toEqual([ORDERS, ORDERS]);
  });

  it("200 requests for two APIs: two token requests on a valid session, three on an expired one", async () => {
    await app.user.signIn();
    const all = () =>
      Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          app.token(index % 2 === 0 ? "orders" : "billing"),
        ),
      );
    const tokens = await all();
    expect(new Set(tokens).size).toBe(2);
    expect(
      tokens.every((one, index) => one?.includes(index % 2 === 0 ? "orders" : "billing")),
    ).toBe(true);
    expect(app.refreshes().length).toBe(2);
    app.application.clock.advance(2 * HOUR);
    expect(new Set(await all()).size).toBe(2);
    expect(app.targets().slice(2).toSorted()).toEqual([BILLING, ORDERS, null]);
    expect(app.application.provider.reuses).toBe(0);
  });

  it("keeps at most 8 in a session, the newest, and drops those that have expired", async () => {
    const apis = Object.fromEntries(
      Array.from({ length: 10 }, (_, n) => [
        `api${String(n)}`,
        { url: "https://api.internal/", scope: `s${String(n)}` },
      ]),
    );
    app.use({ apis });
    await app.user.signIn();
    app.responses["s9"] = { expires_in: 60 };
    const ask = async (...numbers: number[]) => {
      for (const n of numbers) {
        app.application.clock.advance(1_000);
        await app.token(`api${String(n)}`, { minValidity: 0 });
      }
    };
    await ask(0, 1, 2, 3, 4, 5, 6, 9);
    await ask(7);
    expect(app.refreshes().length).toBe(9);
    // The oldest one went.
    await ask(1, 2, 3, 4, 5, 6, 9, 7);
    expect(app.refreshes().length).toBe(9);
    app.application.clock.advance(60_000);
    // The expired one makes room.
    await ask(0, 1);
    expect(app.targets().slice(9)).toEqual(["s0"]);
  });
});

describe("a token that the API has rejected", () => {
  it("is replaced once, and not again within a minute", async () => {
    await app.user.signIn();
    const first = await app.token("orders");
    const second = await app.token("orders", { rejected: first ?? "" });
    expect(second).not.toBe(first);
    expect(await app.token("orders", { rejected: second ?? "" })).toBe(second);
    expect(app.refreshes().length).toBe(2);
    app.application.clock.advance(61_000);
    expect(await app.token("orders", { rejected: second ?? "" })).not.toBe(second);
  });

  it("is not replaced if the session has a newer one", async () => {
    await app.user.signIn();
    const late = app.request();
    const first = await app.auth.getAccessToken(late, { api: "orders" });
    const second = await app.token("orders", { rejected: first ?? "" });
    expect(await app.auth.getAccessToken(late, { api: "orders", rejected: first ?? "" })).toBe(
      second,
    );
    expect(app.refreshes().length).toBe(2);
  });

  it("is replaced by one refresh for all requests", async () => {
    await app.user.signIn();
    const first = await app.token("orders");
    const tokens = await Promise.all(
      Array.from({ length: 50 }, () => app.token("orders", { rejected: first ?? "" })),
    );
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).not.toBe(first);
    expect(app.refreshes().length).toBe(2);
  });

  it.each([
    ["the session's own", {}],
    ["that of an API without parameters", { api: "own" }],
  ])("%s: the session is refreshed once", async (_name, options) => {
    await app.user.signIn();
    const ask = (rejected: string) =>
      app.auth.getAccessToken(app.request(), { ...options, rejected });
    const first = (await credentials())?.token ?? "";
    const second = (await ask(first)) ?? "";
    expect(second).not.toBe(first);
    expect((await credentials())?.token).toBe(second);
    expect(await ask(first)).toBe(second);
    expect(await ask(second)).toBe(second);
    expect(app.targets()).toEqual([null]);
    app.application.clock.advance(61_000);
    expect(await ask(second)).not.toBe(second);
  });
});

describe("the token that came for an API", () => {
  it.each<[string, string, object, string]>([
    ["names another resource", "orders", { resource: BILLING }, "api_token_resource"],
    ["names other resources", "orders", { resource: [BILLING] }, "api_token_resource"],
    [
      "is a JWT for another audience",
      "orders",
      { access_token: jwt({ aud: BILLING }) },
      "api_token_audience",
    ],
    [
      "is a JWT for other audiences",
      "orders",
      { access_token: jwt({ aud: ["userinfo", BILLING] }) },
      "api_token_audience",
    ],
    ["is a JWT without an audience", "reports", { access_token: jwt({}) }, "api_token_audience"],
    // Amazon Cognito without resource binding, Keycloak without an audience mapper.
    [
      "is a JWT without an audience, and the API has a resource",
      "orders",
      { access_token: jwt({ client_id: "test-client", scope: "orders.read" }) },
      "api_token_audience",
    ],
    [
      "is a JWT without an audience, although the response names the resource",
      "orders",
      { access_token: jwt({}), resource: ORDERS },
      "api_token_audience",
    ],
    [
      "is a JWT with an empty audience",
      "orders",
      { access_token: jwt({ aud: [] }) },
      "api_token_audience",
    ],
  ])("goes to no API if it %s, and the session continues", async (_name, api, response, reason) => {
    await app.user.signIn();
    app.responses[api === "orders" ? ORDERS : "reports"] = response;
    expect(await app.failure(api)).toMatchObject({
      code: "api_token_refused",
      status: 502,
      reason,
      loginUrl: undefined,
    });
    const lines = app.application.log.filter(({ code }) => code === "api_token_failed");
    expect(lines.map(({ message, details }) => ({ message, details }))).toEqual([
      {
        message: `There is no access token for an API now; the session continues (${api}: ${reason}).`,
        details: { reason, api },
      },
    ]);
    expect(await app.token("billing")).toMatch(/billing/);
    expect(app.application.provider.reuses).toBe(0);
  });

  it.each<[string, object, string, string]>([
    ["is missing", { access_token: undefined }, "access_token_missing", "provider_unavailable"],
    ["is no bearer token", { token_type: "DPoP" }, "token_type", "provider_misconfigured"],
  ])(
    "%s: an outage of this API and session alone, which keeps the rotated refresh token",
    async (_name, response, reason, code) => {
      await app.user.signIn();
      app.responses[ORDERS] = response;
      expect(await app.failure("orders")).toMatchObject({ code, status: 503, reason });
      expect(await app.failure("orders")).toMatchObject({ reason: "backing_off" });
      expect(await app.token("billing")).toMatch(/billing/);
      app.responses[ORDERS] = undefined;
      app.application.clock.advance(2_000);
      expect(await app.token("orders")).toMatch(/orders/);
      expect(app.application.provider.reuses).toBe(0);
    },
  );

  it("has expired already: a call requests no other one at once, and the session continues", async () => {
    await app.user.signIn();
    app.responses[ORDERS] = { expires_in: 0 };
    expect(await app.failure("orders")).toMatchObject({ status: 503, reason: "refresh_pending" });
    expect(app.targets()).toEqual([ORDERS]);
    app.responses[ORDERS] = undefined;
    expect(await app.token("orders")).toMatch(/orders/);
  });

  it.each<[string, string, object]>([
    ["names its resource", "orders", { resource: ORDERS }],
    ["names its resource among others", "orders", { resource: [BILLING, ORDERS] }],
    ["is a JWT for its resource", "orders", { access_token: jwt({ aud: [ORDERS, "userinfo"] }) }],
    [
      "is a JWT for another of its audiences",
      "reports",
      { access_token: jwt({ aud: "reports-guid" }) },
    ],
    ["is a JWT, and the API has only scopes", "graph", { access_token: jwt({ aud: "anything" }) }],
    [
      "is a JWT without an audience, and the API has only scopes",
      "graph",
      { access_token: jwt({}) },
    ],
    ["only looks like a JWT", "orders", { access_token: "a.b.c" }],
  ])("is used if it %s", async (_name, api, response) => {
    await app.user.signIn();
    app.responses[{ orders: ORDERS, graph: "mail.read" }[api] ?? api] = response;
    expect(typeof (await app.token(api))).toBe("string");
  });

  it("with fewer scopes is used, and the log says so once", async () => {
    app.use({ apis: { orders: { ...APIS.orders, scope: "openid orders.read orders.write" } } });
    await app.user.signIn();
    app.responses[ORDERS] = { scope: "orders.read", expires_in: 1 };
    for (let count = 0; count < 2; count += 1) {
      expect(await app.token("orders", { minValidity: 0 })).not.toBeNull();
      app.application.clock.advance(2_000);
    }
    const lines = app.application.log.filter(({ code }) => code === "api_scopes_missing");
    expect(lines.map(({ message }) => message)).toEqual([
      "The provider granted the token for the API orders without these scopes: orders.write.",
    ]);
  });
});

describe("a provider that ignores a scope which no login has requested, as Keycloak does", () => {
  const later = { url: "https://reports.internal/", scope: "reports", consent: "later" } as const;

  it.each<[string, object, object, object]>([
    [
      "api_token_audience",
      { audience: "https://reports.example.com" },
      { access_token: jwt({ aud: "account" }) },
      { access_token: jwt({ aud: "https://reports.example.com" }) },
    ],
    ["api_scopes_missing", {}, { scope: "openid email" }, { scope: "openid email reports" }],
  ])("gets one login that requests it (%s)", async (reason, option, without, granted) => {
    app.use({ apis: { reports: { ...later, ...option } } });
    const target = "audience" in option ? String(option.audience) : "reports";
    await app.user.signIn();
    app.responses[target] = without;
    expect(await app.failure("reports")).toMatchObject({
      code: "api_sign_in_required",
      reason,
      loginUrl: "/idpauth/login/?api=reports",
    });
    app.responses[target] = granted;
    await app.user.signIn("/idpauth/login/?api=reports");
    expect(typeof (await app.token("reports"))).toBe("string");
    expect(app.application.provider.reuses).toBe(0);
  });

  it("keeps the user from a second login that would end the same way", async () => {
    app.use({ apis: { reports: later } });
    app.responses["reports"] = { scope: "openid email" };
    await app.user.signIn("/idpauth/login/?api=reports");
    expect(typeof (await app.token("reports"))).toBe("string");
    expect(app.application.log.map(({ code }) => code)).toContain("api_scopes_missing");
  });
});

describe("an ID token that comes with it", () => {
  const withIdToken = (claims: object) => {
    const { provider } = app.application;
    provider.mutateIdToken = (draft) =>
      draft.grant === "refresh_token"
        ? { ...draft, claims: { ...draft.claims, ...claims } }
        : draft;
    provider.tokenResponse = undefined;
  };

  it("changes nothing if it is right", async () => {
    await app.user.signIn();
    const before = await app.auth.readSessionRecord(app.request());
    withIdToken({ name: "Changed", exp: Math.floor(app.application.clock.now() / 1000) + 7_200 });
    expect(await app.token("orders")).toMatch(/^eyJ/);
    expect((await app.auth.readSessionRecord(app.request()))?.["id_info"]).toEqual(
      before?.["id_info"],
    );
  });

  it("of another user fails this call alone", async () => {
    await app.user.signIn();
    withIdToken({ sub: "mallory" });
    const failure = await app.failure("orders");
    expect(failure).toBeInstanceOf(ApiTokenError);
    expect(failure).toMatchObject({ code: "api_token_refused", reason: "id_token_sub" });
    app.application.provider.mutateIdToken = undefined;
    expect(await app.token("billing")).toMatch(/^eyJ/);
    expect(await app.user.isSignedIn()).toBe(true);
  });

  it("that can't be verified now is an outage, and the rotated refresh token is stored", async () => {
    await app.user.signIn();
    withIdToken({});
    const { provider, clock } = app.application;
    await provider.rotateKeys({ keepOld: false });
    provider.fault("jwks", { kind: "status" });
    expect(await app.failure("orders")).toMatchObject({ code: "provider_unavailable" });
    // Each attempt would spend another refresh token.
    expect(await app.failure("orders")).toMatchObject({
      code: "provider_unavailable",
      reason: "backing_off",
    });
    expect(app.refreshes().length).toBe(1);
    provider.clearFaults();
    clock.advance(61_000);
    expect(await app.token("orders")).toMatch(/^eyJ/);
    expect(provider.reuses).toBe(0);
  });
});
