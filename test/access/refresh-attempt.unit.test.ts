import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Need } from "../../src/access/lease.js";
import type { OrphanedTokenRule } from "../../src/access/orphaned-tokens.js";
import type { ApiRefresh, ApiRenewal } from "../../src/access/refresh-attempt.js";
import { Owners } from "../../src/access/session-owner.js";
import { createRefresher, type Refresher } from "../../src/access/shared-refresh.js";
import type { Application, Decision } from "../../src/application/application.js";
import {
  HookFailedError,
  ProviderRefusedError,
  ProviderUnavailableError,
  StoreUnavailableError,
} from "../../src/errors.js";
import { EventHub } from "../../src/events/event-hub.js";
import type { Events } from "../../src/events/events.js";
import type { Provider } from "../../src/ports/provider.js";
import type { Change, Updated, UserSession } from "../../src/ports/user-session.js";
import type { SpentRefresh, Identity } from "../../src/record/credentials.js";
import type { PrivateState, SessionRecord } from "../../src/record/record.js";
import { withoutLease } from "../../src/record/refresh-changes.js";
import { isTokenRejected } from "../../src/access/rejected-token.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { UnawaitedTasks } from "../../src/work/unawaited-tasks.js";

const EXPIRED: SessionRecord = {
  credentials: {
    token: "old access",
    refresh_token: "old refresh",
    token_uri: "u",
    client_id: "c",
    client_secret: "s",
    scopes: [],
  },
  id_info: { iss: "i", sub: "ada" },
  idp_state: { v: 1 },
};
const SPENT: SpentRefresh = {
  accessToken: "new access",
  refreshToken: "new refresh",
  idToken: undefined,
  scopes: undefined,
  receivedAt: 100,
  accessTokenExpiresAt: undefined,
};
const VERIFIED: Identity = {
  idInfo: { iss: "i", sub: "ada", exp: 9_000 },
  userinfoClaims: [],
};
const ACCEPTED: Decision = { kind: "accepted", review: {} };
const OTHERS_LEASE = { nonce: "another process's", taken_at: 1 };
const START = Date.UTC(2024, 0, 1) / 1000;

/** The record that the store has; undefined: the session is gone. */
let stored: SessionRecord | undefined;
/**
 * Runs before each write, with the number of the write, from 1. It may throw, change `stored`, and
 * let time pass.
 */
let beforeWrite: (write: number) => unknown;
/** Runs after each write, which has been made even if this throws. */
let afterWrite: (write: number) => unknown;
let writes: number;
let reloads: number[];
let clock: TestClock;
let tasks: UnawaitedTasks;
let events: { name: "refresh" | "failure"; event: Events["refresh"] | Events["failure"] }[];
let refresher: Refresher;

const provider = {
  assertReadyToRefresh: vi.fn<Provider["assertReadyToRefresh"]>(),
  refresh: vi.fn<Provider["refresh"]>(),
  verifyRefreshed: vi.fn<Provider["verifyRefreshed"]>(),
  revoke: vi.fn<Provider["revoke"]>(),
};
const application = { reviewsRefreshes: false, review: vi.fn<Application["review"]>() };
const orphanedTokens = { revokes: true, revoke: vi.fn<OrphanedTokenRule["revoke"]>() };

beforeEach(() => {
  stored = EXPIRED;
  beforeWrite = () => undefined;
  afterWrite = () => undefined;
  writes = 0;
  reloads = [];
  clock = new TestClock();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  provider.assertReadyToRefresh.mockReset();
  provider.refresh.mockReset().mockResolvedValue(SPENT);
  provider.verifyRefreshed.mockReset().mockResolvedValue(VERIFIED);
  provider.revoke.mockReset().mockResolvedValue(true);
  application.reviewsRefreshes = false;
  application.review.mockReset().mockResolvedValue(ACCEPTED);
  orphanedTokens.revokes = true;
  orphanedTokens.revoke.mockReset().mockResolvedValue();
  start();
});

afterEach(() => {
  vi.restoreAllMocks();
});

function start({ concurrency = 20, httpTimeout = 5 } = {}): void {
  tasks = new UnawaitedTasks();
  events = [];
  const hub = new EventHub(() => undefined, clock);
  for (const name of ["refresh", "failure"] as const)
    hub.on(name, (event: Events[typeof name]) => events.push({ name, event }));
  refresher = createRefresher({
    owners: new Owners([
      {
        key: undefined,
        name: "",
        icon: undefined,
        issuer: "i",
        clientId: "c",
        provider: provider as unknown as Provider,
      },
    ]),
    application: application as unknown as Application,
    orphanedTokens: orphanedTokens as unknown as OrphanedTokenRule,
    clock,
    events: hub,
    tasks,
    httpTimeout,
    concurrency,
  });
}

/** What a record still needs, as the policy decides it: the old access token has expired. */
function needOf({ credentials, idp_state: state }: SessionRecord): Need | undefined {
  if (credentials?.refresh_token === undefined || state.rejected !== undefined) return undefined;
  if (credentials.token === "old access") return "tokens";
  return state.review_due === true ? "review" : undefined;
}

/** The session as one request has it. */
function session(changes: Partial<UserSession> = {}): UserSession {
  let first: Promise<SessionRecord | undefined> | undefined;
  return {
    key: "key",
    read: () => (first ??= Promise.resolve(stored)),
    reload() {
      reloads.push(clock.monotonic());
      return Promise.resolve(stored);
    },
    async update(change: Change): Promise<Updated> {
      const write = (writes += 1);
      await beforeWrite(write);
      if (stored === undefined) return { changed: false, record: undefined };
      const record = change(stored);
      const changed = record !== stored;
      stored = record;
      await afterWrite(write);
      return { changed, record };
    },
    ...changes,
  } as UserSession;
}

const refresh = (changes?: Partial<UserSession>) => refresher.refresh(session(changes), needOf);
const withState = (state: Partial<PrivateState>): SessionRecord => ({
  ...EXPIRED,
  idp_state: { v: 1, ...state },
});
const REFRESHED: SessionRecord = {
  ...EXPIRED,
  credentials: { ...EXPIRED.credentials!, token: "new access", refresh_token: "new refresh" },
  id_info: VERIFIED.idInfo,
  idp_state: { v: 1, tokens_received_at: 100 },
};
/** The same session as another process has refreshed it. */
const REFRESHED_ELSEWHERE: SessionRecord = {
  ...REFRESHED,
  credentials: {
    ...EXPIRED.credentials!,
    token: "others' access",
    refresh_token: "others' refresh",
  },
};
/** New tokens of a process that stopped before the application's code accepted them. */
const REVIEW_DUE: SessionRecord = {
  ...REFRESHED,
  idp_state: { ...REFRESHED.idp_state, review_due: true },
};
const pending = { name: "ProviderUnavailableError", reason: "refresh_pending" };
const failure = (reason: string, kind = "outage", about: object = {}) => ({
  name: "failure",
  event: { time: expect.any(Number), during: "refresh", kind, reason, ...about },
});
/** Lets promises settle. */
const settled = () => clock.advanceAsync(0);
/** A promise to settle later. */
function held<Result>() {
  let release: (result: Result) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const promise = new Promise<Result>((resolve, reject) => {
    release = resolve;
    fail = reject;
  });
  return { promise, release, fail };
}

describe("a refresh", () => {
  it("spends the refresh token once and stores the new tokens without the lease", async () => {
    expect(await refresh()).toStrictEqual(REFRESHED);
    expect(stored).toStrictEqual(REFRESHED);
    expect(provider.refresh).toHaveBeenCalledOnce();
    expect(provider.refresh.mock.calls[0]?.[0]).toMatchObject({
      refreshToken: "old refresh",
      session: "key",
    });
    expect(provider.verifyRefreshed).toHaveBeenCalledExactlyOnceWith(
      SPENT,
      expect.objectContaining({ credentials: EXPIRED.credentials }),
      {
        refreshToken: "old refresh",
        session: "key",
        signal: expect.any(AbortSignal),
      },
    );
    expect(application.review).not.toHaveBeenCalled();
    expect(provider.revoke).not.toHaveBeenCalled();
    expect(orphanedTokens.revoke).not.toHaveBeenCalled();
  });

  it("holds a lease of its own while the provider is at work", async () => {
    const nonces: unknown[] = [];
    for (const _attempt of [1, 2]) {
      stored = EXPIRED;
      provider.refresh.mockImplementationOnce(() => {
        expect(stored?.idp_state.lease).toEqual({
          nonce: expect.stringMatching(/^[\w-]{22}$/),
          taken_at: START,
        });
        nonces.push(stored?.idp_state.lease?.nonce);
        return Promise.resolve(SPENT);
      });
      await refresh();
    }
    expect(new Set(nonces).size).toBe(2);
  });

  it("stores a rotated refresh token before it verifies the response", async () => {
    provider.verifyRefreshed.mockImplementationOnce(() => {
      expect(stored?.credentials).toMatchObject({
        token: "old access",
        refresh_token: "new refresh",
      });
      return Promise.resolve(VERIFIED);
    });
    await refresh();
    expect(writes).toBe(3);
  });

  it("with a provider that doesn't rotate keeps the refresh token, and writes once less", async () => {
    provider.refresh.mockResolvedValue({ ...SPENT, refreshToken: undefined });
    expect((await refresh())?.credentials).toMatchObject({
      token: "new access",
      refresh_token: "old refresh",
    });
    expect(writes).toBe(2);
  });

  it("emits one event with the user and the duration, and leaves no timer", async () => {
    clock.advance(50_000);
    provider.refresh.mockImplementationOnce(() => {
      clock.advance(700);
      return Promise.resolve(SPENT);
    });
    await refresh();
    expect(events).toEqual([
      { name: "refresh", event: { time: clock.now(), issuer: "i", subject: "ada", duration: 700 } },
    ]);
    expect(clock.pendingTimers).toBe(0);
    await refresher.idle();
  });

  it("of a session that was never found does nothing", async () => {
    expect(await refresh({ key: undefined })).toBeUndefined();
    expect([writes, provider.refresh.mock.calls.length]).toEqual([0, 0]);
  });

  it("of a session that is gone does nothing", async () => {
    stored = undefined;
    expect(await refresh()).toBeUndefined();
    expect([writes, events, provider.assertReadyToRefresh.mock.calls]).toEqual([0, [], []]);
  });

  it("that another process has made already does nothing", async () => {
    stored = REFRESHED_ELSEWHERE;
    expect(await refresh()).toBe(REFRESHED_ELSEWHERE);
    expect([writes, events, provider.assertReadyToRefresh.mock.calls]).toEqual([0, [], []]);
  });
});

describe("while the provider is known to be away", () => {
  it("a refresh fails before it writes anything, and says so in an event", async () => {
    const away = new ProviderUnavailableError("backing_off");
    provider.assertReadyToRefresh.mockImplementation(() => {
      throw away;
    });
    await expect(refresh()).rejects.toBe(away);
    expect(provider.assertReadyToRefresh).toHaveBeenCalledExactlyOnceWith("key", undefined);
    expect(writes).toBe(0);
    expect(events).toEqual([failure("backing_off")]);
  });

  it("a refresh fails at once, even if another process holds the lease", async () => {
    provider.assertReadyToRefresh.mockImplementation(() => {
      throw new ProviderUnavailableError("backing_off");
    });
    stored = withState({ lease: OTHERS_LEASE });
    const running = expect(refresh()).rejects.toMatchObject({ reason: "backing_off" });
    await settled();
    // Nothing waits for that process, and the store isn't read again.
    expect([clock.pendingTimers, reloads, writes]).toEqual([0, [], 0]);
    await running;
  });

  it("a review, which doesn't include the provider, still runs", async () => {
    provider.assertReadyToRefresh.mockImplementation(() => {
      throw new ProviderUnavailableError("backing_off");
    });
    stored = REVIEW_DUE;
    expect(await refresh()).toStrictEqual(REFRESHED);
  });

  it("a refresh that waited for its slot doesn't send its request, and frees the slot", async () => {
    start({ concurrency: 1 });
    const first = held<SpentRefresh>();
    provider.refresh.mockReturnValueOnce(first.promise);
    const running = refresh({ key: "first" });
    await settled();
    const own: SessionRecord = { ...EXPIRED };
    const waiting = refresh({
      key: "second",
      read: () => Promise.resolve(own),
      update: () => expect.fail("it wrote"),
    });
    await settled();
    provider.assertReadyToRefresh.mockImplementation(() => {
      throw new ProviderUnavailableError("backing_off");
    });
    first.release(SPENT);
    await running;
    await expect(waiting).rejects.toMatchObject({ reason: "backing_off" });
    expect(provider.refresh).toHaveBeenCalledOnce();
    provider.assertReadyToRefresh.mockReset();
    stored = EXPIRED;
    expect(await refresh({ key: "third" })).toStrictEqual(REFRESHED);
  });
});

describe("requests of one session at the same time", () => {
  it("share one refresh, and each reads the new record itself", async () => {
    const all = await Promise.all([refresh(), refresh(), refresh()]);
    expect(all).toEqual([REFRESHED, REFRESHED, REFRESHED]);
    expect(provider.refresh).toHaveBeenCalledOnce();
    expect(reloads).toHaveLength(2);
  });

  it("of different sessions are refreshed each for itself", async () => {
    const own = (key: string): Partial<UserSession> => {
      let record: SessionRecord = EXPIRED;
      return {
        key,
        read: () => Promise.resolve(record),
        update: (change) => {
          record = change(record);
          return Promise.resolve({ changed: true, record });
        },
      };
    };
    await Promise.all([refresh(own("one")), refresh(own("other"))]);
    expect(provider.refresh.mock.calls.map(([request]) => request.session)).toEqual([
      "one",
      "other",
    ]);
  });

  it("all get the failure of their refresh; a later one tries again", async () => {
    provider.refresh.mockRejectedValueOnce(new ProviderUnavailableError("http_503"));
    const all = await Promise.allSettled([refresh(), refresh()]);
    expect(
      all.map((each) =>
        each.status === "rejected" ? (each.reason as ProviderUnavailableError).reason : each.status,
      ),
    ).toEqual(["http_503", "http_503"]);
    expect(await refresh()).toStrictEqual(REFRESHED);
  });

  it("wait no longer than `httpTimeout` each, while the refresh goes on", async () => {
    start({ httpTimeout: 5 });
    const answer = held<SpentRefresh>();
    provider.refresh.mockReturnValueOnce(answer.promise);
    const ends: [string, number][] = [];
    const watch = (name: string, request: Promise<unknown>) =>
      request.catch((error: unknown) => {
        expect(error).toMatchObject(pending);
        ends.push([name, clock.monotonic()]);
      });
    const first = watch("first", refresh());
    await clock.advanceAsync(2_000);
    const second = watch("second", refresh());
    await clock.advanceAsync(10_000);
    await Promise.all([first, second]);
    expect(ends).toEqual([
      ["first", 5_000],
      ["second", 7_000],
    ]);
    answer.release(SPENT);
    await refresher.idle();
    expect(stored).toStrictEqual(REFRESHED);
  });
});

/** Still needs the token of this API, after what the policy needs. */
const needOfApi =
  (api: string) =>
  (record: SessionRecord): Need | undefined =>
    needOf(record) ?? (record.idp_state.apis?.[api] === undefined ? "api" : undefined);
const withApi =
  (api: string) =>
  (record: SessionRecord): SessionRecord => ({
    ...record,
    idp_state: {
      ...record.idp_state,
      apis: { ...record.idp_state.apis, [api]: { target: "t", at: START, token: `for ${api}` } },
    },
  });
const apisOf = (record: SessionRecord | undefined) => Object.keys(record?.idp_state.apis ?? {});
type RenewApi = ApiRenewal["renew"];
const storing = async (attempt: ApiRefresh, change: Change) => {
  const { record } = await attempt.write(change);
  return { kind: "stored", record } as const;
};
const storesApi = (api: string) =>
  vi.fn<RenewApi>((attempt) => storing(attempt, (fresh) => withoutLease(withApi(api)(fresh))));
const withoutRejected = (record: SessionRecord) => record;
const refreshApi = (api: string, renew: RenewApi, changes?: Partial<UserSession>) =>
  refresher.refresh(session(changes), needOfApi(api), { name: api, renew, withoutRejected });

describe("a refresh for an API", () => {
  beforeEach(() => {
    stored = REFRESHED;
  });

  it("is the API's own: it renews no token of the session and emits no event of the session's", async () => {
    const renew = storesApi("orders");
    const record = await refreshApi("orders", renew);
    expect(record).toStrictEqual(withApi("orders")(REFRESHED));
    expect(stored).toStrictEqual(record);
    expect(provider.refresh).not.toHaveBeenCalled();
    expect(application.review).not.toHaveBeenCalled();
    expect(events).toEqual([]);
  });

  it("gets the provider, the session and the record with the lease, and a deadline", async () => {
    const renew = storesApi("orders");
    await refreshApi("orders", renew);
    const [attempt, record] = renew.mock.calls[0]!;
    expect(attempt).toMatchObject({ provider, key: "key" });
    expect(attempt.signal.aborted).toBe(false);
    expect(record.idp_state.lease).toBeDefined();
    expect(clock.pendingTimers).toBe(0);
  });

  it("is for that API alone what the provider must be ready for; a session's own refresh is for none", async () => {
    await refreshApi("orders", storesApi("orders"));
    expect(new Set(provider.assertReadyToRefresh.mock.calls.map(String))).toEqual(
      new Set(["key,orders"]),
    );
    provider.assertReadyToRefresh.mockClear();
    stored = withApi("orders")(EXPIRED);
    await refreshApi("orders", storesApi("orders"));
    await settled();
    stored = EXPIRED;
    await refresh();
    expect(new Set(provider.assertReadyToRefresh.mock.calls.map(String))).toEqual(
      new Set(["key,"]),
    );
  });

  it("stores a rotated refresh token before anything else, and revokes what a logout overtakes", async () => {
    const renew: RenewApi = async (attempt) => {
      const request = { refreshToken: "new refresh", session: "key", signal: attempt.signal };
      const outcome = await attempt.spend(request);
      expect(stored?.credentials?.refresh_token).toBe("rotated");
      if (outcome.kind === "overtaken") return { ...outcome, kind: "stored" };
      stored = undefined;
      const kept = await attempt.keep(outcome.spent, withApi("orders"));
      return { kind: "stored", record: kept.record };
    };
    const spent = { ...SPENT, refreshToken: "rotated" };
    provider.refresh.mockResolvedValueOnce(spent);
    expect(await refreshApi("orders", renew)).toBeUndefined();
    expect(orphanedTokens.revoke).toHaveBeenCalledOnce();
    expect(orphanedTokens.revoke.mock.calls[0]?.[1].tokens).toBe(spent);
  });

  it("writes nothing into the record of another process that took over the lease", async () => {
    const renew: RenewApi = (attempt) => {
      stored = { ...REFRESHED, idp_state: { ...REFRESHED.idp_state, lease: OTHERS_LEASE } };
      return storing(attempt, withApi("orders"));
    };
    expect(apisOf(await refreshApi("orders", renew))).toEqual([]);
    expect(stored?.idp_state.lease).toBe(OTHERS_LEASE);
  });

  it("that the provider refused is followed by the session's own, which shows whether the token works, with the API's change", async () => {
    provider.refresh.mockResolvedValueOnce({ ...SPENT, accessToken: "newer access" });
    const record = await refreshApi("orders", () =>
      Promise.resolve({ kind: "refused", change: withApi("orders") }),
    );
    expect(record?.credentials?.token).toBe("newer access");
    expect(apisOf(record)).toEqual(["orders"]);
    expect(record?.idp_state.forced_at).toBeUndefined();
    expect(events.map(({ name }) => name)).toEqual(["refresh"]);
  });

  it.each<[string, () => void, string[]]>([
    ["the application's code accepts the tokens", () => (application.reviewsRefreshes = true), []],
    [
      "the provider refuses the refresh",
      () => provider.refresh.mockRejectedValueOnce(new ProviderRefusedError("invalid_grant")),
      ["failure"],
    ],
  ])(
    "that is still due when %s is no outage: its own request makes it",
    async (_name, arrange, failed) => {
      stored = EXPIRED;
      arrange();
      const apiAlone = ({ credentials }: SessionRecord): Need =>
        credentials?.token === "old access" && credentials.refresh_token !== undefined
          ? "tokens"
          : "api";
      const record = await refresher.refresh(session(), apiAlone, {
        name: "orders",
        renew: storesApi("orders"),
        withoutRejected,
      });
      expect(apisOf(record)).toEqual([]);
      expect(events.map(({ name }) => name).filter((name) => name === "failure")).toEqual(failed);
    },
  );

  it("of an access token that an API rejected notes when, so that it isn't forced again at once", async () => {
    stored = EXPIRED;
    const record = await refresher.refresh(session(), (fresh) =>
      needOf(fresh) === undefined ? undefined : "rejected",
    );
    expect(record?.idp_state.forced_at).toBe(START);
    stored = EXPIRED;
    expect((await refresh())?.idp_state.forced_at).toBeUndefined();
  });

  it("whose refusal ends the refreshes leaves no token that an API has rejected, in the same write", async () => {
    stored = EXPIRED;
    provider.refresh.mockRejectedValue(new ProviderRefusedError("invalid_grant"));
    const rejected = (fresh: SessionRecord): Need | undefined =>
      needOf(fresh) === undefined ? undefined : "rejected";
    const record = await refresher.refresh(session(), rejected);
    expect([isTokenRejected(record!), writes]).toEqual([true, 2]);
    stored = EXPIRED;
    expect(isTokenRejected((await refresh())!)).toBe(false);
    stored = withApi("orders")(REFRESHED);
    const outcome = refresher.refresh(session(), needOfApi("billing"), {
      name: "billing",
      renew: () => Promise.reject(new ProviderRefusedError("bad_token")),
      withoutRejected: (fresh) => ({ ...fresh, final_redirect: "without the API's token" }),
    });
    expect((await outcome)?.final_redirect).toBe("without the API's token");
    expect(stored.idp_state.refresh_rejected).toBe(true);
  });

  it("is shared by the requests for this API", async () => {
    const renew = storesApi("orders");
    const both = await Promise.all([refreshApi("orders", renew), refreshApi("orders", renew)]);
    expect(both.map(apisOf)).toEqual([["orders"], ["orders"]]);
    expect(renew).toHaveBeenCalledOnce();
  });

  it("waits for another API's, and then gets its own", async () => {
    const order: string[] = [];
    const named = (api: string): RenewApi => {
      const renew = storesApi(api);
      return async (attempt, record) => {
        order.push(`${api} begins`);
        const result = await renew(attempt, record);
        order.push(`${api} ends`);
        return result;
      };
    };
    const all = await Promise.all(
      ["orders", "mail", "files"].map((api) => refreshApi(api, named(api))),
    );
    expect(order).toEqual(
      ["orders", "mail", "files"].flatMap((api) => [`${api} begins`, `${api} ends`]),
    );
    expect(all.map((record, index) => apisOf(record)[index])).toEqual(["orders", "mail", "files"]);
  });

  it("that fails is no failure of the request for another API", async () => {
    const broken: RenewApi = () => Promise.reject(new ProviderUnavailableError("http_503"));
    const outcomes = await Promise.allSettled([
      refreshApi("orders", broken),
      refreshApi("mail", storesApi("mail")),
      refreshApi("orders", broken),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
  });

  it("isn't made if the refresh that it waited for has ended the session, or brought all it needs", async () => {
    const renew = storesApi("mail");
    const ends: RenewApi = () => {
      stored = undefined;
      return Promise.resolve({ kind: "stored", record: undefined });
    };
    const bringsBoth: RenewApi = (attempt) =>
      storing(attempt, (fresh) => withoutLease(withApi("mail")(withApi("orders")(fresh))));
    for (const [first, expected] of [
      [bringsBoth, ["orders", "mail"]],
      [ends, []],
    ] as const) {
      stored = REFRESHED;
      const waiting = refreshApi("orders", first);
      expect(apisOf(await refreshApi("mail", renew))).toEqual(expected);
      await waiting;
    }
    expect(renew).not.toHaveBeenCalled();
  });
});

it("a session of a provider that the settings don't contain isn't refreshed", async () => {
  stored = { ...EXPIRED, credentials: { ...EXPIRED.credentials!, client_id: "another" } };
  expect(await refresh()).toBe(stored);
  expect(provider.assertReadyToRefresh).not.toHaveBeenCalled();
  expect(writes).toBe(0);
});

describe("idle()", () => {
  it("waits for refreshes and for tasks that no response waits for, also those that begin while it waits", async () => {
    const answer = held<SpentRefresh>();
    const task = held<undefined>();
    provider.refresh.mockImplementationOnce(() => {
      tasks.add(task.promise);
      return answer.promise;
    });
    const running = refresh();
    let isIdle = false;
    const idle = refresher.idle().then(() => (isIdle = true));
    await settled();
    expect(isIdle).toBe(false);
    answer.release(SPENT);
    await running;
    await settled();
    expect(isIdle).toBe(false);
    task.release(undefined);
    await idle;
  });

  it("lets a refresh that waits for a socket go on", async () => {
    provider.refresh.mockImplementationOnce(
      () =>
        new Promise((resolve) => {
          setImmediate(resolve, SPENT);
        }),
    );
    const running = refresh();
    await refresher.idle();
    expect(stored).toStrictEqual(REFRESHED);
    await running;
  });

  it("doesn't reject when a refresh fails", async () => {
    provider.refresh.mockRejectedValueOnce(new ProviderUnavailableError("network"));
    const running = refresh();
    await expect(refresher.idle()).resolves.toBeUndefined();
    await expect(running).rejects.toMatchObject({ reason: "network" });
  });
});

describe("the refresh's own deadline", () => {
  it("is 30 seconds after the lease was requested, however long the store took", async () => {
    beforeWrite = (write) => write === 1 && clock.advance(1_500);
    const answer = held<SpentRefresh>();
    provider.refresh.mockReturnValueOnce(answer.promise);
    start({ httpTimeout: 100 });
    const running = refresh();
    await settled();
    const signal = provider.refresh.mock.calls[0]?.[0].signal;
    await clock.advanceAsync(28_499);
    expect(signal?.aborted).toBe(false);
    await clock.advanceAsync(1);
    expect(signal?.reason).toMatchObject({ name: "TimeoutError" });
    answer.fail(new ProviderUnavailableError("timeout"));
    await expect(running).rejects.toMatchObject({ reason: "timeout" });
    expect(stored).toStrictEqual(EXPIRED);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [29_999, true],
    [30_000, false],
  ])(
    "if the process was suspended for %i ms after it requested the lease, the token is spent: %s",
    async (milliseconds, isSpent) => {
      afterWrite = (write) => write === 1 && clock.advance(milliseconds);
      start({ httpTimeout: 100 });
      const running = refresh();
      if (isSpent) await running;
      else await expect(running).rejects.toMatchObject({ reason: "timeout" });
      expect(provider.refresh).toHaveBeenCalledTimes(isSpent ? 1 : 0);
      expect(stored?.idp_state.lease).toBeUndefined();
    },
  );
});

it.each([
  [30_999, true],
  [31_000, false],
])(
  "if the machine slept for %i ms, in which its monotonic clock stood still, the token is spent: %s",
  async (milliseconds, isSpent) => {
    afterWrite = (write) => {
      if (write === 1) clock.setNow(clock.now() + milliseconds);
    };
    start({ httpTimeout: 100 });
    const running = refresh();
    if (isSpent) await running;
    else await expect(running).rejects.toMatchObject({ reason: "timeout" });
    expect(provider.refresh).toHaveBeenCalledTimes(isSpent ? 1 : 0);
  },
);

describe("an outage during a refresh", () => {
  it("gives the lease back, keeps the tokens and says so in an event", async () => {
    const outage = new ProviderUnavailableError("http_503");
    provider.refresh.mockImplementationOnce(() => {
      clock.advance(300);
      return Promise.reject(outage);
    });
    await expect(refresh()).rejects.toBe(outage);
    expect(stored).toStrictEqual(EXPIRED);
    expect(events).toEqual([
      failure("http_503", "outage", { issuer: "i", subject: "ada", duration: 300 }),
    ]);
  });

  it("is reported as itself, even if the lease can't be given back", async () => {
    const outage = new ProviderUnavailableError("http_503");
    provider.refresh.mockRejectedValueOnce(outage);
    beforeWrite = (write) => {
      if (write > 1) throw new Error("a bug in the store");
    };
    await expect(refresh()).rejects.toBe(outage);
  });

  it("keeps a rotated refresh token, which the next refresh spends", async () => {
    provider.verifyRefreshed.mockRejectedValueOnce(new ProviderUnavailableError("jwks"));
    await expect(refresh()).rejects.toMatchObject({ reason: "jwks" });
    expect(stored?.credentials).toMatchObject({
      token: "old access",
      refresh_token: "new refresh",
    });
    expect(stored?.idp_state).toStrictEqual({ v: 1 });
    await refresh();
    expect(provider.refresh.mock.calls.map(([request]) => request.refreshToken)).toEqual([
      "old refresh",
      "new refresh",
    ]);
    expect(provider.revoke).not.toHaveBeenCalled();
  });
});

describe("a refusal during a refresh", () => {
  it("of the refresh token removes it, and revokes nothing", async () => {
    provider.refresh.mockRejectedValueOnce(new ProviderRefusedError("invalid_grant"));
    const record = await refresh();
    const { refresh_token: _refused, ...credentials } = EXPIRED.credentials!;
    expect(record).toStrictEqual({
      ...EXPIRED,
      credentials,
      idp_state: { v: 1, refresh_rejected: true },
    });
    expect(stored).toStrictEqual(record);
    expect(events).toEqual([
      failure("invalid_grant", "refusal", { issuer: "i", subject: "ada", duration: 0 }),
    ]);
    expect(provider.revoke).not.toHaveBeenCalled();
  });

  it.each([
    ["the rotated refresh token", "new refresh"],
    ["the old one, if the provider doesn't rotate", undefined],
  ])(
    "of the response revokes %s, and keeps it until it is revoked",
    async (_which, refreshToken) => {
      const dropped = refreshToken ?? "old refresh";
      const revoked = held<boolean>();
      provider.refresh.mockResolvedValue({ ...SPENT, refreshToken });
      provider.verifyRefreshed.mockRejectedValueOnce(new ProviderRefusedError("id_token_sub"));
      provider.revoke.mockReturnValueOnce(revoked.promise);
      const record = await refresh();
      expect(record?.credentials).not.toHaveProperty("refresh_token");
      expect(record?.idp_state).toStrictEqual({
        v: 1,
        refresh_rejected: true,
        dropped_token: dropped,
      });
      expect(provider.revoke).toHaveBeenCalledExactlyOnceWith(dropped, "refresh_token");
      revoked.release(true);
      await refresher.idle();
      expect(stored?.idp_state).toStrictEqual({ v: 1, refresh_rejected: true });
    },
  );

  it("of the response keeps a token that couldn't be revoked, so that the logout can revoke it", async () => {
    provider.verifyRefreshed.mockRejectedValueOnce(new ProviderRefusedError("id_token_sub"));
    provider.revoke.mockResolvedValue(false);
    await refresh();
    await refresher.idle();
    expect(stored?.idp_state.dropped_token).toBe("new refresh");
  });

  it("of the response drops the token without revoking it, if tokens aren't revoked", async () => {
    orphanedTokens.revokes = false;
    provider.verifyRefreshed.mockRejectedValueOnce(new ProviderRefusedError("id_token_sub"));
    expect((await refresh())?.idp_state).toStrictEqual({ v: 1, refresh_rejected: true });
    expect(provider.revoke).not.toHaveBeenCalled();
  });
});

describe("the application's code at a refresh", () => {
  beforeEach(() => {
    application.reviewsRefreshes = true;
  });

  it("gets the verified user before the tokens count, and the lease stays until it has accepted them", async () => {
    const userinfo = { team: "a" };
    provider.verifyRefreshed.mockResolvedValueOnce({ ...VERIFIED, userinfo });
    application.review.mockImplementationOnce(() => {
      expect(stored?.idp_state).toMatchObject({ review_due: true, lease: { taken_at: START } });
      return Promise.resolve({ kind: "accepted", review: { changeData: () => ({ n: 1 }) } });
    });
    expect((await refresh())?.idp_state).toStrictEqual({
      v: 1,
      tokens_received_at: 100,
      data: { n: 1 },
    });
    expect(application.review).toHaveBeenCalledExactlyOnceWith(
      { idInfo: VERIFIED.idInfo, credentials: REFRESHED.credentials, userinfo },
      true,
    );
    expect(events.map(({ name }) => name)).toEqual(["refresh"]);
  });

  it("finishes what another process began, without the provider and without a second event", async () => {
    stored = REVIEW_DUE;
    expect(await refresh()).toStrictEqual(REFRESHED);
    expect(application.review).toHaveBeenCalledExactlyOnceWith(
      { idInfo: VERIFIED.idInfo, credentials: REFRESHED.credentials, userinfo: undefined },
      true,
    );
    expect([provider.refresh.mock.calls, events]).toEqual([[], []]);
  });

  it("also reviews a refresh of a process that has nothing to review, if an earlier review is still due", async () => {
    application.reviewsRefreshes = false;
    stored = withState({ review_due: true });
    await refresh();
    expect(application.review).toHaveBeenCalledOnce();
    expect(stored).toStrictEqual(REFRESHED);
  });

  it("runs after a change of the schema alone, and learns that there was no refresh", async () => {
    stored = REFRESHED;
    const schemaChanged = (record: SessionRecord): Need | undefined =>
      record.idp_state.claims_version === "2" ? undefined : "review";
    application.review.mockResolvedValueOnce({
      kind: "accepted",
      review: { claims: { output: {}, version: "2" } },
    });
    expect((await refresher.refresh(session(), schemaChanged))?.idp_state.claims_version).toBe("2");
    expect(application.review).toHaveBeenCalledExactlyOnceWith(expect.anything(), false);
  });

  it("that fails keeps the review due, and gives the lease back", async () => {
    const failed = new HookFailedError("onRefresh", "threw");
    application.review.mockRejectedValueOnce(failed);
    await expect(refresh()).rejects.toBe(failed);
    expect(stored).toStrictEqual(REVIEW_DUE);
    expect(events.map(({ name, event }) => [name, "reason" in event && event.reason])).toEqual([
      ["refresh", false],
      ["failure", "hook_failed"],
    ]);
  });

  it("that takes longer than the lease writes nothing into another process's record", async () => {
    application.review.mockImplementationOnce(() => {
      stored = { ...REVIEW_DUE, idp_state: { ...REVIEW_DUE.idp_state, lease: OTHERS_LEASE } };
      return Promise.resolve(ACCEPTED);
    });
    await expect(refresh()).rejects.toMatchObject(pending);
    expect(stored?.idp_state.lease).toEqual(OTHERS_LEASE);
  });

  it.each(["denied", "claims_rejected"] as const)(
    "whose result is %s ends the session and revokes the refresh token",
    async (kind) => {
      application.review.mockResolvedValueOnce({ kind });
      const record = await refresh();
      expect(record?.credentials).not.toHaveProperty("refresh_token");
      expect(record?.idp_state).toStrictEqual({
        v: 1,
        tokens_received_at: 100,
        dropped_token: "new refresh",
        rejected: kind,
      });
      await refresher.idle();
      expect(provider.revoke).toHaveBeenCalledExactlyOnceWith("new refresh", "refresh_token");
      expect(stored?.idp_state).toStrictEqual({ v: 1, tokens_received_at: 100, rejected: kind });
      expect(events.map(({ event }) => event)[1]).toEqual(failure(kind, "refusal").event);
    },
  );

  it("that ends a session without a refresh token revokes the access token", async () => {
    const { refresh_token: _none, ...credentials } = REFRESHED.credentials!;
    stored = { ...REFRESHED, credentials };
    application.review.mockResolvedValueOnce({ kind: "denied" });
    const record = await refresher.refresh(session(), ({ idp_state: state }) =>
      state.rejected === undefined ? "review" : undefined,
    );
    expect(record?.idp_state.rejected).toBe("denied");
    await refresher.idle();
    expect(provider.revoke).toHaveBeenCalledExactlyOnceWith("new access", "access_token");
  });

  it("that ends a session revokes nothing, if tokens aren't revoked", async () => {
    orphanedTokens.revokes = false;
    application.review.mockResolvedValueOnce({ kind: "denied" });
    expect((await refresh())?.idp_state).toStrictEqual({
      v: 1,
      tokens_received_at: 100,
      rejected: "denied",
    });
    await refresher.idle();
    expect(provider.revoke).not.toHaveBeenCalled();
    expect(events.map(({ name }) => name)).toEqual(["refresh", "failure"]);
  });

  it("that ends a session which a logout ended first changes nothing, and revokes nothing", async () => {
    application.review.mockImplementationOnce(() => {
      stored = undefined;
      return Promise.resolve({ kind: "denied" });
    });
    expect(await refresh()).toBeUndefined();
    await refresher.idle();
    expect(provider.revoke).not.toHaveBeenCalled();
    expect(events.map(({ name }) => name)).toEqual(["refresh"]);
  });
});

describe("a session that ends during its refresh", () => {
  it.each([
    ["while the provider is at work", 2],
    ["while the response is verified", 3],
  ])("%s: the tokens are revoked, unless the user has signed in again", async (_when, write) => {
    clock.setNow(10_000_900);
    beforeWrite = (at) => {
      if (at === write) stored = undefined;
    };
    expect(await refresh()).toBeUndefined();
    await refresher.idle();
    expect(orphanedTokens.revoke).toHaveBeenCalledExactlyOnceWith(provider, {
      key: "key",
      tokens: SPENT,
      idInfo: EXPIRED.id_info,
      since: 10_000,
    });
    expect(provider.verifyRefreshed).toHaveBeenCalledTimes(write === 2 ? 0 : 1);
    expect(events.map(({ name }) => name)).toEqual([]);
  });

  it("is waited for by idle() until its tokens are revoked", async () => {
    const revoked = held<undefined>();
    orphanedTokens.revoke.mockReturnValueOnce(revoked.promise);
    beforeWrite = (at) => {
      if (at === 2) stored = undefined;
    };
    await refresh();
    expect(tasks.size).toBe(1);
    revoked.release(undefined);
    await refresher.idle();
    expect(tasks.size).toBe(0);
  });

  it("only because its record can't be read any more keeps its tokens valid", async () => {
    beforeWrite = (at) => {
      if (at === 2) stored = undefined;
    };
    expect(await refresh({ isUnreadable: true })).toBeUndefined();
    expect(orphanedTokens.revoke).not.toHaveBeenCalled();
  });
});

describe("a lease that another process took over", () => {
  it("drops the late tokens and returns the other process's record", async () => {
    provider.refresh.mockImplementationOnce(() => {
      stored = REFRESHED_ELSEWHERE;
      return Promise.resolve(SPENT);
    });
    expect(await refresh()).toBe(REFRESHED_ELSEWHERE);
    expect([orphanedTokens.revoke.mock.calls, provider.verifyRefreshed.mock.calls]).toEqual([
      [],
      [],
    ]);
  });

  it("is an outage while the other process is still at work", async () => {
    provider.refresh.mockImplementationOnce(() => {
      stored = withState({ lease: OTHERS_LEASE });
      return Promise.resolve(SPENT);
    });
    await expect(refresh()).rejects.toMatchObject(pending);
    expect(stored).toStrictEqual(withState({ lease: OTHERS_LEASE }));
  });

  it("isn't changed by a refusal: the other process's tokens stay", async () => {
    provider.refresh.mockImplementationOnce(() => {
      stored = REFRESHED_ELSEWHERE;
      return Promise.reject(new ProviderRefusedError("invalid_grant"));
    });
    expect(await refresh()).toBe(REFRESHED_ELSEWHERE);
    expect(stored).toBe(REFRESHED_ELSEWHERE);
  });

  it("isn't changed by a refusal while the other process is still at work, which is an outage", async () => {
    provider.refresh.mockImplementationOnce(() => {
      stored = withState({ lease: OTHERS_LEASE });
      return Promise.reject(new ProviderRefusedError("invalid_grant"));
    });
    await expect(refresh()).rejects.toMatchObject(pending);
  });
});

describe("another process's lease", () => {
  beforeEach(() => {
    stored = withState({ lease: OTHERS_LEASE });
    start({ httpTimeout: 1_000 });
  });

  it("is checked after 50 ms, then at longer intervals up to a second, until that process is done", async () => {
    const running = refresh();
    await clock.advanceAsync(4_000);
    expect(reloads).toEqual([50, 150, 350, 750, 1_550, 2_550, 3_550]);
    expect(writes).toBe(0);
    stored = REFRESHED_ELSEWHERE;
    await clock.advanceAsync(1_000);
    expect(await running).toBe(REFRESHED_ELSEWHERE);
    expect(provider.refresh).not.toHaveBeenCalled();
  });

  it.each([
    [0, 25],
    [0.999, 75],
  ])("is checked with jitter: a random number of %d means after %d ms", async (random, first) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    const running = refresh();
    await clock.advanceAsync(76);
    expect(reloads[0]).toBeCloseTo(first, 0);
    stored = undefined;
    await clock.advanceAsync(4_000);
    expect(await running).toBeUndefined();
  });

  it("is taken as soon as it is given back", async () => {
    const running = refresh();
    await clock.advanceAsync(100);
    stored = EXPIRED;
    await clock.advanceAsync(100);
    expect(await running).toStrictEqual(REFRESHED);
  });

  it("is taken over when it hasn't changed for 40 seconds, and not before", async () => {
    const running = refresh();
    await clock.advanceAsync(38_000);
    // The next wait begins after 38,550 ms and ends after 40,000 ms.
    vi.spyOn(Math, "random").mockReturnValue(0.95);
    await clock.advanceAsync(1_999);
    expect(provider.refresh).not.toHaveBeenCalled();
    await clock.advanceAsync(1);
    expect(provider.refresh).toHaveBeenCalledOnce();
    expect(await running).toStrictEqual(REFRESHED);
  });

  it("is watched from the start again when it changes hands", async () => {
    const running = refresh();
    await clock.advanceAsync(30_000);
    stored = withState({ lease: { ...OTHERS_LEASE, nonce: "a third process's" } });
    await clock.advanceAsync(39_000);
    expect(provider.refresh).not.toHaveBeenCalled();
    await clock.advanceAsync(3_000);
    expect(await running).toStrictEqual(REFRESHED);
  });

  it("isn't taken over if it changes hands between the last check and the takeover", async () => {
    const running = refresh();
    beforeWrite = (write) => {
      if (write === 1)
        stored = withState({ lease: { ...OTHERS_LEASE, nonce: "a third process's" } });
    };
    await clock.advanceAsync(60_000);
    expect(provider.refresh).not.toHaveBeenCalled();
    expect(writes).toBe(1);
    await clock.advanceAsync(30_000);
    expect(await running).toStrictEqual(REFRESHED);
  });

  it("isn't taken over if that process has refreshed the session since the last check", async () => {
    const running = refresh();
    beforeWrite = () => (stored = REFRESHED_ELSEWHERE);
    await clock.advanceAsync(60_000);
    expect(await running).toBe(REFRESHED_ELSEWHERE);
    expect(provider.refresh).not.toHaveBeenCalled();
  });

  it("that appears between the read and the write isn't taken, and holds no slot", async () => {
    start({ concurrency: 1, httpTimeout: 1_000 });
    stored = EXPIRED;
    beforeWrite = (write) => {
      if (write === 1) stored = withState({ lease: OTHERS_LEASE });
    };
    const running = refresh();
    await settled();
    expect([stored, provider.refresh.mock.calls]).toEqual([withState({ lease: OTHERS_LEASE }), []]);
    const own: SessionRecord = { ...EXPIRED };
    let record = own;
    const update = (change: Change): Promise<Updated> => {
      record = change(record);
      return Promise.resolve({ changed: true, record });
    };
    const other = refresh({ key: "other", read: () => Promise.resolve(record), update });
    await settled();
    expect((await other)?.credentials?.token).toBe("new access");
    stored = undefined;
    await clock.advanceAsync(2_000);
    expect(await running).toBeUndefined();
  });
});

describe("the slots at the provider", () => {
  const own = (key: string): Partial<UserSession> => {
    let record: SessionRecord = EXPIRED;
    return {
      key,
      read: () => Promise.resolve(record),
      update(change) {
        const before = record;
        record = change(record);
        return Promise.resolve({ changed: record !== before, record });
      },
    };
  };

  it("are no more than `concurrency`, and a refused one is an outage", async () => {
    start({ concurrency: 1, httpTimeout: 1_000 });
    const answers = Array.from({ length: 52 }, () => held<SpentRefresh>());
    for (const { promise } of answers) provider.refresh.mockReturnValueOnce(promise);
    const running = Array.from({ length: 51 }, (_, at) => refresh(own(`key ${String(at)}`)));
    await settled();
    expect(provider.refresh).toHaveBeenCalledOnce();
    await expect(refresh(own("one too many"))).rejects.toMatchObject({
      reason: "refresh_queue_full",
    });
    expect(events).toEqual([failure("refresh_queue_full")]);
    for (const { release } of answers) release(SPENT);
    await Promise.all(running);
    expect(provider.refresh).toHaveBeenCalledTimes(51);
  });

  it.each<[string, () => unknown]>([
    ["succeeded", () => undefined],
    [
      "failed at the provider",
      () => provider.refresh.mockRejectedValueOnce(new ProviderUnavailableError("network")),
    ],
    [
      "was refused",
      () => provider.refresh.mockRejectedValueOnce(new ProviderRefusedError("invalid_grant")),
    ],
    [
      "couldn't take the lease",
      () => {
        beforeWrite = (write) => {
          if (write === 1) throw new StoreUnavailableError();
        };
      },
    ],
  ])("are free again after a refresh that %s", async (_what, arrange) => {
    start({ concurrency: 1 });
    arrange();
    await Promise.allSettled([refresh()]);
    expect((await refresh(own("another")))?.credentials?.token).toBe("new access");
  });
});

describe("a store that is away", () => {
  const away = () => {
    throw new StoreUnavailableError();
  };

  it("while the session is read fails the refresh, and an event says so", async () => {
    await expect(
      refresh({ read: () => Promise.reject(new StoreUnavailableError()) }),
    ).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(events).toEqual([failure("store_unavailable")]);
  });

  it("while the lease is taken fails the refresh; a lease that was written is given back in the background", async () => {
    afterWrite = (write) => {
      if (write === 1) away();
    };
    await expect(refresh()).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(provider.refresh).not.toHaveBeenCalled();
    await refresher.idle();
    expect(stored).toStrictEqual(EXPIRED);
    expect(events).toEqual([failure("store_unavailable")]);
  });

  it("isn't written to again after a failure of another kind", async () => {
    const bug = new Error("a bug in the store");
    beforeWrite = () => {
      throw bug;
    };
    await expect(refresh()).rejects.toBe(bug);
    expect([writes, tasks.size]).toEqual([1, 0]);
  });

  it("after the token was spent is written to every 250 ms until it is back", async () => {
    start({ httpTimeout: 1_000 });
    const attempts: number[] = [];
    beforeWrite = (write) => {
      if (write === 1) return;
      attempts.push(clock.monotonic());
      if (clock.monotonic() < 1_000) away();
    };
    const running = refresh();
    await clock.advanceAsync(2_000);
    expect(await running).toStrictEqual(REFRESHED);
    expect(attempts).toEqual([0, 250, 500, 750, 1_000, 1_000]);
  });

  it("after the token was rotated is waited for until 5 minutes after the lease was requested", async () => {
    start({ httpTimeout: 1_000 });
    const attempts: number[] = [];
    beforeWrite = (write) => {
      if (write === 1) return;
      attempts.push(clock.monotonic());
      away();
    };
    const running = expect(refresh()).rejects.toBeInstanceOf(StoreUnavailableError);
    await clock.advanceAsync(299_999);
    expect(attempts.at(-1)).toBe(299_750);
    await clock.advanceAsync(10_000);
    await running;
    // The last one is the attempt to give the lease back.
    expect(attempts.slice(-2)).toEqual([300_000, 300_000]);
  });

  it("for the last write is waited for until 34 seconds after the lease was requested, so that no write meets the next holder", async () => {
    start({ httpTimeout: 1_000 });
    const attempts: number[] = [];
    beforeWrite = (write) => {
      if (write <= 2) return;
      attempts.push(clock.monotonic());
      away();
    };
    const running = expect(refresh()).rejects.toBeInstanceOf(StoreUnavailableError);
    await clock.advanceAsync(33_999);
    expect(attempts.at(-1)).toBe(33_750);
    await clock.advanceAsync(10_000);
    await running;
    expect(attempts.slice(-2)).toEqual([34_000, 34_000]);
    expect(stored?.credentials?.refresh_token).toBe("new refresh");
  });

  it("only for the response to the last write doesn't lose the tokens, and they aren't revoked", async () => {
    start({ httpTimeout: 1_000 });
    afterWrite = (write) => {
      if (write === 3) away();
    };
    const running = refresh();
    await clock.advanceAsync(1_000);
    expect(await running).toStrictEqual(REFRESHED);
    expect(stored).toStrictEqual(REFRESHED);
    expect(orphanedTokens.revoke).not.toHaveBeenCalled();
  });
});
