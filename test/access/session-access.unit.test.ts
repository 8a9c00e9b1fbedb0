import { describe, expect, it, vi } from "vitest";
import type { Need } from "../../src/access/lease.js";
import { createSessionAccess, type SessionAccessOptions } from "../../src/access/session-access.js";
import { Owners } from "../../src/access/session-owner.js";
import { SessionRequest } from "../../src/access/session-request.js";
import type { Refresher } from "../../src/access/shared-refresh.js";
import { ProviderUnavailableError, StoreUnavailableError } from "../../src/errors.js";
import { EventHub } from "../../src/events/event-hub.js";
import type { Events } from "../../src/events/events.js";
import type { IdpRequest } from "../../src/http/request.js";
import type { Registration } from "../../src/ports/registration.js";
import type { Change, UserSession } from "../../src/ports/user-session.js";
import type { PrivateState, SessionRecord } from "../../src/record/record.js";
import { isTokenRejected } from "../../src/access/rejected-token.js";
import type { PolicySettings } from "../../src/record/session-policy.js";
import { systemClock } from "../../src/clock.js";
import { TestClock } from "../../src/testing/test-clock.js";

it("getAccessToken returns no token of a refresh that the application's code has not accepted", async () => {
  const clock = new TestClock();
  const now = Math.floor(clock.now() / 1000);
  const record: SessionRecord = {
    credentials: {
      token: "old",
      refresh_token: "r",
      token_uri: "u",
      client_id: "c",
      client_secret: "s",
      scopes: [],
    },
    id_info: { iss: "i", sub: "s", exp: now + 3600 },
    idp_state: { v: 1, access_token_expires_at: now + 5, tokens_received_at: now - 3595 },
  };
  const refreshed: SessionRecord = {
    ...record,
    credentials: { ...record.credentials!, token: "new" },
    idp_state: {
      v: 1,
      access_token_expires_at: now + 3600,
      tokens_received_at: now,
      review_due: true,
    },
  };
  const session = {
    read: () => Promise.resolve(record),
    touch: () => undefined,
  } as unknown as UserSession;
  const access = (result: SessionRecord) =>
    createSessionAccess({
      owners: new Owners([]),
      policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
      refresher: { refresh: () => Promise.resolve(result), idle: () => Promise.resolve() },
      clock,
    } as unknown as SessionAccessOptions);
  await expect(access(refreshed).accessToken(session, 30)).rejects.toBeInstanceOf(
    ProviderUnavailableError,
  );
  const { review_due: _due, ...accepted } = refreshed.idp_state;
  expect(await access({ ...refreshed, idp_state: accepted }).accessToken(session, 30)).toBe("new");
});

it("getAccessToken refreshes once per call if the provider's ID tokens arrive expired", async () => {
  const clock = new TestClock();
  const now = Math.floor(clock.now() / 1000);
  const record: SessionRecord = {
    credentials: {
      token: "fresh",
      refresh_token: "r",
      token_uri: "u",
      client_id: "c",
      client_secret: "s",
      scopes: [],
    },
    id_info: { iss: "i", sub: "s", exp: now - 60 },
    idp_state: { v: 1, access_token_expires_at: now + 3600, tokens_received_at: now },
  };
  const session = {
    read: () => Promise.resolve(record),
    touch: () => undefined,
  } as unknown as UserSession;
  const refresh = vi.fn(() => Promise.resolve(record));
  const access = createSessionAccess({
    owners: new Owners([]),
    policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
    refresher: { refresh, idle: () => Promise.resolve() },
    clock,
  } as unknown as SessionAccessOptions);
  expect(await access.accessToken(session, 30)).toBe("fresh");
  expect(refresh).toHaveBeenCalledTimes(1);
});

it("reports no end to open connections if only this request's copy of the record is idle", async () => {
  const clock = new TestClock();
  const now = Math.floor(clock.now() / 1000);
  const stale: SessionRecord = {
    credentials: { token: "t", token_uri: "u", client_id: "c", client_secret: "s", scopes: [] },
    id_info: { iss: "i", sub: "s", exp: now + 3600 },
    idp_last_active: now - 100,
    idp_state: { v: 1 },
  };
  const stored: SessionRecord = { ...stale, idp_last_active: now };
  const reportEnd = vi.fn();
  const session = {
    read: () => Promise.resolve(stale),
    update: (change: Change) =>
      Promise.resolve({ changed: change(stored) !== stored, record: stored }),
    reportEnd,
  } as unknown as UserSession;
  const access = createSessionAccess({
    owners: new Owners([]),
    policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: 60 },
    events: new EventHub(() => undefined, clock),
    clock,
  } as unknown as SessionAccessOptions);
  expect(await access.access(session)).toMatchObject({ authenticated: false, reason: "idle" });
  expect(reportEnd).not.toHaveBeenCalled();
});

const START = Date.UTC(2024, 0, 1) / 1000;
/** A session with an hour left, and a refresh token. */
const VALID: SessionRecord = {
  credentials: {
    token: "access",
    refresh_token: "refresh",
    token_uri: "u",
    client_id: "c",
    client_secret: "s",
    scopes: [],
  },
  id_info: { iss: "i", sub: "ada", exp: START + 3600 },
  idp_login_at: START,
  idp_state: { v: 1 },
};
const { refresh_token: _token, ...withoutToken } = VALID.credentials!;
const UNREFRESHABLE: SessionRecord = { ...VALID, credentials: withoutToken };
const EXPIRED: SessionRecord = { ...VALID, id_info: { ...VALID.id_info, exp: START } };
const withState = (record: SessionRecord, state: Partial<PrivateState>): SessionRecord => ({
  ...record,
  idp_state: { ...record.idp_state, ...state },
});

interface Given {
  /** What the session's first read finds. */
  readonly record?: SessionRecord | undefined;
  /** What is stored when the session is updated. Default: `record`. */
  readonly stored?: SessionRecord;
  readonly session?: Partial<UserSession>;
  readonly policy?: Partial<PolicySettings>;
  /** What a refresh returns or throws. */
  readonly refreshed?: SessionRecord | Error | undefined;
}

function setUp({ record, stored = record, policy, refreshed, ...given }: Given) {
  const clock = new TestClock();
  const emitted: unknown[] = [];
  const events = new EventHub(() => undefined, clock);
  for (const name of ["ended", "failure"] as const)
    events.on(name, ({ time: _time, ...event }: Events[typeof name]) =>
      emitted.push({ name, ...event }),
    );
  let current = stored;
  const touch = vi.fn<UserSession["touch"]>(() => undefined);
  const reportEnd = vi.fn<UserSession["reportEnd"]>();
  const update = vi.fn((change: Change) => {
    const before = current as SessionRecord;
    current = change(before);
    return Promise.resolve({ changed: current !== before, record: current });
  });
  const session = {
    key: "key",
    seen: undefined,
    read: () => Promise.resolve(record),
    touch,
    reportEnd,
    update,
    ...given.session,
  } as unknown as UserSession;
  const needs: (Need | undefined)[] = [];
  const refresh = vi.fn<Refresher["refresh"]>((_session, needOf) => {
    for (const one of [record, refreshed])
      if (one !== undefined && !(one instanceof Error)) needs.push(needOf(one));
    return refreshed instanceof Error ? Promise.reject(refreshed) : Promise.resolve(refreshed);
  });
  const tasks = { add: vi.fn() };
  const signedOut = vi.fn(() => Promise.resolve());
  const access = createSessionAccess({
    owners: new Owners([{ key: "one", issuer: "i", clientId: "c" } as Registration]),
    policy: {
      sessionAutoRefresh: true,
      sessionMaxAge: null,
      sessionIdleTimeout: null,
      ...policy,
    },
    refresher: { refresh },
    application: { signedOut },
    tasks,
    events,
    clock,
  } as unknown as SessionAccessOptions);
  return {
    access,
    session,
    touch,
    reportEnd,
    update,
    clock,
    emitted,
    needs,
    refresh,
    signedOut,
    tasks,
    stored: () => current,
  };
}

describe("a request with its session", () => {
  const request = {
    scheme: "http",
    host: "app.example",
    header: (name: string) =>
      name === "x-forwarded-host"
        ? "seen.example"
        : name === "x-forwarded-proto"
          ? "https"
          : undefined,
  } as IdpRequest;
  const at = (baseUrl: string | null, trustProxy: boolean) =>
    new SessionRequest(request, {} as UserSession, {
      settings: { baseUrl, trustProxy },
      clock: { ...systemClock, monotonic: () => 5 },
    });

  it("has the application's origin as the user sees it", () => {
    expect(at("https://base.example", false).origin).toBe("https://base.example");
    expect(at(null, false).origin).toBe("http://app.example");
    expect(at(null, true).origin).toBe("https://seen.example");
  });

  it("has the hostname and port that the browser sent, also with BASE_URL", () => {
    expect(at("https://base.example", false).host).toBe("app.example");
    expect(at("https://base.example", true).host).toBe("seen.example");
    expect(at(null, true).openedAt).toBe(5);
  });
});

describe("access to a session", () => {
  it("that is valid returns its record, and what the request's first gate saw", async () => {
    const { access, session, refresh, clock, emitted } = setUp({ record: VALID });
    expect(await access.access(session)).toMatchObject({ authenticated: true, record: VALID });
    expect(session.seen).toEqual({ record: VALID, at: START });
    clock.advance(5_000);
    await access.access(session);
    expect(session.seen?.at).toBe(START);
    expect(refresh).not.toHaveBeenCalled();
    expect(emitted).toEqual([]);
  });

  it.each([
    [undefined, 60, [START, false]],
    [{}, 60, [START, false]],
    [{ slide: false }, 60, [null, false]],
    [{ sendsCookie: true }, 60, [START, true]],
    [undefined, null, [null, false]],
  ])(
    "with the options %j and the idle timeout %s stores the time of %j",
    async (options, idle, touched) => {
      const { access, session, touch } = setUp({
        record: VALID,
        policy: { sessionIdleTimeout: idle },
      });
      let isWritten = false;
      touch.mockImplementation(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        isWritten = true;
      });
      await access.access(session, options);
      expect(touch).toHaveBeenCalledExactlyOnceWith(...touched);
      expect(isWritten).toBe(true);
    },
  );

  it("that can't be read is an outage, and an event says so", async () => {
    const { access, session, emitted } = setUp({
      session: { read: () => Promise.reject(new StoreUnavailableError()) },
    });
    await expect(access.access(session)).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(emitted).toEqual([
      { name: "failure", during: "session", kind: "outage", reason: "store_unavailable" },
    ]);
  });

  it("of nobody is no event", async () => {
    const { access, session, update, emitted } = setUp({});
    expect(await access.access(session)).toMatchObject({
      authenticated: false,
      reason: "no_credentials",
      record: undefined,
    });
    expect([emitted, session.seen]).toEqual([[], undefined]);
    expect(update).not.toHaveBeenCalled();
  });

  it("that ended without its cookie has the reason of its trace", async () => {
    const { access, session } = setUp({ session: { endedBy: "ended_everywhere" } });
    const expected = { authenticated: false, reason: "ended_everywhere" };
    expect(await access.access(session)).toMatchObject(expected);
    expect(await access.explain(session)).toEqual(expected);
  });

  it("whose record was read ends for the record's reason, not for that of a trace", async () => {
    const { access, session } = setUp({
      record: { ...EXPIRED, credentials: UNREFRESHABLE.credentials! },
      session: { endedBy: "ended_everywhere" },
    });
    expect(await access.access(session)).toMatchObject({ reason: "no_refresh_token" });
    expect(await access.explain(session)).toMatchObject({ reason: "no_refresh_token" });
  });

  it("whose record can't be decrypted is a refusal in an event", async () => {
    const { access, session, emitted } = setUp({ session: { isUnreadable: true } });
    await access.access(session);
    expect(emitted).toEqual([
      { name: "failure", during: "session", kind: "refusal", reason: "session_unreadable" },
    ]);
  });

  it("whose earlier record was unreadable is no event if there is one to read", async () => {
    const { access, session, emitted } = setUp({
      record: VALID,
      session: { isUnreadable: true, removedKey: "old" },
    });
    expect((await access.access(session)).authenticated).toBe(true);
    expect(emitted).toEqual([]);
  });

  it("whose provider was removed is reported once, and again only after 1,000 others", async () => {
    const { access, session, emitted } = setUp({});
    const look = (removedKey: string) =>
      access.access({ ...session, removedKey, isUnreadable: true });
    await look("first");
    await look("first");
    expect(emitted).toEqual([{ name: "ended", reason: "provider_removed" }]);
    for (let count = 1; count < 1_000; count += 1) await look(String(count));
    await look("first");
    expect(emitted).toHaveLength(1_000);
    await look("another");
    await look("first");
    expect(emitted).toHaveLength(1_002);
  });

  it.each<[string, SessionRecord, Partial<PolicySettings>, Need]>([
    ["expired", EXPIRED, {}, "tokens"],
    ["must be accepted again", withState(VALID, { review_due: true }), {}, "review"],
    ["has claims of another schema", VALID, { claimsVersion: "2" }, "review"],
  ])("that has %s is refreshed for what it needs", async (_name, record, policy, need) => {
    const refreshed = withState(VALID, { claims_version: "2" });
    const { access, session, needs } = setUp({ record, policy, refreshed });
    expect(await access.access(session)).toMatchObject({ authenticated: true, record: refreshed });
    expect(needs).toEqual([need, undefined]);
    expect(session.seen?.record).toBe(refreshed);
  });

  it("whose new ID token has expired already is valid, so that nobody is refreshed for ever", async () => {
    const { access, session } = setUp({ record: EXPIRED, refreshed: EXPIRED });
    expect(await access.access(session)).toMatchObject({ authenticated: true, record: EXPIRED });
  });

  it("whose claims no process has accepted yet is an outage", async () => {
    const due = withState(VALID, { review_due: true });
    const { access, session } = setUp({ record: EXPIRED, refreshed: due });
    await expect(access.access(session)).rejects.toMatchObject({ reason: "refresh_pending" });
  });

  it("that is gone after its refresh has no credentials", async () => {
    const { access, session } = setUp({ record: EXPIRED, refreshed: undefined });
    expect(await access.access(session)).toMatchObject({ reason: "no_credentials" });
  });
});

describe("a session that the policy has ended", () => {
  const idle = { sessionIdleTimeout: 60 };
  const IDLE: SessionRecord = { ...VALID, idp_last_active: START - 61 };

  it("is marked, and its end is reported once, with the user, and to the application's code", async () => {
    const { access, session, touch, reportEnd, emitted, stored, signedOut, tasks } = setUp({
      record: IDLE,
      policy: idle,
    });
    expect(await access.access(session)).toMatchObject({
      authenticated: false,
      reason: "idle",
      record: IDLE,
    });
    expect(stored()?.idp_state.ended).toBe("idle");
    expect(reportEnd).toHaveBeenCalledExactlyOnceWith("idle");
    expect(emitted).toEqual([
      { name: "ended", provider: "one", issuer: "i", subject: "ada", reason: "idle" },
    ]);
    expect(signedOut).toHaveBeenCalledExactlyOnceWith("idle", IDLE);
    expect(tasks.add).toHaveBeenCalledExactlyOnceWith(signedOut.mock.results[0]?.value);
    expect(touch).not.toHaveBeenCalled();
    expect(session.seen).toBeUndefined();
  });

  it("is marked from the stored record, which the application's code gets", async () => {
    const stored = { ...IDLE, final_redirect: "/newer" };
    const { access, session, signedOut } = setUp({ record: IDLE, stored, policy: idle });
    await access.access(session);
    expect(signedOut).toHaveBeenCalledExactlyOnceWith("idle", stored);
  });

  it("isn't marked again by a request that read the mark", async () => {
    const { access, session, update, emitted } = setUp({
      record: withState(IDLE, { ended: "idle" }),
      policy: idle,
    });
    expect(await access.access(session)).toMatchObject({ reason: "idle" });
    expect(update).not.toHaveBeenCalled();
    expect(emitted).toEqual([]);
  });

  it.each<[string, SessionRecord]>([
    ["has marked it", withState(IDLE, { ended: "idle" })],
    ["has used it", { ...IDLE, idp_last_active: START }],
    ["has found another limit", { ...IDLE, idp_login_at: START - 100 }],
    ["has refreshed it", EXPIRED],
  ])("isn't reported again if another process %s", async (_name, stored) => {
    const { access, session, reportEnd, emitted, signedOut } = setUp({
      record: IDLE,
      stored,
      policy: { ...idle, sessionMaxAge: 99 },
    });
    expect(await access.access(session)).toMatchObject({ reason: "idle" });
    expect([emitted, reportEnd.mock.calls, signedOut.mock.calls]).toEqual([[], [], []]);
  });

  it("for another reason than before is marked with the new one", async () => {
    const { access, session, stored } = setUp({
      record: withState(IDLE, { ended: "no_refresh_token" }),
      policy: idle,
    });
    await access.access(session);
    expect(stored()?.idp_state.ended).toBe("idle");
  });

  it("of no provider that the settings contain is reported without one", async () => {
    const { access, session, emitted } = setUp({
      record: { ...IDLE, credentials: { ...IDLE.credentials!, client_id: "another" } },
      policy: idle,
    });
    await access.access(session);
    expect(emitted).toEqual([{ name: "ended", issuer: "i", subject: "ada", reason: "idle" }]);
  });

  it("has ended even if it can't be marked", async () => {
    const { access, session, emitted } = setUp({
      record: IDLE,
      policy: idle,
      session: { update: () => Promise.reject(new StoreUnavailableError()) },
    });
    expect(await access.access(session)).toMatchObject({ authenticated: false, reason: "idle" });
    expect(emitted).toEqual([]);
  });
});

describe("what a request saw of a session that it ends itself", () => {
  it("is the record of a signed-in user, and never an ended one's", () => {
    const { access, session } = setUp({});
    access.sawLast(session, withState(UNREFRESHABLE, { rejected: "denied" }));
    access.sawLast(session, { idp_state: { v: 1 } });
    expect(session.seen).toBeUndefined();
    access.sawLast(session, EXPIRED);
    expect(session.seen).toEqual({ record: EXPIRED, at: START });
    access.sawLast(session, VALID);
    expect(session.seen?.record).toBe(EXPIRED);
  });
});

describe("an explanation", () => {
  it.each<[string, SessionRecord | undefined, string | null]>([
    ["valid", VALID, null],
    ["to be refreshed", EXPIRED, "id_token_expired"],
    ["to be reviewed", withState(VALID, { review_due: true }), "review_due"],
    ["ended", { ...EXPIRED, credentials: UNREFRESHABLE.credentials! }, "no_refresh_token"],
    ["no", undefined, "no_credentials"],
  ])("of a session that is %s changes nothing", async (_name, record, reason) => {
    const { access, session, touch, update, refresh, emitted } = setUp({ record });
    expect(await access.explain(session)).toEqual({ authenticated: reason === null, reason });
    expect(session.seen).toEqual(reason === null ? { record, at: START } : undefined);
    for (const call of [refresh, touch, update]) expect(call).not.toHaveBeenCalled();
    expect(emitted).toEqual([]);
  });

  it("keeps what an earlier gate of the request saw", async () => {
    const seen = { record: EXPIRED, at: 1 };
    const { access, session } = setUp({ record: VALID, session: { seen } });
    await access.explain(session);
    expect(session.seen).toBe(seen);
  });
});

describe("getAccessToken", () => {
  /** A token received at the start, with this many seconds of life. */
  const living = (seconds: number, state: Partial<PrivateState> = {}) =>
    withState(VALID, {
      tokens_received_at: START,
      access_token_expires_at: START + seconds,
      ...state,
    });
  const NEW: SessionRecord = {
    ...living(9_000),
    credentials: { ...VALID.credentials!, token: "new" },
  };

  it.each<[string, SessionRecord, number, number]>([
    ["stays valid long enough", living(3_600), 0, 60],
    ["stays valid exactly long enough", living(3_600), 3_540, 60],
    ["has no known end", VALID, 3_000, 60],
    ["has half of its life left, however long it must stay valid", living(3_600), 1_800, 9_999],
    [
      "has half of its life left, in a record of an older release",
      {
        ...withState(VALID, { access_token_expires_at: START + 3_600 }),
        id_info: { ...VALID.id_info, iat: START },
      },
      1_800,
      9_999,
    ],
  ])("returns a token that %s", async (_name, record, after, minValidity) => {
    const { access, session, refresh, clock } = setUp({ record, refreshed: NEW });
    clock.advance(after * 1000);
    expect(await access.accessToken(session, minValidity)).toBe("access");
    expect(refresh).not.toHaveBeenCalled();
  });

  it.each<[string, SessionRecord, number, number]>([
    ["ends too early", living(3_600), 3_541, 60],
    ["has passed half of its life", living(3_600), 1_801, 9_999],
    ["has expired", living(600), 600, 0],
    ["had no life at all", living(-5), 0, 0],
    [
      "ends too early, and the record says nothing of its life",
      withState(VALID, { access_token_expires_at: START + 59 }),
      0,
      60,
    ],
    [
      "has passed half of its life, in a record of an older release",
      {
        ...withState(VALID, { access_token_expires_at: START + 3_000 }),
        id_info: { ...VALID.id_info, iat: START },
      },
      1_501,
      9_999,
    ],
  ])(
    "refreshes a token that %s, for what the freshest record needs",
    async (_name, record, after, minValidity) => {
      const { access, session, refresh, needs, clock } = setUp({ record, refreshed: NEW });
      clock.advance(after * 1000);
      expect(await access.accessToken(session, minValidity)).toBe("new");
      expect(refresh).toHaveBeenCalledOnce();
      expect(needs).toEqual(["tokens", undefined]);
    },
  );

  it("refreshes a token that ends too early once, in a record without claims", async () => {
    const { id_info: _claims, ...record } = withState(VALID, {
      access_token_expires_at: START + 59,
    });
    const { access, session, refresh } = setUp({ record, refreshed: record });
    expect(await access.accessToken(session, 60)).toBe("access");
    // The first one is for the ID token.
    expect(refresh).toHaveBeenCalledTimes(2);
  });

  it("refreshes a token that an API has rejected, and not if the session has another one already", async () => {
    const { access, session, needs, refresh } = setUp({ record: living(3_600), refreshed: NEW });
    expect(await access.accessToken(session, 0, "another")).toBe("access");
    expect(refresh).not.toHaveBeenCalled();
    expect(await access.accessToken(session, 0, "access")).toBe("new");
    expect(needs).toEqual(["rejected", undefined]);
  });

  it("refreshes a rejected token once in a while, not for each rejection", async () => {
    const recently = setUp({ record: living(3_600, { forced_at: START }), refreshed: NEW });
    expect(await recently.access.accessToken(recently.session, 0, "access")).toBe("access");
    const before = setUp({ record: living(3_600, { forced_at: START - 600 }), refreshed: NEW });
    expect(await before.access.accessToken(before.session, 0, "access")).toBe("new");
  });

  const REFUSED = withState(UNREFRESHABLE, {
    ...living(3_600).idp_state,
    refresh_rejected: true,
  });

  it("returns a rejected token to nobody if its refresh was refused, also not later without `rejected`", async () => {
    const given = setUp({ record: living(3_600), stored: REFUSED, refreshed: REFUSED });
    expect(await given.access.accessToken(given.session, 0, "access")).toBeNull();
    expect(isTokenRejected(given.stored()!)).toBe(true);
    const later = setUp({ record: given.stored() });
    expect(await later.access.accessToken(later.session, 0)).toBeNull();
    expect(await later.access.accessToken(later.session, 0, "access")).toBeNull();
    expect(later.refresh).not.toHaveBeenCalled();
    expect(later.update).not.toHaveBeenCalled();
    expect((await later.access.access(later.session)).authenticated).toBe(true);
  });

  it("remembers a token as rejected if another call's refresh was refused before", async () => {
    const { access, session, stored, refresh } = setUp({ record: REFUSED });
    expect(await access.accessToken(session, 0)).toBe("access");
    expect(await access.accessToken(session, 0, "another")).toBe("access");
    expect(stored()).toBe(REFUSED);
    expect(await access.accessToken(session, 0, "access")).toBeNull();
    expect(isTokenRejected(stored()!)).toBe(true);
    expect(refresh).not.toHaveBeenCalled();
  });

  it("forgets nothing if the session ends while it is remembered, and brings nothing back", async () => {
    const gone = setUp({
      record: REFUSED,
      session: { update: () => Promise.resolve({ changed: false, record: undefined }) },
    });
    expect(await gone.access.accessToken(gone.session, 0, "access")).toBeNull();
  });

  it.each<[string, Given]>([
    ["there is no refresh token", { record: withState(UNREFRESHABLE, living(600).idp_state) }],
    ["refreshes are off", { record: living(600), policy: { sessionAutoRefresh: false } }],
  ])("returns no expired token and no rejected one if %s", async (_name, given) => {
    const { access, session, refresh, clock, stored } = setUp({ ...given, refreshed: NEW });
    clock.advance(599_000);
    expect(await access.accessToken(session, 60)).toBe("access");
    expect(await access.accessToken(session, 60, "access")).toBeNull();
    const later = setUp({ ...given, record: stored() });
    expect(await later.access.accessToken(later.session, 60)).toBeNull();
    expect((await later.access.access(later.session)).authenticated).toBe(true);
    clock.advance(1_000);
    expect(await access.accessToken(session, 60)).toBeNull();
    expect(refresh).not.toHaveBeenCalled();
  });

  it("returns null to a user who is signed out", async () => {
    const { access, session } = setUp({});
    expect(await access.accessToken(session, 0)).toBeNull();
  });

  it.each<[string, SessionRecord | undefined]>([
    ["gone", undefined],
    ["ended by the application's code", withState(NEW, { rejected: "denied" })],
    ["left without a token", { ...NEW, credentials: undefined } as unknown as SessionRecord],
  ])("returns null if the session is %s after the refresh", async (_name, refreshed) => {
    const { access, session } = setUp({ record: living(0), refreshed });
    expect(await access.accessToken(session, 0)).toBeNull();
  });

  it("returns null if even the refreshed token has expired", async () => {
    const { access, session } = setUp({ record: living(0), refreshed: living(0) });
    expect(await access.accessToken(session, 0)).toBeNull();
  });

  it("in an outage returns a token that has not expired, and otherwise fails", async () => {
    const outage = new ProviderUnavailableError("http_503");
    const early = setUp({ record: living(600), refreshed: outage });
    early.clock.advance(599_000);
    expect(await early.access.accessToken(early.session, 60)).toBe("access");
    early.clock.advance(1_000);
    await expect(early.access.accessToken(early.session, 60)).rejects.toBe(outage);
    const bug = setUp({ record: living(600), refreshed: new TypeError("a bug") });
    bug.clock.advance(599_000);
    await expect(bug.access.accessToken(bug.session, 60)).rejects.toThrow("a bug");
  });

  it("has a refresh that finds the session ended do nothing", async () => {
    const { access, session, refresh } = setUp({
      record: living(600),
      refreshed: withState(living(0), { rejected: "denied" }),
      policy: { sessionIdleTimeout: 60 },
    });
    const late = await access.accessToken(session, 9_999, "access");
    expect(late).toBeNull();
    const needOf = refresh.mock.calls[0]![1];
    expect(needOf(withState(living(0), { rejected: "denied" }))).toBeUndefined();
    expect(needOf({ idp_state: { v: 1 } })).toBeUndefined();
    expect(needOf(withState(NEW, { review_due: true }))).toBe("review");
    expect(needOf({ ...EXPIRED, credentials: NEW.credentials! })).toBe("tokens");
  });
});
