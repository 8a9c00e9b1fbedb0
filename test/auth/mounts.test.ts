import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { IdpAuth } from "../../src/adapter.js";
import type { IdpAuthOptions, IdpRequest } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";

const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };

interface Mount {
  readonly auth: IdpAuth<IdpRequest>;
  readonly path: string;
  readonly cookie: string;
  readonly email: string;
}

let home: Application;
let partners: Application;

/**
 * Two providers with different users and the same client id. The applications share a clock, a
 * store and a secret key.
 */
beforeEach(async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  home = await startApplication({ clock, store });
  partners = await startApplication({ clock, store, provider: { person: GRACE } });
});
afterEach(async () => {
  await home.stop();
  await partners.stop();
});

/** @param client the client of the second mount; default: that of the partners' provider */
function mounts(
  client: Partial<IdpAuthOptions> = partnersClient(),
  shared: Partial<IdpAuthOptions> = {},
): [Mount, Mount] {
  const path = "/partners/idpauth/";
  const cookie = shared.cookieName;
  return [
    {
      auth: home.another(shared),
      path: "/idpauth/",
      cookie: cookie ?? "idpauth",
      email: "ada@example.com",
    },
    {
      auth: home.another({ mountPath: path, ...client, ...shared }),
      path,
      cookie: cookie ?? "idpauth.partners.idpauth",
      email: GRACE.email,
    },
  ];
}

function partnersClient(): Partial<IdpAuthOptions> {
  const { issuer, clientId, clientSecret } = partners.provider;
  return { issuer, clientId, clientSecret };
}

function bothWays([first, second]: [Mount, Mount]): readonly (readonly [
  here: Mount,
  there: Mount,
])[] {
  return [
    [first, second],
    [second, first],
  ];
}

/**
 * Starts a login at that mount and approves it. Returns the query of the callback, which is not
 * requested yet.
 */
async function approved(user: TestUser, { path }: Mount): Promise<string> {
  const { location } = await user.get(`${path}login/`);
  // Either provider sends the request that a browser would send.
  return new URL(await home.provider.signInCode(location)).search;
}

async function signedIn(mount: Mount, user = home.user().at(mount.auth)): Promise<TestUser> {
  expect((await user.get(`${mount.path}login-callback${await approved(user, mount)}`)).status).toBe(
    302,
  );
  return user;
}

/** The email address that the probe of that mount shows. */
async function emailAt(user: TestUser, { path }: Mount): Promise<string | null> {
  const { user: shown } = (await user.get(`${path}session`)).json() as {
    user: { email: string } | null;
  };
  return shown?.email ?? null;
}

function blockedAt(user: TestUser, { auth }: Mount): Promise<unknown> {
  return auth.guard(user.request("/reports"));
}

/** Returns a browser with the value of one mount's cookie in the other mount's cookie. */
function carriedOver(user: TestUser, here: Mount, there: Mount): TestUser {
  const value = user.cookies.get(here.cookie);
  expect(value).toBeDefined();
  const thief = home.user().at(there.auth);
  thief.cookies.set(there.cookie, value ?? "");
  return thief;
}

async function expectCarriedOverIsNobody(here: Mount, there: Mount): Promise<void> {
  const user = await signedIn(here);
  const thief = carriedOver(user, here, there);
  expect(await emailAt(thief, there)).toBeNull();
  expect(await blockedAt(thief, there)).toMatchObject({ kind: "unauthenticated" });
  expect((await thief.get(there.path)).body).not.toContain("@example.com");
  home.clock.advance(3_600_000);
  expect(await emailAt(thief, there)).toBeNull();
  expect(await emailAt(user, here)).toBe(here.email);
}

describe("[ASVS-10.2.1] [BCP-19] two mounts", () => {
  it("a cookie value copied to the other mount's cookie signs nobody in, with one store and one secret key for both", async () => {
    for (const [here, there] of bothWays(mounts())) await expectCarriedOverIsNobody(here, there);
  });

  it("a cookie value copied to the other mount's cookie signs nobody in, with two clients of one provider", async () => {
    await expectCarriedOverIsNobody(
      ...mounts({ clientId: "another client", clientSecret: "of the same provider" }),
    );
  });

  it("a pending login copied to the other mount's cookie gets 400 at its callback", async () => {
    for (const [here, there] of bothWays(mounts())) {
      const user = home.user().at(here.auth);
      const query = await approved(user, here);
      const thief = carriedOver(user, here, there);
      expect((await thief.get(`${there.path}login-callback${query}`)).status).toBe(400);
      expect([await emailAt(user, here), await emailAt(thief, there)]).toEqual([null, null]);
    }
    expect([home, partners].map(({ provider }) => provider.requestsTo("token").length)).toEqual([
      0, 0,
    ]);
  });

  it("with one cookie name, one store and one secret key for both mounts, a user never becomes the other mount's user", async () => {
    for (const [here, there] of bothWays(mounts(partnersClient(), { cookieName: "shared" }))) {
      const user = await signedIn(here);
      const moved = user.at(there.auth);
      expect([await emailAt(user, here), await emailAt(moved, there)]).toEqual([here.email, null]);
      expect(await blockedAt(moved, there)).toMatchObject({ kind: "unauthenticated" });
      await signedIn(there, moved);
      expect(await emailAt(moved, there)).toBe(there.email);
      expect(await emailAt(moved.at(here.auth), here)).not.toBe(there.email);
    }
  });
});
