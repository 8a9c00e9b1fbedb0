// The response to a user who needs another login before an API can be used, without servers.
import { describe, expect, it } from "vitest";
import type { SessionRequest } from "../../src/access/session-access.js";
import type { Challenge } from "../../src/apis/challenge.js";
import { stepUpReply } from "../../src/apis/step-up.js";
import type { Pages } from "../../src/pages/pages.js";
import { TestClock } from "../../src/testing/test-clock.js";

const ORIGIN = "https://app.example";
const LOGIN = "/app/idpauth/login/?api=orders&max_age=60";
const NAVIGATION: Record<string, string> = {
  "sec-fetch-site": "same-origin",
  "sec-fetch-mode": "navigate",
};
const SCRIPT = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", accept: "text/html" };
const CHALLENGE: Challenge = {
  status: 401,
  error: "insufficient_user_authentication",
  parameters: { max_age: "60" },
};

/** An application with one user's browser. */
function application() {
  const clock = new TestClock();
  const shown: unknown[] = [];
  const pages = {
    error: async (model: unknown, _request: unknown, headers: Record<string, string>) => {
      shown.push(model);
      return { status: 401, headers, body: "page" };
    },
  } as unknown as Pages;
  const session = { key: "key-1", reads: 0 };
  const user = { iss: "https://login.example", sub: "ada" };
  let loginAt = clock.now() / 1000 - 3600;
  let isGone = false;
  const get = async ({
    method = "GET",
    headers = NAVIGATION,
    login = LOGIN,
    challenge = CHALLENGE,
    target = "/api/orders/5?a=b%2Fc",
  } = {}) => {
    const opened = {
      request: { method, target, header: (name: string) => headers[name] },
      origin: ORIGIN,
      session: {
        key: session.key,
        read: async () => (
          (session.reads += 1),
          isGone ? undefined : { id_info: user, idp_login_at: loginAt }
        ),
      },
    } as unknown as SessionRequest;
    const settings = { pathPrefix: "/app" };
    return stepUpReply(challenge, login, opened, { settings, pages, clock });
  };
  return {
    ...{ clock, shown, session, user, get },
    /** The key of the session changes with each sign-in. */
    signIn(at = clock.now() / 1000) {
      session.key += "+";
      loginAt = at;
    },
    signOut: () => (isGone = true),
    async status(options?: Parameters<typeof get>[0]) {
      return (await get(options)).status;
    },
  };
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
  ])("is JSON for a script, without a look at the session: %j", async (challenge) => {
    const { get, session, shown } = application();
    const { status, headers, body } = await get({ headers: SCRIPT, challenge });
    expect([status, JSON.parse(body!)]).toEqual([
      challenge.status,
      { authenticated: true, error: challenge.error, ...challenge.parameters, login_url: LOGIN },
    ]);
    expect(headers).toMatchObject({
      "WWW-Authenticate": `Bearer error="${challenge.error}"`,
      "X-Idpauth-Login": LOGIN,
    });
    expect([session.reads, shown]).toEqual([0, []]);
  });

  it("is a page for a form, which is no attempt", async () => {
    const { get, shown, signIn, status } = application();
    const page = await get({ method: "POST" });
    expect([page.body, page.headers]).toEqual(["page", { "X-Idpauth-Login": LOGIN }]);
    expect(shown).toEqual([
      {
        code: "insufficient_user_authentication",
        action: { label: "action.signInAgain", href: LOGIN },
      },
    ]);
    signIn();
    expect(await status()).toBe(302);
  });
});

describe("a login that didn't help", () => {
  it("isn't tried again by itself for a minute, but offered", async () => {
    const { get, shown, signIn, status, clock } = application();
    const { headers } = await get();
    clock.advance(5_000);
    signIn();
    const page = await get();
    expect([page.status, page.headers]).toEqual([401, { "X-Idpauth-Login": LOGIN }]);
    expect(shown).toEqual([
      {
        code: "insufficient_user_authentication",
        action: { label: "action.signInAgain", href: headers["Location"] },
      },
    ]);
    clock.advance(59_000);
    expect(await status()).toBe(401);
    clock.advance(1_000);
    expect(await status()).toBe(302);
  });

  it("was none if the user hasn't signed in since, such as after Back", async () => {
    const { status, signIn } = application();
    signIn();
    expect([await status(), await status(), await status()]).toEqual([302, 302, 302]);
    signIn();
    expect(await status()).toBe(401);
  });

  it("can be tried again by another sign-in, a minute after the last one", async () => {
    const { status, signIn, clock } = application();
    await status();
    signIn(clock.now() / 1000 - 60);
    expect(await status()).toBe(302);
    signIn();
    expect(await status()).toBe(401);
  });

  it("concerns this demand, this user and this application alone", async () => {
    const { status, signIn, user } = application();
    await status();
    signIn();
    expect(await status({ login: `${LOGIN}&acr_values=mfa` })).toBe(302);
    user.sub = "grace";
    expect(await status()).toBe(302);
    Object.assign(user, { sub: "ada", iss: "https://other.example" });
    expect(await status()).toBe(302);
    user.iss = "https://login.example";
    expect(await status({ target: "/api/orders/6" })).toBe(401);
    const other = application();
    other.signIn();
    expect(await other.status()).toBe(302);
  });

  it("counts as none if the session is gone", async () => {
    const { status, signIn, signOut } = application();
    signOut();
    expect(await status()).toBe(302);
    signIn();
    expect(await status()).toBe(302);
  });

  it("is remembered for the last 1000 demands", async () => {
    const { status, signIn } = application();
    const demand = (at: number) => status({ login: `${LOGIN}&at=${String(at)}` });
    for (const at of [0, 1, 0]) await demand(at);
    for (let at = 2; at <= 1000; at++) await demand(at);
    signIn();
    // The first one was demanded again, so that the second one was the oldest.
    expect([await demand(0), await demand(2), await demand(1)]).toEqual([401, 401, 302]);
  });
});
