import assert from "node:assert/strict";
import { assertHeaders, assertProblem, ownCookies, probe, PROBE, SIGNED_IN } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const LOGIN = "/idpauth/login/";
const LOGOUT = "/idpauth/logout/";
const LOGINS = [LOGIN, "/idpauth/login"];
const ACTING = ["login-callback?state=x&code=y", "logout/", "logout"].map(
  (path) => `/idpauth/${path}`,
);
const READING = ["", "session", "session/", "debug"].map((path) => `/idpauth/${path}`);

/** The headers that HEAD shares with GET. */
const SAME_BY_HEAD = [
  "cache-control",
  "content-security-policy",
  "content-type",
  "cross-origin-resource-policy",
  "referrer-policy",
  "vary",
  "x-content-type-options",
];

export const methodRequirements: readonly AdapterRequirement[] = [
  {
    area: "methods",
    title:
      "a method other than GET gets 405 with Allow, has no effect, and opens nothing to other origins",
    async check(starter) {
      const app = await starter.start({ options: { debug: true } });
      const browser = await app.signedIn();
      const asked = app.provider.requests.length;
      const preflight = { origin: "https://evil.example", "access-control-request-method": "GET" };
      for (const [targets, allow] of [
        [LOGINS, ["GET", "POST"]],
        [ACTING, ["GET"]],
        [READING, ["GET", "HEAD"]],
      ] as const) {
        for (const target of targets) {
          for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
            if (allow.some((allowed) => allowed === method)) continue;
            const response = await browser.get(target, {
              method,
              ...(method === "OPTIONS" && { headers: preflight }),
            });
            const row = `${method} ${target}`;
            assertProblem(response, 405, "method_not_allowed");
            assert.deepEqual(
              response.headers.allow?.split(",").map((name) => name.trim()),
              allow,
              row,
            );
            assert.deepEqual(ownCookies(response), [], row);
            assertHeaders(response, row);
          }
        }
      }
      assert.equal(app.provider.requests.length, asked);
      assert.deepEqual(await probe(browser), SIGNED_IN);
    },
  },
  {
    area: "methods",
    title:
      "a form that is posted to the login is redirected to it with its fields, without an effect",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const asked = app.provider.requests.length;
      const fields = "login_hint=ada+%26+co&scheme=DEFAULT";
      for (const target of LOGINS) {
        const response = await browser.navigate(target, {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: fields,
          from: "https://portal.example/",
        });
        assert.deepEqual([response.status, response.location], [303, `${LOGIN}?${fields}`]);
        assert.deepEqual(ownCookies(response), []);
        assertHeaders(response, target);
      }
      const odd = { headers: { "content-type": "text/plain" }, body: fields, method: "POST" };
      assertProblem(await browser.get(LOGIN, odd), 400, "invalid_parameter");
      assert.equal(app.provider.requests.length, asked);
      assert.deepEqual(await probe(browser), SIGNED_IN);
    },
  },
  {
    area: "methods",
    title: "a request body of any type changes nothing about a 405",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (const [type, body] of [
        ["application/x-www-form-urlencoded", "response=json"],
        ["application/json", '{"broken'],
        ["text/plain", "x"],
        ["made/up", "x"],
      ] as const) {
        for (const target of [LOGOUT, PROBE]) {
          assertProblem(
            await browser.get(target, { method: "POST", headers: { "content-type": type }, body }),
            405,
            "method_not_allowed",
          );
        }
      }
      assert.deepEqual(await probe(browser), SIGNED_IN);
    },
  },
  {
    area: "methods",
    title:
      "HEAD on index, session and debug gets the headers of GET without a body, does not refresh, and does not count as use",
    async check(starter) {
      const app = await starter.start({ options: { debug: true, sessionIdleTimeout: 3600 } });
      const browser = await app.signedIn();
      for (const target of [...READING, "/idpauth"]) {
        const [get, head] = [
          await browser.get(target),
          await browser.get(target, { method: "HEAD" }),
        ];
        assert.deepEqual([head.status, head.text], [200, ""], target);
        for (const name of SAME_BY_HEAD)
          assert.equal(head.headers[name], get.headers[name], `${target}: ${name}`);
        const length = head.headers["content-length"];
        // It is GET's length, or absent (RFC 9110 section 8.6).
        if (length !== undefined)
          assert.equal(Number(length), Buffer.byteLength(get.text), `${target}: Content-Length`);
      }
      const asked = app.provider.requests.length;
      app.clock.advance(3_600_000);
      for (const target of READING) await browser.get(target, { method: "HEAD" });
      assert.equal(app.provider.requests.length, asked);
      app.clock.advance(1_000);
      assert.equal((await probe(browser, "?details=true"))["reason"], "idle");
    },
  },
  {
    area: "methods",
    title: "HEAD on login, login-callback and logout gets 405 without an effect",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const callback = await app.approved(browser);
      const asked = app.provider.requests.length;
      for (const target of [...LOGINS, ...ACTING, callback]) {
        const response = await browser.get(target, { method: "HEAD" });
        assert.deepEqual(
          [response.status, response.headers.allow, response.text],
          [405, LOGINS.includes(target) ? "GET, POST" : "GET", ""],
          target,
        );
        assert.deepEqual(ownCookies(response), []);
        assertHeaders(response, target);
      }
      assert.equal(app.provider.requests.length, asked);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal((await browser.navigate(callback)).status, 302);
    },
  },
];
