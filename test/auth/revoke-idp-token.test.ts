import { afterEach, describe, expect, it } from "vitest";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import { application, newest, signedIn, start, store } from "../support/one-application.js";

describe("revokeIdpToken", () => {
  afterEach(() => application.stop());

  it("posts the token and resolves true", async () => {
    await signedIn();
    expect(await application.auth.revokeIdpToken(newest("refresh_token"))).toBe(true);
    expect(application.provider.isActive(newest("refresh_token"))).toBe(false);
    expect(
      application.provider.requestsTo("revoke", { token_type_hint: "refresh_token" }),
    ).toHaveLength(1);
  });

  it("sends the hint it is given; a token nobody knows is no failure (RFC 7009)", async () => {
    await start();
    expect(await application.auth.revokeIdpToken("unknown", "access_token")).toBe(true);
    expect(
      application.provider.requestsTo("revoke", {
        token: "unknown",
        token_type_hint: "access_token",
      }),
    ).toHaveLength(1);
  });

  it.each<Fault>([
    { kind: "reset" },
    { kind: "status", status: 400 },
    { kind: "status", status: 503 },
    { kind: "redirect", status: 307 },
    { kind: "oversized" },
  ])("resolves false and never rejects: %j", async (fault) => {
    await start();
    application.provider.fault("revoke", fault);
    expect(await application.auth.revokeIdpToken("token")).toBe(false);
  });

  it("resolves false while the provider is down altogether", async () => {
    await start();
    await application.provider.pause();
    expect(await application.auth.revokeIdpToken("token")).toBe(false);
    await application.provider.resume();
  });

  it("has no effect on the session", async () => {
    const user = await signedIn();
    const before = store.operations.length;
    await application.auth.revokeIdpToken(newest("access_token"), "access_token");
    expect(store.operations.length).toBe(before);
    expect(await user.isSignedIn()).toBe(true);
  });
});
