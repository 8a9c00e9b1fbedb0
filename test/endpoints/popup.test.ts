import { afterEach, describe, expect, it } from "vitest";
import { OWN_ORIGIN, type TestUser } from "../support/application.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { watchedStore } from "../support/watched-store.js";
import { deny } from "../../src/application/hooks.js";
import { failureAt } from "../../src/endpoints/login-destination.js";
import { PENDING_LOGIN_SECONDS } from "../../src/record/pending-logins.js";
import { application, start } from "../support/one-application.js";

const ATTEMPT = "an-attempt_of-0123456789";
const POPUP = `${OWN_ORIGIN}/idpauth/popup`;
const ENDS_AT = `${POPUP}?attempt=${ATTEMPT}`;
const LOGIN = loginTo(ENDS_AT);
const HTML = { accept: "text/html" };

function loginTo(page: string): string {
  const query = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page });
  return `/idpauth/login/?${query.toString()}`;
}

describe("a login in a popup", () => {
  afterEach(() => application.stop());

  it("goes to the provider, and ends on its own page", async () => {
    const user = await start({ authFinalRedirectUrl: "/home" });
    expect(new URL((await user.get(LOGIN)).location).origin).toBe(
      new URL(application.provider.issuer).origin,
    );
    expect((await user.signIn(LOGIN)).location).toBe(ENDS_AT);
    const page = await user.get(ENDS_AT, { headers: HTML });
    expect(page.status).toBe(200);
    expect(page.body).toContain("You can close this window.");
    expect(page.body).toContain('<script src="/idpauth/popup.js" defer>');
    // For a user whose other window is gone.
    expect(page.body).toContain('href="/home"');
  });

  it("without an attempt, for a link that opens a window", async () => {
    const user = await start();
    expect((await user.signIn(loginTo(POPUP))).location).toBe(POPUP);
  });

  it("is no third value of `response`", async () => {
    const user = await start();
    const response = await user.get(`/idpauth/login/?response=popup&attempt=${ATTEMPT}`);
    expect([response.status, response.json().code]).toEqual([400, "invalid_parameter"]);
  });

  it("passes on the login's other parameters", async () => {
    const user = await start({ loginParams: ["login_hint"] });
    const { location } = await user.get(`${LOGIN}&login_hint=ada%40example.com`);
    expect(new URL(location).searchParams.get("login_hint")).toBe("ada@example.com");
  });
});

describe("a login in a popup that fails", () => {
  afterEach(() => application.stop());

  /** Where it ends, with `outcome` and `code`. */
  const failed = (code: string, outcome = "failed") =>
    `${ENDS_AT}&${new URLSearchParams({ outcome, code }).toString()}`;

  /** The callback's address, for a login that the provider refuses. */
  async function refusedAt(user: TestUser, error = "server_error"): Promise<string> {
    const state = new URL((await user.get(LOGIN)).location).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ state, error, iss: application.provider.issuer });
    return `/idpauth/login-callback?${query.toString()}`;
  }

  it.each([
    ["access_denied", failed("access_denied", "cancelled")],
    ["server_error", failed("server_error")],
    ["<script>", failed("provider_error")],
  ])("at the provider, with %s", async (error, expected) => {
    const user = await start();
    const response = await user.get(await refusedAt(user, error));
    expect([response.status, response.location]).toEqual([302, expected]);
  });

  it("for a user whom the application refuses", async () => {
    const user = await start({ onSignIn: () => deny("Not you.") });
    expect((await user.signIn(LOGIN)).location).toBe(failed("sign_in_denied"));
  });

  it("for another user than the page's, who has to authenticate again", async () => {
    const user = await start();
    await user.signIn();
    expect((await user.signIn(`${LOGIN}&max_age=60`, { sub: "eve" })).location).toBe(
      failed("step_up_failed"),
    );
  });

  it("for another user, where another site may have started the login", async () => {
    const user = await start();
    await user.signIn();
    const crossSite = { headers: { "sec-fetch-site": "cross-site" } };
    const { location } = await user.get(LOGIN, crossSite);
    const { search } = new URL(await application.provider.signInCode(location, { sub: "eve" }));
    const back = `/idpauth/login-callback${search}`;
    expect((await user.get(back, { headers: HTML })).location).toBe(failed("other_user_signed_in"));
  });

  it("for an ID token that isn't valid", async () => {
    const user = await start();
    application.provider.mutateIdToken = () => "garbage";
    expect((await user.signIn(LOGIN)).location).toBe(failed("sign_in_refused"));
  });

  it("in an outage at the token endpoint", async () => {
    const user = await start();
    application.provider.fault("token", { kind: "status", status: 503 });
    expect((await user.signIn(LOGIN)).location).toBe(failed("provider_unavailable"));
  });

  it("in an outage before the provider is reached; a script gets its 503", async () => {
    const user = await start();
    await application.provider.pause();
    expect((await user.get(LOGIN, { headers: HTML })).location).toBe(
      failed("provider_unavailable"),
    );
    expect((await user.get(`${LOGIN}&response=json`)).status).toBe(503);
  });

  it("in an outage of the session store, through which the page tells it, too", async () => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    const user = await start({ clock, store });
    await user.signIn();
    store.isDown = true;
    const { location } = await user.get(LOGIN, { headers: HTML });
    expect(location).toBe(failed("store_unavailable"));
    const page = await user.get(location, { headers: HTML });
    expect([page.status, page.body]).toEqual([200, expect.stringContaining("popup.js")]);
    expect(page.body).toContain("This site could not check whether you are signed in");
    expect(page.body).not.toMatch(/You are signed|Signed (?:in|out)/);
    // Whether a sign-in has succeeded needs the store.
    expect((await user.get(ENDS_AT, { headers: HTML })).status).toBe(503);
  });

  it("because the user, who was signed in, took longer than a login may", async () => {
    const user = await start();
    await user.signIn();
    const callback = await refusedAt(user);
    application.clock.advance(PENDING_LOGIN_SECONDS * 1000);
    expect((await user.get(callback)).location).toBe(failed("login_link_invalid"));
  });

  it("because another response to it came at the same time", async () => {
    const user = await start();
    const callback = await refusedAt(user);
    const both = [callback, callback.replace("server_error", "invalid_scope")];
    const ends = await Promise.all(both.map(async (each) => (await user.get(each)).location));
    expect(ends).toEqual([failed("server_error"), failed("login_link_invalid")]);
  });

  it("and whose destination is a path, as an earlier version stored it", async () => {
    // Its destination was a path.
    expect(
      failureAt(
        { final_redirect: `/idpauth/popup?attempt=${ATTEMPT}`, redirect_uri: `${OWN_ORIGIN}/x` },
        "server_error",
        "/idpauth/",
      ),
    ).toBe(failed("server_error"));
  });

  it.each([
    `${OWN_ORIGIN}/popup`,
    `${OWN_ORIGIN}/idpauth/popup/x`,
    `${OWN_ORIGIN}/idpauth/`,
    "https://www.example/idpauth/popup",
    "/home",
  ])("tells nothing to %s", (page) => {
    const login = { final_redirect: page, redirect_uri: `${OWN_ORIGIN}/idpauth/login-callback` };
    expect(failureAt(login, "server_error", "/idpauth/")).toBeUndefined();
  });
});

describe("the page on which it ends", () => {
  afterEach(() => application.stop());

  it("for a signed-out user has no script, and offers the login", async () => {
    const user = await start();
    const page = await user.get(ENDS_AT, { headers: HTML });
    expect(page.body).not.toContain("<script");
    expect(page.headers["Content-Security-Policy"]).not.toContain("script-src");
    expect(page.body).toContain(`href="${LOGIN.replaceAll("&", "&amp;")}"`);
  });

  it.each([
    ["cancelled", "access_denied", "You did not give your consent"],
    ["failed", "step_up_failed", "This page requires a recent or a stronger sign-in"],
    ["failed", "login_required", "You must sign in at the identity provider first."],
    ["failed", "<script>alert(1)</script>", "The sign-in was not completed."],
    ["failed", "", "The sign-in was not completed."],
  ])(
    "says why the login was %s, with %s, and offers another account",
    async (outcome = "", code = "", why = "") => {
      const user = await start();
      const query = new URLSearchParams({ attempt: ATTEMPT, outcome, code }).toString();
      const page = await user.get(`/idpauth/popup?${query}`, { headers: HTML });
      expect([page.status, page.body]).toEqual([200, expect.stringContaining(why)]);
      expect(page.body).not.toContain("alert(1)");
      expect(page.body).toContain('<script src="/idpauth/popup.js" defer>');
      const href = /class="button" href="([^"]*)"/.exec(page.body ?? "")?.[1] ?? "";
      expect(href.replaceAll("&amp;", "&")).toBe(`${LOGIN}&select_account=true&cross_site=true`);
    },
  );

  it("for a session that has ended has no script either", async () => {
    const user = await start({ sessionMaxAge: 60 });
    await user.signIn(LOGIN);
    application.clock.advance(61_000);
    expect((await user.get("/idpauth/popup", { headers: HTML })).body).not.toContain("<script");
  });

  it("allows script files of its own origin, and nothing inline", async () => {
    const user = await start();
    await user.signIn(LOGIN);
    const policy = (await user.get("/idpauth/popup", { headers: HTML })).headers[
      "Content-Security-Policy"
    ];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
  });

  it("shows nothing of an attempt that is none", async () => {
    const user = await start();
    await user.signIn(LOGIN);
    const page = await user.get("/idpauth/popup?attempt=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", {
      headers: HTML,
    });
    expect(page.body).not.toContain("alert");
  });

  it("has a script that sends a hint and nothing of the session", async () => {
    const user = await start();
    const { status, headers, body } = await user.get("/idpauth/popup.js");
    expect([status, headers["Content-Type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(headers["X-Content-Type-Options"]).toBe("nosniff");
    expect(body).not.toMatch(/cookie|token|fetch|opener/);
  });

  it("does not count as activity", async () => {
    const user = await start({ sessionIdleTimeout: 600 });
    await user.signIn(LOGIN);
    application.clock.advance(600_000);
    await user.get("/idpauth/popup");
    application.clock.advance(1_000);
    expect((await user.get("/idpauth/session")).json().authenticated).toBe(false);
  });
});
