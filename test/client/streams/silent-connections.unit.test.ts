import { describe, expect, it } from "vitest";
import { liveTab, type LiveTab } from "./live-tab.js";

/** A path that drops packets silently: the server's bytes and the browser's never arrive. */
async function openedStream(heartbeat?: string) {
  const live = await liveTab();
  live.heartbeat = heartbeat;
  const stream = live.stream();
  await live.browser.pass(1);
  return { live, stream };
}

/** The server sends a comment every 25 seconds. */
async function beat({ browser, connections }: LiveTab, times: number): Promise<void> {
  for (let count = 0; count < times; count++) {
    connections.at(-1)!.send(":\n\n");
    await browser.pass(25);
  }
}

/** The computer sleeps: its timers stand still, and its clock doesn't. */
function sleep({ browser: { clock } }: LiveTab, seconds: number): void {
  clock.setNow(clock.now() + seconds * 1000);
}

describe("a stream whose server names its heartbeat", () => {
  it.each([0, 0.5, 0.999])(
    "is lost after three missed ones, and opens again with today's pause (random %d)",
    async (random) => {
      const { live, stream } = await openedStream("25");
      live.browser.random = random;
      await beat(live, 4);
      // Since the last comment.
      let silent = 25;
      while (live.connections[0]!.isOpen && silent < 200) {
        await live.browser.pass(1);
        silent += 1;
      }
      expect(silent).toBeGreaterThanOrEqual(75);
      expect(silent).toBeLessThanOrEqual(112);
      expect([live.events.at(-1), stream.readyState]).toEqual(["error", stream.CONNECTING]);
      await live.browser.pass(1);
      expect(live.connections.length).toBe(1);
      await live.browser.pass(5);
      expect([live.connections.length, stream.readyState]).toEqual([2, stream.OPEN]);
      expect(live.reason).toBeUndefined();
    },
  );

  it("stays open for hours while it beats, also if the comments are a little late", async () => {
    const { live, stream } = await openedStream("25");
    for (let count = 0; count < 500; count++) {
      await live.browser.pass(count % 2 ? 24 : 31);
      live.connections[0]!.send(count % 3 ? ":\n\n" : "data: 1\n\n");
    }
    expect([live.connections.length, stream.readyState]).toEqual([1, stream.OPEN]);
    expect(live.tab.timers.size).toBeLessThan(4);
  });

  it("isn't lost by a computer that has slept, if its bytes still come", async () => {
    const { live } = await openedStream("25");
    await beat(live, 2);
    sleep(live, 3600);
    await beat(live, 8);
    expect(live.connections.length).toBe(1);
  });

  it("leaves no timer and no listener behind when it is closed", async () => {
    const { live, stream } = await openedStream("25");
    const timers = live.tab.timers.size;
    stream.close();
    expect(live.tab.timers.size).toBe(timers - 1);
  });
});

describe.each([undefined, "", "0", "-1", "0.001", "1e9", "x"])(
  "a stream that needn't beat (%j)",
  (heartbeat) => {
    it("stays open in silence", async () => {
      const { live, stream } = await openedStream(heartbeat);
      await live.browser.pass(3600);
      expect([live.connections.length, stream.readyState]).toEqual([1, stream.OPEN]);
    });
  },
);

describe("a connection that needn't beat", () => {
  const KINDS = ["stream", "socket"] as const;
  async function opened(kind: (typeof KINDS)[number]) {
    const live = await liveTab();
    if (kind === "stream") live.stream();
    else live.socket();
    await live.browser.pass(1);
    live.sockets[0]?.accept();
    const isLost = () =>
      kind === "stream" ? !live.connections[0]!.isOpen : live.sockets[0]!.readyState > 1;
    return { live, isLost };
  }

  it.each(KINDS)(
    "a %s stays open if a probe succeeds when the network has come back",
    async (kind) => {
      const { live, isLost } = await opened(kind);
      const before = live.tab.probes;
      live.tab.fire("online");
      live.tab.fire("online");
      await live.browser.pass(5);
      // One of the session, and one of the connection.
      expect([isLost(), live.tab.probes - before]).toEqual([false, 2]);
    },
  );

  it.each(KINDS)("a %s is checked in the same way after the computer has slept", async (kind) => {
    const { live, isLost } = await opened(kind);
    await live.browser.pass(300);
    expect(isLost()).toBe(false);
    live.browser.server.outage = "network";
    sleep(live, 60);
    await live.browser.pass(40);
    expect(isLost()).toBe(false);
    sleep(live, 600);
    await live.browser.pass(40);
    expect(isLost()).toBe(true);
  });

  it.each(KINDS)(
    "a %s is lost if that probe fails, and opens again when the server responds",
    async (kind) => {
      const { live, isLost } = await opened(kind);
      live.browser.server.outage = "network";
      live.tab.fire("online");
      await live.browser.pass(5);
      expect(isLost()).toBe(true);
      live.browser.server.outage = undefined;
      await live.browser.pass(120);
      expect(kind === "stream" ? live.connections.length : live.sockets.length).toBe(2);
      expect(live.reason).toBeUndefined();
    },
  );
});
