import assert from "node:assert/strict";
import type { CookieBrowser } from "idpauth/testing";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { StartedApplication } from "../application-starter.js";
import {
  assertRedirect,
  GRACE,
  mediaType,
  probe,
  SIGNED_IN,
  SIGNED_OUT,
  SITE_UNKNOWN,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";
import { withinLimit } from "./time-limit.js";

const area = "signing out";
const FORM = "application/x-www-form-urlencoded";
const BACK_CHANNEL = "/idpauth/backchannel-logout";
const FRONT_CHANNEL = "/idpauth/frontchannel-logout";
const SESSIONS = "/idpauth/sessions";
const LOGOUT = "/idpauth/logout/?response=json";
/** Bytes, over the bound of a form. */
const REFUSED_BODY_BYTES = 65_537;

function post(app: StartedApplication, path: string, body: string, type = FORM) {
  return app.browser().get(path, { method: "POST", headers: { "content-type": type }, body });
}

/** The claim `sid` of the newest session at the provider. */
function sidOf(app: StartedApplication): string {
  const [, payload = ""] = app.newest("id_token").split(".");
  return (JSON.parse(Buffer.from(payload, "base64url").toString()) as { sid: string }).sid;
}

/**
 * Posts the form of the sessions page.
 * @param headers without `sec-fetch-site`, the request has none
 */
function end(browser: CookieBrowser, which: string, headers: Record<string, string>) {
  const all = { "content-type": FORM, ...SITE_UNKNOWN, ...headers };
  return browser.navigate(SESSIONS, { method: "POST", headers: all, body: `end=${which}` });
}

/**
 * A guarded route whose response comes when the session ends, and one whose signal outlives its
 * response.
 */
function watching(): { routes: ApplicationRoute[]; opened: Promise<void>; signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const guard = { mount: 0 };
  const routes: ApplicationRoute[] = [
    {
      kind: "json",
      method: "GET",
      path: "/until-the-end",
      guard,
      async respond([auth], raw) {
        const signal = auth?.whenEnded(raw);
        assert.ok(signal !== undefined);
        const ended = new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => {
            resolve();
          });
        });
        open();
        await ended;
        const { code, reason } = signal.reason as {
          readonly code: string;
          readonly reason: string;
        };
        return { code, reason };
      },
    },
    {
      kind: "json",
      method: "GET",
      path: "/at-once",
      guard,
      respond([auth], raw) {
        const signal = auth?.whenEnded(raw);
        if (signal !== undefined) signals.push(signal);
        return {};
      },
    },
  ];
  return { routes, opened, signals };
}

export const signingOutRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "a posted logout token ends the session that it names, and the response is 200 with no-store",
    session: "bundled",
    async check(starter) {
      const app = await starter.start({ options: { backchannelLogout: true } });
      const other = app.browser();
      assert.equal(
        (await other.navigate(await app.approved(other, "/idpauth/login/", GRACE))).status,
        302,
      );
      const browser = await app.signedIn();
      const response = await post(
        app,
        BACK_CHANNEL,
        `logout_token=${app.provider.logoutToken({ sid: sidOf(app) })}`,
      );
      assert.deepEqual(
        [response.status, response.headers["cache-control"]],
        [200, "no-store"],
        response.text,
      );
      assert.deepEqual(
        [await probe(browser), (await probe(other))["authenticated"]],
        [SIGNED_OUT, true],
      );
    },
  },
  {
    area,
    title:
      "a logout token in a body that is too large, of another type, or missing gets 400, and the connection stays usable",
    session: "bundled",
    async check(starter) {
      const app = await starter.start({ options: { backchannelLogout: true } });
      const browser = await app.signedIn();
      const token = app.provider.logoutToken({ sid: sidOf(app) });
      const field = `logout_token=${token}`;
      const refused: readonly (readonly [body: string, type: string])[] = [
        [`${field}&padding=${"x".repeat(REFUSED_BODY_BYTES)}`, FORM],
        [field, "text/plain"],
        [JSON.stringify({ logout_token: token }), "application/json"],
        [`${field}&${field}`, FORM],
        ["", FORM],
      ];
      for (const [body, type] of refused) {
        const response = await post(app, BACK_CHANNEL, body, type);
        assert.equal(
          response.status,
          400,
          `${type}, ${String(body.length)} bytes: ${String(response.status)}`,
        );
      }
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal((await post(app, BACK_CHANNEL, field)).status, 200);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
  {
    area,
    title: "an endpoint that takes a form gets 405 for another method, with the methods in Allow",
    session: "bundled",
    async check(starter) {
      const app = await starter.start({ options: { backchannelLogout: true, sessionsPage: true } });
      for (const [path, methods, allow] of [
        [BACK_CHANNEL, ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"], "POST"],
        [SESSIONS, ["HEAD", "PUT", "DELETE", "OPTIONS"], "GET, POST"],
      ] as const) {
        for (const method of methods) {
          const response = await app.browser().get(path, { method });
          assert.deepEqual(
            [response.status, response.headers.allow],
            [405, allow],
            `${method} ${path}`,
          );
        }
      }
    },
  },
  {
    area,
    title:
      "a front-channel logout ends the session, and its page may be framed by the provider alone",
    session: "bundled",
    async check(starter) {
      const app = await starter.start({ options: { frontchannelLogout: true } });
      const browser = await app.signedIn();
      const { issuer } = app.provider;
      const target = `${FRONT_CHANNEL}?iss=${encodeURIComponent(issuer)}&sid=${sidOf(app)}`;
      const response = await app
        .browser()
        .navigate(target, { headers: { "sec-fetch-dest": "iframe" } });
      const policy = String(response.headers["content-security-policy"]);
      assert.deepEqual([response.status, mediaType(response)], [200, "text/html"], response.text);
      assert.ok(policy.split(/; */).includes(`frame-ancestors ${new URL(issuer).origin}`), policy);
      assert.deepEqual(
        [response.headers["x-frame-options"], response.headers["cache-control"]],
        [undefined, "no-store"],
      );
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
  {
    area,
    title:
      "a logout with logoutAtProvider goes to the provider and comes back by logout-callback to the application's address",
    async check(starter) {
      const app = await starter.start({
        options: { logoutAtProvider: true, authLogoutRedirectUrl: "/public?bye=1" },
      });
      const browser = await app.signedIn();
      const callback = "/idpauth/logout-callback";
      app.provider.settings.postLogoutRedirectUris = [app.origin + callback];
      const first = await browser.navigate("/idpauth/logout/");
      const location = new URL(first.location ?? "", app.origin);
      assert.deepEqual(
        [first.status, location.origin],
        [302, new URL(app.provider.issuer).origin],
        first.location,
      );
      assert.equal(location.searchParams.get("post_logout_redirect_uri"), app.origin + callback);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      const state = location.searchParams.get("state") ?? "";
      assertRedirect(await browser.navigate(`${callback}?state=${state}`), "/public?bye=1");
    },
  },
  {
    area,
    title: "a form of the sessions page ends the other sessions, if it comes from the same origin",
    session: "bundled",
    async check(starter) {
      const app = await starter.start({ options: { sessionsPage: true } });
      const [other, browser] = [await app.signedIn(), await app.signedIn()];
      for (const foreign of [
        {},
        { origin: "https://evil.example" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "cross-site" },
      ]) {
        assert.equal((await end(browser, "others", foreign)).status, 403, JSON.stringify(foreign));
      }
      assert.deepEqual([await probe(other), await probe(browser)], [SIGNED_IN, SIGNED_IN]);
      const response = await end(browser, "others", { origin: app.origin });
      assert.deepEqual([response.status, response.location], [303, SESSIONS]);
      assert.deepEqual([await probe(other), await probe(browser)], [SIGNED_OUT, SIGNED_IN]);
      assert.equal((await end(browser, "all", { "sec-fetch-site": "same-origin" })).status, 303);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
  {
    area,
    title: "whenEnded fires with the reason while the response is open, when the session ends",
    async check(starter) {
      const { routes, opened } = watching();
      const app = await starter.start({ routes });
      const browser = await app.signedIn();
      const response = browser.get("/until-the-end");
      await withinLimit(Promise.race([opened, response]), "the route does not run");
      await browser.navigate(LOGOUT);
      const { status, text } = await withinLimit(response, "the signal does not fire");
      assert.deepEqual(
        [status, JSON.parse(text)],
        [200, { code: "session_ended", reason: "logout" }],
      );
    },
  },
  {
    area,
    title: "whenEnded releases its signal when the response is complete",
    async check(starter) {
      const { routes, signals } = watching();
      const app = await starter.start({ routes });
      const browser = await app.signedIn();
      assert.equal((await browser.get("/at-once")).status, 200);
      await browser.navigate(LOGOUT);
      assert.deepEqual(
        signals.map(({ aborted }) => aborted),
        [false],
      );
    },
  },
];
