import { afterEach, describe, expect, it } from "vitest";
import { OWN_ORIGIN, type ApplicationOptions, type TestUser } from "../support/application.js";
import { settled } from "../../src/testing/settled.js";
import {
  application as app,
  signedIn as signedInPlain,
  sealing,
  startOver,
} from "../support/one-application.js";

const LOGOUT = "/idpauth/logout/";
const CALLBACK = "http://app.example/idpauth/logout-callback";

afterEach(() => app.stop());

const signedIn = (options: ApplicationOptions = {}) =>
  signedInPlain({ logoutAtProvider: true, ...options });

const turns = async (): Promise<void> => {
  for (let count = 0; count < 20; count += 1) await new Promise((resolve) => setImmediate(resolve));
};
const idToken = () => app.provider.issued.filter(({ kind }) => kind === "id_token").at(-1)?.value;
const revocations = () => app.provider.requestsTo("revoke").length;
const skipped = () =>
  app.log
    .filter(({ code }) => code === "logout_not_at_provider")
    .map(({ details }) => details?.reason);

describe("logout at the provider", () => {
  it("goes on to end_session_endpoint with hint, client, address and state, and comes back", async () => {
    const user = await signedIn({ authLogoutRedirectUrl: "/bye" });
    const reply = await user.get(LOGOUT);
    const url = new URL(reply.location);
    expect([reply.status, url.origin + url.pathname]).toEqual([
      302,
      `${app.provider.issuer}/end-session`,
    ]);
    const { id_token_hint: hint, state = "", ...others } = Object.fromEntries(url.searchParams);
    expect(others).toEqual({ client_id: "test-client", post_logout_redirect_uri: CALLBACK });
    expect(hint).toBe(idToken());
    expect(state).toMatch(/^[\w-]{22}$/);
    expect(await user.isSignedIn()).toBe(false);
    const back = await user.get(`/idpauth/logout-callback?state=${state}`);
    expect([back.status, back.location]).toEqual([302, "/bye"]);
  });

  it.each(["", "?state=", "?state=another"])(
    "comes back without the state of the request, too, and the user stays signed out (%j)",
    async (query) => {
      const user = await signedIn();
      await user.get(LOGOUT);
      const back = await user.get(`/idpauth/logout-callback${query}`);
      expect([back.status, back.location]).toEqual([302, "/idpauth/"]);
      expect(await user.isSignedIn()).toBe(false);
      expect(app.log.filter(({ level }) => level === "error")).toEqual([]);
    },
  );

  it.each(["all", "own"])("the sessions page's form goes on there, too (end=%s)", async (which) => {
    const user = await signedIn({ sessionsPage: true, authLogoutRedirectUrl: "/bye" });
    const headers = { "sec-fetch-site": "same-origin", accept: "text/html" };
    const page = await user.get("/idpauth/sessions", { headers });
    expect(page.headers["Content-Security-Policy"]).toContain("form-action http: https:;");
    const listed = await user.get("/idpauth/sessions", {
      headers: { ...headers, accept: "application/json" },
    });
    const { sessions } = listed.json() as unknown as { sessions: { id: string }[] };
    const form = { end: which === "all" ? "all" : (sessions[0]?.id ?? "") };
    const reply = await user.post("/idpauth/sessions", form, { headers });
    const url = new URL(reply.location);
    expect([reply.status, url.origin + url.pathname]).toEqual([
      303,
      `${app.provider.issuer}/end-session`,
    ]);
    expect(url.searchParams.get("id_token_hint")).toBe(idToken());
    expect(await user.isSignedIn()).toBe(false);
    expect(revocations()).toBe(0);
    const back = await user.get(
      `/idpauth/logout-callback?state=${url.searchParams.get("state") ?? ""}`,
    );
    expect([back.status, back.location]).toEqual([302, "/bye"]);
    await expect.poll(revocations).toBe(1);
  });

  it("a script that ends its own session gets the address of the logout there, without a token", async () => {
    const user = await signedIn({ sessionsPage: true });
    const headers = { "sec-fetch-site": "same-origin", accept: "application/json" };
    const reply = await user.post("/idpauth/sessions", { end: "all" }, { headers });
    const { status, ended, redirect_to: next } = reply.json() as Record<string, string>;
    expect([status, ended]).toEqual(["ended", 1]);
    expect(new URL(next ?? "").searchParams.has("id_token_hint")).toBe(false);
  });

  it("without it, the form leads where a logout leads", async () => {
    const user = await signedIn({
      logoutAtProvider: false,
      sessionsPage: true,
      authLogoutRedirectUrl: "/bye",
    });
    const headers = { "sec-fetch-site": "same-origin", accept: "text/html" };
    const page = await user.get("/idpauth/sessions", { headers });
    expect(page.headers["Content-Security-Policy"]).toContain("form-action 'self';");
    const reply = await user.post("/idpauth/sessions", { end: "all" }, { headers });
    expect([reply.status, reply.location]).toEqual([303, "/bye"]);
  });

  it("revokes when the browser comes back, and not before", async () => {
    const user = await signedIn();
    const state = new URL((await user.get(LOGOUT)).location).searchParams.get("state") ?? "";
    await turns();
    expect(revocations()).toBe(0);
    await user.get("/idpauth/logout-callback?state=another");
    await turns();
    expect(revocations()).toBe(0);
    await user.get(`/idpauth/logout-callback?state=${state}`);
    await expect.poll(revocations).toBe(1);
    await user.get(`/idpauth/logout-callback?state=${state}`);
    app.clock.advance(31_000);
    await settled(app.auth);
    expect(revocations()).toBe(1);
  });

  it("revokes after 30 seconds if the browser does not come back", async () => {
    const user = await signedIn();
    await user.get(LOGOUT);
    app.clock.advance(29_999);
    await turns();
    expect(revocations()).toBe(0);
    app.clock.advance(1);
    await expect.poll(revocations).toBe(1);
  });

  it("revokes at a shutdown", async () => {
    const user = await signedIn();
    await user.get(LOGOUT);
    await settled(app.auth);
    expect(revocations()).toBe(1);
  });

  it("revokes at a shutdown also what a logout adds while a refresh is still running", async () => {
    const user = await signedIn();
    const other = app.user();
    await other.signIn();
    app.clock.advance(3_600_000);
    const token = app.provider.hold("token");
    const refreshed = user.isSignedIn();
    await token.arrived;
    const idle = settled(app.auth);
    await other.get(LOGOUT);
    expect(revocations()).toBe(0);
    token.release();
    await idle;
    expect([await refreshed, revocations()]).toEqual([true, 1]);
  });

  it("response=json gives the address without the hint, since a script reads it", async () => {
    const user = await signedIn();
    const { status, redirect_to: to } = (await user.get(`${LOGOUT}?response=json`)).json() as {
      status: string;
      redirect_to: string;
    };
    expect(status).toBe("logged_out");
    expect([...new URL(to).searchParams.keys()]).toEqual([
      "client_id",
      "post_logout_redirect_uri",
      "state",
    ]);
  });

  const query = (location: string) => new URL(location).searchParams;
  const from = (site: string | undefined) => ({ headers: { "sec-fetch-site": site } });

  it.each([
    ["the application's own page", "same-origin", true],
    ["an address that the user typed", "none", true],
    ["a sibling domain", "same-site", false],
    ["a browser without Sec-Fetch-Site", undefined, false],
    ["two values", "same-origin, same-origin", false],
    ["an unknown value", "Same-Origin", false],
  ])(
    "[CSRF-4] a logout of %s continues at the provider, which has the user confirm it unless the logout is the user's own",
    async (_name, site, hasHint) => {
      const user = await signedIn();
      const { location } = await user.get(LOGOUT, from(site));
      expect([
        location.startsWith(`${app.provider.issuer}/end-session?`),
        query(location).has("id_token_hint"),
      ]).toEqual([true, hasHint]);
      expect([skipped(), await user.isSignedIn()]).toEqual([[], false]);
    },
  );

  it.each<[preset: true | "auth0", site: string | undefined, reason: string]>([
    [true, "cross-site", "cross_site"],
    ["auth0", "cross-site", "cross_site"],
    ["auth0", "same-site", "not_same_origin"],
    ["auth0", undefined, "not_same_origin"],
  ])(
    "[CSRF-4] with %s and Sec-Fetch-Site %s ends the session only here",
    async (logoutAtProvider, site, reason) => {
      const user = await signedIn({ logoutAtProvider });
      expect((await user.get(LOGOUT, from(site))).location).toBe("/idpauth/");
      expect([skipped(), await user.isSignedIn(), revocations()]).toEqual([[reason], false, 1]);
      await user.signIn();
      expect((await user.get(`${LOGOUT}?response=json`, from(site))).json()).toEqual({
        status: "logged_out",
      });
      expect(await user.isSignedIn()).toBe(false);
    },
  );

  it("gives the newest ID token after a refresh", async () => {
    const user = await signedIn();
    const first = idToken();
    app.clock.advance(3_600_000);
    expect(await user.isSignedIn()).toBe(true);
    const hint = new URL((await user.get(LOGOUT)).location).searchParams.get("id_token_hint");
    expect(hint).toBe(idToken());
    expect(hint).not.toBe(first);
  });

  it("leaves out a hint that makes the address longer than 4 KB", async () => {
    const user = await signedIn({
      provider: {
        person: { sub: "ada", groups: Array.from({ length: 400 }, (_, i) => `group-${String(i)}`) },
      },
    });
    const { location } = await user.get(LOGOUT);
    expect(location.length).toBeLessThan(4096);
    expect(new URL(location).searchParams.has("id_token_hint")).toBe(false);
  });

  it("is a plain logout for a provider without the endpoint, and says so once", async () => {
    const user = await signedIn({ provider: { endSession: "ignored" } });
    expect((await user.get(LOGOUT)).location).toBe("/idpauth/");
    expect(revocations()).toBe(1);
    await user.signIn();
    await user.get(LOGOUT);
    expect(skipped()).toEqual(["end_session_endpoint"]);
    // The default log writes the message alone.
    const line = app.log.find(({ code }) => code === "logout_not_at_provider");
    expect(line?.message).toBe(
      "A logout couldn't continue at the provider (end_session_endpoint).",
    );
  });

  it("never waits for the provider: a process that has not read the discovery document ends the session here", async () => {
    const user = await signedIn();
    const another = app.another();
    app.provider.hold("discovery");
    const reply = user.at(another).get(LOGOUT);
    await expect.poll(() => user.isSignedIn()).toBe(false);
    // The logout at the provider, then the revocation: each is given a second.
    for (let second = 0; second < 2; second += 1) {
      await turns();
      app.clock.advance(1_000);
    }
    expect((await reply).location).toBe("/idpauth/");
    expect(skipped()).toEqual(["timeout"]);
    app.provider.clearFaults();
  });

  it("at Auth0 has an address of its own", async () => {
    const user = await signedIn({ logoutAtProvider: "auth0" });
    const url = new URL((await user.get(LOGOUT)).location);
    expect(url.origin + url.pathname).toBe(`${app.provider.issuer}/v2/logout`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "test-client",
      returnTo: CALLBACK,
    });
  });

  it("keeps the ID token only while it is on, and encrypted", async () => {
    for (const logoutAtProvider of [true, false]) {
      await startOver(sealing, { logoutAtProvider });
      const user = app.user();
      await user.signIn();
      const { location } = await user.get(LOGOUT);
      expect(location.includes("id_token_hint")).toBe(logoutAtProvider);
      if (logoutAtProvider) await app.stop();
    }
  });

  it("off: logout-callback is 404, and a logout stays here", async () => {
    const user = await signedIn({ logoutAtProvider: false });
    expect((await user.get("/idpauth/logout-callback")).status).toBe(404);
    expect((await user.get(LOGOUT)).location).toBe("/idpauth/");
  });
});

describe("front-channel logout", () => {
  const FRONT = "/idpauth/frontchannel-logout";
  const start = (options: ApplicationOptions = {}) =>
    signedIn({ logoutAtProvider: false, frontchannelLogout: true, ...options });
  const query = async (user: TestUser) => ({
    iss: app.provider.issuer,
    sid: String((await app.auth.getSession(user.request("/")))?.claims["sid"]),
  });
  const open = (parameters: Record<string, string>, user = app.user()) =>
    user.get(`${FRONT}?${new URLSearchParams(parameters).toString()}`);

  it("ends the session of that sid, for any cookies, and only the provider may frame the page", async () => {
    const user = await start();
    const reply = await open(await query(user));
    expect(reply.status).toBe(200);
    expect(reply.headers["Content-Security-Policy"]).toContain(
      `frame-ancestors ${new URL(app.provider.issuer).origin}`,
    );
    expect(reply.headers["X-Frame-Options"]).toBeUndefined();
    expect(reply.headers["Cache-Control"]).toBe("no-store");
    expect(await user.isSignedIn()).toBe(false);
  });

  it("goes on from the application's own logout: the provider's page loads the address, which ends every session of that sid, and leads back", async () => {
    const user = await start({ logoutAtProvider: true });
    const others = [app.user(), app.user()];
    for (const other of others) await other.signIn();
    const areSignedIn = () => Promise.all(others.map((other) => other.isSignedIn()));
    app.provider.settings.postLogoutRedirectUris = [CALLBACK];
    app.provider.settings.frontchannelLogoutUri = `${OWN_ORIGIN}${FRONT}`;
    const page = await (await fetch((await user.get(LOGOUT)).location)).text();
    const [, frame = ""] = /<iframe src="([^"]*)"/.exec(page) ?? [];
    const [, back = ""] = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(page) ?? [];
    const targetOf = (address: string) => {
      const { origin, pathname, search } = new URL(address.replaceAll("&#38;", "&"));
      expect(origin).toBe(OWN_ORIGIN);
      return pathname + search;
    };
    expect(await areSignedIn()).toEqual([true, true]);
    // In a frame of another site, browsers send no cookies.
    const headers = { "sec-fetch-dest": "iframe" };
    expect((await app.user().get(targetOf(frame), { headers })).status).toBe(200);
    expect(await areSignedIn()).toEqual([false, false]);
    expect((await user.get(targetOf(back))).location).toBe("/idpauth/");
  });

  it("ends a session only in an iframe, if the browser says where the response goes", async () => {
    const user = await start();
    const target = `${FRONT}?${new URLSearchParams(await query(user)).toString()}`;
    for (const destination of ["document", "image", "empty", "frame", "object", ""]) {
      const reply = await app.user().get(target, { headers: { "sec-fetch-dest": destination } });
      expect([destination, reply.status, await user.isSignedIn()]).toEqual([
        destination,
        400,
        true,
      ]);
    }
    const refused = app.log
      .filter(({ code }) => code === "frontchannel_logout_failed")
      .map(({ details }) => details?.reason);
    expect(refused).toEqual(Array.from({ length: 6 }, () => "not_in_a_frame"));
    expect((await app.user().get(target, { headers: { "sec-fetch-dest": "iframe" } })).status).toBe(
      200,
    );
    expect(await user.isSignedIn()).toBe(false);
  });

  it("ends no session of another sid, even with its cookie", async () => {
    const user = await start();
    expect((await open({ ...(await query(user)), sid: "another" }, user)).status).toBe(200);
    expect(await user.isSignedIn()).toBe(true);
  });

  it.each([
    ["without sid", { sid: "" }],
    ["of another issuer", { iss: "https://evil.example" }],
    ["with an empty issuer", { iss: "" }],
  ])("%s: 400, and nothing changes", async (_, changes) => {
    const user = await start();
    expect((await open({ ...(await query(user)), ...changes })).status).toBe(400);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("without iss or with a repeated one: 400; only Entra ID sends none", async () => {
    const user = await start();
    const { sid, iss } = await query(user);
    expect((await open({ sid })).status).toBe(400);
    expect((await app.user().get(`${FRONT}?sid=${sid}&iss=${iss}&iss=${iss}`)).status).toBe(400);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("is 404 unless it is on", async () => {
    await start({ frontchannelLogout: false });
    expect((await open({ sid: "a" })).status).toBe(404);
  });
});
