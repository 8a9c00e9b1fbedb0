import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, type TestUser } from "../support/application.js";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import { PATIENCE } from "../support/eventually.js";
import { settled } from "../../src/testing/settled.js";
import { application, newest, signedIn, start, store } from "../support/one-application.js";

const LOGOUT = "/idpauth/logout/";
const HTML = { accept: "text/html" };

const revocations = () => application.provider.requestsTo("revoke");

/** A second browser with the same cookies. */
function copyOf(user: TestUser): TestUser {
  const copy = application.user();
  for (const [name, value] of user.cookies) copy.cookies.set(name, value);
  return copy;
}

describe("logout", () => {
  afterEach(() => application.stop());

  it.each([
    LOGOUT,
    `${LOGOUT}?response=redirect`,
    `${LOGOUT}?response=REDIRECT`,
    `${LOGOUT}?other=json`,
  ])("%s responds with 302 to the index", async (target) => {
    const answer = await (await signedIn()).get(target);
    expect([answer.status, answer.location, answer.body]).toEqual([302, "/idpauth/", undefined]);
  });

  it.each(["/bye", "https://elsewhere.example/bye?x=1"])(
    "responds with 302 to IDP_AUTH_LOGOUT_REDIRECT_URL %s",
    async (authLogoutRedirectUrl) => {
      const answer = await (await signedIn({ authLogoutRedirectUrl })).get(LOGOUT);
      expect([answer.status, answer.location]).toEqual([302, authLogoutRedirectUrl]);
    },
  );

  it.each(["json", "JSON", "Json"])(
    "response=%s responds with 200 with status logged_out",
    async (response) => {
      const answer = await (
        await signedIn({ authLogoutRedirectUrl: "/bye" })
      ).get(`${LOGOUT}?response=${response}`);
      expect([answer.status, answer.body]).toEqual([200, '{"status":"logged_out"}']);
      expect(answer.headers["Content-Type"]).toBe("application/json; charset=utf-8");
    },
  );

  it("ends the session: the user is signed out and the old cookie is dead", async () => {
    const user = await signedIn();
    const thief = copyOf(user);
    await user.get(LOGOUT);
    expect(user.cookies.size).toBe(0);
    expect(await user.isSignedIn()).toBe(false);
    expect(await thief.isSignedIn()).toBe(false);
    expect(await application.auth.readSessionRecord(thief.request("/"))).toBeNull();
    const left = await store.entries();
    expect(left.filter(({ data }) => !(data instanceof Uint8Array))).toEqual([]);
  });

  it("clears pending logins too: their callbacks are no longer valid", async () => {
    const user = await signedIn();
    const target = await user.approve();
    const copy = copyOf(user);
    await user.get(LOGOUT);
    expect((await copy.get(target)).status).toBe(400);
    expect(application.provider.requestsTo("token")).toHaveLength(1);
  });

  it("of a user who has only started a login clears that, without a call to the provider", async () => {
    const user = await start();
    const target = await user.approve();
    const copy = copyOf(user);
    expect((await user.get(`${LOGOUT}?response=json`)).body).toBe('{"status":"logged_out"}');
    expect((await copy.get(target)).status).toBe(400);
    expect(await store.entries()).toEqual([]);
    expect(revocations()).toEqual([]);
  });

  it.each([
    ["http", "http://app.example", {}, "idpauth=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"],
    [
      "https",
      "https://app.example",
      {},
      "__Host-Http-idpauth=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
    ],
    [
      "a name of one's own",
      "https://app.example",
      { cookieName: "__Secure-x" },
      "__Secure-x=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
    ],
  ])(
    "[BFF-3] [CK-3] [ASVS-3.3.1] over %s deletes the cookie with the attributes it was set with",
    async (_name, baseUrl, options, deletion) => {
      const user = await start({ baseUrl, ...options });
      const set = (await user.signIn()).setCookies?.[0] ?? "";
      const answer = await user.get(LOGOUT);
      expect(answer.setCookies).toEqual([deletion]);
      expect(set.replace(/=[^;]+/, "=").replace(/Max-Age=\d+/, "Max-Age=0")).toBe(deletion);
    },
  );

  it("with a cookie that has no session deletes it and calls nobody", async () => {
    const user = await start();
    user.cookies.set("idpauth", "A".repeat(43));
    const answer = await user.get(LOGOUT);
    expect([answer.status, answer.setCookies]).toEqual([
      302,
      ["idpauth=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"],
    ]);
    expect(application.provider.requests).toEqual([]);
  });

  it.each([LOGOUT, `${LOGOUT}?response=json`])(
    "[REV-5] of an anonymous user, %s: the same response, no call, no cookie, no store entry",
    async (target) => {
      const user = await start();
      const answer = await user.get(target);
      expect([answer.status, answer.setCookies ?? []]).toEqual([target === LOGOUT ? 302 : 200, []]);
      expect(application.provider.requests).toEqual([]);
      expect(store.operations).toEqual([]);
    },
  );

  it("twice is as good as once, and revokes once", async () => {
    const user = await signedIn();
    const copy = copyOf(user);
    const answers = await Promise.all([user.get(LOGOUT), copy.get(LOGOUT)]);
    expect(answers.map(({ status }) => status)).toEqual([302, 302]);
    expect((await copy.get(LOGOUT)).status).toBe(302);
    expect(revocations()).toHaveLength(1);
  });
});

describe("[ASVS-3.5.1] an invalid response value", () => {
  beforeAll(async () => {
    await start();
  });
  afterAll(() => application.stop());

  it.each([
    "response=xml",
    "response=",
    "response",
    "response=json&response=json",
    "response=json&response=redirect",
    "response=%20json",
    "response=__proto__",
  ])("%s is 400 and nothing changes", async (query) => {
    const user = application.user();
    await user.signIn();
    const before = store.writes.length;
    const answer = await user.get(`${LOGOUT}?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.headers["Content-Type"]).toBe("application/problem+json; charset=utf-8");
    expect(answer.json()).toMatchObject({
      code: "invalid_parameter",
      valid_options: { response: expect.arrayContaining(["json", "redirect"]) as unknown },
    });
    expect(answer.setCookies ?? []).toEqual([]);
    expect(store.writes.length).toBe(before);
    expect(await user.isSignedIn()).toBe(true);
    expect(revocations()).toEqual([]);
  });

  it("is a page where Accept prefers HTML", async () => {
    const answer = await application.user().get(`${LOGOUT}?response=xml`, { headers: HTML });
    expect(answer.status).toBe(400);
    expect(answer.headers["Content-Type"]).toMatch(/^text\/html/);
    expect(answer.body).toContain("invalid_parameter");
  });

  it.each([
    { "sec-purpose": "prefetch" },
    { purpose: "prefetch" },
    { "next-router-prefetch": "1" },
  ])("a prefetch (%j) is 503 and the user stays signed in", async (headers) => {
    const user = application.user();
    await user.signIn();
    const answer = await user.get(LOGOUT, {
      headers: headers as unknown as Record<string, string>,
    });
    expect([answer.status, answer.json().code]).toEqual([503, "prefetch_refused"]);
    expect(answer.setCookies ?? []).toEqual([]);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("[REV-3] revocation", () => {
  afterEach(() => application.stop());

  it("[REV-1] [REV-2] posts the refresh token, with its hint and client authentication, and takes the access token along", async () => {
    const user = await signedIn();
    await user.get(LOGOUT);
    expect(revocations()).toHaveLength(1);
    expect(Object.fromEntries(revocations()[0]?.params ?? [])).toEqual({
      token: newest("refresh_token"),
      token_type_hint: "refresh_token",
      client_id: application.provider.clientId,
      client_secret: application.provider.clientSecret,
    });
    expect(application.provider.isActive(newest("access_token"))).toBe(false);
  });

  it("[REV-2] posts the access token when there is no refresh token", async () => {
    const user = await signedIn({ provider: { issueRefreshToken: false } });
    await user.get(LOGOUT);
    expect(Object.fromEntries(revocations()[0]?.params ?? [])).toMatchObject({
      token: newest("access_token"),
      token_type_hint: "access_token",
    });
    expect(application.provider.isActive(newest("access_token"))).toBe(false);
  });

  it("posts the newest refresh token after a rotation", async () => {
    const user = await signedIn();
    application.clock.advance(3_600_000);
    expect(await user.isSignedIn()).toBe(true);
    await user.get(LOGOUT);
    expect(revocations()[0]?.params.get("token")).toBe(newest("refresh_token"));
  });

  it("also happens for a session that a session limit has ended", async () => {
    const user = await signedIn({ sessionMaxAge: 60 });
    application.clock.advance(61_000);
    await user.get(LOGOUT);
    expect(application.provider.isActive(newest("refresh_token"))).toBe(false);
  });

  it("[REV-6] with IDP_TOKEN_REVOKE_ON_LOGOUT off makes no call; the local session is cleared", async () => {
    const user = await signedIn({ tokenRevokeOnLogout: false });
    const before = application.provider.requests.length;
    expect((await user.get(LOGOUT)).status).toBe(302);
    expect(await user.isSignedIn()).toBe(false);
    expect(application.provider.requests.length).toBe(before);
    expect(application.provider.isActive(newest("refresh_token"))).toBe(true);
  });

  it("is skipped where the provider has no revocation endpoint", async () => {
    const user = await start();
    application.provider.discoveryDocument = ({ revocation_endpoint: _gone, ...rest }) => rest;
    await user.signIn();
    expect((await user.get(`${LOGOUT}?response=json`)).body).toBe('{"status":"logged_out"}');
    expect(revocations()).toEqual([]);
  });

  const FAULTS: Fault[] = [
    { kind: "reset" },
    { kind: "status", status: 400, body: { error: "invalid_token" } },
    { kind: "status", status: 401, body: { error: "invalid_client" } },
    { kind: "status", status: 500 },
    { kind: "status", status: 503 },
    { kind: "garbage" },
    { kind: "redirect", status: 307 },
    { kind: "oversized" },
    { kind: "truncated", body: "cut short" },
    { kind: "wrong-type" },
  ];
  it.each(FAULTS.flatMap((fault) => [["redirect", fault] as const, ["json", fault] as const]))(
    "that fails is swallowed, response=%s: %j",
    async (response, fault) => {
      const user = await signedIn();
      application.provider.fault("revoke", fault);
      const answer = await user.get(`${LOGOUT}?response=${response}`);
      if (response === "json")
        expect([answer.status, answer.body]).toEqual([200, '{"status":"logged_out"}']);
      else expect([answer.status, answer.location]).toEqual([302, "/idpauth/"]);
      expect(user.cookies.size).toBe(0);
      expect(await user.isSignedIn()).toBe(false);
      expect(revocations()).toHaveLength(1);
    },
  );

  describe("[REV-7] that hangs", () => {
    /** A logout whose revocation has arrived at the provider and gets no answer. */
    async function hanging(): Promise<{
      copy: TestUser;
      hold: { release(): void };
      done: { answer?: Answer };
      logouts: unknown[];
      isIdle: () => boolean;
    }> {
      const user = await signedIn();
      const copy = copyOf(user);
      const logouts: unknown[] = [];
      application.auth.on("logout", ({ time: _time, ...event }) => logouts.push(event));
      const hold = application.provider.hold("revoke");
      const done: { answer?: Answer } = {};
      void user.get(`${LOGOUT}?response=json`).then((answer) => (done.answer = answer));
      await hold.arrived;
      let isIdle = false;
      void settled(application.auth).then(() => (isIdle = true));
      return { copy, hold, done, logouts, isIdle: () => isIdle };
    }
    const about = () => ({ issuer: application.provider.issuer, subject: "ada-1815" });

    it("keeps the response for a second and no longer, while the session is dead at once", async () => {
      const { copy, done } = await hanging();
      expect(await copy.isSignedIn()).toBe(false);
      await application.clock.advanceAsync(999);
      expect(done.answer).toBeUndefined();
      await application.clock.advanceAsync(1);
      expect([done.answer?.status, done.answer?.body]).toEqual([200, '{"status":"logged_out"}']);
    });

    it("goes on in the background: settled() waits for it, and the event says that it worked in the end", async () => {
      const { hold, done, logouts, isIdle } = await hanging();
      await application.clock.advanceAsync(3_000);
      expect([done.answer?.status, logouts, isIdle()]).toEqual([200, [], false]);
      hold.release();
      await vi.waitFor(() => expect(isIdle()).toBe(true), PATIENCE);
      expect(logouts).toEqual([{ ...about(), revoked: true, duration: 3_000 }]);
      expect(application.provider.isActive(newest("refresh_token"))).toBe(false);
    });

    it("is given up after IDP_HTTP_TIMEOUT, and the event says that nothing was revoked", async () => {
      const { logouts, isIdle } = await hanging();
      await application.clock.advanceAsync(5_000);
      await vi.waitFor(() => expect(isIdle()).toBe(true), PATIENCE);
      expect(logouts).toEqual([{ ...about(), revoked: false, duration: 5_000 }]);
    });

    it("leaves no timer behind when the provider responds in time", async () => {
      const user = await signedIn();
      await user.get(LOGOUT);
      // The store's own: it keeps the trace of the sign-in for ten minutes.
      expect(application.clock.pendingTimers).toBe(1);
    });
  });

  describe("[REV-7] is reported as done only if it was the newest token", () => {
    const revokedOf = async (user: TestUser) => {
      const seen: (boolean | null)[] = [];
      application.auth.on("logout", ({ revoked }) => seen.push(revoked));
      await user.get(LOGOUT);
      await settled(application.auth);
      return seen;
    };

    it("after a refresh: yes", async () => {
      const user = await signedIn();
      application.clock.advance(3_600_000);
      expect(await user.isSignedIn()).toBe(true);
      expect(await revokedOf(user)).toEqual([true]);
    });

    it("after a refresh that was refused with invalid_grant, the access token is the newest that works: yes", async () => {
      const user = await signedIn();
      application.clock.advance(3_600_000);
      application.provider.fault("token", {
        kind: "status",
        status: 400,
        body: { error: "invalid_grant" },
      });
      expect(await user.isSignedIn()).toBe(false);
      expect(await revokedOf(user)).toEqual([true]);
    });

    it("while a refresh is under way: no, and what the refresh brings is revoked by itself", async () => {
      const user = await signedIn();
      application.clock.advance(3_600_000);
      const copy = copyOf(user);
      const hold = application.provider.hold("token", { before: false });
      const probe = copy.get("/idpauth/session");
      await hold.arrived;
      const seen: (boolean | null)[] = [];
      application.auth.on("logout", ({ revoked }) => seen.push(revoked));
      await user.get(LOGOUT);
      hold.release();
      await probe;
      await settled(application.auth);
      expect(seen).toEqual([false]);
      expect(application.provider.isActive(newest("refresh_token"))).toBe(false);
    });
  });

  it("with the provider gone altogether does not keep anybody signed in", async () => {
    const user = await signedIn();
    await application.provider.pause();
    expect((await user.get(LOGOUT)).status).toBe(302);
    expect(await user.isSignedIn()).toBe(false);
    await application.provider.resume();
  });

  it("that failed is logged without the token", async () => {
    const user = await signedIn();
    application.provider.fault("revoke", { kind: "status", status: 503 });
    await user.get(LOGOUT);
    const lines = application.log.filter(({ details }) => details?.endpoint === "revocation");
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain(newest("refresh_token"));
  });
});

describe("a logout during a refresh", () => {
  afterEach(() => application.stop());

  it("wins: the session is not written back, and the late tokens are revoked", async () => {
    const user = await signedIn();
    const copy = copyOf(user);
    application.clock.advance(3_600_000);
    const hold = application.provider.hold("token", { before: false });
    const probe = copy.get("/idpauth/session");
    await hold.arrived;
    await user.get(LOGOUT);
    hold.release();
    expect((await probe).json()).toEqual({ authenticated: false, user: null });
    expect(await copy.isSignedIn()).toBe(false);
    expect(await store.entries()).toEqual([]);
    await vi.waitFor(
      () => expect(application.provider.isActive(newest("refresh_token"))).toBe(false),
      PATIENCE,
    );
  });
});

describe("while the store is away", () => {
  afterEach(() => application.stop());

  it.each([LOGOUT, `${LOGOUT}?response=json`])(
    "%s is 503, never logged out, and no cookie is touched",
    async (target) => {
      const user = await signedIn();
      store.isDown = true;
      const answer = await user.get(target);
      expect(answer.status).toBe(503);
      expect(answer.headers["Retry-After"]).toMatch(/^[1-9]\d*$/);
      expect(answer.body).not.toContain("logged_out");
      expect(answer.body).toContain("store_unavailable");
      expect(answer.setCookies ?? []).toEqual([]);
      expect(revocations()).toEqual([]);
      store.isDown = false;
      expect(await user.isSignedIn()).toBe(true);
    },
  );
});
