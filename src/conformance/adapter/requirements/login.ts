import assert from "node:assert/strict";
import type { CookieBrowser } from "../../../testing/browser/cookie-browser.js";
import { ACCEPTS_HTML, ACCEPTS_JSON, assertPage, assertProblem, assertRedirect, assertRetryAfter, mediaType, probe } from "./assertions.js";
import { ownCookies, SIGNED_IN } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const LOGIN = "/idpauth/login/";
const INDEX = "/idpauth/";
const ALL_SCHEMES = ["PRESERVE_ORIGIN_QP", "PRESERVE_ORIGIN_HP", "LANDING_PAGE", "DEFAULT"];
const ALL_RESPONSES = ["redirect", "json", "popup"];

const login = (parameters: Readonly<Record<string, string>>) => `${LOGIN}?${new URLSearchParams(parameters).toString()}`;

/** Scheme and response of the query, and whether the login returns to the page that it started from. */
const COMBINATIONS: readonly (readonly [scheme: string | undefined, response: string | undefined, preserves: boolean])[] = [
  ["PRESERVE_ORIGIN_QP", "redirect", true],
  ["PRESERVE_ORIGIN_QP", "json", true],
  ["PRESERVE_ORIGIN_QP", undefined, true],
  ["PRESERVE_ORIGIN_HP", "json", true],
  ["LANDING_PAGE", "redirect", false],
  ["LANDING_PAGE", "json", false],
  ["DEFAULT", "redirect", false],
  ["DEFAULT", "json", false],
  [undefined, undefined, false],
  ["preserve_origin_qp", "REDIRECT", true],
  ["Preserve_Origin_Hp", "Json", true],
  ["landing_page", "JSON", false],
];

/** A query, and the names of its invalid parameters. */
const INVALID: readonly (readonly [query: string, wrong: readonly ("scheme" | "response")[]])[] = [
  ["scheme=EVIL", ["scheme"]],
  ["scheme=", ["scheme"]],
  ["scheme", ["scheme"]],
  ["scheme=%20DEFAULT", ["scheme"]],
  ["scheme=DEFAULT&scheme=LANDING_PAGE", ["scheme"]],
  ["scheme=DEFAULT&scheme=DEFAULT", ["scheme"]],
  ["scheme=__proto__", ["scheme"]],
  ["scheme[]=EVIL&scheme=EVIL", ["scheme"]],
  ["response=EVIL", ["response"]],
  ["response=", ["response"]],
  ["response=json&response=json", ["response"]],
  ["scheme=PRESERVE_ORIGIN_HP&response=EVIL", ["response"]],
  ["scheme=EVIL&response=EVIL", ["scheme", "response"]],
  ["scheme=&response=", ["scheme", "response"]],
];

export const loginRequirements: readonly AdapterRequirement[] = [
  {
    area: "login",
    title: "every scheme accepts each response that is valid for it, in any letter case, and leads to its page",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const page = `${app.origin}/reports?year=2024&q=a%2Fb#q3`;
      for (const [scheme, form, preserves] of COMBINATIONS) {
        const row = `${String(scheme)} with ${String(form)}`;
        const browser = app.browser();
        const response = await browser.get(login({ ...(scheme && { scheme }), ...(form && { response: form }), origin_url: page }), {
          headers: { "X-ORIGIN-URL": page },
        });
        let authorizationUrl = response.location;
        if (form?.toLowerCase() === "json") {
          assert.deepEqual([response.status, mediaType(response)], [200, "application/json"], row);
          const body = response.json() as Record<string, string>;
          assert.deepEqual(Object.keys(body), ["redirect_to"], row);
          authorizationUrl = body["redirect_to"];
        } else assert.deepEqual([response.status, response.text], [302, ""], row);
        assert.equal(authorizationUrl?.startsWith(`${app.provider.issuer}/authorize?`), true, row);
        const done = await browser.navigate(await app.provider.signInCode(authorizationUrl));
        assert.deepEqual([done.status, done.location], [302, preserves ? page : INDEX], row);
      }
    },
  },
  {
    area: "login",
    title: "each scheme reads the origin only from its own place and ignores unknown parameters",
    async check(starter) {
      const app = await starter.start();
      const page = `${app.origin}/reports`;
      const browser = app.browser();
      const rows: readonly (readonly [query: Record<string, string>, headers: Record<string, string>])[] = [
        [{ scheme: "PRESERVE_ORIGIN_QP", response: "json" }, { "x-origin-url": page }],
        [{ scheme: "PRESERVE_ORIGIN_HP", response: "json", origin_url: page }, {}],
        [{ scheme: "PRESERVE_ORIGIN_QP", response: "json", ORIGIN_URL: page, final_redirect: page, credentials: "x" }, {}],
      ];
      for (const [query, headers] of rows) {
        const response = await browser.get(login(query), { headers });
        const { redirect_to: authorizationUrl } = response.json() as { redirect_to: string };
        assertRedirect(await browser.get(await app.provider.signInCode(authorizationUrl)), INDEX);
      }
    },
  },
  {
    area: "login",
    title: "an invalid, empty or repeated scheme or response gets a 400 problem+json that lists every valid option, and starts no login",
    core: true,
    async check(starter) {
      const app = await starter.start();
      for (const [query, wrong] of INVALID) {
        const browser = app.browser();
        const response = await browser.get(`${LOGIN}?${query}`);
        assertProblem(response, 400, "invalid_parameter");
        const { detail, valid_options: options } = response.json() as { detail: string; valid_options: Record<string, string[]> };
        assert.deepEqual(Object.keys(options).sort(), [...wrong].sort(), query);
        for (const name of wrong) {
          assert.deepEqual([...(options[name] ?? [])].sort(), [...(name === "scheme" ? ALL_SCHEMES : ALL_RESPONSES)].sort(), query);
          for (const word of [name, ...(options[name] ?? [])]) assert.ok(detail.includes(word), `${query}: the detail has no ${word}`);
        }
        assert.ok(!response.text.includes("EVIL"), "the value is repeated");
        assert.deepEqual(ownCookies(response), []);
      }
      assert.deepEqual(app.provider.requests, []);
    },
  },
  {
    area: "login",
    title: "an invalid scheme or response gets a page if Accept prefers HTML",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const response = await app.browser().get(`${LOGIN}?scheme=EVIL&response=EVIL`, { headers: ACCEPTS_HTML });
      assertPage(response, 400, "invalid_parameter", ...ALL_SCHEMES, ...ALL_RESPONSES);
      assert.ok(!response.text.includes("EVIL"));
      const preferences: readonly (readonly [accept: string, type: string])[] = [
        ["text/html", "text/html"],
        ["TEXT/HTML", "text/html"],
        ["application/json;q=0.4, text/html;q=0.5", "text/html"],
        ["text/html;q=0.4, application/json;q=0.5", "application/problem+json"],
        ["text/html;q=0, */*", "application/problem+json"],
        ["application/problem+json", "application/problem+json"],
        ["*/*", "application/problem+json"],
        ["image/png", "application/problem+json"],
      ];
      for (const [accept, type] of preferences) {
        assert.equal(mediaType(await app.browser().get(`${LOGIN}?scheme=x`, { headers: { accept } })), type, accept);
      }
    },
  },
  {
    area: "login",
    title: "PRESERVE_ORIGIN_HP without response=json gets a 400 that gives the reason",
    core: true,
    async check(starter) {
      const app = await starter.start();
      for (const query of ["", "&response=redirect", "&response=REDIRECT"]) {
        const response = await app.browser().get(`${LOGIN}?scheme=PRESERVE_ORIGIN_HP${query}`, {
          headers: { "x-origin-url": `${app.origin}/reports` },
        });
        assertProblem(response, 400, "invalid_parameter");
        const { detail, valid_options: options } = response.json() as { detail: string; valid_options: unknown };
        assert.deepEqual(options, { response: ["json"] });
        assert.match(detail, /PRESERVE_ORIGIN_HP requires response=json/);
      }
      assert.deepEqual(app.provider.requests, []);
    },
  },
  {
    area: "login",
    title: "a login without an origin to preserve leads to IDP_AUTH_FINAL_REDIRECT_URL, a path or another address",
    core: true,
    async check(starter) {
      for (const [authFinalRedirectUrl, location] of [
        ["/welcome?a=1", "/welcome?a=1"],
        ["/größe", "/gr%C3%B6%C3%9Fe"],
        ["https://elsewhere.example/start?x=1#y", "https://elsewhere.example/start?x=1#y"],
      ] as const) {
        const app = await starter.start({ options: { authFinalRedirectUrl } });
        const browser = app.browser();
        const target = login({ scheme: "LANDING_PAGE", origin_url: `${app.origin}/reports` });
        assertRedirect(await browser.navigate(await app.approved(browser, target)), location);
      }
    },
  },
  {
    area: "login",
    title: "a login at another host than BASE_URL's is redirected to the same address there; at BASE_URL's own host there is no loop",
    async check(starter) {
      const app = await starter.start({ options: { baseUrl: "http://app.example" } });
      const query = "scheme=PRESERVE_ORIGIN_QP&origin_url=http%3A%2F%2Fapp.example%2Fx%3Fa%3D1%26b%3D2";
      const browser = app.browser({ proxied: { "http://app.example": app.port } });
      const sent = await browser.navigate(`${app.origin}${LOGIN}?${query}`);
      const there = new URL(sent.location ?? "");
      assert.deepEqual([sent.status, there.origin, there.pathname], [302, "http://app.example", LOGIN]);
      assert.deepEqual([...there.searchParams], [...new URLSearchParams(query), ["idp_hop", "1"]]);
      assert.deepEqual([ownCookies(sent), app.provider.requests], [[], []]);
      assertRedirect(await browser.navigate(await app.approved(browser, there.href)), "http://app.example/x?a=1&b=2");
    },
  },
  {
    area: "login",
    title: "a login that comes back from BASE_URL with another Host gets a 500 that names both hosts, and no endless redirect",
    async check(starter) {
      const app = await starter.start({ options: { baseUrl: "http://app.example" } });
      const sent = await app.browser().navigate(`${LOGIN}?scheme=LANDING_PAGE`);
      const { pathname, search } = new URL(sent.location ?? "");
      assertPage(await app.browser().navigate(pathname + search), 500, "login_loop", "http://app.example", `127.0.0.1:${app.port}`);
      const document = await app.browser().get(pathname + search, { headers: ACCEPTS_JSON });
      assertProblem(document, 500, "login_loop");
      const lines = app.log.filter(({ code }) => code === "login_loop");
      assert.ok(lines.length > 0 && lines.every(({ level }) => level === "error"), "the log does not say it");
      assert.deepEqual(ownCookies(document), []);
    },
  },
  {
    area: "login",
    title: "a login of a signed-in user leaves the session unchanged until the callback succeeds",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const callback = await app.approved(browser);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal((await browser.get("/reports")).json().token, app.newest("access_token"));
      assertRedirect(await browser.navigate(callback), INDEX);
      assert.deepEqual(await probe(browser), SIGNED_IN);
    },
  },
  {
    area: "login",
    title: "a login during a provider outage gets 503 with Retry-After, as a page or as problem+json, and stores nothing",
    core: true,
    async check(starter) {
      const app = await starter.start();
      app.provider.fault("discovery", { kind: "status", status: 503, headers: { "Retry-After": "7" } });
      const browser: CookieBrowser = app.browser();
      const page = await browser.navigate(LOGIN);
      assertPage(page, 503, "provider_unavailable");
      assert.equal(page.headers["retry-after"], "7");
      const document = await browser.get(`${LOGIN}?response=json`, { headers: ACCEPTS_JSON });
      assertProblem(document, 503, "provider_unavailable");
      assertRetryAfter(document);
      assert.deepEqual([...ownCookies(page), ...ownCookies(document)], []);
      app.provider.clearFaults();
      app.clock.advance(8_000);
      assertRedirect(await browser.navigate(await app.approved(browser)), INDEX);
    },
  },
];
