import { afterEach, describe, expect, it, vi } from "vitest";
import { TestClock } from "../../src/testing/test-clock.js";
import { Shutdown } from "../../src/work/shutdown.js";

afterEach(() => {
  vi.restoreAllMocks();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));
const nothing = () => Promise.resolve();

function begin(
  shutdown: Shutdown,
  { timeout = 10, settled = nothing }: { timeout?: number; settled?: () => Promise<void> } = {},
) {
  const clock = new TestClock();
  const late: number[] = [];
  const state = { isClosed: false };
  const closed = shutdown.close({ clock, timeout, settled, onLate: (count) => late.push(count) });
  void closed.then(() => (state.isClosed = true));
  return { clock, closed, late, state };
}

it("ends what can end, waits for what is finite, and breaks nothing off in time", async () => {
  const shutdown = new Shutdown();
  const destroy = vi.fn();
  const leaveStream = shutdown.add({ end: () => leaveStream(), destroy });
  const leaveDownload = shutdown.add({ destroy });
  const { clock, late, state } = begin(shutdown);
  expect(shutdown.isClosing).toBe(true);
  await turn();
  expect(state.isClosed).toBe(false);
  leaveDownload();
  await turn();
  expect([state.isClosed, late, destroy.mock.calls, clock.pendingTimers]).toEqual([
    true,
    [],
    [],
    0,
  ]);
});

it("breaks off what opens after it has closed, as soon as the timeout has passed", async () => {
  const shutdown = new Shutdown();
  const { clock, late, state } = begin(shutdown);
  await turn();
  expect(state.isClosed).toBe(true);
  const destroyed: string[] = [];
  const left = shutdown.add({ destroy: () => destroyed.push("one that has ended") });
  shutdown.add({ destroy: () => destroyed.push("a download in time") });
  left();
  clock.advance(9_999);
  expect(destroyed).toEqual([]);
  clock.advance(1);
  expect(destroyed).toEqual(["a download in time"]);
  shutdown.add({ end: () => destroyed.push("ended"), destroy: () => destroyed.push("a late one") });
  clock.advance(0);
  expect([destroyed, late, clock.pendingTimers]).toEqual([
    ["a download in time", "ended", "a late one"],
    [1, 1],
    0,
  ]);
});

it("breaks the rest off after the timeout, and says how much it was", async () => {
  const shutdown = new Shutdown();
  const destroyed: string[] = [];
  shutdown.add({ end: () => undefined, destroy: () => destroyed.push("a socket that stays") });
  shutdown.add({ destroy: () => destroyed.push("a download") });
  const { clock, late, state } = begin(shutdown);
  clock.advance(9_999);
  await turn();
  expect([state.isClosed, destroyed]).toEqual([false, []]);
  clock.advance(1);
  await turn();
  expect([state.isClosed, late]).toEqual([true, [2]]);
  expect(destroyed).toEqual(["a socket that stays", "a download"]);
});

it("never rejects, and goes on when one of the parts fails", async () => {
  const shutdown = new Shutdown();
  const fails = () => {
    throw new Error("closed already");
  };
  const ended = vi.fn();
  shutdown.onClosing(fails);
  shutdown.onClosing(ended);
  shutdown.add({ end: fails, destroy: fails });
  shutdown.atEnd(fails);
  shutdown.atEnd(ended);
  const { clock, closed } = begin(shutdown, { settled: () => Promise.reject(new Error("outage")) });
  await turn();
  clock.advance(10_000);
  await expect(closed).resolves.toBeUndefined();
  expect(ended).toHaveBeenCalledTimes(2);
});

it("has one promise, and the timeout of the first call", () => {
  const shutdown = new Shutdown();
  shutdown.add({ destroy: () => undefined });
  const { clock, closed } = begin(shutdown);
  expect(shutdown.close({ clock, timeout: 0, settled: nothing, onLate: () => undefined })).toBe(
    closed,
  );
});

it.each([
  ["none", undefined],
  ["a negative one", -1],
  ["no number", Number.NaN],
])("waits 10 seconds with %s as timeout", async (_, timeout) => {
  const shutdown = new Shutdown();
  shutdown.add({ destroy: () => undefined });
  const clock = new TestClock();
  let isClosed = false;
  void shutdown
    .close({ clock, timeout, settled: nothing, onLate: () => undefined })
    .then(() => (isClosed = true));
  await turn();
  clock.advance(9_999);
  await turn();
  expect(isClosed).toBe(false);
  clock.advance(1);
  await turn();
  expect(isClosed).toBe(true);
});

it("waits no longer than a timer can, however long the timeout is", () => {
  const timer = vi.fn(() => () => undefined);
  const clock = { ...new TestClock(), now: () => 0, monotonic: () => 0, timer };
  void new Shutdown().close({
    clock,
    timeout: Infinity,
    settled: nothing,
    onLate: () => undefined,
  });
  expect(timer).toHaveBeenCalledExactlyOnceWith(2_147_483_647, expect.any(Function));
});

it("waits for refreshes that what it waited for has begun", async () => {
  const shutdown = new Shutdown();
  const leave = shutdown.add({ destroy: () => undefined });
  let settle: () => void = () => undefined;
  const settled = vi.fn(() => new Promise<void>((resolve) => (settle = resolve)));
  const { state } = begin(shutdown, { settled });
  await turn();
  expect(settled).not.toHaveBeenCalled();
  leave();
  await turn();
  const again = shutdown.add({ destroy: () => undefined });
  settle();
  await turn();
  expect(state.isClosed).toBe(false);
  again();
  await turn();
  settle();
  await turn();
  expect([state.isClosed, settled.mock.calls.length]).toEqual([true, 2]);
});

it("keeps the process alive only until it has closed, also if a refresh outlasts the timeout", async () => {
  const begun = vi.spyOn(globalThis, "setInterval");
  const ended = vi.spyOn(globalThis, "clearInterval");
  const { clock, closed, late } = begin(new Shutdown(), {
    settled: () => new Promise(() => undefined),
  });
  await turn();
  expect([begun.mock.calls.length, ended.mock.calls.length]).toEqual([1, 0]);
  clock.advance(10_000);
  await closed;
  expect(ended).toHaveBeenCalledExactlyOnceWith(begun.mock.results[0]?.value);
  expect(late).toEqual([0]);
});

describe("after the beginning of a shutdown", () => {
  it("what opens is ended at once, and waited for", async () => {
    const shutdown = new Shutdown();
    const stays = shutdown.add({ destroy: () => undefined });
    const { state } = begin(shutdown);
    await turn();
    const end = vi.fn();
    const leave = shutdown.add({ end, destroy: () => undefined });
    expect(end).toHaveBeenCalledOnce();
    stays();
    await turn();
    expect(state.isClosed).toBe(false);
    leave();
    await turn();
    expect(state.isClosed).toBe(true);
  });

  it("a listener is called asynchronously, so that its caller can keep what it got, and not after its removal", async () => {
    const shutdown = new Shutdown();
    await begin(shutdown).closed;
    const called = vi.fn();
    const removed = vi.fn();
    shutdown.onClosing(called);
    shutdown.onClosing(removed)();
    expect(called).not.toHaveBeenCalled();
    await turn();
    expect(called).toHaveBeenCalledOnce();
    expect(removed).not.toHaveBeenCalled();
  });
});

it("a listener is called once, and not if it was removed", async () => {
  const shutdown = new Shutdown();
  const called = vi.fn();
  const removed = vi.fn();
  shutdown.onClosing(called);
  shutdown.onClosing(removed)();
  await begin(shutdown).closed;
  expect(called).toHaveBeenCalledOnce();
  expect(removed).not.toHaveBeenCalled();
});

it("what closes before a shutdown concerns nobody, and no listener is called before", async () => {
  const shutdown = new Shutdown();
  const called = vi.fn();
  shutdown.onClosing(called);
  shutdown.add({ destroy: () => undefined })();
  await turn();
  expect([shutdown.isClosing, called.mock.calls.length]).toEqual([false, 0]);
});

it("checks for refreshes once everything has closed, and not after each part", async () => {
  const shutdown = new Shutdown();
  const settled = vi.fn(nothing);
  const leaves = [1, 2].map(() => shutdown.add({ destroy: () => undefined }));
  begin(shutdown, { settled });
  await turn();
  for (const [at, leave] of leaves.entries()) {
    leave();
    await turn();
    expect(settled).toHaveBeenCalledTimes(at);
  }
});

it("breaks everything off at once with a timeout of zero", async () => {
  const shutdown = new Shutdown();
  const destroy = vi.fn();
  shutdown.add({ destroy });
  const { clock, closed, late } = begin(shutdown, { timeout: 0 });
  clock.advance(0);
  await closed;
  expect([late, destroy.mock.calls.length]).toEqual([[1], 1]);
});

it("releases once, also if what was broken off closes afterwards", async () => {
  const shutdown = new Shutdown();
  const release = vi.fn();
  shutdown.atEnd(release);
  const leave = shutdown.add({ destroy: () => undefined });
  const { clock, closed } = begin(shutdown);
  await turn();
  clock.advance(10_000);
  leave();
  await closed;
  await turn();
  expect(release).toHaveBeenCalledTimes(1);
});

it("forgets what has closed, and nothing else if it says so twice", async () => {
  const shutdown = new Shutdown();
  const destroyed: string[] = [];
  const open = (name: string) => shutdown.add({ destroy: () => destroyed.push(name) });
  const leave = open("first");
  open("second");
  open("third");
  leave();
  leave();
  const { clock, late } = begin(shutdown);
  await turn();
  clock.advance(10_000);
  expect([destroyed.toSorted(), late]).toEqual([["second", "third"], [2]]);
});
