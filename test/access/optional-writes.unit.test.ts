import { describe, expect, it, vi } from "vitest";
import { createOptionalWrites } from "../../src/access/optional-writes.js";
import { StoreUnavailableError } from "../../src/errors.js";
import { TestClock } from "../../src/testing/test-clock.js";

const session = { key: "a session" };
const other = { key: "another session" };
const failing = () => Promise.reject(new StoreUnavailableError());
const done = () => Promise.resolve();
const never = () => new Promise<void>(() => undefined);

function setUp() {
  const clock = new TestClock();
  return { clock, write: createOptionalWrites(clock) };
}

describe("a write that a request doesn't need", () => {
  it("is awaited, and nothing is awaited if nothing is due", async () => {
    const { write } = setUp();
    let isWritten = false;
    await write(session, async () => {
      await Promise.resolve();
      isWritten = true;
    });
    expect(isWritten).toBe(true);
    expect(write(session, () => undefined)).toBeUndefined();
  });

  it("doesn't fail the request, and this process tries again after one second", async () => {
    const { clock, write } = setUp();
    await expect(write(session, failing)).resolves.toBeUndefined();
    const next = vi.fn(done);
    expect(write(session, next)).toBeUndefined();
    await clock.advanceAsync(999);
    expect(write(session, next)).toBeUndefined();
    expect(next).not.toHaveBeenCalled();
    await clock.advanceAsync(1);
    await write(session, next);
    expect(next).toHaveBeenCalledTimes(1);
  });

  it("that always fails for one session, such as one on a full shard, keeps no other session's back", async () => {
    const { clock, write } = setUp();
    const next = vi.fn(done);
    for (let request = 1; request <= 10; request += 1) {
      await write(session, failing);
      await write(other, next);
      expect(next).toHaveBeenCalledTimes(request);
      await clock.advanceAsync(100);
    }
  });

  it("delays the request by at most 100 ms, and while it hangs, its session has no further one", async () => {
    const { clock, write } = setUp();
    const waiting = write(session, never);
    let isOver = false;
    void waiting?.then(() => (isOver = true));
    await clock.advanceAsync(99);
    expect(isOver).toBe(false);
    await clock.advanceAsync(1);
    expect(isOver).toBe(true);
    const next = vi.fn(done);
    expect(write(session, next)).toBeUndefined();
    await write(other, next);
    expect(next).toHaveBeenCalledTimes(1);
  });

  it("that ends after the 100 ms frees its session, and its late failure pauses the session's writes", async () => {
    const { clock, write } = setUp();
    let end!: (error?: Error) => void;
    const held = () =>
      new Promise<void>((resolve, reject) => {
        end = (error) => {
          if (error === undefined) resolve();
          else reject(error);
        };
      });
    void write(session, held);
    await clock.advanceAsync(100);
    end();
    await clock.advanceAsync(0);
    void write(session, held);
    await clock.advanceAsync(100);
    end(new StoreUnavailableError());
    await clock.advanceAsync(0);
    expect(write(session, done)).toBeUndefined();
    await clock.advanceAsync(1_000);
    expect(write(session, done)).toBeDefined();
  });

  it("sessions without a key don't wait for each other", async () => {
    const { clock, write } = setUp();
    void write({ key: undefined }, never);
    await clock.advanceAsync(100);
    const next = vi.fn(done);
    await write({ key: undefined }, next);
    expect(next).toHaveBeenCalledTimes(1);
  });

  it("passes on an error that is no outage", async () => {
    const { write } = setUp();
    await expect(write(session, () => Promise.reject(new TypeError("a bug")))).rejects.toThrow(
      "a bug",
    );
  });

  it.each<[string, () => Promise<void>]>([
    ["succeeds", done],
    ["fails for another reason than an outage", () => Promise.reject(new TypeError("a bug"))],
  ])("that %s in time frees no session in which another one hangs", async (_name, end) => {
    const { clock, write } = setUp();
    void write(session, never);
    await clock.advanceAsync(50);
    const inTime = write(session, async () => {
      await new Promise<void>((resolve) => clock.timer(60, resolve));
      await end();
    })?.catch(() => undefined);
    await clock.advanceAsync(60);
    await inTime;
    expect(write(session, done)).toBeUndefined();
  });

  it("that fails late for another reason than an outage frees its session", async () => {
    const { clock, write } = setUp();
    let fail!: (error: Error) => void;
    const waiting = write(session, () => new Promise<void>((_resolve, reject) => (fail = reject)));
    await clock.advanceAsync(100);
    await waiting;
    expect(write(session, done)).toBeUndefined();
    fail(new TypeError("a bug"));
    await clock.advanceAsync(0);
    expect(write(session, done)).toBeDefined();
  });
});
