import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startApplication, type Application } from "../support/application.js";
import { settled } from "../../src/testing/settled.js";

let application: Application;

beforeAll(async () => {
  application = await startApplication({ userinfo: "always" });
});
afterEach(async () => {
  application.provider.clearFaults();
  application.provider.userinfoResponse = undefined;
  await settled(application.auth);
  application.clock.advance(61_000);
});
afterAll(() => application.stop());

const claimsOf = async (cookies: ReadonlyMap<string, string>) => {
  const user = application.user();
  for (const [name, value] of cookies) user.cookies.set(name, value);
  return (await application.auth.getSession(user.request("/")))?.claims;
};
const refreshTokens = () =>
  application.provider.issued.filter(({ kind }) => kind === "refresh_token");
const FORBIDDEN = (claims: Record<string, unknown>) => ({ ...claims, sub: "somebody-else" });

describe("IDP_USERINFO=always", () => {
  it("puts userinfo's claims into the session, and a refresh brings the new ones", async () => {
    application.provider.userinfoResponse = (claims) => ({ ...claims, groups: ["staff"] });
    const user = application.user();
    await user.signIn();
    expect(await claimsOf(user.cookies)).toMatchObject({ name: "Ada Lovelace", groups: ["staff"] });
    application.provider.userinfoResponse = (claims) => ({ ...claims, groups: [] });
    application.clock.advance(3_600_000);
    expect(await claimsOf(user.cookies)).toMatchObject({ name: "Ada Lovelace", groups: [] });
  });

  it.each([
    [
      "is unreachable: 503",
      () => application.provider.fault("userinfo", { kind: "reset" }),
      503,
      "provider_unavailable",
    ],
    [
      "names another user: 400",
      () => (application.provider.userinfoResponse = FORBIDDEN),
      400,
      "sign_in_refused",
    ],
  ])(
    "stops a sign-in whose userinfo %s; no session is stored, and the tokens are revoked",
    async (_name, spoil, status, code) => {
      spoil();
      const user = application.user();
      const response = await user.signIn();
      expect([response.status, response.setCookies ?? []]).toEqual([status, []]);
      expect(response.body).toContain(code);
      await settled(application.auth);
      expect(application.provider.isActive(refreshTokens().at(-1)?.value ?? "")).toBe(false);
      expect(await user.isSignedIn()).toBe(false);
    },
  );

  it("keeps the session and its rotated refresh token while userinfo is unreachable: 503, and the next refresh works", async () => {
    const user = application.user();
    await user.signIn();
    application.clock.advance(3_600_000);
    application.provider.fault("userinfo", { kind: "status", status: 503 });
    expect((await user.get("/idpauth/session")).status).toBe(503);
    application.provider.clearFaults();
    application.clock.advance(61_000);
    expect(await user.isSignedIn()).toBe(true);
    expect(application.provider.reuses).toBe(0);
  });

  it("ends a session at whose refresh userinfo names another user", async () => {
    const user = application.user();
    await user.signIn();
    application.clock.advance(3_600_000);
    application.provider.userinfoResponse = FORBIDDEN;
    expect((await user.get("/idpauth/session?details=true")).json()).toMatchObject({
      authenticated: false,
      reason: "refresh_rejected",
    });
  });
});

it("IDP_USERINFO=always at a provider without userinfo: the login is 503, says that the set-up is wrong, and stores nothing", async () => {
  const other = await startApplication({ userinfo: "always" });
  other.provider.discoveryDocument = ({ userinfo_endpoint: _gone, ...document }) => document;
  const response = await other.user().get("/idpauth/login/");
  expect([response.status, response.setCookies ?? []]).toEqual([503, []]);
  expect(response.body).toContain("provider_misconfigured");
  await other.stop();
});
