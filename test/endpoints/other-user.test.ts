import { afterEach, describe, expect, it } from "vitest";
import { TestClock } from "../../src/testing/test-clock.js";
import type { PersonClaims } from "../../src/testing/provider/test-provider.js";
import {
  OWN_ORIGIN,
  startApplication,
  type Answer,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { watchedStore, type WatchedStore } from "../support/watched-store.js";
import { settled } from "../../src/testing/settled.js";

const ADA = { sub: "ada-1815", email: "ada@example.com", name: "Ada Lovelace" };
const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };
const PAGE = `${OWN_ORIGIN}/reports?year=2024#q3`;
const LOGIN = "/idpauth/login/";
const BACK_TO_PAGE = `${LOGIN}?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: PAGE }).toString()}`;
const CROSS = { "sec-fetch-site": "cross-site" };
const UNKNOWN = { "sec-fetch-site": undefined };

type Headers = Readonly<Record<string, string | undefined>>;

let app: Application;
let store: WatchedStore;
let signIns: unknown[];

afterEach(() => app.stop());

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  const clock = new TestClock();
  store = watchedStore(clock);
  signIns = [];
  app = await startApplication({
    ...options,
    clock,
    store,
    onSignIn: ({ claims }) => void signIns.push(claims.email),
  });
  return app.user();
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
/** The links of the page, in order. */
const linksOf = ({ body = "" }: Answer) =>
  [...body.matchAll(/<a class="button[^"]*" href="([^"]*)">/g)].map(([, href = ""]) =>
    href.replaceAll("&amp;", "&"),
  );

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
      "another site that begins alike, in a browser without Sec-Fetch-Site",
      { ...UNKNOWN, referer: `${OWN_ORIGIN}.evil.example/` },
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
    [
      "the application's own page, in a browser without Sec-Fetch-Site",
      { ...UNKNOWN, referer: `${OWN_ORIGIN}/` },
    ],
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

  it("shows both users, stays on the requested page, or signs in the other user by a login of this page", async () => {
    const user = await signedInAsAda();
    const answer = await signIn(user, CROSS, GRACE);
    expect(answer.body).toMatch(
      /Stay as <bdi>ada@example\.com<\/bdi>[\s\S]*Continue as <bdi>grace@example\.com<\/bdi>/,
    );
    const [stay, next = ""] = linksOf(answer);
    expect(stay).toBe(PAGE);
    const switched = await signIn(user, { "sec-fetch-site": "same-origin" }, GRACE, next);
    expect(new URL(asked(), OWN_ORIGIN).searchParams.get("login_hint")).toBe("grace@example.com");
    expect([switched.status, switched.location, await emailOf(user)]).toEqual([
      302,
      PAGE,
      "grace@example.com",
    ]);
  });

  it("continues in a browser without Sec-Fetch-Site, since the page sends its origin, and no more, as Referer", async () => {
    const user = await signedInAsAda();
    const answer = await signIn(user, UNKNOWN, GRACE);
    expect(answer.headers["Referrer-Policy"]).toBe("strict-origin");
    await signIn(user, { ...UNKNOWN, referer: `${OWN_ORIGIN}/` }, GRACE, linksOf(answer)[1]);
    expect(await emailOf(user)).toBe("grace@example.com");
  });

  it("hints at preferred_username first, and at nothing that a login does not pass on", async () => {
    const user = await signedInAsAda();
    const hintOf = async (person: PersonClaims) => {
      const [, next = ""] = linksOf(await signIn(user, CROSS, person));
      return new URL(next, OWN_ORIGIN).searchParams.get("login_hint");
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
      return /<a class="button quiet" [^>]*>Continue as <bdi>(.*?)<\/bdi>/.exec(body)?.[1];
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
  ])("[CSRF-3] that would end at %s does not make the user's click on Stay do it", async (path) => {
    const user = await signedInAsAda();
    const query = new URLSearchParams({ target_link_uri: OWN_ORIGIN + path }).toString();
    const target = await approved(user, CROSS, GRACE, `${LOGIN}?${query}`);
    expect(linksOf(await user.get(target))[0]).toBe("/idpauth/");
    expect((await user.get(target, { headers: { "sec-fetch-site": "none" } })).location).toBe(
      "/idpauth/",
    );
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
    const [, next = ""] = linksOf(answer);
    const confirmed = await signIn(user, OWN, person, next);
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
    const [stay = ""] = linksOf(answer);
    expect(stay).toBe(LOGOUT);
    expect(answer.body).toMatch(/Stay signed out[\s\S]*Continue as <bdi>grace@example\.com<\/bdi>/);
    const left = await user.get(stay, { headers: OWN });
    expect([left.location, user.cookies.has(COOKIE)]).toEqual(["/idpauth/", false]);
    expect((await signIn(user, CROSS, GRACE)).status).toBe(302);
  });

  it("still needs consent if the other site's login was refused and the user tries it again", async () => {
    const user = await signedOut();
    const target = await approved(user, CROSS, GRACE);
    const { location } = await user.get(target.replace(/code=[^&]*/, "error=access_denied"));
    const [again = ""] = linksOf(await user.get(location));
    expectQuestion(await signIn(user, OWN, GRACE, again));
    expect(await user.isSignedIn()).toBe(false);
  });

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

it("pages.render gets the page with both links", async () => {
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
      action: { label: "Als ada@example.com angemeldet bleiben", href: PAGE },
      otherAction: {
        label: "Als grace@example.com fortfahren",
        href: expect.stringContaining("login_hint=grace%40example.com"),
      },
    },
  ]);
});
