import { afterEach, describe, expect, it } from "vitest";
import { ProviderUnavailableError, StoreUnavailableError } from "../../src/index.js";
import type { ApplicationOptions, TestUser } from "../support/application.js";
import {
  application,
  newest,
  pass,
  refreshes,
  signedIn,
  start,
  store,
} from "../support/one-application.js";

const HOUR = 3600;
/** A new one each time, because what an accessor reads is remembered for its request. */
const request = (user: TestUser) => user.request("/reports");

describe("getCredentials", () => {
  afterEach(() => application.stop());

  it("gives the six fields", async () => {
    const user = await signedIn();
    expect(await application.auth.getCredentials(request(user))).toEqual({
      token: newest("access_token"),
      refresh_token: newest("refresh_token"),
      token_uri: `${application.provider.issuer}/token`,
      client_id: application.provider.clientId,
      client_secret: application.provider.clientSecret,
      scopes: ["openid", "email", "profile", "offline_access"],
    });
  });

  it("leaves the key refresh_token out when there is none", async () => {
    const user = await signedIn({ provider: { issueRefreshToken: false } });
    expect(Object.keys((await application.auth.getCredentials(request(user))) ?? {})).toEqual([
      "token",
      "token_uri",
      "client_id",
      "client_secret",
      "scopes",
    ]);
  });

  it("gives the scopes that were granted, if the provider says so, otherwise those requested", async () => {
    const user = await start();
    application.provider.tokenResponse = (answer) => ({ ...answer, scope: "openid email" });
    await user.signIn();
    expect((await application.auth.getCredentials(request(user)))?.scopes).toEqual([
      "openid",
      "email",
    ]);
    application.provider.tokenResponse = ({ scope: _gone, ...answer }) => answer;
    await user.signIn();
    expect((await application.auth.getCredentials(request(user)))?.scopes).toEqual([
      "openid",
      "email",
      "profile",
      "offline_access",
    ]);
  });

  it("gives null to a user without a session, at no cost", async () => {
    const user = await start();
    expect(await application.auth.getCredentials(request(user))).toBeNull();
    expect(store.operations).toEqual([]);
  });

  it.each<[string, ApplicationOptions, number]>([
    ["beyond the maximum age", { sessionMaxAge: 600 }, 601],
    ["beyond the idle timeout", { sessionIdleTimeout: 600 }, 601],
    ["expired with automatic refresh off", { sessionAutoRefresh: false }, HOUR],
    ["expired without a refresh token", { provider: { issueRefreshToken: false } }, HOUR],
  ])("gives null %s", async (_name, options, seconds) => {
    const user = await signedIn(options);
    pass(seconds);
    expect(await application.auth.getCredentials(request(user))).toBeNull();
    expect(refreshes()).toBe(0);
  });

  it("refreshes once, however many request it at once, and writes back", async () => {
    const user = await signedIn();
    const old = newest("access_token");
    pass(HOUR);
    const all = await Promise.all(
      Array.from({ length: 200 }, () => application.auth.getCredentials(request(user))),
    );
    expect(new Set(all.map((credentials) => credentials?.token))).toEqual(
      new Set([newest("access_token")]),
    );
    expect(newest("access_token")).not.toBe(old);
    expect(refreshes()).toBe(1);
    expect(
      (
        (await application.auth.readSessionRecord(request(user)))?.["credentials"] as {
          token: string;
        }
      ).token,
    ).toBe(newest("access_token"));
  });

  it("keeps the refresh token that was not replaced", async () => {
    const user = await signedIn({ provider: { rotation: false } });
    const before = (await application.auth.getCredentials(request(user)))?.refresh_token;
    pass(HOUR);
    expect((await application.auth.getCredentials(request(user)))?.refresh_token).toBe(before);
    expect(refreshes()).toBe(1);
  });

  it("rejects with a 503 in an outage of the provider, and the session stays", async () => {
    const user = await signedIn();
    pass(HOUR);
    application.provider.fault("token", {
      kind: "status",
      status: 503,
      headers: { "Retry-After": "17" },
    });
    const failure = await application.auth
      .getCredentials(request(user))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderUnavailableError);
    expect(failure).toMatchObject({
      code: "provider_unavailable",
      status: 503,
      statusCode: 503,
      retryAfter: 17,
    });
    application.provider.clearFaults();
    pass(17);
    expect(await application.auth.getCredentials(request(user))).not.toBeNull();
  });

  it("rejects with a 503 in an outage of the store", async () => {
    const user = await signedIn();
    store.isDown = true;
    const failure = await application.auth
      .getCredentials(request(user))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure).toMatchObject({ code: "store_unavailable", status: 503 });
  });

  it("gives what no caller can change for others", async () => {
    const user = await signedIn();
    const credentials = (await application.auth.getCredentials(request(user))) as unknown as {
      token: string;
      scopes: string[];
    };
    expect(() => {
      credentials.token = "mine";
    }).toThrow(TypeError);
    expect(() => credentials.scopes.push("admin")).toThrow(TypeError);
    expect((await application.auth.getCredentials(request(user)))?.token).toBe(
      newest("access_token"),
    );
  });
});
