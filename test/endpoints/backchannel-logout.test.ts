import { afterEach, describe, expect, it } from "vitest";
import { SessionEndedError } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import type { TestClock } from "../../src/testing/test-clock.js";
import type { LogoutTokenOptions } from "../../src/testing/provider/logout-tokens.js";
import { type Answer, type ApplicationOptions, type TestUser } from "../support/application.js";
import { settled } from "../../src/testing/settled.js";
import {
  application as app,
  start as startPlain,
  store,
  startOver,
} from "../support/one-application.js";

const PATH = "/idpauth/backchannel-logout";
const ADA = { sub: "ada", email: "ada@example.com", name: "Ada" };
const GRACE = { sub: "grace", email: "grace@example.com", name: "Grace" };

let clock: TestClock;

afterEach(() => app.stop());

async function start(options: ApplicationOptions = {}): Promise<void> {
  await startPlain({ backchannelLogout: true, ...options });
  clock = app.clock;
}

async function signedIn(person = ADA): Promise<TestUser> {
  const user = app.user();
  await user.signIn(undefined, person);
  return user;
}

/** Lets work that needs no socket finish. */
const turns = async (): Promise<void> => {
  for (let count = 0; count < 20; count += 1) await new Promise((resolve) => setImmediate(resolve));
};

const post = (token: string, user = app.user()): Promise<Answer> =>
  user.post(PATH, { logout_token: token });
const logout = (options: LogoutTokenOptions): Promise<Answer> =>
  post(app.provider.logoutToken(options));
const sidOf = async (user: TestUser) =>
  String((await app.auth.getSession(user.request("/")))?.claims["sid"]);
const stateOf = async (user: TestUser) =>
  (await user.get("/idpauth/session?details=true")).json() as {
    authenticated: boolean;
    reason: string | null;
  };

describe("back-channel logout", () => {
  it("is 404 unless it is on", async () => {
    await start({ backchannelLogout: false });
    expect((await logout({ sub: "ada" })).status).toBe(404);
  });

  it("by sid ends that session and no other of the user; the browser learns why", async () => {
    await start();
    const here = await signedIn();
    app.provider.signedIn.clear();
    const elsewhere = await signedIn();
    const reply = await logout({ sid: await sidOf(here) });
    expect([reply.status, reply.headers["Cache-Control"]]).toEqual([200, "no-store"]);
    expect(await stateOf(here)).toMatchObject({
      authenticated: false,
      reason: "logged_out_at_provider",
    });
    expect(await stateOf(elsewhere)).toMatchObject({ authenticated: true });
    const page = await here.get("/idpauth/", { headers: { accept: "text/html" } });
    expect(page.body).toContain("You were signed out by your organization.");
  });

  it("by sid and sub also ends the user's sessions whose ID token had no sid, and no other", async () => {
    await start();
    const other = await signedIn();
    app.provider.signedIn.clear();
    app.provider.settings.sid = "ignored";
    const without = await signedIn();
    app.provider.settings.sid = "supported";
    app.provider.signedIn.clear();
    const here = await signedIn();
    expect((await logout({ sub: "ada", sid: await sidOf(here) })).status).toBe(200);
    expect([await here.isSignedIn(), await without.isSignedIn(), await other.isSignedIn()]).toEqual(
      [false, false, true],
    );
  });

  it("by sub ends all sessions of that user", async () => {
    await start();
    const [one, two, other] = [await signedIn(), await signedIn(), await signedIn(GRACE)];
    expect((await logout({ sub: "ada" })).status).toBe(200);
    expect([await one.isSignedIn(), await two.isSignedIn(), await other.isSignedIn()]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("leaves a session that began later, however often the token is sent again", async () => {
    await start();
    const token = app.provider.logoutToken({ sub: "ada" });
    clock.advance(6_000);
    const user = await signedIn();
    expect((await post(token)).status).toBe(200);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("signed with another algorithm than the session's ID token is refused, and not tried again", async () => {
    await start();
    const algorithms = ["RS256", "PS256"];
    app.provider.discoveryDocument = (document) => ({
      ...document,
      id_token_signing_alg_values_supported: algorithms,
    });
    app.provider.jwks.publish({
      keys: app.provider.jwks.document().keys.map(({ alg: _alg, ...key }) => key),
    });
    const user = await signedIn();
    const reply = await logout({ sub: "ada", header: { alg: "PS256" } });
    expect([reply.status, reply.json()]).toMatchObject([400, { error: "invalid_request" }]);
    clock.advance(2_000);
    await turns();
    expect(await user.isSignedIn()).toBe(true);
    expect((await logout({ sub: "ada" })).status).toBe(200);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("decides in favour of ending within five seconds", async () => {
    await start();
    const token = app.provider.logoutToken({ sub: "ada" });
    clock.advance(5_000);
    const user = await signedIn();
    await post(token);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("wins over a sign-in whose callback it overtakes", async () => {
    await start();
    const user = app.user();
    const callback = await user.approve(undefined, ADA);
    const release = app.provider.hold("token", { before: false });
    const finished = user.get(callback);
    await release.arrived;
    expect((await logout({ sub: "ada" })).status).toBe(200);
    release.release();
    expect((await finished).status).toBe(400);
    expect(await user.isSignedIn()).toBe(false);
    await settled(app.auth);
    expect(app.provider.requestsTo("revoke")).toHaveLength(1);
  });

  it("a store that fails when the sign-in reads the logout: 503 and no session", async () => {
    await start();
    const user = app.user();
    const callback = await user.approve(undefined, ADA);
    const { get } = store;
    // The first read after the new session is stored and the pending login is replaced by its trace.
    const before = store.writes.length;
    Object.assign(store, {
      get: (key: string) =>
        store.writes.slice(before).join() === "replace,insert,replace"
          ? Promise.reject(new Error("away"))
          : get(key),
    });
    expect((await user.get(callback)).status).toBe(503);
    Object.assign(store, { get });
    expect(await user.isSignedIn()).toBe(false);
    expect((await store.entries()).filter(({ subject }) => subject !== undefined)).toEqual([]);
  });

  it("ends no session of another client in the same store", async () => {
    await start();
    const elsewhere = app.another({ clientId: "another-client" });
    elsewhere.start();
    app.provider.settings.clientId = "another-client";
    const user = app.user().at(elsewhere);
    await user.signIn(undefined, ADA);
    app.provider.settings.clientId = "test-client";
    expect((await logout({ sub: "ada" })).status).toBe(200);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("takes what a body parser made of the form, and the unread body", async () => {
    await start();
    const form = () =>
      new URLSearchParams({ logout_token: app.provider.logoutToken({ sub: "ada" }) }).toString();
    async function* pieces(): AsyncGenerator<Uint8Array> {
      const bytes = new TextEncoder().encode(form());
      for (let at = 0; at < bytes.length; at += 100)
        yield await Promise.resolve(bytes.subarray(at, at + 100));
    }
    const bodies = [
      form,
      () => new TextEncoder().encode(form()),
      () => Object.fromEntries(new URLSearchParams(form())),
      pieces,
    ];
    for (const body of bodies) {
      const user = await signedIn();
      expect((await user.post(PATH, {}, { body: body() })).status).toBe(200);
      expect(await user.isSignedIn()).toBe(false);
      clock.advance(10_000);
    }
  });

  it.each([
    ["no token", {}],
    ["an empty body", { body: "" }],
    ["no body", { body: undefined }],
    ["two tokens", { body: "logout_token=a&logout_token=b" }],
    [
      "another type",
      { headers: { "content-type": "application/json" }, body: '{"logout_token":"a"}' },
    ],
    ["more than 64 KB", { body: `logout_token=${"a".repeat(65_537)}` }],
    ["a list", { body: { logout_token: ["a", "b"] } }],
    ["an object", { body: { logout_token: { a: "b" } } }],
    ["no JWT", { body: "logout_token=abc" }],
  ])("refuses %s with 400 and an error word", async (_, options) => {
    await start();
    const reply = await app.user().post(PATH, {}, options);
    expect([reply.status, (reply.json() as { error: string }).error]).toEqual([
      400,
      "invalid_request",
    ]);
    expect(reply.headers["Cache-Control"]).toBe("no-store");
  });

  it("waits at most five seconds for the body, and reads no further than 64 KB", async () => {
    await start();
    let isLeft = false;
    const endless = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: false, value: new Uint8Array(10_000) }),
        return: () => Promise.resolve({ done: (isLeft = true), value: undefined }),
      }),
    };
    expect((await app.user().post(PATH, {}, { body: endless })).status).toBe(400);
    expect(isLeft).toBe(true);
    const silent = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
    };
    const reply = app.user().post(PATH, {}, { body: silent });
    await turns();
    clock.advance(5_000);
    expect((await reply).status).toBe(400);
  });

  it("responds with 405 to GET", async () => {
    await start();
    const reply = await app.user().get(PATH);
    expect([reply.status, reply.headers["Allow"]]).toEqual([405, "POST"]);
  });

  it("responds with 400 while the store is down, and goes on until it is back", async () => {
    await start();
    const user = await signedIn();
    store.isDown = true;
    const reply = await logout({ sub: "ada" });
    expect([reply.status, (reply.json() as { error: string }).error]).toEqual([
      400,
      "temporarily_unavailable",
    ]);
    store.isDown = false;
    await turns();
    clock.advance(1_000);
    await expect.poll(() => user.isSignedIn()).toBe(false);
  });

  it("ends the session although the memory store is full of sessions", async () => {
    const full = await startOver((clock) => memoryStore({ clock, maxSessions: 5 }), {
      backchannelLogout: true,
    });
    clock = app.clock;
    const user = await signedIn();
    const entry = {
      data: new Uint8Array(1),
      subject: "another",
      expiresAt: clock.now() / 1000 + 3_600,
    };
    for (const key of ["1", "2", "3", "4"]) await full.insert(key, entry);
    expect((await logout({ sub: "ada" })).status).toBe(200);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("is tried again although strangers' tokens are waiting, too", async () => {
    await start();
    const user = await signedIn();
    const unknown = app.provider.logoutToken({ sub: "grace", header: { kid: "unknown" } });
    for (let count = 0; count < 100; count += 1) await post(unknown);
    store.isDown = true;
    await logout({ sub: "ada" });
    store.isDown = false;
    await turns();
    clock.advance(1_000);
    await expect.poll(() => user.isSignedIn()).toBe(false);
  });

  describe("whose key is not known yet", () => {
    const unknown = (count: number) =>
      app.provider.logoutToken({ sub: "grace", header: { kid: `unknown-${String(count)}` } });
    const keyFetches = () => app.provider.requestsTo("jwks").length;

    it("ends the sessions within five seconds, with one fetch for all that wait, although a stranger's token just had the keys fetched", async () => {
      await start();
      const users = [await signedIn(), await signedIn(GRACE)];
      await post(unknown(0));
      await app.provider.rotateKeys({ keepOld: false });
      const fetches = keyFetches();
      for (const { sub } of [ADA, GRACE]) {
        const reply = await logout({ sub });
        expect([reply.status, (reply.json() as { error: string }).error]).toEqual([
          400,
          "temporarily_unavailable",
        ]);
      }
      clock.advance(5_000);
      for (const user of users) await expect.poll(() => user.isSignedIn()).toBe(false);
      expect(keyFetches()).toBe(fetches + 1);
    });

    it("has the keys fetched every five seconds at most, for five minutes", async () => {
      await start();
      await signedIn();
      for (let count = 0; count < 5; count += 1) await post(unknown(count));
      const fetches = keyFetches();
      for (let second = 0; second < 400; second += 1) {
        clock.advance(1_000);
        await turns();
      }
      await turns();
      expect(keyFetches() - fetches).toBeGreaterThan(5);
      expect(keyFetches() - fetches).toBeLessThanOrEqual(60);
      const settled = keyFetches();
      for (let second = 0; second < 60; second += 1) {
        clock.advance(1_000);
        await turns();
      }
      expect(keyFetches()).toBe(settled);
    });

    it("takes the place of a token whose key was fetched in vain, before any other", async () => {
      await start();
      const users: TestUser[] = [];
      for (let count = 0; count < 5; count += 1)
        users.push(await signedIn({ ...ADA, sub: `user-${String(count)}` }));
      for (let count = 0; count < 100; count += 1) await post(unknown(count));
      const fetches = keyFetches();
      clock.advance(5_000);
      await expect.poll(keyFetches).toBe(fetches + 1);
      await turns();
      await app.provider.rotateKeys({ keepOld: false });
      for (let count = 0; count < 5; count += 1) await logout({ sub: `user-${String(count)}` });
      for (let count = 100; count < 195; count += 1) await post(unknown(count));
      clock.advance(5_000);
      for (const user of users) await expect.poll(() => user.isSignedIn()).toBe(false);
    });

    it("takes the place of a random other token if all places are taken", async () => {
      await start();
      const people = Array.from({ length: 100 }, (_, index) => ({
        ...ADA,
        sub: `user-${String(index)}`,
      }));
      const users: TestUser[] = [];
      for (const person of people) users.push(await signedIn(person));
      const last = await signedIn();
      await app.provider.rotateKeys({ keepOld: false });
      app.provider.fault("jwks", { kind: "status", status: 500 });
      for (const { sub } of people) await logout({ sub });
      for (let count = 0; count < 99; count += 1) await post(unknown(count));
      await logout({ sub: "ada" });
      app.provider.clearFaults();
      clock.advance(5_000);
      // The newest always waits; of those before it, some have given way.
      await expect.poll(() => last.isSignedIn()).toBe(false);
      const isLeft = await Promise.all(users.map((user) => user.isSignedIn()));
      const left = isLeft.filter(Boolean).length;
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThan(100);
    });
  });

  it("that is encrypted is refused, and takes no place of one that waits", async () => {
    await start();
    const header = Buffer.from(JSON.stringify({ alg: "RSA-OAEP", enc: "A256GCM" })).toString(
      "base64url",
    );
    const reply = await post(`${header}.a.b.c.d`);
    expect([reply.status, (reply.json() as { error: string }).error]).toEqual([
      400,
      "invalid_request",
    ]);
  });

  it("fires the signals of open connections, in this process and another", async () => {
    await startOver((clock) => memoryStore({ clock }), { backchannelLogout: true });
    clock = app.clock;
    const user = await signedIn();
    const another = app.another();
    const signals = [app.auth, another].map((auth) => auth.whenEnded(user.request("/")));
    await turns();
    expect((await logout({ sub: "ada" })).status).toBe(200);
    await turns();
    for (const { aborted, reason } of signals) {
      expect([aborted, reason instanceof SessionEndedError && reason.reason]).toEqual([
        true,
        "logged_out_at_provider",
      ]);
    }
  });

  it("a stranger's tokens with unknown keys delay no sign-in and no refresh", async () => {
    await start();
    const user = await signedIn();
    const header = { kid: "unknown" };
    for (let count = 0; count < 30; count += 1) {
      expect((await post(app.provider.logoutToken({ sub: "ada", header }))).status).toBe(400);
    }
    clock.advance(3_600_000);
    expect(await user.isSignedIn()).toBe(true);
    expect(await (await signedIn(GRACE)).isSignedIn()).toBe(true);
    expect(app.provider.requestsTo("jwks").length).toBeLessThan(5);
  });
});
