import { describe, expect, it, vi } from "vitest";
import type { PolicySettings } from "../../src/record/session-policy.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import { createSealer } from "../../src/sessions/seal.js";
import { createSubjectSessions, sessionId } from "../../src/sessions/subject-sessions.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { SealingStore } from "../support/sealing-store.js";
import {
  ISSUER,
  newHandle,
  SECRET,
  storedSessions,
  TTL,
  withLostLists,
  type StoredSessionsOptions,
} from "../support/stored-sessions.js";

const START = Date.UTC(2024, 0, 1) / 1000;
const ADA = { iss: ISSUER, sub: "ada" };
const UNLIMITED: PolicySettings = {
  sessionAutoRefresh: true,
  sessionMaxAge: null,
  sessionIdleTimeout: null,
};

function setUp({
  policy,
  ...options
}: StoredSessionsOptions & { policy?: Partial<PolicySettings> } = {}) {
  const parts = storedSessions(options);
  const announce = vi.fn();
  const sessions = createSubjectSessions({ ...parts, policy: { ...UNLIMITED, ...policy } });
  return { ...parts, sessions, announce };
}

describe("the list of a user's sessions", () => {
  it("has the newest sign-in first, with label, times and which one is the request's", async () => {
    const { sessions, signIn } = setUp();
    const old = await signIn({ signedInAt: START - 100, label: "Firefox", lastActive: START - 10 });
    const unknown = await signIn({ signedInAt: undefined });
    const recent = await signIn({
      signedInAt: START - 50,
      label: "Safari",
      lastActive: START - 50,
    });
    await signIn({ sub: "grace" });
    await signIn({ iss: "https://another.example" });
    expect(await sessions.list(ADA, old.key)).toEqual({
      sessions: [
        {
          id: sessionId(recent.key),
          label: "Safari",
          signedInAt: START - 50,
          lastActive: START,
          current: false,
        },
        {
          id: sessionId(old.key),
          label: "Firefox",
          signedInAt: START - 100,
          lastActive: START,
          current: true,
        },
        {
          id: sessionId(unknown.key),
          label: null,
          signedInAt: null,
          lastActive: START,
          current: false,
        },
      ],
      hasMore: false,
    });
  });

  it.each([
    ["the recorded access", { lastActive: START - 10, signedInAt: START - 20 }, START - 10],
    ["the sign-in", { signedInAt: START - 20 }, START - 20],
    ["the last renewal", { signedInAt: START - 20, activeAt: START - 5.5 }, START - 6],
    [
      "the renewal that only the expiry of an earlier release's entry tells",
      { signedInAt: START - 20, activeAt: null, expiresAt: START + TTL - 6 },
      START - 6,
    ],
    ["now, never later", { lastActive: START + 10 }, START],
    [
      "no time at all if none is known",
      { signedInAt: undefined, activeAt: null },
      START - TTL + 60,
    ],
  ])("says that the user was last active at %s", async (_name, times, lastActive) => {
    const { sessions, signIn } = setUp();
    await signIn({ expiresAt: START + 60, activeAt: START - 30, ...times });
    expect((await sessions.list(ADA, undefined)).sessions).toMatchObject([{ lastActive }]);
  });

  it.each<[string, Partial<PolicySettings>, object]>([
    ["maximum age", { sessionMaxAge: 60 }, { signedInAt: START - 61 }],
    ["idle timeout", { sessionIdleTimeout: 60 }, { lastActive: START - 61 }],
    ["session_expiry", {}, { sessionExpiry: START }],
  ])("leaves out a session beyond its %s", async (_limit, policy, beyond) => {
    const { sessions, signIn } = setUp({ policy });
    await signIn(beyond);
    const within = await signIn({ lastActive: START, sessionExpiry: START + 1 });
    expect((await sessions.list(ADA, undefined)).sessions).toMatchObject([
      { id: sessionId(within.key) },
    ]);
  });

  it("keeps a session without times, because a missing time exceeds no limit", async () => {
    const { sessions, signIn } = setUp({ policy: { sessionMaxAge: 60, sessionIdleTimeout: 60 } });
    await signIn({ signedInAt: undefined });
    expect((await sessions.list(ADA, undefined)).sessions).toHaveLength(1);
  });

  it("has the request's own session, even if the store's lists have lost it", async () => {
    const clock = new TestClock();
    const store = new SealingStore(clock);
    const { sessions, signIn } = setUp({
      store: createReportedStore(withLostLists(store), clock),
      clock,
    });
    const own = await signIn({ label: "Firefox" });
    const others = await signIn({ sub: "grace" });
    expect((await sessions.list(ADA, undefined)).sessions).toEqual([]);
    expect((await sessions.list(ADA, own.key)).sessions).toMatchObject([
      { id: sessionId(own.key), label: "Firefox", current: true },
    ]);
    expect((await sessions.list(ADA, others.key)).sessions).toEqual([]);
    expect((await sessions.list(ADA, newHandle().key)).sessions).toEqual([]);
  });

  it("doesn't have the request's session if that is a pending login", async () => {
    const { sessions, store, now } = setUp();
    const { key } = newHandle();
    await store.insert(key, { data: Uint8Array.of(1), expiresAt: now() + 60 });
    expect((await sessions.list(ADA, key)).sessions).toEqual([]);
  });

  it("reads no session of the request if there is none, or if it is listed", async () => {
    const { sessions, signIn, sealing } = setUp();
    const { key } = await signIn();
    sealing.calls.length = 0;
    for (const current of [undefined, key]) await sessions.list(ADA, current);
    expect(sealing.count("get")).toBe(0);
  });

  it("has a session whose summary cannot be read, without label and time of the sign-in", async () => {
    const { sessions, signIn, store } = setUp();
    const { key } = await signIn({ label: "Firefox", sessionExpiry: START - 1 });
    const stored = (await store.get(key))!;
    await store.replace(key, { ...stored, summary: Uint8Array.of(1) }, stored.version);
    expect((await sessions.list(ADA, undefined)).sessions).toMatchObject([
      { id: sessionId(key), label: null, signedInAt: null },
    ]);
  });

  it("stops after the page that exceeds 1,000 sessions, and says so", async () => {
    const { sessions, signIn, sealing } = setUp();
    const listed = async (count: number) => {
      while (sealing.inserted.length < count) await signIn();
      const { sessions: all, hasMore } = await sessions.list(ADA, undefined);
      return [all.length, hasMore];
    };
    expect(await listed(1_000)).toEqual([1_000, false]);
    expect(await listed(1_001)).toEqual([1_001, true]);
    sealing.calls.length = 0;
    const [length, hasMore] = await listed(1_400);
    expect([Number(length) < 1_400, hasMore]).toEqual([true, true]);
  });

  it("has the sessions under SECRET_KEY and under each fallback, each once", async () => {
    const clock = new TestClock();
    const store = createReportedStore(new SealingStore(clock), clock);
    const old = setUp({ store, clock });
    const fresh = createSealer("the new secret key of 32 bytes or more", [SECRET]);
    const { sessions, signIn } = setUp({ store, clock, sealer: fresh });
    await old.signIn({ label: "old" });
    await signIn({ label: "new", signedInAt: START + 1 });
    expect((await sessions.list(ADA, undefined)).sessions).toMatchObject([
      { label: "new" },
      { label: "old" },
    ]);
  });
});

describe("a user of several clients", () => {
  const TENANT = "https://tenant.example";
  const clients = [
    { issuer: ISSUER, clientId: "client" },
    { issuer: ISSUER, clientId: "mobile" },
    { issuer: "https://another.example", clientId: "another" },
  ];

  it("has the sessions of all clients at the issuer", async () => {
    const { sessions, signIn, remaining, announce } = setUp({ clients });
    const handles = [await signIn(), await signIn({ clientId: "mobile" })];
    expect((await sessions.list(ADA, undefined)).sessions).toHaveLength(2);
    expect(await sessions.endAll(ADA, undefined, announce)).toBe(2);
    expect(await remaining(handles)).toEqual([false, false]);
  });

  it("is read once for a client ID that occurs twice", async () => {
    const { sessions, signIn, sealing } = setUp({
      clients: [...clients.slice(0, 1), ...clients.slice(0, 1)],
    });
    await signIn();
    sealing.calls.length = 0;
    await sessions.list(ADA, undefined);
    expect(sealing.count("listBySubject")).toBe(1);
  });

  it("isn't searched at a client of another issuer", async () => {
    const { sessions, sealing } = setUp({ clients });
    await sessions.list({ iss: "https://another.example", sub: "ada" }, undefined);
    expect(sealing.count("listBySubject")).toBe(1);
  });

  it("is searched at every client, if the issuer is a tenant's that no setting contains", async () => {
    const { sessions, signIn } = setUp({ clients });
    await signIn({ iss: TENANT });
    await signIn({ iss: TENANT, clientId: "another" });
    expect((await sessions.list({ iss: TENANT, sub: "ada" }, undefined)).sessions).toHaveLength(2);
  });

  it("has no sessions if there is no client", async () => {
    const { sessions } = setUp({ clients: [] });
    expect(await sessions.list(ADA, undefined)).toEqual({ sessions: [], hasMore: false });
  });
});

describe("ending", () => {
  it("one session ends that one, says so once, and only for its own user", async () => {
    const { sessions, signIn, remaining, announce, sealing, entries } = setUp();
    const [one, other] = [await signIn(), await signIn()];
    const id = sessionId(one.key);
    expect(await sessions.end({ ...ADA, sub: "grace" }, id, announce)).toBe(false);
    expect(await sessions.end(ADA, "no such id", announce)).toBe(false);
    expect(announce).not.toHaveBeenCalled();
    expect(await sessions.end(ADA, id, announce)).toBe(true);
    expect(await remaining([one, other])).toEqual([false, true]);
    expect(entries.endOf((await sealing.peek(one.key))!, one)).toBe("ended_everywhere");
    expect(await sessions.end(ADA, id, announce)).toBe(false);
    expect(announce).toHaveBeenCalledOnce();
  });

  it("one session whose end was announced before ends it, and isn't counted again", async () => {
    const { sessions, signIn, remaining, announce } = setUp();
    const idle = await signIn({ ended: "idle" });
    expect(await sessions.end(ADA, sessionId(idle.key), announce)).toBe(false);
    expect(await remaining([idle])).toEqual([false]);
    expect(announce).not.toHaveBeenCalled();
  });

  it("all sessions ends those of this user, but for the excepted one", async () => {
    const { sessions, signIn, remaining, announce, sealing, entries } = setUp();
    const handles = [await signIn(), await signIn(), await signIn({ sub: "grace" })];
    const [here, there] = handles;
    expect(await sessions.endAll(ADA, here?.key, announce)).toBe(1);
    expect(await remaining(handles)).toEqual([true, false, true]);
    expect(entries.endOf((await sealing.peek(there!.key))!, there!)).toBe("ended_everywhere");
    expect(await sessions.endAll(ADA, undefined, announce)).toBe(1);
    expect(announce).toHaveBeenCalledTimes(2);
  });

  it("sessions finds those that the store's lists have lost", async () => {
    const clock = new TestClock();
    const store = new SealingStore(clock);
    const { sessions, signIn, announce } = setUp({
      store: createReportedStore(withLostLists(store), clock),
      clock,
    });
    const handles = [await signIn(), await signIn(), await signIn(), await signIn()];
    const isThere = (handle = handles[0]!) =>
      store.peek(handle.key).then((entry) => entry?.subject !== undefined);
    expect(await sessions.end(ADA, sessionId(handles[0]!.key), announce)).toBe(true);
    expect(await isThere()).toBe(false);
    expect(await sessions.endAll(ADA, undefined, announce)).toBe(3);
    expect(await Promise.all(handles.map(isThere))).toEqual([false, false, false, false]);
  });
});

describe("more sessions than a user may have", () => {
  /** Sessions by their times in seconds after START. The last one is the newest. */
  const surplus = async (
    most: number,
    ...times: { at?: number; login?: number | null; began?: number }[]
  ) => {
    const { sessions, signIn, remaining, announce, ...parts } = setUp();
    const handles = [];
    for (const { at, login = 0, began } of times) {
      handles.push(
        await signIn({
          signedInAt: login === null ? undefined : START + login,
          activeAt: began === undefined ? null : START + began,
          ...(at !== undefined && { lastActive: START + at }),
          expiresAt: START + 60,
        }),
      );
    }
    const ended = await sessions.endSurplus(ADA, {
      most,
      newest: handles.at(-1)?.key ?? "",
      announce,
    });
    const left = await remaining(handles);
    expect(ended).toBe(left.filter((isLeft) => !isLeft).length);
    expect(announce).toHaveBeenCalledTimes(ended);
    return { left, handles, ...parts };
  };

  it.each([
    [4, [true, true, true, true]],
    [3, [true, false, true, true]],
    [2, [false, false, true, true]],
    [1, [false, false, false, true]],
  ])("end down to %i, those with the oldest activity first", async (most, expected) => {
    const times = [{ at: 10 }, { at: 5 }, { at: 20 }, { at: 1, login: 1 }];
    expect((await surplus(most, ...times)).left).toEqual(expected);
  });

  it("leave a trace with the reason", async () => {
    const { handles, sealing, entries } = await surplus(1, {}, { login: 1 });
    expect(entries.endOf((await sealing.peek(handles[0]!.key))!, handles[0]!)).toBe(
      "too_many_sessions",
    );
  });

  it("count a renewal as activity, to the fraction of a second", async () => {
    const times = [{ began: 9.75, login: -9 }, { began: 9.5, login: -8 }, { login: 10 }];
    expect((await surplus(2, ...times)).left).toEqual([true, false, true]);
  });

  it.each([
    [[-7, -9, -8], 1],
    [[-9, -7, -8], 0],
    [[-8, -7, -9], 2],
    [[-7, -8, null], 2],
  ])(
    "that were active at the same time end by their sign-ins: of %j, number %i",
    async (logins, oldest) => {
      const times = [...logins.map((login) => ({ at: 5, login })), { login: 10 }];
      const { left } = await surplus(3, ...times);
      expect(left).toEqual([0, 1, 2, 3].map((index) => index !== oldest));
    },
  );

  it("never are those that began after the newest, which ends itself if they are enough", async () => {
    const later = [{ login: 2 }, { login: 1, began: 5 }];
    expect((await surplus(2, ...later, { login: 1, began: 4.5 })).left).toEqual([
      true,
      true,
      false,
    ]);
    expect((await surplus(3, ...later, { login: 1, began: 4.5 })).left).toEqual([true, true, true]);
    expect((await surplus(2, { login: 0 }, ...later, { login: 1, began: 4.5 })).left).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect((await surplus(1, { login: 1, began: 4.25 }, { login: 1, began: 4.5 })).left).toEqual([
      false,
      true,
    ]);
    expect((await surplus(1, { login: null }, { login: 1 })).left).toEqual([false, true]);
    expect((await surplus(1, { login: 1 }, { login: null })).left).toEqual([true, false]);
  });

  it("that began at the same time end by their keys, so that all processes agree", async () => {
    const { sessions, signIn, remaining, announce } = setUp();
    const handles = [await signIn(), await signIn()].sort((a, b) => (a.key < b.key ? -1 : 1));
    expect(await sessions.endSurplus(ADA, { most: 1, newest: handles[1]!.key, announce })).toBe(1);
    expect(await remaining(handles)).toEqual([false, true]);
    const again = [await signIn(), handles[1]!].sort((a, b) => (a.key < b.key ? -1 : 1));
    expect(await sessions.endSurplus(ADA, { most: 1, newest: again[0]!.key, announce })).toBe(1);
    expect(await remaining(again)).toEqual([false, true]);
  });

  it("end, too, if the store's lists don't contain the newest yet", async () => {
    const clock = new TestClock();
    const store = new SealingStore(clock);
    const { sessions, signIn, announce } = setUp({
      store: createReportedStore(withLostLists(store), clock),
      clock,
    });
    const newest = await signIn();
    expect(await sessions.endSurplus(ADA, { most: 1, newest: newest.key, announce })).toBe(0);
    expect(await sessions.endSurplus(ADA, { most: 0, newest: newest.key, announce })).toBe(1);
  });

  it("stay if the newest has ended already", async () => {
    const { sessions, signIn, remaining, announce } = setUp();
    const handles = [await signIn(), await signIn(), await signIn()];
    const newest = handles[2]!;
    await sessions.end(ADA, sessionId(newest.key), announce);
    expect(await sessions.endSurplus(ADA, { most: 1, newest: newest.key, announce })).toBe(0);
    expect(await sessions.endSurplus(ADA, { most: 1, newest: newHandle().key, announce })).toBe(0);
    expect(await remaining(handles)).toEqual([true, true, false]);
  });

  it("end by the 500 at one sign-in, if the maximum was lowered", async () => {
    const { sessions, signIn, announce } = setUp();
    for (let count = 0; count < 1_100; count += 1) await signIn({ signedInAt: START - 10 });
    const newest = await signIn();
    const ended = await sessions.endSurplus(ADA, { most: 1, newest: newest.key, announce });
    expect(ended).toBeGreaterThanOrEqual(500);
    expect(ended).toBeLessThan(1_000);
  });
});

describe("whether a user has signed in since a moment", () => {
  it("says the time of the sign-in, with the moment itself", async () => {
    const { sessions, signIn } = setUp();
    expect(await sessions.hasSignedInSince(ADA, START)).toBe(false);
    await signIn({ signedInAt: undefined });
    // A session without the time of its sign-in is no new one.
    expect(await sessions.hasSignedInSince(ADA, -1)).toBe(false);
    await signIn({ signedInAt: START, lastActive: START + 5 });
    await signIn({ signedInAt: START - 5 });
    expect(await sessions.hasSignedInSince(ADA, START)).toBe(true);
    expect(await sessions.hasSignedInSince(ADA, START + 1)).toBe(false);
  });

  it("counts as yes for more than 1,000 sessions, which aren't all read", async () => {
    const { sessions, signIn } = setUp();
    for (let count = 0; count < 1_000; count += 1) await signIn();
    expect(await sessions.hasSignedInSince(ADA, START + 1)).toBe(false);
    await signIn();
    expect(await sessions.hasSignedInSince(ADA, START + 1)).toBe(true);
  });
});

it("the id of a session is a hash of its key, the same in every process and release", () => {
  expect(sessionId("k".repeat(43))).toBe("LMZ79JxEhO-nKKy0JGQ1L4");
  expect(sessionId(newHandle().key)).toMatch(/^[\w-]{22}$/);
});
