import assert from "node:assert/strict";
import {
  ACCEPTS_HTML,
  ACCEPTS_JSON,
  assertHeaders,
  assertPage,
  assertProblem,
  ownCookies,
  probe,
  SAYS_SCRIPT,
  SIGNED_IN,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const LOGIN = "/idpauth/login/";
const LOGOUT = "/idpauth/logout/";

/** Every kind of response, with its status for signed-out and signed-in users. */
const ANSWERS: readonly (readonly [
  target: string,
  headers: Readonly<Record<string, string>>,
  status: number,
])[] = [
  ["/idpauth/", {}, 200],
  ["/idpauth", {}, 200],
  ["/idpauth/style.css", {}, 200],
  ["/idpauth/session", {}, 200],
  ["/idpauth/debug", {}, 200],
  ["/idpauth/login/?scheme=x", SAYS_SCRIPT, 400],
  ["/idpauth/login/?scheme=x", { ...ACCEPTS_HTML, ...SAYS_SCRIPT }, 400],
  ["/idpauth/login/", { purpose: "prefetch" }, 503],
  ["/idpauth/login/?response=json", {}, 200],
  ["/idpauth/login/", SAYS_SCRIPT, 302],
  ["/idpauth/login-callback", {}, 400],
  ["/idpauth/login-callback", ACCEPTS_JSON, 400],
  ["/idpauth/nothing", {}, 404],
  ["/idpauth/nothing", ACCEPTS_HTML, 404],
  ["/idpauth/logout/?response=x", SAYS_SCRIPT, 400],
  ["/idpauth/logout/?response=json", {}, 200],
  ["/idpauth/logout/", SAYS_SCRIPT, 302],
];

export const httpRequirements: readonly AdapterRequirement[] = [
  {
    area: "http",
    title:
      "every response carries the common headers, a page a Content-Security-Policy, JSON a Cross-Origin-Resource-Policy, a redirect no body",
    async check(starter) {
      const app = await starter.start({ options: { debug: true } });
      for (const browser of [app.browser(), await app.signedIn()]) {
        for (const [target, headers, status] of ANSWERS) {
          const response = await browser.get(target, { headers });
          assert.equal(response.status, status, target);
          assertHeaders(response, `${target} ${JSON.stringify(headers)}`);
        }
      }
      const browser = app.browser();
      for (const change of ["code=", "error=access_denied&x="]) {
        const callback = (await app.approved(browser)).replace("code=", change);
        assertHeaders(await browser.navigate(callback), change);
      }
    },
  },
  {
    area: "http",
    title:
      "a path with or without its final slash is the same endpoint, without a redirect; only a file's path is exact",
    async check(starter) {
      const app = await starter.start({ options: { debug: true } });
      const browser = app.browser();
      for (const [path, status] of [
        ["", 200],
        ["?x=1", 200],
        ["/session?details=true", 200],
        ["/debug", 200],
        ["/login?response=json", 200],
        ["/logout?response=json", 200],
        ["/login-callback?state=x", 400],
        ["/popup", 200],
      ] as const) {
        for (const target of [`/idpauth${path}`, `/idpauth${path.replace(/(?=\?|$)/, "/")}`])
          assert.equal((await browser.get(target)).status, status, target);
      }
      for (const file of ["style.css", "popup.js"])
        assertProblem(await browser.get(`/idpauth/${file}/`), 404, "not_found");
    },
  },
  {
    area: "http",
    title:
      "a sign-in succeeds if a slash is added to the callback, and the provider gets the registered redirect_uri",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callback = new URL(await app.approved(browser));
      callback.pathname += "/";
      assert.equal((await browser.navigate(callback)).status, 302);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      const [exchange] = app.provider.requestsTo("token");
      assert.equal(exchange?.params.get("redirect_uri"), callback.href.replace(/\/\?.*/, ""));
    },
  },
  {
    area: "http",
    title:
      "an unknown path below the mount path gets a 404 as problem+json or page that does not repeat the path; letter case matters",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      for (const path of [
        "EVIL",
        "EVIL/x?y=EVIL",
        "login.EVIL",
        "session/EVIL",
        "LOGIN/",
        "Session",
        "%73ession",
        "__proto__",
        "constructor",
      ]) {
        const response = await browser.get(`/idpauth/${path}`);
        assertProblem(response, 404, "not_found");
        const page = await browser.navigate(`/idpauth/${path}`);
        assertPage(page, 404, "not_found");
        assert.doesNotMatch(response.text + page.text, /EVIL|__proto__|constructor/, path);
      }
    },
  },
  {
    area: "http",
    title: "paths outside the mount path belong to the application",
    async check(starter) {
      const app = await starter.start();
      assert.deepEqual((await app.browser().get("/public?next=/idpauth/session")).json(), {
        for: "everybody",
      });
      for (const path of ["/idpauth2", "/idpauthx/session", "/other/idpauth/session"]) {
        const response = await app.browser().get(path);
        assert.equal(response.status, 404, path);
        assert.ok(!response.text.includes("not_found"), `${path} was answered by idpauth`);
      }
    },
  },
  {
    area: "http",
    title:
      "a GET of login or logout that no click made gets 503 without an effect, and the later click works",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const asked = app.provider.requests.length;
      for (const headers of [
        { "sec-purpose": "prefetch" },
        { "sec-purpose": "prefetch;prerender" },
        { "sec-purpose": "Prefetch;anonymous-client-ip" },
        { purpose: "PREFETCH" },
        { "next-router-prefetch": "1" },
        { "x-sec-purpose": "prefetch" },
        { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" },
      ] as Record<string, string>[]) {
        for (const target of [LOGIN, `${LOGIN}?response=json`, LOGOUT, `${LOGOUT}?response=json`]) {
          const response = await browser.get(target, { headers });
          const row = `${target} ${JSON.stringify(headers)}`;
          assertProblem(response, 503, "prefetch_refused");
          assertHeaders(response, row);
          assert.deepEqual(ownCookies(response), [], row);
        }
      }
      for (const purpose of ["sec-purpose", "x-sec-purpose"]) {
        const page = await browser.navigate(LOGOUT, { headers: { [purpose]: "prefetch" } });
        assertPage(page, 503, "prefetch_refused");
      }
      for (const target of [LOGIN, LOGOUT]) {
        assertProblem(await browser.get(target), 503, "prefetch_refused");
        const byHtmx = await browser.get(target, { headers: { "hx-request": "true" } });
        assert.equal(byHtmx.headers["hx-redirect"], target);
      }
      const framed = { headers: { "sec-fetch-dest": "iframe" } };
      assert.equal((await browser.navigate(LOGOUT, framed)).status, 503);
      assert.equal(app.provider.requests.length, asked);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal(
        (await browser.navigate(LOGIN, { headers: { purpose: "navigate" } })).status,
        302,
      );
    },
  },
  {
    area: "http",
    title: "the Vary values of earlier middleware stay, on pages, redirects, JSON and errors",
    needs: "earlier headers",
    async check(starter) {
      const app = await starter.start({
        options: { debug: true },
        earlier: [["Vary", "Accept-Language"]],
      });
      const browser = app.browser();
      for (const [target, headers] of ANSWERS) {
        const { vary } = (await browser.get(target, { headers })).headers;
        const names = vary?.split(",").map((name) => name.trim().toLowerCase()) ?? [];
        for (const name of ["accept-language", "cookie"])
          assert.ok(names.includes(name), `${target}: Vary is ${String(vary)}`);
      }
    },
  },
];
