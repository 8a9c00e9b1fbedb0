// The seven guarantees where tokens are bound to keys, and the provider demands a nonce. Several
// processes are several components over one store; test/processes/dpop.test.ts has real ones, over
// the other stores.
import { afterEach, describe, expect, it } from "vitest";
import { endScene, isSignedIn, nonceOf, startScene, statusFor } from "./dpop-scene.js";

afterEach(endScene);

/** Longer than a lease. */
const TAKEOVER_MS = 45_000;
/** Longer than the first back-offs of a session. */
const BACK_OFF_MS = 31_000;

describe.each(["none", "refresh", "always", "rotates"] as const)("nonces: %s", (dpopNonce) => {
  const provider = { dpopNonce };

  it("[1] 50 requests at once in one process spend one refresh token", async () => {
    const { expired, requests, spent, provider: running } = await startScene({ provider });
    const user = await expired();
    const answers = await Promise.all(Array.from({ length: 50 }, () => isSignedIn(user)));
    expect(new Set(answers)).toEqual(new Set([true]));
    expect([spent(), running.reuses]).toEqual([1, 0]);
    // After an hour, the process knows no nonce that still works, unless each works once.
    const isDemanded = dpopNonce === "refresh" || dpopNonce === "rotates";
    expect(requests().length).toBe(isDemanded ? 2 : 1);
  });

  it("[2] 51 requests at once at three processes spend one refresh token", async () => {
    const { expired, spent, cold, settled, provider: running } = await startScene({ provider });
    const user = await expired();
    const browsers = [user, user.at(cold()), user.at(cold())];
    const answers = await settled(
      Promise.all(Array.from({ length: 51 }, (_, number) => isSignedIn(browsers[number % 3]!))),
    );
    expect(new Set(answers)).toEqual(new Set([true]));
    expect([spent(), running.reuses]).toEqual([1, 0]);
  });

  it("20 users who refresh at once stay signed in, with one refresh token each", async () => {
    const {
      user,
      expire,
      spent,
      settled,
      auth,
      provider: running,
    } = await startScene({ provider });
    const users = Array.from({ length: 20 }, () => user());
    for (const [number, one] of users.entries())
      await one.signIn(undefined, { sub: `user-${String(number)}` });
    expire();
    const statuses = await settled(Promise.all(users.map(statusFor)));
    expect(statuses).toEqual(users.map(() => 200));
    expect([spent(), running.reuses]).toEqual([20, 0]);
    const credentials = await Promise.all(
      users.map((one) => auth.getCredentials(one.request("/"))),
    );
    expect(new Set(credentials.map((one) => one?.token)).size).toBe(20);
  });
});

describe("[3] a request that read the session before the refresh", () => {
  it("uses the tokens of the refresh", async () => {
    const { expired, cold, store, spent, settled } = await startScene();
    const user = await expired();
    const late = user.at(cold());
    const { promise: released, resolve: release } = deferred();
    const { promise: hasRead, resolve: read } = deferred();
    store.after = async ({ method }) => {
      if (method !== "get") return;
      store.after = undefined;
      read(undefined);
      await released;
    };
    const answer = isSignedIn(late);
    await hasRead;
    expect(await isSignedIn(user)).toBe(true);
    release(undefined);
    expect(await settled(answer)).toBe(true);
    expect(spent()).toBe(1);
  });
});

describe("[4] a refresh whose repetition has the nonce", () => {
  it("keeps other processes out while the provider is slow", async () => {
    const { expired, cold, requests, spent, settled, clock, provider, isRepetition } =
      await startScene();
    const user = await expired();
    const other = user.at(cold());
    const hold = provider.hold("token", { times: 1, when: isRepetition });
    const first = isSignedIn(user);
    await hold.arrived;
    const second = statusFor(other);
    await clock.advanceAsync(4_000);
    expect([requests().length, spent()]).toEqual([2, 0]);
    hold.release();
    expect(await settled(first)).toBe(true);
    await settled(second);
    clock.advance(BACK_OFF_MS);
    expect(await isSignedIn(other)).toBe(true);
    expect([spent(), provider.reuses]).toEqual([1, 0]);
  });

  it.each([
    ["has the demand for a nonce", 1, "after", true],
    ["is about to repeat the request", 2, "before", true],
    // Nothing knows the new token: one clean login.
    ["has new tokens", 2, "after", false],
  ] as const)("is taken over if its process dies when it %s", async (_, at, moment, stays) => {
    const { expired, cold, spent, settled, clock, provider } = await startScene();
    const user = await expired();
    const { died, fetch } = dyingAt(at, moment);
    void statusFor(user.at(cold({ fetch })));
    await died;
    await clock.advanceAsync(TAKEOVER_MS);
    const survivor = user.at(cold());
    // A refusal of the repetition is an outage, the first time.
    if (!stays) expect(await settled(statusFor(survivor))).toBe(503);
    await clock.advanceAsync(BACK_OFF_MS);
    expect(await settled(isSignedIn(survivor))).toBe(stays);
    expect([spent(), provider.reuses]).toEqual([1, stays ? 0 : 1]);
    provider.violations.length = 0;
    await survivor.signIn();
    expect(await isSignedIn(survivor)).toBe(true);
  });
});

describe("[6] a logout", () => {
  it.each([
    ["the provider has demanded a nonce", false],
    ["the provider has new tokens", true],
  ])("wins over a refresh when %s", async (_, hasRotated) => {
    const { expired, cold, settled, provider, auth, isRepetition } = await startScene();
    const user = await expired();
    const hold = provider.hold("token", {
      before: false,
      times: 1,
      when: (request) => isRepetition(request) === hasRotated,
    });
    const other = user.at(cold());
    const refreshing = user.get("/idpauth/session");
    await hold.arrived;
    await other.get("/idpauth/logout/?response=json", {
      headers: { "sec-fetch-site": "same-origin" },
    });
    hold.release();
    expect((await settled(refreshing)).json()).toMatchObject({ authenticated: false });
    expect(await isSignedIn(user)).toBe(false);
    await settled(auth.close());
    const late = provider.issued.findLast(({ kind }) => kind === "refresh_token")?.value ?? "";
    expect(provider.isActive(late)).toBe(false);
  });
});

describe("[7] the session stays, and the next refresh works, when the repetition", () => {
  const body = (error: string) => ({ kind: "status", status: 400, body: { error } }) as const;
  it.each([
    ["fails with 500", { kind: "status", status: 500 }],
    ["is cut off", { kind: "reset" }],
    ["gets another demand for a nonce", body("use_dpop_nonce")],
    ["gets invalid_dpop_proof", body("invalid_dpop_proof")],
    ["gets invalid_client", body("invalid_client")],
    ["gets invalid_request", body("invalid_request")],
    ["gets 400 without an error", { kind: "status", status: 400, body: {} }],
  ] as const)("%s three times in a row", async (_, fault) => {
    const { expired, settled, spent, clock, provider, requests, isRepetition } = await startScene();
    const user = await expired();
    const withdraw = provider.fault("token", { ...fault, when: isRepetition });
    for (let round = 1; round <= 3; round += 1) {
      expect(await settled(statusFor(user))).toBe(503);
      expect(requests().length).toBe(2 * round);
      // Otherwise the next refresh needs no repetition.
      provider.rotateDpopNonce();
      await clock.advanceAsync(BACK_OFF_MS * round);
    }
    withdraw();
    expect(await settled(isSignedIn(user))).toBe(true);
    expect([spent(), provider.reuses]).toEqual([1, 0]);
  });
});

describe("a provider that spends the refresh token before it looks at the nonce", () => {
  const provider = { dpopNonce: "rotates", dpopNonceSeconds: 86_400 } as const;

  it("keeps a session that a process refreshes with the nonce of the record", async () => {
    const scene = await startScene({ provider });
    const user = await scene.expired();
    scene.provider.settings.dpopNonceCheck = "after-grant";
    expect(await isSignedIn(user.at(scene.cold()))).toBe(true);
    scene.expire();
    expect(await isSignedIn(user.at(scene.cold()))).toBe(true);
    expect([scene.requests().length, scene.spent()]).toEqual([2, 2]);
  });

  it("that refuses the repetition is away the first time, and refuses the second time", async () => {
    const scene = await startScene({ provider });
    const user = await scene.expired();
    scene.provider.settings.dpopNonceCheck = "after-grant";
    scene.provider.rotateDpopNonce();
    expect(await statusFor(user)).toBe(503);
    expect(await scene.recordOf(user)).toContain("refresh_token");
    scene.clock.advance(BACK_OFF_MS);
    expect(await isSignedIn(user)).toBe(false);
    scene.provider.violations.length = 0;
  });

  it("that accepts the token at the next try keeps the session", async () => {
    const scene = await startScene({ provider: { ...provider, reuseGraceSeconds: 120 } });
    const user = await scene.expired();
    scene.provider.rotateDpopNonce();
    scene.provider.fault("token", {
      kind: "status",
      status: 400,
      body: { error: "invalid_grant" },
      times: 1,
      when: (request) => nonceOf(request) !== undefined && scene.requests().length === 2,
    });
    expect(await statusFor(user)).toBe(503);
    scene.clock.advance(BACK_OFF_MS);
    expect(await isSignedIn(user)).toBe(true);
    expect(scene.provider.reuses).toBe(0);
  });
});

/** A promise, and what resolves it. */
function deferred() {
  let resolve: (value: undefined) => void = () => undefined;
  const promise = new Promise<undefined>((settle) => (resolve = settle));
  return { promise, resolve };
}

/** How a process reaches the provider that dies around one of its refreshes, counted from 1. */
function dyingAt(number: number, moment: "before" | "after") {
  const { promise: died, resolve: die } = deferred();
  const never = new Promise<never>(() => undefined);
  let count = 0;
  const dying: typeof fetch = async (input, init) => {
    const { body } = init ?? {};
    const isRefresh = body instanceof URLSearchParams && body.get("grant_type") === "refresh_token";
    if (!isRefresh) return fetch(input, init);
    count += 1;
    const isIt = count === number;
    if (isIt && moment === "before") die(undefined);
    if (isIt && moment === "before") return never;
    const response = await fetch(input, init);
    if (!isIt) return response;
    die(undefined);
    return never;
  };
  return { died, fetch: dying };
}
