import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  startApplication,
  OWN_ORIGIN,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import { textReply } from "../support/text-reply.js";
import { application, start, store } from "../support/one-application.js";
import { AUTHORIZATION_PARAMETERS } from "../support/authorization-parameters.js";

const LOGIN = "/idpauth/login/";
const HTML = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const ALL_SCHEMES = ["PRESERVE_ORIGIN_QP", "PRESERVE_ORIGIN_HP", "LANDING_PAGE", "DEFAULT"];
const PAGE = `${OWN_ORIGIN}/reports?year=2024#q3`;

/** One application for the whole block. */
function sharedApplication(options: ApplicationOptions = {}): void {
  beforeAll(async () => {
    await start(options);
  });
  afterAll(() => application.stop());
}

/** Where the newest login of this user leads. */
async function destination(user: TestUser): Promise<unknown> {
  return (await application.auth.readSessionRecord(user.request("/")))?.["final_redirect"];
}

const query = (parameters: Record<string, string>) =>
  `${LOGIN}?${new URLSearchParams(parameters).toString()}`;

describe("a login that a provider or a portal starts (OpenID Connect Core section 4)", () => {
  sharedApplication({ authFinalRedirectUrl: "/home" });

  it.each([
    ["leads back to the page", { target_link_uri: PAGE }, PAGE],
    ["with the provider's `iss`", { target_link_uri: PAGE, iss: "own" }, PAGE],
    ["falls back for another origin", { target_link_uri: "https://evil.example/" }, "/home"],
    ["falls back for a backslash", { target_link_uri: `${OWN_ORIGIN}\\x` }, "/home"],
    ["takes origin_url first", { target_link_uri: `${OWN_ORIGIN}/a`, origin_url: PAGE }, PAGE],
    ["takes an explicit scheme", { target_link_uri: PAGE, scheme: "LANDING_PAGE" }, "/home"],
  ])("%s", async (_name, { iss, ...parameters }: Record<string, string>, expected) => {
    const user = application.user();
    const sent = { ...parameters, ...(iss !== undefined && { iss: application.provider.issuer }) };
    expect((await user.get(query(sent))).status).toBe(302);
    expect(await destination(user)).toBe(expected);
  });

  it.each(["iss=https%3A%2F%2Fevil.example", "iss=", "iss=OWN&iss=OWN", "iss=OWN%2F"])(
    "with %s is 400 and starts nothing",
    async (wrong) => {
      const user = application.user();
      const own = encodeURIComponent(application.provider.issuer);
      const answer = await user.get(`${LOGIN}?${wrong.replaceAll("OWN", own)}`, {
        headers: { accept: "application/json" },
      });
      expect([answer.status, user.cookies.size]).toEqual([400, 0]);
      expect(JSON.stringify(answer.json())).not.toContain("evil");
    },
  );
});

describe("scheme and response", () => {
  afterEach(() => application.stop());

  const header = { "x-origin-url": PAGE };
  it.each([
    ["PRESERVE_ORIGIN_QP", "redirect", PAGE],
    ["PRESERVE_ORIGIN_QP", "json", PAGE],
    ["PRESERVE_ORIGIN_HP", "json", PAGE],
    ["LANDING_PAGE", "redirect", "/idpauth/"],
    ["LANDING_PAGE", "json", "/idpauth/"],
    ["DEFAULT", "redirect", "/idpauth/"],
    ["DEFAULT", "json", "/idpauth/"],
    ["preserve_origin_qp", "REDIRECT", PAGE],
    ["Preserve_Origin_Hp", "Json", PAGE],
    ["landing_page", "JSON", "/idpauth/"],
    ["Default", "Redirect", "/idpauth/"],
  ])("%s with %s works and redirects to %s", async (scheme, response, end) => {
    const user = await start();
    const answer = await user.get(query({ scheme, response, origin_url: PAGE }), {
      headers: header,
    });
    if (response.toLowerCase() === "json") {
      expect(answer.status).toBe(200);
      expect(answer.headers["Content-Type"]).toBe("application/json; charset=utf-8");
      expect(Object.keys(answer.json())).toEqual(["redirect_to"]);
    } else {
      expect(answer.status).toBe(302);
      expect(answer.body).toBeUndefined();
    }
    const authorizationUrl =
      response.toLowerCase() === "json" ? (answer.json().redirect_to as string) : answer.location;
    expect(authorizationUrl).toMatch(`${application.provider.issuer}/authorize?`);
    const callback = new URL(await application.provider.signInCode(authorizationUrl));
    const end302 = await user.get(`${callback.pathname}${callback.search}`);
    expect([end302.status, end302.location]).toEqual([302, end]);
  });

  it("without parameters is DEFAULT with redirect", async () => {
    const user = await start();
    expect((await user.get(LOGIN)).status).toBe(302);
    expect(await destination(user)).toBe("/idpauth/");
  });

  it.each([
    ["LANDING_PAGE", "/welcome"],
    ["DEFAULT", "/welcome"],
    ["DEFAULT", "https://elsewhere.example/start?x=1"],
  ])(
    "%s redirects to IDP_AUTH_FINAL_REDIRECT_URL %s, for any origin that is sent along",
    async (scheme, authFinalRedirectUrl) => {
      const user = await start({ authFinalRedirectUrl });
      await user.get(query({ scheme, origin_url: PAGE }), { headers: header });
      expect(await destination(user)).toBe(authFinalRedirectUrl);
    },
  );

  it.each([
    ["PRESERVE_ORIGIN_QP", { "x-origin-url": PAGE }, {}],
    ["PRESERVE_ORIGIN_HP", {}, { origin_url: PAGE }],
  ])("%s reads only its own place for the origin", async (scheme, headers, parameters) => {
    const user = await start();
    await user.get(query({ scheme, response: "json", ...parameters }), { headers });
    expect(await destination(user)).toBe("/idpauth/");
  });

  it("select_account=true, as the link Use another account has it, lets the user pick an account and does not require consent again", async () => {
    const user = await start();
    const promptOf = async (query: string) =>
      new URL((await user.get(`${LOGIN}${query}`)).location).searchParams.get("prompt");
    expect(await promptOf("")).toBe("consent");
    expect(await promptOf("?select_account=true")).toBe("login");
    expect(await promptOf("?select_account=yes")).toBe("consent");
    application.provider.discoveryDocument = (document) => ({
      ...document,
      prompt_values_supported: ["login", "select_account"],
    });
    application.clock.advance(3_600_000);
    await promptOf("");
    await expect.poll(() => promptOf("?select_account=true")).toBe("select_account");
    await user.signIn();
    expect((await user.get("/idpauth/")).body).toContain(
      'href="/idpauth/login/?select_account=true">Use another account',
    );
  });

  it("other query parameters are ignored", async () => {
    const user = await start();
    const answer = await user.get(`${LOGIN}?credentials=x&__proto__=y&utm=z&scheme=default`);
    expect(answer.status).toBe(302);
    expect(answer.location).not.toMatch(/utm|__proto__|credentials/);
  });
});

describe("an invalid scheme or response is 400 with the valid options", () => {
  const schemeOnly = { scheme: ALL_SCHEMES };
  const responseOnly = { response: ["redirect", "json"] };
  const rows: [string, string, Record<string, string[]>][] = [
    ["unknown scheme", "scheme=PRESERVE", schemeOnly],
    ["empty scheme", "scheme=", schemeOnly],
    ["scheme without a value", "scheme", schemeOnly],
    ["scheme with white space", "scheme=%20DEFAULT", schemeOnly],
    ["repeated scheme", "scheme=DEFAULT&scheme=LANDING_PAGE", schemeOnly],
    ["scheme repeated with the same value", "scheme=DEFAULT&scheme=DEFAULT", schemeOnly],
    ["name of an object's member", "scheme=__proto__", schemeOnly],
    ["unknown response", "response=xml", responseOnly],
    ["empty response", "response=", responseOnly],
    ["repeated response", "response=json&response=json", responseOnly],
    ["both", "scheme=nope&response=nope", { ...schemeOnly, ...responseOnly }],
    ["both empty", "scheme=&response=", { ...schemeOnly, ...responseOnly }],
    ["a good scheme with a bad response", "scheme=PRESERVE_ORIGIN_HP&response=nope", responseOnly],
  ];

  sharedApplication();

  it.each(rows)("%s, as problem+json", async (_name, raw, options) => {
    const answer = await application.user().get(`${LOGIN}?${raw}`);
    expect(answer.status).toBe(400);
    expect(answer.headers["Content-Type"]).toBe("application/problem+json; charset=utf-8");
    const { detail, ...problem } = answer.json();
    expect(problem).toEqual({
      type: "about:blank",
      title: "A query parameter is invalid",
      status: 400,
      code: "invalid_parameter",
      valid_options: options,
    });
    for (const [name, values] of Object.entries(options))
      for (const part of [name, ...values]) expect(detail).toContain(part);
    expect(store.operations).toEqual([]);
    expect(answer.setCookies ?? []).toEqual([]);
    expect(application.provider.requests).toEqual([]);
  });

  it.each(rows)("%s, as a page where Accept prefers HTML", async (_name, raw, options) => {
    const answer = await application.user().get(`${LOGIN}?${raw}`, { headers: HTML });
    expect(answer.status).toBe(400);
    expect(answer.headers["Content-Type"]).toBe("text/html; charset=utf-8");
    for (const value of Object.values(options).flat()) expect(answer.body).toContain(value);
    expect(answer.body).toContain("invalid_parameter");
    expect(answer.body).not.toContain("nope");
  });

  it.each([
    "scheme=PRESERVE_ORIGIN_HP",
    "scheme=PRESERVE_ORIGIN_HP&response=redirect",
    "scheme=preserve_origin_hp&response=REDIRECT",
  ])("PRESERVE_ORIGIN_HP requires response=json: %s", async (raw) => {
    const answer = await application
      .user()
      .get(`${LOGIN}?${raw}`, { headers: { "x-origin-url": PAGE } });
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({
      code: "invalid_parameter",
      valid_options: { response: ["json"] },
    });
    expect(answer.json().detail).toContain("PRESERVE_ORIGIN_HP requires response=json");
    expect(store.operations).toEqual([]);
  });

  it.each([
    ["application/json", "json"],
    ["application/problem+json", "json"],
    ["*/*", "json"],
    ["image/png", "json"],
    ["text/html;q=0.4, application/json;q=0.5", "json"],
    ["text/html;q=0, */*", "json"],
    ["text/html", "html"],
    ["TEXT/HTML", "html"],
    ["application/json;q=0.4, text/html;q=0.5", "html"],
  ])("Accept: %s gets %s", async (accept, kind) => {
    const answer = await application.user().get(`${LOGIN}?scheme=x`, { headers: { accept } });
    expect(answer.headers["Content-Type"]).toMatch(
      kind === "json" ? /^application\/problem\+json/ : /^text\/html/,
    );
  });
});

describe("[BCP-1] origins", () => {
  sharedApplication({ authFinalRedirectUrl: "/start" });

  const BAD = [
    "",
    "/reports",
    "reports",
    "//app.example/reports",
    "https://app.example/reports",
    "http://app.example:80/reports",
    "http://app.example:8080/",
    "http://APP.example/",
    "HTTP://app.example/",
    "http://app.example.evil.example/",
    "http://app.example@evil.example/",
    "http://app.exampl",
    "http://user@app.example/",
    "http://user:secret@app.example/",
    "http://evil.example/",
    "http://evil.example/?http://app.example/",
    "http://app.example\\@evil.example/",
    "http://app.example/\\evil.example",
    "http:\\\\app.example/",
    "http:/app.example/",
    "http:app.example/",
    " http://app.example/",
    "http://app.example/ ",
    "http://app.example/a b",
    "http://app.example/\tb",
    "http://app.example/\r\nSet-Cookie: a=b",
    "http://app.example/\u0000",
    "http://app.example./",
    "http://app.example:/",
    "javascript:alert(1)//http://app.example/",
    "data:text/html,x",
    "null",
    "http://[::1]/",
    `http://app.example/${"x".repeat(2048)}`,
    "http%3A%2F%2Fapp.example%2F",
  ];
  const places = (raw: string): [string, (user: TestUser) => Promise<unknown>][] => [
    ["origin_url", (user) => user.get(query({ scheme: "PRESERVE_ORIGIN_QP", origin_url: raw }))],
    [
      "X-ORIGIN-URL",
      (user) =>
        user.get(query({ scheme: "PRESERVE_ORIGIN_HP", response: "json" }), {
          headers: { "x-origin-url": raw },
        }),
    ],
  ];

  it.each(BAD.flatMap((raw) => places(raw).map(([place, login]) => [place, raw, login] as const)))(
    "%s %j is silently replaced by IDP_AUTH_FINAL_REDIRECT_URL, never by an earlier login's page",
    async (_place, _raw, login) => {
      const user = application.user();
      await user.get(query({ scheme: "PRESERVE_ORIGIN_QP", origin_url: PAGE }));
      expect(await destination(user)).toBe(PAGE);
      expect(await login(user)).toMatchObject({
        status: expect.toSatisfy((status) => status === 302 || status === 200) as number,
      });
      expect(await destination(user)).toBe("/start");
    },
  );

  it.each([
    ["missing, via query", `${LOGIN}?scheme=PRESERVE_ORIGIN_QP`],
    ["missing, via header", `${LOGIN}?scheme=PRESERVE_ORIGIN_HP&response=json`],
    [
      "repeated",
      `${LOGIN}?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(PAGE)}&origin_url=${encodeURIComponent(PAGE)}`,
    ],
  ])("an origin that is %s falls back to IDP_AUTH_FINAL_REDIRECT_URL", async (_name, target) => {
    const user = application.user();
    await user.signIn(query({ scheme: "PRESERVE_ORIGIN_QP", origin_url: PAGE }));
    expect(await destination(user)).toBe(PAGE);
    await user.get(target);
    expect(await destination(user)).toBe("/start");
  });

  it("a repeated X-ORIGIN-URL, which frameworks join by a comma, is silently replaced", async () => {
    const user = application.user();
    await user.get(query({ scheme: "PRESERVE_ORIGIN_HP", response: "json" }), {
      headers: { "x-origin-url": `${PAGE}, ${PAGE}` },
    });
    expect(await destination(user)).toBe("/start");
  });

  it("without IDP_AUTH_FINAL_REDIRECT_URL falls back to the index", async () => {
    const own = await startApplication();
    const user = own.user();
    for (const [, login] of places("http://evil.example/")) {
      await user.get(query({ scheme: "PRESERVE_ORIGIN_QP", origin_url: PAGE }));
      await login(user);
      expect((await own.auth.readSessionRecord(user.request("/")))?.["final_redirect"]).toBe(
        "/idpauth/",
      );
    }
    await own.stop();
  });

  const GOOD: [string, string][] = [
    ["http://app.example", "http://app.example/"],
    ["http://app.example/", "http://app.example/"],
    ["http://app.example?x=1", "http://app.example/?x=1"],
    ["http://app.example#top", "http://app.example/#top"],
    ["http://app.example/a/../b", "http://app.example/b"],
    ["http://app.example/%2e%2e/x", "http://app.example/x"],
    [
      "http://app.example/a%2Fb?next=http%3A%2F%2Fevil.example",
      "http://app.example/a%2Fb?next=http%3A%2F%2Fevil.example",
    ],
    ["http://app.example//evil.example", "http://app.example//evil.example"],
    ["http://app.example/seite?q=%C3%A4#%C3%A4", "http://app.example/seite?q=%C3%A4#%C3%A4"],
    [
      "http://app.example/?a=1&scope=admin&redirect_uri=x",
      "http://app.example/?a=1&scope=admin&redirect_uri=x",
    ],
  ];
  it.each(
    GOOD.flatMap(([raw, href]) =>
      places(raw).map(([place, login]) => [place, raw, href, login] as const),
    ),
  )("%s %s is kept as %s", async (_place, _raw, href, login) => {
    const user = application.user();
    await login(user);
    expect(await destination(user)).toBe(href);
  });
});

describe("the server's own origin", () => {
  afterEach(() => application.stop());

  it("is the request's scheme and Host without BASE_URL", async () => {
    const user = await start();
    const options = { host: "other.example:8443", scheme: "https" as const };
    const answer = await user.get(
      query({ scheme: "PRESERVE_ORIGIN_QP", origin_url: "https://other.example:8443/x" }),
      options,
    );
    expect(new URL(answer.location).searchParams.get("redirect_uri")).toBe(
      "https://other.example:8443/idpauth/login-callback",
    );
  });

  it("is BASE_URL where that is set", async () => {
    const user = await start({ baseUrl: "https://app.example" });
    const answer = await user.get(
      query({ scheme: "PRESERVE_ORIGIN_QP", origin_url: "https://app.example/x" }),
    );
    expect(new URL(answer.location).searchParams.get("redirect_uri")).toBe(
      "https://app.example/idpauth/login-callback",
    );
    const login = (await store.entries())[0]?.data as { final_redirect?: string };
    expect(login.final_redirect).toBe("https://app.example/x");
  });

  it.each([
    "other.example",
    "app.example:8080",
    "app.example.other.example",
    "127.0.0.1",
    "a b",
    "",
    undefined,
  ])("a login with Host %j is first sent to the same address at BASE_URL", async (host) => {
    const user = await start({ baseUrl: "https://app.example" });
    const raw =
      "scheme=PRESERVE_ORIGIN_QP&origin_url=https%3A%2F%2Fapp.example%2Fx%3Fa%3D1%26b%3D2";
    const request = { ...user.request(`${LOGIN}?${raw}`), host };
    const answer = await application.auth.handle(request);
    expect(answer?.status).toBe(302);
    const location = new URL(answer?.headers["Location"] ?? "");
    expect([location.origin, location.pathname]).toEqual(["https://app.example", LOGIN]);
    expect([...location.searchParams]).toEqual([...new URLSearchParams(raw), ["idp_hop", "1"]]);
    expect(store.operations).toEqual([]);
    expect(answer?.setCookies ?? []).toEqual([]);
    expect(application.provider.requests).toEqual([]);
  });

  it.each([
    ["http", "app.example"],
    ["https", "app.example"],
    ["http", "app.example:443"],
    ["https", "APP.example"],
  ] as const)(
    "%s with Host %s is the same origin, so a proxy that ends TLS causes no loop",
    async (scheme, host) => {
      const user = await start({ baseUrl: "https://app.example" });
      const answer = await user.get(LOGIN, { scheme, host });
      expect(answer.location).toMatch(`${application.provider.issuer}/authorize?`);
    },
  );

  describe("that comes back from BASE_URL with another Host", () => {
    const BASE_URL = "https://app.example";

    /**
     * The login as it comes back: what our own redirect has asked for, at a Host that was
     * rewritten.
     */
    async function comesBack(
      host: string | undefined,
      { accept = "*/*", raw = "scheme=LANDING_PAGE", debug = false } = {},
    ) {
      const user = await start({ baseUrl: BASE_URL, debug });
      const first = await application.auth.handle({ ...user.request(`${LOGIN}?${raw}`), host });
      const { pathname, search } = new URL(first?.headers["Location"] ?? "");
      const again = await application.auth.handle({
        ...user.request(pathname + search, { headers: { accept } }),
        host,
      });
      return {
        status: again?.status,
        headers: again?.headers,
        body: (again && textReply(again).body) ?? "",
        location: again?.headers["Location"],
      };
    }

    it("is 500 login_loop, which names the Host, BASE_URL and the usual causes, as problem+json or, in debug mode, as a page", async () => {
      for (const accept of ["*/*", "application/json"]) {
        const { status, headers, body } = await comesBack("127.0.0.1:5173", { accept });
        expect([status, headers?.["Content-Type"]]).toEqual([
          500,
          "application/problem+json; charset=utf-8",
        ]);
        const { code, detail } = JSON.parse(body) as { code: string; detail: string };
        expect(code).toBe("login_loop");
        for (const part of [
          '"127.0.0.1:5173"',
          BASE_URL,
          "changeOrigin",
          "security.allowedDomains",
        ])
          expect(detail).toContain(part);
      }
      const page = (debug: boolean) => comesBack("127.0.0.1:5173", { accept: "text/html", debug });
      const [{ status, body }, other] = [await page(true), await page(false)];
      expect([status, other.status]).toEqual([500, 500]);
      for (const text of [body, other.body]) expect(text).toContain("login_loop");
      for (const part of ["127.0.0.1:5173", BASE_URL, "changeOrigin", "security.allowedDomains"]) {
        expect(body).toContain(part);
        expect(other.body).not.toContain(part);
      }
    });

    it("stores nothing, sets no cookie and sends the provider nothing", async () => {
      expect((await comesBack("other.example")).location).toBeUndefined();
      expect([store.operations, application.provider.requests]).toEqual([[], []]);
    });

    it("is logged once for each Host, with its own code alone; each login emits the event", async () => {
      const user = await start({ baseUrl: BASE_URL });
      const reasons: string[] = [];
      application.auth.on("failure", ({ reason }) => reasons.push(reason));
      for (let time = 0; time < 30; time += 1) {
        await user.get(`${LOGIN}?idp_hop=1`, { host: "other.example" });
        await user.get(`${LOGIN}?idp_hop=1`, { host: "127.0.0.1:5173" });
      }
      const lines = application.log.filter(({ level }) => level === "error");
      expect(lines.map(({ code }) => code)).toEqual(["login_loop", "login_loop"]);
      for (const part of ["other.example", BASE_URL, "changeOrigin", "security.allowedDomains"])
        expect(lines[0]?.message).toContain(part);
      expect(application.log.map(({ code }) => code)).not.toContain("login_failed");
      expect(reasons).toEqual(Array(60).fill("login_loop"));
    });

    it("remembers no more than 100 of the Hosts that a stranger invents", async () => {
      const user = await start({ baseUrl: BASE_URL });
      for (let number = 0; number < 150; number += 1)
        await user.get(`${LOGIN}?idp_hop=1`, { host: `h${String(number)}.example` });
      await user.get(`${LOGIN}?idp_hop=1`, { host: "h149.example" });
      await user.get(`${LOGIN}?idp_hop=1`, { host: "h0.example" });
      const lines = application.log.filter(({ code }) => code === "login_loop");
      expect(lines).toHaveLength(151);
    });

    it.each([
      undefined,
      "",
      "<script>alert(1)</script>",
      '"><img src=x onerror=alert(1)>',
      "a b",
      "evil.example/path",
      "user@evil.example",
      "evil\r\nX-Evil: 1",
      "évil.example",
      `${"x".repeat(252)}.evil`,
      "evil.example:99999999",
    ])(
      "with a Host of %j says that it is not a hostname, and repeats nothing of it",
      async (host) => {
        for (const accept of ["application/json", "text/html"]) {
          const { status, body } = await comesBack(host, { accept, debug: true });
          expect(status).toBe(500);
          expect(body).toContain("a Host header that is missing or no host name");
          expect(body).not.toMatch(/evil|onerror|<script>|a b"/);
        }
        const said = application.log
          .filter(({ code }) => code === "login_loop")
          .map(({ message }) => message);
        expect(said).toHaveLength(1);
        expect(said[0]).not.toMatch(/evil|onerror|script/);
      },
    );

    it("keeps the query as it came, with the marker behind it, for any content", async () => {
      const user = await start({ baseUrl: BASE_URL });
      for (const [raw, expected] of [
        ["", "idp_hop=1"],
        ["scheme=DEFAULT", "scheme=DEFAULT&idp_hop=1"],
        [
          "origin_url=https://app.example/x?a=1&b=%ff",
          "origin_url=https://app.example/x?a=1&b=%ff&idp_hop=1",
        ],
        ["x=ü", "x=%C3%BC&idp_hop=1"],
        ["idp_hop=0", "idp_hop=0&idp_hop=1"],
      ] as const) {
        const answer = await user.get(`${LOGIN}?${raw}`, { host: "other.example" });
        expect(answer.location).toBe(`${BASE_URL}${LOGIN}?${expected}`);
      }
      expect(
        (await user.get(`${LOGIN}?idp_hop=0&idp_hop=1`, { host: "other.example" })).status,
      ).toBe(500);
    });

    it("where the Host is right the marker counts for nothing, and nothing of it is stored", async () => {
      const user = await start({ baseUrl: BASE_URL });
      const page = `${BASE_URL}/x?a=1&b=2`;
      const target = `${query({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page })}&idp_hop=1`;
      const answer = await user.get(target, { scheme: "https", host: "app.example" });
      expect(answer.location).toMatch(`${application.provider.issuer}/authorize?`);
      expect(answer.location).not.toContain("idp_hop");
      expect(JSON.stringify(await store.entries())).not.toContain("idp_hop");
      expect((await store.entries())[0]?.data).toMatchObject({ final_redirect: page });
    });

    it("without BASE_URL, and with response=json, the marker counts for nothing", async () => {
      const user = await start();
      expect((await user.get(`${LOGIN}?idp_hop=1`)).location).toMatch(
        `${application.provider.issuer}/authorize?`,
      );
      await application.stop();
      const other = await start({ baseUrl: BASE_URL });
      expect(
        (await other.get(`${LOGIN}?response=json&idp_hop=1`, { host: "other.example" })).status,
      ).toBe(200);
    });
  });

  it("response=json with another Host header gets its response there", async () => {
    const user = await start({ baseUrl: "https://app.example" });
    const answer = await user.get(`${LOGIN}?response=json`, { host: "other.example" });
    expect(new URL(answer.json().redirect_to as string).searchParams.get("redirect_uri")).toBe(
      "https://app.example/idpauth/login-callback",
    );
  });

  it.each([
    undefined,
    "",
    "a b",
    "evil.example/path",
    "user@host",
    "x".repeat(300),
    "a,b",
    "[::1",
    "host:port",
    "-x-\r\n",
  ])("a Host header of %j is 400 host_invalid without BASE_URL", async (host) => {
    const user = await start();
    const handled = await application.auth.handle({ ...user.request(LOGIN), host });
    const answer = handled && textReply(handled);
    expect(answer?.status).toBe(400);
    expect(JSON.parse(answer?.body ?? "")).toMatchObject({ code: "host_invalid" });
    expect(store.operations).toEqual([]);
  });

  const FORWARDED = {
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "https",
    forwarded: "host=evil.example;proto=https",
  };
  it("forwarded headers do not count", async () => {
    const user = await start();
    const answer = await user.get(LOGIN, {
      headers: {
        ...FORWARDED,
        "x-original-url": "/x",
        "x-rewrite-url": "/x",
        "x-forwarded-port": "1",
      },
    });
    expect(new URL(answer.location).searchParams.get("redirect_uri")).toBe(
      `${OWN_ORIGIN}/idpauth/login-callback`,
    );
    expect(answer.setCookies?.[0]).not.toContain("Secure");
  });

  it("forwarded headers count with trustProxy, the nearest proxy's word last", async () => {
    const user = await start({ trustProxy: true });
    const headers = {
      "x-forwarded-host": "evil.example, public.example",
      "x-forwarded-proto": "http, https",
    };
    const answer = await user.get(LOGIN, { headers });
    expect(new URL(answer.location).searchParams.get("redirect_uri")).toBe(
      "https://public.example/idpauth/login-callback",
    );
    expect(answer.setCookies?.[0]).toMatch(/^__Host-Http-idpauth=/);
  });

  it("behind a trusted proxy a login with BASE_URL's Host header causes no loop", async () => {
    const user = await start({ trustProxy: true, baseUrl: "https://app.example" });
    const answer = await user.get(LOGIN, {
      host: "10.0.0.7:3000",
      headers: { "x-forwarded-host": "app.example", "x-forwarded-proto": "https" },
    });
    expect(answer.location).toMatch(`${application.provider.issuer}/authorize?`);
  });
});

describe("[ASVS-3.5.1] a prefetch", () => {
  afterEach(() => application.stop());

  it.each([
    { "sec-purpose": "prefetch" },
    { "sec-purpose": "prefetch;prerender" },
    { "sec-purpose": "prefetch;anonymous-client-ip" },
    { "sec-purpose": "Prefetch" },
    { purpose: "prefetch" },
    { purpose: "PREFETCH" },
    { "sec-purpose": "other", purpose: "prefetch" },
    { "next-router-prefetch": "1" },
    { "next-router-prefetch": "" },
  ])("%j is 503 without any effect", async (headers) => {
    const user = await start();
    const answer = await user.get(LOGIN, { headers: headers as unknown as Record<string, string> });
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({ code: "prefetch_refused", status: 503 });
    expect(store.operations).toEqual([]);
    expect(answer.setCookies ?? []).toEqual([]);
    expect(application.provider.requests).toEqual([]);
  });

  it("the real click afterwards succeeds", async () => {
    const user = await start();
    await user.get(LOGIN, { headers: { "sec-purpose": "prefetch" } });
    expect(
      (await user.get(LOGIN, { headers: { "sec-purpose": "", purpose: "navigate" } })).status,
    ).toBe(302);
  });
});

describe("[ASVS-3.7.2] the authorization URL", () => {
  afterEach(() => application.stop());

  it("[BCP-5] [BCP-10] has exactly the expected parameters, each once", async () => {
    const user = await start();
    const { location } = await user.get(LOGIN);
    const url = new URL(location);
    expect(`${url.origin}${url.pathname}`).toBe(`${application.provider.issuer}/authorize`);
    const entries = [...url.searchParams];
    expect(entries.map(([name]) => name).sort()).toEqual(AUTHORIZATION_PARAMETERS);
    const { state, nonce, code_challenge: challenge, ...fixed } = Object.fromEntries(entries);
    expect(fixed).toEqual({
      client_id: application.provider.clientId,
      code_challenge_method: "S256",
      prompt: "consent",
      redirect_uri: `${OWN_ORIGIN}/idpauth/login-callback`,
      response_type: "code",
      scope: "openid email profile offline_access",
    });
    for (const value of [state, nonce, challenge]) expect(value).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it.each([
    "http://app.example/?x=1&scope=admin&redirect_uri=https://evil.example/&state=x",
    "http://app.example/&scope=admin&redirect_uri=https://evil.example/",
    "http://evil.example/&scope=admin&redirect_uri=https://evil.example/",
  ])("is not changed by an origin_url of %s", async (originUrl) => {
    const user = await start();
    for (const target of [
      query({ scheme: "PRESERVE_ORIGIN_QP", origin_url: originUrl }),
      `${LOGIN}?scheme=PRESERVE_ORIGIN_QP&origin_url=${originUrl}`,
    ]) {
      const { location } = await user.get(target);
      const parameters = [...new URL(location).searchParams];
      expect(new Set(parameters.map(([name]) => name)).size).toBe(9);
      expect(parameters).toHaveLength(9);
      expect(Object.fromEntries(parameters)).toMatchObject({
        scope: "openid email profile offline_access",
        redirect_uri: `${OWN_ORIGIN}/idpauth/login-callback`,
      });
      expect(location).not.toContain("evil");
      expect(location).not.toContain("admin");
    }
  });

  it("has a state, nonce and challenge that are fresh each time", async () => {
    const user = await start();
    const seen = { state: new Set(), nonce: new Set(), code_challenge: new Set() };
    for (let login = 0; login < 100; login += 1) {
      const { searchParams } = new URL((await user.get(LOGIN)).location);
      for (const [name, values] of Object.entries(seen)) values.add(searchParams.get(name));
    }
    expect(Object.values(seen).map(({ size }) => size)).toEqual([100, 100, 100]);
  });

  it("[BCP-5] has the S256 challenge of the verifier that the exchange sends, with the same redirect URI", async () => {
    const user = await start();
    const { location } = await user.get(LOGIN);
    const { searchParams } = new URL(location);
    const callback = new URL(await application.provider.signInCode(location));
    await user.get(`${callback.pathname}${callback.search}`);
    const exchange = application.provider.requestsTo("token")[0]?.params;
    const verifier = exchange?.get("code_verifier") ?? "";
    expect(verifier).toMatch(/^[A-Za-z0-9._~-]{43,128}$/);
    expect(createHash("sha256").update(verifier).digest("base64url")).toBe(
      searchParams.get("code_challenge"),
    );
    expect(exchange?.get("redirect_uri")).toBe(searchParams.get("redirect_uri"));
    expect(exchange?.get("grant_type")).toBe("authorization_code");
  });
});

describe("pending logins", () => {
  afterEach(() => application.stop());

  const pageNumber = (number: number) =>
    query({ scheme: "PRESERVE_ORIGIN_QP", origin_url: `${OWN_ORIGIN}/page/${String(number)}` });

  it.each([
    ["in order", [1, 2]],
    ["in reverse", [2, 1]],
  ])("of two tabs return each to its own page, %s", async (_name, order) => {
    const user = await start();
    const callbacks = new Map([
      [1, await user.approve(pageNumber(1))],
      [2, await user.approve(pageNumber(2))],
    ]);
    for (const tab of order) {
      const answer = await user.get(callbacks.get(tab) ?? "");
      expect([answer.status, answer.location]).toEqual([302, `${OWN_ORIGIN}/page/${String(tab)}`]);
    }
    expect(await user.isSignedIn()).toBe(true);
  });

  it("are at most eight; the oldest is dropped", async () => {
    const user = await start();
    const callbacks: string[] = [];
    for (let tab = 1; tab <= 9; tab += 1) callbacks.push(await user.approve(pageNumber(tab)));
    expect(await store.entries()).toHaveLength(1);
    const oldest = await user.get(callbacks[0] ?? "");
    expect(oldest.status).toBe(400);
    expect(application.provider.requestsTo("token")).toHaveLength(0);
    for (let tab = 9; tab >= 2; tab -= 1) {
      expect((await user.get(callbacks[tab - 1] ?? "")).location).toBe(
        `${OWN_ORIGIN}/page/${String(tab)}`,
      );
    }
  });

  it.each([
    ["the page's own script", { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }],
    ["an image of another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
    ["links on another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }],
  ])("of %s push out no login of the user", async (_name, headers) => {
    const user = await start();
    const own = await user.approve(pageNumber(1));
    for (let login = 1; login <= 20; login += 1)
      await user.get(LOGIN, { headers: { ...headers, accept: "text/html" } });
    expect((await user.get(own)).location).toBe(`${OWN_ORIGIN}/page/1`);
  });

  it("keep a record small, however many are started", async () => {
    const user = await start();
    const sizes: number[] = [];
    for (let login = 1; login <= 40; login += 1) {
      await user.get(pageNumber(10));
      if (login % 10 === 0) sizes.push(JSON.stringify((await store.entries())[0]?.data).length);
    }
    expect(new Set(sizes).size).toBe(1);
  });

  it.each([
    [-1, 302],
    [0, 400],
    [1, 400],
  ])("last ten minutes: %i s from the end the callback is %i", async (offset, status) => {
    const user = await start();
    const { location } = await user.get(LOGIN);
    await user.get(LOGIN); // keeps nothing alive but itself
    application.clock.advance((600 + offset) * 1000);
    const callback = new URL(await application.provider.signInCode(location));
    expect((await user.get(`${callback.pathname}${callback.search}`)).status).toBe(status);
  });

  it("last ten minutes also with a later login", async () => {
    const user = await start();
    const { location } = await user.get(pageNumber(1));
    application.clock.advance(300_000);
    const second = await user.get(pageNumber(2));
    application.clock.advance(300_000);
    const first = new URL(await application.provider.signInCode(location));
    expect((await user.get(`${first.pathname}${first.search}`)).status).toBe(400);
    const later = new URL(await application.provider.signInCode(second.location));
    expect((await user.get(`${later.pathname}${later.search}`)).location).toBe(
      `${OWN_ORIGIN}/page/2`,
    );
  });

  it("alone make a record that lives ten minutes", async () => {
    const user = await start();
    await user.get(LOGIN);
    application.clock.advance(599_000);
    expect(await store.entries()).toHaveLength(1);
    application.clock.advance(1_000);
    expect(await store.entries()).toHaveLength(0);
  });

  it("are mirrored by oauth_state and final_redirect, newest first", async () => {
    const user = await start();
    await user.get(pageNumber(1));
    const { location } = await user.get(pageNumber(2));
    expect(await application.auth.readSessionRecord(user.request("/"))).toEqual({
      oauth_state: new URL(location).searchParams.get("state"),
      final_redirect: `${OWN_ORIGIN}/page/2`,
    });
  });

  it("leave a signed-in session as it is until the callback succeeds", async () => {
    const user = await start();
    await user.signIn();
    const before = await application.auth.readSessionRecord(user.request("/"));
    const answer = await user.get(LOGIN);
    expect(answer.setCookies ?? []).toEqual([]);
    expect(await user.isSignedIn()).toBe(true);
    const after = await application.auth.readSessionRecord(user.request("/"));
    for (const key of ["credentials", "id_info", "idp_login_at"])
      expect(after?.[key]).toEqual(before?.[key]);
  });
});

describe("while the provider is away", () => {
  afterEach(() => application.stop());

  const FAULTS: Fault[] = [
    { kind: "reset" },
    { kind: "status", status: 500 },
    { kind: "status", status: 503, headers: { "Retry-After": "7" } },
    { kind: "status", status: 404 },
    { kind: "garbage" },
    { kind: "redirect" },
    { kind: "oversized" },
    { kind: "truncated" },
    { kind: "wrong-type", body: "<html>" },
  ];
  it.each(FAULTS)(
    "login is 503 with Retry-After and nothing is stored: discovery says %j",
    async (fault) => {
      const user = await start();
      application.provider.fault("discovery", fault);
      const answer = await user.get(LOGIN);
      expect(answer.status).toBe(503);
      expect(answer.headers["Retry-After"]).toMatch("headers" in fault ? /^7$/ : /^[1-9]\d*$/);
      expect(answer.headers["Content-Type"]).toMatch(/^text\/html/);
      expect(answer.body).toMatch(/provider_(?:unavailable|misconfigured)/);
      expect(answer.setCookies ?? []).toEqual([]);
      expect(store.writes).toEqual([]);
      application.provider.clearFaults();
      application.clock.advance(61_000);
      expect((await user.get(LOGIN)).status).toBe(302);
    },
  );

  it("login waits IDP_HTTP_TIMEOUT for a provider that hangs, then is 503", async () => {
    const user = await start({ httpTimeout: 3 });
    const hold = application.provider.hold("discovery");
    const answer = user.get(LOGIN);
    await hold.arrived;
    application.clock.advance(3_000);
    expect((await answer).status).toBe(503);
    expect(store.writes).toEqual([]);
  });

  it("login is 503 problem+json if Accept prefers JSON", async () => {
    const user = await start();
    await application.provider.pause();
    const answer = await user.get(`${LOGIN}?response=json`, {
      headers: { accept: "application/json" },
    });
    expect(answer.status).toBe(503);
    expect(answer.headers["Content-Type"]).toMatch(/^application\/problem\+json/);
    expect(answer.json()).toMatchObject({ code: "provider_unavailable", status: 503 });
    await application.provider.resume();
  });

  it("login is 503 and nothing is set when the store is away", async () => {
    const user = await start();
    store.isDown = true;
    const answer = await user.get(LOGIN);
    expect(answer.status).toBe(503);
    expect(answer.headers["Retry-After"]).toMatch(/^[1-9]\d*$/);
    expect(answer.body).toContain("store_unavailable");
    expect(answer.setCookies ?? []).toEqual([]);
  });
});

describe("twenty logins don't push out the one of the application's own page", () => {
  type Headers = Readonly<Record<string, string>>;
  const navigation: Headers = { "sec-fetch-mode": "navigate" };
  const json = `${LOGIN}?response=json`;
  afterEach(() => application.stop());

  it.each<[string, Headers, Headers, string]>([
    [
      "another site",
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "cross-site" },
      LOGIN,
    ],
    ["a script", navigation, { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }, json],
  ])("if they are of %s", async (_name, own, others, target) => {
    const user = await start();
    const { location } = await user.get(LOGIN, { headers: own });
    for (let count = 0; count < 20; count += 1) await user.get(target, { headers: others });
    const { pathname, search } = new URL(await application.provider.signInCode(location));
    expect((await user.get(pathname + search)).status).toBe(302);
  });
});
