import { afterEach, describe, expect, it } from "vitest";
import type { ApplicationOptions, TestUser } from "../support/application.js";
import { application, pass, signedIn, start } from "../support/one-application.js";

const HOUR = 3600;
/** A new one each time, because what an accessor reads is remembered for its request. */
const request = (user: TestUser) => user.request("/reports");

describe("checkIdpAuthentication and explainIdpAuthentication", () => {
  afterEach(() => application.stop());

  it.each<[string, ApplicationOptions, number, boolean, string | null]>([
    ["valid", {}, 0, true, null],
    ["one second before the ID token's expiry", {}, HOUR - 1, true, null],
    ["expired and refreshable", {}, HOUR, false, "id_token_expired"],
    [
      "expired without a refresh token",
      { provider: { issueRefreshToken: false } },
      HOUR,
      false,
      "no_refresh_token",
    ],
    [
      "expired with automatic refresh off",
      { sessionAutoRefresh: false },
      HOUR,
      false,
      "auto_refresh_off",
    ],
    [
      "expired with both",
      { sessionAutoRefresh: false, provider: { issueRefreshToken: false } },
      HOUR,
      false,
      "auto_refresh_off",
    ],
    ["at the maximum age", { sessionMaxAge: 600 }, 600, true, null],
    ["beyond the maximum age", { sessionMaxAge: 600 }, 601, false, "max_age"],
    ["beyond the idle timeout", { sessionIdleTimeout: 600 }, 601, false, "idle"],
    ["beyond both caps", { sessionMaxAge: 600, sessionIdleTimeout: 600 }, 601, false, "max_age"],
    ["beyond a cap and expired", { sessionIdleTimeout: 600 }, HOUR, false, "idle"],
  ])("%s", async (_name, options, seconds, authenticated, reason) => {
    const user = await signedIn(options);
    pass(seconds);
    expect(await application.auth.checkIdpAuthentication(request(user))).toBe(authenticated);
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated,
      reason,
    });
  });

  it("without a session: no_credentials", async () => {
    const user = await start();
    expect(await application.auth.checkIdpAuthentication(request(user))).toBe(false);
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated: false,
      reason: "no_credentials",
    });
    await user.get("/idpauth/login/");
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated: false,
      reason: "no_credentials",
    });
  });

  it("after a refusal: refresh_rejected", async () => {
    const user = await signedIn();
    application.provider.revokeAll();
    pass(HOUR);
    await application.auth.getCredentials(request(user));
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated: false,
      reason: "refresh_rejected",
    });
    await user.signIn();
    expect(await application.auth.explainIdpAuthentication(request(user))).toEqual({
      authenticated: true,
      reason: null,
    });
  });
});
