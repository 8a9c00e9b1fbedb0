import { afterEach, describe, expect, it } from "vitest";
import { ProviderUnavailableError, StoreUnavailableError } from "../../src/index.js";
import type { ApplicationOptions, TestUser } from "../support/application.js";
import {
  application,
  newest,
  pass,
  refreshes,
  signedIn,
  store,
} from "../support/one-application.js";

const HOUR = 3600;
const ADA = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};
/** A new one each time, because what an accessor reads is remembered for its request. */
const request = (user: TestUser) => user.request("/reports");

describe("getSession", () => {
  afterEach(() => application.stop());
  const session = (user: TestUser) => application.auth.getSession(request(user));
  const now = () => application.clock.now() / 1000;

  it("gives the user, the verified claims and the times, and no token", async () => {
    const user = await signedIn();
    const given = await session(user);
    expect(given).toEqual({
      user: { ...ADA, id: "ada-1815", email_verified: true },
      claims: expect.objectContaining({
        iss: application.provider.issuer,
        sub: "ada-1815",
        email: ADA.email,
        exp: now() + HOUR,
      }) as unknown,
      data: {},
      signedInAt: now(),
      lastActive: null,
      expiresAt: null,
    });
    expect(JSON.stringify(given)).not.toContain(newest("access_token"));
  });

  it.each<[string, ApplicationOptions, number, number, string]>([
    ["beyond the maximum age", { sessionMaxAge: 600 }, 600, 1, "max_age"],
    ["beyond the idle timeout", { sessionIdleTimeout: 600 }, 600, 601, "idle"],
    ["with automatic refresh off", { sessionAutoRefresh: false }, HOUR - 1, 1, "auto_refresh_off"],
    [
      "without a refresh token",
      { provider: { issueRefreshToken: false } },
      HOUR - 1,
      1,
      "no_refresh_token",
    ],
  ])(
    "is null %s, while the record is still there",
    async (_name, options, before, after, reason) => {
      const user = await signedIn(options);
      pass(before);
      expect(await session(user)).not.toBeNull();
      pass(after);
      expect(await session(user)).toBeNull();
      expect(await application.auth.readSessionRecord(request(user))).toHaveProperty("id_info");
      expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
        authenticated: false,
        reason,
      });
    },
  );

  it.each<[string, ApplicationOptions, number, number | null]>([
    ["the maximum age, counted from the sign-in", { sessionMaxAge: 600 }, 100, 600],
    ["the idle timeout, counted from this request", { sessionIdleTimeout: 600 }, 100, 700],
    ["the earlier of both", { sessionMaxAge: 650, sessionIdleTimeout: 600 }, 100, 650],
    [
      "the ID token's expiry with automatic refresh off",
      { sessionAutoRefresh: false, sessionMaxAge: 2 * HOUR },
      100,
      HOUR,
    ],
    [
      "the ID token's expiry without a refresh token",
      { provider: { issueRefreshToken: false } },
      100,
      HOUR,
    ],
    ["nothing while the ID token can be refreshed", {}, 100, null],
  ])("says when the session ends: %s", async (_name, options, seconds, expected) => {
    const user = await signedIn(options);
    const signedInAt = now();
    pass(seconds);
    const { expiresAt } = (await session(user))!;
    expect(expiresAt === null ? null : expiresAt - signedInAt).toBe(expected);
  });

  it("refreshes an expired ID token, keeps the sign-in time and counts as activity", async () => {
    const user = await signedIn({ sessionIdleTimeout: 2 * HOUR });
    const signedInAt = now();
    pass(HOUR);
    expect(await session(user)).toMatchObject({
      claims: { exp: now() + HOUR },
      signedInAt,
      lastActive: now(),
    });
    expect(refreshes()).toBe(1);
    expect((await application.auth.readSessionRecord(request(user)))?.["idp_last_active"]).toBe(
      now(),
    );
  });

  it("is null without a session, and rejects in an outage of the provider or the store", async () => {
    const user = await signedIn();
    expect(await session(application.user())).toBeNull();
    pass(HOUR);
    application.provider.fault("token", { kind: "status", status: 503 });
    await expect(session(user)).rejects.toBeInstanceOf(ProviderUnavailableError);
    store.isDown = true;
    await expect(session(user)).rejects.toBeInstanceOf(StoreUnavailableError);
  });

  it("cannot be changed by a caller", async () => {
    const given = (await session(await signedIn())) as unknown as {
      user: { name: string };
      claims: { sub: string; aud: unknown };
    };
    expect(() => (given.user.name = "Eve")).toThrow(TypeError);
    expect(() => (given.claims.sub = "eve")).toThrow(TypeError);
  });
});
