import { afterEach, describe, expect, it } from "vitest";
import { HookFailedError, type IdpAuthOptions, type SessionStore } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";
import { openedRecord, storedUnder } from "../support/opened-record.js";

let application: Application;
afterEach(() => application.stop());

const A = "a.shop.example";
const B = "b.shop.example";
const LIST = [`http://${A}`, `http://${B}`, "https://*.wild.example"];
const STRANGER = "stranger.example";
const PAGE = { accept: "text/html" };

interface Shop {
  readonly user: TestUser;
  readonly store: SessionStore;
}

async function start(options: Omit<IdpAuthOptions, "clock" | "log"> = {}): Promise<Shop> {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  application = await startApplication({ baseUrl: LIST, store, clock, ...options });
  return { user: application.user(), store };
}

/** Signs a user in at a host, from the login to the callback. */
async function signInAt(user: TestUser, host: string, callbackHost = host) {
  const login = await user.get("/idpauth/login/", { host });
  const callback = new URL(await application.provider.signInCode(login.location));
  expect(callback.host).toBe(host);
  return user.get(`${callback.pathname}${callback.search}`, { host: callbackHost });
}

async function isSignedInAt(user: TestUser, host: string): Promise<boolean> {
  return ((await user.get("/idpauth/session", { host })).json() as { authenticated: boolean })
    .authenticated;
}

/** The private state of the session that the user's cookie names. */
async function stateOf(user: TestUser, store: SessionStore): Promise<Record<string, unknown>> {
  const [cookie = ""] = user.cookies.values();
  const stored = await store.get(storedUnder(cookie));
  // The memory store keeps the record as it is, or encrypted.
  const text =
    stored?.data instanceof Uint8Array
      ? openedRecord(stored, cookie)
      : JSON.stringify(stored?.data);
  const record = JSON.parse(text) as Record<string, unknown>;
  return (record["idp_state"] ?? JSON.parse(JSON.stringify(record))) as Record<string, unknown>;
}

describe("[TEN-7] a list of origins", () => {
  it("a login uses the origin of its request: redirect URI, callback and the page to return to", async () => {
    const { user, store } = await start();
    for (const host of [A, B]) {
      const target = `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=http://${host}/cart`;
      const { location } = await user.get(target, { host });
      expect(new URL(location).searchParams.get("redirect_uri")).toBe(
        `http://${host}/idpauth/login-callback`,
      );
      const callback = new URL(await application.provider.signInCode(location));
      const done = await user.get(`${callback.pathname}${callback.search}`, { host });
      expect(done.location).toBe(`http://${host}/cart`);
      expect((await stateOf(user, store))["origin"]).toBe(`http://${host}`);
      user.cookies.clear();
    }
  });

  it("a page at another of the origins isn't returned to", async () => {
    const { user } = await start();
    const target = `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=http://${B}/cart`;
    const { location } = await user.get(target, { host: A });
    const callback = new URL(await application.provider.signInCode(location));
    const done = await user.get(`${callback.pathname}${callback.search}`, { host: A });
    expect(done.location).toBe("/idpauth/");
  });

  it("a callback at another origin is 400, changes nothing, and still works at its own", async () => {
    const { user } = await start();
    const login = await user.get("/idpauth/login/", { host: A });
    const callback = new URL(await application.provider.signInCode(login.location));
    const target = `${callback.pathname}${callback.search}`;
    const strayed = await user.get(target, { host: B });
    expect([strayed.status, strayed.setCookies ?? []]).toEqual([400, []]);
    expect(application.provider.requestsTo("token")).toEqual([]);
    expect((await user.get(target, { host: A })).status).toBe(302);
    expect(await isSignedInAt(user, A)).toBe(true);
  });

  it("a session's cookie at another origin is signed out there, and deletes nothing, even at a logout", async () => {
    const { user } = await start();
    await signInAt(user, A);
    const cookies = new Map(user.cookies);
    expect(await isSignedInAt(user, B)).toBe(false);
    const request = user.request("/", { host: B });
    expect(await application.auth.getCredentials(request)).toBeNull();
    expect(await application.auth.getSession(request)).toBeNull();
    expect((await application.auth.guard(user.request("/", { host: B })))?.kind).toBe(
      "unauthenticated",
    );
    await user.get("/idpauth/logout/", { host: B });
    user.cookies.clear();
    for (const [name, value] of cookies) user.cookies.set(name, value);
    expect(await isSignedInAt(user, A)).toBe(true);
  });

  it("a repeated callback at another origin doesn't begin the login again", async () => {
    const { user } = await start();
    const login = await user.get("/idpauth/login/", { host: A });
    const callback = new URL(await application.provider.signInCode(login.location));
    const target = `${callback.pathname}${callback.search}`;
    const before = new Map(user.cookies);
    await user.get(target, { host: A });
    user.cookies.clear();
    for (const [name, value] of before) user.cookies.set(name, value);
    expect((await user.get(target, { host: B })).status).toBe(400);
    expect((await user.get(target, { host: A })).status).toBe(302);
  });

  it("a record without an origin counts at each, and gets that of its next write", async () => {
    const { user: single, store } = await start({ baseUrl: `http://${A}` });
    await signInAt(single, A);
    expect((await stateOf(single, store))["origin"]).toBeUndefined();
    const several = application.another({ baseUrl: LIST });
    several.start();
    const same = single.at(several);
    expect(await isSignedInAt(same, B)).toBe(true);
    expect(await isSignedInAt(same, A)).toBe(true);
    await several.updateData(same.request("/", { host: A }), () => ({ cart: 1 }));
    expect((await stateOf(single, store))["origin"]).toBe(`http://${A}`);
    expect([await isSignedInAt(same, B), await isSignedInAt(same, A)]).toEqual([false, true]);
    // A process with one origin goes on with it.
    expect(await isSignedInAt(single, A)).toBe(true);
  });

  it("with one origin, records and logins don't name it", async () => {
    const { user, store } = await start({ baseUrl: [`http://${A}`] });
    await user.get("/idpauth/login/", { host: A });
    expect(JSON.stringify(await stateOf(user, store))).not.toContain('"origin"');
    await signInAt(user, A);
    expect(JSON.stringify(await stateOf(user, store))).not.toContain('"origin"');
  });

  it("csrf compares with the request's own origin", async () => {
    const { user } = await start();
    const csrf = (host: string, origin: string) =>
      application.auth.csrf(
        user.request("/cart", {
          method: "POST",
          host,
          headers: { "sec-fetch-site": undefined, origin },
        }),
      );
    expect(await csrf(A, `http://${A}`)).toBeUndefined();
    expect(await csrf("x.wild.example", "https://x.wild.example")).toBeUndefined();
    for (const origin of [`http://${B}`, `https://${A}`, "null"])
      expect((await csrf(A, origin))?.status).toBe(403);
  });

  it("a host that isn't the application's gets 421 from endpoints, guard and csrf, and is echoed nowhere", async () => {
    const { user } = await start();
    await signInAt(user, A);
    const { auth, log } = application;
    log.length = 0;
    const events: unknown[] = [];
    auth.on("blocked", (event) => events.push(event));
    for (const host of [STRANGER, "a.b.wild.example", "wild.example", undefined]) {
      const at = { ...(host !== undefined && { host }), headers: PAGE };
      const request = user.request("/idpauth/login/", at);
      const replies = [
        await auth.handle(host === undefined ? { ...request, host: undefined } : request),
        await user.get("/idpauth/nothing", { host: STRANGER, headers: PAGE }),
        await user.get("/idpauth/logout/", { host: STRANGER, headers: PAGE }),
        (await auth.guard(user.request("/", { host: STRANGER, headers: PAGE })))?.reply,
        await auth.csrf(user.request("/", { method: "POST", host: STRANGER, headers: PAGE })),
      ];
      for (const reply of replies) {
        expect(reply?.status).toBe(421);
        expect(reply?.setCookies ?? []).toEqual([]);
        expect(reply?.body).toMatch(/^<!doctype html>/);
        expect(JSON.stringify(reply)).not.toMatch(/wild|stranger|href=|src=/);
      }
    }
    expect(await user.get("/idpauth/session", { host: STRANGER })).toMatchObject({
      status: 421,
      body: expect.stringContaining('"origin_unknown"') as string,
    });
    expect(auth.csrf(user.request("/", { host: STRANGER }))).toBeUndefined();
    expect(JSON.stringify([log, events])).not.toMatch(/wild|stranger/);
    expect(events).toMatchObject(Array.from({ length: 4 }, () => ({ reason: "origin_unknown" })));
    expect(await isSignedInAt(user, A)).toBe(true);
  });

  it("readers find no user at such a host", async () => {
    const { user } = await start();
    await signInAt(user, A);
    const { auth } = application;
    const request = () => user.request("/", { host: STRANGER });
    expect(await auth.getCredentials(request())).toBeNull();
    expect(await auth.getSession(request())).toBeNull();
    expect(await auth.getAccessToken(request())).toBeNull();
    expect(await auth.readSessionRecord(request())).toBeNull();
    expect(await auth.updateData(request(), () => ({ a: 1 }))).toBeNull();
    expect(await auth.checkIdpAuthentication(request())).toBe(false);
    expect(await auth.explainIdpAuthentication(request())).toMatchObject({ authenticated: false });
    expect(await auth.clientState(request())).toMatchObject({ authenticated: false });
    expect(auth.loginUrl(request())).toBe("/idpauth/login/");
  });

  it("a login at another spelling of a host goes to the origin first", async () => {
    const { user } = await start();
    const { location } = await user.get("/idpauth/login/?a=b", { host: `${A}.` });
    expect(location).toBe(`http://${A}/idpauth/login/?a=b&idp_hop=1`);
    expect((await user.get("/idpauth/login/", { host: A.toUpperCase() })).location).toMatch(
      /redirect_uri=http%3A%2F%2Fa\.shop\.example%2F/,
    );
  });
});

describe("a function for origins", () => {
  const SHOPS: Readonly<Record<string, string>> = {
    [A]: `http://${A}`,
    [B]: `http://${B}`,
    "alias.example": `http://${A}`,
    "xn--bcher-kva.example:8080": "http://xn--bcher-kva.example:8080",
  };

  it("is asked once for concurrent requests, and remembered for five minutes; a stranger for ten seconds", async () => {
    const asked: string[] = [];
    const { user } = await start({
      async baseUrl(host) {
        asked.push(host);
        return Promise.resolve(SHOPS[host]);
      },
    });
    const get = (host: string) => user.get("/idpauth/session", { host });
    await Promise.all(Array.from({ length: 20 }, () => get(A)));
    await get(A.toUpperCase());
    await get(`${A}:80`);
    await get(`${A}.`);
    await get("XN--BCHER-KVA.example.:8080");
    expect(asked).toEqual([A, "xn--bcher-kva.example:8080"]);
    expect((await get(STRANGER)).status).toBe(421);
    expect((await get(STRANGER)).status).toBe(421);
    expect((await get("no host at all")).status).toBe(421);
    application.clock.advance(10_000);
    await get(STRANGER);
    application.clock.advance(290_000);
    await get(A);
    expect(asked.slice(2)).toEqual([STRANGER, STRANGER, A]);
  });

  it("decides for guard, readers and csrf, whichever comes first", async () => {
    const { user } = await start({ baseUrl: (host) => Promise.resolve(SHOPS[host]) });
    await signInAt(user, A);
    const firsts = [
      (auth: typeof application.auth) => auth.guard(user.request("/", { host: A })),
      async (auth: typeof application.auth) =>
        (await auth.getSession(user.request("/", { host: A }))) === null,
      async (auth: typeof application.auth) =>
        (await auth.getCredentials(user.request("/", { host: A }))) === null,
      async (auth: typeof application.auth) =>
        !(await auth.checkIdpAuthentication(user.request("/", { host: A }))),
      (auth: typeof application.auth) =>
        auth.csrf(
          user.request("/", {
            method: "POST",
            host: A,
            headers: { origin: `http://${A}`, "sec-fetch-site": undefined },
          }),
        ),
    ];
    for (const first of firsts) {
      const auth = application.another();
      auth.start();
      expect((await first(auth)) ?? false).toBe(false);
    }
    const auth = application.another();
    expect((await auth.guard(user.request("/", { host: STRANGER })))?.reply.status).toBe(421);
    expect(await auth.getSession(user.request("/", { host: "x.example" }))).toBeNull();
  });

  it("is asked by whenEnded, too, and its outage ends no session", async () => {
    const { user } = await start({ baseUrl: (host) => Promise.resolve(SHOPS[host]) });
    await signInAt(user, A);
    let fails = true;
    const auth = application.another({
      baseUrl: (host) => (fails ? Promise.reject(new Error("down")) : SHOPS[host]),
    });
    const signal = auth.whenEnded(user.request("/", { host: A }));
    const stranger = auth.whenEnded(user.request("/", { host: STRANGER }));
    await application.clock.advanceAsync(1_000);
    expect([signal.aborted, stranger.aborted]).toEqual([false, false]);
    fails = false;
    await application.clock.advanceAsync(2_000);
    expect([signal.aborted, stranger.aborted]).toEqual([false, true]);
    await user.get("/idpauth/logout/", { host: A });
    await application.clock.advanceAsync(10_000);
    expect(signal.aborted).toBe(true);
  });

  it("names another origin than the host's: a login goes there first", async () => {
    const { user } = await start({ baseUrl: (host) => SHOPS[host] });
    const { status, location } = await user.get("/idpauth/login/?x=1", { host: "alias.example" });
    expect([status, location]).toEqual([302, `http://${A}/idpauth/login/?x=1&idp_hop=1`]);
    const { pathname, search } = new URL(location);
    const login = await user.get(`${pathname}${search}`, { host: A });
    expect(new URL(login.location).origin).toBe(application.provider.issuer);
    const looped = await user.get(`${pathname}${search}`, { host: "alias.example" });
    expect(looped.status).toBe(500);
  });

  it.each<[string, IdpAuthOptions["baseUrl"]]>([
    [
      "throws",
      () => {
        throw new Error("a secret detail");
      },
    ],
    ["rejects", () => Promise.reject(new Error("a secret detail"))],
    ["returns a path", () => "http://a.shop.example/a-secret-detail"],
    ["returns a wildcard", () => "http://*.a-secret-detail.example"],
    ["returns something else", () => 1 as unknown as string],
  ])("that %s is 503 everywhere, and nobody is signed out", async (_how, baseUrl) => {
    const { user } = await start({ baseUrl: `http://${A}` });
    await signInAt(user, A);
    const auth = application.another({ baseUrl });
    auth.start();
    const at = { host: A, headers: PAGE };
    const replies = [
      await auth.handle(user.request("/idpauth/session", at)),
      (await auth.guard(user.request("/", at)))?.reply,
      await auth.csrf(user.request("/", { ...at, method: "POST" })),
    ];
    for (const reply of replies) expect(reply?.status).toBe(503);
    expect((await auth.guard(user.request("/", at)))?.kind).toBe("unavailable");
    await expect(auth.getSession(user.request("/", at))).rejects.toThrow(HookFailedError);
    expect(await auth.getSession(user.request("/", at), { ifUnavailable: "later" })).toBe("later");
    const lines = application.log.filter(({ code }) => code === "function_threw");
    expect(lines[0]?.details).toMatchObject({ function: "baseUrl" });
    expect(JSON.stringify([application.log, replies])).not.toContain("secret-detail");
    expect(JSON.stringify([application.log, replies])).not.toContain("secret detail");
    expect(await isSignedInAt(user, A)).toBe(true);
  });

  it("that hangs is 503 after five seconds", async () => {
    const { user } = await start({ baseUrl: () => new Promise(() => undefined) });
    const waiting = user.get("/idpauth/session", { host: A });
    await new Promise((resolve) => setImmediate(resolve));
    application.clock.advance(5_000);
    expect((await waiting).status).toBe(503);
  });

  it("what it said holds for the whole request, whatever it says later", async () => {
    let origin: string | undefined = `http://${A}`;
    const { user } = await start({ baseUrl: () => origin });
    const request = user.request("/idpauth/login/", { host: A });
    expect((await application.auth.handle(request))?.status).toBe(302);
    origin = undefined;
    application.clock.advance(300_000);
    expect((await application.auth.handle(request))?.status).toBe(302);
    expect((await user.get("/idpauth/login/", { host: A })).status).toBe(421);
  });
});
