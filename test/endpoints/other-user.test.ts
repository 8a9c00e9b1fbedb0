import { request, type RequestOptions } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { deny } from "../../src/application/hooks.js";
import type { PersonClaims } from "../../src/testing/provider/test-provider.js";
import {
  OWN_ORIGIN,
  type Answer,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { startExpressApplication } from "../support/express-application.js";
import { settled } from "../../src/testing/settled.js";
import { application as app, start as startPlain, store } from "../support/one-application.js";

const ADA = { sub: "ada-1815", email: "ada@example.com", name: "Ada Lovelace" };
const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };
const PAGE = `${OWN_ORIGIN}/reports?year=2024#q3`;
const LOGIN = "/idpauth/login/";
const BACK_TO_PAGE = `${LOGIN}?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: PAGE }).toString()}`;
const CROSS = { "sec-fetch-site": "cross-site" };
const UNKNOWN = { "sec-fetch-site": undefined };

type Headers = Readonly<Record<string, string | undefined>>;

let signIns: unknown[];

afterEach(() => app.stop());

function start(options: ApplicationOptions = {}): Promise<TestUser> {
  signIns = [];
  return startPlain({ ...options, onSignIn: ({ claims }) => void signIns.push(claims.email) });
}

/**
 * Starts a login with these headers and has the person approve it. Returns the target of the
 * callback.
 */
async function approved(
  user: TestUser,
  headers: Headers,
  person: PersonClaims,
  target = BACK_TO_PAGE,
): Promise<string> {
  const { location } = await user.get(target, { headers });
  const { pathname, search } = new URL(await app.provider.signInCode(location, person));
  return pathname + search;
}

async function signIn(
  user: TestUser,
  headers: Headers,
  person: PersonClaims,
  target?: string,
): Promise<Answer> {
  return user.get(await approved(user, headers, person, target));
}

const emailOf = async (user: TestUser) =>
  (await app.auth.getSession(user.request("/")))?.user.email;
const revocations = () => app.provider.requestsTo("revoke").length;
const asked = () => app.provider.requestsTo("authorize").at(-1)!.url;
const plain = (markup: string) => markup.replaceAll("&amp;", "&");
/** The address of the page's only link. */
const linkOf = ({ body = "" }: Answer) => {
  const [href, ...others] = [...body.matchAll(/<a class="button[^"]*" href="([^"]*)">/g)];
  expect(others).toEqual([]);
  return plain(href?.[1] ?? "");
};
/** The fields of the page's form. */
const fieldsOf = ({ body = "" }: Answer) =>
  new URLSearchParams(
    [...body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name = "", value = ""]): [string, string] => [plain(name), plain(value)],
    ),
  );

/** Posts the form of the page, as a browser on a page of this origin does. */
async function continued(user: TestUser, answer: Answer, headers: Headers): Promise<string> {
  const posted = await user.get(LOGIN, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      origin: OWN_ORIGIN,
      ...headers,
    },
    body: fieldsOf(answer).toString(),
  });
  expect([posted.status, posted.setCookies ?? []]).toEqual([303, []]);
  return posted.location;
}

async function expectPage(user: TestUser, answer: Answer): Promise<void> {
  expect([answer.status, answer.headers["Content-Type"]]).toEqual([
    409,
    "text/html; charset=utf-8",
  ]);
  expect(answer.body).toContain("Which account do you want to use?");
  expect(await emailOf(user)).toBe("ada@example.com");
}

async function signedInAsAda(options?: ApplicationOptions): Promise<TestUser> {
  const user = await start(options);
  await signIn(user, { "sec-fetch-site": "none" }, ADA);
  return user;
}

/** A request of a browser without Fetch Metadata; `fetch` of Node.js would send some of it. */
function withoutMetadata(
  url: string,
  { cookie = "" }: { readonly cookie?: string },
  { method = "GET", headers = {} }: RequestOptions & { readonly headers?: Headers } = {},
): Promise<{ readonly status: number; readonly location: string; readonly cookie: string }> {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return new Promise((resolve, reject) => {
    request(url, { method, headers: { accept: "text/html", cookie, ...type, ...headers } })
      .on("error", reject)
      .on("response", (response) => {
        response.resume();
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers.location ?? "",
          cookie: response.headers["set-cookie"]?.[0]?.split(";")[0] ?? cookie,
        });
      })
      .end();
  });
}

describe("[CSRF-3] a login of another user", () => {
  it.each<[string, Headers]>([
    ["another site", CROSS],
    ["a sibling domain", { "sec-fetch-site": "same-site" }],
    ["a browser without Sec-Fetch-Site", UNKNOWN],
    [
      "a page of another site, in a browser without Sec-Fetch-Site",
      { ...UNKNOWN, referer: "https://evil.example/" },
    ],
    [
      "a link of our own page to another site that redirects back, in a browser without Sec-Fetch-Site",
      { ...UNKNOWN, referer: `${OWN_ORIGIN}/` },
    ],
    ["another site, whatever Referer says", { ...CROSS, referer: `${OWN_ORIGIN}/` }],
    ["two values", { "sec-fetch-site": "same-origin, cross-site" }],
    ["an unknown value", { "sec-fetch-site": "None" }],
  ])("that %s has started replaces no session", async (_name, headers) => {
    const user = await signedInAsAda();
    await expectPage(user, await signIn(user, headers, GRACE));
  });

  it.each<[string, Headers]>([
    ["an address that the user typed", { "sec-fetch-site": "none" }],
    ["the application's own page", { "sec-fetch-site": "same-origin" }],
  ])("that %s has started replaces the session", async (_name, headers) => {
    const user = await signedInAsAda();
    const answer = await signIn(user, headers, GRACE);
    expect([answer.status, answer.location, await emailOf(user)]).toEqual([
      302,
      PAGE,
      "grace@example.com",
    ]);
  });

  it("stores nothing, runs no hook, revokes nothing, keeps the cookie, and is logged", async () => {
    const user = await signedInAsAda();
    const target = await approved(user, CROSS, GRACE);
    const cookies = new Map(user.cookies);
    const before = app.log.length;
    const answer = await user.get(target);
    await expectPage(user, answer);
    expect([answer.setCookies ?? [], user.cookies]).toEqual([[], cookies]);
    await settled(app.auth);
    expect([signIns, revocations()]).toEqual([["ada@example.com"], 0]);
    expect(app.log.slice(before).map(({ level, code }) => [level, code])).toEqual([
      ["info", "other_user_signed_in"],
    ]);
  });

  it("shows both users, stays at the landing page, or signs in the other user by a form of this page", async () => {
    const user = await signedInAsAda();
    const answer = await signIn(user, CROSS, GRACE);
    expect(answer.body).toMatch(
      /Stay as <bdi>ada@example\.com<\/bdi>[\s\S]*Continue as <bdi>grace@example\.com<\/bdi>/,
    );
    expect(linkOf(answer)).toBe("/idpauth/");
    const own = { "sec-fetch-site": "same-origin" };
    const next = await continued(user, answer, own);
    expect(next).not.toContain("form_proof");
    const switched = await signIn(user, own, GRACE, next);
    expect(new URL(asked(), OWN_ORIGIN).searchParams.get("login_hint")).toBe("grace@example.com");
    expect([switched.status, switched.location, await emailOf(user)]).toEqual([
      302,
      PAGE,
      "grace@example.com",
    ]);
  });

  it("stays at IDP_AUTH_FINAL_REDIRECT_URL if it is set", async () => {
    const user = await signedInAsAda({ authFinalRedirectUrl: "/home" });
    expect(linkOf(await signIn(user, CROSS, GRACE))).toBe("/home");
  });

  it("lets its form lead to the provider, and sends Origin with it", async () => {
    const user = await signedInAsAda();
    const { headers } = await signIn(user, CROSS, GRACE);
    expect(headers["Content-Security-Policy"]).toContain("form-action http: https:;");
    expect(headers["Referrer-Policy"]).toBe("same-origin");
  });

  describe("in a browser without Sec-Fetch-Site", () => {
    it("continues by the form of the page", async () => {
      const user = await signedInAsAda();
      const answer = await signIn(user, UNKNOWN, GRACE);
      await signIn(user, UNKNOWN, GRACE, await continued(user, answer, UNKNOWN));
      expect(await emailOf(user)).toBe("grace@example.com");
      expect(new URL(asked(), OWN_ORIGIN).searchParams.get("login_hint")).toBe("grace@example.com");
    });

    it("asks again if the form's address is opened with another session's cookie", async () => {
      const ada = await signedInAsAda();
      const attacker = app.user();
      await signIn(attacker, UNKNOWN, { sub: "eve" });
      const answer = await signIn(attacker, UNKNOWN, GRACE);
      const lure = await continued(attacker, answer, UNKNOWN);
      await expectPage(ada, await signIn(ada, UNKNOWN, GRACE, lure));
    });

    it.each<[string, (next: string) => string]>([
      ["after a minute", (next) => (app.clock.advance(60_000), next)],
      ["with another field", (next) => `${next}&acr_values=gold`],
      ["with a changed field", (next) => next.replace("grace%40", "eve%40")],
      ["without a field", (next) => next.replace(/&login_hint=[^&]*/, "")],
      ["with a later expiry", (next) => next.replace(/form_proof=\d/, "form_proof=9")],
      ["with another proof", (next) => next.replace(/(form_proof=\d+\.)./, "$1_")],
      ["with an empty proof", (next) => next.replace(/form_proof=.*/, "form_proof=")],
      ["with the mark", (next) => `${next}&cross_site=true`],
    ])("asks again %s", async (_name, change) => {
      const user = await signedInAsAda();
      const next = await continued(user, await signIn(user, UNKNOWN, GRACE), UNKNOWN);
      await expectPage(user, await signIn(user, UNKNOWN, GRACE, change(next)));
    });

    it.each<[string, Headers]>([
      ["another origin", { ...UNKNOWN, origin: "https://evil.example" }],
      ["a page without an origin", { ...UNKNOWN, origin: "null" }],
      ["nobody", { ...UNKNOWN, origin: undefined }],
    ])("asks again if the form is of %s", async (_name, headers) => {
      const user = await signedInAsAda();
      const next = await continued(user, await signIn(user, UNKNOWN, GRACE), headers);
      expect(next).not.toContain("form_proof");
      await expectPage(user, await signIn(user, UNKNOWN, GRACE, next));
    });

    it("proves nothing to a browser without a session", async () => {
      await signedInAsAda();
      const stranger = app.user();
      const answer = { body: '<input type="hidden" name="login_hint" value="grace" />' } as Answer;
      expect(await continued(stranger, answer, UNKNOWN)).toBe(`${LOGIN}?login_hint=grace`);
    });
  });

  it("continues with a framework's session while other cookies change", async () => {
    await start();
    const framework = await startExpressApplication({ session: "host" });
    try {
      const { origin, provider } = framework;
      const callbackOf = async (location: string, person: PersonClaims) => {
        const { pathname, search } = new URL(await provider.signInCode(location, person));
        return origin + pathname + search;
      };
      const begun = await withoutMetadata(origin + LOGIN, {});
      const signedIn = await withoutMetadata(await callbackOf(begun.location, ADA), begun);
      const cookie = `${signedIn.cookie}; theme=`;
      const posted = await withoutMetadata(
        origin + LOGIN,
        { cookie: `${cookie}light` },
        { method: "POST", headers: { origin } },
      );
      const login = await withoutMetadata(origin + posted.location, { cookie: `${cookie}dark` });
      const answer = await withoutMetadata(await callbackOf(login.location, GRACE), signedIn);
      expect([posted.location.includes("form_proof="), answer.status]).toEqual([true, 302]);
    } finally {
      await framework.stop();
    }
  });

  it.each<[string, Headers]>([
    ["another site", CROSS],
    ["a sibling domain", { "sec-fetch-site": "same-site" }],
  ])("by the proof of a form doesn't count if %s opens its address", async (_name, headers) => {
    const user = await signedInAsAda();
    const next = await continued(user, await signIn(user, UNKNOWN, GRACE), UNKNOWN);
    expect(next).toContain("form_proof=");
    await expectPage(user, await signIn(user, headers, GRACE, next));
  });

  it("hints at preferred_username first, and at nothing that a login does not pass on", async () => {
    const user = await signedInAsAda();
    const hintOf = async (person: PersonClaims) => {
      return fieldsOf(await signIn(user, CROSS, person)).get("login_hint");
    };
    expect(await hintOf({ ...GRACE, preferred_username: "grace" })).toBe("grace");
    expect(await hintOf({ ...GRACE, preferred_username: "x".repeat(513) })).toBe(
      "grace@example.com",
    );
    expect(await hintOf({ sub: "nameless" })).toBeNull();
  });

  it("shows a user without email and name by preferred_username, and never by sub", async () => {
    const user = await signedInAsAda();
    const shown = async (person: PersonClaims) => {
      const { body = "" } = await signIn(user, CROSS, person);
      return /<button class="button quiet">Continue as <bdi>(.*?)<\/bdi>/.exec(body)?.[1];
    };
    expect(await shown({ sub: "nameless", preferred_username: "grace" })).toBe("grace");
    expect(await shown({ sub: "nameless" })).toBe("an account without a name");
  });

  it("is a problem document for a program, and cannot be shown in a frame", async () => {
    const user = await signedInAsAda();
    expect((await signIn(user, CROSS, GRACE)).headers["Content-Security-Policy"]).toContain(
      "frame-ancestors 'none'",
    );
    const target = await approved(user, CROSS, GRACE);
    const answer = await user.get(target, { headers: { accept: "application/json" } });
    expect([answer.status, answer.json().code]).toEqual([409, "other_user_signed_in"]);
  });

  it("redirects to the requested page when the user reloads the page", async () => {
    const user = await signedInAsAda();
    const target = await approved(user, CROSS, GRACE);
    await expectPage(user, await user.get(target));
    expect((await user.get(target)).location).toBe(PAGE);
  });

  it.each<[string, ApplicationOptions, string]>([
    ["the index", {}, "/idpauth/"],
    ["IDP_AUTH_FINAL_REDIRECT_URL", { authFinalRedirectUrl: "/start" }, "/start"],
  ])(
    "loaded again leads to %s, if another site chose the page by a login of the same user",
    async (_name, options, page) => {
      const user = await signedInAsAda(options);
      const other = `${LOGIN}?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: `${OWN_ORIGIN}${LOGIN}?provider=other` }).toString()}`;
      const first = await signIn(user, CROSS, ADA, other);
      expect(first.location).toContain("provider=other");
      const target = await approved(user, CROSS, GRACE, LOGIN);
      await expectPage(user, await user.get(target));
      expect((await user.get(target)).location).toBe(page);
    },
  );

  it("of another sub and the same email is another user; of the same sub and another email it is not", async () => {
    const user = await signedInAsAda();
    await expectPage(user, await signIn(user, CROSS, { ...ADA, sub: "ada-2" }));
    const answer = await signIn(user, CROSS, { ...ADA, email: "ada@new.example" });
    expect([answer.location, await emailOf(user)]).toEqual([PAGE, "ada@new.example"]);
  });

  it("signs in if nobody is signed in, or if the session has ended", async () => {
    const user = await start({ sessionMaxAge: 60 });
    expect((await signIn(user, CROSS, ADA)).location).toBe(PAGE);
    app.clock.advance(61_000);
    expect((await signIn(user, CROSS, GRACE)).location).toBe(PAGE);
    expect(await emailOf(user)).toBe("grace@example.com");
  });

  it("replaces no session that needs a refresh", async () => {
    const user = await signedInAsAda();
    app.clock.advance(4_000_000);
    expect((await signIn(user, CROSS, GRACE)).status).toBe(409);
  });
});

describe("a link of another site", () => {
  it.each([[["login_hint"]], [[]]])(
    "with login_hint does not switch accounts, with loginParams %j",
    async (loginParams) => {
      const user = await signedInAsAda({ loginParams });
      const target = `${LOGIN}?login_hint=grace%40example.com`;
      await expectPage(user, await signIn(user, CROSS, GRACE, target));
      expect(new URL(asked(), OWN_ORIGIN).searchParams.has("login_hint")).toBe(
        loginParams.length > 0,
      );
    },
  );

  it.each([
    "/idpauth/login/?login_hint=grace%40example.com",
    "/idpauth/logout",
    "/idpauth/login-callback?state=s&code=c",
    "/x/../idpauth/%6cogout/",
    "//idpauth/logout/",
    "/login?user=grace",
    "/company",
  ])("[CSRF-3] that would end at %s does not make the user's click on Stay do it", async (path) => {
    const user = await signedInAsAda();
    const query = new URLSearchParams({ target_link_uri: OWN_ORIGIN + path }).toString();
    const target = await approved(user, CROSS, GRACE, `${LOGIN}?${query}`);
    expect(linkOf(await user.get(target))).toBe("/idpauth/");
  });

  it("to a login with prompt=none does not switch accounts", async () => {
    const user = await signedInAsAda({ loginParams: ["prompt"] });
    app.provider.signedIn.set(GRACE.sub, Math.floor(app.clock.now() / 1000));
    await expectPage(user, await signIn(user, CROSS, GRACE, `${BACK_TO_PAGE}&prompt=none`));
  });

  it("to a step-up of another user shows the page, and revokes nothing", async () => {
    const user = await signedInAsAda();
    await expectPage(user, await signIn(user, CROSS, GRACE, `${LOGIN}?max_age=300`));
    await settled(app.auth);
    expect(revocations()).toBe(0);
  });

  it("that was opened before the user signed in does not switch accounts either", async () => {
    const user = await start();
    const target = await approved(user, CROSS, GRACE);
    await signIn(user, { "sec-fetch-site": "none" }, ADA);
    await expectPage(user, await user.get(target));
  });

  it("to another hostname of the application stays a link of another site after the redirect to BASE_URL", async () => {
    const user = await signedInAsAda({ baseUrl: OWN_ORIGIN });
    const hop = await user.get(LOGIN, { host: "www.app.example", headers: CROSS });
    expect(hop.location).toBe(`${OWN_ORIGIN}${LOGIN}?idp_hop=1`);
    await expectPage(user, await signIn(user, CROSS, GRACE, hop.location.slice(OWN_ORIGIN.length)));
  });
});

describe("[CSRF-5] a login after a logout that another site has started", () => {
  const LOGOUT = "/idpauth/logout/";
  const COOKIE = "idpauth+signed-out";
  const OWN = { "sec-fetch-site": "same-origin" };

  /** Ada's browser after the first of the two navigations. */
  async function signedOut(headers: Headers = CROSS, options?: ApplicationOptions) {
    const user = await signedInAsAda(options);
    await user.get(LOGOUT, { headers });
    expect(await user.isSignedIn()).toBe(false);
    return user;
  }

  function expectQuestion({ status, body = "" }: Answer): void {
    expect(status).toBe(409);
    expect(body).toContain("Do you want to sign in?");
  }

  it.each<[string, PersonClaims]>([
    ["another user", GRACE],
    ["the same user", ADA],
  ])("by another site signs in %s only after the user's consent", async (_name, person) => {
    const user = await signedOut();
    const answer = await signIn(user, CROSS, person);
    expectQuestion(answer);
    expect(await user.isSignedIn()).toBe(false);
    const confirmed = await signIn(user, OWN, person, await continued(user, answer, OWN));
    expect([confirmed.location, await emailOf(user), user.cookies.has(COOKIE)]).toEqual([
      PAGE,
      person["email"],
      false,
    ]);
    expect(new URL(asked(), OWN_ORIGIN).searchParams.get("login_hint")).toBe(person["email"]);
  });

  it("stores nothing, runs no hook, revokes nothing, and is logged", async () => {
    const user = await signedOut();
    const target = await approved(user, CROSS, GRACE);
    await settled(app.auth);
    const [before, revoked] = [app.log.length, revocations()];
    const answer = await user.get(target);
    expectQuestion(answer);
    await settled(app.auth);
    expect([answer.setCookies ?? [], signIns, revocations()]).toEqual([
      [],
      ["ada@example.com"],
      revoked,
    ]);
    expect(app.log.slice(before).map(({ level, code }) => [level, code])).toEqual([
      ["info", "sign_in_unconfirmed"],
    ]);
  });

  it("needs consent until the user has decided: a second login of the other site signs nobody in", async () => {
    const user = await signedOut();
    expectQuestion(await signIn(user, CROSS, GRACE));
    await user.get(LOGOUT, { headers: CROSS });
    expectQuestion(await signIn(user, UNKNOWN, GRACE));
  });

  it("no longer needs consent after the user has chosen to stay signed out", async () => {
    const user = await signedOut();
    const answer = await signIn(user, CROSS, GRACE);
    const stay = linkOf(answer);
    expect(stay).toBe(LOGOUT);
    expect(answer.body).toMatch(/Stay signed out[\s\S]*Continue as <bdi>grace@example\.com<\/bdi>/);
    const left = await user.get(stay, { headers: OWN });
    expect([left.location, user.cookies.has(COOKIE)]).toEqual(["/idpauth/", false]);
    expect((await signIn(user, CROSS, GRACE)).status).toBe(302);
  });

  it.each([BACK_TO_PAGE, LOGIN])(
    "still needs consent if the other site's login was refused and the user tries it again: %s",
    async (login) => {
      const user = await signedOut();
      const target = await approved(user, CROSS, GRACE, login);
      const { location } = await user.get(target.replace(/code=[^&]*/, "error=access_denied"));
      expectQuestion(await signIn(user, OWN, GRACE, linkOf(await user.get(location))));
      expect(await user.isSignedIn()).toBe(false);
    },
  );

  it.each<[string, Headers]>([
    ["a typed address", { "sec-fetch-site": "none" }],
    ["the application's own page", OWN],
  ])("by %s signs in at once, and ends the question", async (_name, headers) => {
    const user = await signedOut();
    expect((await signIn(user, headers, GRACE)).location).toBe(PAGE);
    expect([await emailOf(user), user.cookies.has(COOKIE)]).toEqual(["grace@example.com", false]);
  });

  it.each<[string, Headers]>([
    ["the user", { "sec-fetch-site": "none" }],
    ["the application's own page", OWN],
    ["a sibling domain", { "sec-fetch-site": "same-site" }],
    ["a browser without Sec-Fetch-Site", UNKNOWN],
  ])("needs no consent if %s has started the logout", async (_name, headers) => {
    const user = await signedOut(headers);
    expect(user.cookies.has(COOKIE)).toBe(false);
    expect((await signIn(user, CROSS, GRACE)).status).toBe(302);
  });

  it("needs no consent if the logout found no session", async () => {
    const user = await start();
    await user.get(LOGOUT, { headers: CROSS });
    await user.get(LOGIN, { headers: CROSS });
    await user.get(LOGOUT, { headers: CROSS });
    expect(user.cookies.has(COOKIE)).toBe(false);
  });

  it("needs consent for ten minutes by a cookie out of reach of scripts, which contains nothing about the user", async () => {
    const user = await signedInAsAda();
    const { setCookies } = await user.get(LOGOUT, { headers: CROSS });
    expect(setCookies?.at(-1)).toBe(`${COOKIE}=1; Path=/; Max-Age=600; HttpOnly; SameSite=Lax`);
  });

  it("over https, no other origin can set or remove the cookie", async () => {
    const user = await signedInAsAda({ baseUrl: "https://app.example" });
    const { setCookies } = await user.get(LOGOUT, { headers: CROSS });
    expect(setCookies?.at(-1)).toBe(
      `__Host-Http-${COOKIE}=1; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure`,
    );
  });

  it("responds to a program with a problem document", async () => {
    const user = await signedOut();
    const target = await approved(user, CROSS, GRACE);
    const answer = await user.get(target, { headers: { accept: "application/json" } });
    expect([answer.status, answer.json().code]).toEqual([409, "sign_in_unconfirmed"]);
  });
});

describe("[CSRF-3] the mark of another site's login stays, whatever page of ours it leads over:", () => {
  const OWN = { "sec-fetch-site": "same-origin" };
  const BROWSER = { accept: "text/html" };

  /** Follows the page's link as the user's click does, and signs in as another user. */
  async function expectQuestionAfter(user: TestUser, page: Answer): Promise<void> {
    expect(linkOf(page)).toContain("cross_site=true");
    await expectPage(user, await signIn(user, OWN, GRACE, linkOf(page)));
  }

  it("a callback of a login that this browser has not begun", async () => {
    const user = await signedInAsAda();
    await expectQuestionAfter(user, await user.get("/idpauth/login-callback?state=x&code=y"));
  });

  it("an outage at the login", async () => {
    const user = await signedInAsAda();
    store.isDown = true;
    const page = await user.get(BACK_TO_PAGE, { headers: { ...CROSS, ...BROWSER } });
    store.isDown = false;
    expect(page.status).toBe(503);
    await expectQuestionAfter(user, page);
  });

  it("an outage at the callback", async () => {
    const user = await signedInAsAda();
    const target = await approved(user, CROSS, GRACE);
    store.isDown = true;
    const page = await user.get(target, { headers: { ...CROSS, ...BROWSER } });
    store.isDown = false;
    expect(page.status).toBe(503);
    await expectQuestionAfter(user, page);
  });

  it.each([`${OWN_ORIGIN}/idpauth/logout/`, `${OWN_ORIGIN}/login?provider=other`])(
    "the question itself, which the user loads again, leads nowhere near %s",
    async (page) => {
      const user = await signedInAsAda();
      const login = `${LOGIN}?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page }).toString()}`;
      const target = await approved(user, CROSS, GRACE, login);
      expect((await user.get(target, { headers: CROSS })).status).toBe(409);
      // A browser that reloads or restores the page may say that the user asked for it.
      const again = await user.get(target, { headers: { "sec-fetch-site": "none" } });
      expect(again.location).not.toBe(page);
      // A further login of the other site's, which waits for its callback.
      await user.get(login, { headers: CROSS });
      expect((await user.get(target)).location).not.toBe(page);
    },
  );

  it("a refused code", async () => {
    const user = await signedInAsAda();
    const target = await approved(user, CROSS, GRACE);
    const page = await user.get(target.replace(/code=[^&]*/, "code=other"));
    expect([page.status, page.body]).toEqual([400, expect.stringContaining("sign_in_refused")]);
    await expectQuestionAfter(user, page);
  });

  it.each<[string, Headers, boolean]>([
    ["another site", CROSS, true],
    ["the user", { "sec-fetch-site": "none" }, false],
  ])("a refusal by the application's hook of a login of %s", async (_name, headers, isMarked) => {
    await startPlain({ onSignIn: () => deny("Not here.") });
    const href = linkOf(await signIn(app.user(), headers, ADA));
    expect([href.includes("select_account"), href.includes("cross_site")]).toEqual([
      true,
      isMarked,
    ]);
  });

  it("the page of a login in a popup, whose own page asks nothing", async () => {
    const user = await signedInAsAda();
    const page = `${OWN_ORIGIN}/idpauth/popup?attempt=an-attempt_of-0123456789`;
    const login = `${LOGIN}?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page }).toString()}`;
    const failed = await signIn(user, CROSS, GRACE, login);
    expect(failed.location).toContain("other_user_signed_in");
    const shown = await user.get(failed.location.replace(OWN_ORIGIN, ""), { headers: BROWSER });
    await signIn(user, OWN, GRACE, linkOf(shown));
    expect(await emailOf(user)).toBe("ada@example.com");
  });

  it("the page of a login in a popup, whose form ends the question without Sec-Fetch-Site", async () => {
    const user = await signedInAsAda();
    const page = `${OWN_ORIGIN}/idpauth/popup?attempt=an-attempt_of-0123456789`;
    const login = `${LOGIN}?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page }).toString()}`;
    const target = await approved(user, UNKNOWN, GRACE, login);
    await expectPage(user, await user.get(target, { headers: { ...BROWSER, ...UNKNOWN } }));
  });

  it.each<[string, Headers, string, boolean]>([
    ["another site, which says that a login failed", CROSS, "?outcome=failed", true],
    ["nobody who is known, which says that a login failed", OWN, "?outcome=failed", true],
    ["another site, for a signed-out user", CROSS, "", true],
    ["the application's own page, for a signed-out user", OWN, "", false],
  ])("the page of a popup, opened by %s", async (_name, headers, query, isMarked) => {
    const user = await start();
    const page = await user.get(`/idpauth/popup${query}`, { headers: { ...BROWSER, ...headers } });
    expect(linkOf(page).includes("cross_site=true")).toBe(isMarked);
  });

  it("the guard's address of a login, which an application may show as a link", async () => {
    const user = await signedInAsAda();
    const addressFor = async (headers: Headers, rule?: { readonly acr: string }) => {
      const request = user.request("/reports", { headers: { ...BROWSER, ...headers } });
      const blocked = await app.auth.guard(request, rule);
      return (blocked as { readonly loginUrl: string }).loginUrl;
    };
    expect(await addressFor(CROSS, { acr: "gold" })).toContain("&cross_site=true");
    expect(await addressFor(OWN, { acr: "gold" })).not.toContain("cross_site");
    await user.get("/idpauth/logout/", { headers: OWN });
    expect(await addressFor(CROSS)).toContain("&cross_site=true");
    for (const headers of [OWN, UNKNOWN, { "sec-fetch-site": "none" }])
      expect(await addressFor(headers)).not.toContain("cross_site");
  });

  it("a logout that failed: the repeated one counts as the other site's, too", async () => {
    const user = await signedInAsAda();
    store.isDown = true;
    const page = await user.get("/idpauth/logout/", { headers: { ...CROSS, ...BROWSER } });
    store.isDown = false;
    expect(linkOf(page)).toBe("/idpauth/logout/?cross_site=true");
    await user.get(linkOf(page), { headers: OWN });
    expect([await user.isSignedIn(), user.cookies.has("idpauth+signed-out")]).toEqual([
      false,
      true,
    ]);
  });

  it("a page for a prefetch that the browser shows after all", async () => {
    const user = await signedInAsAda();
    const headers = { ...CROSS, ...BROWSER, "sec-fetch-mode": "navigate", "x-purpose": "preview" };
    for (const target of [BACK_TO_PAGE, "/idpauth/logout/?response=redirect"]) {
      const page = await user.get(target, { headers });
      expect([page.status, linkOf(page)]).toEqual([503, `${target}&cross_site=true`]);
    }
    expect(linkOf(await user.get(LOGIN, { headers: { ...headers, ...OWN } }))).toBe(LOGIN);
  });

  it.each<[string, Headers, boolean]>([
    ["another site", CROSS, false],
    ["the application's own page", OWN, true],
    ["a browser without Sec-Fetch-Site", UNKNOWN, true],
  ])(
    "an outage at a guard that requires a provider: a link of %s",
    async (_name, headers, isOffered) => {
      await start({
        providers: {
          staff: { issuer: "https://staff.example", clientId: "c", clientSecret: "s" },
          customers: { issuer: "https://customers.example", clientId: "c", clientSecret: "s" },
        },
      });
      const user = app.user();
      user.cookies.set("idpauth", "A".repeat(43));
      const request = user.request("/company", {
        headers: { ...headers, ...BROWSER, "sec-fetch-mode": "navigate" },
      });
      store.isDown = true;
      const blocked = await app.auth.guard(request, { provider: "staff" });
      store.isDown = false;
      const offers = (blocked?.reply.body ?? "").includes('<a class="button" href="">');
      expect([blocked?.kind, offers]).toEqual(["unavailable", isOffered]);
    },
  );

  it.each<[string, Headers, boolean]>([
    ["another site", CROSS, true],
    ["the application's own page", OWN, false],
  ])("a guard's page for a form of %s", async (_name, headers, isMarked) => {
    await start();
    const request = app.user().request("/transfer", {
      method: "POST",
      headers: { ...headers, ...BROWSER, "sec-fetch-mode": "navigate" },
    });
    const blocked = await app.auth.guard(request);
    const page = { body: blocked?.reply.body } as Answer;
    expect(linkOf(page)).toBe(isMarked ? `${LOGIN}?cross_site=true` : LOGIN);
  });
});

it("pages.render gets the page with its link and its form", async () => {
  const seen: unknown[] = [];
  const user = await signedInAsAda({
    pages: {
      locale: "de",
      render({ kind, status, code, heading, texts, action, otherAction }) {
        seen.push({ kind, status, code, heading, texts, action, otherAction });
        return "<h1>own</h1>";
      },
    },
  });
  expect((await signIn(user, CROSS, GRACE)).body).toBe("<h1>own</h1>");
  expect(seen).toEqual([
    {
      kind: "other-user",
      status: 409,
      code: "other_user_signed_in",
      heading: "Welches Konto möchten Sie verwenden?",
      texts: [
        "Sie sind als ada@example.com angemeldet. Ein Link oder eine andere Website hat eine Anmeldung als grace@example.com begonnen.",
      ],
      action: { label: "Als ada@example.com angemeldet bleiben", href: "/idpauth/" },
      otherAction: {
        label: "Als grace@example.com fortfahren",
        href: LOGIN,
        fields: {
          scheme: "PRESERVE_ORIGIN_QP",
          origin_url: PAGE,
          login_hint: "grace@example.com",
        },
      },
    },
  ]);
});
