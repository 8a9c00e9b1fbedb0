import assert from "node:assert/strict";
import type { BrowserResponse } from "idpauth/testing";
import type { ApplicationRoute } from "../adapter-under-test.js";
import { rawRequest } from "../raw-request.js";
import { ACCEPTS_HTML, ACCEPTS_JSON, assertRedirect, mediaType } from "./assertions.js";
import { HOUR_MS, type AdapterRequirement } from "./requirement.js";
import { assertBlockedHeaders, backTo } from "./signed-out-requests.js";

const area = "guard";
const LOGIN = "/idpauth/login/";
const NAVIGATES = { "sec-fetch-mode": "navigate" };

const CALLS = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
const TYPES = { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" };
const SENDS = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };

/** The headers that a program sends by itself: none. */
const NO_HEADERS: Readonly<Record<string, string | string[]>> = {
  accept: [],
  "sec-fetch-site": [],
  "sec-fetch-mode": [],
  "sec-fetch-dest": [],
};

/**
 * Header lines of a request, and the status for a signed-out user. `page`: 401 as a page, which a
 * browser shows after a form.
 */
const ASKED: readonly (readonly [
  method: string,
  headers: Readonly<Record<string, string>>,
  status: number | "page",
])[] = [
  ["GET", {}, 401],
  ["GET", { accept: "*/*" }, 401],
  ["GET", ACCEPTS_JSON, 401],
  ["GET", { accept: "application/json, text/html;q=0.9" }, 401],
  ["GET", { accept: "text/html;q=0" }, 401],
  ["GET", { accept: "application/json", "sec-fetch-mode": "cors" }, 401],
  ["GET", ACCEPTS_HTML, 302],
  ["GET", { accept: "text/html", "sec-fetch-mode": "cors" }, 302],
  ["GET", { accept: "*/*", ...NAVIGATES }, 302],
  ["GET", NAVIGATES, 302],
  ["HEAD", {}, 401],
  ["HEAD", ACCEPTS_JSON, 401],
  ["HEAD", ACCEPTS_HTML, 302],
  ["HEAD", NAVIGATES, 302],
  ["POST", {}, 401],
  ["POST", ACCEPTS_JSON, 401],
  ["POST", ACCEPTS_HTML, "page"],
  ["POST", { ...ACCEPTS_HTML, ...NAVIGATES }, "page"],
  ["GET", { ...ACCEPTS_HTML, ...CALLS }, 401],
  ["HEAD", { ...ACCEPTS_HTML, ...CALLS }, 401],
  ["POST", { ...ACCEPTS_HTML, ...CALLS }, 401],
  ["GET", { ...ACCEPTS_HTML, ...CALLS, "sec-fetch-mode": "no-cors" }, 401],
  ["GET", { ...ACCEPTS_HTML, "sec-fetch-site": "same-origin" }, 302],
  ["GET", TYPES, 302],
  ["GET", { ...ACCEPTS_JSON, ...SENDS }, 302],
  ["POST", SENDS, "page"],
];

/** Pages whose paths, read as addresses, would lead to another origin. */
const MISLEADING = ["//evil.example/x", "/@evil.example"] as const;

function loginIn({ headers }: BrowserResponse): unknown {
  return headers["x-idpauth-login"];
}

/** What the login's address has in addition if another site began the navigation. */
function markFor(sent: Readonly<Record<string, unknown>>): string {
  return sent["sec-fetch-site"] === "cross-site" ? "&cross_site=true" : "";
}

/** The requests that the guard accepts, and its responses to the others. */
export const guardRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title: "a navigation is redirected to sign in and returns to the same page, with its query",
    async check(starter) {
      const app = await starter.start();
      for (const page of ["/reports", "/reports?year=2024&q=a%2Fb"]) {
        const response = await app.browser().navigate(page);
        assertRedirect(response, `${LOGIN}?${backTo(app.origin + page)}`);
        assertBlockedHeaders(response);
      }
      const page = await app.browser().follow("/reports?year=2024&q=a%2Fb&x=1+2#top");
      assert.deepEqual(
        [page.status, page.url.href],
        [200, `${app.origin}/reports?year=2024&q=a%2Fb&x=1+2#top`],
      );
    },
  },
  {
    area,
    title: "the query is kept byte for byte, for every kind of bytes",
    needs: "untouched requests",
    async check(starter) {
      const app = await starter.start();
      for (const query of [
        "?",
        "?q=%ff%00%&&x=1+2&x=1%202",
        "?next=//evil.example&u=http://evil.example/@x",
      ]) {
        const response = await app.browser().navigate(`/reports${query}`);
        assertRedirect(response, `${LOGIN}?${backTo(`${app.origin}/reports${query}`)}`);
        assertBlockedHeaders(response);
      }
    },
  },
  {
    area,
    title:
      "a page whose path resembles another address redirects back to the application's own origin",
    needs: "untouched requests",
    async check(starter) {
      const routes = MISLEADING.map((path): ApplicationRoute => ({
        kind: "json",
        method: "GET",
        path,
        guard: { mount: 0 },
        respond: () => ({ path }),
      }));
      const app = await starter.start({ routes });
      for (const path of MISLEADING) {
        const response = await app.browser().navigate(path);
        assertRedirect(response, `${LOGIN}?${backTo(app.origin + path)}`);
        const page = await app.browser().follow(path);
        assert.deepEqual(
          [page.status, page.url.href, page.json()],
          [200, app.origin + path, { path }],
        );
      }
    },
  },
  {
    area,
    title: "a request in absolute form for another origin is not redirected to that origin",
    needs: "raw targets",
    async check(starter) {
      const app = await starter.start();
      const response = await rawRequest(
        app.port,
        `GET http://evil.example/reports HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nAccept: text/html\r\n\r\n`,
      );
      assert.equal(response.status, 302, response.raw);
      assert.ok(response.header("location")?.startsWith(`${LOGIN}?`), response.raw);
      assert.ok(!response.raw.includes("evil"), response.raw);
    },
  },
  {
    area,
    title:
      "a GET or HEAD that navigates gets 302, any other request 401, which is a page after a form and JSON for a script, and names the login in X-Idpauth-Login",
    async check(starter) {
      const app = await starter.start();
      for (const [method, sent, expected] of ASKED) {
        const headers = { ...NO_HEADERS, ...sent };
        const response = await app.browser().get("/reports", { method, headers });
        const row = `${method} ${JSON.stringify(sent)}`;
        const status = expected === "page" ? 401 : expected;
        assert.equal(response.status, status, row);
        if (status === 401) {
          const type = expected === "page" ? "text/html" : "application/json";
          assert.deepEqual([mediaType(response), loginIn(response)], [type, LOGIN], row);
        }
        assertBlockedHeaders(response);
        const login = `${LOGIN}?${backTo(`${app.origin}/reports`)}`;
        assert.equal(response.location, status === 302 ? login + markFor(sent) : undefined, row);
        if (method === "HEAD") assert.equal(response.text, "", row);
      }
      assert.deepEqual([...app.ran], [], "the protected handler ran");
    },
  },
  {
    area,
    title:
      "a script gets a 401 with a JSON body that gives the state, the reason and the login address",
    async check(starter) {
      const app = await starter.start({ options: { sessionMaxAge: 600 } });
      const browser = app.browser();
      const body = (reason: string) => ({
        authenticated: false,
        user: null,
        error: "login_required",
        reason,
        login_url: LOGIN,
      });
      for (const method of ["GET", "POST"]) {
        const response = await browser.get("/reports", { method, headers: ACCEPTS_JSON });
        assert.deepEqual(
          [response.status, mediaType(response), response.json()],
          [401, "application/json", body("no_credentials")],
        );
        assert.equal(response.headers["cross-origin-resource-policy"], "same-origin");
      }
      await app.signedIn(browser);
      assert.equal((await browser.get("/reports")).status, 200);
      app.clock.advance(601_000);
      assert.deepEqual(
        (await browser.get("/reports", { headers: ACCEPTS_JSON })).json(),
        body("max_age"),
      );
    },
  },
  {
    area,
    title:
      "a 401 for htmx has HX-Redirect, a login that returns to the page that shows the fragment, or to the requested page if the link is boosted",
    async check(starter) {
      const app = await starter.start({ options: { sessionMaxAge: 600 } });
      const browser = await app.signedIn();
      app.clock.advance(601_000);
      const page = `${app.origin}/orders?open=a%2Fb#new`;
      const htmx = { ...CALLS, ...ACCEPTS_HTML, "hx-request": "true", "hx-current-url": page };
      const redirects = async (headers: Record<string, string>, method = "GET") => {
        const response = await browser.get("/reports?year=2024", { method, headers });
        assert.deepEqual(
          [response.status, mediaType(response), response.location, loginIn(response)],
          [401, "application/json", undefined, LOGIN],
        );
        assertBlockedHeaders(response);
        return response.headers["hx-redirect"];
      };
      const back = `${LOGIN}?${backTo(page)}`;
      assert.equal(await redirects(htmx), back);
      assert.equal(await redirects(htmx, "POST"), back);
      assert.equal(
        await redirects({ ...htmx, "hx-boosted": "true" }),
        `${LOGIN}?${backTo(`${app.origin}/reports?year=2024`)}`,
      );
      for (const elsewhere of [
        "https://evil.example/",
        `${app.origin}.evil.example/`,
        "//x",
        "/orders",
      ])
        assert.equal(await redirects({ ...htmx, "hx-current-url": elsewhere }), LOGIN, elsewhere);
      assert.equal(await redirects({ ...CALLS, "hx-current-url": page }), undefined);
      assert.deepEqual([...app.ran], [], "the protected handler ran");
      assert.equal((await browser.follow(back)).url.href, page);
    },
  },
  {
    area,
    title:
      "the protected handler never runs if the guard blocks, and runs once if the guard does not block",
    async check(starter) {
      const app = await starter.start({ options: { sessionMaxAge: 600 } });
      const browser = app.browser();
      const blocked: string[] = [];
      app.auth.on("blocked", ({ reason }) => blocked.push(reason));
      await browser.navigate("/reports");
      await browser.get("/reports");
      await browser.get("/reports", { method: "POST" });
      await browser.get("/reports", { method: "HEAD" });
      await browser.get("/reports", {
        headers: { cookie: "idpauth=planted; __Host-Http-idpauth=planted" },
      });
      assert.deepEqual(
        [[...app.ran], blocked],
        [[], Array.from({ length: 5 }, () => "no_credentials")],
      );
      await app.signedIn(browser);
      assert.equal((await browser.get("/reports")).status, 200);
      assert.equal(app.ran.get("/reports"), 1);
      assert.deepEqual((await browser.get("/reports", { method: "POST" })).json(), {
        posted: true,
      });
      assert.equal(app.ran.get("/reports"), 2);
      assert.equal((await browser.get("/public")).status, 200);
      app.clock.advance(601_000);
      assert.equal((await browser.get("/reports")).status, 401);
      assert.equal((await browser.navigate("/reports")).status, 302);
      assert.deepEqual([app.ran.get("/reports"), blocked.slice(5)], [2, ["max_age", "max_age"]]);
    },
  },
  {
    area,
    title: "a HEAD request of a signed-in user reaches the handler and gets no body",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const response = await browser.get("/reports", { method: "HEAD" });
      assert.deepEqual([response.status, response.text], [200, ""]);
    },
  },
  {
    area,
    title:
      "simultaneous requests after the ID token has expired share one refresh, and all get the fresh token",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      app.clock.advance(HOUR_MS);
      const responses = await Promise.all(
        Array.from({ length: 10 }, () => browser.get("/reports")),
      );
      assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
      assert.deepEqual(
        [...new Set(responses.map((response) => response.json().token))],
        [app.newest("access_token")],
      );
      assert.equal(app.provider.requestsTo("token", { grant_type: "refresh_token" }).length, 1);
    },
  },
];
