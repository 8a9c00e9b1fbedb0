import { afterEach, describe, expect, it } from "vitest";
import type { IdpAuth } from "../../src/auth/adapter-types.js";
import type { IdpRequest } from "../../src/http/request.js";
import { isExchanging } from "../../src/record/pending-logins.js";
import { createSealer } from "../../src/sessions/seal.js";
import { storeKeyOf } from "../../src/sessions/cookie.js";
import type { TestClock } from "../../src/testing/test-clock.js";
import {
  OWN_ORIGIN,
  type Answer,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { startExpressApplication } from "../support/express-application.js";
import type { SealingStore } from "../support/sealing-store.js";
import { type StoreMethod } from "../support/sealing-store.js";
import { whileTimePasses } from "../support/while-time-passes.js";
import { application as app, sealing, startOver } from "../support/one-application.js";

const PAGE = `${OWN_ORIGIN}/reports?year=2024#q3`;
const FROM_PAGE = `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: PAGE }).toString()}`;
const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };
const REFUSED = { kind: "status", status: 400, body: { error: "invalid_grant" } } as const;
const HTML = { accept: "text/html" };

let store: SealingStore;
let clock: TestClock;

afterEach(() => app.stop());

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  store = await startOver(sealing, options);
  clock = app.clock;
  return app.user();
}

/** The second process gets every other request. */
type Where = (auth: IdpAuth<IdpRequest>) => IdpAuth<IdpRequest>;
const PLACES: readonly [name: string, where: Where][] = [
  ["in the same process", (auth) => auth],
  ["in another process", () => app.another()],
];

/** A user who clicks twice at the provider: one state, two codes. */
async function clickedTwice(
  user: TestUser,
  login = FROM_PAGE,
): Promise<readonly [first: string, second: string]> {
  const { location } = await user.get(login);
  const click = async () => {
    const url = new URL(await app.provider.signInCode(location));
    return `${url.pathname}${url.search}`;
  };
  return [await click(), await click()];
}

function expectLoginAgain(answer: Answer, destination: string | null = PAGE): void {
  expect(answer.status).toBe(302);
  const url = new URL(answer.location, OWN_ORIGIN);
  expect([url.origin, url.pathname]).toEqual([OWN_ORIGIN, "/idpauth/login/"]);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    scheme: "PRESERVE_ORIGIN_QP",
    origin_url: destination,
    cross_site: "true",
  });
  expect(answer.setCookies ?? []).toEqual([]);
}

function expectLinkInvalid(answer: Answer): void {
  expect(answer.status).toBe(400);
  expect(answer.body).toContain("This sign-in link is no longer valid");
  expect(answer.setCookies ?? []).toEqual([]);
}

const isSettled = (work: Promise<unknown>) =>
  Promise.race([work.then(() => true), Promise.resolve(false)]);
const tokenRequests = () => app.provider.requestsTo("token").length;
const cookieOf = (user: TestUser) => [...user.cookies.values()][0] ?? "";
const reasons = () => app.log.map(({ code, details }) => `${code} ${String(details?.reason)}`);

/** The login that a repeat has led to ends as any other. */
async function expectSignsIn(user: TestUser, answer: Answer): Promise<void> {
  expect((await user.signIn(answer.location)).location).toBe(PAGE);
  expect(await user.isSignedIn()).toBe(true);
}

describe.each(PLACES)("a double click at the provider, %s", (_name, where) => {
  it("while the first code is exchanged: waits, and begins the login again", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    const hold = app.provider.hold("token");
    const lost = user.at(app.auth).get(first);
    await hold.arrived;
    const answer = user.at(where(app.auth)).get(second);
    await clock.advanceAsync(1_000);
    expect(await isSettled(answer)).toBe(false);
    hold.release();
    expect((await lost).status).toBe(302);
    expectLoginAgain(await whileTimePasses(clock, answer));
    expect(tokenRequests()).toBe(1);
    await expectSignsIn(user, await answer);
  });

  it("before the first has used the state: one of them is exchanged, the other waits", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    const key = storeKeyOf(cookieOf(user));
    let proceed = () => {};
    const held = new Promise<void>((resolve) => {
      store.before = async (call) => {
        if (call.method !== "replace" || call.key !== key) return;
        store.before = undefined;
        resolve();
        await new Promise<void>((go) => (proceed = go));
      };
    });
    const late = user.at(where(app.auth)).get(first);
    await held;
    const hold = app.provider.hold("token");
    const lost = user.at(app.auth).get(second);
    await hold.arrived;
    proceed();
    await clock.advanceAsync(200);
    hold.release();
    expect((await lost).setCookies).toHaveLength(1);
    expectLoginAgain(await whileTimePasses(clock, late));
    expect(tokenRequests()).toBe(1);
  });

  it("after the first, whose response the browser dropped", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    await user.at(app.auth).get(first);
    const answer = await user.at(where(app.auth)).get(second);
    expectLoginAgain(answer);
    expect(tokenRequests()).toBe(1);
    await expectSignsIn(user, answer);
  });

  it("after the first, whose response the browser has: goes on to the page", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    await user.get(first);
    const answer = await user.at(where(app.auth)).get(second);
    expect([answer.status, answer.location, answer.setCookies]).toEqual([302, PAGE, undefined]);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe.each(PLACES)("a callback whose response was lost, repeated %s", (_name, where) => {
  it("begins the login again, once", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    await user.at(app.auth).get(callback);
    const repeat = () => user.at(where(app.auth)).get(callback);
    const answer = await repeat();
    expectLoginAgain(answer);
    expectLinkInvalid(await repeat());
    expect(tokenRequests()).toBe(1);
    await expectSignsIn(user, answer);
    expect(reasons()).toContain("callback_failed repeated");
    expect(reasons()).toContain("callback_failed state");
  });

  it("ten minutes later is refused", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    await user.at(app.auth).get(callback);
    clock.advance(600_000);
    expectLinkInvalid(await user.at(where(app.auth)).get(callback));
  });

  it("costs the store a look-up and a delete, and a stranger's one look-up", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    await user.at(app.auth).get(callback);
    const stranger = app.user();
    await stranger.get("/idpauth/login/");
    for (const [browser, expected] of [
      [stranger, ["get"]],
      [user, ["get", "delete"]],
    ] as const) {
      store.calls.length = 0;
      await browser.at(where(app.auth)).get(callback);
      expect(store.calls.map(({ method }) => method)).toEqual(expected);
    }
  });

  it("is refused to another browser, which takes nothing away", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    await user.at(app.auth).get(callback);
    for (const stranger of [app.user(), app.user()]) {
      await stranger.get("/idpauth/login/");
      expectLinkInvalid(await stranger.at(where(app.auth)).get(callback));
    }
    expectLoginAgain(await user.at(where(app.auth)).get(callback));
  });

  it("with another state is refused, and the trace stays", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    await user.at(app.auth).get(callback);
    const other = new URL(callback, OWN_ORIGIN);
    other.searchParams.set("state", "another");
    expectLinkInvalid(await user.at(where(app.auth)).get(`${other.pathname}${other.search}`));
    expectLoginAgain(await user.at(where(app.auth)).get(callback));
  });

  it("is refused after a logout with the old cookie, and while the exchange ran", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    await user.at(app.auth).get(callback);
    expect((await user.at(where(app.auth)).get("/idpauth/logout/")).status).toBe(302);
    expectLinkInvalid(await user.at(where(app.auth)).get(callback));

    const again = app.user();
    const second = await again.approve(FROM_PAGE);
    const hold = app.provider.hold("token");
    const lost = again.at(app.auth).get(second);
    await hold.arrived;
    await again.at(where(app.auth)).get("/idpauth/logout/");
    hold.release();
    expect((await lost).status).toBe(400);
    expectLinkInvalid(await again.at(where(app.auth)).get(second));
  });

  it("doesn't touch the session that the first response gave", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    const [attacker, before] = [user.at(where(app.auth)), user.at(app.auth)];
    await user.get(callback);
    const key = storeKeyOf(cookieOf(user));
    const stored = await store.peek(key);
    store.calls.length = 0;
    const answer = await attacker.get(callback);
    expectLoginAgain(answer);
    expect(store.calls.filter((call) => call.key === key)).toEqual([]);
    expect(await store.peek(key)).toEqual(stored);
    // Whoever knows the cookie from before the sign-in gets a login under another key.
    await attacker.get(answer.location);
    expect(cookieOf(attacker)).not.toBe(cookieOf(before));
    expect(await attacker.isSignedIn()).toBe(false);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("asks before the new login replaces another user", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    await user.at(app.auth).get(callback);
    const answer = await user.at(where(app.auth)).get(callback);
    await user.signIn(undefined, GRACE);
    const asked = await user.get(await user.approve(answer.location), { headers: HTML });
    expect(asked.status).toBe(409);
    expect(asked.body).toContain("grace@example.com");
    const { user: present } = (await user.get("/idpauth/session?details=true")).json() as {
      user: { email: string };
    };
    expect(present.email).toBe("grace@example.com");
  });
});

describe("the repeat of a signed-in user's callback", () => {
  it.each(PLACES)("goes to the page if the exchange has failed, %s", async (_name, where) => {
    const user = await start();
    await user.signIn();
    const [first, second] = await clickedTwice(user);
    app.provider.fault("token", REFUSED);
    expect((await user.at(app.auth).get(first)).status).toBe(400);
    const answer = await user.at(where(app.auth)).get(second);
    expect([answer.status, answer.location]).toEqual([302, PAGE]);
  });

  it.each(PLACES)("waits for the exchange that replaces the session, %s", async (_name, where) => {
    const user = await start();
    await user.signIn();
    const [first, second] = await clickedTwice(user);
    const hold = app.provider.hold("token");
    const lost = user.at(app.auth).get(first);
    await hold.arrived;
    const answer = user.at(where(app.auth)).get(second);
    await clock.advanceAsync(500);
    hold.release();
    await lost;
    expectLoginAgain(await whileTimePasses(clock, answer));
  });

  it("waits for the exchange that replaces the session, with a store whose answers take time", async () => {
    const user = await start();
    await user.signIn();
    const [first, second] = await clickedTwice(user);
    const hold = app.provider.hold("token");
    store.after = () => new Promise((resolve) => setImmediate(resolve));
    const lost = user.at(app.auth).get(first);
    await hold.arrived;
    const answer = user.at(app.auth).get(second);
    await clock.advanceAsync(500);
    hold.release();
    await lost;
    expectLoginAgain(await whileTimePasses(clock, answer));
  });
});

describe("an exchange in another process", () => {
  it("that takes longer than IDP_HTTP_TIMEOUT is a 503 that loses nothing", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    const hold = app.provider.hold("token");
    const lost = user.at(app.auth).get(first);
    await hold.arrived;
    // The first one's requests to the provider have the default, 5 s.
    const other = user.at(app.another({ httpTimeout: 3 }));
    store.calls.length = 0;
    const answer = other.get(second, { headers: HTML });
    await clock.advanceAsync(2_900);
    expect(await isSettled(answer)).toBe(false);
    await clock.advanceAsync(200);
    const late = await answer;
    expect([late.status, late.setCookies ?? []]).toEqual([503, []]);
    expect(Number(late.headers["Retry-After"])).toBeGreaterThan(0);
    expect(store.count("get")).toBeLessThan(20);
    expect(reasons()).toContain("callback_failed sign_in_running");
    hold.release();
    await lost;
    expectLoginAgain(await other.get(second));
  });

  it("whose process has died: 503, and the user can sign in again", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    const hold = app.provider.hold("token");
    void user
      .at(app.auth)
      .get(first)
      .catch(() => undefined);
    await hold.arrived;
    const other = user.at(app.another({ httpTimeout: 2 }));
    const answer = await whileTimePasses(clock, other.get(second, { headers: HTML }));
    expect(answer.status).toBe(503);
    expect(answer.body).toContain("/idpauth/login/");
    hold.release();
  });

  it("that fails is no exchange any more: the repeat is refused at once", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    app.provider.fault("token", REFUSED);
    expect((await user.at(app.auth).get(first)).status).toBe(400);
    expectLinkInvalid(await user.at(app.another()).get(second));
    expectLinkInvalid(await user.get(second));
  });

  it("of a signed-in user whose process has died: to the page", async () => {
    const user = await start();
    await user.signIn();
    const [first, second] = await clickedTwice(user);
    const hold = app.provider.hold("token");
    void user
      .at(app.auth)
      .get(first)
      .catch(() => undefined);
    await hold.arrived;
    const other = user.at(app.another({ httpTimeout: 2 }));
    const answer = await whileTimePasses(clock, other.get(second));
    expect([answer.status, answer.location]).toEqual([302, PAGE]);
    hold.release();
  });
});

describe("a provider's error", () => {
  it("that comes twice is refused the second time", async () => {
    const user = await start();
    const url = new URL(await user.approve(FROM_PAGE), OWN_ORIGIN);
    url.searchParams.delete("code");
    url.searchParams.set("error", "access_denied");
    const callback = `${url.pathname}${url.search}`;
    expect((await user.get(callback)).location).toBe("/idpauth/?error=access_denied");
    expectLinkInvalid(await user.get(callback));
  });

  it("after a code with the same state, whose response was lost, begins the login again", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    await user.at(app.auth).get(callback);
    const url = new URL(callback, OWN_ORIGIN);
    url.searchParams.delete("code");
    url.searchParams.set("error", "access_denied");
    expectLoginAgain(await user.get(`${url.pathname}${url.search}`));
  });
});

describe("a popup", () => {
  it("begins its login again, and ends on its own page", async () => {
    const user = await start();
    const popup = `${OWN_ORIGIN}/idpauth/popup?attempt=an-attempt_of-0123456789`;
    const login = `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: popup }).toString()}`;
    const [first, second] = await clickedTwice(user, login);
    await user.at(app.auth).get(first);
    const answer = await user.get(second);
    expectLoginAgain(answer, popup);
    expect((await user.signIn(answer.location)).location).toBe(popup);
  });
});

describe("a login for more", () => {
  it("begins again with the same step-up, at the same provider", async () => {
    const user = await start();
    const callback = await user.approve(`${FROM_PAGE}&max_age=60&acr_values=gold`);
    await user.at(app.auth).get(callback);
    const { location } = await user.get(callback);
    expect(Object.fromEntries(new URL(location, OWN_ORIGIN).searchParams)).toMatchObject({
      max_age: "60",
      acr_values: "gold",
      cross_site: "true",
    });
  });
});

describe("a store that fails during a repeat", () => {
  it.each<[StoreMethod]>([["get"], ["delete"]])(
    "at %s is a 503, and the next one begins the login again",
    async (method) => {
      const user = await start();
      const callback = await user.approve(FROM_PAGE);
      await user.at(app.auth).get(callback);
      store.before = (call) => {
        if (call.method === method) throw new Error("connection lost");
      };
      const answer = await user.get(callback);
      expect([answer.status, answer.setCookies ?? []]).toEqual([503, []]);
      store.before = undefined;
      expectLoginAgain(await user.get(callback));
    },
  );

  it("while it waits is a 503, and the next one begins the login again", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    const hold = app.provider.hold("token");
    const lost = user.at(app.auth).get(first);
    await hold.arrived;
    const other = user.at(app.another());
    const answer = other.get(second);
    await clock.advanceAsync(20);
    store.before = ({ method }) => {
      if (method === "get") throw new Error("connection lost");
    };
    expect((await whileTimePasses(clock, answer)).status).toBe(503);
    store.before = undefined;
    hold.release();
    await lost;
    expectLoginAgain(await other.get(second));
  });

  it("before the first callback's steps leaves no exchange that never ends", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    store.before = ({ method }) => {
      if (method === "insert") throw new Error("connection lost");
    };
    expect((await user.at(app.auth).get(first)).status).toBe(503);
    store.before = undefined;
    expectLinkInvalid(await user.at(app.another()).get(second));
  });

  it("while it says that the exchange begins leaves none that never ends", async () => {
    const user = await start();
    const [first, second] = await clickedTwice(user);
    const other = user.at(app.another());
    store.after = ({ method }) => {
      if (method !== "replace") return;
      store.after = undefined;
      throw new Error("connection lost");
    };
    expect((await user.at(app.auth).get(first)).status).toBe(503);
    const before = clock.monotonic();
    expectLinkInvalid(await whileTimePasses(clock, other.get(second)));
    expect(clock.monotonic() - before).toBeLessThan(1_000);
  });
});

describe("what the record says of an exchange", () => {
  it("is there while it runs, and nowhere afterwards", async () => {
    const user = await start();
    const callback = await user.approve(FROM_PAGE);
    const old = cookieOf(user);
    const sealer = createSealer("a secret key of at least 32 bytes", []);
    const recordOf = async (value: string) => {
      const { data } = (await store.peek(storeKeyOf(value)))!;
      return sealer.open(data as Uint8Array, value, storeKeyOf(value));
    };
    const hold = app.provider.hold("token");
    const answer = user.get(callback);
    await hold.arrived;
    const during = JSON.parse((await recordOf(old)) ?? "") as Parameters<typeof isExchanging>[0];
    expect(isExchanging(during, during.idp_state.used?.[0] ?? "")).toBe(true);
    hold.release();
    await answer;
    expect(await recordOf(cookieOf(user))).not.toContain("exchanging");
    expect(await recordOf(old)).toBeUndefined();
  });
});

describe('the framework\'s own session (`session: "host"`)', () => {
  it("is refused as before, and nothing is kept for a repeat", async () => {
    await start();
    const framework = await startExpressApplication({ session: "host" });
    try {
      const browser = framework.browser();
      const login = await browser.navigate("/idpauth/login/");
      const cookie = login.setCookies[0]?.split(";")[0] ?? "";
      const callback = await framework.provider.signInCode(login.location ?? "");
      expect((await browser.navigate(callback)).status).toBe(302);
      const again = await browser.navigate(callback, { headers: { cookie } });
      expect(again.status).toBe(400);
      expect(JSON.stringify(framework.stored())).not.toContain("exchanging");
    } finally {
      await framework.stop();
    }
  });
});
