import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  ConfigurationError,
  StoreUnavailableError,
  type Blocked,
  type IdpRequest,
  type SessionStore,
} from "../../src/index.js";
import {
  OWN_ORIGIN,
  type ApplicationOptions,
  type CallOptions,
  type TestUser,
} from "../support/application.js";
import { polluted } from "../support/polluted.js";
import { watchedStore } from "../support/watched-store.js";
import { application, pass, sealing, start, startOver, store } from "../support/one-application.js";

const HOUR = 3600;
const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const SCRIPT = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };

const guard = (
  user: TestUser,
  target: string,
  options?: CallOptions,
): Promise<Blocked | undefined> => application.auth.guard(user.request(target, options));

/** The page that the login of a blocked navigation leads back to. */
function pageOf(blocked: Blocked | undefined): string | null {
  expect(blocked?.kind).toBe("navigation");
  expect(blocked?.reply.status).toBe(302);
  const location = new URL(blocked?.reply.headers["Location"] ?? "", OWN_ORIGIN);
  expect(blocked?.reply.headers["Location"]).toMatch(/^\/idpauth\/login\/\?/);
  expect([...location.searchParams.keys()].sort()).toEqual(["origin_url", "scheme"]);
  expect(location.searchParams.get("scheme")).toBe("PRESERVE_ORIGIN_QP");
  return location.searchParams.get("origin_url");
}

describe("[CK-7] [ASVS-14.3.2] idpRequired, signed out", () => {
  beforeAll(async () => {
    await start();
  });
  afterAll(() => application.stop());

  it.each<[string, CallOptions]>([
    ["a browser's Accept", { headers: BROWSER }],
    ["Accept: text/html", { headers: { accept: "text/html" } }],
    ["Sec-Fetch-Mode: navigate", { headers: { "sec-fetch-mode": "navigate" } }],
    [
      "Sec-Fetch-Mode: navigate with any Accept",
      { headers: { "sec-fetch-mode": "navigate", accept: "*/*" } },
    ],
    ["HEAD with a browser's Accept", { method: "HEAD", headers: BROWSER }],
  ])("blocks a navigation (%s) with 302 to login and back to the page", async (_name, options) => {
    const blocked = await guard(application.user(), "/reports?year=2024&x=a%2Fb", options);
    expect(pageOf(blocked)).toBe(`${OWN_ORIGIN}/reports?year=2024&x=a%2Fb`);
    expect(blocked).toMatchObject({
      reason: "no_credentials",
      loginPath: "/idpauth/login/",
      origin: OWN_ORIGIN,
    });
    expect(blocked).toMatchObject({ loginUrl: blocked?.reply.headers["Location"] });
    expect(blocked?.reply.headers["Cache-Control"]).toBe("no-store");
    expect(blocked?.reply.body).toBeUndefined();
  });

  it("the way round: from the guarded page to the login and back to exactly that page", async () => {
    const user = application.user();
    const blocked = await guard(user, "/reports?year=2024", { headers: BROWSER });
    const done = await user.signIn(blocked?.reply.headers["Location"] ?? "");
    expect(done.location).toBe(`${OWN_ORIGIN}/reports?year=2024`);
    expect(await guard(user, "/reports?year=2024", { headers: BROWSER })).toBeUndefined();
  });

  it.each<[string, CallOptions]>([
    ["no Accept", {}],
    ["Accept: */*", { headers: { accept: "*/*" } }],
    ["Accept: application/json", { headers: { accept: "application/json" } }],
    ["JSON preferred to HTML", { headers: { accept: "text/html;q=0.5, application/json" } }],
    ["fetch from a script", { headers: { accept: "*/*", "sec-fetch-mode": "cors" } }],
    ["a script that asks for HTML", { headers: { ...BROWSER, ...SCRIPT } }],
    ["the same with POST", { method: "POST", headers: { ...BROWSER, ...SCRIPT } }],
    ["PUT", { method: "PUT" }],
    ["DELETE", { method: "DELETE" }],
    ["HEAD without Accept", { method: "HEAD" }],
  ])("blocks anything else (%s) with 401 and JSON", async (_name, options) => {
    const blocked = await guard(application.user(), "/api/reports?q=1", options);
    expect(blocked?.kind).toBe("unauthenticated");
    expect(blocked?.reply.status).toBe(401);
    expect(blocked?.reply.headers["Content-Type"]).toBe("application/json; charset=utf-8");
    expect(blocked?.reply.headers["Cache-Control"]).toBe("no-store");
    expect(blocked?.reply.headers["X-Idpauth-Login"]).toBe("/idpauth/login/");
    expect(blocked?.reply.body).toBe(
      JSON.stringify({
        authenticated: false,
        user: null,
        error: "login_required",
        reason: "no_credentials",
        login_url: "/idpauth/login/",
      }),
    );
  });

  it.each<[string, CallOptions]>([
    ["POST of a form", { headers: BROWSER }],
    ["POST that navigates", { headers: { "sec-fetch-mode": "navigate" } }],
    ["POST from another site", { headers: { ...SCRIPT, "sec-fetch-mode": "navigate" } }],
  ])("a form gets the 401 as a page with a link to the login (%s)", async (_name, options) => {
    const post = { ...options, method: "POST" };
    const blocked = await guard(application.user(), "/api/reports?q=1", post);
    expect(blocked).toMatchObject({
      kind: "unauthenticated",
      loginUrl: "/idpauth/login/",
      reply: { status: 401, headers: { "X-Idpauth-Login": "/idpauth/login/" } },
    });
    expect(blocked?.reply.headers["Content-Type"]).toBe("text/html; charset=utf-8");
    expect(blocked?.reply.body).toContain('href="/idpauth/login/"');
    expect(blocked?.reply.body).toContain("What you sent has not been processed.");
  });

  it.each<[string, Record<string, string>]>([
    ["htmx", { "hx-request": "true" }],
    ["Turbo", { "x-turbo-request-id": "1" }],
    ["Unpoly", { "x-up-version": "3.14.3" }],
  ])("%s gets JSON although the browser sends no Sec-Fetch headers", async (_name, headers) => {
    for (const method of ["GET", "POST"]) {
      const options = { method, headers: { accept: "text/html", ...headers } };
      const blocked = await guard(application.user(), "/reports", options);
      expect([blocked?.reply.status, blocked?.reply.headers["Content-Type"]]).toEqual([
        401,
        "application/json; charset=utf-8",
      ]);
    }
  });

  it.each<[string, string | undefined]>([
    [`${OWN_ORIGIN}/orders?a=b%2Fc#x`, `${OWN_ORIGIN}/orders?a=b%2Fc#x`],
    [OWN_ORIGIN, `${OWN_ORIGIN}/`],
    ["/orders", undefined],
    ["", undefined],
    ["https://evil.example/", undefined],
    [`${OWN_ORIGIN}.evil.example/`, undefined],
    [`${OWN_ORIGIN}@evil.example/`, undefined],
    [`${OWN_ORIGIN}/a b`, undefined],
    [`${OWN_ORIGIN}/\\evil.example`, undefined],
    [`javascript:alert(1)//${OWN_ORIGIN}/`, undefined],
    [`${OWN_ORIGIN}/${"a".repeat(3000)}`, undefined],
  ])("HX-Redirect for a fragment of the page %j leads back to %j", async (current, page) => {
    const headers = { ...SCRIPT, "hx-request": "true", "hx-current-url": current };
    const blocked = await guard(application.user(), "/api/rows", { headers });
    const login = new URL(blocked?.reply.headers["HX-Redirect"] ?? "", OWN_ORIGIN);
    expect(login.origin + login.pathname).toBe(`${OWN_ORIGIN}/idpauth/login/`);
    expect(login.searchParams.get("origin_url") ?? undefined).toBe(page);
    expect([...login.searchParams.keys()]).toEqual(
      page === undefined ? [] : ["scheme", "origin_url"],
    );
    expect(blocked).toMatchObject({ loginUrl: "/idpauth/login/", reply: { status: 401 } });
  });

  it("only htmx gets HX-Redirect", async () => {
    for (const value of ["", "false", "1"]) {
      const headers = { ...SCRIPT, "hx-request": value, "hx-current-url": `${OWN_ORIGIN}/orders` };
      const blocked = await guard(application.user(), "/api/rows", { headers });
      expect([blocked?.reply.status, blocked?.reply.headers["HX-Redirect"]]).toEqual([
        401,
        undefined,
      ]);
    }
  });

  it.each([
    ["//evil.example/x", `${OWN_ORIGIN}//evil.example/x`],
    ["/\\evil.example/x", `${OWN_ORIGIN}/\\evil.example/x`],
    ["\\\\evil.example", `${OWN_ORIGIN}/`],
    ["https://evil.example/x", `${OWN_ORIGIN}/`],
    ["evil.example", `${OWN_ORIGIN}/`],
    ["@evil.example/", `${OWN_ORIGIN}/`],
    [".evil.example/", `${OWN_ORIGIN}/`],
    [":80@evil.example/", `${OWN_ORIGIN}/`],
    ["*", `${OWN_ORIGIN}/`],
    ["", `${OWN_ORIGIN}/`],
    ["/x\r\nSet-Cookie: a=b", `${OWN_ORIGIN}/x\r\nSet-Cookie: a=b`],
    [
      "/x&scheme=DEFAULT&origin_url=http://evil.example/#y",
      `${OWN_ORIGIN}/x&scheme=DEFAULT&origin_url=http://evil.example/#y`,
    ],
  ])("target %j never redirects elsewhere", async (target, page) => {
    const user = application.user();
    const blocked = await guard(user, target, { headers: BROWSER });
    expect(pageOf(blocked)).toBe(page);
    expect(blocked?.reply.headers["Location"]).not.toMatch(/[\r\n\\]/);
    await user.get(blocked?.reply.headers["Location"] ?? "");
    const end = String(
      (await application.auth.readSessionRecord(user.request("/")))?.["final_redirect"],
    );
    expect(new URL(end, OWN_ORIGIN).origin).toBe(OWN_ORIGIN);
    expect(end.startsWith("//")).toBe(false);
  });

  it.each([undefined, "", "a b", "evil.example/x"])(
    "a Host of %j does not break it",
    async (host) => {
      const request: IdpRequest = {
        ...application.user().request("/reports", { headers: BROWSER }),
        host,
      };
      expect((await application.auth.guard(request))?.reply.status).toBe(302);
    },
  );

  it("forwarded headers do not count", async () => {
    const headers = {
      ...BROWSER,
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      "x-original-url": "/evil",
    };
    expect(pageOf(await guard(application.user(), "/reports", { headers }))).toBe(
      `${OWN_ORIGIN}/reports`,
    );
  });

  it("leaves no store entry", async () => {
    const before = store.operations.length;
    await guard(application.user(), "/reports", { headers: BROWSER });
    await guard(application.user(), "/reports");
    expect(store.operations.length).toBe(before);
  });
});

describe("the requested page", () => {
  afterEach(() => application.stop());

  it("is at BASE_URL where that is set", async () => {
    const user = await start({ baseUrl: "https://app.example" });
    expect(pageOf(await guard(user, "/reports", { headers: BROWSER, host: "10.0.0.7:3000" }))).toBe(
      "https://app.example/reports",
    );
  });

  it("follows forwarded headers with trustProxy", async () => {
    const user = await start({ trustProxy: true });
    const headers = {
      ...BROWSER,
      "x-forwarded-host": "public.example",
      "x-forwarded-proto": "https",
    };
    expect(pageOf(await guard(user, "/reports", { headers }))).toBe(
      "https://public.example/reports",
    );
  });
});

describe("idpRequired and the policy", () => {
  afterEach(() => application.stop());

  async function signedIn(options: ApplicationOptions = {}): Promise<TestUser> {
    const user = await start(options);
    await user.signIn();
    return user;
  }

  it("lets a signed-in user pass, with every method", async () => {
    const user = await signedIn();
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE"])
      expect(await guard(user, "/reports", { method })).toBeUndefined();
  });

  it("refreshes like the probe", async () => {
    const user = await signedIn();
    pass(HOUR);
    expect(await guard(user, "/reports")).toBeUndefined();
    expect(application.provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(
      1,
    );
  });

  it("slides the idle stamp", async () => {
    const user = await signedIn({ sessionIdleTimeout: 600 });
    for (let access = 0; access < 3; access += 1) {
      pass(600);
      expect(await guard(user, "/reports")).toBeUndefined();
    }
    pass(601);
    expect(await guard(user, "/reports")).toMatchObject({ reason: "idle" });
  });

  it.each<[string, ApplicationOptions, number, string]>([
    ["maximum age", { sessionMaxAge: 1800 }, 1801, "max_age"],
    ["idle timeout", { sessionIdleTimeout: 600 }, 601, "idle"],
    ["no automatic refresh", { sessionAutoRefresh: false }, HOUR, "auto_refresh_off"],
    ["no refresh token", { provider: { issueRefreshToken: false } }, HOUR, "no_refresh_token"],
  ])(
    "blocks a session ended by %s and names the reason in the 401",
    async (_name, options, seconds, reason) => {
      const user = await signedIn(options);
      pass(seconds - 1);
      expect(await guard(user, "/api", {})).toBeUndefined();
      pass(seconds);
      const blocked = await guard(user, "/api", {});
      expect(JSON.parse(blocked?.reply.body ?? "")).toMatchObject({
        authenticated: false,
        user: null,
        error: "login_required",
        reason,
      });
      expect(pageOf(await guard(user, "/reports", { headers: BROWSER }))).toBe(
        `${OWN_ORIGIN}/reports`,
      );
    },
  );

  it("blocks with refresh_rejected when the provider refused", async () => {
    const user = await signedIn();
    application.provider.revokeAll();
    pass(HOUR);
    expect(await guard(user, "/api")).toMatchObject({
      kind: "unauthenticated",
      reason: "refresh_rejected",
    });
  });

  it.each([
    ["as JSON", {}, /^application\/problem\+json/],
    ["as a page", { headers: BROWSER }, /^text\/html/],
  ])("is 503 in an outage of the provider, %s, never 401 or 302", async (_name, options, type) => {
    const user = await signedIn();
    pass(HOUR);
    application.provider.fault("token", { kind: "reset" });
    const blocked = await guard(user, "/reports", options);
    expect(blocked?.kind).toBe("unavailable");
    expect(blocked?.reply.status).toBe(503);
    expect(blocked?.reply.headers["Retry-After"]).toMatch(/^[1-9]\d*$/);
    expect(blocked).toMatchObject({ retryAfter: Number(blocked?.reply.headers["Retry-After"]) });
    expect(blocked?.reply.headers["Content-Type"]).toMatch(type);
    expect(blocked).toMatchObject({ error: { code: "provider_unavailable", status: 503 } });
    application.provider.clearFaults();
    pass(61);
    expect(await guard(user, "/reports", options)).toBeUndefined();
  });

  it("tells a user who has sent a form in an outage that nothing was processed, without a link that would drop the input", async () => {
    const user = await signedIn();
    store.isDown = true;
    const blocked = await guard(user, "/reports", { method: "POST", headers: BROWSER });
    expect(blocked?.reply.status).toBe(503);
    expect(blocked?.reply.body).toMatch(
      /What you sent has not been processed\. To send it again, reload this page in \d+ seconds?\./,
    );
    expect(blocked?.reply.body).not.toContain("<a ");
  });

  it("is 503 in an outage of the store", async () => {
    const user = await signedIn();
    store.isDown = true;
    expect(await guard(user, "/reports")).toMatchObject({
      kind: "unavailable",
      reply: { status: 503 },
      error: { code: "store_unavailable" },
    });
  });

  it("shares one read of the store with the accessors of the same request, and adds nothing to it", async () => {
    const user = await signedIn();
    const request = Object.freeze(user.request("/reports"));
    store.operations.length = 0;
    expect(await application.auth.guard(request)).toBeUndefined();
    expect((await application.auth.getCredentials(request))?.token).toBeDefined();
    expect((await application.auth.getSession(request))?.user.email).toBe("ada@example.com");
    expect(await application.auth.checkIdpAuthentication(request)).toBe(true);
    await application.auth.readSessionRecord(request);
    expect(store.operations).toEqual(["get"]);
  });

  it("a request that lives long sees a logout", async () => {
    const user = await signedIn();
    const request = user.request("/events");
    expect(await application.auth.getCredentials(request)).not.toBeNull();
    await user.get("/idpauth/logout/");
    pass(1);
    expect(await application.auth.getCredentials(request)).toBeNull();
    expect(await application.auth.guard(request)).toMatchObject({ kind: "unauthenticated" });
  });
});

describe("requireSession", () => {
  afterEach(() => application.stop());

  it("gives the guard's session also after a slow rule that reads the session itself, and after a logout", async () => {
    const user = await start({ sessionIdleTimeout: HOUR });
    await user.signIn();
    const { auth } = application;
    const request = user.request("/reports");
    const signedInAt = application.clock.now() / 1000;
    const allow = async () => {
      pass(5);
      return (await auth.getSession(request)) !== null;
    };
    expect(await auth.guard(request, { allow })).toBeUndefined();
    await user.get("/idpauth/logout/");
    pass(5);
    expect(await auth.getSession(request)).toBeNull();
    const session = await auth.requireSession(request);
    expect(session).toMatchObject({
      user: { id: "ada-1815" },
      lastActive: signedInAt,
      expiresAt: signedInAt + HOUR,
    });
  });

  it("rejects for a request that the guard blocked, and for one that a guard of another component let pass", async () => {
    const user = await start();
    const { auth } = application;
    const missing = { name: "GuardMissingError", code: "guard_missing", status: 500 };
    const signedOut = user.request("/reports");
    await auth.guard(signedOut);
    await expect(auth.requireSession(signedOut)).rejects.toMatchObject(missing);
    await user.signIn();
    const forbidden = user.request("/reports");
    expect(await auth.guard(forbidden, { allow: () => false })).toMatchObject({
      kind: "forbidden",
    });
    await expect(auth.requireSession(forbidden)).rejects.toMatchObject(missing);
    const elsewhere = user.request("/reports");
    expect(await application.another().guard(elsewhere)).toBeUndefined();
    await expect(auth.requireSession(elsewhere)).rejects.toMatchObject(missing);
  });
});

describe("getSession with ifUnavailable", () => {
  afterEach(() => application.stop());

  it("gives the value during an outage of the store, and null for a signed-out user", async () => {
    const user = await start();
    await user.signIn();
    const ask = () => application.auth.getSession(user.request("/"), { ifUnavailable: undefined });
    expect((await ask())?.user.id).toBe("ada-1815");
    store.isDown = true;
    expect(await ask()).toBeUndefined();
    expect(
      await application.auth.getSession(application.user().request("/"), { ifUnavailable: "away" }),
    ).toBeNull();
  });

  it("clientState gives it, too", async () => {
    const user = await start();
    await user.signIn();
    const { auth } = application;
    const ask = () => auth.clientState(user.request("/"), { ifUnavailable: null });
    expect((await ask())?.user?.name).toBe("Ada Lovelace");
    store.isDown = true;
    expect(await ask()).toBeNull();
    await expect(auth.clientState(user.request("/"))).rejects.toBeInstanceOf(StoreUnavailableError);
  });

  it("hides neither a configuration error nor a missing value", async () => {
    const user = await start();
    await user.signIn();
    const broken = application.another({ secretKey: "" });
    await expect(
      broken.getSession(user.request("/"), { ifUnavailable: null }),
    ).rejects.toBeInstanceOf(ConfigurationError);
    store.isDown = true;
    const misspelt = { ifUnavailabel: null } as unknown as { ifUnavailable: null };
    await expect(application.auth.getSession(user.request("/"), misspelt)).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
  });
});

describe("[SM-8] a pending login while Object.prototype has credentials", () => {
  afterEach(() => application.stop());

  it.each(["the memory store", "a store outside the process"])(
    "over %s does not pass the guard, and no accessor takes it for a user",
    async (kind) => {
      await startOver<SessionStore>(kind === "the memory store" ? watchedStore : sealing);
      const user = application.user();
      await user.approve();
      const { auth } = application;
      const credentials = {
        token: "evil",
        token_uri: "",
        client_id: application.provider.clientId,
        client_secret: "",
        scopes: [],
      };
      const id_info = {
        sub: "eve",
        iss: application.provider.issuer,
        exp: Math.floor(application.clock.now() / 1000) + HOUR,
        email: "eve@example.com",
      };
      await polluted({ credentials, id_info }, async () => {
        expect((await guard(user, "/reports"))?.kind).toBe("unauthenticated");
        expect(await auth.checkIdpAuthentication(user.request("/"))).toBe(false);
        expect(await auth.getCredentials(user.request("/"))).toBeNull();
        expect(await auth.getSession(user.request("/"))).toBeNull();
        expect(await auth.getAccessToken(user.request("/"))).toBeNull();
        expect(await user.isSignedIn()).toBe(false);
      });
    },
  );
});
