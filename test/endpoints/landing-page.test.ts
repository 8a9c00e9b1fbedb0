import { afterEach, describe, expect, it } from "vitest";
import { en } from "../../src/pages/locales/en.js";
import { SIGN_IN_ERRORS } from "../../src/record/sign-in-errors.js";
import { OWN_ORIGIN, type ApplicationOptions, type TestUser } from "../support/application.js";
import { leaksIn, secretsOf } from "../support/secrets.js";
import { application, pass, signedIn, start, store } from "../support/one-application.js";

const LANDING_PAGE = "/idpauth/";
const HOUR = 3600;

afterEach(() => application.stop());

/** The page's text without markup. */
async function textOf(user: TestUser, target = LANDING_PAGE): Promise<string> {
  const answer = await user.get(target);
  expect(answer.status).toBe(200);
  expect(answer.headers["Content-Type"]).toBe("text/html; charset=utf-8");
  return (answer.body ?? "")
    .replace(/<style[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
}

describe("the landing page", () => {
  it("signed out offers to sign in, and leaves no cookie and no store entry", async () => {
    const user = await start();
    expect(await textOf(user)).toContain("You are signed out");
    const answer = await user.get(LANDING_PAGE);
    expect(answer.body).toContain('href="/idpauth/login/"');
    expect(answer.setCookies ?? []).toEqual([]);
    expect(store.operations).toEqual([]);
    const forJson = await user.get(LANDING_PAGE, { headers: { accept: "application/json" } });
    expect(forJson.headers["Content-Type"]).toBe("text/html; charset=utf-8");
  });

  it("with only a login in progress is signed out", async () => {
    const user = await start();
    await user.get("/idpauth/login/");
    expect(await textOf(user)).toContain("You are signed out");
  });

  it("signed in shows who, and offers to sign out", async () => {
    const user = await signedIn();
    const text = await textOf(user);
    for (const part of ["You are signed in", "Ada Lovelace", "ada@example.com"])
      expect(text).toContain(part);
    const answer = await user.get(LANDING_PAGE);
    expect(answer.body).toContain('href="/idpauth/logout/"');
    expect(answer.headers["Content-Security-Policy"]).toContain(
      "img-src https://pictures.example.com;",
    );
    for (const claim of ["ada-1815", application.provider.issuer, application.provider.clientId])
      expect(answer.body).not.toContain(claim);
  });

  it("expired but refreshable is signed in: only the token's presence is checked", async () => {
    const user = await signedIn();
    pass(HOUR);
    expect(await textOf(user)).toContain("You are signed in");
  });

  it.each<[string, ApplicationOptions, number, string[]]>([
    ["the maximum age", { sessionMaxAge: 1800 }, 1801, ["Maximum age: 30 minutes"]],
    ["the idle timeout", { sessionIdleTimeout: 600 }, 601, ["Idle timeout: 10 minutes"]],
    [
      "automatic refresh being off",
      { sessionAutoRefresh: false },
      HOUR,
      ["this site does not renew it automatically"],
    ],
    [
      "no refresh token",
      { provider: { issueRefreshToken: false } },
      HOUR,
      ["did not allow this site to renew it"],
    ],
  ])("ended by %s names it", async (_name, options, seconds, parts) => {
    const user = await signedIn(options);
    pass(seconds - 1);
    expect(await textOf(user)).toContain("You are signed in");
    pass(1);
    const text = await textOf(user);
    expect(text).toContain("Your session has ended");
    for (const part of parts) expect(text).toContain(part);
    expect(text).not.toMatch(/IDP_|JSON/);
    expect((await user.get(LANDING_PAGE)).body).toContain('href="/idpauth/login/"');
  });

  it("ended by IDP_SESSIONS_NOT_BEFORE names it; the session is gone from lists and signals too, and a new sign-in counts", async () => {
    const user = await signedIn();
    const { auth, clock } = application;
    pass(60);
    const sessionsNotBefore = new Date(clock.now()).toISOString();
    const stricter = application.another({ sessionsNotBefore });
    const subject = { iss: application.provider.issuer, sub: "ada-1815" };
    const ended: string[] = [];
    stricter.on("ended", ({ reason }) => ended.push(reason));
    const moved = user.at(stricter);
    const text = await textOf(moved);
    expect(text).toContain("everyone who signed in before a certain time");
    expect(text).not.toContain("IDP_");
    const debugging = application.another({ sessionsNotBefore, debug: true });
    expect(await textOf(user.at(debugging))).toContain(
      `IDP_SESSIONS_NOT_BEFORE = ${sessionsNotBefore}`,
    );
    expect([await auth.listSessions(subject), await stricter.listSessions(subject)]).toMatchObject([
      [{ label: null }],
      [],
    ]);
    const signal = stricter.whenEnded(user.request("/"));
    await new Promise((resolve) => {
      signal.addEventListener("abort", resolve);
    });
    expect(signal.reason).toMatchObject({ code: "session_ended", reason: "signed_in_before" });
    expect(await stricter.guard(user.request("/reports"))).toMatchObject({
      kind: "unauthenticated",
      reason: "signed_in_before",
    });
    expect(ended).toEqual(["signed_in_before"]);
    await moved.signIn();
    expect(await stricter.guard(moved.request("/reports"))).toBeUndefined();
  });

  it("a time in the future stops the start with E022", () => {
    const future = new Date(application.clock.now() + 1000).toISOString();
    expect(() => application.another({ sessionsNotBefore: future }).start()).toThrow(
      /E022 IDP_SESSIONS_NOT_BEFORE/,
    );
  });

  it("ended by a refusal of the provider says so", async () => {
    const user = await signedIn();
    application.provider.revokeAll();
    pass(HOUR);
    await user.get("/idpauth/session");
    expect(await textOf(user)).toContain("the provider refused to renew it");
  });

  it("never sends the provider a request and never writes, in any state", async () => {
    const user = await signedIn({ sessionIdleTimeout: 3 * HOUR });
    for (const seconds of [0, HOUR, 2 * HOUR, 86_400]) {
      pass(seconds);
      const [writes, requests] = [store.writes.length, application.provider.requests.length];
      expect((await user.get(LANDING_PAGE)).setCookies ?? []).toEqual([]);
      await user.get(LANDING_PAGE, { method: "HEAD" });
      expect([store.writes.length, application.provider.requests.length]).toEqual([
        writes,
        requests,
      ]);
    }
  });

  it.each(SIGN_IN_ERRORS)("explains the sign-in error %s in fixed words", async (code) => {
    const text = await textOf(await start(), `${LANDING_PAGE}?error=${code}`);
    expect(text.replaceAll("&#39;", "'")).toContain(en[`signIn.${code}`]);
    expect(text).toContain(code);
  });

  it.each([
    "",
    "EVIL",
    "<script>EVIL</script>",
    "access_denied&error=EVIL",
    "__proto__",
    "x".repeat(9000),
  ])(
    "an unknown error %j is shown as provider_error or not at all, and never repeated",
    async (error) => {
      const answer = await (
        await start()
      ).get(
        `${LANDING_PAGE}?error=${error.startsWith("access") ? error : encodeURIComponent(error)}`,
      );
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer)).not.toMatch(/EVIL|__proto__|xxxx/);
    },
  );

  describe("after a sign-in that the user refused", () => {
    const cancelled = async (user: TestUser, login: string) => {
      const back = (await user.approve(login)).replace(/code=[^&]*/, "error=access_denied");
      const { location } = await user.get(back);
      expect(location).toBe(`${LANDING_PAGE}?error=access_denied`);
      const { body = "" } = await user.get(location);
      const [, href = "", label] = /class="button" href="([^"]*)">([^<]*)</.exec(body) ?? [];
      return { href: href.replaceAll("&amp;", "&"), label };
    };

    it("the button tries the same login again", async () => {
      const user = await start();
      const page = `${OWN_ORIGIN}/reports?a=1&b=2`;
      const login = `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(page)}`;
      const { href, label } = await cancelled(user, login);
      expect([href, label]).toEqual([`${login}&cross_site=true`, "Try again"]);
      expect((await user.get(await user.approve(href))).location).toBe(page);
    });

    it("the button doesn't lead to the page of a login in another tab", async () => {
      const user = await start();
      const loginTo = (path: string) =>
        `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(OWN_ORIGIN + path)}`;
      const back = await user.approve(loginTo("/reports"));
      await user.get(loginTo("/other-tab"));
      const { location } = await user.get(back.replace(/code=[^&]*/, "error=access_denied"));
      const { body } = await user.get(location);
      expect(body).toContain('href="/idpauth/login/');
      expect(body).not.toContain("other-tab");
    });

    it("the button of a login to the configured page keeps the mark of another site, too", async () => {
      const user = await start();
      expect(await cancelled(user, "/idpauth/login/")).toEqual({
        href: "/idpauth/login/?cross_site=true",
        label: "Try again",
      });
    });

    it("an address in the query of the landing page never becomes the button's", async () => {
      const user = await start();
      const { body } = await user.get(
        `${LANDING_PAGE}?error=access_denied&final_redirect=https://evil.example/&origin_url=https://evil.example/`,
      );
      expect(body).toContain('class="button" href="/idpauth/login/?cross_site=true"');
      expect(body).not.toContain("evil.example");
    });
  });

  it("shows a sign-in error with the signed-in state", async () => {
    const text = await textOf(await signedIn(), `${LANDING_PAGE}?error=access_denied`);
    expect(text).toContain("You are signed in");
    expect(text).toContain("access_denied");
  });

  it("escapes what the provider says about a user", async () => {
    const user = await start();
    await user.signIn("/idpauth/login/", {
      sub: "x",
      name: '<img src=x onerror="alert(1)">',
      email: "</p><script>alert(1)</script>",
      picture: "javascript:alert(1)",
    });
    const { body, headers } = await user.get(LANDING_PAGE);
    expect(body).not.toContain("<script");
    expect(body).not.toContain("<img");
    expect(body).not.toContain("javascript:");
    expect(body).toContain("&lt;img src=x");
    expect(headers["Content-Security-Policy"]).not.toContain("img-src");
  });

  it("lets no picture write into the policy", async () => {
    const user = await start();
    await user.signIn("/idpauth/login/", {
      sub: "x",
      name: "X",
      picture: "https://a.example;script-src *;/x.png",
    });
    expect((await user.get(LANDING_PAGE)).headers["Content-Security-Policy"]).not.toContain(
      "script-src",
    );
  });

  it("holds no secret in any state", async () => {
    const user = await signedIn({ sessionMaxAge: 1800 });
    const pages = [await user.get(LANDING_PAGE)];
    pass(1801);
    pages.push(await user.get(LANDING_PAGE));
    expect(leaksIn(JSON.stringify(pages), secretsOf(application))).toEqual([]);
  });

  it("with the store away is 503, not signed out", async () => {
    const user = await signedIn();
    store.isDown = true;
    const answer = await user.get(LANDING_PAGE);
    expect(answer.status).toBe(503);
    expect(answer.headers["Retry-After"]).toMatch(/^[1-9]\d*$/);
    expect(answer.body).toContain("store_unavailable");
    expect(answer.body).not.toContain("You are signed out");
  });
});
