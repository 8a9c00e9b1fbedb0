import assert from "node:assert/strict";
import type { GuardRule } from "idpauth";
import type { ApplicationRoute } from "../adapter-under-test.js";
import {
  ACCEPTS_HTML,
  ACCEPTS_JSON,
  assertPage,
  assertProblem,
  assertRedirect,
  mediaType,
  probe,
  SIGNED_IN,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";
import { assertBlockedHeaders, backTo } from "./signed-out-requests.js";

const area = "guard";
const LOGIN = "/idpauth/login/";
const RULE = { maxAge: 60 };

/** A route for GET, and one for POST, with this rule. */
function guarded(
  path: string,
  rule: GuardRule,
  ownResponses: boolean | "failing" = false,
): readonly ApplicationRoute[] {
  return (["GET", "POST"] as const).map((method) => ({
    kind: "json",
    method,
    path,
    guard: { mount: 0, rule, ownResponses },
    respond: () => ({ inside: path }),
  }));
}

/** The rules of routes: `allow`, `maxAge` and `acr`. */
export const guardRuleRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "a route's allow lets only users pass for whom it returns true; others get 403, and the handler does not run",
    async check(starter) {
      const seen: unknown[] = [];
      const allow: GuardRule["allow"] = ({ user, claims, data }) => {
        seen.push([user.id, claims.sub, data["role"]]);
        return data["role"] === "admin";
      };
      const routes = [
        ...guarded("/admin", { allow }),
        ...guarded("/later", {
          allow: async (session) => Promise.resolve(session.user.email === "ada@example.com"),
        }),
        ...guarded("/truthy", { allow: () => "true" as unknown as boolean }),
      ];
      const app = await starter.start({
        routes,
        options: { onSignIn: ({ claims }) => ({ data: { role: claims.name } }) },
      });
      const browser = app.browser();
      assert.equal((await browser.navigate("/admin")).status, 302);
      assert.deepEqual(seen, [], "it ran for a user who is not signed in");
      await app.signedIn(browser);
      for (const path of ["/admin", "/truthy"]) {
        const page = await browser.navigate(path);
        assertPage(page, 403, "forbidden");
        assertBlockedHeaders(page);
        for (const method of ["GET", "POST"]) {
          assertProblem(
            await browser.get(path, { method, headers: ACCEPTS_JSON }),
            403,
            "forbidden",
          );
        }
      }
      assert.deepEqual([[...app.ran], app.caught], [[], []]);
      assert.deepEqual(seen[0], ["ada-1815", "ada-1815", "Ada Lovelace"]);
      assert.deepEqual((await browser.get("/later")).json(), { inside: "/later" });
      const admin = app.browser();
      await admin.navigate(
        await app.approved(admin, LOGIN, { sub: "root", email: "root@example.com", name: "admin" }),
      );
      assert.deepEqual((await admin.navigate("/admin")).json(), { inside: "/admin" });
      assert.deepEqual((await admin.get("/later")).status, 403);
      assert.deepEqual(await probe(browser), SIGNED_IN, "a refusal signed the user out");
    },
  },
  {
    area,
    title:
      "an allow that throws or rejects reaches the application's error handler, and the handler does not run",
    async check(starter) {
      const [thrown, rejected] = [new Error("the rule failed"), new Error("the rule failed later")];
      const throws = () => {
        throw thrown;
      };
      const routes = [
        ...guarded("/throws", { allow: throws }),
        ...guarded("/rejects", { allow: () => Promise.reject(rejected) }),
        // For some frameworks, nothing as an error means that the request may pass.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- As applications do.
        ...guarded("/nothing", { allow: () => Promise.reject() }),
      ];
      const app = await starter.start({ routes });
      const browser = await app.signedIn();
      for (const [path, error] of [
        ["/throws", thrown],
        ["/rejects", rejected],
      ] as const) {
        for (const [method, headers] of [
          ["GET", ACCEPTS_HTML],
          ["POST", ACCEPTS_JSON],
        ] as const) {
          const response = await browser.get(path, { method, headers });
          assert.deepEqual([response.status, response.json()], [500, { caught: error.message }]);
          assert.equal(
            app.caught.at(-1),
            error,
            "it is another error than the one that was thrown",
          );
        }
      }
      for (const method of ["GET", "POST"]) {
        const response = await browser.get("/nothing", { method });
        assert.equal(response.status, 500);
        assert.match(String(app.caught.at(-1)), /`allow` threw/);
      }
      assert.deepEqual([app.caught.length, [...app.ran]], [6, []]);
    },
  },
  {
    area,
    title:
      "an application's own responses go to users whom a route's rule does not let pass, and the handler does not run",
    async check(starter) {
      const forbidden = { allow: () => false };
      const routes = [
        ...guarded("/forbidden", forbidden, true),
        ...guarded("/recent", RULE, true),
        ...guarded("/failing", forbidden, "failing"),
        ...guarded("/failing-recent", RULE, "failing"),
      ];
      const app = await starter.start({ routes });
      const browser = await app.signedIn();
      app.clock.advance(120_000);
      for (const method of ["GET", "POST"]) {
        const refused = await browser.get("/forbidden", { method });
        assert.deepEqual([refused.status, refused.json()], [423, { kind: "forbidden" }]);
        const script = await browser.get("/recent", { method });
        assert.deepEqual(
          [script.status, script.json()],
          [424, { isNavigation: false, loginUrl: `${LOGIN}?max_age=60` }],
        );
      }
      const page = await browser.navigate("/recent?a=b");
      const loginUrl = `${LOGIN}?${backTo(`${app.origin}/recent?a=b`)}&max_age=60`;
      assert.deepEqual([page.status, page.json()], [424, { isNavigation: true, loginUrl }]);
      for (const path of ["/failing", "/failing-recent"]) {
        const response = await browser.navigate(path);
        assert.deepEqual([response.status, response.json()], [500, { caught: "no response" }]);
      }
      assert.deepEqual([app.caught.length, [...app.ran]], [2, []]);
    },
  },
  {
    area,
    title:
      "a route's maxAge: a recent sign-in passes; later, a navigation authenticates again and returns to the page, and other requests get 401 (RFC 9470)",
    async check(starter) {
      // The provider sends `auth_time` on request only. The setting is on by itself where a route is
      // declared before the first login; Next.js and NestJS declare theirs later.
      const options = { requestAuthTime: true };
      const app = await starter.start({ routes: guarded("/transfer", RULE), options });
      const browser = await app.signedIn();
      assert.equal((await browser.get("/transfer")).status, 200);
      app.clock.advance(120_000);
      for (const method of ["GET", "POST"]) {
        const script = await browser.get("/transfer", { method, headers: ACCEPTS_JSON });
        assert.deepEqual(
          [script.status, mediaType(script)],
          [401, "application/json"],
          script.text,
        );
        assertBlockedHeaders(script);
        const challenge = script.headers["www-authenticate"] ?? "";
        assert.match(challenge, /^Bearer error="insufficient_user_authentication", .*max_age="60"/);
        const { error, login_url: loginUrl } = script.json() as Record<string, unknown>;
        assert.deepEqual(
          [error, loginUrl],
          ["insufficient_user_authentication", `${LOGIN}?max_age=60`],
        );
        assert.equal(script.headers["x-idpauth-login"], loginUrl);
      }
      const asked = await browser.navigate("/transfer?to=7");
      assertRedirect(asked, `${LOGIN}?${backTo(`${app.origin}/transfer?to=7`)}&max_age=60`);
      assert.equal(app.ran.get("/transfer"), 1, "the protected handler ran");
      const page = await browser.follow("/transfer?to=7");
      assert.deepEqual(
        [page.status, page.url.href, page.json()],
        [200, `${app.origin}/transfer?to=7`, { inside: "/transfer" }],
      );
      assert.equal((await browser.get("/transfer", { method: "POST" })).status, 200);
      app.clock.advance(120_000);
      assert.equal((await browser.get("/transfer", { method: "POST" })).status, 401);
      assert.deepEqual([await probe(browser), app.caught], [SIGNED_IN, []]);
    },
  },
];
