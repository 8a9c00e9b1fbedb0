// Stored records whose keys somebody with SECRET_KEY, or a fault of the store, has changed.
import { afterEach, describe, expect, it } from "vitest";
import { startTestApi, type TestApi } from "../../src/testing/index.js";
import { createDpopKey } from "../../src/provider/dpop/dpop-keys.js";
import { endScene, isSignedIn, startScene, statusFor } from "./dpop-scene.js";

const BACK_OFF_MS = 301_000;

let api: TestApi | undefined;
afterEach(async () => {
  await api?.stop();
  api = undefined;
  await endScene();
});

/** Replaces each key in a record. */
const withKey = (key: object) => (record: string) =>
  record.replaceAll(/\{"x":"[^}]*\}/g, JSON.stringify(key));

/** Has the shape of a key, and is none: the point isn't on the curve. */
const NO_KEY = { x: "A".repeat(43), y: "A".repeat(43), d: "A".repeat(43) };

describe("a pending login with another key", () => {
  it("gets no session, because the code is bound to its own", async () => {
    const { user, tamper, provider } = await startScene();
    const one = user();
    const callback = await one.approve();
    await tamper(one, withKey(await createDpopKey()));
    const reply = await one.get(callback);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(await isSignedIn(one)).toBe(false);
    expect(provider.issued.filter(({ kind }) => kind === "access_token")).toEqual([]);
    await one.signIn();
    expect(await isSignedIn(one)).toBe(true);
    provider.violations.length = 0;
  });

  it("that is none gets no session, and the code isn't sent", async () => {
    const { user, tamper, provider } = await startScene();
    const one = user();
    const callback = await one.approve();
    await tamper(one, withKey(NO_KEY));
    const reply = await one.get(callback).catch((error: unknown) => ({ status: 500, error }));
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(provider.requestsTo("token")).toEqual([]);
    await one.signIn();
    expect(await isSignedIn(one)).toBe(true);
  });
});

describe("a session with another key", () => {
  it("is refused by a provider that binds refresh tokens, and by APIs", async () => {
    const apis: Record<string, { url: string }> = {};
    const { user, tamper, provider, expire, clock, cold } = await startScene({
      provider: { dpopBoundRefreshTokens: true },
    });
    api = await startTestApi(provider);
    apis["orders"] = { url: api.url };
    const auth = cold({ apis });
    const one = user().at(auth);
    await one.signIn();
    await tamper(one, withKey(await createDpopKey()));
    expect((await auth.fetchApi(one.request("/"), "orders", "")).status).toBe(401);
    expire();
    await statusFor(one);
    clock.advance(BACK_OFF_MS);
    expect(await isSignedIn(one)).toBe(false);
    provider.violations.length = 0;
  });

  it("that is none sends nothing, and delays nobody else", async () => {
    const { expired, tamper, user, requests } = await startScene();
    const one = await expired();
    await tamper(one, withKey(NO_KEY));
    const status = await statusFor(one).catch(() => 500);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(requests()).toEqual([]);
    const other = user();
    await other.signIn();
    expect(await isSignedIn(other)).toBe(true);
    await one.get("/idpauth/logout/?response=json", {
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect(await isSignedIn(one)).toBe(false);
  });
});
