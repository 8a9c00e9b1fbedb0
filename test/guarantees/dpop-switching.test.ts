// Sessions and pending logins go on while DPoP is turned on or off, in one process after another; and
// no bearer token takes the place of a bound one.
import { afterEach, describe, expect, it } from "vitest";
import { decodeProtectedHeader } from "jose";
import { startTestApi, type TestApi } from "../../src/testing/index.js";
import type { ApplicationOptions, TestUser } from "../support/application.js";
import { endScene, isSignedIn, startScene, statusFor, type Scene } from "./dpop-scene.js";

/** Longer than the first back-offs of a session. */
const BACK_OFF_MS = 301_000;

let api: TestApi | undefined;
afterEach(async () => {
  await api?.stop();
  api = undefined;
  await endScene();
});

/** A scene whose processes call an API that checks the tokens. */
async function sceneWithApi(options: ApplicationOptions) {
  const apis: Record<string, { url: string }> = {};
  const scene = await startScene({
    get apis() {
      return apis;
    },
    ...options,
  });
  api = await startTestApi(scene.provider);
  const table = { orders: { url: api.url } };
  const on = scene.cold({ dpop: true, apis: table, userinfo: "always" });
  const off = scene.cold({ dpop: false, apis: table, userinfo: "always" });
  const calls = async (user: TestUser, auth: typeof on) =>
    (await auth.fetchApi(user.request("/"), "orders", "")).status;
  const typeOf = async (user: TestUser, auth: typeof on) =>
    (await auth.getCredentials(user.request("/")))?.token_type;
  return { ...scene, on, off, calls, typeOf };
}

/** The keys of all proofs that refreshes had, as text. */
function keysIn(scene: Pick<Scene, "requests">): Set<string> {
  return new Set(
    scene.requests().map(({ headers }) => {
      const { jwk } = decodeProtectedHeader(String(headers["dpop"]));
      return JSON.stringify(jwk);
    }),
  );
}

describe("a session from before DPoP was turned on", () => {
  it("keeps its bearer token until its next refresh, and then gets a key that the provider demands", async () => {
    const scene = await sceneWithApi({ provider: { dpop: "supported" } });
    const { user, on, off, calls, typeOf, provider, expire } = scene;
    const before = user().at(off);
    await before.signIn();
    provider.settings.dpop = "required";
    const now = before.at(on);
    expect(await isSignedIn(now)).toBe(true);
    expect([await typeOf(now, on), await calls(now, on)]).toEqual([undefined, 200]);
    expect(api?.requests.at(-1)?.headers).toMatchObject({
      authorization: expect.stringMatching(/^Bearer /) as string,
    });
    for (let round = 0; round < 2; round += 1) {
      expire();
      expect(await isSignedIn(now)).toBe(true);
      expect([await typeOf(now, on), await calls(now, on)]).toEqual(["DPoP", 200]);
    }
    expect(keysIn(scene).size).toBe(1);
    expect(scene.spent()).toBe(2);
  });
});

describe("the key that a refresh has made", () => {
  it("is kept with the rotated token, which may be bound to it, if the response can't be verified", async () => {
    const scene = await sceneWithApi({ provider: { dpop: "supported" } });
    const { user, on, off, provider, expire, clock, recordOf } = scene;
    const before = user().at(off);
    await before.signIn();
    expire();
    const withdraw = provider.fault("jwks", { kind: "status", status: 500 });
    const now = before.at(on);
    expect(await statusFor(now)).toBe(503);
    expect([scene.spent(), await recordOf(now)]).toEqual([1, expect.stringContaining('"dpop"')]);
    withdraw();
    clock.advance(BACK_OFF_MS);
    expect(await isSignedIn(now)).toBe(true);
    expect([scene.spent(), keysIn(scene).size]).toEqual([2, 1]);
  });
});

describe("a session from before DPoP was turned off", () => {
  it("keeps using its key for refreshes, userinfo and APIs", async () => {
    const scene = await sceneWithApi({ provider: { dpopBoundRefreshTokens: true } });
    const { user, on, off, calls, typeOf, expire, provider } = scene;
    const before = user().at(on);
    await before.signIn();
    const now = before.at(off);
    expect([await typeOf(now, off), await calls(now, off)]).toEqual(["DPoP", 200]);
    for (let round = 0; round < 2; round += 1) {
      expire();
      expect(await isSignedIn(now)).toBe(true);
      expect([await typeOf(now, off), await calls(now, off)]).toEqual(["DPoP", 200]);
    }
    expect(keysIn(scene).size).toBe(1);
    const userinfo = provider.requestsTo("userinfo");
    expect(userinfo.map(({ headers }) => headers.authorization?.split(" ")[0])).toEqual([
      "DPoP",
      "DPoP",
      "DPoP",
    ]);
  });

  it("takes a bearer token if the provider no longer binds tokens", async () => {
    const scene = await sceneWithApi({});
    const { user, on, off, calls, typeOf, expire, provider } = scene;
    const before = user().at(on);
    await before.signIn();
    provider.settings.dpop = "ignored";
    expire();
    const now = before.at(off);
    expect(await isSignedIn(now)).toBe(true);
    expect([await typeOf(now, off), await calls(now, off)]).toEqual([undefined, 200]);
    const { token = "" } = (await off.getCredentials(now.request("/"))) ?? {};
    const call = { method: "GET", url: "https://orders.example/" };
    const proofs = [token, "a bound one from before"].map((accessToken) =>
      off.dpopProof(now.request("/"), { ...call, accessToken }),
    );
    expect(await Promise.all(proofs)).toEqual([null, expect.any(String)]);
    expire();
    expect(await isSignedIn(now)).toBe(true);
    expect(await calls(now, off)).toBe(200);
  });
});

describe("a login that is pending", () => {
  it("is finished with a key if DPoP has been turned on", async () => {
    const { user, on, off, typeOf, provider } = await sceneWithApi({
      provider: { dpop: "supported" },
    });
    const begun = user().at(off);
    const callback = await begun.approve();
    provider.settings.dpop = "required";
    const finished = begun.at(on);
    await finished.get(callback);
    expect([await isSignedIn(finished), await typeOf(finished, on)]).toEqual([true, "DPoP"]);
  });

  it("is finished with its key if DPoP has been turned off", async () => {
    const { user, on, off, typeOf, expire } = await sceneWithApi({});
    const begun = user().at(on);
    const finished = begun.at(off);
    const callback = await begun.approve();
    for (const [name, value] of begun.cookies) finished.cookies.set(name, value);
    await finished.get(callback);
    expect([await isSignedIn(finished), await typeOf(finished, off)]).toEqual([true, "DPoP"]);
    expire();
    expect(await isSignedIn(finished)).toBe(true);
  });
});

describe("a rolling restart", () => {
  it.each([
    ["on", { dpop: "supported" }],
    ["off", {}],
  ] as const)("that turns DPoP %s signs nobody out", async (direction, provider) => {
    const scene = await sceneWithApi({ provider: { ...provider, dpopNonce: "always" } });
    const { user, on, off, calls, expire, spent, settled } = scene;
    const users = Array.from({ length: 6 }, () => user().at(direction === "on" ? off : on));
    for (const [number, one] of users.entries())
      await one.signIn(undefined, { sub: `user-${String(number)}` });
    for (let round = 1; round <= 4; round += 1) {
      expire();
      const asked = users.flatMap((one) => [one.at(on), one.at(off), one.at(on), one.at(off)]);
      const answers = await settled(Promise.all(asked.map(isSignedIn)));
      expect(new Set(answers)).toEqual(new Set([true]));
      expect(spent()).toBe(6 * round);
      const called = users.flatMap((one) => [calls(one, on), calls(one, off)]);
      expect(new Set(await settled(Promise.all(called)))).toEqual(new Set([200]));
    }
    expect(scene.provider.reuses).toBe(0);
  });
});

describe("a bearer token where DPoP is on", () => {
  /** Has the provider forget the binding. Returns the access tokens that came without it. */
  function unbound({ provider }: Scene) {
    const given: string[] = [];
    const change = provider.tokenResponse;
    provider.tokenResponse = (answer, request) => {
      given.push(String(answer["access_token"]));
      return { ...(change?.(answer, request) ?? answer), token_type: "Bearer" };
    };
    return {
      given,
      restore: () => (provider.tokenResponse = change),
    };
  }

  it("is an outage of each refresh, is reported once, and is neither stored nor sent", async () => {
    const scene = await startScene();
    const { log, clock, user, recordOf, auth, expire } = scene;
    const users = Array.from({ length: 3 }, () => user());
    for (const one of users) await one.signIn();
    expire();
    const { given, restore } = unbound(scene);
    for (const one of users) expect(await statusFor(one)).toBe(503);
    expect(given.length).toBe(3);
    const loud = log.filter(({ code }) => code === "provider_misconfigured");
    expect(loud.map(({ message }) => message)).toEqual([expect.stringContaining("IDP_DPOP is on")]);
    const records = (await Promise.all(users.map(recordOf))).join("\n");
    for (const token of given) expect(records).not.toContain(token);
    restore();
    clock.advance(BACK_OFF_MS);
    for (const one of users) {
      expect(await isSignedIn(one)).toBe(true);
      expect((await auth.getCredentials(one.request("/")))?.token_type).toBe("DPoP");
    }
    expect(scene.provider.reuses).toBe(0);
  });

  it("is an outage of a sign-in, and is revoked", async () => {
    const scene = await startScene();
    const { user, auth, provider } = scene;
    const { given, restore } = unbound(scene);
    const one = user();
    const reply = await one.signIn();
    expect(reply.status).toBe(503);
    expect(await isSignedIn(one)).toBe(false);
    restore();
    await auth.close();
    expect(given.length).toBe(1);
    const refreshToken = provider.issued.find(({ kind }) => kind === "refresh_token")?.value ?? "";
    expect(provider.isActive(refreshToken)).toBe(false);
  });

  it("for an API is an outage of that API, and isn't stored", async () => {
    const scene = await startScene({
      apis: { orders: { url: "https://orders.internal/", resource: "https://orders.example.com" } },
    });
    const { user, auth, clock, recordOf } = scene;
    const one = user();
    await one.signIn();
    const { given, restore } = unbound(scene);
    const token = () => auth.getAccessToken(one.request("/"), { api: "orders" });
    await expect(token()).rejects.toMatchObject({ code: "provider_misconfigured" });
    expect(given.length).toBe(1);
    expect(await recordOf(one)).not.toContain(given[0]);
    expect(await isSignedIn(one)).toBe(true);
    restore();
    clock.advance(BACK_OFF_MS);
    expect(await token()).toEqual(expect.any(String));
  });
});

describe("a record with DPoP off", () => {
  it("has no member more than before", async () => {
    const { user, recordOf, expire } = await startScene({
      dpop: false,
      provider: { dpop: "ignored" },
    });
    const one = user();
    await one.get("/idpauth/login/");
    expect(await recordOf(one)).not.toMatch(/dpop|token_type/i);
    await one.signIn();
    expect(await recordOf(one)).not.toMatch(/dpop|token_type/i);
    expire();
    expect(await isSignedIn(one)).toBe(true);
    expect(await recordOf(one)).not.toMatch(/dpop|token_type/i);
  });
});
