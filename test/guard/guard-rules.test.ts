import { afterEach, describe, expect, it } from "vitest";
import type { Blocked, GuardRule } from "../../src/index.js";
import { OWN_ORIGIN, startApplication, type TestUser } from "../support/application.js";
import { settled } from "../../src/testing/settled.js";
import { application, signedIn, start } from "../support/one-application.js";

const PAGE = { headers: { accept: "text/html" } };
const SCRIPT = { headers: { accept: "application/json" } };

afterEach(() => application.stop());

/** The address of the button "Try again". */
const tryAgainOf = (page = ""): string =>
  (/class="button" href="([^"]*)">Try again</.exec(page)?.[1] ?? "none").replaceAll("&amp;", "&");

const guard = (
  user: TestUser,
  rule: GuardRule,
  as = PAGE,
  target = "/transfer?to=7",
): Promise<Blocked | undefined> => application.auth.guard(user.request(target, as), rule);

describe("an unknown key of a rule", () => {
  const rule = { amr: "mfa" } as GuardRule;
  const message = "It got the key `amr`.";

  it("opens no route: the guard rejects, also for a user who is signed in", async () => {
    const user = await signedIn();
    await expect(guard(user, rule)).rejects.toThrow(message);
    await expect(guard(user, { allow: () => true, ...rule })).rejects.toThrow(message);
  });

  it("is refused where a route, a proxy or a path of an API declares it", async () => {
    await signedIn();
    const { auth } = application;
    expect(() => {
      auth.declareGuard(rule);
    }).toThrow(message);
    expect(() => auth.proxyApi("orders", rule)).toThrow(message);
    const api = { url: "https://api.example/", path: "/api/", rules: [rule] };
    await expect(startApplication({ apis: { orders: api } })).rejects.toThrow(
      /rule 1: there is no option "?`?amr/,
    );
  });

  it("stays without effect if its value is undefined", async () => {
    const user = await signedIn();
    expect(await guard(user, { amr: undefined } as GuardRule)).toBeUndefined();
  });
});

describe("allow", () => {
  it("lets only `true` pass; anything else is 403 and no redirect", async () => {
    const user = await signedIn();
    expect(await guard(user, { allow: () => true })).toBeUndefined();
    expect(await guard(user, { allow: () => Promise.resolve(true) })).toBeUndefined();
    for (const value of [false, 1, "true", {}, undefined, null]) {
      const blocked = await guard(user, { allow: () => value as boolean });
      expect([blocked?.kind, blocked?.reply.status]).toEqual(["forbidden", 403]);
    }
  });

  it("is 403 as a page or as JSON `forbidden`", async () => {
    const user = await signedIn();
    const page = await guard(user, { allow: () => false });
    expect(page?.reply.headers["Content-Type"]).toMatch(/^text\/html/);
    const json = await guard(user, { allow: () => false }, SCRIPT);
    expect(JSON.parse(json?.reply.body ?? "")).toMatchObject({ status: 403, code: "forbidden" });
  });

  it("that throws rejects with that error", async () => {
    const user = await signedIn();
    const error = new Error("no database");
    await expect(guard(user, { allow: () => Promise.reject(error) })).rejects.toBe(error);
  });

  // Some frameworks let a request pass if their continuation gets such a value.
  it.each([undefined, null, "", 0, false, "route"])(
    "that throws %j, which is no error, rejects with one",
    async (thrown) => {
      const user = await signedIn();

      const allow = () => Promise.reject(thrown);
      const failure = await guard(user, { allow }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      expect((failure as Error).message).toBe("`allow` threw a value that isn't an error.");
      expect((failure as Error).cause).toBe(thrown);
    },
  );

  it("does not run for a user who is not signed in", async () => {
    await signedIn();
    const blocked = await guard(application.user(), { allow: () => expect.fail("it ran") });
    expect(blocked?.kind).toBe("navigation");
  });

  it("sees user, claims and data", async () => {
    const user = await signedIn({ onSignIn: () => ({ data: { role: "admin" } }) });
    const rule: GuardRule = {
      allow: ({ user: { email }, claims, data }) =>
        email === "ada@example.com" && claims.email === email && data["role"] === "admin",
    };
    expect(await guard(user, rule)).toBeUndefined();
  });
});

describe("step-up", () => {
  const rule = { maxAge: 60 };

  it("a page redirects to the provider with max_age and prompt=login, and back to the page with a new session", async () => {
    const user = await signedIn();
    const key = [...user.cookies.values()].join();
    const blocked = await guard(user, rule);
    expect(blocked?.kind).toBe("stepUp");
    const login = await user.get(blocked?.reply.headers["Location"] ?? "");
    const query = new URL(login.location).searchParams;
    expect([query.get("max_age"), query.get("prompt")]).toEqual(["60", "login consent"]);
    const callback = new URL(await application.provider.signInCode(login.location));
    const back = await user.get(`${callback.pathname}${callback.search}`);
    expect([back.status, back.location]).toEqual([302, "http://app.example/transfer?to=7"]);
    expect([...user.cookies.values()].join()).not.toBe(key);
    expect(await guard(user, rule)).toBeUndefined();
    application.clock.advance(120_000);
    expect((await guard(user, rule))?.kind).toBe("stepUp");
  });

  it("a signed-out user signs in once: the login requests the authentication of the route", async () => {
    await signedIn();
    const other = application.user();
    const blocked = await guard(other, { maxAge: 60, acr: "gold" });
    expect(blocked?.kind).toBe("navigation");
    const login = await other.get(blocked?.reply.headers["Location"] ?? "");
    const query = new URL(login.location).searchParams;
    expect([query.get("max_age"), query.get("acr_values")]).toEqual(["60", "gold"]);
    const callback = new URL(await application.provider.signInCode(login.location));
    expect((await other.get(`${callback.pathname}${callback.search}`)).location).toBe(
      "http://app.example/transfer?to=7",
    );
    expect(await guard(other, { maxAge: 60, acr: "gold" })).toBeUndefined();
  });

  it("anything else gets the challenge of RFC 9470 and the address of the login", async () => {
    const user = await signedIn();
    const { reply } = (await guard(user, { maxAge: 60, acr: ["gold", "silver"] }, SCRIPT)) ?? {};
    expect(reply?.status).toBe(401);
    expect(reply?.headers["WWW-Authenticate"]).toBe(
      'Bearer error="insufficient_user_authentication", error_description="Sign in again to continue", max_age="60", acr_values="gold silver"',
    );
    expect(JSON.parse(reply?.body ?? "")).toMatchObject({
      error: "insufficient_user_authentication",
      login_url: "/idpauth/login/?max_age=60&acr_values=gold+silver",
    });
  });

  it("htmx is led to the login for it and back to its page, signed in or not", async () => {
    const user = await signedIn();
    const page = "http://app.example/orders?a=b#c";
    const htmx = { headers: { ...SCRIPT.headers, "hx-request": "true", "hx-current-url": page } };
    for (const one of [user, application.user()]) {
      const { reply } = (await guard(one, { maxAge: 60, acr: "gold" }, htmx)) ?? {};
      const login = new URL(reply?.headers["HX-Redirect"] ?? "", "http://app.example");
      expect([reply?.status, login.pathname, Object.fromEntries(login.searchParams)]).toEqual([
        401,
        "/idpauth/login/",
        { scheme: "PRESERVE_ORIGIN_QP", origin_url: page, max_age: "60", acr_values: "gold" },
      ]);
    }
  });

  it("a refresh never makes the authentication seem newer", async () => {
    const user = await signedIn();
    const login = await user.get("/idpauth/login/?max_age=60");
    const callback = new URL(await application.provider.signInCode(login.location));
    await user.get(`${callback.pathname}${callback.search}`);
    expect(await guard(user, { maxAge: 3600 })).toBeUndefined();
    application.clock.advance(3_700_000);
    expect((await guard(user, { maxAge: 3600 }))?.kind).toBe("stepUp");
    expect(application.provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(
      1,
    );
  });

  it("an acr that the provider does not reach: 403 step_up_failed, no loop, and the session stays", async () => {
    const user = await signedIn({ provider: { acrValues: ["bronze"] } });
    const blocked = await guard(user, { acr: "gold" });
    const login = await user.get(blocked?.reply.headers["Location"] ?? "");
    expect(new URL(login.location).searchParams.get("acr_values")).toBe("gold");
    const callback = new URL(await application.provider.signInCode(login.location));
    const back = await user.get(`${callback.pathname}${callback.search}`, SCRIPT);
    expect([back.status, (back.json() as { code: unknown }).code]).toEqual([403, "step_up_failed"]);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("the page of a failed step-up offers the same step-up again, which leads back to the page", async () => {
    const user = await signedIn({ provider: { acrValues: ["bronze"] } });
    const blocked = await guard(user, { acr: ["gold", "silver"], maxAge: 60 });
    const failed = async (address: string) => {
      const login = await user.get(address);
      const callback = new URL(await application.provider.signInCode(login.location));
      return user.get(`${callback.pathname}${callback.search}`, PAGE);
    };
    const page = await failed(blocked?.reply.headers["Location"] ?? "");
    const offered = tryAgainOf(page.body);
    expect(Object.fromEntries(new URL(offered, "https://app.example").searchParams)).toEqual({
      scheme: "PRESERVE_ORIGIN_QP",
      origin_url: `${OWN_ORIGIN}/transfer?to=7`,
      max_age: "60",
      acr_values: "gold silver",
    });
    expect(tryAgainOf((await failed(offered)).body)).toBe(offered);
    application.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, acr: "gold" } });
    expect((await failed(offered)).location).toBe(`${OWN_ORIGIN}/transfer?to=7`);
  });

  it("a step-up that another site started offers one that counts as started there, too", async () => {
    const user = await signedIn({ provider: { acrValues: ["bronze"] } });
    const evil = "https://evil.example/";
    const login = await user.get(
      `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(evil)}&acr_values=gold&x=y`,
      { headers: { "sec-fetch-site": "cross-site" } },
    );
    const callback = new URL(await application.provider.signInCode(login.location));
    const page = await user.get(`${callback.pathname}${callback.search}`, PAGE);
    const { searchParams } = new URL(tryAgainOf(page.body), "https://app.example");
    expect(Object.fromEntries(searchParams)).toEqual({
      scheme: "PRESERVE_ORIGIN_QP",
      origin_url: `${OWN_ORIGIN}/idpauth/`,
      acr_values: "gold",
      cross_site: "true",
    });
    expect(page.body).not.toContain("evil.example");
  });

  it("by acr alone drops prompt=none, since a silent login could only fail", async () => {
    const user = await start({ loginPrompt: "none" });
    application.provider.signedIn.set("ada-1815", Math.floor(application.clock.now() / 1000));
    await user.signIn();
    const blocked = await guard(user, { acr: "gold" });
    const login = await user.get(blocked?.reply.headers["Location"] ?? "");
    expect(new URL(login.location).searchParams.has("prompt")).toBe(false);
  });

  it.each([
    [
      "the user who is signed in: the tokens are dropped, since the session may use their grant",
      true,
      0,
    ],
    ["a user who is not: the tokens are revoked", false, 1],
  ])("a login that does not reach the acr, by %s", async (_who, isSignedIn, revocations) => {
    const user = await signedIn({ provider: { acrValues: ["bronze"] } });
    // A sign-in of the same user a moment ago, in another browser, would keep the tokens too.
    application.clock.advance(600_000);
    const other = isSignedIn ? user : application.user();
    const login = await other.get("/idpauth/login/?acr_values=gold");
    const callback = new URL(await application.provider.signInCode(login.location));
    expect((await other.get(`${callback.pathname}${callback.search}`)).status).toBe(403);
    await settled(application.auth);
    expect(application.provider.requestsTo("revoke")).toHaveLength(revocations);
  });

  it("another user's: 403, and the present session stays", async () => {
    const user = await signedIn();
    const login = await user.get("/idpauth/login/?max_age=60");
    const callback = new URL(
      await application.provider.signInCode(login.location, {
        sub: "grace",
        email: "grace@example.com",
      }),
    );
    const back = await user.get(`${callback.pathname}${callback.search}`, SCRIPT);
    expect([back.status, (back.json() as { code: unknown }).code]).toEqual([403, "step_up_failed"]);
    expect((await application.auth.getSession(user.request("/")))?.user.email).toBe(
      "ada@example.com",
    );
  });

  it("keeps the same user's data", async () => {
    const user = await signedIn({
      onSignIn: ({ data }) => (data === null ? { data: { n: 1 } } : undefined),
    });
    await application.auth.updateData(user.request("/"), () => ({ n: 2 }));
    const login = await user.get("/idpauth/login/?max_age=60");
    const callback = new URL(await application.provider.signInCode(login.location));
    await user.get(`${callback.pathname}${callback.search}`);
    expect((await application.auth.getSession(user.request("/")))?.data).toEqual({ n: 2 });
  });

  it.each([
    "max_age=-1",
    "max_age=1.5",
    "max_age=",
    "max_age=1&max_age=2",
    "acr_values=",
    "acr_values=a&acr_values=b",
    "acr_values=%C3%A9",
  ])("a login with %s is 400", async (query) => {
    const user = await signedIn();
    expect((await user.get(`/idpauth/login/?${query}`)).status).toBe(400);
  });

  it("warns at start when the issuer is Google, and names maxAge", async () => {
    await signedIn();
    const auth = application.another({ issuer: "https://accounts.google.com" });
    auth.declareGuard({ maxAge: 60 });
    auth.start();
    auth.declareGuard({ maxAge: 90 });
    expect(
      application.log
        .filter(({ code }) => code === "W016")
        .map(({ message }) => message.includes("`maxAge`")),
    ).toEqual([true]);
  });
});
