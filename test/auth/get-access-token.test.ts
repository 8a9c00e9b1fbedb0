import { afterEach, describe, expect, it } from "vitest";
import { ProviderUnavailableError } from "../../src/index.js";
import type { TestUser } from "../support/application.js";
import {
  application,
  newest,
  pass,
  refreshes,
  signedIn,
  start,
} from "../support/one-application.js";

/** A new one each time, because what an accessor reads is remembered for its request. */
const request = (user: TestUser) => user.request("/reports");

describe("getAccessToken", () => {
  afterEach(() => application.stop());
  const SHORT = { provider: { accessTokenSeconds: 300 } };
  const token = (user: TestUser, minValidity?: number) =>
    application.auth.getAccessToken(
      request(user),
      minValidity === undefined ? {} : { minValidity },
    );

  it.each([
    [0, undefined, 0],
    [270, undefined, 0],
    [271, undefined, 1],
    [300, undefined, 1],
    [0, 301, 0],
    [150, 301, 0],
    [151, 301, 1],
    [150, 200, 0],
    [151, 200, 1],
    [299, 0, 0],
    [300, 0, 1],
  ])("after %i s, with minValidity %s: %i refreshes", async (seconds, minValidity, count) => {
    const user = await signedIn(SHORT);
    pass(seconds);
    expect(await token(user, minValidity)).toBe(newest("access_token"));
    expect(refreshes()).toBe(count);
  });

  it("is null when the token has expired and nothing newer is to be had", async () => {
    const user = await signedIn({
      provider: { accessTokenSeconds: 300, issueRefreshToken: false },
    });
    pass(299);
    expect(await token(user)).toBe(newest("access_token"));
    pass(1);
    expect(await token(user)).toBeNull();
  });

  it("is null when signed out", async () => {
    expect(await token(await start())).toBeNull();
  });

  it("an outage takes nothing away that still works, and is an error for what does not", async () => {
    const user = await signedIn(SHORT);
    pass(280);
    application.provider.fault("token", { kind: "reset" });
    expect(await token(user)).toBe(newest("access_token"));
    pass(20);
    await expect(token(user)).rejects.toBeInstanceOf(ProviderUnavailableError);
  });

  it("does not lift a session limit", async () => {
    const user = await signedIn({ ...SHORT, sessionMaxAge: 300 });
    pass(301);
    expect(await token(user)).toBeNull();
    expect(refreshes()).toBe(0);
  });
});
