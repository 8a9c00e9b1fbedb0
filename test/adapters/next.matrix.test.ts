// These two come before anything of Next.js: they install it, and prepare the process for it.
import "./applications/next-installed.js";
import { serveNext, type NextServer } from "./applications/next.js";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { NextRequest, type NextProxy } from "next/server.js";
import { RouteRequest } from "../../src/adapters/next/next-request.js";
import type { FetchIdpAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth, type NextIdpAuth } from "../../src/adapters/next/next.js";
import {
  memoryStore,
  type ClientState,
  type Credentials,
  type IdpAuthOptions,
  type Session,
  type SessionStore,
  type Subject,
} from "../../src/index.js";
import {
  ApplicationStarter,
  type StageOptions,
} from "../../packages/idpauth-conformance/src/adapter/application-starter.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import { builtNextApplication } from "./applications/next-build.js";
import { methodsOf } from "../support/store-with-replaceable-methods.mjs";

const HOUR = 3_600_000;

let server: NextServer;
let starter: ApplicationStarter | undefined;

beforeAll(async () => {
  server = await serveNext();
}, 300_000);
afterAll(() => server.close());

afterEach(() => starter?.stop());

function start(options: IdpAuthOptions = {}, routes?: StageOptions["routes"], csrf = false) {
  starter = new ApplicationStarter({ name: "Next.js", start: server.start }, "bundled");
  return starter.start({ options, csrf, ...(routes && { routes }) });
}

it("an own response that gives nothing is an error, and lets nobody in", async () => {
  const secret = {
    kind: "json",
    method: "GET",
    path: "/forgotten",
    guard: { mount: 0 },
    respond: () => "secret",
  } as const;
  const app = await start({}, [secret]);
  const page = await app.browser().navigate("/forgotten");
  expect([page.status, page.json()]).toEqual([
    500,
    { caught: "The response function `navigation` didn't return a Response." },
  ]);
  const script = await app.browser().get("/forgotten");
  expect([script.status, script.json()]).toEqual([
    500,
    { caught: "The response function `unauthenticated` didn't return a Response." },
  ]);
  expect([...app.ran]).toEqual([]);
});

it("an event stream ends with the reason when its session ends", async () => {
  const app = await start();
  const address = `${app.origin}/api/stream`;
  expect((await fetch(address)).status).toBe(401);
  const browser = await app.signedIn();
  const response = await fetch(address, {
    headers: { cookie: browser.cookies.header(new URL(address)) ?? "" },
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/event-stream",
  ]);
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    if (!text.includes("notice") && chunk.includes("notice"))
      await browser.get("/idpauth/logout/?response=json");
    text += chunk;
  }
  expect(text.replace(/^retry: \d+\n/, "")).toBe(
    ': open\n\nevent: notice\ndata: {"id":1}\n\nevent: ended\ndata: {"reason":"logout"}\n\n',
  );
});

const originUrl = (location: string | undefined) =>
  new URL(location ?? "", "http://unknown").searchParams.get("origin_url");

describe("pages", () => {
  it("behind the proxy are guarded before anything of them is rendered, and come back to the very page", async () => {
    const app = await start();
    const browser = app.browser();
    const page = await browser.follow("/members?q=a%2Fb&r=1");
    expect(
      page.trail.map(({ status, url }) => [
        status,
        url.origin === app.origin ? url.pathname : "provider",
      ]),
    ).toEqual([
      [302, "/members"],
      [302, "/idpauth/login/"],
      [302, "provider"],
      [302, "/idpauth/login-callback"],
      [200, "/members"],
    ]);
    expect(page.url.search).toBe("?q=a%2Fb&r=1");
    expect(page.text).toContain("Ada Lovelace");
    expect(page.headers["cache-control"]).toMatch(/no-store/);
    expect((await browser.navigate("/members/grace")).text).toContain(
      "The access token <!-- -->is here",
    );
    expect(app.caught).toEqual([]);
  });

  it("that are guarded are not stored, a prerendered one neither, which Next.js itself would let every cache keep", async () => {
    const app = await start();
    const browser = await app.signedIn();
    for (const page of ["/members", "/members/ada", "/members/notice"]) {
      const { status, headers } = await browser.navigate(page);
      expect([status, headers["cache-control"]], page).toEqual([200, "private, no-store"]);
    }
    // A component cannot set headers; Next.js says so for every page that is rendered for each
    // request.
    expect((await browser.navigate("/alone")).headers["cache-control"]).toMatch(
      /^private.*no-store/,
    );
  });

  it("requested by a client-side navigation respond with 401 when signed out, which makes Next.js load the address as a whole", async () => {
    const app = await start();
    const answer = await app
      .browser()
      .get("/members?_rsc=abc", { headers: { accept: "*/*", rsc: "1" } });
    expect([answer.status, answer.json()]).toMatchObject([
      401,
      { error: "login_required", login_url: "/idpauth/login/" },
    ]);
  });

  it("that guard themselves redirect to the login: to no page in particular, or to the one they name", async () => {
    const app = await start({ authFinalRedirectUrl: "/welcome" });
    const alone = await app.browser().navigate("/alone");
    expect([alone.status, alone.location]).toEqual([307, `${app.origin}/idpauth/login/`]);
    const placed = await app.browser().navigate("/alone/placed?q=x%20y");
    expect([placed.status, originUrl(placed.location)]).toEqual([
      307,
      `${app.origin}/alone/placed?q=x%20y`,
    ]);
    const browser = await app.signedIn();
    expect((await browser.navigate("/alone")).text).toContain("Alone with <!-- -->Ada Lovelace");
    expect((await app.browser().follow("/alone/placed?q=x%20y")).text).toContain(
      "Placed at <!-- -->x y",
    );
  });

  it("link to a login that returns to them if the proxy forwards their address, and otherwise to the page they name", async () => {
    const app = await start();
    const loginsOf = ({ text }: { text: string }) =>
      [...text.matchAll(/<a href="(\/idpauth\/login\/[^"]+|\/idpauth\/login\/)">Sign in/g)].map(
        ([, href = ""]) => href,
      );
    const logins = loginsOf(await app.browser().navigate("/welcome?x=1"));
    expect(logins.map((href) => originUrl(href.replaceAll("&amp;", "&")))).toEqual([
      null,
      null,
      `${app.origin}/welcome`,
    ]);
    const [member = ""] = loginsOf(await (await app.signedIn()).navigate("/members?q=a%2Fb"));
    expect(originUrl(member.replaceAll("&amp;", "&"))).toBe(`${app.origin}/members?q=a%2Fb`);
  });

  it.each(["/members", "/alone", "/alone/placed?q=x"])(
    "do not loop if every login has prompt=none: %s",
    async (page) => {
      const app = await start({ loginPrompt: "none", authFinalRedirectUrl: page });
      const end = await app.browser().follow(page);
      expect([end.status, end.url.pathname, end.url.search]).toEqual([
        200,
        "/idpauth/",
        "?error=login_required",
      ]);
      expect(app.provider.requestsTo("authorize")).toHaveLength(1);
    },
  );

  it("are not redirected elsewhere by a forged header of the proxy's", async () => {
    const app = await start();
    for (const forged of [
      "//evil.example/",
      "https://evil.example/",
      "/\\evil.example",
      "@evil.example",
    ]) {
      const { location } = await app
        .browser()
        .navigate("/alone", { headers: { "x-idpauth-target": forged } });
      expect(new URL(originUrl(location) ?? app.origin).origin).toBe(app.origin);
      const guarded = await app
        .browser()
        .navigate("/members", { headers: { "x-idpauth-target": forged } });
      expect(originUrl(guarded.location)).toBe(`${app.origin}/members`);
    }
  });

  it("for everybody know who is there, and server actions do", async () => {
    const app = await start();
    const browser = app.browser();
    const page = await browser.navigate("/welcome");
    expect(page.text).toContain("Hello, <!-- -->stranger");
    await app.signedIn(browser);
    expect((await browser.navigate("/welcome")).text).toContain("Hello, <!-- -->Ada Lovelace");
    const action = /name="(\$ACTION_ID_[0-9a-f]+)"/.exec(page.text)?.[1] ?? "";
    const form = [
      "--x",
      `Content-Disposition: form-data; name="${action}"`,
      "",
      "",
      "--x--",
      "",
    ].join("\r\n");
    const post = {
      method: "POST",
      body: form,
      headers: { "content-type": "multipart/form-data; boundary=x", origin: app.origin },
    };
    expect((await browser.get("/welcome", post)).location).toBe("/members?q=ada%40example.com");
    expect((await app.browser().get("/welcome", post)).location).toContain(
      "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP",
    );
  });

  it("behind the proxy never run a server action of a signed-out user: it gets 401, with the login for the router of Next.js alone", async () => {
    const app = await start();
    const call = (headers: Record<string, string>) =>
      app.browser().get("/members?q=a%2Fb;c", { method: "POST", body: "[]", headers });
    const action = await call({
      "next-action": "0".repeat(42),
      accept: "text/x-component",
      "content-type": "text/plain;charset=UTF-8",
    });
    expect([action.status, action.json()]).toMatchObject([401, { error: "login_required" }]);
    const [login, type, ...rest] = String(action.headers["x-action-redirect"]).split(";");
    expect([login?.startsWith("/idpauth/login/?"), originUrl(login), type, rest]).toEqual([
      true,
      `${app.origin}/members?q=a%2Fb%3Bc`,
      "replace",
      [],
    ]);
    const other = await call({ accept: "application/json" });
    expect([other.status, other.headers["x-action-redirect"]]).toEqual([401, undefined]);
  });

  it("with a rule of their own are for users who meet it; others get what the page chose, or end in error.tsx", async () => {
    const app = await start();
    const browser = await app.signedIn();
    const outcomes: Record<string, unknown> = {};
    for (const rule of ["admin", "hidden", "elsewhere", "forgotten"]) {
      const { status, location, text } = await browser.navigate(`/alone/ruled?rule=${rule}`);
      expect(text).not.toContain("Ruled, with");
      outcomes[rule] = [status, location ?? /digest\W+(forbidden)/.exec(text)?.[1]];
    }
    expect(outcomes).toEqual({
      admin: [500, "forbidden"],
      hidden: [404, undefined],
      elsewhere: [307, "/welcome"],
      forgotten: [500, "forbidden"],
    });
    const admin = app.browser();
    const login = "/idpauth/login/?origin_url=%2Falone%2Fruled%3Frule%3Dadmin";
    await admin.navigate(
      await app.approved(admin, login, { sub: "root", email: "root@example.com", name: "admin" }),
    );
    for (const rule of ["admin", "hidden"]) {
      const page = await admin.navigate(`/alone/ruled?rule=${rule}`);
      expect([page.status, page.text]).toEqual([200, expect.stringContaining("Ruled, with ")]);
    }
  });

  it("with a rule of their own send users to the login that the rule requires, and back to where the page says", async () => {
    const app = await start();
    const browser = app.browser();
    const loginOf = async (page: string) => {
      const { status, location = "" } = await browser.navigate(page);
      const login = new URL(location);
      expect([status, login.origin + login.pathname]).toEqual([
        307,
        `${app.origin}/idpauth/login/`,
      ]);
      return Object.fromEntries(login.searchParams);
    };
    const recent = {
      scheme: "PRESERVE_ORIGIN_QP",
      origin_url: `${app.origin}/alone/ruled?rule=recent`,
      max_age: "60",
    };
    expect(await loginOf("/alone/ruled?rule=recent")).toEqual(recent);
    expect(await loginOf("/alone/ruled?rule=unplaced")).toEqual({ max_age: "60" });
    await app.signedIn(browser);
    app.clock.advance(70_000);
    expect(await loginOf("/alone/ruled?rule=recent")).toEqual(recent);
    expect(await loginOf("/alone/ruled?rule=unplaced")).toEqual({ max_age: "60" });
    expect((await browser.follow("/alone/ruled?rule=recent")).text).toContain("Ruled, with");
  });

  it("behind a rule in the proxy are rendered only for users who meet it; others get the application's page with 403, after one read of the session", async () => {
    const counting = countingStore();
    const app = await start({ store: counting });
    expect((await app.browser().navigate("/members/admin")).status).toBe(302);
    const browser = await app.signedIn();
    counting.reads = 0;
    const refused = await browser.navigate("/members/admin");
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining("Only for administrators"),
    ]);
    expect(counting.reads).toBe(1);
    const admin = app.browser();
    await admin.navigate(
      await app.approved(admin, "/idpauth/login/", {
        sub: "root",
        email: "root@example.com",
        name: "admin",
      }),
    );
    counting.reads = 0;
    expect((await admin.navigate("/members/admin?q=1")).text).toContain("The access token");
    // One of the proxy, one of the page.
    expect(counting.reads).toBe(2);
  });

  it("in an outage respond with 503 behind the proxy; alone they end in error.tsx, which can recognize them by the digest", async () => {
    const app = await start();
    const browser = await app.signedIn();
    app.clock.advance(HOUR);
    app.provider.fault("token", { kind: "status", status: 503 });
    const guarded = await browser.navigate("/members");
    expect([guarded.status, guarded.headers["retry-after"]]).toEqual([503, "1"]);
    const alone = await browser.navigate("/alone");
    expect(alone.status).toBe(500);
    expect(alone.text).toContain("provider_unavailable");
    expect(app.caught).toMatchObject([{ code: "provider_unavailable" }]);
    app.provider.clearFaults();
    app.clock.advance(61_000);
    expect((await browser.navigate("/members")).status).toBe(200);
  });
});

it("auth.csrf before auth.proxy refuses a POST of another origin to a page, and lets the others come to the guard", async () => {
  const app = await start({}, undefined, true);
  const post = (site: string) =>
    app.browser().get("/members", { method: "POST", headers: { "sec-fetch-site": site } });
  const refused = await post("same-site");
  expect([refused.status, refused.json().code]).toEqual([403, "cross_origin"]);
  expect((await post("same-origin")).json()).toMatchObject({ error: "login_required" });
  expect((await app.browser().follow("/members")).text).toContain("Ada Lovelace");
});

describe("one session for all of Next.js's bundles", () => {
  it("pages, route handlers and the proxy share sessions in memory, and one refresh", async () => {
    const app = await start();
    const browser = await app.signedIn();
    const before = (globalThis as Record<symbol, unknown[] | undefined>)[Symbol.for("idpauth.next")]
      ?.length;
    app.clock.advance(HOUR);
    const answers = await Promise.all(
      ["/members", "/api/who", "/welcome", "/reports", "/alone"].map((page) => browser.get(page)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.every(({ text }) => text.includes("Ada Lovelace"))).toBe(true);
    expect(app.provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
    expect(
      (globalThis as Record<symbol, unknown[] | undefined>)[Symbol.for("idpauth.next")],
    ).toHaveLength(before ?? -1);
  });

  it("a guard and accessors without a request share one read of the session", async () => {
    const counting = countingStore();
    const app = await start({ store: counting });
    const browser = await app.signedIn();
    counting.reads = 0;
    const answer = await browser.get("/api/who");
    expect(answer.json()).toMatchObject({
      user: { name: "Ada Lovelace" },
      keys: ["user", "claims", "data", "signedInAt", "lastActive", "expiresAt"],
      required: ["ada-1815", "ada-1815"],
    });
    expect(counting.reads).toBe(1);
    expect((await app.browser().get("/api/who")).status).toBe(401);
  });

  it("requireSession in an application's own proxy gives the session that the guard saw, with and without the request", async () => {
    const app = await start();
    const headers = { "x-test-own-proxy": "yes" };
    expect((await app.browser().get("/members", { headers })).status).toBe(401);
    const answer = await (await app.signedIn()).get("/members", { headers });
    expect([answer.status, answer.json()]).toEqual([200, ["ada-1815", "ada-1815"]]);
  });

  it("getSession and clientState with ifUnavailable give that value in an outage, with and without a request", async () => {
    const seen: unknown[] = [];
    const app = await start({}, [
      {
        kind: "json",
        method: "GET",
        path: "/public",
        async respond([auth], raw) {
          const next = (auth as unknown as { own: NextIdpAuth }).own;
          seen.push(
            await next.getSession({ ifUnavailable: null }),
            await next.getSession(raw as Request, { ifUnavailable: "away" }),
            await next.clientState({ ifUnavailable: null }),
            await next.clientState(raw as Request, { ifUnavailable: "away" }),
          );
          return {};
        },
      },
    ]);
    const browser = await app.signedIn();
    app.clock.advance(HOUR);
    app.provider.fault("token", { kind: "reset" });
    expect((await browser.get("/public")).status).toBe(200);
    expect(seen).toEqual([null, "away", null, "away"]);
  });

  it("accessors without a request know the current session: in a device list, and as the one that stays", async () => {
    const seen: unknown[] = [];
    const ask = (
      path: string,
      answer: (auth: NextIdpAuth, subject: Subject, request: Request) => Promise<unknown>,
    ) => ({
      kind: "json" as const,
      method: "GET" as const,
      path,
      async respond([auth]: readonly object[], raw: object) {
        const next = (auth as { own: NextIdpAuth }).own;
        const { claims } = (await next.getSession())!;
        seen.push(await answer(next, claims, raw as Request));
        return {};
      },
    });
    const app = await start({}, [
      ask("/devices", async (auth, subject) =>
        (await auth.listSessions(subject)).map(({ current }) => current).toSorted(),
      ),
      ask(
        "/token",
        async (auth) =>
          (await auth.getAccessToken({ minValidity: 60 })) === app.newest("access_token"),
      ),
      ask(
        "/token-of-request",
        async (auth, _subject, raw) =>
          (await auth.getAccessToken(raw)) === app.newest("access_token"),
      ),
      ask("/others", (auth, subject) => auth.endAllSessions(subject, { except: "current" })),
      ask("/others-of-request", (auth, subject, raw) =>
        auth.endAllSessions(subject, { except: raw }),
      ),
      ask("/all", (auth, subject) => auth.endAllSessions(subject)),
    ]);
    await app.signedIn();
    const browser = await app.signedIn();
    for (const path of ["/devices", "/token", "/token-of-request", "/others"])
      await browser.get(path);
    await app.signedIn();
    for (const path of ["/others-of-request", "/all"]) await browser.get(path);
    expect(seen).toEqual([[false, true], true, true, 1, 1, 1]);
  });

  it("a store given as a function is opened once, when it is first needed", () => {
    const opened: SessionStore[] = [];
    const options = () => ({ ...SETTINGS, store: () => opened[opened.push(memoryStore()) - 1]! });
    const [one, two] = [idpAuth(options()), idpAuth(options())];
    expect(opened).toHaveLength(0);
    one.start();
    two.start();
    expect(opened).toHaveLength(1);
    idpAuth({ ...options(), mountPath: "/partners/" }).start();
    expect(opened).toHaveLength(2);
  });
});

describe("a store given as a function", () => {
  it.each<[string, unknown]>([
    ["a database client", { defineCommand: () => undefined, disconnect: () => undefined }],
    ["nothing", undefined],
    ["a promise of a store", Promise.resolve(memoryStore())],
  ])("that returns %s does not start: E006", (_name, returned) => {
    const auth = idpAuth({
      ...SETTINGS,
      mountPath: `/${_name.replaceAll(" ", "-")}/`,
      store: () => returned as SessionStore,
    });
    expect(() => auth.start()).toThrow("E006");
  });
});

describe("the endpoints", () => {
  it.each(["rsc", "next-router-prefetch"])(
    "fetched by the router (%s) do nothing: the click that follows does",
    async (header) => {
      const app = await start();
      const browser = await app.signedIn();
      for (const endpoint of ["/idpauth/login/", "/idpauth/logout/"]) {
        let answer = await browser.get(endpoint, { headers: { [header]: "1" } });
        // Next.js itself wants a hash of such headers in the address.
        if (header === "rsc")
          answer = await browser.get(answer.location ?? "", { headers: { [header]: "1" } });
        expect([answer.status, answer.setCookies]).toEqual([503, []]);
      }
      expect((await browser.get("/idpauth/session")).json().authenticated).toBe(true);
    },
  );

  it("are never rendered at build time, nor is a page that reads the session; and the build needs no secret", async () => {
    await start();
    const build = path.join(await builtNextApplication(), ".next");
    const { routes } = JSON.parse(
      readFileSync(path.join(build, "prerender-manifest.json"), "utf8"),
    ) as { routes: object };
    // The page that the proxy alone guards, and the one of its 403. They say nothing about a user.
    expect(Object.keys(routes).filter((route) => !route.startsWith("/_"))).toEqual([
      "/members/notice",
      "/no-access",
    ]);
    expect(existsSync(path.join(build, "server/app/idpauth.body"))).toBe(false);
  });

  it("are not reached by targets that Next.js's own router corrects, refuses or fails at; no cookie is touched", async () => {
    const app = await start({ debug: true });
    const browser = await app.signedIn();
    const cookies = browser.cookies.header(new URL(app.origin)) ?? "";
    for (const [line, status] of [
      ["GET //idpauth//debug", 308],
      ["GET /idpauth//logout/", 308],
      ["GET /idpauth\\logout/", 308],
      ["GET http://evil.example/idpauth/logout/", 308],
      ["GET //reports", 308],
      ["GET /idpauth/%zz/logout/", 500],
      ["TRACE /idpauth/logout/", 500],
      ["PURGE /idpauth/logout/", 400],
    ] as const) {
      const answer = await rawRequest(
        app.port,
        `${line} HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nCookie: ${cookies}\r\n\r\n`,
      );
      expect([line, answer.status, answer.header("set-cookie")]).toEqual([line, status, undefined]);
    }
    expect((await browser.get("/idpauth/session")).json().authenticated).toBe(true);
  });
});

describe("basePath of next.config", () => {
  it.each([
    ["/area/reports?a=1", "/reports?a=1"],
    ["/area?a=1", "/?a=1"],
    ["/area", "/"],
  ])("is taken off in the proxy, as Next.js takes it off in route handlers: %s", (path, target) => {
    const seen = new RouteRequest(new NextRequest(`http://localhost:3000${path}`), "/area");
    expect(seen.target).toBe(target);
  });
});

describe("types", () => {
  it("of an application with pages, actions and handlers check as Next.js projects are set up", async () => {
    const root = fileURLToPath(new URL("../../", import.meta.url));
    const tsc = [
      path.join(root, "node_modules/typescript/bin/tsc"),
      "-p",
      path.join(root, "test/adapters/next-application"),
    ];
    const outcome = await promisify(execFile)(process.execPath, tsc).catch(
      (error: unknown) => error,
    );
    expect(outcome).toMatchObject({ stdout: "" });
  }, 120_000);

  it("infer without casts", () => {
    const auth = idpAuth();
    expectTypeOf(auth).toEqualTypeOf<NextIdpAuth>();
    expectTypeOf(auth.getCredentials).toBeCallableWith(new NextRequest("http://localhost/"));
    expectTypeOf<ReturnType<typeof auth.getSession>>().resolves.toEqualTypeOf<Session | null>();
    const publicPages = () => [
      auth.getSession({ ifUnavailable: "away" }),
      auth.getSession(new NextRequest(""), { ifUnavailable: "away" }),
    ];
    expectTypeOf(publicPages).returns.items.resolves.toEqualTypeOf<Session | "away" | null>();
    const layouts = () => [
      auth.clientState({ ifUnavailable: null }),
      auth.clientState(new NextRequest(""), { ifUnavailable: null }),
    ];
    expectTypeOf(layouts).returns.items.resolves.toEqualTypeOf<ClientState | null>();
    expectTypeOf<ReturnType<typeof auth.clientState>>().resolves.toEqualTypeOf<ClientState>();
    expectTypeOf(auth.requireSession).returns.resolves.toEqualTypeOf<Session>();
    expectTypeOf(auth.requireSession).toBeCallableWith(new NextRequest("http://localhost/"));
    expectTypeOf(auth.requireSession).toBeCallableWith({ returnTo: "/reports" });
    expectTypeOf(auth.getAccessToken).toBeCallableWith({ minValidity: 60 });
    expectTypeOf(auth.getAccessToken).toBeCallableWith(new NextRequest("http://localhost/"), {});
    expectTypeOf(auth.endAllSessions).toBeCallableWith(
      { iss: "", sub: "" },
      { except: new NextRequest("http://localhost/") },
    );
    expectTypeOf(auth.endAllSessions).toBeCallableWith({ iss: "", sub: "" }, { except: "current" });
    // Every name that another framework has, except what mounts it.
    expectTypeOf<Exclude<keyof FetchIdpAuth, keyof NextIdpAuth>>().toEqualTypeOf<
      "fetch" | "guard"
    >();
    expectTypeOf(auth.getCredentials).returns.resolves.toEqualTypeOf<Credentials | null>();
    expectTypeOf(auth.proxy).toExtend<NextProxy>();
    const plain = auth.idpRequired((request) => {
      expectTypeOf(request).toEqualTypeOf<NextRequest>();
      return Response.json({});
    });
    expectTypeOf(plain).returns.resolves.toEqualTypeOf<Response>();
    const withParams = auth.idpRequired(
      async (_request, { params }: { params: Promise<{ id: string }> }) =>
        new Response((await params).id),
    );
    expectTypeOf(withParams).toBeCallableWith(new NextRequest("http://localhost/"), {
      params: Promise.resolve({ id: "1" }),
    });
    expectTypeOf(withParams).returns.resolves.toEqualTypeOf<Response>();
    auth.idpRequiredWith({
      navigation: (request, _context, { loginUrl }) =>
        Response.redirect(new URL(loginUrl, request.url), 302),
      unavailable: (_request, _context, { error }) =>
        Response.json({ code: error.code }, { status: error.status }),
    });
    // @ts-expect-error an endpoint that does not exist
    expect(auth.handlers.BREW).toBeUndefined();
  });
});

const SETTINGS: IdpAuthOptions = {
  env: {},
  secretKey: "a secret key of at least 32 bytes",
  clientId: "client",
  clientSecret: "secret",
  issuer: "https://idp.example",
  log: false,
};

/** A store that counts how often a session is read. */
function countingStore(): SessionStore & { reads: number } {
  const store = memoryStore({ clock: new TestClock() });
  return {
    ...methodsOf(store),
    name: "counting",
    reads: 0,
    get(key) {
      this.reads += 1;
      return store.get(key);
    },
  };
}
