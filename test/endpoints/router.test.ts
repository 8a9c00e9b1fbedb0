import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type ApplicationOptions, type TestUser } from "../support/application.js";
import { application, start, store } from "../support/one-application.js";

function expectCommonHeaders(answer: Answer): void {
  expect(answer.headers).toMatchObject({
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    Vary: "Cookie",
  });
  const type = answer.headers["Content-Type"] ?? "";
  if (type.includes("json"))
    expect(answer.headers["Cross-Origin-Resource-Policy"]).toBe("same-origin");
  const policy = answer.headers["Content-Security-Policy"] ?? "";
  if (/json|html/.test(type)) {
    // BCP-15, ASVS 3.4.6: the debug endpoint and every problem are shown by a browser too.
    expect(answer.headers["X-Frame-Options"]).toBe("DENY");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
  }
  if (type.includes("html")) {
    expect(policy).not.toMatch(/unsafe-inline|script-src/);
    expect(answer.body).not.toMatch(/<script|<style|\sstyle=|\son\w+=/);
  }
  for (const name of Object.keys(answer.headers)) {
    expect(name).not.toMatch(/^access-control-/i);
    // As the docstring of Reply says.
    expect(name).toMatch(/^[A-Z][a-z]*(?:-[A-Z][a-z]*)*$/);
    expect(name).not.toBe("Set-Cookie");
  }
}

describe("[BCP-11] [BCP-15] [CK-7] [ASVS-3.4.4] [ASVS-3.5.8] [ASVS-14.3.2] every response", () => {
  beforeAll(async () => {
    await start({ debug: true });
  });
  afterAll(() => application.stop());

  it.each([
    ["index", "/idpauth/", {}, 200],
    ["index without a slash", "/idpauth", {}, 200],
    ["login", "/idpauth/login/", {}, 302],
    ["login as JSON", "/idpauth/login/?response=json", {}, 200],
    ["bad login", "/idpauth/login/?scheme=x", {}, 400],
    ["bad login as a page", "/idpauth/login/?scheme=x", { accept: "text/html" }, 400],
    ["prefetched login", "/idpauth/login/", { purpose: "prefetch" }, 503],
    ["bad callback", "/idpauth/login-callback", {}, 400],
    ["bad callback as JSON", "/idpauth/login-callback", { accept: "application/json" }, 400],
    ["session", "/idpauth/session", {}, 200],
    ["logout", "/idpauth/logout/", {}, 302],
    ["logout as JSON", "/idpauth/logout/?response=json", {}, 200],
    ["bad logout", "/idpauth/logout/?response=x", {}, 400],
    ["debug", "/idpauth/debug", {}, 200],
    ["stylesheet", "/idpauth/style.css", {}, 200],
    ["unknown path", "/idpauth/nothing", {}, 404],
    ["unknown path as a page", "/idpauth/nothing", { accept: "text/html" }, 404],
  ])("carries the common headers: %s", async (_name, target, headers, status) => {
    for (const user of [application.user(), await signedInUser()]) {
      const answer = await user.get(target, { headers: headers });
      expect(answer.status).toBe(status);
      expectCommonHeaders(answer);
    }
  });

  it("of a finished callback, a provider error and an outage carries them too", async () => {
    const user = application.user();
    expectCommonHeaders(await user.signIn());
    expectCommonHeaders(
      await user.get((await user.approve()).replace(/code=[^&]*/, "error=access_denied")),
    );
    store.isDown = true;
    for (const target of [
      "/idpauth/",
      "/idpauth/session",
      "/idpauth/login/",
      "/idpauth/logout/",
      "/idpauth/debug",
      "/idpauth/login-callback?state=x",
    ]) {
      const answer = await user.get(target);
      expect(answer.status).toBe(503);
      expectCommonHeaders(answer);
      expect(answer.headers["Retry-After"]).toMatch(/^[1-9]\d*$/);
    }
    store.isDown = false;
  });

  it("has no redirect but 302", async () => {
    const user = await signedInUser();
    for (const target of ["/idpauth/login/", "/idpauth/logout/"])
      expect((await user.get(target)).status).toBe(302);
  });

  async function signedInUser(): Promise<TestUser> {
    const user = application.user();
    await user.signIn();
    return user;
  }
});

describe("[CK-8] [ASVS-3.5.1] methods", () => {
  beforeAll(async () => {
    await start({ debug: true });
  });
  afterAll(() => application.stop());

  const others = [
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "PROPFIND",
    "get",
    "",
  ];
  const acting = [
    "/idpauth/login/",
    "/idpauth/login",
    "/idpauth/login-callback",
    "/idpauth/logout/",
    "/idpauth/logout",
  ];
  const reading = [
    "/idpauth/",
    "/idpauth",
    "/idpauth/session",
    "/idpauth/session/",
    "/idpauth/debug",
  ];

  it.each([
    ...acting.flatMap((target) => {
      const isLogin = /login\/?$/.test(target);
      return [...others, "HEAD"]
        .filter((method) => !isLogin || method !== "POST")
        .map((method) => [method, target, isLogin ? "GET, POST" : "GET"] as const);
    }),
    ...reading.flatMap((target) => others.map((method) => [method, target, "GET, HEAD"] as const)),
  ])("%s %s is 405 with Allow, and does nothing", async (method, target, allow) => {
    const user = application.user();
    const [operations, requests] = [store.operations.length, application.provider.requests.length];
    const answer = await user.get(`${target}?state=x&code=y`, { method });
    expect([answer.status, answer.headers["Allow"]]).toEqual([405, allow]);
    expect(answer.json()).toMatchObject({ code: "method_not_allowed", status: 405 });
    expectCommonHeaders(answer);
    expect(answer.setCookies ?? []).toEqual([]);
    expect([store.operations.length, application.provider.requests.length]).toEqual([
      operations,
      requests,
    ]);
  });

  it("POST to logout leaves the user signed in", async () => {
    const user = application.user();
    await user.signIn();
    await user.get("/idpauth/logout/", { method: "POST" });
    expect(await user.isSignedIn()).toBe(true);
  });

  it.each(reading)("HEAD %s has the status and headers of GET", async (target) => {
    const user = application.user();
    await user.signIn();
    const [get, head] = [await user.get(target), await user.get(target, { method: "HEAD" })];
    expect([head.status, head.headers]).toEqual([get.status, get.headers]);
  });
});

describe("paths", () => {
  beforeAll(async () => {
    await start();
  });
  afterAll(() => application.stop());

  it.each([
    ["/idpauth", 200],
    ["/idpauth/", 200],
    ["/idpauth?x=1", 200],
    ["/idpauth/login", 302],
    ["/idpauth/login/", 302],
    ["/idpauth/login?response=json", 200],
    ["/idpauth/session", 200],
    ["/idpauth/session/", 200],
    ["/idpauth/session/?slide=false", 200],
    ["/idpauth/logout", 302],
    ["/idpauth/logout/", 302],
    ["http://app.example/idpauth/session", 200],
    ["/idpauth/login-callback", 400],
    ["/idpauth/login-callback/", 400],
    ["/idpauth/popup", 200],
    ["/idpauth/popup/", 200],
    ["/idpauth/style.css", 200],
    ["/idpauth/popup.js", 200],
  ])("%s gets %i, without a redirect to another spelling", async (target, status) => {
    expect((await application.user().get(target)).status).toBe(status);
  });

  it.each([
    "/idpauth/login-callback//",
    "/idpauth/style.css/",
    "/idpauth/popup.js/",
    "/idpauth/Login",
    "/idpauth/LOGOUT/",
    "/idpauth/session//",
    "/idpauth//session",
    "/idpauth//",
    "/idpauth/session/x",
    "/idpauth/./session",
    "/idpauth/../idpauth/session",
    "/idpauth/%73ession",
    "/idpauth/session%2f",
    "/idpauth/session;x=1",
    "/idpauth/login.php",
    "/idpauth/__proto__",
    "/idpauth/constructor",
    "/idpauth/\u0000",
    `/idpauth/${"x".repeat(10_000)}`,
  ])("%j is 404, and is not repeated", async (target) => {
    const answer = await application.user().get(target);
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ code: "not_found" });
    expect(`${JSON.stringify(answer.headers)}${answer.body ?? ""}`).not.toContain(
      target.slice("/idpauth/".length).replace(/\/$/, "") || "//",
    );
  });

  it.each([
    "/",
    "/idpauth2",
    "/idpauthx/session",
    "/IDPAUTH/session",
    "/other/idpauth/session",
    "//idpauth/session",
    "/reports?next=/idpauth/session",
    "*",
    "",
  ])("%j is not ours", (target) => {
    const user = application.user();
    expect(application.auth.handle(user.request(target))).toBeUndefined();
  });
});

describe("mountPath", () => {
  afterEach(() => application.stop());

  it.each([
    ["/auth/", "/auth/"],
    ["/auth", "/auth/"],
    ["auth", "/auth/"],
    ["/a/b/c/", "/a/b/c/"],
  ])("%s moves every endpoint to %s", async (mountPath, mounted) => {
    const user = await start({ mountPath });
    expect(application.auth.handle(user.request("/idpauth/session"))).toBeUndefined();
    const login = await user.get(`${mounted}login/`);
    expect(new URL(login.location).searchParams.get("redirect_uri")).toBe(
      `http://app.example${mounted}login-callback`,
    );
    const done = await user.signIn(`${mounted}login/`);
    expect([done.status, done.location]).toEqual([302, mounted]);
    expect((await user.get(`${mounted}session`)).json().authenticated).toBe(true);
    expect((await user.get(mounted)).body).toContain(`href="${mounted}logout/"`);
    expect((await user.get(mounted)).body).toContain(`href="${mounted}style.css"`);
    const error = await user.get(
      (await user.approve(`${mounted}login/`)).replace(/code=[^&]*/, "error=access_denied"),
    );
    expect(error.location).toBe(`${mounted}?error=access_denied`);
    expect((await user.get(`${mounted}logout/`)).location).toBe(mounted);
    expect((await user.get(`${mounted}login-callback`)).body).toContain(
      `href="${mounted}login/?cross_site=true"`,
    );
  });

  it("is in the guard's login address", async () => {
    const user = await start({ mountPath: "/auth/" });
    const blocked = await application.auth.guard(
      user.request("/reports", { headers: { accept: "application/json" } }),
    );
    expect(JSON.parse(blocked?.reply.body ?? "")).toMatchObject({ login_url: "/auth/login/" });
  });
});

describe("[BFF-3] [CK-2] [ASVS-3.3.1] the cookie", () => {
  afterEach(() => application.stop());
  const value = "[A-Za-z0-9_-]{43}";
  const life = "Max-Age=34560000";

  it.each<[string, ApplicationOptions, { scheme?: "http" | "https" }, string]>([
    ["plain http", {}, {}, `idpauth=${value}; Path=/; ${life}; HttpOnly; SameSite=Lax`],
    [
      "https",
      {},
      { scheme: "https" },
      `__Host-Http-idpauth=${value}; Path=/; ${life}; HttpOnly; SameSite=Lax; Secure`,
    ],
    [
      "BASE_URL over https",
      { baseUrl: "https://app.example" },
      {},
      `__Host-Http-idpauth=${value}; Path=/; ${life}; HttpOnly; SameSite=Lax; Secure`,
    ],
    [
      "BASE_URL over http",
      { baseUrl: "http://app.example" },
      { scheme: "https" },
      `idpauth=${value}; Path=/; ${life}; HttpOnly; SameSite=Lax`,
    ],
    [
      "cookieName",
      { cookieName: "sid" },
      {},
      `sid=${value}; Path=/; ${life}; HttpOnly; SameSite=Lax`,
    ],
    [
      "cookieName over https",
      { cookieName: "sid" },
      { scheme: "https" },
      `sid=${value}; Path=/; ${life}; HttpOnly; SameSite=Lax; Secure`,
    ],
    [
      "IDP_SESSION_TTL",
      { sessionTtl: 3600 },
      {},
      `idpauth=${value}; Path=/; ${life}; HttpOnly; SameSite=Lax`,
    ],
    [
      "a maximum age beyond the TTL",
      { sessionMaxAge: 30 * 86_400 },
      {},
      `idpauth=${value}; Path=/; Max-Age=${String(31 * 86_400)}; HttpOnly; SameSite=Lax`,
    ],
  ])(
    "of %s has exactly these attributes, from the start of a login and from the callback",
    async (_name, options, request, pattern) => {
      const user = await start(options);
      const login = await user.get("/idpauth/login/", request);
      const callback = new URL(await application.provider.signInCode(login.location));
      const done = await user.get(`${callback.pathname}${callback.search}`, request);
      for (const answer of [login, done]) {
        expect(answer.setCookies).toHaveLength(1);
        expect(answer.setCookies?.[0]).toMatch(new RegExp(`^${pattern.replaceAll("/", "\\/")}$`));
      }
      expect((await user.get("/idpauth/session", request)).json().authenticated).toBe(true);
    },
  );

  it("is of constant size, however large the claims and scopes", async () => {
    const user = await start({
      scope: [
        "openid",
        ...Array.from({ length: 100 }, (_, index) => `scope-number-${String(index)}`),
      ],
    });
    application.provider.person = { sub: "x", name: "N".repeat(60_000) };
    const done = await user.signIn();
    expect(done.status).toBe(302);
    expect(done.setCookies?.[0]?.length).toBeLessThan(130);
    expect((await user.get("/idpauth/session")).json().user.name).toHaveLength(60_000);
  });

  it("is not set again by the probe, the index or another login of the signed-in user", async () => {
    const user = await start();
    await user.signIn();
    for (const target of ["/idpauth/session", "/idpauth/", "/idpauth/login/"])
      expect((await user.get(target)).setCookies ?? []).toEqual([]);
  });

  it("[CK-4] a thousand anonymous requests to index and probe leave no cookie and no entry", async () => {
    const user = await start({ debug: true });
    for (let visit = 0; visit < 334; visit += 1) {
      for (const target of ["/idpauth/", "/idpauth/session", "/idpauth/debug"])
        expect((await user.get(target)).setCookies ?? []).toEqual([]);
    }
    expect(store.operations).toEqual([]);
  });
});
