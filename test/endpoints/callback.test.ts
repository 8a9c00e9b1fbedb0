import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  startApplication,
  OWN_ORIGIN,
  type Answer,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import type {
  Fault,
  IdTokenDraft,
  MutatedIdToken,
} from "../../src/testing/provider/test-provider.js";
import { PATIENCE } from "../support/eventually.js";
import { whileTimePasses } from "../support/while-time-passes.js";
import { settled } from "../../src/testing/settled.js";
import { application, start, store } from "../support/one-application.js";
import { SIGN_IN_ERRORS } from "../../src/record/sign-in-errors.js";

const CALLBACK = "/idpauth/login-callback";
const PAGE = `${OWN_ORIGIN}/reports?year=2024#q3`;
const FROM_PAGE = `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: PAGE }).toString()}`;
const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };

/** One application for the whole block; hooks, faults and back-offs of a test end with it. */
function sharedApplication(options: ApplicationOptions = {}): void {
  beforeAll(async () => {
    await start(options);
  });
  afterEach(async () => {
    const { provider, clock, auth } = application;
    provider.clearFaults();
    Object.assign(provider, {
      mutateIdToken: undefined,
      tokenResponse: undefined,
      authorizationResponse: undefined,
      userinfoResponse: undefined,
    });
    // A revocation that is still waiting for its response would time out by the advance, and start
    // a back-off in the next test.
    await settled(auth);
    clock.advance(61_000);
  });
  afterAll(() => application.stop());
}

/** The target of a callback with other parameters; undefined takes one away. */
function changed(target: string, changes: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(target, OWN_ORIGIN);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return `${url.pathname}${url.search}`;
}

/** The specified record as it is now. */
const sessionOf = (user: TestUser) => application.auth.readSessionRecord(user.request("/"));
const tokenRequests = () => application.provider.requestsTo("token").length;

/** How many requests to the token endpoint `action` leads to. */
async function tokenRequestsDuring(action: () => Promise<unknown>): Promise<number> {
  const before = tokenRequests();
  await action();
  return tokenRequests() - before;
}

function expectLinkInvalid(answer: Answer): void {
  expect(answer.status).toBe(400);
  expect(answer.headers["Content-Type"]).toMatch(/^text\/html/);
  expect(answer.body).toContain("This sign-in link is no longer valid");
  expect(answer.body).toMatch(/href="\/idpauth\/login\/\?(?:scheme|cross_site)=/);
  expect(answer.setCookies ?? []).toEqual([]);
}

function expectRefused(answer: Answer): void {
  expect(answer.status).toBe(400);
  expect(answer.headers["Content-Type"]).toMatch(/^text\/html/);
  expect(answer.body).toContain("sign_in_refused");
  expect(answer.body).toMatch(/href="\/idpauth\/login\/\?(?:scheme|cross_site)=/);
  expect(answer.setCookies ?? []).toEqual([]);
}

describe("a sign-in that succeeds", () => {
  sharedApplication();

  it("responds with 302 to exactly that login's final_redirect and signs the user in", async () => {
    const user = application.user();
    const answer = await user.signIn(FROM_PAGE);
    expect([answer.status, answer.location]).toEqual([302, PAGE]);
    expect(answer.body).toBeUndefined();
    expect(await user.isSignedIn()).toBe(true);
  });

  it("[PKCE-2] stores credentials, id_info, final_redirect and the stamp of the login, and nothing of the login in progress", async () => {
    const user = application.user();
    await user.signIn(FROM_PAGE);
    const session = await sessionOf(user);
    const { provider, clock } = application;
    const newest = (kind: string) =>
      provider.issued.filter((issued) => issued.kind === kind).at(-1)?.value;
    expect(session).toEqual({
      credentials: {
        token: newest("access_token"),
        refresh_token: newest("refresh_token"),
        token_uri: `${provider.issuer}/token`,
        client_id: provider.clientId,
        client_secret: provider.clientSecret,
        scopes: ["openid", "email", "profile", "offline_access"],
      },
      id_info: expect.objectContaining({
        email: "ada@example.com",
        name: "Ada Lovelace",
        picture: "https://pictures.example.com/ada.png",
        email_verified: true,
        sub: "ada-1815",
        iss: provider.issuer,
        aud: provider.clientId,
        azp: provider.clientId,
        exp: Math.floor(clock.now() / 1000) + 3600,
      }) as unknown,
      final_redirect: PAGE,
      idp_login_at: Math.floor(clock.now() / 1000),
    });
  });

  it("tolerates parameters that it does not know", async () => {
    const user = application.user();
    const target = changed(await user.approve(), {
      scope: "x",
      authuser: "0",
      hd: "example.com",
      session_state: "y",
      access_token: "z",
      id_token: "z",
    });
    expect((await user.get(target)).status).toBe(302);
  });

  it("gives a new session key; the old cookie is dead", async () => {
    const user = application.user();
    const target = await user.approve();
    const old = user.cookies.get("idpauth") ?? "";
    const thief = application.user();
    thief.cookies.set("idpauth", old);
    await user.get(target);
    expect(user.cookies.get("idpauth")).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(user.cookies.get("idpauth")).not.toBe(old);
    expect(await thief.isSignedIn()).toBe(false);
    expect(await sessionOf(thief)).toBeNull();
  });

  it("never adopts a key that an attacker chose", async () => {
    const user = application.user();
    const chosen = "A".repeat(43);
    user.cookies.set("idpauth", chosen);
    await user.get("/idpauth/login/");
    expect(user.cookies.get("idpauth")).not.toBe(chosen);
    await user.signIn();
    user.cookies.set("idpauth", chosen);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("[R13] signing in again gives a new key too, and the old session is dead", async () => {
    const user = application.user();
    await user.signIn();
    const old = application.user();
    for (const [name, value] of user.cookies) old.cookies.set(name, value);
    await user.signIn();
    expect(await user.isSignedIn()).toBe(true);
    expect(await old.isSignedIn()).toBe(false);
  });

  it("[R13] as another user leaves nothing of the previous user", async () => {
    const user = application.user();
    await user.signIn(FROM_PAGE);
    const before = (await sessionOf(user)) as {
      credentials: { token: string; refresh_token: string };
    };
    const old = application.user();
    for (const [name, value] of user.cookies) old.cookies.set(name, value);
    await user.signIn("/idpauth/login/", GRACE);
    expect((await user.get("/idpauth/session")).json()).toEqual({
      authenticated: true,
      user: { email: "grace@example.com", name: "Grace Hopper", picture: null },
    });
    const text = JSON.stringify(await sessionOf(user));
    for (const trace of [
      before.credentials.token,
      before.credentials.refresh_token,
      "ada@",
      "Ada ",
      PAGE,
    ])
      expect(text).not.toContain(trace);
    expect(await old.isSignedIn()).toBe(false);
    const stored = JSON.stringify((await store.entries()).map(({ data }) => data));
    expect(stored).not.toContain(before.credentials.token);
  });

  it("is claimed by the account chosen, not by parameters of the callback", async () => {
    const user = application.user();
    await user.get(
      changed(await user.approve(), {
        email: "grace@example.com",
        sub: "grace-1906",
        id_info: "{}",
      }),
    );
    expect((await user.get("/idpauth/session")).json().user.email).toBe("ada@example.com");
  });
});

describe("stamps", () => {
  afterEach(() => application.stop());

  it("idp_last_active is stamped when an idle timeout is configured", async () => {
    const user = await start({ sessionIdleTimeout: 600 });
    await user.signIn();
    const now = Math.floor(application.clock.now() / 1000);
    expect(await sessionOf(user)).toMatchObject({ idp_login_at: now, idp_last_active: now });
  });

  it("a new sign-in stamps both again", async () => {
    const user = await start({ sessionIdleTimeout: 600 });
    await user.signIn();
    application.clock.advance(500_000);
    await user.signIn();
    const now = Math.floor(application.clock.now() / 1000);
    expect(await sessionOf(user)).toMatchObject({ idp_login_at: now, idp_last_active: now });
  });
});

describe("the userinfo endpoint", () => {
  sharedApplication({ provider: { claimsInIdToken: false } });

  it("fills in who it is when the ID token carries only sub, with one request", async () => {
    const user = application.user();
    const before = application.provider.requestsTo("userinfo").length;
    await user.signIn();
    expect(application.provider.requestsTo("userinfo").length).toBe(before + 1);
    expect((await user.get("/idpauth/session")).json().user).toEqual({
      email: "ada@example.com",
      name: "Ada Lovelace",
      picture: "https://pictures.example.com/ada.png",
    });
  });

  it.each([
    ["fails", () => application.provider.fault("userinfo", { kind: "reset" })],
    [
      "names another sub",
      () =>
        (application.provider.userinfoResponse = (claims) => ({ ...claims, sub: "somebody-else" })),
    ],
  ])("that %s leaves the claims empty, and the sign-in stands", async (name, spoil) => {
    const outages: unknown[] = [];
    application.auth.on("outage", ({ endpoint, reason }) => outages.push({ endpoint, reason }));
    const user = application.user();
    spoil();
    expect((await user.signIn()).status).toBe(302);
    expect((await user.get("/idpauth/session")).json()).toEqual({
      authenticated: true,
      user: { email: null, name: null, picture: null },
    });
    // The log line and the event name the reason.
    const reason = name === "fails" ? "network" : "userinfo_sub";
    expect(outages).toEqual([{ endpoint: "userinfo", reason }]);
    const line = application.log.findLast(({ code }) => code === "provider_unavailable");
    expect(line?.details).toMatchObject({ endpoint: "userinfo", reason });
  });
});

describe("[BCP-2] [ASVS-10.1.2] [ASVS-10.2.1] a state", () => {
  sharedApplication();

  const invalid: [string, (target: string) => string][] = [
    ["missing", (target) => changed(target, { state: undefined })],
    ["empty", (target) => changed(target, { state: "" })],
    ["unknown", (target) => changed(target, { state: "A".repeat(43) })],
    [
      "longer by one character",
      (target) => changed(target, {}).replace(/state=([^&]+)/, "state=$1A"),
    ],
    [
      "in another letter case",
      (target) =>
        target.replace(/state=([^&]+)/, (_whole, state: string) => `state=${swapCase(state)}`),
    ],
    [
      "repeated",
      (target) => `${target}&state=${new URL(target, OWN_ORIGIN).searchParams.get("state") ?? ""}`,
    ],
    ["repeated with another value", (target) => `${target}&state=x`],
    ["huge", (target) => changed(target, { state: "A".repeat(100_000) })],
    ["the name of an object's member", (target) => changed(target, { state: "__proto__" })],
  ];

  it.each(invalid)(
    "that is %s is 400; the session is unchanged and the login still works",
    async (_name, spoil) => {
      const user = application.user();
      const target = await user.approve(FROM_PAGE);
      const before = await sessionOf(user);
      expect(
        await tokenRequestsDuring(async () => expectLinkInvalid(await user.get(spoil(target)))),
      ).toBe(0);
      expect(await sessionOf(user)).toEqual(before);
      expect((await user.get(target)).location).toBe(PAGE);
    },
  );

  it.each(invalid)("that is %s leaves a signed-in user signed in", async (_name, spoil) => {
    const user = application.user();
    await user.signIn();
    const before = await sessionOf(user);
    expectLinkInvalid(await user.get(spoil(`${CALLBACK}?code=x&state=y`)));
    expect(await sessionOf(user)).toEqual(before);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("of another browser is 400 there, whether or not it has a session, and still works at home", async () => {
    const victim = application.user();
    const target = await victim.approve(FROM_PAGE);
    const stranger = application.user();
    const starting = application.user();
    await starting.get("/idpauth/login/");
    const signedIn = application.user();
    await signedIn.signIn("/idpauth/login/", GRACE);
    for (const other of [stranger, starting, signedIn]) {
      expect(
        await tokenRequestsDuring(async () => expectLinkInvalid(await other.get(target))),
      ).toBe(0);
    }
    expect(await stranger.isSignedIn()).toBe(false);
    expect(await starting.isSignedIn()).toBe(false);
    expect((await signedIn.get("/idpauth/session")).json().user.email).toBe("grace@example.com");
    expect((await victim.get(target)).location).toBe(PAGE);
  });

  it("without any session costs no write", async () => {
    const writes = store.writes.length;
    expectLinkInvalid(await application.user().get(`${CALLBACK}?code=x&state=y`));
    expect(store.writes).toHaveLength(writes);
  });

  it("that has expired is 400", async () => {
    const user = application.user();
    await user.signIn();
    const { location } = await user.get("/idpauth/login/");
    application.clock.advance(600_000);
    const callback = new URL(await application.provider.signInCode(location));
    expect(
      await tokenRequestsDuring(async () =>
        expectLinkInvalid(await user.get(`${CALLBACK}${callback.search}`)),
      ),
    ).toBe(0);
    expect(await user.isSignedIn()).toBe(true);
  });

  it.each<[string, Record<string, string | undefined>]>([
    ["without code and error", { code: undefined }],
    ["with an empty code", { code: "" }],
  ])("that is known, %s, is 400 and that login is used up", async (_name, changes) => {
    const user = application.user();
    const target = await user.approve();
    expect(
      await tokenRequestsDuring(async () => {
        expectLinkInvalid(await user.get(changed(target, changes)));
        expectLinkInvalid(await user.get(target));
      }),
    ).toBe(0);
    expect(await user.isSignedIn()).toBe(false);
  });

  it.each(["code", "error"])(
    "that is known with a repeated %s is 400 without a token request, and used up",
    async (name) => {
      const user = application.user();
      const target = await user.approve();
      expect(
        await tokenRequestsDuring(async () => {
          expectLinkInvalid(await user.get(`${target}&${name}=a&${name}=b`));
          expectLinkInvalid(await user.get(target));
        }),
      ).toBe(0);
    },
  );

  it("[BCP-3] is used up before the token request, for every outcome", async () => {
    const user = application.user();
    const target = await user.approve();
    const hold = application.provider.hold("token");
    const answer = user.get(target);
    await hold.arrived;
    const stored = (await store.entries()).map(({ data }) => JSON.stringify(data));
    const state = new URL(target, OWN_ORIGIN).searchParams.get("state") ?? "";
    expect(stored.filter((data) => data.includes(state))).toEqual([]);
    hold.release();
    await answer;
  });

  it("that this session used already while signed in redirects to final_redirect without a token request", async () => {
    const user = application.user();
    const target = await user.approve(FROM_PAGE);
    await user.get(target);
    const before = await sessionOf(user);
    for (const again of [
      target,
      changed(target, { code: "other" }),
      changed(target, { code: undefined, error: "access_denied" }),
    ]) {
      const requests = await tokenRequestsDuring(async () => {
        const answer = await user.get(again);
        expect([answer.status, answer.location]).toEqual([302, PAGE]);
      });
      expect(requests).toBe(0);
    }
    expect(await sessionOf(user)).toEqual(before);
  });

  it("used already is 400 after logout, and for everybody else", async () => {
    const user = application.user();
    const target = await user.approve();
    await user.get(target);
    expectLinkInvalid(await application.user().get(target));
    await user.get("/idpauth/logout/");
    expect(await tokenRequestsDuring(async () => expectLinkInvalid(await user.get(target)))).toBe(
      0,
    );
    expect(await user.isSignedIn()).toBe(false);
  });

  it("is remembered with the last eight", async () => {
    const user = application.user();
    const targets: string[] = [];
    for (let login = 0; login < 9; login += 1) {
      targets.push(await user.approve());
      expect((await user.get(targets[login] ?? "")).status).toBe(302);
    }
    expectLinkInvalid(await user.get(targets[0] ?? ""));
    for (const target of targets.slice(1)) expect((await user.get(target)).status).toBe(302);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("is problem+json if Accept prefers JSON", async () => {
    const answer = await application
      .user()
      .get(`${CALLBACK}?code=x&state=y`, { headers: { accept: "application/json" } });
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({
      code: "login_link_invalid",
      status: 400,
      title: "This sign-in link is no longer valid",
    });
  });
});

describe("[BCP-3] [R8] [R9] the same callback several times at once", () => {
  sharedApplication();

  it.each([2, 10])(
    "%i times is one token request, and everybody gets the same response",
    async (times) => {
      const user = application.user();
      const target = await user.approve(FROM_PAGE);
      const copies = Array.from({ length: times }, () => {
        const copy = application.user();
        for (const [name, value] of user.cookies) copy.cookies.set(name, value);
        return copy;
      });
      const hold = application.provider.hold("token");
      const requests = await tokenRequestsDuring(async () => {
        const answers = Promise.all(copies.map((copy) => copy.get(target)));
        await hold.arrived;
        hold.release();
        for (const { status, location, setCookies } of await answers) {
          expect([status, location, setCookies]).toEqual([
            302,
            PAGE,
            [expect.stringContaining("idpauth=")],
          ]);
        }
      });
      expect(requests).toBe(1);
      expect(new Set(copies.map(({ cookies }) => cookies.get("idpauth"))).size).toBe(1);
      for (const copy of copies) expect(await copy.isSignedIn()).toBe(true);
    },
  );

  it.each(["the first", "the second"])(
    "of two tabs at once: both go on to their own pages, %s to get its response signs in",
    async (which) => {
      const user = application.user();
      const first = await user.approve(FROM_PAGE);
      const second = await user.approve("/idpauth/login/");
      const hold = application.provider.hold("token");
      const targets = which === "the first" ? [first, second] : [second, first];
      const tabs = targets.map((target) => {
        const tab = user.at(application.auth);
        return { tab, answer: tab.get(target) };
      });
      await hold.arrived;
      await vi.waitFor(
        () => expect(application.provider.requestsTo("token").length).toBeGreaterThanOrEqual(2),
        PATIENCE,
      );
      hold.release();
      const answers = await Promise.all(tabs.map(({ answer }) => answer));
      expect(answers.map(({ status, location }) => [status, location]).sort()).toEqual(
        [
          [302, "/idpauth/"],
          [302, PAGE],
        ].sort(),
      );
      expect(answers.filter(({ setCookies }) => (setCookies ?? []).length > 0)).toHaveLength(1);
      const signedIn = await Promise.all(tabs.map(({ tab }) => tab.isSignedIn()));
      expect(signedIn.filter(Boolean)).toHaveLength(1);
      expect(application.provider.requestsTo("revoke")).toEqual([]);
    },
  );

  it("in another process waits there, begins another login and disturbs nothing", async () => {
    const user = application.user();
    const target = await user.approve(FROM_PAGE);
    const elsewhere = user.at(application.another());
    const hold = application.provider.hold("token");
    const requests = await tokenRequestsDuring(async () => {
      const first = user.get(target);
      await hold.arrived;
      const late = elsewhere.get(target);
      await application.clock.advanceAsync(500);
      hold.release();
      expect((await first).location).toBe(PAGE);
      const { location, setCookies } = await whileTimePasses(application.clock, late);
      expect(location).toMatch(/^\/idpauth\/login\/\?.*&cross_site=true$/);
      expect(setCookies).toBeUndefined();
    });
    expect(requests).toBe(1);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("in another process that has found the login too, only one spends it", async () => {
    const user = application.user();
    const target = await user.approve(FROM_PAGE);
    const elsewhere = user.at(application.another());
    // The other process has read the session and now waits for the provider's document, which this
    // one knows.
    const document = application.provider.hold("discovery");
    const late = elsewhere.get(target);
    await document.arrived;
    const exchange = application.provider.hold("token");
    const requests = await tokenRequestsDuring(async () => {
      const first = user.get(target);
      await exchange.arrived;
      document.release();
      await application.clock.advanceAsync(500);
      exchange.release();
      expect((await first).location).toBe(PAGE);
      const { location } = await whileTimePasses(application.clock, late);
      expect(location).toMatch(/^\/idpauth\/login\/\?.*&cross_site=true$/);
    });
    expect(requests).toBe(1);
  });
});

describe("[BCP-8] [ASVS-10.2.1] iss (RFC 9207)", () => {
  const issuer = () => application.provider.issuer;
  const wrong: [string, () => string][] = [
    ["of somebody else", () => "https://evil.example"],
    ["in another letter case", () => issuer().toUpperCase()],
    ["with a slash at the end", () => `${issuer()}/`],
    ["over https", () => issuer().replace("http:", "https:")],
    ["empty", () => ""],
    ["with white space", () => ` ${issuer()}`],
  ];

  async function expectNoToken(spoil: (target: string) => string): Promise<void> {
    const user = application.user();
    const target = await user.approve();
    expect(
      await tokenRequestsDuring(async () => {
        expectRefused(await user.get(spoil(target)));
        expectLinkInvalid(await user.get(target));
      }),
    ).toBe(0);
    expect(await user.isSignedIn()).toBe(false);
  }

  describe("[ISS-1] [ISS-3] advertised by the provider", () => {
    sharedApplication();
    const errorAnswer = { code: undefined, error: "access_denied" };

    it.each(wrong)(
      "that is %s is refused before any token request, on error responses too",
      async (_name, iss) => {
        await expectNoToken((target) => changed(target, { iss: iss() }));
        await expectNoToken((target) => changed(target, { ...errorAnswer, iss: iss() }));
      },
    );

    it("[ISS-2] that is missing is refused, on error responses too", async () => {
      await expectNoToken((target) => changed(target, { iss: undefined }));
      await expectNoToken((target) => changed(target, { ...errorAnswer, iss: undefined }));
    });

    it("that is repeated is refused", async () => {
      await expectNoToken((target) => `${target}&iss=${encodeURIComponent(issuer())}`);
      await expectNoToken((target) => `${target}&iss=https%3A%2F%2Fevil.example`);
    });
  });

  describe("[ISS-1] not advertised by the provider", () => {
    sharedApplication({ provider: { announceIss: false } });

    it("may be missing", async () => {
      const user = application.user();
      const target = await user.approve();
      expect(target).not.toContain("iss=");
      expect((await user.get(target)).status).toBe(302);
    });

    it("[ISS-4] may be there", async () => {
      const user = application.user();
      expect((await user.get(changed(await user.approve(), { iss: issuer() }))).status).toBe(302);
    });

    it("[BCP-8] a login that was sent to another issuer is refused, even if the settings have changed", async () => {
      const { clock } = application;
      const user = application.user();
      const target = await user.approve();
      const moved = await startApplication({ clock, store, provider: { announceIss: false } });
      const requests = await tokenRequestsDuring(async () =>
        expectRefused(await user.at(moved.auth).get(target)),
      );
      expect([requests, moved.provider.requestsTo("token").length]).toEqual([0, 0]);
      await moved.stop();
    });

    it.each(wrong)("is compared all the same, on error responses too: %s", async (_name, iss) => {
      await expectNoToken((target) => changed(target, { iss: iss() }));
      await expectNoToken((target) =>
        changed(target, { code: undefined, error: "access_denied", iss: iss() }),
      );
    });

    it("that is repeated is refused all the same", async () => {
      for (const second of [issuer(), "https://evil.example"]) {
        await expectNoToken(
          (target) => `${changed(target, { iss: issuer() })}&iss=${encodeURIComponent(second)}`,
        );
      }
    });
  });
});

describe("an error of the provider", () => {
  sharedApplication();
  const HOSTILE = '"><script>alert(1)</script>\r\nSet-Cookie: a=b';

  it.each<[string, string]>([
    ...SIGN_IN_ERRORS.map((code): [string, string] => [code, code]),
    ["something_else", "provider_error"],
    ["ACCESS_DENIED", "provider_error"],
    ["access_denied ", "provider_error"],
    ["__proto__", "provider_error"],
    ["constructor", "provider_error"],
    [HOSTILE, "provider_error"],
    ["x".repeat(20_000), "provider_error"],
  ])("%s redirects to the index as %s, and nothing of it is repeated", async (error, code) => {
    const user = application.user();
    const approved = await user.approve();
    const target = changed(approved, {
      code: undefined,
      error,
      error_description: HOSTILE,
      error_uri: "https://evil.example",
    });
    const requests = await tokenRequestsDuring(async () => {
      const answer = await user.get(target);
      expect([answer.status, answer.location]).toEqual([302, `/idpauth/?error=${code}`]);
      expect(answer.body).toBeUndefined();
      expectLinkInvalid(await user.get(approved));
    });
    expect(requests).toBe(0);
    expect(JSON.stringify(application.log)).not.toMatch(/script|evil/);
  });

  it("with a code is an error", async () => {
    const user = application.user();
    const answer = await user.get(changed(await user.approve(), { error: "server_error" }));
    expect(answer.location).toBe("/idpauth/?error=server_error");
  });

  it("drops that login; a signed-in session stays", async () => {
    const user = application.user();
    await user.signIn();
    const before = await sessionOf(user);
    const target = await user.approve();
    await user.get(changed(target, { code: undefined, error: "access_denied" }));
    const after = await sessionOf(user);
    for (const key of ["credentials", "id_info", "idp_login_at"])
      expect(after?.[key]).toEqual(before?.[key]);
    expect(await tokenRequestsDuring(() => user.get(target))).toBe(0);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("without a known state is 400 like any other", async () => {
    expectLinkInvalid(await application.user().get(`${CALLBACK}?error=access_denied&state=x`));
    expectLinkInvalid(await application.user().get(`${CALLBACK}?error=access_denied`));
  });
});

describe("[ASVS-10.5.1] a refusal", () => {
  sharedApplication();
  const swapped = (claims: Record<string, unknown>) => (draft: IdTokenDraft) => ({
    claims: { ...draft.claims, ...claims },
  });
  const without = (name: string) => (draft: IdTokenDraft) => ({
    claims: { ...draft.claims, [name]: undefined },
  });
  const mutations: [string, (draft: IdTokenDraft) => MutatedIdToken | Promise<MutatedIdToken>][] = [
    ["another nonce", swapped({ nonce: "other" })],
    ["no nonce", without("nonce")],
    ["another audience", swapped({ aud: "other-client" })],
    ["no expiry", without("exp")],
    ["no subject", without("sub")],
    ["alg none", (draft) => draft.sign({ ...draft.header, alg: "none" }, draft.claims)],
    [
      "HS256 under the public key",
      (draft) =>
        draft.sign(
          { ...draft.header, alg: "HS256" },
          draft.claims,
          Buffer.from(draft.publicKeyPem),
        ),
    ],
    ["a flipped signature", (draft) => flipped(draft.sign(draft.header, draft.claims))],
    ["no form of a token at all", () => "garbage"],
  ];

  it.each(mutations)(
    "ID token with %s: 400, nobody is signed in, and the code is never sent again",
    async (_name, mutate) => {
      const user = application.user();
      const target = await user.approve();
      const before = await sessionOf(user);
      application.provider.mutateIdToken = mutate;
      const requests = await tokenRequestsDuring(async () => {
        expectRefused(await user.get(target));
        expectLinkInvalid(await user.get(target));
      });
      expect(requests).toBe(1);
      expect(await user.isSignedIn()).toBe(false);
      const after = await sessionOf(user);
      expect(after?.["credentials"]).toBeUndefined();
      expect(after?.["final_redirect"]).toBe(before?.["final_redirect"]);
    },
  );

  it.each<[string, Fault]>([
    [
      "invalid_grant",
      {
        kind: "status",
        status: 400,
        body: { error: "invalid_grant", error_description: "EVIL words" },
      },
    ],
    ["no body", { kind: "status", status: 400 }],
    ["an unknown error", { kind: "status", status: 400, body: { error: "EVIL_error" } }],
  ])("of the code with 400 and %s: 400, in our own words", async (_name, fault) => {
    const user = application.user();
    const target = await user.approve();
    application.provider.fault("token", fault);
    const requests = await tokenRequestsDuring(async () => {
      const answer = await user.get(target);
      expectRefused(answer);
      expect(JSON.stringify(answer)).not.toContain("EVIL");
      expectLinkInvalid(await user.get(target));
    });
    expect(requests).toBe(1);
    expect(JSON.stringify(application.log)).not.toContain("EVIL");
  });

  it.each<[string, (answer: Record<string, unknown>) => unknown]>([
    ["no ID token", ({ id_token: _gone, ...rest }) => rest],
    ["an ID token that is empty", (answer) => ({ ...answer, id_token: "" })],
  ])("with %s in the response: 400", async (_name, change) => {
    const user = application.user();
    const target = await user.approve();
    application.provider.tokenResponse = change;
    expectRefused(await user.get(target));
    expect(await user.isSignedIn()).toBe(false);
  });

  it("leaves a signed-in user's session unchanged", async () => {
    const user = application.user();
    await user.signIn();
    const target = await user.approve("/idpauth/login/", GRACE);
    application.provider.mutateIdToken = (draft) => ({
      claims: { ...draft.claims, nonce: "other" },
    });
    expectRefused(await user.get(target));
    expect((await user.get("/idpauth/session")).json().user.email).toBe("ada@example.com");
  });

  it("is problem+json if Accept prefers JSON", async () => {
    const user = application.user();
    const target = await user.approve();
    application.provider.mutateIdToken = () => "garbage";
    const answer = await user.get(target, { headers: { accept: "application/json" } });
    expect([answer.status, answer.json().code]).toEqual([400, "sign_in_refused"]);
  });

  it("of a code that belongs to another login", async () => {
    const user = application.user();
    const first = new URL(await user.approve(), OWN_ORIGIN).searchParams;
    const second = await user.approve();
    expectRefused(await user.get(changed(second, { code: first.get("code") ?? "" })));
    expect(await user.isSignedIn()).toBe(false);
  });
});

describe("[ASVS-16.5.2] an outage", () => {
  sharedApplication();

  function expectOutage(answer: Answer, code = "provider_unavailable"): void {
    expect(answer.status).toBe(503);
    expect(answer.headers["Retry-After"]).toMatch(/^[1-9]\d*$/);
    expect(answer.body).toContain(code);
    // No login helps until the operators have corrected something.
    const offered =
      code === "provider_misconfigured" ? [] : ['href="/idpauth/login/?cross_site=true"'];
    expect((answer.body ?? "").match(/href="\/idpauth\/login\/[^"]*"/g) ?? []).toEqual(offered);
    expect(answer.body).not.toContain("EVIL");
    expect(answer.setCookies ?? []).toEqual([]);
  }

  const said = (status: number, error: string): Fault => ({
    kind: "status",
    status,
    body: { error },
  });
  it.each<[string, "token" | "jwks", Fault, string?]>([
    ["token endpoint resets", "token", { kind: "reset" }],
    ["token endpoint resets after its work", "token", { kind: "reset", before: false }],
    ["token endpoint says 500", "token", { kind: "status", status: 500, body: "EVIL words" }],
    [
      "token endpoint says 429",
      "token",
      { kind: "status", status: 429, headers: { "Retry-After": "9" } },
    ],
    ["token endpoint redirects", "token", { kind: "redirect", status: 307 }],
    ["token endpoint sends no JSON", "token", { kind: "garbage" }],
    ["token endpoint sends too much", "token", { kind: "oversized", before: false }],
    ["token endpoint stops in the middle", "token", { kind: "truncated" }],
    ["token endpoint says that it is busy, with 400", "token", said(400, "slow_down")],
    [
      "token endpoint says that it is away, with 200",
      "token",
      said(200, "temporarily_unavailable"),
    ],
    ["token endpoint sends no tokens", "token", { kind: "status", status: 200, body: {} }],
    [
      "token endpoint responds with 401, and nothing more",
      "token",
      { kind: "status", status: 401 },
      "provider_misconfigured",
    ],
    [
      "token endpoint does not accept the client, with 200",
      "token",
      said(200, "invalid_client"),
      "provider_misconfigured",
    ],
    [
      "token endpoint does not accept the client",
      "token",
      { kind: "status", status: 401, body: { error: "invalid_client" } },
      "provider_misconfigured",
    ],
  ])(
    "[F4] %s: 503 with Retry-After, nothing stored, and the code is sent once",
    async (_name, endpoint, fault, code) => {
      const user = application.user();
      const target = await user.approve();
      application.provider.fault(endpoint, fault);
      const requests = await tokenRequestsDuring(async () => {
        expectOutage(await user.get(target), code);
        application.provider.clearFaults();
        application.clock.advance(61_000);
        expectLinkInvalid(await user.get(target));
      });
      expect(requests).toBe(1);
      expect(await user.isSignedIn()).toBe(false);
      expect((await user.signIn()).status).toBe(302);
    },
  );

  it("the JWKS cannot be had: 503, nothing stored", async () => {
    const elsewhere = application.another();
    const user = application.user().at(elsewhere);
    const target = await user.approve();
    application.provider.fault("jwks", { kind: "reset" });
    expectOutage(await user.get(target));
    expect(await user.isSignedIn()).toBe(false);
  });

  it("the provider hangs: 503 after IDP_HTTP_TIMEOUT", async () => {
    const user = application.user();
    const target = await user.approve();
    const hold = application.provider.hold("token");
    const answer = user.get(target);
    await hold.arrived;
    application.clock.advance(5_000);
    expectOutage(await answer);
    hold.release();
  });

  it("the provider's document cannot be had by this process: 503, and the login is kept", async () => {
    const user = application.user();
    const target = await user.approve(FROM_PAGE);
    const elsewhere = user.at(application.another());
    application.provider.fault("discovery", { kind: "reset" });
    expect(await tokenRequestsDuring(async () => expectOutage(await elsewhere.get(target)))).toBe(
      0,
    );
    application.provider.clearFaults();
    application.clock.advance(5_000);
    expect((await elsewhere.get(target)).location).toBe(PAGE);
  });

  it("while this process backs off from the token endpoint nothing is sent, and the login is kept", async () => {
    const unlucky = application.user();
    const user = application.user();
    const first = await unlucky.approve();
    const second = await user.approve(FROM_PAGE);
    application.provider.fault("token", { kind: "reset", times: 1 });
    expectOutage(await unlucky.get(first));
    expect(await tokenRequestsDuring(async () => expectOutage(await user.get(second)))).toBe(0);
    application.clock.advance(20_000);
    expect((await user.get(second)).location).toBe(PAGE);
  });

  it("leaves a signed-in user's session unchanged", async () => {
    const user = application.user();
    await user.signIn();
    const target = await user.approve("/idpauth/login/", GRACE);
    application.provider.fault("token", { kind: "reset" });
    expectOutage(await user.get(target));
    expect((await user.get("/idpauth/session")).json().user.email).toBe("ada@example.com");
  });

  it("of the store is 503, without a cookie", async () => {
    const user = application.user();
    const target = await user.approve();
    const hold = application.provider.hold("token", { before: false });
    const answer = user.get(target);
    await hold.arrived;
    store.isDown = true;
    hold.release();
    const { status, headers, body, setCookies } = await answer;
    expect(status).toBe(503);
    expect(headers["Retry-After"]).toMatch(/^[1-9]\d*$/);
    expect(body).toContain("store_unavailable");
    expect(setCookies ?? []).toEqual([]);
    store.isDown = false;
    expect(await user.isSignedIn()).toBe(false);
  });

  it("is problem+json if Accept prefers JSON", async () => {
    const user = application.user();
    const target = await user.approve();
    application.provider.fault("token", { kind: "reset" });
    const answer = await user.get(target, { headers: { accept: "application/json" } });
    expect([answer.status, answer.json().code]).toEqual([503, "provider_unavailable"]);
  });
});

describe("[R6] a logout while the callback is under way", () => {
  sharedApplication();

  it.each([
    ["before the provider has answered", true],
    ["after the provider has issued the tokens", false],
  ])("wins, %s: nobody is signed in and the tokens are revoked", async (_name, before) => {
    const user = application.user();
    const target = await user.approve();
    const leaving = application.user();
    for (const [name, value] of user.cookies) leaving.cookies.set(name, value);
    const hold = application.provider.hold("token", { before });
    const answer = user.get(target);
    await hold.arrived;
    expect((await leaving.get("/idpauth/logout/?response=json")).json()).toEqual({
      status: "logged_out",
    });
    hold.release();
    expectLinkInvalid(await answer);
    expect(await user.isSignedIn()).toBe(false);
    const refreshToken =
      application.provider.issued.filter(({ kind }) => kind === "refresh_token").at(-1)?.value ??
      "";
    await vi.waitFor(
      () => expect(application.provider.isActive(refreshToken)).toBe(false),
      PATIENCE,
    );
    expect((await store.entries()).filter(({ subject }) => subject !== undefined)).toEqual([]);
  });

  it("wins over a sign-in of a user who was signed in", async () => {
    const user = application.user();
    await user.signIn();
    const target = await user.approve("/idpauth/login/", GRACE);
    const leaving = application.user();
    for (const [name, value] of user.cookies) leaving.cookies.set(name, value);
    const hold = application.provider.hold("token");
    const answer = user.get(target);
    await hold.arrived;
    await leaving.get("/idpauth/logout/");
    hold.release();
    expectLinkInvalid(await answer);
    expect(await user.isSignedIn()).toBe(false);
  });
});

describe("[R12] a login that was started before the user signed in", () => {
  afterEach(() => application.stop());

  /**
   * A victim with the attacker's cookie, in whose session the attacker has started a login; then
   * the victim signs in.
   */
  async function planted(): Promise<{ victim: TestUser; link: string }> {
    const attacker = await start();
    const link = await attacker.approve("/idpauth/login/", GRACE);
    const victim = application.user();
    for (const [name, value] of attacker.cookies) victim.cookies.set(name, value);
    await victim.signIn();
    return { victim, link };
  }

  const emailOf = async (user: TestUser) =>
    (await user.get("/idpauth/session")).json().user?.email as unknown;

  it("does not switch the user to another account: 400, the session stays as it is, and the tokens are revoked", async () => {
    const { victim, link } = await planted();
    const before = await sessionOf(victim);
    const cookies = [...victim.cookies];
    const answer = await victim.get(link);
    expect([answer.status, answer.setCookies ?? []]).toEqual([400, []]);
    expect(answer.body).toContain("sign_in_refused");
    expect(answer.body).toContain("You are still signed in as <bdi>ada@example.com</bdi>.");
    expect([...victim.cookies]).toEqual(cookies);
    expect(await emailOf(victim)).toBe("ada@example.com");
    const { oauth_state: _used, ...rest } = before as Record<string, unknown>;
    expect(await sessionOf(victim)).toEqual(rest);
    await settled(application.auth);
    const { value: attackers } = application.provider.issued
      .filter(({ kind }) => kind === "refresh_token")
      .at(-1)!;
    expect(application.provider.isActive(attackers)).toBe(false);
    expect(
      application.provider.requestsTo("revoke").map(({ params }) => params.get("token")),
    ).toEqual([attackers]);
    expect(
      application.log
        .filter(({ code }) => code === "callback_failed")
        .map(({ details }) => details?.reason),
    ).toEqual(["another_user"]);
  });

  it("does not come back: the same link again is 302 to the user's own page", async () => {
    const { victim, link } = await planted();
    await victim.get(link);
    expect((await victim.get(link)).status).toBe(302);
    expect(await emailOf(victim)).toBe("ada@example.com");
    expect(application.provider.requestsTo("token")).toHaveLength(2);
  });

  it("finishes for the same user, as with two tabs", async () => {
    const user = await start();
    const second = await user.approve(FROM_PAGE);
    await user.signIn();
    const answer = await user.get(second);
    expect([answer.status, answer.location]).toEqual([302, PAGE]);
    expect(await emailOf(user)).toBe("ada@example.com");
    expect(application.provider.requestsTo("revoke")).toEqual([]);
  });

  it("stays refused after the user has signed in once more, also as another user in between", async () => {
    const { victim, link } = await planted();
    await victim.signIn("/idpauth/login/", { sub: "alan-1912", email: "alan@example.com" });
    expect((await victim.get(link)).status).toBe(400);
    expect(await emailOf(victim)).toBe("alan@example.com");
  });

  it("is no obstacle for a sign-in as another user that is started while signed in", async () => {
    const { victim } = await planted();
    expect((await victim.signIn("/idpauth/login/", GRACE)).status).toBe(302);
    expect(await emailOf(victim)).toBe("grace@example.com");
  });
});

function swapCase(text: string): string {
  return [...text]
    .map((letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    .join("");
}

function flipped(token: string): string {
  const at = token.lastIndexOf(".") + 5;
  return `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
}
