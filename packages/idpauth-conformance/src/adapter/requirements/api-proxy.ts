import assert from "node:assert/strict";
import type { ApplicationRoute } from "../adapter-under-test.js";
import { ACCEPTS_HTML, assertProblem, probe, SIGNED_IN } from "./assertions.js";
import { startProxy } from "./orders-api.js";
import type { AdapterRequirement } from "./requirement.js";
import { withinLimit } from "./time-limit.js";

const area = "apis";
const ITEMS = "/api/orders/items";

const CALLS_API: ApplicationRoute = {
  kind: "json",
  method: "GET",
  path: "/calls-api",
  respond: async ([auth], raw) =>
    (await auth?.fetchApi(raw, "orders", "items?page=2", { method: "POST", body: "sent" }))?.json(),
};

export const apiRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "a request reaches the API with the user's token, its query and the headers that may pass, and without the cookie",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      const response = await browser.get(`${ITEMS}?open=a%2Fb&x=+`, {
        headers: { "x-own": "1", prefer: "return=minimal", "remote-user": "root" },
      });
      assert.deepEqual([response.status, response.json()], [200, { method: "GET", body: "" }]);
      const [{ message } = assert.fail("nothing reached the API")] = app.api.calls;
      assert.equal(message.url, "/v2/items?open=a%2Fb&x=+");
      const { "x-own": own, prefer, "remote-user": user } = message.headers;
      assert.deepEqual([own, prefer, user], ["1", "return=minimal", undefined]);
      assert.deepEqual(app.api.tokens, [app.newest("access_token")]);
      const cookie =
        browser.cookies.header(new URL(app.origin)) ?? assert.fail("the browser has no cookie");
      assert.ok(!JSON.stringify(message.rawHeaders).includes(cookie), "the API gets the cookie");
    },
  },
  {
    area,
    title: "a path that an API could read differently gets 400, and a method outside the table 405",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      for (const path of ["..%2fadmin", "%252e%252e/admin", "a%5Cb", "a%2Fb", "a;b"]) {
        assertProblem(await browser.get(`/api/orders/${path}`), 400, "api_path_invalid");
      }
      const refused = await browser.get(ITEMS, { method: "DELETE" });
      assertProblem(refused, 405, "method_not_allowed");
      assert.equal(refused.headers.allow, "GET, HEAD, POST");
      assert.deepEqual(app.api.calls, []);
    },
  },
  {
    area,
    title: "a request for another path is the application's",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      assert.deepEqual((await browser.get("/public")).json(), { for: "everybody" });
      assert.equal((await browser.get("/api/ordersx")).status, 404);
      assert.deepEqual(app.api.calls, []);
    },
  },
  {
    area,
    title: "a signed-out request gets 401 as JSON, and a navigation the login, as with a guard",
    async check(starter) {
      const { browser, api } = await startProxy(starter);
      const blocked = await browser().get(ITEMS);
      assert.deepEqual(
        [blocked.status, (blocked.json() as { authenticated?: unknown }).authenticated],
        [401, false],
      );
      const page = await browser().navigate(ITEMS, { headers: ACCEPTS_HTML });
      assert.deepEqual([page.status, page.location?.split("?")[0]], [302, "/idpauth/login/"]);
      assert.deepEqual(api.calls, []);
    },
  },
  {
    area,
    title: "a page of another site gets 403 from the proxy, also for a GET",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      for (const site of ["cross-site", "same-site"]) {
        assertProblem(
          await browser.get(ITEMS, { headers: { "sec-fetch-site": site } }),
          403,
          "cross_origin",
        );
      }
      assert.deepEqual(app.api.calls, []);
    },
  },
  {
    area,
    title: "the rule of the proxy holds: a user whom `allow` refuses gets 403",
    async check(starter) {
      const app = await startProxy(starter, {
        rule: { allow: ({ user }) => user.email !== "ada@example.com" },
      });
      assert.equal((await (await app.signedIn()).get(ITEMS)).status, 403);
      assert.deepEqual(app.api.calls, []);
    },
  },
  {
    area,
    title:
      "responses to HEAD, and those with 204 and 304, arrive without a body, and with the API's status",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      for (const [path, method, status] of [
        [ITEMS, "HEAD", 200],
        ["/api/orders/status/204", "GET", 204],
        ["/api/orders/status/304", "GET", 304],
        ["/api/orders/status/500", "GET", 500],
      ] as const) {
        const response = await withinLimit(
          browser.get(path, { method }),
          `the response to ${method} ${path} does not end`,
        );
        assert.deepEqual([path, response.status, response.text], [path, status, ""]);
        assert.equal(app.api.calls.at(-1)?.message.method, method);
      }
    },
  },
  {
    area,
    title:
      "an API's response sets no cookie, stays out of shared caches, and its content has no rights of the application's origin",
    async check(starter) {
      const app = await startProxy(starter);
      const { headers } = await (await app.signedIn()).get(ITEMS);
      assert.deepEqual(
        [
          headers["cache-control"],
          headers["content-security-policy"],
          headers["x-content-type-options"],
        ],
        ["private, max-age=60", "sandbox", "nosniff"],
      );
      assert.match(String(headers.vary), /cookie/i);
      assert.doesNotMatch(String(headers["set-cookie"]), /theirs/);
    },
  },
  {
    area,
    title:
      "after a 401 from the API, the request is repeated once with a new token, and is then 502, while the session continues",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      await browser.get(ITEMS);
      const [first = ""] = app.api.tokens;
      app.api.rejected.add(first);
      assert.deepEqual((await browser.get(ITEMS, { method: "POST", body: "again" })).json(), {
        method: "POST",
        body: "again",
      });
      assert.deepEqual(app.api.tokens, [first, first, app.newest("access_token")]);
      app.api.rejected.add(app.newest("access_token"));
      const refreshes = app.provider.requestsTo("token").length;
      assertProblem(await browser.get(ITEMS), 502, "api_token_rejected");
      assert.ok(app.provider.requestsTo("token").length <= refreshes + 1, "more than one refresh");
      assert.deepEqual(await probe(browser), SIGNED_IN);
    },
  },
  {
    area,
    title: "an API that cannot be reached is a 502",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      await app.api.stop();
      assertProblem(await browser.get(ITEMS), 502, "api_unreachable");
    },
  },
  {
    area,
    title:
      "a body that a parser has read is an error with a name, and does not reach the API in another form",
    async check(starter) {
      const app = await startProxy(starter, { isAfterParser: true });
      const browser = await app.signedIn();
      const sent = {
        method: "POST",
        body: '{"a": 1.0}',
        headers: { "content-type": "application/json" },
      };
      assertProblem(await browser.get(ITEMS, sent), 500, "api_body_consumed");
      const { message = "" } = app.log.find(({ code }) => code === "api_failed") ?? {};
      assert.match(message, /other code, such as a body parser, had read its body/);
      assert.deepEqual(app.api.calls, []);
    },
  },
  {
    area,
    title: "fetchApi sends the application's own request to the API, with the user's token",
    async check(starter) {
      const app = await startProxy(starter, { routes: [CALLS_API] });
      const response = await (await app.signedIn()).get("/calls-api");
      assert.deepEqual(response.json(), { method: "POST", body: "sent" });
      assert.equal(app.api.calls[0]?.message.url, "/v2/items?page=2");
      assert.deepEqual(app.api.tokens, [app.newest("access_token")]);
    },
  },
];
