import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ProviderUnavailableError } from "../../src/errors.js";
import { SIGNATURE_FAILED, type Failure } from "../../src/provider/back-off.js";
import {
  createRefreshBackOff,
  type RefreshEndpoint,
  type RefreshOf,
} from "../../src/provider/refresh-back-off.js";
import { TestClock } from "../../src/testing/test-clock.js";

const never = new AbortController().signal;
const ENDPOINTS: readonly RefreshEndpoint[] = ["token", "userinfo"];
const ANSWER_500 = { reason: "http_500", status: 500 };

/** What a session's refresh meets. */
type Outcome = "good" | "deleted" | "network" | "limited";

interface Duration {
  /** At the provider. */
  readonly milliseconds?: number;
  /** Which of its endpoints fails. */
  readonly endpoint?: RefreshEndpoint;
  readonly signal?: AbortSignal;
}

function rig() {
  const clock = new TestClock();
  const backOff = createRefreshBackOff(clock, () => 1);

  /** One refresh that takes `milliseconds` at the provider. @returns what came of it */
  async function refresh(
    session: string,
    outcome: Outcome,
    { milliseconds = 1, endpoint = "token", signal = never }: Duration = {},
  ): Promise<"renewed" | "failed" | "backing_off" | "timeout"> {
    const of = { session };
    try {
      backOff.assertReady(session);
      await backOff.enter(of, signal);
    } catch (error) {
      return (error as { readonly reason: "backing_off" }).reason;
    }
    const startedAt = clock.monotonic();
    await new Promise<void>((resolve) => {
      clock.timer(milliseconds, resolve);
    });
    try {
      if (outcome === "good") {
        backOff.responded("token");
        backOff.responded("userinfo");
        backOff.succeeded(of);
        return "renewed";
      }
      if (endpoint === "userinfo") backOff.responded("token");
      const failure =
        outcome === "network"
          ? { reason: "network" }
          : outcome === "limited"
            ? { reason: "http_429", status: 429, retryAfter: "20" }
            : ANSWER_500;
      backOff.failed(of, startedAt, { ...failure, endpoint });
      return "failed";
    } finally {
      backOff.left(of, "token");
      backOff.left(of, "userinfo");
    }
  }

  async function pass(milliseconds: number): Promise<void> {
    clock.advance(milliseconds);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }

  /** The same, and time passes until it has ended. */
  async function refreshed(...given: Parameters<typeof refresh>) {
    const refreshing = refresh(...given);
    await pass(0);
    await pass(given[2]?.milliseconds ?? 1);
    return refreshing;
  }

  return { clock, backOff, refresh, refreshed, pass };
}

/** A back-off, without requests: what is blocked after which failures. */
function failing() {
  const clock = new TestClock();
  const backOff = createRefreshBackOff(clock, () => 1);
  // A process that has run for a day.
  clock.advance(86_400_000);

  /** A failure of a request that began now. @returns the seconds */
  const fail = (
    refresh: RefreshOf,
    failure: Partial<Failure> & { readonly endpoint?: RefreshEndpoint },
  ) =>
    backOff.failed(refresh, clock.monotonic(), {
      reason: "network",
      endpoint: "token",
      ...failure,
    });

  /** What a refresh meets. Undefined: it may be sent. */
  const blocked = (session: string, api?: string) => {
    const error = thrownBy(() => {
      backOff.assertReady(session, api);
    });
    return (
      error && (({ reason, retryAfter, loginHelps }) => ({ reason, retryAfter, loginHelps }))(error)
    );
  };

  /** Waits for the turn of a session's refresh. */
  const entering = (session: string) => {
    const state = { hasPassed: false };
    void backOff.enter({ session }, never).then(() => (state.hasPassed = true));
    return state;
  };

  const isOutage = () => !backOff.withLogin(new ProviderUnavailableError("any")).loginHelps;

  return { clock, backOff, fail, blocked, entering, isOutage };
}

function thrownBy(task: () => void): ProviderUnavailableError | undefined {
  try {
    task();
    return undefined;
  } catch (error) {
    return error as ProviderUnavailableError;
  }
}

/** Lets time pass until nothing is thrown. */
function secondsUntilReady(clock: TestClock, blocked: () => unknown): number {
  let seconds = 0;
  for (; blocked() !== undefined; seconds += 1) clock.advance(1000);
  return seconds;
}

describe("[F18] the shared back-off of refreshes", () => {
  it("two sessions that fail do not open it if another one has succeeded in between", async () => {
    const { refreshed, pass } = rig();
    expect(await refreshed("first", "deleted")).toBe("failed");
    expect(await refreshed("good", "good")).toBe("renewed");
    expect(await refreshed("second", "deleted")).toBe("failed");
    expect(await refreshed("another good", "good")).toBe("renewed");
    await pass(2_000);
    // Their streaks began before the last success, however often they fail together.
    expect(await refreshed("first", "deleted")).toBe("failed");
    expect(await refreshed("second", "deleted")).toBe("failed");
    expect(await refreshed("first good again", "good")).toBe("renewed");
  });

  it.each(ENDPOINTS)("two new failures in 10 s open it (%s)", async (endpoint) => {
    const { refreshed, pass, backOff } = rig();
    await refreshed("first", "deleted", { endpoint });
    await pass(9_000);
    await refreshed("second", "deleted", { endpoint });
    // Of its own back-off, only the shared one is left.
    await pass(500);
    expect(() => {
      backOff.assertReady("first");
    }).toThrow(expect.objectContaining({ reason: "backing_off", loginHelps: false }));
  });

  it("two failures that are more than 10 s apart do not open it", async () => {
    const { refreshed, pass, backOff } = rig();
    await refreshed("first", "deleted");
    await pass(10_001);
    await refreshed("second", "deleted");
    backOff.assertReady("first");
  });

  it("a code that was exchanged counts as a success, and does not close it", async () => {
    const { refreshed, pass, backOff } = rig();
    await refreshed("first", "deleted");
    backOff.exchanged();
    await pass(1);
    await refreshed("second", "deleted");
    await refreshed("third", "deleted");
    const isOpenFor = (session: string) => {
      try {
        backOff.assertReady(session);
        return false;
      } catch (error) {
        return !(error as { readonly loginHelps: boolean }).loginHelps;
      }
    };
    expect(isOpenFor("second")).toBe(true);
    backOff.exchanged();
    expect(isOpenFor("second")).toBe(true);
  });

  it.each(ENDPOINTS)(
    "while responses hold it open, new sessions pass one at a time (%s)",
    async (endpoint) => {
      const { refresh, refreshed, pass } = rig();
      await refreshed("first", "limited", { endpoint });
      await refreshed("second", "limited", { endpoint });
      const ended: string[] = [];
      const started = ["third", "fourth", "good", "another good"].map(async (session) => {
        const outcome = session.includes("good") ? "good" : "deleted";
        const result = await refresh(session, outcome, { endpoint, milliseconds: 100 });
        ended.push(`${session} ${result}`);
      });
      await pass(0);
      await pass(100);
      expect(ended).toEqual(["third failed"]);
      await pass(100);
      expect(ended).toEqual(["third failed", "fourth failed"]);
      expect(await refreshed("first", "good")).toBe("backing_off");
      await pass(100);
      // A success closes it.
      expect(ended.slice(2)).toEqual(["good renewed"]);
      await pass(100);
      await Promise.all(started);
      expect(ended.slice(3)).toEqual(["another good renewed"]);
      await pass(20_000);
      expect(await refreshed("first", "good")).toBe("renewed");
    },
  );

  it("a trial without a response ends the trials: those who wait get 503", async () => {
    const { refresh, refreshed, pass } = rig();
    await refreshed("first", "deleted");
    await refreshed("second", "deleted");
    const trial = refresh("third", "network", { milliseconds: 100 });
    const waiting = refresh("good", "good");
    await pass(0);
    await pass(100);
    expect(await trial).toBe("failed");
    expect(await waiting).toBe("backing_off");
  });

  it("who waits gives up at the refresh's own deadline", async () => {
    const { refresh, refreshed, pass } = rig();
    await refreshed("first", "deleted");
    await refreshed("second", "deleted");
    const trial = refresh("third", "deleted", { milliseconds: 100 });
    const gone = new AbortController();
    const waiting = refresh("good", "good", { signal: gone.signal });
    await pass(0);
    gone.abort();
    expect(await waiting).toBe("timeout");
    await pass(100);
    expect(await trial).toBe("failed");
  });

  it("a trial whose end is never reported holds others for a minute at most", async () => {
    const { backOff, refreshed, pass } = rig();
    const later = { ...ANSWER_500, retryAfter: "60", endpoint: "userinfo" } as const;
    for (const session of ["first", "second"]) backOff.failed({ session }, 1, later);
    await backOff.enter({ session: "lost" }, never);
    backOff.left({ session: "lost" }, "token");
    await pass(59_000);
    for (const session of ["fifth", "sixth"])
      backOff.failed({ session }, 59_001, { ...later, status: 429 });
    await pass(1_000);
    expect(await refreshed("good", "good")).toBe("renewed");
  });

  it("a trial's failure does not make it longer, unless the response says so", async () => {
    const { refreshed, pass } = rig();
    await refreshed("first", "deleted");
    await refreshed("second", "deleted");
    for (const session of ["a", "b", "c"]) await refreshed(session, "deleted");
    await pass(1_000);
    expect(await refreshed("first", "good")).toBe("renewed");
  });

  it("nobody passes after ten more sessions have failed, until it ends", async () => {
    const { refreshed, pass } = rig();
    await refreshed("first", "deleted");
    await refreshed("second", "deleted");
    for (let count = 0; count < 10; count += 1)
      expect(await refreshed(String(count), "deleted")).toBe("failed");
    expect(await refreshed("good", "good")).toBe("backing_off");
    await pass(1_000);
    expect(await refreshed("good", "good")).toBe("renewed");
    // The next one starts anew.
    await refreshed("third", "deleted");
    await refreshed("fourth", "deleted");
    expect(await refreshed("good", "good")).toBe("renewed");
  });

  it("nobody passes after a network failure", async () => {
    const { refreshed } = rig();
    await refreshed("first", "network");
    expect(await refreshed("good", "good")).toBe("backing_off");
  });

  it("is no outage if one session fails twice, or if both began to fail before a success", () => {
    const { clock, backOff, fail, isOutage } = failing();
    for (const session of ["first", "first", "first"]) {
      fail({ session }, ANSWER_500);
      expect(isOutage()).toBe(false);
      clock.advance(2_000);
    }
    fail({ session: "second" }, ANSWER_500);
    expect(isOutage()).toBe(true);
    backOff.responded("token");
    for (const session of ["first", "second", "first"]) {
      fail({ session }, ANSWER_500);
      expect(isOutage()).toBe(false);
      clock.advance(2_000);
    }
  });

  it("is no outage if a code was exchanged between the failures of two sessions", () => {
    const { backOff, fail, isOutage } = failing();
    fail({ session: "first" }, ANSWER_500);
    backOff.exchanged();
    fail({ session: "second" }, ANSWER_500);
    expect(isOutage()).toBe(false);
  });

  it("a request that began when another one succeeded shows no outage", () => {
    const { clock, backOff, fail, isOutage } = failing();
    backOff.responded("token");
    for (const session of ["first", "second"]) fail({ session }, ANSWER_500);
    expect(isOutage()).toBe(false);
    clock.advance(1);
    for (const session of ["third", "fourth"]) fail({ session }, ANSWER_500);
    expect(isOutage()).toBe(true);
  });

  it.each([
    [10_000, true],
    [10_001, false],
  ])("two sessions that fail %i ms apart: an outage is %s", (apart, expected) => {
    const { clock, fail, isOutage } = failing();
    fail({ session: "first" }, ANSWER_500);
    clock.advance(apart);
    fail({ session: "second" }, ANSWER_500);
    expect(isOutage()).toBe(expected);
  });

  it("lets all sessions pass at once while it is not open", async () => {
    const { clock, entering } = failing();
    const entered = ["first", "second"].map(entering);
    await clock.advanceAsync(0);
    expect(entered).toEqual([{ hasPassed: true }, { hasPassed: true }]);
  });

  it("a trial ends with its own session's request, not with that of an earlier one", async () => {
    const { clock, backOff, fail, entering } = failing();
    const earlier = entering("earlier");
    for (const session of ["first", "second"])
      fail({ session }, { ...ANSWER_500, retryAfter: "60" });
    const [trial, next] = [entering("trial"), entering("next")];
    backOff.left({ session: "earlier" }, "token");
    backOff.left({ session: "earlier" }, "userinfo");
    await clock.advanceAsync(1_000);
    expect([earlier, trial, next].map(({ hasPassed }) => hasPassed)).toEqual([true, true, false]);
    backOff.left({ session: "trial" }, "token");
    await clock.advanceAsync(0);
    expect(next.hasPassed).toBe(true);
  });

  it("a session that has not tried for 10 minutes counts as new", async () => {
    const { refreshed, pass } = rig();
    await refreshed("renewed elsewhere", "deleted");
    await pass(600_000);
    await refreshed("first", "deleted");
    await refreshed("second", "deleted");
    expect(await refreshed("renewed elsewhere", "good")).toBe("renewed");
  });
});

describe("deleted users of a provider that answers 500 for each of them", () => {
  const plan = fc.array(
    fc.record({
      session: fc.integer({ min: 0, max: 9 }),
      endpoint: fc.constantFrom(...ENDPOINTS),
      milliseconds: fc.integer({ min: 1, max: 300 }),
      before: fc.integer({ min: 0, max: 3_000 }),
      together: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60 },
  );

  it.each([2, 6])("%i of them never delay the others, in any order", async (deleted) => {
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const { refresh, pass } = rig();
        const results: Promise<string>[] = [];
        const busy = new Set<number>();
        for (const { session, endpoint, milliseconds, before, together } of steps) {
          await pass(together ? 0 : before);
          // A session has one refresh at a time.
          if (busy.has(session)) continue;
          busy.add(session);
          const isDeleted = session < deleted;
          const refreshing = refresh(String(session), isDeleted ? "deleted" : "good", {
            endpoint,
            milliseconds,
          }).finally(() => busy.delete(session));
          if (!isDeleted) results.push(refreshing);
        }
        for (let turn = 0; turn < 40; turn++) await pass(300);
        expect(new Set(await Promise.all(results))).toEqual(
          new Set(results.length > 0 ? ["renewed"] : []),
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe("the back-off of one session", () => {
  it.each([400, 401, 403, 404, 422, 499])(
    "a response %i blocks this session alone, however many sessions get it",
    (status) => {
      const { fail, blocked, isOutage } = failing();
      for (const session of ["first", "second", "third"])
        expect(fail({ session }, { reason: `http_${String(status)}`, status })).toBe(1);
      expect(blocked("first")).toEqual({ reason: "backing_off", retryAfter: 1, loginHelps: true });
      expect([blocked("fourth"), isOutage()]).toEqual([undefined, false]);
    },
  );

  it.each<[string, Partial<Failure>]>([
    ...[408, 429, 500, 503].map((status): [string, Failure] => [
      `a response ${String(status)}`,
      { reason: `http_${String(status)}`, status },
    ]),
    ["a response 200 that isn't usable", { reason: "not_json", status: 200 }],
    ["a redirect", { reason: "http_302", status: 302 }],
    ["a response that is too large", { reason: "too_large" }],
  ])("%s to two sessions in a row is an outage", (_what, failure) => {
    const { fail, blocked, isOutage } = failing();
    fail({ session: "first" }, failure);
    expect(isOutage()).toBe(false);
    fail({ session: "second" }, failure);
    expect([blocked("first")?.loginHelps, isOutage()]).toEqual([false, true]);
  });

  it.each(["network", "timeout", "certificate"])("%s is an outage at once", (reason) => {
    for (const target of [undefined, { api: "orders" }]) {
      const { fail, blocked, isOutage } = failing();
      expect(fail({ session: "first", target }, { reason })).toBe(1);
      expect([blocked("second")?.loginHelps, isOutage()]).toEqual([false, true]);
    }
  });

  it("a refused client is an outage at once, but not if only an API's request was refused", () => {
    const { fail, blocked, isOutage } = failing();
    const refused = { reason: "invalid_client", status: 401 };
    fail({ session: "first", target: { api: "orders" } }, refused);
    expect([blocked("first"), blocked("second"), isOutage()]).toEqual([
      undefined,
      undefined,
      false,
    ]);
    fail({ session: "first" }, refused);
    expect([blocked("second")?.loginHelps, isOutage()]).toEqual([false, true]);
  });

  it.each<[string, Partial<Failure>]>([
    ["a signature that the key service refused", { reason: SIGNATURE_FAILED }],
    ["a configuration error", { reason: "invalid_scope", status: 503, misconfigured: true }],
    ["a configuration error without a status", { reason: "x", misconfigured: true }],
  ])("%s never blocks another session", (_what, failure) => {
    const { fail, blocked, isOutage } = failing();
    for (const session of ["first", "second", "third"]) fail({ session }, failure);
    expect(blocked("third")).toMatchObject({ reason: "backing_off", loginHelps: true });
    expect([blocked("fourth"), isOutage()]).toEqual([undefined, false]);
  });

  it("says that an operator must act if the last failure was a configuration error", () => {
    const { backOff, fail } = failing();
    fail({ session: "first" }, { reason: "invalid_scope", status: 400, misconfigured: true });
    fail({ session: "second" }, { reason: "http_400", status: 400 });
    const code = (session: string) => thrownBy(() => backOff.assertReady(session))?.code;
    expect(code("first")).toBe("provider_misconfigured");
    expect(code("second")).toBe("provider_unavailable");
  });

  it("doubles up to 30 seconds, and starts again after a success or after 10 minutes", () => {
    const { clock, backOff, fail } = failing();
    const waits = (count: number) =>
      Array.from({ length: count }, () => {
        clock.advance(40_000);
        return fail({ session: "first" }, { reason: "http_400", status: 400 });
      });
    expect(waits(7)).toEqual([1, 2, 4, 8, 16, 30, 30]);
    backOff.succeeded({ session: "first" });
    expect(waits(2)).toEqual([1, 2]);
    clock.advance(600_000 - 40_001);
    expect(waits(1)).toEqual([4]);
    clock.advance(600_000 - 40_000);
    expect(waits(2)).toEqual([1, 2]);
  });

  it("a failed refresh waits for the longer one of its own wait and an outage's", () => {
    const { clock, fail } = failing();
    const later = (session: string) => {
      clock.advance(40_000);
      return fail({ session }, { reason: "http_500", status: 500 });
    };
    expect([later("first"), later("first"), later("first")]).toEqual([1, 2, 4]);
    // An outage of three attempts.
    for (let count = 0; count < 3; count += 1) {
      clock.advance(40_000);
      fail({ session: "second" }, { reason: "network" });
    }
    expect(later("third")).toBe(1);
    expect(fail({ session: "fourth" }, { reason: "http_500", status: 500 })).toBe(8);
    expect(fail({ session: "first" }, { reason: "http_500", status: 500 })).toBe(8);
  });

  it("is forgotten when 10,000 others have failed later", () => {
    const { clock, fail, blocked } = failing();
    const failNow = (session: number) => {
      clock.advance(0.001);
      fail({ session: String(session) }, { reason: "http_400", status: 400, retryAfter: "60" });
    };
    for (let session = 0; session < 10_000; session += 1) failNow(session);
    expect([blocked("0")?.reason, blocked("1")?.reason]).toEqual(["backing_off", "backing_off"]);
    failNow(0);
    failNow(10_000);
    expect(["0", "1", "2", "10000"].map((session) => blocked(session)?.reason)).toEqual([
      "backing_off",
      undefined,
      "backing_off",
      "backing_off",
    ]);
  });
});

describe("the back-off of one API of a session", () => {
  const ORDERS = { session: "first", target: { api: "orders" } };
  const REFUSED = { reason: "http_400", status: 400 };

  it("blocks neither the session, nor its other APIs, nor the API of another session", () => {
    const { fail, blocked } = failing();
    expect(fail(ORDERS, REFUSED)).toBe(1);
    expect(blocked("first", "orders")).toMatchObject({ reason: "backing_off", loginHelps: true });
    for (const [session, api] of [["first"], ["first", "mail"], ["second", "orders"]] as const)
      expect(blocked(session, api)).toBeUndefined();
  });

  it("is no outage, however many sessions get 500 for it", () => {
    const { fail, isOutage } = failing();
    for (const session of ["first", "second", "third"])
      fail({ ...ORDERS, session }, { reason: "http_500", status: 500 });
    expect(isOutage()).toBe(false);
  });

  it("waits for the session's own back-off, and ends with the API's success alone", () => {
    const { fail, blocked, backOff } = failing();
    fail({ session: "first" }, REFUSED);
    expect(blocked("first", "orders")?.reason).toBe("backing_off");
    fail(ORDERS, REFUSED);
    backOff.succeeded({ session: "first" });
    expect([blocked("first"), blocked("first", "orders")?.reason]).toEqual([
      undefined,
      "backing_off",
    ]);
    backOff.succeeded(ORDERS);
    expect(blocked("first", "orders")).toBeUndefined();
  });

  it("doesn't wait for userinfo, which confirms only a session's own tokens", async () => {
    const { fail, blocked, backOff } = failing();
    fail({ session: "second" }, { reason: "network", endpoint: "userinfo" });
    expect([blocked("first")?.reason, blocked("first", "orders")]).toEqual([
      "backing_off",
      undefined,
    ]);
    await backOff.enter(ORDERS, never);
    await expect(backOff.enter({ session: "first" }, never)).rejects.toMatchObject({
      reason: "backing_off",
    });
  });

  it("during an outage of responses, an API that has failed is no trial, and a new one is", () => {
    const { clock, fail, blocked } = failing();
    fail(ORDERS, REFUSED);
    const busy = { reason: "http_503", status: 503, retryAfter: "60" };
    for (const session of ["second", "third"]) fail({ session }, busy);
    clock.advance(2_000);
    expect(blocked("first", "orders")).toMatchObject({ retryAfter: 58, loginHelps: false });
    expect([blocked("first"), blocked("first", "mail")]).toEqual([undefined, undefined]);
    expect(blocked("second", "mail")).toMatchObject({ loginHelps: false });
  });
});

describe("a trial at the token endpoint", () => {
  it("that userinfo's back-off stops lets the next session pass at once", async () => {
    const { clock, fail, backOff, entering } = failing();
    const busy = { reason: "http_503", status: 503, retryAfter: "60" };
    for (const session of ["first", "second"]) fail({ session }, busy);
    fail({ session: "first" }, { reason: "network", endpoint: "userinfo" });
    await expect(backOff.enter({ session: "third" }, never)).rejects.toMatchObject({
      reason: "backing_off",
    });
    clock.advance(2_000);
    const next = entering("fourth");
    await clock.advanceAsync(0);
    expect(next.hasPassed).toBe(true);
  });
});

describe("new tokens that can't be verified", () => {
  it.each<[string, { readonly misconfigured?: boolean }, readonly number[]]>([
    ["unknown_key", {}, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]],
    ["id_token_iss", { misconfigured: true }, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]],
    ["jwks", {}, [1, 2, 4, 8, 16, 30, 30, 30, 30, 30]],
  ])("because of %s (%j) block only their session", (reason, options, seconds) => {
    const { clock, backOff, blocked } = failing();
    const cause = new Error("the cause");
    const waits = seconds.map(() => {
      clock.advance(1);
      const error = new ProviderUnavailableError(reason, { cause, ...options });
      const failed = backOff.verificationFailed({ session: "first" }, clock.monotonic(), error);
      expect(failed).toMatchObject({ reason, cause, code: error.code, loginHelps: true });
      // A configuration error always names the same seconds.
      if (!error.isMisconfiguration) expect(failed.retryAfter).toBe(blocked("first")?.retryAfter);
      return secondsUntilReady(clock, () => blocked("first"));
    });
    expect(waits).toEqual(seconds);
    expect(blocked("second")).toBeUndefined();
  });

  it("for an API block only this API of this session", () => {
    const { backOff, blocked } = failing();
    const error = new ProviderUnavailableError("unknown_key");
    backOff.verificationFailed({ session: "first", target: { api: "orders" } }, 1, error);
    expect(blocked("first", "orders")?.reason).toBe("backing_off");
    expect([blocked("first"), blocked("first", "mail")]).toEqual([undefined, undefined]);
  });
});

describe("whether a new sign-in helps", () => {
  it("it does for the same error, unless one of the two endpoints has an outage", () => {
    const cause = new Error("the cause");
    const own = new ProviderUnavailableError("http_400", { cause, retryAfter: 7 });
    const alone = failing();
    expect(alone.backOff.withLogin(own)).toMatchObject({
      reason: "http_400",
      cause,
      retryAfter: 7,
      code: own.code,
      loginHelps: true,
    });
    const wrong = new ProviderUnavailableError("invalid_scope", { misconfigured: true });
    expect(alone.backOff.withLogin(wrong)).toMatchObject({ code: wrong.code, loginHelps: true });
    for (const endpoint of ENDPOINTS) {
      const { backOff, fail } = failing();
      fail({ session: "first" }, { reason: "network", endpoint });
      expect(backOff.withLogin(own)).toBe(own);
    }
  });
});
