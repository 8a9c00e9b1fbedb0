// A token that an API has rejected stays rejected once the provider has refused to replace it.
import { beforeEach, describe, expect, it } from "vitest";
import type { ApiTokenError } from "../../src/index.js";
import { APIS, app, startForEachTest } from "../support/api-application.js";

startForEachTest();
beforeEach(() => {
  app.application.provider.settings.idTokenSeconds = 86_400;
});

/** What a call gets, without `api` that of the session's own token. */
async function got(api: string | undefined, rejected?: string, request = app.request()) {
  const options = { ...(api && { api }), ...(rejected !== undefined && { rejected }) };
  const outcome = app.auth.getAccessToken(request, options);
  return outcome.catch((error: unknown) => (error as ApiTokenError).code);
}
/** Another process over the same store. */
function inAnotherProcess(): void {
  app.auth = app.application.another({ apis: APIS });
}

const SIGN_IN = "api_sign_in_required";

describe.each<[string, string | undefined, string | null]>([
  ["the session's own token", undefined, null],
  ["the session's own token for an API", "own", SIGN_IN],
  ["the token of an API", "orders", SIGN_IN],
])("%s, rejected by the API", (_name, api, none) => {
  const refuse = () => {
    app.refuse(...(api === "orders" ? ["invalid_grant", "invalid_grant"] : ["invalid_grant"]));
  };

  it.each<[string, () => void]>([
    ["invalid_grant", refuse],
    [
      "an ID token of another user",
      () => {
        app.application.provider.mutateIdToken = (draft) => {
          draft.claims["sub"] = "mallory";
          return draft;
        };
        if (api === "orders") app.refuse("invalid_grant");
      },
    ],
  ])("and whose refresh is refused (%s) comes back to no call", async (_how, refuseIt) => {
    await app.user.signIn();
    const rejected = (await got(api)) ?? "";
    refuseIt();
    expect(await got(api, rejected)).toBe(none);
    const { length } = app.refreshes();
    expect(await got(api)).toBe(none);
    expect(await got(api, rejected)).toBe(none);
    inAnotherProcess();
    expect(await got(api)).toBe(none);
    app.application.clock.advance(61_000);
    expect([await got(api), await got(api, rejected)]).toEqual([none, none]);
    expect(app.refreshes().length).toBe(length);
    // The session lives until its ID token expires, and `getCredentials` says what it has.
    expect(await app.user.isSignedIn()).toBe(true);
    const credentials = await app.auth.getCredentials(app.request());
    expect(credentials?.token).toEqual(expect.any(String));
    expect(credentials).not.toHaveProperty("refresh_token");
  });

  it("is one for every call at once, in two processes", async () => {
    await app.user.signIn();
    const rejected = (await got(api)) ?? "";
    refuse();
    const first = app.auth;
    inAnotherProcess();
    const processes = [first, app.auth];
    const calls = Array.from({ length: 10 }, (_call, at) => {
      app.auth = processes[at % 2]!;
      return got(api, rejected);
    });
    const running = { isDone: false };
    const outcomes = Promise.all(calls).finally(() => (running.isDone = true));
    // The other process looks again at the lease.
    while (!running.isDone) await app.application.clock.advanceAsync(50);
    expect(new Set(await outcomes)).toEqual(new Set([none]));
    for (const auth of processes) {
      app.auth = auth;
      expect(await got(api)).toBe(none);
    }
  });

  it("comes back to no late request that read the session before", async () => {
    await app.user.signIn();
    const rejected = (await got(api)) ?? "";
    const late = app.request();
    expect(await got(api, undefined, late)).toBe(rejected);
    refuse();
    expect(await got(api, rejected)).toBe(none);
    expect(await got(api, rejected, late)).toBe(none);
    expect(await got(api, undefined, late)).toBe(none);
  });

  it("stays rejected if the refresh token was refused before, to a call that knew nothing of it", async () => {
    app.application.provider.settings.accessTokenSeconds = 3_600;
    await app.user.signIn();
    const rejected = (await got(api)) ?? "";
    refuse();
    const early = { ...(api && { api }), minValidity: 9_999 };
    app.application.clock.advance(1_900_000);
    expect(await app.auth.getAccessToken(app.request(), early)).toBe(rejected);
    expect(await got(api)).toBe(rejected);
    expect(await got(api, rejected)).toBe(none);
    expect(await got(api)).toBe(none);
  });

  it("is replaced by a login", async () => {
    await app.user.signIn();
    const rejected = (await got(api)) ?? "";
    refuse();
    await got(api, rejected);
    await app.user.signIn(api && `/idpauth/login/?api=${api}`);
    const fresh = await got(api);
    expect(fresh).not.toBe(rejected);
    expect([null, SIGN_IN]).not.toContain(fresh);
    expect(await got(api, rejected)).toBe(fresh);
  });
});

describe("fetchApi", () => {
  it.each(["own", "orders"])("asks for a sign-in (%s)", async (api) => {
    await app.user.signIn();
    const first = await got(api);
    app.refuse("invalid_grant", "invalid_grant");
    await got(api, first ?? "");
    const failure = app.auth.fetchApi(app.request(), api, "x");
    await expect(failure).rejects.toMatchObject({
      code: SIGN_IN,
      status: 401,
      reason: "refresh_rejected",
      loginUrl: `/idpauth/login/?api=${api}`,
    });
  });
});
