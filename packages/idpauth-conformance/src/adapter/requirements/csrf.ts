import assert from "node:assert/strict";
import type { CookieBrowser } from "idpauth/testing";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { StartedApplication } from "../application-starter.js";
import {
  ACCEPTS_HTML,
  assertPage,
  assertProblem,
  probe,
  SIGNED_OUT,
  SITE_UNKNOWN,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "csrf";
const PUBLIC = "https://app.example";

const ROUTES: readonly ApplicationRoute[] = [
  { kind: "json", method: "GET", path: "/items", respond: () => ({ items: [] }) },
  { kind: "json", method: "POST", path: "/items", respond: () => ({ created: true }) },
];

function start(starter: Parameters<AdapterRequirement["check"]>[0], options: object = {}) {
  return starter.start({ routes: ROUTES, csrf: true, options });
}

/** @param headers without `sec-fetch-site`, the request has none */
function post(
  browser: CookieBrowser,
  headers: Readonly<Record<string, string | string[]>>,
  path = "/items",
) {
  return browser.get(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...SITE_UNKNOWN, ...headers },
    body: "{}",
  });
}

/** Headers that do not show the application's own origin. */
function foreign(origin: string): readonly Readonly<Record<string, string | string[]>>[] {
  const own = { origin, "x-idpauth": "1" };
  return [
    {},
    { "x-idpauth": "" },
    ...["cross-site", "same-site", "Same-Origin", "garbage", ""].map((site) => ({
      "sec-fetch-site": site,
      ...own,
    })),
    { "sec-fetch-site": ["same-origin", "same-origin"], ...own },
    ...[
      "null",
      "",
      "https://evil.example",
      origin.replace("http:", "https:"),
      `${origin}1`,
      `${origin}.`,
      `${origin}/`,
    ].map((other) => ({
      origin: other,
      "x-idpauth": "1",
    })),
  ];
}

/** The reasons of the `blocked` events. */
function blockedReasons({ auth }: StartedApplication): string[] {
  const reasons: string[] = [];
  auth.on("blocked", ({ reason }) => void reasons.push(reason));
  return reasons;
}

export const csrfRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "a POST that does not show the application's own origin gets 403, and its route does not run",
    async check(starter) {
      const app = await start(starter);
      for (const headers of foreign(app.origin)) {
        const response = await post(app.browser(), headers);
        assert.equal(
          response.status,
          403,
          `${JSON.stringify(headers)}: ${String(response.status)}`,
        );
        assertProblem(response, 403, "cross_origin");
      }
      assert.equal(app.ran.get("/items"), undefined);
    },
  },
  {
    area,
    title:
      "a POST runs its route if Sec-Fetch-Site, without it Origin, and without both X-Idpauth shows the application's own origin",
    async check(starter) {
      const app = await start(starter);
      const reasons = blockedReasons(app);
      for (const headers of [
        { "sec-fetch-site": "same-origin" },
        { "sec-fetch-site": "none", origin: "null" },
        { origin: app.origin },
        { "x-idpauth": "1" },
      ]) {
        const response = await post(app.browser(), headers);
        assert.deepEqual(
          [response.status, response.text],
          [200, JSON.stringify({ created: true })],
          JSON.stringify(headers),
        );
      }
      assert.deepEqual(reasons, []);
    },
  },
  {
    area,
    title: "GET and HEAD pass from every site",
    async check(starter) {
      const app = await start(starter);
      for (const method of ["GET", "HEAD"]) {
        const headers = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
        assert.equal((await app.browser().get("/items", { method, headers })).status, 200, method);
      }
    },
  },
  {
    area,
    title:
      "a refused form is a page for a browser, and the event blocked has the reason cross_origin",
    async check(starter) {
      const app = await start(starter);
      const reasons = blockedReasons(app);
      assertPage(
        await post(app.browser(), { ...ACCEPTS_HTML, origin: "https://evil.example" }),
        403,
        "cross_origin",
      );
      assert.deepEqual(reasons, ["cross_origin"]);
    },
  },
  {
    area,
    title: "behind a trusted proxy the own origin is the public one",
    async check(starter) {
      const app = await start(starter, { trustProxy: true });
      const browser = app.browser({ origin: PUBLIC, proxied: { [PUBLIC]: app.port } });
      assert.equal((await post(browser, { origin: PUBLIC })).status, 200);
      assertProblem(await post(browser, { origin: app.origin }), 403, "cross_origin");
    },
  },
  {
    area,
    title: "the endpoints pass, so that a provider can end sessions",
    session: "bundled",
    async check(starter) {
      const app = await start(starter, { backchannelLogout: true });
      const browser = await app.signedIn();
      const [, payload = ""] = app.newest("id_token").split(".");
      const { sid } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { sid: string };
      const response = await app.browser().get("/idpauth/backchannel-logout", {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: `logout_token=${app.provider.logoutToken({ sid })}`,
      });
      assert.equal(response.status, 200, response.text);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
];
