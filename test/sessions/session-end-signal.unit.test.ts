import { expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { UserSession } from "../../src/ports/user-session.js";
import type { SessionRecord } from "../../src/record/record.js";
import type { SessionEnd } from "../../src/record/end-reason.js";
import type { PolicySettings } from "../../src/record/session-policy.js";
import { whenEnded } from "../../src/sessions/session-end-signal.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { Shutdown } from "../../src/work/shutdown.js";

const POLICY: PolicySettings = {
  sessionAutoRefresh: true,
  sessionMaxAge: null,
  sessionIdleTimeout: null,
};
const clock = new TestClock();
const RECORD: SessionRecord = {
  credentials: { token: "t", token_uri: "u", client_id: "c", client_secret: "s", scopes: [] },
  id_info: { exp: clock.now() / 1000 + 3_600 },
  idp_state: { v: 1 },
};

/** A session that is read by the given function, and its watchers. */
function watchable(read: () => Promise<SessionRecord>) {
  const watchers = new Set<(reason: SessionEnd) => void>();
  const watchEnd: UserSession["watchEnd"] = (listener) => {
    watchers.add(listener);
    return () => void watchers.delete(listener);
  };
  return { watchers, open: () => ({ read, watchEnd }) as unknown as UserSession };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("throws what the opening of the session throws, such as missing middleware, and leaves nothing behind", () => {
  const missing = new Error("no session middleware");
  const open = () => {
    throw missing;
  };
  let closings = 0;
  expect(() => whenEnded(open, { policy: POLICY, clock, onClose: () => (closings += 1) })).toThrow(
    missing,
  );
  expect([clock.pendingTimers, closings]).toEqual([0, 0]);
});

it("watches nothing if the request closes before the session is read", async () => {
  const { watchers, open } = watchable(() => Promise.resolve(RECORD));
  const signal = whenEnded(open, { policy: POLICY, clock, onClose: (closed) => closed() });
  await turn();
  expect([watchers.size, signal.aborted, clock.pendingTimers]).toEqual([0, false, 0]);
});

it("waits for the store in an outage at the start, and stops waiting when the request closes", async () => {
  let isAway = true;
  const { watchers, open } = watchable(() =>
    isAway ? Promise.reject(new StoreUnavailableError("away")) : Promise.resolve(RECORD),
  );
  const closings: (() => void)[] = [];
  const signals = [0, 1].map(() =>
    whenEnded(open, { policy: POLICY, clock, onClose: (closed) => closings.push(closed) }),
  );
  await turn();
  expect(clock.pendingTimers).toBe(2);
  closings[0]?.();
  expect(clock.pendingTimers).toBe(1);
  isAway = false;
  await clock.advanceAsync(2_000);
  expect([watchers.size, signals.map(({ aborted }) => aborted)]).toEqual([1, [false, false]]);
  closings[1]?.();
  expect([watchers.size, clock.pendingTimers]).toEqual([0, 0]);
});

it("aborts with the reason `closing` when a shutdown begins, and stops watching the session", async () => {
  const { watchers, open } = watchable(() => Promise.resolve(RECORD));
  const shutdown = new Shutdown();
  const signal = whenEnded(open, { policy: POLICY, clock, onClose: () => undefined, shutdown });
  await turn();
  expect(watchers.size).toBe(1);
  await shutdown.close({
    clock,
    timeout: 10,
    settled: () => Promise.resolve(),
    onLate: () => undefined,
  });
  expect(signal.reason).toMatchObject({
    name: "SessionEndedError",
    code: "shutting_down",
    status: 503,
    reason: "closing",
  });
  expect([watchers.size, clock.pendingTimers]).toEqual([0, 0]);
});

it("during a shutdown, aborts after its caller could listen", async () => {
  const { open } = watchable(() => Promise.resolve(RECORD));
  const shutdown = new Shutdown();
  const none = () => undefined;
  await shutdown.close({ clock, timeout: 10, settled: () => Promise.resolve(), onLate: none });
  const signal = whenEnded(open, { policy: POLICY, clock, onClose: none, shutdown });
  const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
  expect(signal.aborted).toBe(false);
  await aborted;
});

it("is not aborted by a shutdown after the request has closed or the session has ended", async () => {
  const { watchers, open } = watchable(() => Promise.resolve(RECORD));
  const shutdown = new Shutdown();
  const left = whenEnded(open, {
    policy: POLICY,
    clock,
    onClose: (closed) => queueMicrotask(closed),
    shutdown,
  });
  const ended = whenEnded(open, { policy: POLICY, clock, onClose: () => undefined, shutdown });
  await turn();
  for (const end of watchers) end("logout");
  await shutdown.close({
    clock,
    timeout: 10,
    settled: () => Promise.resolve(),
    onLate: () => undefined,
  });
  expect(left.aborted).toBe(false);
  expect(ended.reason).toMatchObject({ code: "session_ended", reason: "logout" });
});
