/**
 * Incidents of other projects with state, nonce, PKCE and codes, each replayed here. Ids are those
 * of the advisories.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionStore } from "../../../src/index.js";
import { redisStore } from "../../../src/stores/redis/redis-store.js";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.js";
import { memoryStore } from "../../../src/stores/memory/memory-store.js";
import { TestClock } from "../../../src/testing/test-clock.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../../support/application.js";
import { CLIENTS } from "../../support/redis-clients.js";
import { redisForTests, startRedis } from "../../support/redis-server.js";
import { watchedStore } from "../../support/watched-store.js";
import { untilTestEnds } from "../../support/until-test-ends.js";

const HOUR = 3_600_000;
const LOGIN = "/idpauth/login/";
const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };

const start = (options: ApplicationOptions = {}) => untilTestEnds(startApplication(options));

const codesSpent = ({ provider }: Application) =>
  provider.requestsTo("token", { grant_type: "authorization_code" }).length;
const refreshes = ({ provider }: Application) =>
  provider.requestsTo("token", { grant_type: "refresh_token" }).length;
const stateOf = (location: string) => new URL(location).searchParams.get("state") ?? "";

function sqlite(clock: TestClock): SessionStore {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-incidents-"));
  const store = sqliteStore(path.join(folder, "sessions.db"), { clock });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

describe("[INC-21] CVE-2023-27490 next-auth: checks that were stripped from the callback were missed too late, and the code stayed usable", () => {
  const STRIPPED: readonly (readonly [string, (query: URLSearchParams) => void])[] = [
    ["without state", (query) => query.delete("state")],
    ["with an empty state", (query) => query.set("state", "")],
    ["with a state of the attacker's own", (query) => query.set("state", "A".repeat(43))],
    ["with its state twice", (query) => query.append("state", query.get("state") ?? "")],
    ["without iss", (query) => query.delete("iss")],
    ["without its code", (query) => query.delete("code")],
  ];

  it.each(STRIPPED)("%s", async (_name, strip) => {
    const application = await start();
    const { provider } = application;
    const [victim, attacker] = [application.user(), application.user()];
    const callback = new URL(await victim.approve(), "http://app.example");
    const code = callback.searchParams.get("code") ?? "";
    strip(callback.searchParams);
    expect((await victim.get(`${callback.pathname}${callback.search}`)).status).toBe(400);
    expect([codesSpent(application), await victim.isSignedIn()]).toEqual([0, false]);

    // The code that was left over, put into a login of the attacker's own: it belongs to the
    // victim's verifier and nonce.
    const own = new URL(await attacker.approve(LOGIN, GRACE), "http://app.example");
    own.searchParams.set("code", code);
    expect((await attacker.get(`${own.pathname}${own.search}`)).status).toBe(400);
    expect(await attacker.isSignedIn()).toBe(false);
    expect(provider.issued.filter(({ kind }) => kind === "access_token")).toEqual([]);
  });

  it("the login whose state is known is used up by the first try, even if parameters were stripped from it", async () => {
    for (const name of ["iss", "code"]) {
      const application = await start();
      const user = application.user();
      const whole = await user.approve();
      const stripped = new URL(whole, "http://app.example");
      stripped.searchParams.delete(name);
      expect((await user.get(`${stripped.pathname}${stripped.search}`)).status).toBe(400);
      expect((await user.get(whole)).status).toBe(400);
      expect(codesSpent(application)).toBe(0);
    }
  });
});

it("[INC-22] CVE-2023-31999 @fastify/oauth2: one state for all users, made when the program started", async () => {
  const application = await start({ store: memoryStore({ clock: new TestClock() }) });
  const starts = [application.auth, application.another(), application.another()];
  const seen = {
    state: new Set<string>(),
    nonce: new Set<string>(),
    code_challenge: new Set<string>(),
  };
  for (let round = 0; round < 300; round += 1) {
    // New users, and one who comes again and again.
    const user = application.user().at(starts[round % 3]!);
    for (const again of [1, 2]) {
      const { searchParams } = new URL((await user.get(`${LOGIN}?x=${again}`)).location);
      for (const [name, values] of Object.entries(seen)) {
        expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
        values.add(searchParams.get(name) ?? "");
      }
    }
  }
  for (const values of Object.values(seen)) {
    expect(values.size).toBe(600);
    // Nor is any part of them the same.
    expect(new Set([...values].map((value) => value.slice(0, 8))).size).toBe(600);
    expect(new Set([...values].map((value) => value.slice(-8))).size).toBe(600);
  }
  expect(new Set(Object.values(seen).flatMap((values) => [...values])).size).toBe(1_800);
});

/** A state of one browser in another one, and at another process: nobody is signed in there. */
async function presentForeignStates(
  application: Application,
  elsewhere: (user: TestUser) => TestUser,
): Promise<void> {
  const attacker = application.user();
  const callback = await attacker.approve(LOGIN, GRACE);
  const victims = {
    "without a session": application.user(),
    "with a login of its own": application.user(),
    "signed in": application.user(),
  };
  await victims["with a login of its own"].get(LOGIN);
  await victims["signed in"].signIn();
  const spent = codesSpent(application);
  for (const [name, victim] of Object.entries(victims)) {
    const there = elsewhere(victim);
    const answer = await there.get(callback);
    expect([name, answer.status, answer.setCookies ?? []]).toEqual([name, 400, []]);
    expect([name, (await there.get("/idpauth/session")).json().user?.email]).toEqual([
      name,
      name === "signed in" ? "ada@example.com" : undefined,
    ]);
  }
  expect(codesSpent(application)).toBe(spent);
  // It was good all the while, where it belongs.
  const home = elsewhere(attacker);
  expect((await home.get(callback)).status).toBe(302);
  expect((await home.get("/idpauth/session")).json().user.email).toBe("grace@example.com");
}

it("[INC-23] CVE-2025-68158 Authlib: a state was known to a cache, not to one browser: sign-in by an attacker's link", async () => {
  const application = await start();
  await presentForeignStates(application, (user) => user);
});

describe("[INC-24] CVE-2026-41425 Authlib: the same in another part, with the cache behind all processes", () => {
  it("SQLite", async () => {
    const clock = new TestClock();
    const application = await start({ clock, store: sqlite(clock) });
    const other = application.another();
    await presentForeignStates(application, (user) => user.at(other));
  });

  it("Redis", async ({ skip }) => {
    skip((await redisForTests()) === undefined, "there is no redis-server");
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const { client, close } = await CLIENTS["node-redis"](server);
    onTestFinished(close);
    const application = await start({
      clock: new TestClock(Date.now()),
      store: redisStore(client),
    });
    const other = application.another();
    await presentForeignStates(application, (user) => user.at(other));
  });
});

describe("[INC-25] CVE-2026-73419 GHSA-x445-f3h2-j279 Auth.js: a login at one provider could be finished with another's response", () => {
  it.each(["/idpauth/", "/other/"])(
    "two components in one application, with one store, the second at %s",
    async (mountPath) => {
      const clock = new TestClock();
      const store = memoryStore({ clock });
      const first = await start({ clock, store });
      const second = await start({ clock, provider: { person: GRACE } });
      const { issuer, clientId, clientSecret } = second.provider;
      const other = first.another({ issuer, clientId, clientSecret, mountPath });
      const user = first.user();
      const [here, there] = [user, user.at(other)];
      const login = await here.get(LOGIN);
      const code =
        new URL(await first.provider.signInCode(login.location)).searchParams.get("code") ?? "";
      for (const [name, value] of here.cookies) there.cookies.set(name, value);

      const own = await there.get(`${mountPath}login/`);
      for (const [name, value] of there.cookies) here.cookies.set(name, value);
      const ownCode =
        new URL(await second.provider.signInCode(own.location)).searchParams.get("code") ?? "";
      const mixed = [
        [there, `${mountPath}login-callback`, stateOf(login.location), ownCode, issuer],
        [there, `${mountPath}login-callback`, stateOf(login.location), code, first.provider.issuer],
        [here, "/idpauth/login-callback", stateOf(own.location), code, first.provider.issuer],
        [here, "/idpauth/login-callback", stateOf(own.location), ownCode, issuer],
        [here, "/idpauth/login-callback", stateOf(login.location), ownCode, issuer],
      ] as const;
      for (const [browser, callback, state, itsCode, iss] of mixed) {
        const answer = await browser.get(
          `${callback}?${new URLSearchParams({ state, code: itsCode, iss }).toString()}`,
        );
        expect(answer.status).toBe(400);
      }
      expect([codesSpent(first), codesSpent(second)]).toEqual([0, 0]);
      expect([
        await here.isSignedIn(),
        (await there.get(`${mountPath}session`)).json().authenticated,
      ]).toEqual([false, false]);
    },
  );

  it("the provider's issuer was changed while a login was under way", async () => {
    const clock = new TestClock();
    const first = await start({ clock, store: memoryStore({ clock }) });
    const second = await start({ clock });
    const { issuer, clientId, clientSecret } = second.provider;
    const user = first.user();
    const login = await user.get(LOGIN);
    const changed = user.at(first.another({ issuer, clientId, clientSecret }));
    const code =
      new URL(
        await second.provider.signInCode(login.location.replace(first.provider.issuer, issuer)),
      ).searchParams.get("code") ?? "";
    const query = new URLSearchParams({ state: stateOf(login.location), code, iss: issuer });
    expect((await changed.get(`/idpauth/login-callback?${query.toString()}`)).status).toBe(400);
    expect([codesSpent(first), codesSpent(second), await changed.isSignedIn()]).toEqual([
      0,
      0,
      false,
    ]);
  });
});

it("[INC-26] CVE-2023-48309 next-auth: what a half-finished login left in the browser counted as a session", async () => {
  const application = await start();
  const { auth } = application;
  const user = application.user();
  await user.approve();
  const request = () => user.request("/reports", { headers: { accept: "text/html" } });
  expect((await user.get("/idpauth/session")).json()).toEqual({ authenticated: false, user: null });
  expect((await user.get("/idpauth/")).body).not.toMatch(/sign out/i);
  expect(await auth.guard(request())).toMatchObject({
    kind: "navigation",
    reason: "no_credentials",
  });
  expect([
    await auth.getCredentials(request()),
    (await auth.clientState(request())).user,
    await auth.getAccessToken(request()),
  ]).toEqual([null, null, null]);
  expect(await auth.checkIdpAuthentication(request())).toBe(false);
  // Neither does what else came of the login pass for a cookie.
  const login = new URL((await user.get(LOGIN)).location);
  for (const value of [...login.searchParams.values()]) {
    const other = application.user();
    other.cookies.set("idpauth", value);
    expect(await other.isSignedIn()).toBe(false);
  }
});

describe("[INC-27] GHSA-7w99-5wm4-3g79 GHSA-392p-2q2v-4372 better-auth: a code, or a refresh token, was spent twice by requests at the same moment", () => {
  it("the callback ten times, in two processes", async () => {
    const clock = new TestClock();
    const application = await start({ clock, store: sqlite(clock) });
    const other = application.another();
    const user = application.user();
    const callback = await user.approve();
    const browsers = Array.from({ length: 10 }, (_, index) =>
      user.at(index % 2 === 0 ? application.auth : other),
    );
    const pending = browsers.map((browser) => browser.get(callback));
    let answered = 0;
    for (const answer of pending) void answer.then(() => (answered += 1));
    await Promise.race(pending);
    // The code is spent. The other process looks at the record by the clock.
    while (answered < pending.length) {
      clock.advance(100);
      await nextTurn();
    }
    const statuses = (await Promise.all(pending)).map(({ status }) => status);
    expect(statuses).toContain(302);
    expect(statuses.every((status) => status === 302 || status === 400)).toBe(true);
    expect(codesSpent(application)).toBe(1);
    const signedIn = await Promise.all(browsers.map((browser) => browser.isSignedIn()));
    expect(signedIn).toContain(true);
  });

  it("a refresh by ten requests, in two processes", async () => {
    const clock = new TestClock();
    const application = await start({ clock, store: sqlite(clock) });
    await refreshAtOnce(application, 10);
  });
});

it("[INC-28] CVE-2026-50631 Apache CXF: between reading a refresh token and spending it another request spent it", async () => {
  const clock = new TestClock();
  const application = await start({ clock, store: sqlite(clock) });
  for (let round = 1; round <= 5; round += 1) await refreshAtOnce(application, 40);
  expect(refreshes(application)).toBe(5);
});

/**
 * Requests of one session at once, at two processes, with the refresh token that all have read: one
 * spends it.
 */
async function refreshAtOnce(application: Application, count: number): Promise<void> {
  const { provider, clock } = application;
  const other = application.another();
  const user = application.user();
  await user.signIn();
  clock.advance(HOUR);
  const before = refreshes(application);
  // Nobody is answered before all have asked.
  const hold = provider.hold("token");
  const refreshed = new Promise<void>((resolve) => {
    for (const auth of [application.auth, other]) {
      auth.on("refresh", () => {
        resolve();
      });
    }
  });
  const asked = Array.from({ length: count }, (_, index) =>
    user.at(index % 2 === 0 ? application.auth : other).isSignedIn(),
  );
  let isDone = false as boolean;
  const answers = Promise.all(asked).finally(() => (isDone = true));
  await hold.arrived;
  hold.release();
  await refreshed;
  // The other process looks again after a while of its own.
  while (!isDone) {
    await clock.advanceAsync(10);
    await nextTurn();
  }
  expect(new Set(await answers)).toEqual(new Set([true]));
  expect([refreshes(application) - before, provider.reuses]).toEqual([1, 0]);
}

describe("[INC-29] oauth2-proxy 2607: a loop over the cookies of logins that had no end", () => {
  const FORGED = {
    "10,000 cookies of our name and form": () =>
      Array.from(
        { length: 10_000 },
        (_, index) => `idpauth=${String(index).padStart(43, "A")}`,
      ).join("; "),
    "10,000 cookies of our name and of no form": () =>
      Array.from({ length: 10_000 }, (_, index) => `idpauth=${index}`).join("; "),
    "10,000 cookies with names like ours": () =>
      Array.from(
        { length: 10_000 },
        (_, index) => `idpauth_${index}=${"A".repeat(43)}; idpauth.${index}.csrf=x`,
      ).join("; "),
    "one name without an end": () => "idpauth".repeat(100_000),
    "nothing but separators": () => "; ".repeat(100_000) + "=".repeat(100_000),
  };

  it.each(Object.entries(FORGED))("%s", async (_name, header) => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    const application = await start({ clock, store });
    const cookie = header();
    for (const target of [
      `/idpauth/login-callback?state=${"A".repeat(43)}&code=x`,
      "/idpauth/session",
      "/idpauth/logout/",
      LOGIN,
    ]) {
      store.operations.length = 0;
      expect((await application.user().get(target, { headers: { cookie } })).status).toBeLessThan(
        500,
      );
      expect(
        store.operations.filter((operation) => operation === "get").length,
      ).toBeLessThanOrEqual(4);
    }
  });

  it("10,000 callbacks with forged states cost one look-up each, and the login stays as it was", async () => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    const application = await start({ clock, store });
    const user = application.user();
    const callback = await user.approve();
    const [before] = await store.entries();
    store.operations.length = 0;
    for (let index = 0; index < 10_000; index += 1) {
      expect(
        (await user.get(`/idpauth/login-callback?state=${String(index).padStart(43, "A")}&code=x`))
          .status,
      ).toBe(400);
    }
    expect([store.operations.length, store.writes.length, codesSpent(application)]).toEqual([
      10_000, 0, 0,
    ]);
    expect(await store.entries()).toEqual([before]);
    expect((await user.get(callback)).status).toBe(302);
  });
});
