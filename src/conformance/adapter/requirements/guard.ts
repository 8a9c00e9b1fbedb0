import assert from "node:assert/strict";
import { rawRequest } from "../../../testing/browser/raw-request.js";
import type { ApplicationRoute } from "../adapter-under-test.js";
import { ACCEPTS_HTML, ACCEPTS_JSON, assertRedirect, mediaType } from "./answers.js";
import { assertBlockedHeaders, backTo } from "./blocked.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "guard";
const HOUR = 3_600_000;
const LOGIN = "/idpauth/login/";
const NAVIGATES = { "sec-fetch-mode": "navigate" };

/** What a header line of the request says, and the status that a visitor gets who is not signed in. */
const ASKED: readonly (readonly [method: string, headers: Readonly<Record<string, string>>, status: number])[] = [
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
  ["POST", ACCEPTS_HTML, 401],
  ["POST", { ...ACCEPTS_HTML, ...NAVIGATES }, 401],
];

/** Pages whose paths, taken for something else, would lead elsewhere. */
const MISLEADING = ["//evil.example/x", "/@evil.example"] as const;

/** Whom the guard lets in, and how it sends the others away. */
export const guardRequirements: readonly AdapterRequirement[] = [
  {
    area,
    promise: "a navigation is sent to sign in and back to the very page, with its query",
    async check(stage) {
      const app = await stage.start();
      for (const page of ["/reports", "/reports?year=2024&q=a%2Fb"]) {
        const answer = await app.browser().navigate(page);
        assertRedirect(answer, `${LOGIN}?${backTo(app.origin + page)}`);
        assertBlockedHeaders(answer);
      }
      const page = await app.browser().follow("/reports?year=2024&q=a%2Fb&x=1+2#top");
      assert.deepEqual([page.status, page.url.href], [200, `${app.origin}/reports?year=2024&q=a%2Fb&x=1+2#top`]);
    },
  },
  {
    area,
    promise: "its query is kept byte for byte, whatever is in it",
    needs: "untouched requests",
    async check(stage) {
      const app = await stage.start();
      for (const query of ["?", "?q=%ff%00%&&x=1+2&x=1%202", "?next=//evil.example&u=http://evil.example/@x"]) {
        const answer = await app.browser().navigate(`/reports${query}`);
        assertRedirect(answer, `${LOGIN}?${backTo(`${app.origin}/reports${query}`)}`);
        assertBlockedHeaders(answer);
      }
    },
  },
  {
    area,
    promise: "a page whose path looks like another address leads back to our own origin",
    needs: "untouched requests",
    async check(stage) {
      const routes = MISLEADING.map((path): ApplicationRoute => ({
        kind: "json",
        method: "GET",
        path,
        guard: { mount: 0 },
        answer: () => ({ path }),
      }));
      const app = await stage.start({ routes });
      for (const path of MISLEADING) {
        const answer = await app.browser().navigate(path);
        assertRedirect(answer, `${LOGIN}?${backTo(app.origin + path)}`);
        const page = await app.browser().follow(path);
        assert.deepEqual([page.status, page.url.href, page.json()], [200, app.origin + path, { path }]);
      }
    },
  },
  {
    area,
    promise: "a request in absolute form, for another host, is not sent to that host",
    needs: "raw targets",
    async check(stage) {
      const app = await stage.start();
      const answer = await rawRequest(
        app.port,
        `GET http://evil.example/reports HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nAccept: text/html\r\n\r\n`,
      );
      assert.equal(answer.status, 302, answer.raw);
      assert.ok(answer.header("location")?.startsWith(`${LOGIN}?`), answer.raw);
      assert.ok(!answer.raw.includes("evil"), answer.raw);
    },
  },
  {
    area,
    promise: "a GET or HEAD that prefers HTML or navigates gets 302, anything else 401, and a POST is never redirected",
    async check(stage) {
      const app = await stage.start();
      for (const [method, headers, status] of ASKED) {
        const answer = await app.browser().get("/reports", { method, headers });
        const row = `${method} ${JSON.stringify(headers)}`;
        assert.equal(answer.status, status, row);
        assertBlockedHeaders(answer);
        assert.equal(answer.location, status === 302 ? `${LOGIN}?${backTo(`${app.origin}/reports`)}` : undefined, row);
        if (method === "HEAD") assert.equal(answer.text, "", row);
      }
      assert.deepEqual([...app.ran], [], "the protected handler ran");
    },
  },
  {
    area,
    promise: "a script is told 401 with a JSON body: signed out, why, and where to sign in",
    async check(stage) {
      const app = await stage.start({ options: { sessionMaxAge: 600 } });
      const browser = app.browser();
      const body = (reason: string) => ({ authenticated: false, user: null, error: "login_required", reason, login_url: LOGIN });
      for (const method of ["GET", "POST"]) {
        const answer = await browser.get("/reports", { method, headers: ACCEPTS_JSON });
        assert.deepEqual([answer.status, mediaType(answer), answer.json()], [401, "application/json", body("no_credentials")]);
        assert.equal(answer.headers["cross-origin-resource-policy"], "same-origin");
      }
      await app.signedIn(browser);
      assert.equal((await browser.get("/reports")).status, 200);
      app.clock.advance(601_000);
      assert.deepEqual((await browser.get("/reports", { headers: ACCEPTS_JSON })).json(), body("max_age"));
    },
  },
  {
    area,
    promise: "the protected handler never runs when the guard blocks, and once when it does not",
    async check(stage) {
      const app = await stage.start({ options: { sessionMaxAge: 600 } });
      const browser = app.browser();
      const blocked: string[] = [];
      app.auth.on("blocked", ({ reason }) => blocked.push(reason));
      await browser.navigate("/reports");
      await browser.get("/reports");
      await browser.get("/reports", { method: "POST" });
      await browser.get("/reports", { method: "HEAD" });
      await browser.get("/reports", { headers: { cookie: "idpauth=planted; __Host-idpauth=planted" } });
      assert.deepEqual([[...app.ran], blocked], [[], Array.from({ length: 5 }, () => "no_credentials")]);
      await app.signedIn(browser);
      assert.equal((await browser.get("/reports")).status, 200);
      assert.equal(app.ran.get("/reports"), 1);
      assert.deepEqual((await browser.get("/reports", { method: "POST" })).json(), { posted: true });
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
    promise: "a signed-in visitor's HEAD is let through and has no body",
    async check(stage) {
      const app = await stage.start();
      const browser = await app.signedIn();
      const answer = await browser.get("/reports", { method: "HEAD" });
      assert.deepEqual([answer.status, answer.text], [200, ""]);
    },
  },
  {
    area,
    promise: "requests that come together when the ID token has expired share one refresh, and all get the fresh token",
    async check(stage) {
      const app = await stage.start();
      const browser = await app.signedIn();
      app.clock.advance(HOUR);
      const answers = await Promise.all(Array.from({ length: 10 }, () => browser.get("/reports")));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      assert.deepEqual([...new Set(answers.map((answer) => answer.json().token))], [app.newest("access_token")]);
      assert.equal(app.provider.requestsTo("token", { grant_type: "refresh_token" }).length, 1);
    },
  },
];
