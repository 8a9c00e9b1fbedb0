import { afterEach, describe, expect, it } from "vitest";
import { OWN_ORIGIN, type ApplicationOptions, type TestUser } from "../support/application.js";
import type { SessionRecord } from "../../src/record/record.js";
import { application, start as startPlain, store } from "../support/one-application.js";

const LOGIN = "/idpauth/login/";
const PAGE = `${OWN_ORIGIN}/reports?year=2024`;
const FROM_PAGE = `${LOGIN}?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: PAGE }).toString()}`;
const BROWSER = { headers: { accept: "text/html" } };
const NEEDS_USER = [
  "login_required",
  "interaction_required",
  "consent_required",
  "account_selection_required",
];

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  const user = await startPlain(options);
  // Otherwise prompt=none never succeeds.
  application.provider.signedIn.set("ada-1815", Math.floor(application.clock.now() / 1000));
  return user;
}
afterEach(() => application.stop());

/** The target of the callback when the provider answers a login with an error. */
async function refusedBy(user: TestUser, error: string, login = FROM_PAGE): Promise<string> {
  const { location } = await user.get(login);
  const asked = new URL(location).searchParams;
  const callback = new URL(asked.get("redirect_uri") ?? "");
  return `${callback.pathname}?${new URLSearchParams({ error, state: asked.get("state") ?? "", iss: application.provider.issuer }).toString()}`;
}

const pendingLogins = async () => {
  const record = (await store.entries())[0]?.data as SessionRecord;
  return record.idp_state.logins ?? [];
};

const WAYS: [name: string, options: ApplicationOptions, login: string][] = [
  ["loginPrompt", { loginPrompt: "none" }, FROM_PAGE],
  ["authorizationParams", { authorizationParams: { prompt: "none" } }, FROM_PAGE],
  ["a login parameter", { loginParams: ["prompt"] }, `${FROM_PAGE}&prompt=none`],
];

describe.each(WAYS)("prompt=none by %s", (_name, options, login) => {
  it.each(NEEDS_USER)(
    "that fails with %s redirects to final_redirect, signed out, and the login is used up",
    async (error) => {
      const user = await start(options);
      const target = await refusedBy(user, error, login);
      expect(await pendingLogins()).toMatchObject([{ silent: true }]);
      const answer = await user.get(target, BROWSER);
      expect([answer.status, answer.location, answer.body]).toEqual([302, PAGE, undefined]);
      expect(await pendingLogins()).toEqual([]);
      expect(await user.isSignedIn()).toBe(false);
      expect((await user.get(target, BROWSER)).status).toBe(400);
      expect(application.provider.requestsTo("token")).toEqual([]);
    },
  );

  it("that fails keeps a session that was there before", async () => {
    const user = await start(options);
    await user.signIn(login);
    const before = await application.auth.getCredentials(user.request("/"));
    const answer = await user.get(await refusedBy(user, "login_required", login));
    expect(answer.location).toBe(PAGE);
    expect(answer.setCookies ?? []).toEqual([]);
    expect(await application.auth.getCredentials(user.request("/"))).toEqual(before);
  });

  it.each([
    "access_denied",
    "server_error",
    "invalid_request",
    "Login_Required",
    "login_required ",
  ])("that fails with %s shows the error, as any login does", async (error) => {
    const user = await start(options);
    const { location } = await user.get(await refusedBy(user, error, login), BROWSER);
    expect(location).toBe(
      `/idpauth/?error=${error.toLowerCase() === error && !error.endsWith(" ") ? error : "provider_error"}`,
    );
  });

  it("that succeeds signs the user in", async () => {
    const user = await start(options);
    expect((await user.signIn(login)).location).toBe(PAGE);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("is checked as any response is: iss, state and repeated parameters", async () => {
    const user = await start(options);
    const target = await refusedBy(user, "login_required", login);
    expect((await user.get(target.replace("state=", "state=x"))).status).toBe(400);
    expect((await application.user().get(target)).status).toBe(400);
    expect((await user.get(`${target}&error=login_required`)).status).toBe(400);
    expect(
      (await user.get((await refusedBy(user, "login_required", login)).replace("iss=", "iss=x")))
        .status,
    ).toBe(400);
  });
});

it.each(NEEDS_USER)(
  "a login without prompt=none that fails with %s shows the error",
  async (error) => {
    const user = await start({ loginParams: ["prompt"] });
    const target = await refusedBy(user, error, `${FROM_PAGE}&prompt=login`);
    expect(await pendingLogins()).not.toMatchObject([{ silent: true }]);
    expect((await user.get(target)).location).toBe(`/idpauth/?error=${error}`);
  },
);

it("prompt=none that another account replaces is not silent", async () => {
  const user = await start({ loginPrompt: "none" });
  const target = await refusedBy(user, "login_required", `${LOGIN}?select_account=true`);
  expect((await user.get(target)).location).toBe("/idpauth/?error=login_required");
});

it("the event has the reason, and the log line is no warning", async () => {
  const user = await start({ loginPrompt: "none" });
  const events: object[] = [];
  application.auth.on("failure", (event) => events.push(event));
  await user.get(await refusedBy(user, "consent_required"));
  const { issuer } = application.provider;
  expect(events).toMatchObject([
    { during: "callback", kind: "refusal", reason: "consent_required", issuer },
  ]);
  const [line, ...more] = application.log.filter(
    ({ code }) => code === "silent_login_failed" || code === "callback_failed",
  );
  expect([line?.code, line?.level, line?.details, more]).toEqual([
    "silent_login_failed",
    "info",
    { reason: "consent_required" },
    [],
  ]);
});

describe("a guarded page with prompt=none for every login", () => {
  const guard = (user: TestUser) =>
    application.auth.guard(user.request("/reports?year=2024", BROWSER));
  const locationOf = async (user: TestUser) => (await guard(user))?.reply.headers["Location"] ?? "";

  it.each(WAYS.slice(0, 2))(
    "by %s does not loop: after one attempt the guard redirects to the landing page",
    async (_name, options) => {
      const user = await start(options);
      expect(await locationOf(user)).toBe(FROM_PAGE);
      expect((await user.get(await refusedBy(user, "login_required"))).location).toBe(PAGE);
      expect(await guard(user)).toMatchObject({
        kind: "navigation",
        loginPath: LOGIN,
        loginUrl: "/idpauth/?error=login_required",
      });
      expect(await locationOf(user)).toBe("/idpauth/?error=login_required");
      expect((await user.get("/idpauth/?error=login_required", BROWSER)).status).toBe(200);
    },
  );

  it("blocks other requests as before", async () => {
    const user = await start({ loginPrompt: "none" });
    await user.get(await refusedBy(user, "login_required"));
    const blocked = await application.auth.guard(user.request("/api"));
    expect(blocked).toMatchObject({
      kind: "unauthenticated",
      loginUrl: LOGIN,
      reply: { status: 401 },
    });
  });

  it("doesn't make htmx loop, either", async () => {
    const user = await start({ loginPrompt: "none" });
    const redirectOf = async () => {
      const headers = { "hx-request": "true", "hx-current-url": PAGE };
      const blocked = await application.auth.guard(user.request("/api", { headers }));
      return blocked?.reply.headers["HX-Redirect"];
    };
    expect(await redirectOf()).toBe(FROM_PAGE);
    await user.get(await refusedBy(user, "login_required"));
    expect(await redirectOf()).toBe("/idpauth/?error=login_required");
  });

  it("tries again after half a minute, in the past and in the future of the failure", async () => {
    const user = await start({ loginPrompt: "none" });
    await user.get(await refusedBy(user, "login_required"));
    application.clock.advance(29_000);
    expect(await locationOf(user)).toBe("/idpauth/?error=login_required");
    application.clock.advance(1_000);
    expect(await locationOf(user)).toBe(FROM_PAGE);
    application.clock.setNow(application.clock.now() - 120_000);
    expect(await locationOf(user)).toBe(FROM_PAGE);
  });

  it("a sign-in forgets the failure", async () => {
    const user = await start({ loginPrompt: "none", sessionMaxAge: 10 });
    await user.get(await refusedBy(user, "login_required"));
    await user.signIn(FROM_PAGE);
    application.clock.advance(11_000);
    expect(await locationOf(user)).toBe(FROM_PAGE);
  });

  it("a failed prompt=none of one login continues to an ordinary login", async () => {
    const user = await start({ loginParams: ["prompt"] });
    await user.get(await refusedBy(user, "login_required", `${FROM_PAGE}&prompt=none`));
    expect(await locationOf(user)).toBe(FROM_PAGE);
    const { location } = await user.get(FROM_PAGE);
    expect(new URL(location).searchParams.get("prompt")).toBe("consent");
  });
});
