import { afterEach, describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/index.js";
import type { TestUser } from "../support/application.js";
import { application, pass, signedIn, start, store } from "../support/one-application.js";

/** A new one each time, because what an accessor reads is remembered for its request. */
const request = (user: TestUser) => user.request("/reports");

describe("readSessionRecord", () => {
  afterEach(() => application.stop());

  it("gives the specified keys, read-only, and not the private one", async () => {
    const user = await signedIn({ sessionIdleTimeout: 600 });
    const session = (await application.auth.readSessionRecord(request(user))) as Record<
      string,
      Record<string, unknown>
    >;
    expect(Object.keys(session).sort()).toEqual([
      "credentials",
      "final_redirect",
      "id_info",
      "idp_last_active",
      "idp_login_at",
    ]);
    expect(() => {
      session["credentials"] = {};
    }).toThrow(TypeError);
    for (const key of ["credentials", "id_info"]) {
      expect(() => {
        (session[key] as Record<string, unknown>)["x"] = 1;
      }).toThrow(TypeError);
    }
  });

  it("uses the configured key names", async () => {
    const user = await start({
      credentialsSessionKeyName: "creds",
      stateKeyName: "st",
      finalRedirectKeyName: "fr",
    });
    await user.signIn();
    await user.get("/idpauth/login/");
    expect(
      Object.keys((await application.auth.readSessionRecord(request(user))) ?? {}).sort(),
    ).toEqual(["creds", "fr", "id_info", "idp_login_at", "st"]);
  });

  it("shows a session as it is, past the gate", async () => {
    const user = await signedIn({ sessionMaxAge: 60 });
    pass(61);
    expect(await application.auth.readSessionRecord(request(user))).toMatchObject({
      id_info: { email: "ada@example.com" },
    });
  });

  it("is null without a session, and rejects when the store is away", async () => {
    const user = await signedIn();
    expect(await application.auth.readSessionRecord(request(application.user()))).toBeNull();
    store.isDown = true;
    await expect(application.auth.readSessionRecord(request(user))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
  });
});
