import assert from "node:assert/strict";
import type { BrowserResponse } from "idpauth/testing";
import { TestClock } from "idpauth/testing";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { StartedApplication } from "../application-starter.js";
import { WatchedStore } from "../watched-store.js";
import {
  ACCEPTS_HTML,
  ACCEPTS_JSON,
  assertPage,
  assertProblem,
  assertRetryAfter,
  ownCookies,
} from "./assertions.js";
import { HOUR_MS, type AdapterRequirement } from "./requirement.js";
import { assertBlockedHeaders, backTo } from "./signed-out-requests.js";

const area = "guard";
const LOGIN = "/idpauth/login/";
const NO_RESPONSE = JSON.stringify({ caught: "no response" });

/**
 * The guard's responses during an outage, the application's own responses, and the headers of
 * earlier middleware.
 */
export const guardResponseRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "during a provider outage the guard responds with 503 and Retry-After, runs no handler, and doesn't sign anyone out",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      app.clock.advance(HOUR_MS);
      app.provider.fault("token", { kind: "status", status: 503 });
      await assertOutage(
        app,
        () => browser.get("/reports", { headers: ACCEPTS_JSON }),
        "provider_unavailable",
      );
      const page = await browser.navigate("/reports");
      assertPage(page, 503, "provider_unavailable");
      assertRetryAfter(page);
      assertProblem(await browser.get("/reports", { method: "POST" }), 503, "provider_unavailable");
      assert.deepEqual([...app.ran], []);
      app.provider.clearFaults();
      app.clock.advance(61_000);
      assert.equal((await browser.get("/reports")).status, 200);
      assert.deepEqual(app.caught, []);
    },
  },
  {
    area,
    title:
      "during a store outage the guard responds with 503 and Retry-After, runs no handler, and touches no cookie",
    session: "bundled",
    async check(starter) {
      const clock = new TestClock();
      const store = new WatchedStore(clock);
      const app = await starter.start({ clock, options: { store } });
      const browser = await app.signedIn();
      store.isAway = true;
      await assertOutage(app, () => browser.get("/reports"), "store_unavailable");
      const page = await browser.navigate("/reports");
      assertPage(page, 503, "store_unavailable");
      assert.deepEqual([page.setCookies, [...app.ran]], [[], []]);
      store.isAway = false;
      assert.equal((await browser.get("/reports")).status, 200);
    },
  },
  {
    area,
    title:
      "an application's own responses go to navigations, to scripts and during an outage, and the handler does not run",
    async check(starter) {
      const routes: readonly ApplicationRoute[] = (["GET", "POST"] as const).map((method) => ({
        kind: "json",
        method,
        path: "/own",
        guard: { mount: 0, ownResponses: true },
        respond: () => ({ own: true }),
      }));
      const app = await starter.start({ routes });
      const browser = app.browser();
      const navigation = await browser.navigate("/own?a=b");
      assert.equal(navigation.status, 418);
      const loginUrl = `${LOGIN}?${backTo(`${app.origin}/own?a=b`)}`;
      assert.deepEqual([navigation.json()], [{ reason: "no_credentials", loginUrl }]);
      for (const method of ["GET", "POST"]) {
        const script = await browser.get("/own", { method });
        assert.deepEqual(
          [script.status, script.json()],
          [419, { reason: "no_credentials", loginUrl: LOGIN }],
        );
      }
      assert.deepEqual([...app.ran], []);
      await app.signedIn(browser);
      assert.deepEqual((await browser.get("/own")).json(), { own: true });
      app.clock.advance(HOUR_MS);
      app.provider.fault("token", { kind: "reset" });
      const outage = await browser.get("/own");
      assert.deepEqual([outage.status, outage.json()], [520, { code: "provider_unavailable" }]);
      assert.deepEqual([[...app.ran], app.caught], [[["/own", 1]], []]);
    },
  },
  {
    area,
    title:
      "an application's own response that throws reaches the application's error handler and does not end the process",
    async check(starter) {
      const guard = { mount: 0, ownResponses: "failing" } as const;
      const app = await starter.start({
        routes: [
          { kind: "json", method: "GET", path: "/own", guard, respond: () => ({ own: true }) },
        ],
      });
      const browser = app.browser();
      for (const headers of [ACCEPTS_HTML, ACCEPTS_JSON]) {
        const response = await browser.get("/own", { headers });
        assert.deepEqual([response.status, response.text], [500, NO_RESPONSE]);
      }
      await app.signedIn(browser);
      app.clock.advance(HOUR_MS);
      app.provider.fault("token", { kind: "reset" });
      assert.equal((await browser.get("/own")).text, NO_RESPONSE);
      assert.deepEqual([app.caught.length, [...app.ran]], [3, []]);
    },
  },
  {
    area,
    title:
      "the Vary and Set-Cookie values of earlier middleware stay on every response, each cookie in a line of its own",
    needs: "earlier headers",
    async check(starter) {
      const earlier = [
        ["Set-Cookie", "a=1; Path=/"],
        ["Set-Cookie", "b=2; Path=/; Expires=Thu, 01 Jan 2037 00:00:00 GMT"],
        ["Vary", "Accept-Encoding"],
        ["X-Earlier", "kept"],
      ] as const;
      const app = await starter.start({ earlier });
      const browser = app.browser();
      const [response, others] = [
        (path: string, headers = {}) => browser.get(path, { headers }),
        earlier.slice(0, 2).map(([, line]) => line),
      ];
      for (const one of [
        await response("/reports", ACCEPTS_HTML),
        await response("/reports"),
        await response("/idpauth/session"),
        await response("/idpauth/login/?scheme=EVIL"),
        await response(LOGIN),
        await response("/idpauth/logout/?response=json"),
      ]) {
        const row = `${one.url.pathname} ${one.status}`;
        const vary = String(one.headers.vary).split(/, */);
        assert.deepEqual(
          [vary.includes("Accept-Encoding"), vary.includes("Cookie")],
          [true, true],
          `${row}: Vary: ${vary.join()}`,
        );
        assert.deepEqual(
          others.map((line) => one.setCookies.filter((other) => other === line).length),
          [1, 1],
          `${row}: ${one.setCookies.join(" | ")}`,
        );
        assert.equal(one.headers["x-earlier"], "kept", row);
      }
      const login = await app.browser().navigate(LOGIN);
      if (starter.session === "bundled") assert.equal(ownCookies(login).length, 1);
      assert.equal(login.setCookies.length, 3, login.setCookies.join(" | "));
    },
  },
  {
    area,
    title:
      "a route without a guard is open to every user, and its response is the application's alone",
    async check(starter) {
      const app = await starter.start();
      const response = await app.browser().navigate("/public");
      assert.deepEqual(
        [response.status, response.json(), ownCookies(response)],
        [200, { for: "everybody" }, []],
      );
      for (const name of ["referrer-policy", "content-security-policy"])
        assert.equal(response.headers[name], undefined, name);
    },
  },
];

async function assertOutage(
  app: StartedApplication,
  ask: () => Promise<BrowserResponse>,
  code: string,
): Promise<void> {
  const response = await ask();
  assertProblem(response, 503, code);
  assertRetryAfter(response);
  assertBlockedHeaders(response);
  assert.deepEqual([...app.ran], [], "the protected handler ran");
}
