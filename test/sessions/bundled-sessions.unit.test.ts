import { beforeEach, describe, expect, it, vi } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { IdpRequest } from "../../src/http/request.js";
import type { EndWatcher, SessionStore } from "../../src/ports/session-store.js";
import type { UserSession } from "../../src/ports/user-session.js";
import type { Credentials } from "../../src/record/credentials.js";
import { EMPTY_RECORD, type PendingLogin, type SessionRecord } from "../../src/record/record.js";
import type { KeyNames } from "../../src/record/stored-form.js";
import { epochSeconds } from "../../src/clock.js";
import {
  createBundledSessions,
  type BundledSessions,
  type BundledSessionsOptions,
} from "../../src/sessions/bundled-sessions.js";
import { createSealer } from "../../src/sessions/seal.js";
import { newCookieValue, storeKeyOf } from "../../src/sessions/cookie.js";
import { traceOf } from "../../src/sessions/end-trace.js";
import { readSummary } from "../../src/sessions/entry-summary.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { LEAVING } from "../support/left-sign-in-trace.js";
import { SealingStore } from "../support/sealing-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import { keysBySubject } from "../support/listed-keys.js";

const SECRET = "a secret key of at least 32 bytes";
const DAY = 86_400;
const TTL = 14 * DAY;
const NAMES: KeyNames = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};

const CREDENTIALS: Credentials = {
  token: "at_first",
  refresh_token: "rt_first",
  token_uri: "https://issuer.example/token",
  client_id: "client",
  client_secret: "client secret",
  scopes: ["openid"],
};

const LOGIN: PendingLogin = {
  state: "state",
  nonce: "nonce",
  verifier: "verifier",
  final_redirect: "/idpauth/",
  redirect_uri: "http://app.example/idpauth/login-callback",
  issuer: "https://issuer.example",
  started_at: 1_704_067_200,
};

const SIGNED_IN: SessionRecord = {
  credentials: CREDENTIALS,
  id_info: { iss: "https://issuer.example", sub: "ada", email: "ada@example.com" },
  idp_login_at: 1_704_067_200,
  idp_state: { v: 1 },
};

const withLogin = (record: SessionRecord): SessionRecord => ({
  ...record,
  idp_state: { ...record.idp_state, logins: [LOGIN] },
});
const signIn = (record: SessionRecord): SessionRecord => ({ ...record, ...SIGNED_IN });
const withToken =
  (token: string) =>
  (record: SessionRecord): SessionRecord => ({
    ...record,
    credentials: { ...CREDENTIALS, ...record.credentials, token },
  });
const withRedirect =
  (finalRedirect: string) =>
  (record: SessionRecord): SessionRecord => ({ ...record, final_redirect: finalRedirect });
const withActivity =
  (lastActive: number) =>
  (record: SessionRecord): SessionRecord => ({ ...record, idp_last_active: lastActive });

let clock: TestClock;
let store: SealingStore;
let sessions: BundledSessions;
/** The Cookie header of the browser under test. */
let cookie: string | undefined;

beforeEach(() => {
  clock = new TestClock();
  store = new SealingStore(clock);
  cookie = undefined;
  sessions = build();
});

function build({
  store: changed,
  ...options
}: Partial<Omit<BundledSessionsOptions, "store">> & {
  store?: SessionStore;
} = {}): BundledSessions {
  return createBundledSessions({
    store: createReportedStore(changed ?? store, clock),
    sealer: createSealer(SECRET, []),
    clock,
    names: NAMES,
    clients: [{ issuer: "https://provider.example", clientId: "client" }],
    namesProviders: false,
    keepIdToken: false,
    policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
    cookieName: null,
    publicPath: "/idpauth/",
    sessionTtl: TTL,
    debug: false,
    ...options,
  });
}

/** One request of the browser. */
function request(header = cookie, from = sessions): UserSession {
  return from.open(header, false);
}

function keepCookie(session: UserSession): string {
  expect(session.setCookies).toHaveLength(1);
  cookie = session.setCookies[0]!.split(";")[0]!;
  return cookie;
}

const keyOf = (header: string) => storeKeyOf(header.split("=")[1]!);
const now = () => epochSeconds(clock);

/** A whole sign-in: begun, then regenerated. Gives the key that the store has now. */
async function signedIn(
  change: (record: SessionRecord) => SessionRecord = signIn,
): Promise<string> {
  const first = request();
  await first.begin(withLogin);
  keepCookie(first);
  const callback = request();
  await callback.regenerate(change, LEAVING);
  return keyOf(keepCookie(callback));
}

/** Runs once, just before the store does its next work of this kind. */
function justBefore(method: string, interfere: () => Promise<unknown> | undefined): void {
  store.before = async (call) => {
    if (call.method !== method) return;
    store.before = undefined;
    await interfere();
  };
}

describe("a user without a session", () => {
  it("gets no cookie and costs no look-up by reading, updating, touching, regenerating or logging out", async () => {
    const session = request();
    expect(await session.read()).toBeUndefined();
    expect(await session.update(withToken("x"))).toEqual({ changed: false, record: undefined });
    expect(await session.regenerate(signIn, LEAVING)).toBeUndefined();
    expect(await session.destroy()).toBeUndefined();
    await session.touch(now(), true);
    expect(session.key).toBeUndefined();
    expect(session.setCookies).toEqual([]);
    expect(store.calls).toEqual([]);
  });

  it.each(["planted", "", `"${newCookieValue()}"`, "x".repeat(8192), `${"A".repeat(40)}%00`])(
    "a cookie of the wrong form (%#) causes no look-up and is no session",
    async (value) => {
      expect(await request(`idpauth=${value}`).read()).toBeUndefined();
      expect(store.calls).toEqual([]);
    },
  );

  it("a cookie that the store does not know is no session", async () => {
    const session = request(`idpauth=${newCookieValue()}`);
    expect(await session.read()).toBeUndefined();
    expect(session.isUnreadable).toBe(false);
  });

  it("at most four cookies of the name are looked up", async () => {
    const header = Array.from({ length: 9 }, () => `idpauth=${newCookieValue()}`).join("; ");
    expect(await request(header).read()).toBeUndefined();
    expect(store.count("get")).toBe(4);
  });
});

describe("[CK-5] a user with planted cookies", () => {
  it.each(["first", "last"])("the session is found when it is sent %s", async (place) => {
    await signedIn();
    const planted = `idpauth=${newCookieValue()}`;
    const session = request(
      place === "first" ? `${cookie!}; ${planted}` : `${planted}; ${cookie!}`,
    );
    expect((await session.read())?.credentials).toEqual(CREDENTIALS);
  });

  it("of two cookies that the store knows the first decides", async () => {
    await signedIn();
    const mine = cookie!;
    cookie = undefined;
    await signedIn((record) => withToken("at_other")(signIn(record)));
    expect((await request(`${mine}; ${cookie!}`).read())?.credentials?.token).toBe("at_first");
    expect((await request(`${cookie!}; ${mine}`).read())?.credentials?.token).toBe("at_other");
  });
});

describe("[S5] the stored record", () => {
  it("holds no token, no secret and no cookie value in the clear, and its key is the hash of the cookie", async () => {
    const key = await signedIn();
    const stored = await store.peek(key);
    const bytes = Buffer.from(stored!.data as Uint8Array).toString("latin1");
    for (const word of [
      "at_first",
      "rt_first",
      "client secret",
      "ada",
      "credentials",
      cookie!.split("=")[1]!,
    ]) {
      expect(bytes).not.toContain(word);
      expect(JSON.stringify({ ...stored, data: null, key })).not.toContain(word);
    }
    expect(stored?.subject).toBe(
      createSealer(SECRET, []).subjectHashes(
        { issuer: "https://issuer.example", clientId: "client" },
        "ada",
      )[0],
    );
  });

  it("is found by its subject only while a user is signed in", async () => {
    const subject = createSealer(SECRET, []).subjectHashes(
      { issuer: "https://issuer.example", clientId: "client" },
      "ada",
    )[0];
    const first = request();
    await first.begin(withLogin);
    expect((await store.peek(keyOf(keepCookie(first))))?.subject).toBeUndefined();
    cookie = undefined;
    const key = await signedIn();
    expect(await keysBySubject(store, subject)).toEqual([key]);
    await request().destroy();
    expect(await keysBySubject(store, subject)).toEqual([]);
  });

  it("is read once per request, however often it is read", async () => {
    await signedIn();
    store.calls.length = 0;
    const session = request();
    await Promise.all([session.read(), session.read(), session.read()]);
    await session.read();
    expect(store.count("get")).toBe(1);
  });

  it("is stored under the configured names", async () => {
    const names = { credentials: "tokens", oauth_state: "csrf", final_redirect: "next" };
    sessions = build({ names });
    await signedIn();
    expect((await request().read())?.credentials).toEqual(CREDENTIALS);
    const other = build();
    expect((await request(cookie, other).read())?.credentials).toBeUndefined();
  });

  it("drops its debug key outside debug mode, and keeps it within", async () => {
    const change = (record: SessionRecord): SessionRecord => ({
      ...signIn(record),
      debug: { scheme: "DEFAULT" },
    });
    await signedIn(change);
    expect((await request().read())?.debug).toBeUndefined();
    cookie = undefined;
    sessions = build({ debug: true });
    await signedIn(change);
    expect((await request().read())?.debug).toEqual({ scheme: "DEFAULT" });
  });

  it("in the memory store is the frozen record itself", async () => {
    sessions = build({ store: memoryStore({ clock }) });
    await signedIn();
    const record = await request().read();
    expect(record?.credentials).toEqual(CREDENTIALS);
    expect(Object.isFrozen(record?.credentials)).toBe(true);
    expect(Object.isFrozen(record?.idp_state)).toBe(true);
  });

  const unreadable: readonly (readonly [string, (data: Uint8Array) => Uint8Array])[] = [
    ["a flipped bit", (data) => data.map((byte, at) => (at === 40 ? byte ^ 1 : byte))],
    ["truncated", (data) => data.slice(0, data.length / 2)],
    ["empty", () => new Uint8Array()],
    ["plain JSON, unsealed", () => new TextEncoder().encode(JSON.stringify(SIGNED_IN))],
    ["another seal version", (data) => data.map((byte, at) => (at === 0 ? 2 : byte))],
    [
      "another session's record",
      () => createSealer(SECRET, []).seal(JSON.stringify(SIGNED_IN), newCookieValue(), "other"),
    ],
    [
      "another SECRET_KEY",
      () => sealedBy("another secret key of 32 bytes or more", JSON.stringify(SIGNED_IN)),
    ],
    ["no JSON", () => sealedBy(SECRET, "at_first {")],
    ["JSON that is no object", () => sealedBy(SECRET, "[1]")],
    [
      "another format version",
      () => sealedBy(SECRET, JSON.stringify({ ...SIGNED_IN, idp_state: { v: 2 } })),
    ],
    [
      "credentials of the wrong type",
      () => sealedBy(SECRET, JSON.stringify({ ...SIGNED_IN, credentials: { token: 7 } })),
    ],
  ];

  function sealedBy(secret: string, text: string): Uint8Array {
    return createSealer(secret, []).seal(text, cookie!.split("=")[1]!, keyOf(cookie!));
  }

  describe.each(unreadable)("%s", (_what, change) => {
    it("is no session, and says so", async () => {
      const key = await signedIn();
      await store.tamper(key, change);
      const session = request();
      expect(await session.read()).toBeUndefined();
      expect(session.key).toBeUndefined();
      expect(await session.update(withToken("x"))).toEqual({ changed: false, record: undefined });
      expect(session.isUnreadable).toBe(true);
    });

    it("gives way to a new login, under a key of its own", async () => {
      const key = await signedIn();
      await store.tamper(key, change);
      const session = request();
      await session.begin(withLogin);
      expect(keyOf(keepCookie(session))).not.toBe(key);
      expect((await request().read())?.idp_state.logins).toHaveLength(1);
    });

    it("is ended by a logout all the same", async () => {
      const key = await signedIn();
      await store.tamper(key, change);
      const session = request();
      expect(await session.destroy()).toBeUndefined();
      expect(session.setCookies[0]).toContain("Max-Age=0");
      expect(await store.peek(key)).toBeUndefined();
    });
  });

  it("encrypted with an earlier SECRET_KEY opens through SECRET_KEY_FALLBACKS and is encrypted again by the next write", async () => {
    await signedIn();
    const rotated = build({
      sealer: createSealer("the new secret key of 32 bytes or more", [SECRET]),
    });
    expect(
      (await request(cookie, rotated).update(withToken("at_second"))).record?.credentials?.token,
    ).toBe("at_second");
    const later = build({ sealer: createSealer("the new secret key of 32 bytes or more", []) });
    expect((await request(cookie, later).read())?.credentials?.token).toBe("at_second");
  });
});

describe("begin", () => {
  it("creates the session and sets the cookie with its attributes", async () => {
    const session = request();
    const record = await session.begin(withLogin);
    expect(record).toEqual(withLogin(EMPTY_RECORD));
    expect(session.setCookies).toEqual([
      expect.stringMatching(
        /^idpauth=[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/,
      ),
    ]);
    expect(session.key).toBe(keyOf(keepCookie(session)));
    expect(await request().read()).toEqual(record);
  });

  it("over https the cookie is __Host- and Secure, and the plain one is not read", async () => {
    const session = sessions.open(undefined, true);
    await session.begin(withLogin);
    const [header] = session.setCookies;
    expect(header).toMatch(
      /^__Host-Http-idpauth=[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure$/,
    );
    const value = header!.slice(header!.indexOf("=") + 1, header!.indexOf(";"));
    expect(await sessions.open(`__Host-Http-idpauth=${value}`, true).read()).toBeDefined();
    expect(await sessions.open(`idpauth=${value}`, true).read()).toBeUndefined();
    // A script can set a cookie of this name, which was the default before.
    expect(await sessions.open(`__Host-idpauth=${value}`, true).read()).toBeUndefined();
    expect(await sessions.open(`__Host-Http-idpauth=${value}`, false).read()).toBeUndefined();
  });

  it("a configured cookie name is used; one with a prefix is always Secure", async () => {
    const session = build({ cookieName: "__Secure-sid" }).open(undefined, false);
    await session.begin(withLogin);
    expect(session.setCookies[0]).toMatch(/^__Secure-sid=.*; Secure$/);
  });

  it("[SM-1] never uses a value that the user brought along (session fixation)", async () => {
    const planted = newCookieValue();
    const session = request(`idpauth=${planted}`);
    await session.begin(withLogin);
    expect(keepCookie(session)).not.toContain(planted);
    expect(await request(`idpauth=${planted}`).read()).toBeUndefined();
  });

  it("adds to a session that is there, without a new key", async () => {
    const key = await signedIn();
    const session = request();
    const record = await session.begin(withLogin);
    expect([record.credentials, record.idp_state.logins]).toEqual([CREDENTIALS, [LOGIN]]);
    expect(session.setCookies).toEqual([]);
    expect(session.key).toBe(key);
  });

  it("creates a new session when the old one is gone", async () => {
    const key = await signedIn();
    const session = request();
    await session.read();
    await request().destroy();
    await session.begin(withLogin);
    expect(keyOf(keepCookie(session))).not.toBe(key);
    expect((await request().read())?.credentials).toBeUndefined();
  });

  it("a record that holds only pending logins lives ten minutes from the last of them", async () => {
    const first = request();
    await first.begin(withLogin);
    keepCookie(first);
    clock.advance(599_000);
    expect(await request().read()).toBeDefined();
    const second = request();
    await second.begin((record) => ({ ...withLogin(record), final_redirect: "/again" }));
    expect(second.setCookies).toEqual([
      expect.stringContaining(`${cookie!}; Path=/; Max-Age=34560000`),
    ]);
    clock.advance(599_000);
    expect(await request().read()).toBeDefined();
    clock.advance(1_000);
    expect(await request().read()).toBeUndefined();
  });
});

describe("[ASVS-15.4.1] update", () => {
  it("stores what the change gives", async () => {
    await signedIn();
    expect((await request().update(withToken("at_second"))).record?.credentials?.token).toBe(
      "at_second",
    );
    expect((await request().read())?.credentials?.token).toBe("at_second");
  });

  it("writes nothing when the change gives back what it got", async () => {
    await signedIn();
    store.calls.length = 0;
    expect(await request().update((record) => record)).toMatchObject({
      changed: false,
      record: { credentials: CREDENTIALS },
    });
    expect(store.count("replace")).toBe(0);
  });

  it("runs on the freshest record, not on the one that this request has read", async () => {
    await signedIn();
    const late = request();
    await late.read();
    await request().update(withToken("at_second"));
    const { record: after } = await late.update(withRedirect("/late"));
    expect([after?.credentials?.token, after?.final_redirect]).toEqual(["at_second", "/late"]);
    expect((await late.read())?.credentials?.token).toBe("at_second");
  });

  it("runs again, on the record that another writer left, when that one came between", async () => {
    await signedIn();
    justBefore("replace", () => request().update(withToken("at_second")));
    const seen: (string | undefined)[] = [];
    const { record: after } = await request().update((record) => {
      seen.push(record.credentials?.token);
      return withRedirect("/mine")(record);
    });
    expect(seen).toEqual(["at_first", "at_second"]);
    expect([after?.credentials?.token, after?.final_redirect]).toEqual(["at_second", "/mine"]);
  });

  it("of many at once none is lost", async () => {
    await signedIn(withActivity(0));
    const numbers = Array.from({ length: 20 }, (_, index) => String(index));
    const add =
      (number: string) =>
      (record: SessionRecord): SessionRecord =>
        withRedirect(`${record.final_redirect ?? ""} ${number}`)(record);
    await Promise.all(numbers.map((number) => request().update(add(number))));
    const list = (await request().read())?.final_redirect?.trim().split(" ");
    expect(list?.toSorted()).toEqual(numbers.toSorted());
  });

  it("what is gone stays gone: a logout that came between wins", async () => {
    const key = await signedIn();
    justBefore("replace", () => request().destroy());
    const session = request();
    expect(await session.update(withToken("at_second"))).toEqual({
      changed: false,
      record: undefined,
    });
    expect(await session.read()).toBeUndefined();
    expect(await store.peek(key)).toBeUndefined();
    await session.touch(now(), true);
    expect(await session.update(withToken("at_third"))).toEqual({
      changed: false,
      record: undefined,
    });
    expect(await store.peek(key)).toBeUndefined();
    expect(session.setCookies).toEqual([]);
  });

  it("gives up on a store that refuses every write, instead of trying for ever", async () => {
    await signedIn();
    store.before = async (call) => {
      if (call.method !== "replace") return;
      const { before } = store;
      store.before = undefined;
      await request().update((record) => withRedirect(`${record.final_redirect ?? ""}.`)(record));
      store.before = before;
    };
    await expect(request().update(withToken("at_second"))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
  });

  it("does not prolong the life of a signed-in session", async () => {
    const key = await signedIn();
    const { expiresAt } = (await store.peek(key))!;
    clock.advance(5_000_000);
    await request().update(withToken("at_second"));
    expect((await store.peek(key))?.expiresAt).toBe(expiresAt);
  });
});

describe("[ASVS-15.4.1] [R12] regenerate", () => {
  it("gives the record a new key, and the old one is dead", async () => {
    const first = request();
    await first.begin(withLogin);
    const oldCookie = keepCookie(first);
    const callback = request();
    const record = await callback.regenerate(signIn, LEAVING);
    const newCookie = keepCookie(callback);
    expect(newCookie).not.toBe(oldCookie);
    expect(callback.key).toBe(keyOf(newCookie));
    expect(await request(newCookie).read()).toEqual(record);
    const late = request(oldCookie);
    expect(await late.read()).toBeUndefined();
    expect([late.key, late.isUnreadable, late.endedBy]).toEqual([undefined, false, undefined]);
    expect(await callback.read()).toEqual(record);
  });

  it("a write that was under way to the old key lands nowhere", async () => {
    const first = request();
    await first.begin(withLogin);
    const oldCookie = keepCookie(first);
    const attacker = request(oldCookie);
    await attacker.read();
    const callback = request();
    await callback.regenerate(signIn, LEAVING);
    keepCookie(callback);
    expect((await attacker.update(withRedirect("/attacker"))).record).toBeUndefined();
    await attacker.touch(now() + 100, true);
    expect(await request().read()).toEqual(signIn(withLogin(EMPTY_RECORD)));
  });

  it.each(["insert", "replace"])(
    "a logout that came just before the %s wins: nothing is kept, no cookie is set",
    async (method) => {
      const first = request();
      await first.begin(withLogin);
      keepCookie(first);
      justBefore(method, () => request().destroy());
      const callback = request();
      expect(await callback.regenerate(signIn, LEAVING)).toBeUndefined();
      expect(callback.setCookies).toEqual([]);
      expect(await callback.read()).toBeUndefined();
      for (const key of store.inserted) expect(await store.peek(key)).toBeUndefined();
    },
  );

  it.each(["insert", "replace"])(
    "what another writer changed just before the %s is kept",
    async (method) => {
      await signedIn();
      justBefore(method, () => request().update(withRedirect("/other-tab")));
      const callback = request();
      const record = await callback.regenerate(withToken("at_second"), LEAVING);
      expect([record?.credentials?.token, record?.final_redirect]).toEqual([
        "at_second",
        "/other-tab",
      ]);
      keepCookie(callback);
      expect(await request().read()).toEqual(record);
    },
  );

  it("of two at once on one session one wins, and one session is left", async () => {
    const first = request();
    await first.begin(withLogin);
    keepCookie(first);
    const both = [request(), request()];
    const outcomes = await Promise.all(both.map((session) => session.regenerate(signIn, LEAVING)));
    expect(outcomes.filter((outcome) => outcome !== undefined)).toHaveLength(1);
    expect(both.flatMap((session) => session.setCookies)).toHaveLength(1);
    const left = await Promise.all(store.inserted.map((key) => store.peek(key)));
    expect(left.filter((entry) => entry?.subject !== undefined)).toHaveLength(1);
  });

  it("a store that fails to replace the old key leaves the old session and no other", async () => {
    const first = request();
    await first.begin(withLogin);
    const key = keyOf(keepCookie(first));
    store.before = (call) => {
      if (call.method === "replace" && call.key === key) throw new Error("connection lost");
    };
    const callback = request();
    await expect(callback.regenerate(signIn, LEAVING)).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
    expect(callback.setCookies).toEqual([]);
    store.before = undefined;
    expect((await request().read())?.credentials).toBeUndefined();
    expect(await store.peek(store.inserted.at(-1)!)).toBeUndefined();
  });
});

/** What the store does without anybody waiting for it is done. */
const settled = () => clock.advanceAsync(0);

/** The keys of a version that knew no traces. */
const withoutTraces = () => ({ ...createSealer(SECRET, []), openTrace: () => undefined });

describe("the trace of a sign-in", () => {
  const { stateHash, target } = LEAVING.trace;

  /** A sign-in from a pending login, or of somebody who was signed in. Gives the old cookie. */
  async function replaced(isSignedIn = false): Promise<string> {
    cookie = undefined;
    if (isSignedIn) await signedIn();
    else {
      const first = request();
      await first.begin(withLogin);
      keepCookie(first);
    }
    const old = String(cookie);
    const callback = request();
    await callback.regenerate(signIn, LEAVING);
    keepCookie(callback);
    await settled();
    return old;
  }

  it.each([false, true])(
    "is taken once, by its state only (signed in before: %s)",
    async (before) => {
      const old = await replaced(before);
      expect(await request(old).takeTrace?.("another")).toBeUndefined();
      expect(await request().takeTrace?.(stateHash)).toBeUndefined();
      const take = async () => request(old).takeTrace?.(stateHash);
      const both = await Promise.all([take(), take()]);
      expect(both.filter((taken) => taken !== undefined)).toEqual([target]);
      expect(await request(old).takeTrace?.(stateHash)).toBeUndefined();
      expect(await store.peek(keyOf(old))).toBeUndefined();
      expect((await request().read())?.credentials).toEqual(CREDENTIALS);
    },
  );

  it.each([false, true])("counts for ten minutes (signed in before: %s)", async (before) => {
    const old = await replaced(before);
    const another = await replaced(before);
    clock.advance(599_000);
    expect(await request(another).takeTrace?.(stateHash)).toEqual(target);
    clock.advance(1_000);
    expect(await request(old).takeTrace?.(stateHash)).toBeUndefined();
  });

  it("of a signed-in session is removed by a later sign-in, two at a time, when it counts no more", async () => {
    const traces = [await replaced(true), await replaced(true), await replaced(true)];
    const left = async () =>
      (await Promise.all(traces.map((old) => store.peek(keyOf(old))))).filter(Boolean).length;
    clock.advance(599_999);
    await replaced(true);
    expect(await left()).toBe(3);
    clock.advance(1);
    await replaced(true);
    expect(await left()).toBe(1);
    store.before = ({ method }) => {
      if (method === "delete") throw new Error("connection lost");
    };
    await replaced(true);
    store.before = undefined;
    expect(await left()).toBe(1);
    await replaced(true);
    expect(await left()).toBe(1);
  });

  it("counts for ten minutes where the store keeps the session's expiry", async () => {
    await signedIn();
    const old = cookie!;
    store.before = ({ method }) => {
      if (method === "delete") throw new Error("connection lost");
    };
    await request().regenerate(signIn, LEAVING);
    clock.advance(600_000);
    store.before = undefined;
    expect((await store.peek(keyOf(old)))?.expiresAt).toBeGreaterThan(now() + DAY);
    expect(await request(old).read()).toBeUndefined();
    expect(await request(old).takeTrace?.(stateHash)).toBeUndefined();
  });

  it("is no session: an update finds nothing, and a login begins under a new key", async () => {
    const old = await replaced();
    expect(await request(old).update(withToken("x"))).toEqual({
      changed: false,
      record: undefined,
    });
    expect(await request(old).regenerate(signIn, LEAVING)).toBeUndefined();
    const next = request(old);
    await next.begin(withLogin);
    expect(next.setCookies[0]).not.toContain(old);
    expect(await request(old).takeTrace?.(stateHash)).toEqual(target);
  });

  it("hides no session that another cookie of the same name leads to", async () => {
    const old = await replaced();
    const both = request(`${old}; ${cookie!}`);
    expect((await both.read())?.credentials).toEqual(CREDENTIALS);
    expect(both.key).toBe(keyOf(cookie!));
  });

  it("goes with a logout, and first: if the store fails, the session and its tokens stay", async () => {
    const old = await replaced();
    const both = `${old}; ${cookie!}`;
    store.before = (call) => {
      if (call.method === "delete" && call.key === keyOf(old)) throw new Error("connection lost");
    };
    await expect(request(both).destroy()).rejects.toBeInstanceOf(StoreUnavailableError);
    store.before = undefined;
    expect((await request().read())?.credentials).toEqual(CREDENTIALS);
    const logout = request(both);
    expect((await logout.destroy())?.credentials).toEqual(CREDENTIALS);
    expect([await store.peek(keyOf(old)), await store.peek(keyOf(cookie!))]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("goes with a logout whose browser has only the old cookie", async () => {
    const old = await replaced();
    const logout = request(old);
    expect(await logout.destroy()).toBeUndefined();
    expect(logout.setCookies[0]).toContain("Max-Age=0");
    expect(await request(old).takeTrace?.(stateHash)).toBeUndefined();
  });

  it("goes with a logout that had read the session before it was replaced", async () => {
    const first = request();
    await first.begin(withLogin);
    const old = keepCookie(first);
    const logout = request(old);
    await logout.read();
    await request(old).regenerate(signIn, LEAVING);
    expect(await logout.destroy()).toBeUndefined();
    expect(await store.peek(keyOf(old))).toBeUndefined();
  });

  it("isn't the trace of a logout by the provider", async () => {
    const sealer = createSealer(SECRET, []);
    const another = await replaced();
    justBefore("delete", async () => {
      await store.delete(keyOf(another));
      const key = keyOf(another);
      await store.insert(key, traceOf(sealer, key, { reason: "ended_everywhere", now: now() }));
    });
    expect(await request(another).takeTrace?.(stateHash)).toBeUndefined();
  });

  it("of a store that fails is an outage", async () => {
    const old = await replaced();
    for (const method of ["get", "delete"]) {
      store.before = (call) => {
        if (call.method === method) throw new Error("connection lost");
      };
      await expect(request(old).takeTrace?.(stateHash)).rejects.toBeInstanceOf(
        StoreUnavailableError,
      );
      store.before = undefined;
    }
    expect(await request(old).takeTrace?.(stateHash)).toEqual(target);
  });

  it("is no session for a process that can't open it, as one of an earlier version, whose logout removes it", async () => {
    const old = await replaced();
    const earlier = () => request(old, build({ sealer: withoutTraces() }));
    const reading = earlier();
    expect(await reading.read()).toBeUndefined();
    expect([reading.key, reading.endedBy]).toEqual([undefined, undefined]);
    const login = earlier();
    await login.begin(withLogin);
    expect(login.setCookies[0]).not.toContain(old);
    expect(await earlier().regenerate(signIn, LEAVING)).toBeUndefined();
    expect(await request(old).takeTrace?.(stateHash)).toEqual(target);

    const other = await replaced();
    expect(await request(other, build({ sealer: withoutTraces() })).destroy()).toBeUndefined();
    expect(await store.peek(keyOf(other))).toBeUndefined();
  });

  it("tells those who watch the session in another process that it was replaced", async () => {
    await signedIn();
    const session = request(cookie, build());
    await session.read();
    const told: string[] = [];
    session.watchEnd((reason) => told.push(reason));
    await request().regenerate(signIn, LEAVING);
    await clock.advanceAsync(10_000);
    expect(told).toEqual(["replaced"]);
  });
});

describe("destroy", () => {
  it("gives what was destroyed, the newest tokens included, and deletes the cookie with its own attributes", async () => {
    const key = await signedIn();
    const session = request();
    await session.read();
    await request().update(withToken("at_second"));
    expect((await session.destroy())?.credentials?.token).toBe("at_second");
    expect(session.setCookies).toEqual(["idpauth=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"]);
    expect(session.key).toBeUndefined();
    expect(await session.read()).toBeUndefined();
    expect(await store.peek(key)).toBeUndefined();
    expect(await request().read()).toBeUndefined();
  });

  it("over https the deletion repeats name and Secure", async () => {
    const session = sessions.open(`__Host-Http-idpauth=${newCookieValue()}`, true);
    await session.destroy();
    expect(session.setCookies).toEqual([
      "__Host-Http-idpauth=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
    ]);
  });

  it("of two at once only one is given the record", async () => {
    await signedIn();
    const records = await Promise.all([request().destroy(), request().destroy()]);
    expect(records.filter((record) => record !== undefined)).toHaveLength(1);
  });

  it("ends pending logins too", async () => {
    const first = request();
    await first.begin(withLogin);
    keepCookie(first);
    expect((await request().destroy())?.idp_state.logins).toEqual([LOGIN]);
    expect(await request().read()).toBeUndefined();
  });
});

describe("a store that fails after it has done its work", () => {
  const once = (method: string) => {
    let failed = false;
    store.after = (call) => {
      if (call.method !== method || failed) return;
      failed = true;
      throw new Error("the connection was cut");
    };
  };

  it("insert: nothing that nobody holds a cookie for stays behind", async () => {
    once("insert");
    const session = request();
    await expect(session.begin(withLogin)).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(session.setCookies).toEqual([]);
    expect(await store.peek(store.inserted.at(-1)!)).toBeUndefined();
  });

  it("the replacement of a regenerate: its own trace tells that no logout came between", async () => {
    await signedIn();
    once("replace");
    const session = request();
    expect(await session.regenerate(signIn, LEAVING)).toBeDefined();
    keepCookie(session);
    expect((await request().read())?.credentials).toEqual(CREDENTIALS);
  });

  it.each<[string, (session: UserSession) => Promise<unknown>]>([
    ["a logout", (session) => session.destroy()],
    [
      "another sign-in",
      (session) =>
        session.regenerate(signIn, { trace: { ...LEAVING.trace, stateHash: "another" } }),
    ],
  ])("the replacement of a regenerate, and %s that came between wins", async (_name, come) => {
    await signedIn();
    const other = request();
    await other.read();
    store.after = async ({ method }) => {
      if (method !== "insert") return;
      store.after = undefined;
      await come(other);
      store.before = ({ method: next }) => {
        store.before = undefined;
        if (next === "replace") throw new Error("the connection was cut");
      };
    };
    const session = request();
    const first = store.inserted.length;
    expect(await session.regenerate(signIn, LEAVING)).toBeUndefined();
    expect(session.setCookies).toEqual([]);
    expect(await store.peek(store.inserted[first]!)).toBeUndefined();
  });
});

describe("touch", () => {
  it("stamps the last activity with the data, without a new version", async () => {
    const key = await signedIn();
    const before = await store.peek(key);
    clock.advance(60_000);
    const session = request();
    await session.read();
    await session.touch(now(), true);
    expect(await store.peek(key)).toEqual({ ...before, lastActive: now() });
    expect((await request().read())?.idp_last_active).toBe(now());
    // What the same request reads later, such as `clientState` after a guard, has the stamp too.
    expect((await session.read())?.idp_last_active).toBe(now());
    expect(session.setCookies).toEqual([]);
  });

  it("conflicts with no writer", async () => {
    await signedIn();
    const stamper = request();
    await stamper.read();
    justBefore("replace", () => stamper.touch(now() + 5, true));
    let runs = 0;
    const { record } = await request().update((fresh) => {
      runs += 1;
      return withToken("at_second")(fresh);
    });
    expect([runs, record?.credentials?.token]).toEqual([1, "at_second"]);
    expect((await request().read())?.idp_last_active).toBe(now() + 5);
  });

  it("never moves the stamp back, also when this request does not know the newer one", async () => {
    await signedIn();
    const [early, late] = [request(), request()];
    await Promise.all([early.read(), late.read()]);
    await late.touch(now() + 60, true);
    await early.touch(now() + 30, true);
    expect((await request().read())?.idp_last_active).toBe(now() + 60);
    await request().update(withActivity(now() + 10));
    expect((await request().read())?.idp_last_active).toBe(now() + 60);
  });

  it("costs the store nothing when the stamp is there already", async () => {
    await signedIn();
    const session = request();
    await session.read();
    await session.touch(now(), true);
    store.calls.length = 0;
    await session.touch(now(), true);
    await session.touch(now() - 1, true);
    await session.touch(null, true);
    expect(store.calls).toEqual([]);
  });

  it("[R4] carries nothing else: an old copy's tokens stay where they are", async () => {
    await signedIn();
    const late = request();
    await late.read();
    await request().update(withToken("at_second"));
    await late.touch(now() + 1, true);
    expect((await request().read())?.credentials?.token).toBe("at_second");
  });

  it("never creates: after a logout nothing comes back", async () => {
    const key = await signedIn();
    const late = request();
    await late.read();
    await request().destroy();
    await late.touch(now() + 1, true);
    expect(await store.peek(key)).toBeUndefined();
    expect(late.setCookies).toEqual([]);
  });

  it("with null renews the life and leaves the stamp", async () => {
    const key = await signedIn((record) => withActivity(now())(signIn(record)));
    const stamp = now();
    clock.advance(2 * DAY * 1000);
    const session = request();
    await session.read();
    await session.touch(null, true);
    expect(await store.peek(key)).toMatchObject({ lastActive: stamp, expiresAt: now() + TTL });
  });

  it("renews the life at most once a day, and then sends the cookie again", async () => {
    const key = await signedIn();
    const { expiresAt } = (await store.peek(key))!;
    clock.advance((DAY - 1) * 1000);
    const early = request();
    await early.read();
    await early.touch(now(), true);
    expect((await store.peek(key))?.expiresAt).toBe(expiresAt);
    expect(early.setCookies).toEqual([]);

    clock.advance(1000);
    const due = request();
    await due.read();
    await due.touch(now(), true);
    expect((await store.peek(key))?.expiresAt).toBe(now() + TTL);
    expect(due.setCookies).toEqual([
      `${cookie!}; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax`,
    ]);

    clock.advance(60_000);
    const after = request();
    await after.read();
    await after.touch(now(), true);
    expect(after.setCookies).toEqual([]);
  });

  it("a session that is used lives on for ever, one that is not dies with its last renewal", async () => {
    await signedIn();
    for (let day = 0; day < 40; day += 1) {
      clock.advance(DAY * 1000);
      const session = request();
      expect(await session.read(), `day ${day}`).toBeDefined();
      await session.touch(now(), true);
    }
    clock.advance((TTL - 1) * 1000);
    expect(await request().read()).toBeDefined();
    clock.advance(1000);
    expect(await request().read()).toBeUndefined();
  });
});

describe("a store that cannot respond", () => {
  type Use = (session: UserSession) => Promise<unknown>;
  const uses: readonly (readonly [string, string, Use])[] = [
    ["read", "get", (session) => session.read()],
    ["update", "replace", (session) => session.update(withToken("x"))],
    ["begin", "replace", (session) => session.begin(withLogin)],
    ["regenerate", "insert", (session) => session.regenerate(signIn, LEAVING)],
    ["regenerate", "replace", (session) => session.regenerate(signIn, LEAVING)],
    ["destroy", "delete", (session) => session.destroy()],
    [
      "touch",
      "touch",
      async (session) => [await session.read(), await session.touch(now() + 5, true)],
    ],
  ];

  it.each(uses)(
    "%s: what %s rejects with becomes StoreUnavailableError, and no cookie is touched",
    async (_name, method, use) => {
      await signedIn();
      const reason = new Error("connection lost at_first");
      store.before = (call) => {
        if (call.method === method) throw reason;
      };
      const session = request();
      const failure: unknown = await use(session).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreUnavailableError);
      expect(failure).toMatchObject({ code: "store_unavailable", status: 503, cause: reason });
      expect((failure as Error).message).not.toContain("at_first");
      expect(session.setCookies).toEqual([]);
      store.before = undefined;
      expect((await request().read())?.credentials).toEqual(CREDENTIALS);
    },
  );

  it("a first login that cannot be stored sets no cookie", async () => {
    store.before = () => {
      throw new Error("full");
    };
    const session = request();
    await expect(session.begin(withLogin)).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(session.setCookies).toEqual([]);
  });

  it("its own StoreUnavailableError, with its Retry-After, goes through", async () => {
    const own = new StoreUnavailableError("full", { retryAfter: 60 });
    const full: SessionStore = {
      ...memoryStore({ clock }),
      name: "full",
      insert: () => Promise.reject(own),
    };
    const session = build({ store: { ...full, get: async () => undefined } }).open(
      undefined,
      false,
    );
    await expect(session.begin(withLogin)).rejects.toBe(own);
  });

  it("a store that refuses a key nobody can have is broken, not signed in", async () => {
    const broken: SessionStore = {
      ...memoryStore({ clock }),
      name: "broken",
      insert: async () => false,
    };
    const session = build({ store: broken }).open(undefined, false);
    await expect(session.begin(withLogin)).rejects.toThrow(
      new StoreUnavailableError("The session store refused a new key."),
    );
    expect(session.setCookies).toEqual([]);
  });

  it("a store that is not of this process and hands out an unencrypted record is not believed", async () => {
    const value = newCookieValue();
    const planted: SessionStore = {
      ...memoryStore({ clock }),
      name: "planted",
      inProcess: false,
      get: async () => ({ data: SIGNED_IN, expiresAt: now() + 60, version: "1" }),
    };
    expect(await build({ store: planted }).open(`idpauth=${value}`, false).read()).toBeUndefined();
  });
});

describe("a session whose provider the settings no longer contain", () => {
  it("counts as none, has a key to report it by, and a logout deletes it", async () => {
    const key = await signedIn();
    const without = build({
      clients: [{ issuer: "https://provider.example", clientId: "another" }],
      namesProviders: true,
    });
    const session = request(cookie, without);
    expect(await session.read()).toBeUndefined();
    expect([session.endedBy, session.removedKey, session.isUnreadable]).toEqual([
      "provider_removed",
      key,
      true,
    ]);
    expect(session.key).toBeUndefined();
    await session.destroy();
    expect(await store.peek(key)).toBeUndefined();
  });

  it("isn't what a session is that cannot be read", async () => {
    const key = await signedIn();
    await store.tamper(key, () => new Uint8Array());
    const session = request();
    await session.read();
    expect([session.endedBy, session.removedKey]).toEqual([undefined, undefined]);
  });
});

describe("the trace of a session that ended without its cookie", () => {
  async function traced(): Promise<string> {
    const key = await signedIn();
    await store.delete(key);
    const sealer = createSealer(SECRET, []);
    await store.insert(key, traceOf(sealer, key, { reason: "ended_everywhere", now: now() }));
    return key;
  }

  it("says why, and a logout leaves it there", async () => {
    const key = await traced();
    const session = request();
    expect(await session.read()).toBeUndefined();
    expect([session.endedBy, session.removedKey, session.isUnreadable]).toEqual([
      "ended_everywhere",
      undefined,
      false,
    ]);
    await session.destroy();
    expect(await store.peek(key)).toBeDefined();
    expect(session.setCookies[0]).toContain("Max-Age=0");
  });

  it.each(["the trace", "an unreadable record"])(
    "%s decides, if its cookie is sent first",
    async (what) => {
      const key = await traced();
      if (what !== "the trace") {
        await store.delete(key);
        await store.insert(key, { data: new Uint8Array(1), expiresAt: now() + 60 });
      }
      const first = cookie!;
      cookie = undefined;
      await signedIn();
      const session = request(`${first}; ${cookie!}`);
      expect(await session.read()).toBeUndefined();
      expect([session.endedBy, session.isUnreadable]).toEqual(
        what === "the trace" ? ["ended_everywhere", false] : [undefined, true],
      );
    },
  );
});

describe("reload", () => {
  it("returns the newest record, and later reads of the request return it, too", async () => {
    await signedIn();
    const session = request();
    await session.read();
    await request().update(withToken("at_second"));
    expect((await session.reload())?.credentials?.token).toBe("at_second");
    expect((await session.read())?.credentials?.token).toBe("at_second");
    await request().destroy();
    expect([await session.reload(), await session.read()]).toEqual([undefined, undefined]);
  });

  it("without a session reads nothing", async () => {
    expect(await request().reload()).toBeUndefined();
    expect(store.calls).toEqual([]);
  });
});

describe("the label of a session", () => {
  const asked = {} as IdpRequest;
  const labelled = async (labelOf?: BundledSessionsOptions["labelOf"], from?: IdpRequest) => {
    sessions = build(labelOf && { labelOf });
    cookie = undefined;
    const first = request();
    await first.begin(withLogin);
    keepCookie(first);
    const callback = sessions.open(cookie, false, from);
    await callback.regenerate(signIn, LEAVING);
    const stored = await store.peek(keyOf(keepCookie(callback)));
    return readSummary(createSealer(SECRET, []), keyOf(cookie!), stored!)?.label;
  };

  it("is that of the request that signs the user in", async () => {
    const labelOf = vi.fn(() => "Firefox");
    expect(await labelled(labelOf, asked)).toBe("Firefox");
    expect(labelOf).toHaveBeenCalledExactlyOnceWith(asked);
  });

  it("is null without a request, or without the option", async () => {
    const labelOf = vi.fn(() => "Firefox");
    expect(await labelled(labelOf)).toBeNull();
    expect(labelOf).not.toHaveBeenCalled();
    expect(await labelled(undefined, asked)).toBeNull();
  });
});

describe("the end of a session", () => {
  /** A store that announces ends, and what was announced. */
  function announcing() {
    const announced: string[] = [];
    let watcher: EndWatcher | undefined;
    const announcer = Object.assign(store, {
      announceEnd: (key: string, reason: string) => {
        announced.push(`${key} ${reason}`);
        return Promise.resolve();
      },
      watchEnds: (given: EndWatcher) => {
        watcher = given;
        return () => undefined;
      },
    });
    const onEndsLost = vi.fn();
    sessions = build({ store: announcer, onEndsLost });
    return { announced, onEndsLost, watcher: () => watcher };
  }

  async function watched(): Promise<{ session: UserSession; told: string[] }> {
    const session = request();
    await session.read();
    const told: string[] = [];
    session.watchEnd((reason) => told.push(reason));
    return { session, told };
  }

  it("by a logout or a sign-in over it reaches those that watch it, in every process", async () => {
    const { announced } = announcing();
    const key = await signedIn();
    const { told } = await watched();
    const again = request();
    await again.regenerate(signIn, LEAVING);
    expect([told, announced]).toEqual([["replaced"], [`${key} replaced`]]);
    const newKey = keyOf(keepCookie(again));
    const next = await watched();
    await request().destroy();
    expect([next.told, announced.at(-1)]).toEqual([["logout"], `${newKey} logout`]);
  });

  it("isn't announced for a pending login, in which nobody was signed in", async () => {
    const { announced } = announcing();
    await signedIn();
    expect(announced).toEqual([]);
    cookie = undefined;
    const first = request();
    await first.begin(withLogin);
    keepCookie(first);
    await request().destroy();
    await request().destroy();
    expect(announced).toEqual([]);
  });

  it("by the policy reaches them with its reason", async () => {
    const { announced } = announcing();
    const key = await signedIn();
    const { session, told } = await watched();
    session.reportEnd("idle");
    expect([told, announced]).toEqual([["idle"], [`${key} idle`]]);
    const none = request(undefined);
    none.reportEnd("idle");
    expect(announced).toHaveLength(1);
  });

  it("in another process is found by reading the sessions", async () => {
    await signedIn();
    const { told } = await watched();
    await request(cookie, build()).destroy();
    const watching = clock.pendingTimers;
    await clock.advanceAsync(10_000);
    expect(told).toEqual(["logout"]);
    expect(clock.pendingTimers).toBe(watching - 1);
  });

  it("isn't watched without a session, nor after the watch was stopped", async () => {
    const none = request(undefined);
    none.watchEnd(() => undefined)();
    expect(clock.pendingTimers).toBe(0);
    await signedIn();
    const session = request();
    await session.read();
    const before = clock.pendingTimers;
    const stop = session.watchEnd(() => undefined);
    expect(clock.pendingTimers).toBe(before + 1);
    stop();
    expect(clock.pendingTimers).toBe(before);
  });

  it("that the store no longer announces is reported", async () => {
    const { onEndsLost, watcher } = announcing();
    await signedIn();
    await watched();
    watcher()?.connected(true);
    watcher()?.connected(false);
    expect(onEndsLost).toHaveBeenCalledOnce();
  });

  it("that the store no longer announces harms nothing if nobody wants to know", async () => {
    const { watcher } = announcing();
    sessions = build();
    await signedIn();
    await watched();
    watcher()?.connected(true);
    expect(() => watcher()?.connected(false)).not.toThrow();
  });
});

describe("a write that comes between", () => {
  it("is tried 64 times, then the store is broken", async () => {
    await signedIn();
    store.calls.length = 0;
    const refusing: SessionStore = Object.assign(Object.create(null) as object, {
      name: "refusing",
      get: (key: string) => store.get(key),
      replace: vi.fn(() => Promise.resolve(false)),
    }) as unknown as SessionStore;
    const session = request(cookie, build({ store: refusing }));
    await expect(session.update(withToken("x"))).rejects.toThrow(
      "The session store refused every write.",
    );
    expect(refusing.replace).toHaveBeenCalledTimes(64);
  });

  it("doesn't come: a sign-in changes its record once, and writes it once", async () => {
    await signedIn();
    store.calls.length = 0;
    const change = vi.fn(signIn);
    await request().regenerate(change, LEAVING);
    expect(change).toHaveBeenCalledOnce();
    await settled();
    expect(store.calls.map(({ method }) => method)).toEqual(["get", "get", "insert", "replace"]);
  });

  it("and cannot be kept, because the store is away, still counts as a sign-in", async () => {
    await signedIn();
    justBefore("replace", async () => {
      await request().update(withRedirect("/other-tab"));
      let replacements = 0;
      store.after = ({ method }) => {
        if (method === "replace") replacements += 1;
        // The first lost the race.
        if (replacements === 2)
          store.before = (call) => {
            if (call.method === "get") throw new Error("connection lost");
          };
      };
    });
    const callback = request();
    const record = await callback.regenerate(withToken("at_second"), LEAVING);
    expect(record?.credentials?.token).toBe("at_second");
    expect((await callback.read())?.credentials?.token).toBe("at_second");
    keepCookie(callback);
  });

  it("a sign-in reports that it has replaced the old session, and not if a logout came first", async () => {
    await signedIn();
    const replaced = vi.fn();
    justBefore("replace", () => request().destroy());
    await request().regenerate(signIn, { ...LEAVING, replaced });
    expect(replaced).not.toHaveBeenCalled();
    cookie = undefined;
    await signedIn();
    const callback = request();
    store.before = ({ method }) => {
      if (method === "replace") expect(replaced).not.toHaveBeenCalled();
    };
    await callback.regenerate(signIn, { ...LEAVING, replaced });
    expect(replaced).toHaveBeenCalledOnce();
  });
});

describe("the renewal of a session's life", () => {
  const renewed = async (sendsCookie: boolean, lastActive: number | null = now()) => {
    const session = request();
    await session.read();
    await session.touch(lastActive, sendsCookie);
    return session;
  };
  const withIdle = (changes: Partial<BundledSessionsOptions> = {}) => {
    sessions = build({
      policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: DAY },
      ...changes,
      store,
    });
  };
  const expiryOf = async (key: string) => (await store.peek(key))?.expiresAt;

  it.each(["with an idle timeout", "without one"])(
    "%s, by a request that cannot send the cookie lets the next one send it",
    async (kind) => {
      if (kind === "with an idle timeout") withIdle();
      const key = await signedIn();
      clock.advance(DAY * 1000);
      expect((await renewed(false)).setCookies).toHaveLength(1);
      expect(await expiryOf(key)).toBe(now() + TTL - 1);
      clock.advance(1_000);
      expect((await renewed(false)).setCookies).toEqual([]);
      expect(keepCookie(await renewed(true))).toBe(cookie);
      expect(await expiryOf(key)).toBe(now() + TTL + 1);
      expect((await renewed(true)).setCookies).toEqual([]);
    },
  );

  it.each([0, 1_000])(
    "by a request that cannot send the cookie lets one in the same second send it (%i ms)",
    async (milliseconds) => {
      await signedIn();
      clock.advance(DAY * 1000 + milliseconds);
      await renewed(false);
      expect((await renewed(true)).setCookies).toHaveLength(1);
    },
  );

  it.each([0, 1_000])(
    "after the idle timeout was switched off is due a day after the last one (%i ms)",
    async (milliseconds) => {
      withIdle();
      await signedIn();
      clock.advance(DAY * 1000 + milliseconds);
      await renewed(true);
      sessions = build();
      expect((await renewed(true)).setCookies).toEqual([]);
      clock.advance((DAY + 1) * 1000);
      expect((await renewed(true)).setCookies).toHaveLength(1);
    },
  );

  it("after the life was made shorter sends no cookie for an earlier renewal without one", async () => {
    withIdle();
    await signedIn();
    clock.advance(DAY * 1000);
    await renewed(false);
    withIdle({ sessionTtl: 7 * DAY });
    expect((await renewed(true)).setCookies).toEqual([]);
  });

  it("is due at half a life that is shorter than two days", async () => {
    sessions = build({ sessionTtl: 7_200 });
    const key = await signedIn();
    clock.advance(3_599_000);
    expect((await renewed(true)).setCookies).toEqual([]);
    clock.advance(1_000);
    expect((await renewed(true)).setCookies).toHaveLength(1);
    expect(await expiryOf(key)).toBe(now() + 7_200);
  });

  it("with an idle timeout is a touch, which conflicts with no writer", async () => {
    withIdle();
    const key = await signedIn();
    const { version } = (await store.peek(key))!;
    clock.advance(DAY * 1000);
    const session = await renewed(true, null);
    expect(await store.peek(key)).toMatchObject({ version, expiresAt: now() + TTL });
    expect((await store.peek(key))?.lastActive).toBeUndefined();
    // The same request knows that it is done.
    store.calls.length = 0;
    await session.touch(null, true);
    expect(store.calls).toEqual([]);
    const record = await session.read();
    expect(record?.credentials).toEqual(CREDENTIALS);
    expect(record?.idp_last_active).toBeUndefined();
  });

  it("with an idle timeout moves an older stamp on, and keeps it in a renewal without one", async () => {
    withIdle();
    const stamp = now();
    const key = await signedIn((record) => withActivity(stamp)(signIn(record)));
    clock.advance(DAY * 1000);
    const session = await renewed(true, null);
    expect((await session.read())?.idp_last_active).toBe(stamp);
    store.calls.length = 0;
    await session.touch(stamp, true);
    expect(store.calls).toEqual([]);
    await session.touch(stamp + 1, true);
    expect((await store.peek(key))?.lastActive).toBe(stamp + 1);
  });

  it("with an idle timeout stamps the activity, too, and sends the cookie", async () => {
    withIdle();
    const key = await signedIn();
    clock.advance(DAY * 1000);
    const session = await renewed(true);
    expect(await store.peek(key)).toMatchObject({ lastActive: now(), expiresAt: now() + TTL });
    expect(session.setCookies).toHaveLength(1);
    store.calls.length = 0;
    await session.touch(now(), true);
    expect(store.calls).toEqual([]);
  });

  it("without an idle timeout notes the activity for the device list", async () => {
    const key = await signedIn();
    clock.advance(DAY * 1000);
    store.calls.length = 0;
    const session = await renewed(true);
    const summary = readSummary(createSealer(SECRET, []), key, (await store.peek(key))!);
    expect(summary?.activeAt).toBe(now());
    expect(store.calls.map(({ method }) => method)).toEqual(["get", "replace"]);
    expect((await session.read())?.credentials).toEqual(CREDENTIALS);
  });

  it("without an idle timeout gives way to another writer, and the next request makes it", async () => {
    const key = await signedIn();
    clock.advance(DAY * 1000);
    const expiresAt = await expiryOf(key);
    justBefore("replace", () => request().update(withToken("at_second")));
    expect((await renewed(true)).setCookies).toEqual([]);
    expect(await expiryOf(key)).toBe(expiresAt);
    expect((await renewed(true)).setCookies).toHaveLength(1);
    expect((await request().read())?.credentials?.token).toBe("at_second");
  });

  it("after a write of the same request reads the newest record first", async () => {
    const key = await signedIn();
    clock.advance(DAY * 1000);
    const session = request();
    await session.update(withToken("at_second"));
    await session.touch(null, true);
    expect(session.setCookies).toHaveLength(1);
    expect(await expiryOf(key)).toBe(now() + TTL);
    expect((await request().read())?.credentials?.token).toBe("at_second");
    const gone = request();
    clock.advance(DAY * 1000);
    await gone.update(withToken("at_third"));
    await request().destroy();
    await gone.touch(null, true);
    expect(gone.setCookies).toEqual([]);
  });

  it("after the life was made shorter never shortens it, and notes the activity once a day", async () => {
    const key = await signedIn();
    const expiresAt = await expiryOf(key);
    sessions = build({ sessionTtl: 7 * DAY });
    clock.advance((DAY - 1) * 1000);
    expect((await renewed(true)).setCookies).toEqual([]);
    clock.advance(1_000);
    expect((await renewed(true)).setCookies).toHaveLength(1);
    expect(await expiryOf(key)).toBe(expiresAt);
    expect((await renewed(true)).setCookies).toEqual([]);
    // With an idle timeout, the stamp is that note.
    clock.advance(DAY * 1000);
    withIdle({ sessionTtl: 7 * DAY });
    expect((await renewed(true)).setCookies).toEqual([]);
  });
});

it("a session is atomic, and a change that was stored says so", async () => {
  await signedIn();
  const session = request();
  expect(session.atomic).toBe(true);
  expect(await session.update(withToken("at_second"))).toMatchObject({
    changed: true,
    record: { credentials: { token: "at_second" } },
  });
});
