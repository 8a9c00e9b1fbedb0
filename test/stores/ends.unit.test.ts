import { describe, expect, it } from "vitest";
import {
  createAnnouncedEnds,
  type ChannelListener,
  type EndsChannel,
} from "../../src/stores/end-announcements.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { told } from "./told-ends.js";

const SECOND = 1000;

/** A server in this process. It delivers each message at once. */
class Channel implements EndsChannel {
  readonly listeners = new Set<ChannelListener>();
  opened = 0;
  published: string[] = [];
  /** False: messages get lost, and no error says so. */
  delivers = true;
  publishes = true;

  publish(message: string): Promise<unknown> {
    this.published.push(message);
    if (!this.publishes) return Promise.reject(new Error("away"));
    if (this.delivers) for (const { message: receive } of this.listeners) receive(message);
    return Promise.resolve();
  }

  listen(listener: ChannelListener): () => void {
    this.opened += 1;
    this.listeners.add(listener);
    queueMicrotask(listener.ready);
    return () => void this.listeners.delete(listener);
  }

  lose(): void {
    for (const { lost } of this.listeners) lost();
  }
}

async function watched() {
  const [channel, clock, watcher] = [new Channel(), new TestClock(), told()];
  const ends = createAnnouncedEnds(channel, clock);
  const remove = ends.watch(watcher);
  expect(watcher.log).toEqual([]);
  await Promise.resolve();
  return { channel, clock, watcher, ends, remove };
}

describe("announced ends", () => {
  it("a watcher is connected by the first proof, and gets each end with its whole reason", async () => {
    const { ends, watcher } = await watched();
    await ends.announce("key", "a reason with blanks");
    expect(watcher.log).toEqual(["true", "key a reason with blanks"]);
  });

  it("there is no connection and no timer before the first watcher and after the last one", async () => {
    const [channel, clock] = [new Channel(), new TestClock()];
    const ends = createAnnouncedEnds(channel, clock);
    await ends.announce("key", "reason");
    expect([channel.opened, clock.pendingTimers]).toEqual([0, 0]);
    const removers = [ends.watch(told()), ends.watch(told())];
    expect([channel.opened, channel.listeners.size, clock.pendingTimers]).toEqual([1, 1, 1]);
    for (const remove of removers) remove();
    expect([channel.opened, channel.listeners.size, clock.pendingTimers]).toEqual([1, 0, 0]);
  });

  it("a later watcher learns that the connection works, but not within watchEnds", async () => {
    const { ends } = await watched();
    const later = told();
    ends.watch(later);
    expect(later.log).toEqual([]);
    await Promise.resolve();
    expect(later.log).toEqual(["true"]);
  });

  it("proves the connection every 30 seconds, with one timer", async () => {
    const { channel, clock, watcher } = await watched();
    await clock.advanceAsync(95 * SECOND);
    expect(channel.published).toHaveLength(4);
    expect(new Set(channel.published).size).toBe(4);
    expect([channel.opened, clock.pendingTimers, watcher.log]).toEqual([1, 1, ["true"]]);
  });

  it("a proof that does not arrive within 5 seconds disconnects, and opens new connections until one works", async () => {
    const { channel, clock, watcher } = await watched();
    channel.delivers = false;
    await clock.advanceAsync(34 * SECOND);
    expect(watcher.log).toEqual(["true"]);
    await clock.advanceAsync(SECOND);
    expect(watcher.log).toEqual(["true", "false"]);
    await clock.advanceAsync(300 * SECOND);
    expect(channel.listeners.size).toBe(1);
    // At 0, 35, 45 and 65 seconds, then each 30 seconds until 335.
    expect(channel.opened).toBe(4 + 9);
    channel.delivers = true;
    await clock.advanceAsync(30 * SECOND);
    expect(watcher.log).toEqual(["true", "false", "true"]);
    channel.delivers = false;
    await clock.advanceAsync(35 * SECOND);
    expect(watcher.log.at(-1)).toBe("false");
  });

  it("a lost connection disconnects at once; when it is ready again, a proof connects it", async () => {
    const { channel, watcher } = await watched();
    channel.lose();
    expect(watcher.log).toEqual(["true", "false"]);
    for (const { ready } of channel.listeners) ready();
    expect(watcher.log).toEqual(["true", "false", "true"]);
    expect(channel.opened).toBe(1);
  });

  it("a client that reports failures again and again does not postpone the new connection", async () => {
    const { channel, clock } = await watched();
    channel.delivers = false;
    for (let second = 0; second < 6; second += 1) {
      channel.lose();
      await clock.advanceAsync(SECOND);
    }
    expect(channel.opened).toBe(2);
  });

  it("another process's proof, and one that comes late, connect nothing", async () => {
    const { channel, clock, watcher } = await watched();
    channel.delivers = false;
    await clock.advanceAsync(35 * SECOND);
    const old = channel.published.slice(0, -1);
    for (const { message } of channel.listeners)
      for (const proof of ["proof-of-another", ...old]) message(proof);
    expect(watcher.log).toEqual(["true", "false"]);
  });

  it("a closed connection that still delivers is ignored", async () => {
    const { channel, watcher, remove } = await watched();
    const [listener] = [...channel.listeners];
    remove();
    listener?.message("key reason");
    listener?.lost();
    listener?.ready();
    expect(watcher.log).toEqual(["true"]);
  });

  it("an announcement that fails is not an error", async () => {
    const { channel, ends, watcher } = await watched();
    channel.publishes = false;
    await ends.announce("key", "reason");
    expect(watcher.log).toEqual(["true"]);
  });

  it("a watcher that is removed by another one's end does not disturb the rest", async () => {
    const { ends, watcher, remove } = await watched();
    ends.watch({ ended: () => remove(), connected: () => undefined });
    const third = told();
    ends.watch(third);
    await Promise.resolve();
    await ends.announce("one", "reason");
    await ends.announce("two", "reason");
    expect(watcher.log).toEqual(["true", "one reason"]);
    expect(third.log).toEqual(["true", "one reason", "two reason"]);
  });
});

describe("the memory store's ends", () => {
  it("one watcher may watch twice, and each removal counts once", async () => {
    const store = memoryStore({ clock: new TestClock() });
    const watcher = told();
    const removers = [store.watchEnds?.(watcher), store.watchEnds?.(watcher)];
    expect(watcher.log).toEqual([]);
    await store.announceEnd?.("one", "reason");
    removers[0]?.();
    removers[0]?.();
    await store.announceEnd?.("two", "reason");
    expect(watcher.log.filter((text) => text.includes(" "))).toEqual([
      "one reason",
      "one reason",
      "two reason",
    ]);
  });
});
