import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startApplication, type Application } from "../support/application.js";
import { memoryStore } from "../../src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { settled } from "../../src/testing/settled.js";

const TENANT = "11111111-2222-4333-8444-555555555555";
const OTHER = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";

let application: Application;

beforeAll(async () => {
  const clock = new TestClock();
  const options = { allowedTenants: [TENANT, OTHER], store: memoryStore({ clock }), clock };
  application = await startApplication({ ...options, provider: { tenant: TENANT } });
});
afterEach(async () => {
  application.provider.authorizationResponse = undefined;
  await settled(application.auth);
  application.clock.advance(61_000);
});
afterAll(() => application.stop());

const origin = () => new URL(application.provider.issuer).origin;
const issuerOf = (tenant: string) => `${origin()}/${tenant}/v2.0`;
const inTenant = (tid: string) => ({ sub: "ada", email: "ada@example.com", tid });

describe("a provider with several tenants", () => {
  it("signs in users of each allowed tenant, who are different users even with one `sub`", async () => {
    const [one, other] = [application.user(), application.user()];
    await one.signIn(undefined, inTenant(TENANT));
    await other.signIn(undefined, inTenant(OTHER));
    const subjects = await Promise.all(
      [one, other].map(async (user) => {
        const claims = (await application.auth.getSession(user.request("/")))?.claims;
        return { iss: String(claims?.iss), sub: String(claims?.sub) };
      }),
    );
    expect(subjects).toEqual([
      { iss: issuerOf(TENANT), sub: "ada" },
      { iss: issuerOf(OTHER), sub: "ada" },
    ]);
    expect(
      await application.auth.listSessions({ iss: application.provider.issuer, sub: "ada" }),
    ).toEqual([]);
    expect(await application.auth.endAllSessions({ iss: issuerOf(OTHER), sub: "ada" })).toBe(1);
    expect([await one.isSignedIn(), await other.isSignedIn()]).toEqual([true, false]);
  });

  it("keeps a user signed in over a refresh", async () => {
    const user = application.user();
    await user.signIn();
    application.clock.advance(3_600_000);
    expect(await user.isSignedIn()).toBe(true);
    expect((await application.auth.getSession(user.request("/")))?.claims).toMatchObject({
      tid: TENANT,
      iss: issuerOf(TENANT),
    });
  });

  it("refuses a user of another tenant: 400, no session, and the reason in the log", async () => {
    const user = application.user();
    const response = await user.signIn(undefined, inTenant("99999999-2222-4333-8444-555555555555"));
    expect([response.status, response.setCookies ?? []]).toEqual([400, []]);
    expect(response.body).toContain("sign_in_refused");
    expect(application.log.at(-1)).toMatchObject({
      code: "callback_failed",
      details: { reason: "id_token_tenant" },
    });
  });

  it("ends the session of a tenant at its next refresh after the tenant has left the list", async () => {
    const user = application.user();
    await user.signIn(undefined, inTenant(OTHER));
    const fewer = user.at(application.another({ allowedTenants: [TENANT] }));
    expect(await fewer.isSignedIn()).toBe(true);
    application.clock.advance(3_600_000);
    expect((await fewer.get("/idpauth/session?details=true")).json()).toMatchObject({
      authenticated: false,
      reason: "refresh_rejected",
    });
  });

  it("belongs to the mount of IDP_ISSUER: the session of a mount of one tenant is another one", async () => {
    const user = application.user();
    await user.signIn();
    const single = user.at(application.another({ issuer: issuerOf(TENANT), allowedTenants: null }));
    expect(await single.isSignedIn()).toBe(false);
    expect(await user.isSignedIn()).toBe(true);
  });

  it.each([
    ["the template", () => issuerOf("{tenantid}"), 302],
    ["the issuer of an allowed tenant", () => issuerOf(OTHER), 302],
    ["the issuer of another tenant", () => issuerOf("99999999-2222-4333-8444-555555555555"), 400],
    ["IDP_ISSUER, which is no issuer", () => application.provider.issuer, 400],
    ["another server", () => `https://evil.example/${TENANT}/v2.0`, 400],
  ])("responds with `iss` (RFC 9207), %s", async (_name, iss, status) => {
    application.provider.authorizationResponse = (params) => {
      params.set("iss", iss());
    };
    const before = application.provider.requestsTo("token").length;
    expect((await application.user().signIn()).status).toBe(status);
    expect(application.provider.requestsTo("token")).toHaveLength(
      before + (status === 302 ? 1 : 0),
    );
  });

  it("must respond with `iss` once, if it advertises that it does", async () => {
    application.provider.authorizationResponse = (params) => {
      params.delete("iss");
    };
    expect((await application.user().signIn()).status).toBe(400);
    application.provider.authorizationResponse = (params) => {
      params.append("iss", issuerOf(TENANT));
    };
    expect((await application.user().signIn()).status).toBe(400);
  });
});
