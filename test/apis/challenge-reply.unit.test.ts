// The response to a user who needs another login before an API can be used, without servers.
import { describe, expect, it } from "vitest";
import type { SessionRequest } from "../../src/access/session-request.js";
import type { Challenge } from "../../src/apis/challenge.js";
import { challengeReply } from "../../src/apis/challenge-reply.js";
import type { Pages } from "../../src/pages/pages.js";
import { TestClock } from "../../src/testing/test-clock.js";

const ORIGIN = "https://app.example";
const LOGIN = "/app/idpauth/login/?api=orders&max_age=60";
const NAVIGATION: Record<string, string> = {
  "sec-fetch-site": "same-origin",
  "sec-fetch-mode": "navigate",
};
const SCRIPT = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", accept: "text/html" };
const NOW = 1_800_000_000;
const CHALLENGE: Challenge = {
  status: 401,
  error: "insufficient_user_authentication",
  parameters: { max_age: "60" },
};

/** An application with one user's browser. @param record the user's session; undefined: there is none */
function application(record?: { asked_apis?: string[]; idp_login_at?: number }) {
  const clock = new TestClock(NOW * 1000);
  const shown: unknown[] = [];
  let reads = 0;
  const pages = {
    error: async (model: unknown, _request: unknown, headers: Record<string, string>) => {
      shown.push(model);
      return { status: 401, headers, body: "page" };
    },
  } as unknown as Pages;
  const read = async () => {
    reads += 1;
    const { asked_apis, ...rest } = record ?? {};
    return record && { ...rest, idp_state: { ...(asked_apis && { asked_apis }) } };
  };
  const get = async ({
    method = "GET",
    headers = NAVIGATION,
    login: loginUrl = LOGIN,
    challenge = CHALLENGE,
    target = "/api/orders/5?a=b%2Fc",
  } = {}) => {
    const request = { method, target, header: (name: string) => headers[name] };
    const opened = { request, origin: ORIGIN, session: { read } } as unknown as SessionRequest;
    const settings = { pathPrefix: "/app" };
    const login = { api: "orders", loginUrl };
    return challengeReply({ challenge, ...login }, opened, { settings, pages, clock });
  };
  return { shown, get, reads: () => reads };
}

const queryOf = (location: string) => {
  const { pathname, searchParams } = new URL(location, ORIGIN);
  return [pathname, Object.fromEntries(searchParams)];
};
const BACK = { scheme: "PRESERVE_ORIGIN_QP", origin_url: `${ORIGIN}/app/api/orders/5?a=b%2Fc` };

describe("a step-up", () => {
  it.each(["GET", "HEAD"])("redirects a navigation by %s to the login and back", async (method) => {
    const { get } = application();
    const { status, headers } = await get({ method });
    expect([status, queryOf(headers["Location"]!)]).toEqual([
      302,
      ["/app/idpauth/login/", { api: "orders", max_age: "60", ...BACK }],
    ]);
  });

  it("by a login without parameters leads back, too", async () => {
    const { headers } = await application().get({ login: "/idpauth/login/" });
    expect(queryOf(headers["Location"]!)).toEqual(["/idpauth/login/", BACK]);
  });

  it.each<[Challenge]>([
    [CHALLENGE],
    [{ status: 403, error: "insufficient_scope", parameters: { scope: "orders:write" } }],
  ])("is JSON for a script, without a read of the session: %j", async (challenge) => {
    const { get, reads, shown } = application();
    const { status, headers, body } = await get({ headers: SCRIPT, challenge });
    expect([status, JSON.parse(body!)]).toEqual([
      challenge.status,
      { authenticated: true, error: challenge.error, ...challenge.parameters, login_url: LOGIN },
    ]);
    expect(headers).toMatchObject({
      "WWW-Authenticate": `Bearer error="${challenge.error}"`,
      "X-Idpauth-Login": LOGIN,
    });
    expect([reads(), shown]).toEqual([0, []]);
  });

  it("leads htmx to the login and back to its page, but not again if that login didn't help", async () => {
    const headers = {
      ...SCRIPT,
      "hx-request": "true",
      "hx-current-url": `${ORIGIN}/app/orders?a=b#c`,
    };
    const { status, headers: sent } = await application().get({ headers });
    expect([status, sent["X-Idpauth-Login"], queryOf(sent["HX-Redirect"]!)]).toEqual([
      401,
      LOGIN,
      [
        "/app/idpauth/login/",
        {
          api: "orders",
          max_age: "60",
          scheme: "PRESERVE_ORIGIN_QP",
          origin_url: `${ORIGIN}/app/orders?a=b#c`,
        },
      ],
    ]);
    const again = await application({ asked_apis: ["orders"], idp_login_at: NOW }).get({ headers });
    expect([again.status, again.headers["X-Idpauth-Login"], again.headers["HX-Redirect"]]).toEqual([
      401,
      LOGIN,
      undefined,
    ]);
  });

  it("is a page for a form, without a read of the session", async () => {
    const { get, reads, shown } = application();
    const page = await get({ method: "POST" });
    expect([page.body, page.headers, reads()]).toEqual(["page", { "X-Idpauth-Login": LOGIN }, 0]);
    expect(shown).toEqual([
      {
        code: "insufficient_user_authentication",
        action: { label: "action.signInAgain", href: LOGIN },
      },
    ]);
  });

  it("after a login for this API, which didn't help, is a page that offers another one", async () => {
    const { get, shown } = application({ asked_apis: ["billing", "orders"], idp_login_at: NOW });
    const { headers } = await application().get();
    const page = await get();
    expect([page.status, page.headers]).toEqual([401, { "X-Idpauth-Login": LOGIN }]);
    expect(shown).toEqual([
      {
        code: "insufficient_user_authentication",
        action: { label: "action.signInAgain", href: headers["Location"] },
      },
    ]);
    // A script is told as ever.
    expect((await get({ headers: SCRIPT })).body).toContain("login_url");
  });

  it("on a page that another site's link or form has led to keeps the mark of that site", async () => {
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    const { get, shown } = application({ asked_apis: ["orders"], idp_login_at: NOW });
    await get({ headers });
    await get({ headers, method: "POST" });
    await get({ headers, method: "POST", login: "/app/idpauth/login/" });
    const links = (shown as { action: { href: string } }[]).map(({ action }) => action.href);
    expect(links.map((href) => queryOf(href)[1])).toEqual([
      { api: "orders", max_age: "60", ...BACK, cross_site: "true" },
      { api: "orders", max_age: "60", cross_site: "true" },
      { cross_site: "true" },
    ]);
  });

  it.each([
    ["for this API, just now", ["orders"], NOW - 59, 401],
    ["for this API, a minute ago", ["orders"], NOW - 60, 302],
    ["for another API", ["billing"], NOW, 302],
    ["for no API", [], NOW, 302],
    ["of an older version", undefined, NOW, 302],
    ["at an unknown time", ["orders"], undefined, 302],
  ])("after a login %s (%j at %s) is %i", async (_which, asked, at, status) => {
    const { get } = application({
      ...(asked && { asked_apis: asked }),
      ...(at !== undefined && { idp_login_at: at }),
    });
    expect((await get()).status).toBe(status);
  });
});
