import assert from "node:assert/strict";
import type { BrowserResponse } from "../../../testing/browser/cookie-browser.js";
import { TestClock } from "../../../testing/test-clock.js";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { StartedApplication } from "../stage.js";
import { WatchedStore } from "../watched-store.js";
import { ACCEPTS_HTML, ACCEPTS_JSON, assertPage, assertProblem, assertRetryAfter, ownCookies } from "./answers.js";
import { assertBlockedHeaders, backTo } from "./blocked.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "guard";
const HOUR = 3_600_000;
const LOGIN = "/idpauth/login/";
const NO_ANSWER = JSON.stringify({ caught: "no answer" });

/** What the guard answers in an outage, in the application's own way, and beside what others put on the answer. */
export const guardResponseRequirements: readonly AdapterRequirement[] = [
  {
    area,
    promise: "while the provider is away it answers 503 with Retry-After, runs no handler, and nobody is signed out",
    async check(stage) {
      const app = await stage.start();
      const browser = await app.signedIn();
      app.clock.advance(HOUR);
      app.provider.fault("token", { kind: "status", status: 503 });
      await assertOutage(app, () => browser.get("/reports", { headers: ACCEPTS_JSON }), "provider_unavailable");
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
    promise: "while the store is away it answers 503 with Retry-After, runs no handler, and touches no cookie",
    session: "bundled",
    async check(stage) {
      const clock = new TestClock();
      const store = new WatchedStore(clock);
      const app = await stage.start({ clock, options: { store } });
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
    promise: "an application gives answers of its own to a navigation, to a script and in an outage, and the handler does not run",
    async check(stage) {
      const routes: readonly ApplicationRoute[] = (["GET", "POST"] as const).map((method) => ({
        kind: "json",
        method,
        path: "/own",
        guard: { mount: 0, ownResponses: true },
        answer: () => ({ own: true }),
      }));
      const app = await stage.start({ routes });
      const browser = app.browser();
      const navigation = await browser.navigate("/own?a=b");
      assert.equal(navigation.status, 418);
      const loginUrl = `${LOGIN}?${backTo(`${app.origin}/own?a=b`)}`;
      assert.deepEqual([navigation.json()], [{ reason: "no_credentials", loginUrl }]);
      for (const method of ["GET", "POST"]) {
        const script = await browser.get("/own", { method });
        assert.deepEqual([script.status, script.json()], [419, { reason: "no_credentials", loginUrl: LOGIN }]);
      }
      assert.deepEqual([...app.ran], []);
      await app.signedIn(browser);
      assert.deepEqual((await browser.get("/own")).json(), { own: true });
      app.clock.advance(HOUR);
      app.provider.fault("token", { kind: "reset" });
      const outage = await browser.get("/own");
      assert.deepEqual([outage.status, outage.json()], [520, { code: "provider_unavailable" }]);
      assert.deepEqual([[...app.ran], app.caught], [[["/own", 1]], []]);
    },
  },
  {
    area,
    promise: "an answer of the application's own that fails reaches the application's error handler, not the process",
    async check(stage) {
      const guard = { mount: 0, ownResponses: "failing" } as const;
      const app = await stage.start({ routes: [{ kind: "json", method: "GET", path: "/own", guard, answer: () => ({ own: true }) }] });
      const browser = app.browser();
      for (const headers of [ACCEPTS_HTML, ACCEPTS_JSON]) {
        const answer = await browser.get("/own", { headers });
        assert.deepEqual([answer.status, answer.text], [500, NO_ANSWER]);
      }
      await app.signedIn(browser);
      app.clock.advance(HOUR);
      app.provider.fault("token", { kind: "reset" });
      assert.equal((await browser.get("/own")).text, NO_ANSWER);
      assert.deepEqual([app.caught.length, [...app.ran]], [3, []]);
    },
  },
  {
    area,
    promise: "what earlier middleware put into Vary and Set-Cookie stays on every answer, each cookie a line of its own",
    needs: "earlier headers",
    async check(stage) {
      const earlier = [
        ["Set-Cookie", "a=1; Path=/"],
        ["Set-Cookie", "b=2; Path=/; Expires=Thu, 01 Jan 2037 00:00:00 GMT"],
        ["Vary", "Accept-Encoding"],
        ["X-Earlier", "kept"],
      ] as const;
      const app = await stage.start({ earlier });
      const browser = app.browser();
      const [answer, others] = [
        (path: string, headers = {}) => browser.get(path, { headers }),
        earlier.slice(0, 2).map(([, line]) => line),
      ];
      for (const one of [
        await answer("/reports", ACCEPTS_HTML),
        await answer("/reports"),
        await answer("/idpauth/session"),
        await answer("/idpauth/login/?scheme=EVIL"),
        await answer(LOGIN),
        await answer("/idpauth/logout/?response=json"),
      ]) {
        const row = `${one.url.pathname} ${one.status}`;
        const vary = String(one.headers.vary).split(/, */);
        assert.deepEqual([vary.includes("Accept-Encoding"), vary.includes("Cookie")], [true, true], `${row}: Vary: ${vary.join()}`);
        assert.deepEqual(
          others.map((line) => one.setCookies.filter((other) => other === line).length),
          [1, 1],
          `${row}: ${one.setCookies.join(" | ")}`,
        );
        assert.equal(one.headers["x-earlier"], "kept", row);
      }
      const login = await app.browser().navigate(LOGIN);
      if (stage.session === "bundled") assert.equal(ownCookies(login).length, 1);
      assert.equal(login.setCookies.length, 3, login.setCookies.join(" | "));
    },
  },
  {
    area,
    promise: "without a guard nothing is asked of the visitor, and the answer is the application's alone",
    async check(stage) {
      const app = await stage.start();
      const answer = await app.browser().navigate("/public");
      assert.deepEqual([answer.status, answer.json(), ownCookies(answer)], [200, { for: "everybody" }, []]);
      for (const name of ["referrer-policy", "content-security-policy"]) assert.equal(answer.headers[name], undefined, name);
    },
  },
];

async function assertOutage(app: StartedApplication, ask: () => Promise<BrowserResponse>, code: string): Promise<void> {
  const answer = await ask();
  assertProblem(answer, 503, code);
  assertRetryAfter(answer);
  assertBlockedHeaders(answer);
  assert.deepEqual([...app.ran], [], "the protected handler ran");
}
