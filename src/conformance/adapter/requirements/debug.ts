import assert from "node:assert/strict";
import type { ApplicationRoute } from "../adapter-under-test.js";
import { assertProblem, assertRedirect, mediaType, probe, PROBE, SIGNED_IN } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";
import { leaksIn, secretsOf } from "./secrets.js";

const DEBUG = "/idpauth/debug";
const HOUR = 3600;

/** A route that responds with the record's specified keys. */
const RECORD: ApplicationRoute = {
  kind: "json",
  method: "GET",
  path: "/record",
  respond: ([auth], raw) => auth?.readSessionRecord(raw) ?? null,
};

const loginFrom = (originUrl: string) =>
  `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: originUrl }).toString()}`;

export const debugRequirements: readonly AdapterRequirement[] = [
  {
    area: "debug",
    title: "outside debug mode every method and spelling gets 404, the same as an unknown path",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const [response, other] = [await browser.get(DEBUG, { method }), await browser.get("/idpauth/nothing", { method })];
        assert.equal(response.status, 404, method);
        assert.deepEqual([response.text, response.headers.allow], [other.text, undefined], method);
        if (method !== "HEAD") assertProblem(response, 404, "not_found");
      }
      for (const rest of [
        "debug/",
        "debug?x=1",
        "debug//",
        "DEBUG",
        "Debug/",
        "%64ebug",
        "debug.json",
        "debug/x",
        "/debug",
        "./debug",
        "x/../debug",
      ]) {
        // A server may merge slashes and dots or redirect there; the endpoint must stay unreachable.
        const response = await browser.follow(`/idpauth/${rest}`);
        assert.equal(response.status, 404, rest);
      }
    },
  },
  {
    area: "debug",
    title: "the record holds a debug key only in debug mode, with the decisions of the last login",
    core: true,
    async check(starter) {
      for (const debug of [false, true]) {
        const app = await starter.start({ options: { debug }, routes: [RECORD] });
        const rows: readonly (readonly [login: string, decision: object])[] = [
          [loginFrom(`${app.origin}/a`), { scheme: "PRESERVE_ORIGIN_QP", origin: "accepted", final_redirect: `${app.origin}/a` }],
          [loginFrom("https://evil.example/"), { scheme: "PRESERVE_ORIGIN_QP", origin: "rejected", final_redirect: "/idpauth/" }],
          ["/idpauth/login/", { scheme: "DEFAULT", origin: "not_used", final_redirect: "/idpauth/" }],
        ];
        for (const [login, decision] of rows) {
          const browser = app.browser();
          await browser.navigate(login);
          assert.deepEqual((await browser.get("/record")).json().debug, debug ? decision : undefined);
          if (debug) assert.deepEqual((await browser.get(DEBUG)).json().session.debug, decision);
        }
      }
    },
  },
  {
    area: "debug",
    title:
      "the endpoint responds with JSON of session, policy, settings and checks, tokens and secrets as present or absent, the user as the user payload",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { debug: true, sessionMaxAge: 7200 } });
      const browser = app.browser();
      const page = `${app.origin}/reports`;
      assertRedirect(await browser.navigate(await app.approved(browser, loginFrom(page))), page);
      const signedInAt = Math.floor(app.clock.now() / 1000);
      app.clock.advance(60_000);
      const response = await browser.get(DEBUG);
      assert.deepEqual([response.status, mediaType(response)], [200, "application/json"]);
      const { session, settings, checks, ...rest } = response.json() as Record<"session" | "settings" | "checks", Record<string, unknown>>;
      assert.deepEqual(Object.keys(rest), ["policy"]);
      assert.deepEqual(session["credentials"], {
        token: "present",
        refresh_token: "present",
        token_uri: `${app.provider.issuer}/token`,
        client_id: app.provider.clientId,
        client_secret: "present",
        scopes: ["openid", "email", "profile", "offline_access"],
      });
      assert.deepEqual([session["id_info"], session["final_redirect"], session["idp_login_at"]], [SIGNED_IN.user, page, signedInAt]);
      for (const [name, value] of [
        ["SECRET_KEY", "present"],
        ["SECRET_KEY_FALLBACKS", "absent"],
        ["IDP_CLIENT_SECRET", "present"],
        ["IDP_CLIENT_ID", app.provider.clientId],
        ["IDP_SESSION_MAX_AGE", 7200],
        ["IDP_DEBUG", true],
      ] as const) {
        assert.equal(settings[name], value, name);
      }
      assert.ok(Array.isArray(checks));
    },
  },
  {
    area: "debug",
    title: "the endpoint leaks no token, secret, state, nonce, verifier, subject or cookie of the whole run",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { debug: true } });
      const browser = await app.signedIn();
      app.clock.advance(HOUR * 1_000);
      await probe(browser);
      await app.approved(browser);
      const response = await browser.get(DEBUG);
      const secrets = secretsOf(app);
      for (const kind of ["code", "access_token", "refresh_token", "id_token", "state", "nonce", "verifier"]) {
        assert.ok(
          secrets.some(([its]) => its === kind),
          `the run has made no ${kind}`,
        );
      }
      const cookies = browser.cookies.all().map(({ name, value }): [string, string] => [`cookie ${name}`, value]);
      assert.ok(cookies.length > 0);
      // The framework's session middleware may send its cookie again, so headers are not checked.
      assert.deepEqual(leaksIn(response.text, [...secrets, ...cookies, ["sub", "ada-1815"]]), []);
    },
  },
  {
    area: "debug",
    title: "the endpoint is open to every user in debug mode, and says that there is no session",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { debug: true } });
      const { session, policy } = (await app.browser().get(DEBUG)).json() as { session: unknown; policy: { verdict: unknown } };
      assert.deepEqual([session, policy.verdict], [null, { kind: "ended", reason: "no_credentials" }]);
    },
  },
  {
    area: "debug",
    title: "the endpoint does not refresh and does not count as use",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { debug: true, sessionIdleTimeout: HOUR } });
      const browser = await app.signedIn();
      const asked = app.provider.requests.length;
      app.clock.advance(HOUR * 1_000);
      assert.deepEqual((await browser.get(DEBUG)).json().policy.verdict, { kind: "refresh", reason: "id_token_expired" });
      assert.equal((await browser.get(DEBUG, { method: "HEAD" })).status, 200);
      assert.equal(app.provider.requests.length, asked);
      app.clock.advance(1_000);
      assert.equal((await browser.get(`${PROBE}?details=true`)).json().reason, "idle");
    },
  },
];
