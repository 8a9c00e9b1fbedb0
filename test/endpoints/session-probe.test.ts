import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { StoreUnavailableError, type ClientState } from "../../src/index.js";
import { type Answer, type ApplicationOptions, type TestUser } from "../support/application.js";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import {
  application,
  pass,
  refreshes,
  signedIn,
  start,
  store,
} from "../support/one-application.js";

const PROBE = "/idpauth/session";
const HOUR = 3600;
const ADA = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};
const SIGNED_IN = JSON.stringify({ authenticated: true, user: ADA });
const SIGNED_OUT = JSON.stringify({ authenticated: false, user: null });

const sessionOf = (user: TestUser) => application.auth.readSessionRecord(user.request("/"));

describe("[BFF-5] the probe's bodies", () => {
  beforeAll(async () => {
    await start();
  });
  afterAll(() => application.stop());

  it("signed in: 200, authenticated true and exactly email, name and picture", async () => {
    const user = application.user();
    await user.signIn();
    const answer = await user.get(PROBE);
    expect([answer.status, answer.body]).toEqual([200, SIGNED_IN]);
    expect(answer.headers["Content-Type"]).toBe("application/json; charset=utf-8");
  });

  it("signed out: 200, authenticated false and user null", async () => {
    const answer = await application.user().get(PROBE);
    expect([answer.status, answer.body]).toEqual([200, SIGNED_OUT]);
  });

  it("with only a login in progress: signed out", async () => {
    const user = application.user();
    await user.get("/idpauth/login/");
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
  });

  it.each([
    [{ sub: "nobody" }, { email: null, name: null, picture: null }],
    [
      { sub: "odd", email: 5, name: { first: "A" }, picture: ["x"] },
      { email: null, name: null, picture: null },
    ],
    [
      { sub: "some", email: "some@example.com" },
      { email: "some@example.com", name: null, picture: null },
    ],
    [
      { sub: "empty", email: "", name: "", picture: "" },
      { email: "", name: "", picture: "" },
    ],
    [
      { sub: "more", name: "M", phone_number: "1", hd: "example.com" },
      { email: null, name: "M", picture: null },
    ],
  ])("claims %j give user %j", async (person, payload) => {
    const user = application.user();
    application.provider.userinfoResponse = () => ({});
    await user.signIn("/idpauth/login/", person);
    application.provider.userinfoResponse = undefined;
    expect((await user.get(PROBE)).body).toBe(
      JSON.stringify({ authenticated: true, user: payload }),
    );
  });

  it.each([
    "slide=true",
    "details=false",
    "slide=false&slide=false",
    "details=true&details=true",
    "details=TRUE",
    "details=1",
    "slide=",
    "x=1",
    "__proto__=1",
  ])("?%s is ignored", async (query) => {
    const user = application.user();
    await user.signIn();
    expect((await user.get(`${PROBE}?${query}`)).body).toBe(SIGNED_IN);
    expect((await application.user().get(`${PROBE}?${query}`)).body).toBe(SIGNED_OUT);
  });

  it("an anonymous probe leaves no cookie and no entry in the store", async () => {
    const [before, cost] = [store.operations.length, (await store.entries()).length];
    const user = application.user();
    for (let probe = 0; probe < 20; probe += 1)
      expect((await user.get(PROBE)).setCookies ?? []).toEqual([]);
    expect(store.operations.length).toBe(before);
    expect((await store.entries()).length).toBe(cost);
  });

  it("an unknown cookie is looked up and costs no more", async () => {
    const before = store.writes.length;
    const user = application.user();
    user.cookies.set("idpauth", "A".repeat(43));
    const answer = await user.get(PROBE);
    expect([answer.body, answer.setCookies ?? []]).toEqual([SIGNED_OUT, []]);
    expect(store.writes.length).toBe(before);
  });
});

describe("[BFF-5] refresh by the probe", () => {
  afterEach(() => application.stop());

  it.each([
    [-1, 0],
    [0, 1],
    [1, 1],
  ])(
    "%i s from the ID token's expiry: %i refreshes, signed in all the same",
    async (offset, count) => {
      const user = await signedIn();
      pass(HOUR + offset);
      expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
      expect(refreshes()).toBe(count);
    },
  );

  it("writes credentials and id_info back, moves exp forward, and not the login's stamp", async () => {
    const user = await signedIn();
    const before = await sessionOf(user);
    pass(HOUR);
    await user.get(PROBE);
    const after = await sessionOf(user);
    const exp = (session: typeof after) => (session?.["id_info"] as { exp: number }).exp;
    expect(exp(after)).toBe(exp(before) + HOUR);
    const credentials = (session: typeof after) =>
      session?.["credentials"] as { token: string; refresh_token: string };
    expect(credentials(after).token).not.toBe(credentials(before).token);
    expect(credentials(after).refresh_token).not.toBe(credentials(before).refresh_token);
    expect(after?.["idp_login_at"]).toBe(before?.["idp_login_at"]);
  });

  it("happens once per expiry, however often and in parallel it is requested", async () => {
    const user = await signedIn();
    pass(HOUR);
    const answers = await Promise.all(Array.from({ length: 50 }, () => user.get(PROBE)));
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set([SIGNED_IN]));
    for (let probe = 0; probe < 10; probe += 1) await user.get(PROBE);
    expect(refreshes()).toBe(1);
    expect(application.provider.reuses).toBe(0);
  });

  it("does not happen with IDP_SESSION_AUTO_REFRESH off: the session ends at the ID token's expiry", async () => {
    const user = await signedIn({ sessionAutoRefresh: false });
    pass(HOUR - 1);
    expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
    pass(1);
    expect((await user.get(`${PROBE}?details=true`)).json()).toMatchObject({
      authenticated: false,
      user: null,
      reason: "auto_refresh_off",
    });
    expect(refreshes()).toBe(0);
  });

  it("does not happen without a refresh token", async () => {
    const user = await signedIn({ provider: { issueRefreshToken: false } });
    pass(HOUR);
    expect((await user.get(`${PROBE}?details=true`)).json()).toMatchObject({
      authenticated: false,
      user: null,
      reason: "no_refresh_token",
    });
    expect(refreshes()).toBe(0);
  });

  it("refused by the provider ends the session, and the provider gets no further request", async () => {
    const user = await signedIn();
    application.provider.revokeAll();
    pass(HOUR);
    for (let probe = 0; probe < 10; probe += 1)
      expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
    expect((await user.get(`${PROBE}?details=true`)).json().reason).toBe("refresh_rejected");
    expect(refreshes()).toBe(1);
  });

  it("of another user's ID token is refused: nobody is switched", async () => {
    const user = await signedIn();
    application.provider.mutateIdToken = (draft) => {
      Object.assign(draft.claims, { sub: "eve", email: "eve@example.com" });
      return draft;
    };
    pass(HOUR);
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
    expect(JSON.stringify(await sessionOf(user))).not.toMatch(/"eve["@]/);
  });

  it("a session that has ended does not recover by probing, but by a new login", async () => {
    const user = await signedIn({ sessionAutoRefresh: false });
    pass(HOUR);
    for (let probe = 0; probe < 3; probe += 1)
      expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
    await user.signIn();
    expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
  });
});

describe("[ASVS-7.3.1] [SM-3] IDP_SESSION_MAX_AGE", () => {
  afterEach(() => application.stop());

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])("%i s from the session limit: %s", async (offset, authenticated) => {
    const user = await signedIn({ sessionMaxAge: 1800 });
    pass(1800 + offset);
    const answer = (await user.get(`${PROBE}?details=true`)).json();
    expect(answer.authenticated).toBe(authenticated);
    expect(answer.reason).toBe(authenticated ? null : "max_age");
  });

  it("is lifted by no refresh and no activity", async () => {
    const user = await signedIn({ sessionMaxAge: 1800, provider: { idTokenSeconds: 300 } });
    for (let waited = 0; waited < 1800; waited += 300) {
      pass(300);
      expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
    }
    expect(refreshes()).toBe(6);
    pass(1);
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
    expect(refreshes()).toBe(6);
  });

  it("once it has ended a session, a probe costs the store one read", async () => {
    const user = await signedIn({ sessionMaxAge: 1800 });
    pass(1801);
    await user.get(PROBE);
    store.operations.length = 0;
    await user.get(PROBE);
    expect(store.operations).toEqual(["get"]);
  });

  it("decides before the refresh: no token request is made beyond it", async () => {
    const user = await signedIn({ sessionMaxAge: 1800, provider: { idTokenSeconds: 300 } });
    pass(1801);
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
    expect(refreshes()).toBe(0);
  });

  it("that is reached during a refresh is not lifted by it", async () => {
    const user = await signedIn({
      sessionMaxAge: 1800,
      httpTimeout: 20,
      provider: { idTokenSeconds: 1795 },
    });
    pass(1799);
    const hold = application.provider.hold("token");
    const answer = user.get(PROBE);
    await hold.arrived;
    pass(3);
    hold.release();
    expect((await answer).body).toBe(SIGNED_OUT);
  });

  it.each([
    [0, true],
    [1, false],
  ])("of 0 is taken literally: after %i s %s", async (seconds, authenticated) => {
    const user = await signedIn({ sessionMaxAge: 0 });
    pass(seconds);
    expect(await user.isSignedIn()).toBe(authenticated);
  });
});

describe("[ASVS-7.3.1] [SM-3] IDP_SESSION_IDLE_TIMEOUT", () => {
  afterEach(() => application.stop());
  const TIMEOUT = 600;
  const idle = (options: ApplicationOptions = {}) =>
    signedIn({ sessionIdleTimeout: TIMEOUT, ...options });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])("%i s from the session limit: %s", async (offset, authenticated) => {
    const user = await idle();
    pass(TIMEOUT + offset);
    const answer = (await user.get(`${PROBE}?details=true`)).json();
    expect(answer.authenticated).toBe(authenticated);
    expect(answer.reason).toBe(authenticated ? null : "idle");
  });

  it("slides with each successful access, and only with those", async () => {
    const user = await idle();
    for (let access = 0; access < 5; access += 1) {
      pass(TIMEOUT);
      expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
    }
    pass(TIMEOUT + 1);
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
  });

  it.each([
    "slide=",
    "slide=no",
    "slide=0",
    "slide=false&slide=false",
    "details",
    "details=true&details=true",
    "x=y",
  ])("slides with ?%s, which is ignored", async (query) => {
    const user = await idle();
    for (let access = 0; access < 2; access += 1) {
      pass(TIMEOUT);
      expect((await user.get(`${PROBE}?${query}`)).body).toBe(SIGNED_IN);
    }
  });

  it.each<[string, (user: TestUser) => Promise<unknown>]>([
    ["?slide=false", (user) => user.get(`${PROBE}?slide=false`)],
    ["HEAD", (user) => user.get(PROBE, { method: "HEAD" })],
    ["the index", (user) => user.get("/idpauth/")],
    [
      "checkIdpAuthentication",
      (user) => application.auth.checkIdpAuthentication(user.request("/")),
    ],
    ["readSessionRecord", (user) => sessionOf(user)],
  ])("%s does not move the stamp", async (_name, look) => {
    const user = await idle();
    const before = (await sessionOf(user))?.["idp_last_active"];
    pass(TIMEOUT);
    await look(user);
    expect((await sessionOf(user))?.["idp_last_active"]).toBe(before);
    pass(1);
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
  });

  it("?slide=false still judges and still refreshes", async () => {
    const user = await idle({ sessionIdleTimeout: 2 * HOUR });
    const before = (await sessionOf(user))?.["idp_last_active"];
    pass(HOUR);
    expect((await user.get(`${PROBE}?slide=false`)).body).toBe(SIGNED_IN);
    expect(refreshes()).toBe(1);
    expect((await sessionOf(user))?.["idp_last_active"]).toBe(before);
    pass(HOUR + 1);
    expect((await user.get(`${PROBE}?slide=false`)).body).toBe(SIGNED_OUT);
  });

  it("is not lifted by a refresh", async () => {
    const user = await idle({ provider: { idTokenSeconds: 300 } });
    pass(TIMEOUT + 1);
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
    expect(refreshes()).toBe(0);
  });

  it("a refresh stamps activity", async () => {
    const user = await idle({ provider: { idTokenSeconds: 300 } });
    pass(TIMEOUT);
    await user.get(PROBE);
    expect((await sessionOf(user))?.["idp_last_active"]).toBe(
      Math.floor(application.clock.now() / 1000),
    );
  });

  it("a stamp never moves back when the clock does", async () => {
    const user = await idle();
    pass(300);
    await user.get(PROBE);
    const stamp = (await sessionOf(user))?.["idp_last_active"];
    application.clock.setNow(application.clock.now() - 200_000);
    await user.get(PROBE);
    expect((await sessionOf(user))?.["idp_last_active"]).toBe(stamp);
  });

  it("without a timeout nothing is stamped", async () => {
    const user = await signedIn();
    await user.get(PROBE);
    expect(await sessionOf(user)).not.toHaveProperty("idp_last_active");
  });

  it("together with the maximum age: each ends the session by itself, and the maximum age is named first", async () => {
    const user = await idle({ sessionMaxAge: 900 });
    pass(TIMEOUT);
    expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
    pass(301);
    expect((await user.get(`${PROBE}?details=true`)).json().reason).toBe("max_age");
    pass(TIMEOUT);
    expect((await user.get(`${PROBE}?details=true`)).json().reason).toBe("max_age");
  });
});

describe("HEAD", () => {
  afterEach(() => application.stop());

  it("is 200 without a body, refresh or write, for any session", async () => {
    const user = await signedIn({ sessionIdleTimeout: 2 * HOUR });
    pass(HOUR);
    const writes = store.writes.length;
    const answer = await user.get(PROBE, { method: "HEAD" });
    expect([answer.status, answer.body ?? ""]).toEqual([200, ""]);
    expect(answer.headers["Content-Type"]).toBe("application/json; charset=utf-8");
    expect(refreshes()).toBe(0);
    expect(store.writes.length).toBe(writes);
    expect((await application.user().get(PROBE, { method: "HEAD" })).status).toBe(200);
  });
});

describe("?details=true", () => {
  afterEach(() => application.stop());
  const details = async (user: TestUser) =>
    (await user.get(`${PROBE}?details=true`)).json() as ClientState;

  it("has exactly the fields of the type ClientState", async () => {
    const fields: Record<keyof ClientState, true> = {
      authenticated: true,
      user: true,
      reason: true,
      account: true,
      provider: true,
      ends_in: true,
      expires_in: true,
      max_age_expires_in: true,
      idle_expires_in: true,
      session_expiry_expires_in: true,
      data: true,
    };
    const user = await signedIn({ sessionMaxAge: 1800 });
    expect(Object.keys(await details(user)).sort()).toEqual(Object.keys(fields).sort());
    pass(2000);
    expect(Object.keys(await details(user)).sort()).toEqual(Object.keys(fields).sort());
    expect(Object.keys((await user.get(PROBE)).json() as object)).toEqual([
      "authenticated",
      "user",
    ]);
  });

  it("adds the seconds that are left", async () => {
    const user = await signedIn({ sessionMaxAge: 1800, sessionIdleTimeout: 600 });
    pass(100);
    expect(await details(user)).toEqual({
      authenticated: true,
      user: ADA,
      reason: null,
      account: expect.stringMatching(/^[\w-]{43}$/),
      provider: null,
      ends_in: 600,
      expires_in: 3500,
      max_age_expires_in: 1700,
      // The probe is an access: it slides the stamp.
      idle_expires_in: 600,
      session_expiry_expires_in: null,
      data: null,
    });
    pass(50);
    expect((await user.get(`${PROBE}?details=true&slide=false`)).json()).toMatchObject({
      expires_in: 3450,
      max_age_expires_in: 1650,
      idle_expires_in: 550,
      session_expiry_expires_in: null,
    });
  });

  it("null where there is no such limit", async () => {
    expect(await details(await signedIn())).toEqual({
      authenticated: true,
      user: ADA,
      reason: null,
      account: expect.stringMatching(/^[\w-]{43}$/),
      provider: null,
      ends_in: null,
      expires_in: 3600,
      max_age_expires_in: null,
      idle_expires_in: null,
      session_expiry_expires_in: null,
      data: null,
    });
  });

  it("ends_in counts the ID token only if no refresh can extend it", async () => {
    expect((await details(await signedIn({ sessionMaxAge: 7200 }))).ends_in).toBe(7200);
    await application.stop();
    expect(
      (await details(await signedIn({ sessionMaxAge: 7200, sessionAutoRefresh: false }))).ends_in,
    ).toBe(3600);
  });

  it("account is the same in every session of a user, and another one for another user or another secret key", async () => {
    const accountOf = async (user: TestUser) => (await details(user)).account;
    const ada = await accountOf(await signedIn());
    const again = application.user();
    await again.signIn();
    const grace = application.user();
    await grace.signIn("/idpauth/login/", { sub: "grace" });
    expect(await accountOf(again)).toBe(ada);
    expect(await accountOf(grace)).not.toBe(ada);
    await application.stop();
    expect(
      await accountOf(await signedIn({ secretKey: "another secret key of 32 or more bytes" })),
    ).not.toBe(ada);
  });

  it("after a refresh describes the fresh ID token", async () => {
    const user = await signedIn();
    pass(HOUR + 10);
    expect((await details(user)).expires_in).toBe(3600);
  });

  it("signed out", async () => {
    expect(await details(await start({ sessionMaxAge: 1800 }))).toEqual({
      authenticated: false,
      user: null,
      reason: "no_credentials",
      account: null,
      provider: null,
      ends_in: null,
      expires_in: null,
      max_age_expires_in: null,
      idle_expires_in: null,
      session_expiry_expires_in: null,
      data: null,
    });
  });

  it("ended by a session limit: the reason, and never below zero", async () => {
    const user = await signedIn({ sessionMaxAge: 1800, sessionIdleTimeout: 600 });
    pass(2000);
    expect(await details(user)).toEqual({
      authenticated: false,
      user: null,
      reason: "max_age",
      account: null,
      provider: null,
      ends_in: null,
      expires_in: 1600,
      max_age_expires_in: 0,
      idle_expires_in: 0,
      session_expiry_expires_in: null,
      data: null,
    });
  });
});

describe("[ASVS-16.5.2] an outage", () => {
  afterEach(() => application.stop());

  function expectNoVerdict(answer: Answer): void {
    const { login_url: loginUrl, ...body } = answer.json() as Record<string, unknown>;
    expect([answer.status, JSON.stringify(body)]).toEqual([503, SIGNED_OUT]);
    // Where only this session waits.
    expect([undefined, "/idpauth/login/"]).toContain(loginUrl);
    expect(answer.headers["Retry-After"]).toMatch(/^[1-9]\d*$/);
    expect(answer.headers["Content-Type"]).toBe("application/json; charset=utf-8");
    expect(answer.setCookies ?? []).toEqual([]);
  }

  it.each<Fault>([
    { kind: "reset" },
    { kind: "status", status: 500 },
    { kind: "status", status: 429 },
    { kind: "status", status: 401, body: { error: "invalid_client" } },
    { kind: "garbage" },
    { kind: "redirect" },
  ])("of the provider during a refresh is 503, and the session stays: %j", async (fault) => {
    const user = await signedIn();
    pass(HOUR);
    application.provider.fault("token", fault);
    expectNoVerdict(await user.get(PROBE));
    expectNoVerdict(await user.get(`${PROBE}?details=true`, { headers: { accept: "text/html" } }));
    application.provider.clearFaults();
    pass(61);
    expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
  });

  it("changes nothing while the ID token is valid", async () => {
    const user = await signedIn();
    await application.provider.pause();
    expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
    await application.provider.resume();
  });

  it("backs off: while it lasts the provider gets no further request", async () => {
    const user = await signedIn();
    pass(HOUR);
    application.provider.fault("token", {
      kind: "status",
      status: 503,
      headers: { "Retry-After": "30" },
    });
    expect((await user.get(PROBE)).headers["Retry-After"]).toBe("30");
    for (let probe = 0; probe < 5; probe += 1) expectNoVerdict(await user.get(PROBE));
    expect((await application.user().get(PROBE)).body).toBe(SIGNED_OUT);
    expect(refreshes()).toBe(1);
    application.provider.clearFaults();
    pass(30);
    expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
  });

  it("a user waits at most IDP_HTTP_TIMEOUT, while the refresh goes on and is stored", async () => {
    const user = await signedIn();
    pass(HOUR);
    const hold = application.provider.hold("token");
    const answer = user.get(PROBE);
    await hold.arrived;
    pass(5);
    expectNoVerdict(await answer);
    hold.release();
    expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
    expect(refreshes()).toBe(1);
  });

  it("of the store is 503, no cookie is touched, and the session is there again with the store", async () => {
    const user = await signedIn();
    store.isDown = true;
    expectNoVerdict(await user.get(PROBE));
    expect((await user.get(PROBE, { method: "HEAD" })).status).toBe(503);
    store.isDown = false;
    expect((await user.get(PROBE)).body).toBe(SIGNED_IN);
  });

  it("of the store does not concern users without a cookie", async () => {
    const user = await start();
    store.isDown = true;
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
    expect((await user.get("/idpauth/")).body).toContain("You are signed out");
    expect((await user.get("/idpauth/logout/?response=json")).body).toBe('{"status":"logged_out"}');
  });
});

describe("[BFF-7] the life of a session", () => {
  afterEach(() => application.stop());
  const DAY = 86_400;

  it("is renewed on access at most once a day, and the cookie is sent again then", async () => {
    const user = await signedIn();
    const key = user.cookies.get("idpauth");
    pass(DAY - 1);
    expect((await user.get(PROBE)).setCookies ?? []).toEqual([]);
    pass(1);
    expect((await user.get(PROBE)).setCookies).toEqual([
      expect.stringMatching(
        /^idpauth=[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/,
      ),
    ]);
    expect(user.cookies.get("idpauth")).toBe(key);
    expect((await user.get(PROBE)).setCookies ?? []).toEqual([]);
  });

  it("a guard, which cannot send the cookie, leaves the cookie to the next probe", async () => {
    const user = await signedIn({ provider: { idTokenSeconds: 40 * DAY } });
    for (let day = 1; day <= 20; day += 1) {
      pass(DAY);
      expect(await application.auth.guard(user.request("/reports"))).toBeUndefined();
      expect((await user.get(PROBE)).setCookies).toHaveLength(1);
      expect((await user.get(PROBE)).setCookies ?? []).toEqual([]);
    }
  });

  it.each<[string, (user: TestUser) => Promise<boolean>]>([
    [
      "the guard",
      async (user) => (await application.auth.guard(user.request("/reports"))) === undefined,
    ],
    ["getSession", async (user) => (await application.auth.getSession(user.request("/"))) !== null],
    [
      "getAccessToken",
      async (user) => (await application.auth.getAccessToken(user.request("/"))) !== null,
    ],
    [
      "clientState",
      async (user) => (await application.auth.clientState(user.request("/"))).authenticated,
    ],
  ])(
    "does not end for a user whom only %s sees every day, and costs one write a day",
    async (_name, use) => {
      const user = await signedIn({
        provider: { idTokenSeconds: 500 * DAY, accessTokenSeconds: 500 * DAY },
      });
      for (let day = 1; day <= 40; day += 1) {
        pass(DAY);
        store.operations.length = 0;
        expect([await use(user), await use(user)], `day ${String(day)}`).toEqual([true, true]);
        expect(store.operations).toEqual(["get", "replace", "get"]);
      }
    },
  );

  it("still ends at its maximum age and its idle timeout, however often it is renewed", async () => {
    const limits = { sessionMaxAge: 20 * DAY, sessionIdleTimeout: 2 * DAY };
    const user = await signedIn({ ...limits, provider: { idTokenSeconds: 40 * DAY } });
    const reasonAfter = async (days: number) => {
      pass(days * DAY);
      return (await application.auth.guard(user.request("/reports")))?.reply.body;
    };
    for (let day = 1; day <= 20; day += 1) expect(await reasonAfter(1)).toBeUndefined();
    expect(await reasonAfter(1)).toContain('"max_age"');
    await user.signIn();
    expect(await reasonAfter(3)).toContain('"idle"');
  });

  it("a renewal that fails does not fail the page; the next request renews", async () => {
    const user = await signedIn({ provider: { idTokenSeconds: 40 * DAY } });
    pass(DAY);
    const { replace } = store;
    store.replace = () => Promise.reject(new StoreUnavailableError());
    expect(await application.auth.guard(user.request("/reports"))).toBeUndefined();
    expect((await user.get(PROBE)).setCookies ?? []).toEqual([]);
    store.replace = replace;
    // This process tries again after a second.
    expect((await user.get(PROBE)).setCookies ?? []).toEqual([]);
    pass(1);
    expect((await user.get(PROBE)).setCookies).toHaveLength(1);
  });

  it("of a day or less is renewed at half of it", async () => {
    const user = await signedIn({ sessionTtl: 8 * 3600 });
    for (let hour = 1; hour <= 30; hour += 1) {
      pass(3600);
      expect(await user.isSignedIn()).toBe(true);
    }
  });

  it("is 14 days after its last renewal", async () => {
    const user = await signedIn();
    pass(14 * DAY);
    expect((await user.get(PROBE)).body).toBe(SIGNED_OUT);
    expect(await store.entries()).toEqual([]);
  });

  it("outlives its limits, so that the reason can be shown", async () => {
    const user = await signedIn({ sessionMaxAge: 20 * DAY });
    pass(20 * DAY + 1);
    expect((await user.get(`${PROBE}?details=true`)).json().reason).toBe("max_age");
  });
});
