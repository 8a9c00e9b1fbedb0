import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { beforeEach, describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { EndWatcher } from "../../src/ports/session-store.js";
import type { SessionRecord } from "../../src/record/record.js";
import type { PolicySettings } from "../../src/record/session-policy.js";
import {
  createSessionEndWatch,
  type SessionEndWatch,
  type Looked,
} from "../../src/sessions/session-end-watch.js";
import { TestClock } from "../../src/testing/test-clock.js";

const START = Date.UTC(2024, 0, 1) / 1000;
const SECOND = 1_000;
const TICK = SECOND;
const POLL = 5 * SECOND;
const NO_LIMITS: PolicySettings = {
  sessionAutoRefresh: true,
  sessionMaxAge: null,
  sessionIdleTimeout: null,
};

let clock: TestClock;
let stored: Map<string, Looked>;
let isAway: boolean;
/** The keys of each look at the store. */
let looks: (readonly string[])[];
/** What the watchers got: `key: reason`. */
let told: string[];
let announced: string[];
let losses: number;
let watcher: EndWatcher | undefined;

beforeEach(() => {
  [clock, stored, isAway, losses, watcher] = [new TestClock(), new Map(), false, 0, undefined];
  [looks, told, announced] = [[], [], []];
});

/** The ends over a store that tells of nothing by itself. */
function polled(policy: PolicySettings = NO_LIMITS): SessionEndWatch<string> {
  return createSessionEndWatch({ look, clock, policy });
}

/** The ends over a store that tells of ends once it is connected. */
function listening(policy: PolicySettings = NO_LIMITS): SessionEndWatch<string> {
  const store = {
    announceEnd: (key: string, reason: string) => {
      announced.push(`${key}: ${reason}`);
      return Promise.resolve();
    },
    watchEnds: (given: EndWatcher) => {
      watcher = given;
      return () => (watcher = undefined);
    },
  };
  return createSessionEndWatch({ look, clock, policy, store, onLost: () => (losses += 1) });
}

function look(keys: readonly string[]): Promise<readonly Looked[]> {
  looks.push(keys);
  if (isAway) return Promise.reject(new StoreUnavailableError("The store is away."));
  return Promise.resolve(keys.map((key) => stored.get(key) ?? { record: undefined }));
}

function signedIn(
  key: string,
  changes: Partial<SessionRecord> = {},
  hasRefreshToken = true,
): string {
  const credentials = {
    token: "an access token",
    token_uri: "https://idp.example/token",
    client_id: "client",
    client_secret: "secret",
    scopes: ["openid"],
    ...(hasRefreshToken && { refresh_token: "a refresh token" }),
  };
  const record = {
    credentials,
    id_info: { exp: START + 3_600 },
    idp_login_at: START,
    idp_state: { v: 1 as const },
    ...changes,
  };
  stored.set(key, { record: record });
  return key;
}

const watch = (ends: SessionEndWatch<string>, key: string) =>
  ends.watch(key, key, (reason) => told.push(`${key}: ${reason}`));

/** Watches a session and lets the first look pass, which comes at the first tick. */
async function watched(ends: SessionEndWatch<string>, key = "a"): Promise<() => void> {
  const release = watch(ends, signedIn(key));
  await clock.advanceAsync(TICK);
  return release;
}

describe("the watched sessions of a process", () => {
  it("notify each watcher once when this process ends the session, and announce it to the others", async () => {
    const ends = listening();
    await watched(ends);
    watch(ends, "a");
    ends.ended("a", "logged_out_at_provider");
    ends.ended("a", "logout");
    await clock.advanceAsync(2 * POLL);
    expect(told).toEqual(["a: logged_out_at_provider", "a: logged_out_at_provider"]);
    expect(announced).toEqual(["a: logged_out_at_provider", "a: logout"]);
  });

  it("announce the end of a session that this process does not watch", () => {
    listening().ended("elsewhere", "replaced");
    expect(announced).toEqual(["elsewhere: replaced"]);
  });

  it("end a session although the store's announceEnd throws", () => {
    const store = {
      announceEnd: (): Promise<void> => {
        throw new Error("not connected");
      },
    };
    const ends = createSessionEndWatch({ look, clock, policy: NO_LIMITS, store });
    watch(ends, "a");
    ends.ended("a", "logout");
    expect(told).toEqual(["a: logout"]);
  });

  it("find an end between the read and the watch within two ticks", async () => {
    watch(polled(), "gone");
    await clock.advanceAsync(2 * TICK);
    expect(told).toEqual(["gone: logout"]);
  });

  it("find an end in another process by polling, within five seconds", async () => {
    await watched(polled());
    stored.delete("a");
    await clock.advanceAsync(POLL);
    expect(told).toEqual(["a: logout"]);
  });

  it("take the reason from the trace of an ended session", async () => {
    await watched(polled());
    stored.set("a", { record: undefined, reason: "ended_everywhere" });
    await clock.advanceAsync(POLL);
    expect(told).toEqual(["a: ended_everywhere"]);
  });

  it("wait a tick for the trace, which is written after the session is deleted", async () => {
    await watched(polled());
    stored.delete("a");
    await clock.advanceAsync(2 * TICK);
    expect([told, looks.length]).toEqual([[], 2]);
    stored.set("a", { record: undefined, reason: "logged_out_at_provider" });
    await clock.advanceAsync(TICK);
    expect(told).toEqual(["a: logged_out_at_provider"]);
  });

  it("read all sessions at once, however many watchers they have", async () => {
    const ends = polled();
    for (const key of ["a", "a", "a", "b"]) watch(ends, signedIn(key));
    await clock.advanceAsync(TICK);
    expect(looks).toEqual([["a", "b"]]);
  });

  it("read nothing between two polls", async () => {
    await watched(polled());
    looks.length = 0;
    await clock.advanceAsync(30 * SECOND);
    expect(looks).toHaveLength(10);
  });

  it("end nothing in an outage, and find the end after it", async () => {
    await watched(polled());
    isAway = true;
    stored.delete("a");
    await clock.advanceAsync(600 * SECOND);
    expect(told).toEqual([]);
    isAway = false;
    await clock.advanceAsync(POLL);
    expect(told).toEqual(["a: logout"]);
  });

  it("are read again after half a minute if a read never settles", async () => {
    let never = true;
    const stuck = createSessionEndWatch<string>({
      look: (keys) => (never ? new Promise(() => undefined) : look(keys)),
      clock,
      policy: NO_LIMITS,
    });
    stuck.watch("a", "a", (reason) => told.push(`a: ${reason}`));
    await clock.advanceAsync(10 * SECOND);
    never = false;
    await clock.advanceAsync(15 * SECOND);
    expect(told).toEqual([]);
    await clock.advanceAsync(15 * SECOND);
    expect(told).toEqual(["a: logout"]);
  });

  it("leave no timer and no subscription when the last watcher leaves, and start again with the next one", async () => {
    const ends = listening();
    const releases = [await watched(ends), watch(ends, "a"), watch(ends, signedIn("b"))];
    expect(clock.pendingTimers).toBe(1);
    for (const release of releases) release();
    expect([clock.pendingTimers, watcher]).toEqual([0, undefined]);
    releases[0]?.();
    stored.delete("a");
    watch(ends, "a");
    expect(watcher).toBeDefined();
    await clock.advanceAsync(2 * TICK);
    expect(told).toEqual(["a: logout"]);
    expect([clock.pendingTimers, watcher]).toEqual([0, undefined]);
  });

  it("do not notify a watcher that has left, and go on for the others", async () => {
    const ends = polled();
    const [release] = [await watched(ends), watch(ends, "a")];
    release();
    ends.ended("a", "logout");
    expect(told).toEqual(["a: logout"]);
  });
});

describe("a limit ends a watched session", () => {
  const CASES: readonly (readonly [
    string,
    PolicySettings,
    Partial<SessionRecord>,
    hasRefreshToken: boolean,
  ])[] = [
    ["idle", { ...NO_LIMITS, sessionIdleTimeout: 60 }, { idp_last_active: START }, true],
    ["max_age", { ...NO_LIMITS, sessionMaxAge: 60 }, {}, true],
    ["session_expiry", NO_LIMITS, { idp_state: { v: 1, session_expiry: START + 60 } }, true],
    ["no_refresh_token", NO_LIMITS, { id_info: { exp: START + 60 } }, false],
  ];

  it.each(CASES)(
    "%s, within two seconds, and nothing else does before",
    async (reason, policy, changes, hasRefreshToken) => {
      watch(polled(policy), signedIn("a", changes, hasRefreshToken));
      await clock.advanceAsync(59 * SECOND);
      expect(told).toEqual([]);
      await clock.advanceAsync(3 * SECOND);
      expect(told).toEqual([`a: ${reason}`]);
    },
  );

  it("also while the store reports ends and is not polled", async () => {
    const ends = listening({ ...NO_LIMITS, sessionMaxAge: 30 });
    watch(ends, signedIn("a"));
    watcher?.connected(true);
    await clock.advanceAsync(32 * SECOND);
    expect(told).toEqual(["a: max_age"]);
  });

  it("counted from the newest activity that the store has", async () => {
    watch(
      polled({ ...NO_LIMITS, sessionIdleTimeout: 60 }),
      signedIn("a", { idp_last_active: START }),
    );
    await clock.advanceAsync(50 * SECOND);
    signedIn("a", { idp_last_active: START + 50 });
    await clock.advanceAsync(50 * SECOND);
    expect(told).toEqual([]);
    await clock.advanceAsync(12 * SECOND);
    expect(told).toEqual(["a: idle"]);
  });

  it("and an ID token that can be refreshed does not", async () => {
    watch(polled(), signedIn("a"));
    await clock.advanceAsync(4_000 * SECOND);
    expect(told).toEqual([]);
  });
});

describe("a store that reports ends", () => {
  async function connected(): Promise<void> {
    await watched(listening());
    watcher?.connected(true);
    await clock.advanceAsync(TICK);
    looks.length = 0;
  }

  it("is read for a reported session at once, and nothing else is polled", async () => {
    await connected();
    await clock.advanceAsync(30 * SECOND);
    expect(looks).toEqual([]);
    stored.delete("a");
    watcher?.ended("a", "logout");
    await clock.advanceAsync(0);
    expect([looks, told]).toEqual([[["a"]], ["a: logout"]]);
  });

  it("is not read for a session that nobody watches", async () => {
    await connected();
    watcher?.ended("another", "logout");
    await clock.advanceAsync(0);
    expect(looks).toEqual([]);
  });

  it("ends no session that is still stored, for any reported end", async () => {
    await connected();
    watcher?.ended("a", "logout");
    await clock.advanceAsync(0);
    expect([looks, told]).toEqual([[["a"]], []]);
  });

  it("has no say in the reason otherwise: what it reports is unchecked", async () => {
    await connected();
    stored.delete("a");
    watcher?.ended("a", "<script>");
    await clock.advanceAsync(0);
    expect(told).toEqual(["a: logout"]);
  });

  it("reports that a new sign-in has replaced the session", async () => {
    await connected();
    stored.delete("a");
    watcher?.ended("a", "replaced");
    await clock.advanceAsync(0);
    expect(told).toEqual(["a: replaced"]);
  });

  it("gives way to the reason of the trace", async () => {
    await connected();
    stored.set("a", { record: undefined, reason: "logged_out_at_provider" });
    watcher?.ended("a", "replaced");
    await clock.advanceAsync(0);
    expect(told).toEqual(["a: logged_out_at_provider"]);
  });

  it("is polled when it is lost, at once and then within five seconds, and its loss is reported once", async () => {
    await connected();
    watcher?.connected(false);
    watcher?.connected(false);
    await clock.advanceAsync(TICK);
    expect(looks).toEqual([["a"]]);
    stored.delete("a");
    await clock.advanceAsync(POLL);
    expect([told, losses]).toEqual([["a: logout"], 1]);
  });

  it("is polled once when it comes back, for the ends that it has not reported", async () => {
    await connected();
    watcher?.connected(false);
    watcher?.connected(true);
    stored.delete("a");
    await clock.advanceAsync(2 * TICK);
    expect(told).toEqual(["a: logout"]);
  });

  it("is polled once a minute all the same, for a message that was lost", async () => {
    await connected();
    stored.delete("a");
    await clock.advanceAsync(55 * SECOND);
    expect(told).toEqual([]);
    await clock.advanceAsync(10 * SECOND);
    expect(told).toEqual(["a: logout"]);
  });

  it("is polled from the start until it is connected, and no loss is reported", async () => {
    await watched(listening());
    watcher?.connected(false);
    stored.delete("a");
    await clock.advanceAsync(POLL);
    expect([told, losses]).toEqual([["a: logout"], 0]);
  });
});

it("looks outside of the request that watched first, whose trace would never end", async () => {
  const requests = new AsyncLocalStorage<string>();
  const during: (string | undefined)[] = [];
  const ends = createSessionEndWatch({
    look: (keys: readonly string[]) => {
      during.push(requests.getStore());
      return look(keys);
    },
    // As Node's timers do.
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      timer: (milliseconds, task) => clock.timer(milliseconds, AsyncResource.bind(task)),
    },
    policy: NO_LIMITS,
  });
  requests.run("the first request", () => watch(ends, signedIn("a")));
  await clock.advanceAsync(2 * POLL);
  expect(during.length).toBeGreaterThan(1);
  expect(during.every((request) => request === undefined)).toBe(true);
});
