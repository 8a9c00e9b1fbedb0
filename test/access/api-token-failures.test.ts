import { describe, expect, it } from "vitest";
import { ApiTokenError } from "../../src/index.js";
import {
  APIS,
  BILLING,
  HOUR,
  ORDERS,
  targetOf,
  app,
  startForEachTest,
} from "../support/api-application.js";
import type { TestUser } from "../support/application.js";
import { settled } from "../../src/testing/settled.js";

startForEachTest();

/** Signs in at one of two providers. */
async function signInAtStaff(apis: object): Promise<void> {
  const { issuer, clientId, clientSecret } = app.application.provider;
  const staff = { name: "Staff", issuer, clientId, clientSecret };
  const providers = { staff, customers: { ...staff, clientId: "another" } };
  app.use({
    apis,
    issuer: undefined,
    clientId: undefined,
    clientSecret: undefined,
    providers,
  });
  await app.user.signIn("/idpauth/login/?provider=staff");
}

const LOGIN = "/idpauth/login/?api=orders";

describe("a refusal for one API", () => {
  it.each([
    ["consent_required", 400, "api_sign_in_required"],
    ["interaction_required", 400, "api_sign_in_required"],
    ["login_required", 400, "api_sign_in_required"],
    ["mfa_required", 400, "api_sign_in_required"],
    ["mfa_required", 403, "api_sign_in_required"],
    ["invalid_target", 400, "api_token_refused"],
    ["invalid_scope", 400, "api_token_refused"],
    ["access_denied", 403, "api_token_refused"],
    // A client that may not refresh for this API. Whether it may refresh at all, the session's own
    // refresh shows.
    ["unauthorized_client", 403, "api_token_refused"],
    ["invalid_resource", 400, "api_token_refused"],
  ])(
    "%s with status %i ends no session, and is remembered for a minute",
    async (error, status, code) => {
      await app.user.signIn();
      app.refuse({ error, status });
      const failure = await app.failure("orders");
      expect(failure).toBeInstanceOf(ApiTokenError);
      const loginUrl = code === "api_sign_in_required" ? LOGIN : undefined;
      expect(failure).toMatchObject({
        code,
        api: "orders",
        reason: error,
        status: loginUrl === undefined ? 502 : 401,
        loginUrl,
      });
      await expect(app.token("orders")).rejects.toMatchObject({ code });
      expect(app.refreshes().length).toBe(1);
      expect(await app.user.isSignedIn()).toBe(true);
      expect(await app.token("billing")).toMatch(/billing/);
      app.application.clock.advance(61_000);
      expect(await app.token("orders")).toMatch(/orders/);
      expect(
        app.application.log.filter(({ code: line }) => line === "api_token_failed").length,
      ).toBe(1);
    },
  );

  it("is known to another process over the same store", async () => {
    await app.user.signIn();
    app.refuse("consent_required");
    await app.failure("orders");
    app.auth = app.application.another({ apis: APIS });
    expect(await app.failure("orders")).toMatchObject({
      code: "api_sign_in_required",
      loginUrl: LOGIN,
    });
    expect(app.refreshes().length).toBe(1);
  });

  it("is forgotten after a sign-in", async () => {
    await app.user.signIn();
    app.refuse("consent_required");
    await app.failure("orders");
    await app.user.signIn(LOGIN);
    expect(await app.token("orders")).toMatch(/orders/);
  });

  it.each(["consent_required", "invalid_grant"])(
    "%s of an early renewal keeps the token until it expires",
    async (error) => {
      app.application.provider.settings.idTokenSeconds = 86_400;
      await app.user.signIn();
      const first = (await app.token("orders")) ?? "";
      app.application.clock.advance(0.6 * HOUR);
      for (const renewals of [1, 2]) {
        app.refuse(error);
        for (let count = 0; count < 3; count += 1)
          expect(await app.token("orders", { minValidity: 86_400 })).toBe(first);
        expect(app.targets().filter((target) => target === ORDERS).length).toBe(1 + renewals);
        app.application.clock.advance(60_000);
      }
      app.refuse(error);
      expect(await app.token("orders", { minValidity: 86_400 })).toBe(first);
      expect(await app.failure("orders", { rejected: first })).toMatchObject({
        code: "api_sign_in_required",
        reason: error,
      });
      app.application.clock.advance(0.5 * HOUR);
      app.refuse(error);
      expect(await app.failure("orders")).toMatchObject({
        code: "api_sign_in_required",
        reason: error,
      });
    },
  );

  it.each(["invalid_target", "invalid_scope"])(
    'with consent "later", %s is a step-up until a login has requested the API, and then the operator\'s error',
    async (error) => {
      await app.user.signIn();
      app.refuse(error);
      const loginUrl = "/idpauth/login/?api=graph";
      expect(await app.failure("graph")).toMatchObject({
        code: "api_sign_in_required",
        reason: error,
        status: 401,
        loginUrl,
      });
      await app.user.signIn(loginUrl);
      app.refuse(error);
      expect(await app.failure("graph")).toMatchObject({
        code: "api_token_refused",
        reason: error,
        status: 502,
        loginUrl: undefined,
      });
    },
  );

  it("names the user's provider in the login's address, if there are several", async () => {
    await signInAtStaff(APIS);
    app.refuse("consent_required");
    expect(await app.failure("orders")).toMatchObject({
      loginUrl: "/idpauth/login/?provider=staff&api=orders",
    });
  });

  it("is one request for all concurrent requests", async () => {
    await app.user.signIn();
    app.refuse("consent_required");
    const failures = await Promise.all(Array.from({ length: 20 }, () => app.failure("orders")));
    expect(new Set(failures.map((failure) => (failure as ApiTokenError).code))).toEqual(
      new Set(["api_sign_in_required"]),
    );
    expect(app.refreshes().length).toBe(1);
  });

  it("is the user's own: a session of another provider than the API's gets no token", async () => {
    await signInAtStaff({
      orders: { ...APIS.orders, provider: "customers" },
      billing: { ...APIS.billing, provider: "staff" },
    });
    expect(await app.failure("orders")).toMatchObject({
      code: "api_provider_mismatch",
      status: 403,
      loginUrl: undefined,
    });
    expect(app.refreshes()).toEqual([]);
    expect(await app.token("billing")).toMatch(/billing/);
  });
});

describe("invalid_grant for an API", () => {
  it("is followed by a refresh of the session, which continues if that succeeds", async () => {
    await app.user.signIn();
    app.refuse("invalid_grant");
    expect(await app.failure("orders")).toMatchObject({
      code: "api_sign_in_required",
      reason: "invalid_grant",
      loginUrl: LOGIN,
    });
    await app.failure("orders");
    expect(app.targets()).toEqual([ORDERS, null]);
    expect(await app.user.isSignedIn()).toBe(true);
    expect(await app.token("billing")).toMatch(/billing/);
    app.application.clock.advance(61_000);
    expect(await app.token("orders")).toMatch(/orders/);
  });

  it("ends the refreshes of the session if its own is refused, too", async () => {
    await app.user.signIn();
    app.refuse("invalid_grant", "invalid_grant");
    const missing = { code: "api_token_missing", status: 403, reason: "refresh_rejected" };
    expect(await app.failure("orders")).toMatchObject(missing);
    expect(await app.failure("billing")).toMatchObject(missing);
    expect(app.targets()).toEqual([ORDERS, null]);
    expect(await app.user.isSignedIn()).toBe(true);
    app.application.clock.advance(2 * HOUR);
    expect(await app.user.isSignedIn()).toBe(false);
    expect((await app.auth.explainIdpAuthentication(app.request())).reason).toBe(
      "refresh_rejected",
    );
  });

  it("drops and revokes the refresh token if the session's new tokens are wrong", async () => {
    await app.user.signIn();
    const { provider } = app.application;
    provider.mutateIdToken = (draft) => {
      draft.claims["sub"] = "mallory";
      return draft;
    };
    app.refuse("invalid_grant");
    expect(await app.failure("orders")).toMatchObject({ reason: "refresh_rejected" });
    await settled(app.auth);
    expect(provider.requestsTo("revoke").length).toBe(1);
    expect(app.targets()).toEqual([ORDERS, null]);
  });

  it("decides nothing if the session's own refresh meets an outage", async () => {
    await app.user.signIn();
    const { provider, clock } = app.application;
    app.refuse("invalid_grant");
    provider.fault("token", { kind: "status", times: 1, status: 503 });
    expect(await app.failure("orders")).toMatchObject({ code: "provider_unavailable" });
    clock.advance(10_000);
    expect(await app.token("orders")).toMatch(/orders/);
  });

  it("with Entra ID's suberror bad_token ends the refreshes of the session at once", async () => {
    await app.user.signIn();
    app.refuse({ error: "invalid_grant", suberror: "bad_token" });
    expect(await app.failure("orders")).toMatchObject({ reason: "refresh_rejected" });
    expect(app.targets()).toEqual([ORDERS]);
    app.application.clock.advance(2 * HOUR);
    expect(await app.user.isSignedIn()).toBe(false);
  });

  it("with another suberror is as ambiguous as without", async () => {
    await app.user.signIn();
    app.refuse({ error: "invalid_grant", suberror: "consent_required" });
    expect(await app.failure("orders")).toMatchObject({ code: "api_sign_in_required" });
    expect(app.targets()).toEqual([ORDERS, null]);
  });
});

describe("an outage during a refresh for an API", () => {
  it.each(["invalid_target", "invalid_client"])(
    "%s on the session's own refresh is the operator's error, and the session continues",
    async (error) => {
      await app.user.signIn();
      app.application.clock.advance(2 * HOUR);
      app.refuse(error);
      expect(await app.failure("orders")).toMatchObject({
        code: "provider_misconfigured",
        status: 503,
      });
      app.application.clock.advance(61_000);
      expect(await app.token("orders")).toMatch(/orders/);
    },
  );

  it("is 503 without a token, and the session continues", async () => {
    await app.user.signIn();
    app.application.provider.fault("token", { kind: "status", times: 1, status: 500 });
    expect(await app.failure("orders")).toMatchObject({
      code: "provider_unavailable",
      status: 503,
    });
    expect(await app.user.isSignedIn()).toBe(true);
    app.application.clock.advance(10_000);
    expect(await app.token("orders")).toMatch(/orders/);
  });

  it("still gives a token that hasn't expired", async () => {
    app.application.provider.settings.idTokenSeconds = 86_400;
    await app.user.signIn();
    const first = await app.token("orders");
    app.application.clock.advance(0.6 * HOUR);
    app.application.provider.fault("token", { kind: "status", status: 500 });
    expect(await app.token("orders", { minValidity: 86_400 })).toBe(first);
    expect(app.refreshes().length).toBe(2);
    app.application.clock.advance(0.5 * HOUR);
    expect(await app.failure("orders")).toMatchObject({ code: "provider_unavailable" });
  });
});

describe("an API whose refreshes get a response that is an outage", () => {
  it.each([500, 503, 429])(
    "%i: nobody waits but this session's requests to this API",
    async (status) => {
      const { provider, clock } = app.application;
      const users = [
        app.user,
        app.application.user().at(app.auth),
        app.application.user().at(app.auth),
      ];
      for (const user of users) await user.signIn();
      provider.fault("token", {
        kind: "status",
        status,
        when: (request) => targetOf(request) !== null,
      });
      const ask = (user: TestUser, api: string) =>
        app.auth.getAccessToken(user.request("/"), { api }).catch((thrown: unknown) => thrown);
      for (const user of users.slice(0, 2)) {
        expect(await ask(user, "orders")).toMatchObject({ reason: `http_${String(status)}` });
        expect(await ask(user, "orders")).toMatchObject({ reason: "backing_off" });
        expect(await ask(user, "billing")).toMatchObject({ reason: `http_${String(status)}` });
      }
      // Without a break: everybody whose ID token expires is refreshed.
      clock.advance(2 * HOUR);
      for (const user of users.slice(0, 2)) await ask(user, "orders");
      const before = app.targets().length;
      for (const user of users) expect((await user.get("/idpauth/session")).status).toBe(200);
      expect(
        app
          .targets()
          .slice(before)
          .filter((target) => target === null).length,
      ).toBeGreaterThan(0);
      provider.clearFaults();
      clock.advance(61_000);
      expect(await ask(app.user, "orders")).toMatch(/orders/);
    },
  );

  it("without a response, refreshes of everybody wait, as after any such failure", async () => {
    await app.user.signIn();
    app.application.provider.fault("token", { kind: "reset", times: 1 });
    expect(await app.failure("orders")).toMatchObject({ reason: "network" });
    expect(await app.failure("billing")).toMatchObject({ reason: "backing_off" });
  });
});

describe("an ambiguous 400 to a refresh for an API", () => {
  it("at the second time, after a success of the client, refuses that API alone", async () => {
    await app.user.signIn();
    const { provider, clock } = app.application;
    provider.fault("token", {
      kind: "status",
      status: 400,
      when: (request) => targetOf(request) === ORDERS,
    });
    expect(await app.failure("orders")).toMatchObject({ code: "provider_unavailable" });
    expect(await app.token("billing")).toMatch(/billing/);
    expect(await app.failure("orders")).toMatchObject({ reason: "backing_off" });
    clock.advance(61_000);
    expect(await app.failure("orders")).toMatchObject({ code: "api_token_refused" });
    expect(await app.user.isSignedIn()).toBe(true);
  });
});

describe("a logout during a refresh for an API", () => {
  it.each([true, false])(
    "wins, and the tokens that come late are revoked (rotation: %s)",
    async (rotation) => {
      const { provider } = app.application;
      provider.settings.rotation = rotation;
      await app.user.signIn();
      const hold = provider.hold("token", { before: false, times: 1 });
      const asking = app.failure("orders");
      await hold.arrived;
      await app.user.get("/idpauth/logout/?response=json");
      hold.release();
      expect(await asking).toBeNull();
      await settled(app.auth);
      const refreshTokens = provider.issued
        .filter(({ kind }) => kind === "refresh_token")
        .map(({ value }) => value);
      expect(refreshTokens.length).toBe(rotation ? 2 : 1);
      expect(refreshTokens.filter((token) => provider.isActive(token))).toEqual([]);
      // Without a new refresh token, the access token itself.
      expect(provider.requestsTo("revoke").map(({ params }) => params.get("token"))).toEqual([
        refreshTokens[0],
        rotation ? refreshTokens[1] : expect.stringMatching(/^at_https:\/\/orders/),
      ]);
    },
  );
});

describe("requests for several APIs", () => {
  it("wait for each other, and a session that expires in that time is refreshed first", async () => {
    app.use({ onRefresh: () => undefined });
    await app.user.signIn();
    const { provider, clock } = app.application;
    clock.advance(HOUR - 1_000);
    const hold = provider.hold("token", { times: 1 });
    const asking = Promise.all([app.token("orders"), app.token("billing"), app.token("billing")]);
    await hold.arrived;
    clock.advance(2_000);
    hold.release();
    const [orders, ...billing] = await asking;
    expect(orders).toMatch(/orders/);
    expect(billing[0]).toMatch(/billing/);
    expect(billing[1]).toBe(billing[0]);
    expect(app.targets()).toEqual([ORDERS, null, BILLING]);
    expect(provider.reuses).toBe(0);
  });

  it("aren't failed by another's outage", async () => {
    await app.user.signIn();
    const { provider } = app.application;
    const hold = provider.hold("token", { times: 1 });
    provider.fault("token", {
      kind: "status",
      times: 1,
      status: 400,
      body: { error: "invalid_target" },
    });
    const asking = [app.failure("orders"), app.token("billing")];
    await hold.arrived;
    hold.release();
    expect(await asking[0]).toMatchObject({ code: "api_token_refused" });
    expect(await asking[1]).toMatch(/billing/);
  });
});
