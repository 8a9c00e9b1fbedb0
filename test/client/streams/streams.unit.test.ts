import { describe, expect, it, vi } from "vitest";
import { openSocket, openStream } from "../../../src/client/streams/streams.js";
import { createClient } from "../../../src/client/client.js";
import type { EndReason } from "../../../src/record/end-reason.js";
import { ADA, BOB } from "../session-server.js";
import { liveTab, STREAM_URL, type LiveTab } from "./live-tab.js";

/** A stream that is open, and how many probes the client has sent before. */
async function openedStream(options?: { closeWhenHidden?: boolean }) {
  const live = await liveTab();
  const stream = live.stream(options);
  await live.browser.pass(1);
  const probes = live.tab.probes;
  return { ...live, live, stream, probes: () => live.tab.probes - probes };
}

async function openedSocket(options?: { closeWhenHidden?: boolean; protocols?: string }) {
  const live = await liveTab();
  const socket = live.socket(options);
  await live.browser.pass(1);
  live.sockets[0]!.accept();
  const probes = live.tab.probes;
  return { ...live, live, socket, probes: () => live.tab.probes - probes };
}

/** The seconds between the requests for streams, while all of them fail. */
async function pauses({ browser, connections }: LiveTab, seconds: number): Promise<number[]> {
  const times: number[] = [];
  for (let passed = 0; passed < seconds; passed += 0.5) {
    const before = connections.length;
    await browser.pass(0.5);
    if (connections.length > before) times.push(passed + 0.5);
  }
  return times.map((time, index) => time - (times[index - 1] ?? 0));
}

describe("a stream", () => {
  it("has EventSource's interface: readyState, events with type, data and id, handlers and listeners", async () => {
    const live = await liveTab();
    const stream = live.stream();
    expect(stream).toMatchObject({ url: STREAM_URL, readyState: 0, withCredentials: false });
    const messages: [unknown, string, string][] = [];
    stream.onmessage = ({ data, lastEventId, origin }) =>
      messages.push([data, lastEventId, origin]);
    stream.onopen = vi.fn();
    await live.browser.pass(1);
    expect(stream.readyState).toBe(stream.OPEN);
    expect(stream.onopen).toHaveBeenCalledOnce();
    live.connections[0]!.send("id: 7\ndata: one\n\nevent: tick\ndata: two\n\n");
    await live.browser.pass(1);
    expect(messages).toEqual([["one", "7", "https://app.example"]]);
    expect(live.events).toEqual(["open", ["message", "one"], ["tick", "two"]]);
    expect(Object.fromEntries(live.connections[0]!.headers)).toEqual({
      accept: "text/event-stream",
      "x-idpauth": "1",
    });
  });

  it("close() ends it: no event follows, and no probe", async () => {
    const { live, stream, probes } = await openedStream();
    stream.addEventListener("message", () => stream.close());
    live.connections[0]!.send("data: 1\n\ndata: 2\n\n");
    await live.browser.pass(1);
    expect(stream.readyState).toBe(stream.CLOSED);
    expect(live.events).toEqual(["open", ["message", "1"]]);
    expect([live.reason, live.connections[0]!.isOpen, probes()]).toEqual(["closed", false, 0]);
    await live.browser.pass(30);
    expect(live.connections).toHaveLength(1);
  });

  it("close() while the response arrives: the stream stays closed, and doesn't open", async () => {
    for (let turns = 0; turns < 10; turns += 1) {
      const live = await liveTab();
      const stream = live.stream();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      stream.close();
      live.events.length = 0;
      await live.browser.pass(1);
      expect([stream.readyState, live.events]).toEqual([stream.CLOSED, []]);
    }
  });

  it.each([
    "https://other.example/stream",
    "//app.example:8443/",
    "wss://other.example/",
    "data:,x",
  ])("of %s is a TypeError before anything is sent", async (url) => {
    const live = await liveTab();
    expect(() => live.stream({ url })).toThrow(TypeError);
    expect(() => live.socket({ url })).toThrow("is on another origin.");
    await live.browser.pass(1);
    expect([live.connections, live.sockets]).toEqual([[], []]);
  });

  it("waits for a session: it opens when the user has signed in", async () => {
    const live = await liveTab({}, false);
    live.stream();
    live.socket();
    await live.browser.pass(100);
    expect([live.connections, live.sockets]).toEqual([[], []]);
    live.browser.server.signIn(ADA);
    live.tab.fire("focus");
    await live.browser.pass(1);
    expect([live.connections.length, live.sockets.length]).toEqual([1, 1]);
  });

  it("is nothing but an object on a server", async () => {
    const client = createClient();
    const stream = openStream("/api/stream", { client });
    const socket = openSocket("/ws", [], { client });
    expect([stream.url, stream.readyState, socket.readyState]).toEqual(["/api/stream", 0, 0]);
    stream.close();
    socket.close();
    expect(await Promise.all([stream.ended, socket.ended])).toEqual([
      { reason: "closed" },
      { reason: "closed" },
    ]);
  });
});

describe("after a close, one probe decides", () => {
  it.each(["end", "break"] as const)(
    "if the server or the network closes the stream (%s), it opens again with Last-Event-ID",
    async (close) => {
      const { live, stream, probes } = await openedStream();
      live.connections[0]!.send("id: é😀\ndata: 1\n\n");
      await live.browser.pass(1);
      live.connections[0]![close]();
      await live.browser.pass(1);
      expect(live.events.at(-1)).toBe("error");
      expect(stream.readyState).toBe(stream.CONNECTING);
      await live.browser.pass(2);
      expect([live.connections.length, stream.readyState, probes()]).toEqual([2, 1, 1]);
      expect(live.connections[1]!.headers.get("Last-Event-ID")).toBe(
        Buffer.from("é😀").toString("latin1"),
      );
      live.connections[1]!.send("data: 2\n\n");
      await live.browser.pass(1);
      expect(live.events.slice(-2)).toEqual(["open", ["message", "2"]]);
    },
  );

  it("an id of an event that has not arrived whole isn't sent", async () => {
    const { live } = await openedStream();
    live.connections[0]!.send("id: 1\ndata: 1\n\nid: 2\ndata: 2\n");
    live.connections[0]!.end();
    await live.browser.pass(10);
    expect(live.connections[1]!.headers.get("Last-Event-ID")).toBe("1");
  });

  it("it waits as long as the server says in retry, and up to as much again by chance", async () => {
    const { live, browser } = await openedStream();
    browser.random = 0.5;
    live.connections[0]!.send("retry: 10000\n");
    live.connections[0]!.end();
    await browser.pass(14.9);
    expect(live.connections).toHaveLength(1);
    await browser.pass(0.2);
    expect(live.connections).toHaveLength(2);
  });

  it.each([
    ["of 0", "0", 1],
    ["that is no number of milliseconds", "9".repeat(400), 86_400],
  ])("a retry %s is limited", async (_name, retry, seconds) => {
    const { live, browser } = await openedStream();
    live.connections[0]!.send(`retry: ${retry}\n`);
    live.connections[0]!.end();
    await browser.pass(seconds - 0.5);
    expect(live.connections).toHaveLength(1);
    await browser.pass(1);
    expect(live.connections).toHaveLength(2);
  });

  it.each<[EndReason, string]>([
    ["max_age", "session-limit"],
    ["idle", "session-limit"],
    ["session_expiry", "session-limit"],
    ["logged_out_at_provider", "signed-out"],
    ["ended_everywhere", "signed-out"],
  ])("a session that has ended by %s: %s", async (code, reason) => {
    const { live, stream, probes } = await openedStream();
    live.browser.server.signOut(code);
    live.connections[0]!.send(`event: ended\ndata: {"reason":"${code}"}\n\n`);
    live.connections[0]!.end();
    await live.browser.pass(1);
    expect([live.reason, stream.readyState, probes()]).toEqual([reason, stream.CLOSED, 1]);
    expect(live.events.slice(-3)).toEqual([["ended", `{"reason":"${code}"}`], "error", "error"]);
    // A later session doesn't open it again.
    live.browser.server.signIn(ADA);
    live.tab.fire("focus");
    await live.browser.pass(30);
    expect([live.connections.length, live.reason]).toEqual([1, reason]);
  });

  it("another user has signed in: signed-out, also if the connection is still open", async () => {
    const { live, probes } = await openedStream();
    live.browser.server.signIn(BOB);
    live.tab.fire("focus");
    await live.browser.pass(1);
    expect([live.reason, live.connections[0]!.isOpen, probes()]).toEqual(["signed-out", false, 1]);
  });

  it("a sign-out that another tab reports ends it at once, without a probe of its own", async () => {
    const { live, probes } = await openedStream();
    const other = live.browser.tab("other");
    await live.browser.pass(1);
    void other.client.signOut();
    live.browser.server.signOut();
    await live.browser.pass(1);
    expect([live.reason, live.connections[0]!.isOpen, probes()]).toEqual(["signed-out", false, 1]);
  });

  it("several streams of a page that end at once share the probe", async () => {
    const live = await liveTab();
    for (let count = 0; count < 4; count += 1) live.stream();
    await live.browser.pass(1);
    const before = live.tab.probes;
    live.browser.server.signOut("idle");
    for (const connection of live.connections) {
      connection.send('event: ended\ndata: {"reason":"idle"}\n\n');
      connection.end();
    }
    await live.browser.pass(2);
    expect([live.reason, live.tab.probes - before]).toEqual(["session-limit", 1]);
  });

  it("a session that the server doesn't know counts as signed out only after 3 seconds, because a new sign-in may replace it", async () => {
    const { live, browser, probes } = await openedStream();
    browser.server.signOut();
    live.connections[0]!.send("event: ended\ndata: {}\n\n");
    live.connections[0]!.end();
    await browser.pass(2.5);
    expect([live.tab.state.status, live.reason]).toEqual(["signed-out", undefined]);
    await browser.pass(1);
    expect([live.reason, probes()]).toEqual(["signed-out", 1]);
  });

  it("if the page believed too early that the user is signed out, the stream asks once more, and opens", async () => {
    const { live, browser, probes } = await openedStream();
    browser.server.signOut();
    live.tab.fire("focus");
    await browser.pass(1);
    expect([live.tab.state.status, probes()]).toEqual(["signed-out", 1]);
    browser.server.signIn(ADA);
    await browser.pass(3);
    expect([live.connections.length, live.reason, probes()]).toEqual([2, undefined, 2]);
  });

  it("a sign-in of the same user that replaces the session opens it at once", async () => {
    const { live, browser } = await openedStream();
    browser.server.signOut();
    live.tab.fire("focus");
    await browser.pass(0);
    await browser.pass(1);
    expect([live.tab.state.status, live.connections[0]!.isOpen]).toEqual(["signed-out", false]);
    browser.server.signIn(ADA);
    void live.tab.client.refresh();
    await browser.pass(1);
    expect([live.connections.length, live.reason]).toEqual([2, undefined]);
    await browser.pass(30);
    expect(live.reason).toBeUndefined();
  });

  it("after `replaced` the page doesn't show that the user is signed out: the probe waits for the new cookie", async () => {
    const { live, browser, probes } = await openedStream();
    const states: string[] = [];
    live.tab.client.subscribe(({ status }) => states.push(status));
    browser.server.signOut();
    live.connections[0]!.send('event: ended\ndata: {"reason":"replaced"}\n\n');
    live.connections[0]!.end();
    await browser.pass(1);
    expect(probes()).toBe(0);
    browser.server.signIn(ADA);
    await browser.pass(2);
    expect([live.connections.length, probes(), states]).toEqual([2, 1, []]);
  });

  it("an event `ended` of a user who is still signed in: opens again at once, at most once a second", async () => {
    const { live, browser, probes } = await openedStream();
    const end = (connection = live.connections.at(-1)!) => {
      connection.send("event: ended\ndata: {}\n\n");
      connection.end();
    };
    await browser.pass(5);
    end();
    await browser.pass(0.1);
    expect([live.connections.length, probes()]).toEqual([2, 1]);
    end();
    await browser.pass(0.5);
    expect([live.connections.length, probes()]).toEqual([2, 2]);
    await browser.pass(0.5);
    expect(live.connections).toHaveLength(3);
  });
});

describe("what the server responds with instead of a stream", () => {
  it.each([
    ["403", { status: 403 }],
    ["404", { status: 404 }],
    ["another type", { status: 200, headers: { "Content-Type": "text/html" } }],
    [
      "a type that only begins like it",
      { status: 200, headers: { "Content-Type": "text/event-streams" } },
    ],
  ])("%s: refused, after one probe", async (_name, refusal) => {
    const live = await liveTab();
    live.refusal = refusal;
    const before = live.tab.probes;
    const stream = live.stream();
    await live.browser.pass(1);
    expect([live.reason, stream.readyState]).toEqual(["refused", stream.CLOSED]);
    expect([live.connections.length, live.tab.probes - before]).toEqual([1, 1]);
    expect(live.events).toEqual(["error", "error"]);
  });

  it("a login page, because the session has ended: the reason of the session", async () => {
    const live = await liveTab();
    live.refusal = { status: 200, headers: { "Content-Type": "text/html" } };
    live.browser.server.signOut("idle");
    live.stream();
    await live.browser.pass(1);
    expect(live.reason).toBe("session-limit");
  });

  it("a second 401 of a signed-in user: refused", async () => {
    const live = await liveTab();
    live.refusal = { status: 401 };
    live.stream();
    await live.browser.pass(1.5);
    expect([live.connections.length, live.reason]).toEqual([2, undefined]);
    await live.browser.pass(10);
    expect([live.connections.length, live.reason]).toEqual([2, "refused"]);
  });

  it("an event that is longer than the limit: refused", async () => {
    const { live, probes } = await openedStream();
    for (let sent = 0; sent <= 2 ** 20; sent += 2 ** 18)
      live.connections[0]!.send("x".repeat(2 ** 18));
    await live.browser.pass(1);
    expect([live.reason, live.connections[0]!.isOpen, probes()]).toEqual(["refused", false, 1]);
  });
});

describe("an outage", () => {
  it("of the whole server: longer and longer pauses with one probe each, and a stream as soon as it is over", async () => {
    const { live, browser, probes } = await openedStream();
    live.refusal = browser.server.outage = "network" as const;
    live.connections[0]!.break();
    await browser.pass(100);
    // 2, 4, 8, 16, 32 seconds, and the client's own probes in between.
    expect(live.connections).toHaveLength(1);
    expect(probes()).toBeLessThanOrEqual(10);
    live.refusal = browser.server.outage = undefined;
    live.tab.fire("online");
    await browser.pass(1);
    expect([live.connections.length, live.reason]).toEqual([2, undefined]);
  });

  it.each([{ status: 500 }, { status: 503 }, { status: 429 }, "network" as const])(
    "of the API alone (%s): 2, 4, 8, … seconds, unavailable after pauses of five minutes",
    async (refusal) => {
      const { live, browser, probes } = await openedStream();
      live.refusal = refusal;
      live.connections[0]!.end();
      expect(await pauses(live, 63)).toEqual([2.5, 4, 8, 16, 32]);
      expect(probes()).toBeGreaterThanOrEqual(5);
      await browser.pass(180);
      expect(live.reason).toBeUndefined();
      await browser.pass(80);
      expect(live.reason).toBe("unavailable");
    },
  );

  it("it waits as long as Retry-After says", async () => {
    const { live, browser } = await openedStream();
    live.refusal = { status: 503, headers: { "Retry-After": "120" } };
    live.connections[0]!.end();
    await browser.pass(3);
    expect(live.connections).toHaveLength(2);
    await browser.pass(118);
    expect(live.connections).toHaveLength(2);
    await browser.pass(3);
    expect(live.connections).toHaveLength(3);
  });

  it("a Retry-After of a month counts as a day", async () => {
    const live = await liveTab({ probeInterval: 86_400 });
    live.refusal = { status: 429, headers: { "Retry-After": "2592000" } };
    live.stream();
    await live.browser.pass(86_300);
    expect(live.connections).toHaveLength(1);
    await live.browser.pass(200);
    expect(live.connections).toHaveLength(2);
  });

  it("a user who stays active doesn't shorten Retry-After", async () => {
    const { live, browser } = await openedStream();
    browser.server.signIn(ADA, { idle: 900 });
    live.refusal = { status: 503, headers: { "Retry-After": "120" } };
    live.connections[0]!.end();
    await browser.pass(3);
    for (let count = 0; count < 4; count += 1) {
      await browser.settled(live.tab.client.keepAlive());
      await browser.pass(9);
    }
    expect(live.connections).toHaveLength(2);
  });

  it("a clock that is set back delays nothing", async () => {
    const { live, browser } = await openedStream();
    browser.clock.setNow(browser.clock.now() - 3_600_000);
    live.connections[0]!.end();
    await browser.pass(3);
    expect(live.connections).toHaveLength(2);
  });

  it("a stream that has opened forgets the outage", async () => {
    const { live, browser } = await openedStream();
    for (let outages = 0; outages < 5; outages += 1) {
      live.refusal = { status: 502 };
      live.connections.at(-1)!.end();
      await browser.pass(150);
      live.refusal = undefined;
      await browser.pass(70);
      expect(live.reason).toBeUndefined();
    }
  });

  it("a computer that sleeps for hours in an outage still tries again", async () => {
    const { live, browser } = await openedStream();
    live.refusal = { status: 502 };
    live.connections[0]!.end();
    await browser.pass(5);
    browser.clock.setNow(browser.clock.now() + 8 * 3_600_000);
    live.refusal = undefined;
    await browser.pass(10);
    expect(live.reason).toBeUndefined();
    expect(live.connections.at(-1)!.isOpen).toBe(true);
  });
});

describe("a hidden page", () => {
  it.each([
    ["is shown again", "hide", "show"],
    ["returns from the back/forward cache", "pagehide", "pageshow"],
  ] as const)(
    "that %s opens nothing before the client knows whose session it is",
    async (_name, leave, come) => {
      const { live } = await openedStream({ closeWhenHidden: true });
      const move = (way: typeof leave | typeof come) => {
        if (way === "hide" || way === "show") live.tab[way]();
        else live.tab.fire(way, { persisted: true });
      };
      move(leave);
      live.browser.server.signIn(BOB);
      await live.browser.pass(10);
      live.browser.server.latency = { there: 100, back: 100 };
      move(come);
      await live.browser.pass(1);
      expect([live.connections.length, live.reason]).toEqual([1, "signed-out"]);
    },
  );

  it("with closeWhenHidden: closes without a probe or an event, and opens again when it is shown", async () => {
    const { live, stream, probes } = await openedStream({ closeWhenHidden: true });
    live.connections[0]!.send("id: 1\ndata: 1\n\n");
    await live.browser.pass(1);
    live.tab.hide();
    await live.browser.pass(60);
    expect([live.connections[0]!.isOpen, stream.readyState, probes()]).toEqual([false, 0, 0]);
    expect(live.events).toEqual(["open", ["message", "1"]]);
    live.tab.show();
    await live.browser.pass(1);
    expect([live.connections.length, stream.readyState]).toEqual([2, 1]);
    expect(live.connections[1]!.headers.get("Last-Event-ID")).toBe("1");
    expect(live.events).toEqual(["open", ["message", "1"], "open"]);
  });

  it("with closeWhenHidden: opens nothing before it is shown", async () => {
    const live = await liveTab();
    live.tab.hide();
    live.stream({ closeWhenHidden: true });
    live.socket({ closeWhenHidden: true });
    await live.browser.pass(60);
    expect([live.connections, live.sockets]).toEqual([[], []]);
    live.tab.show();
    await live.browser.pass(1);
    expect([live.connections.length, live.sockets.length]).toEqual([1, 1]);
  });

  it("without it: stays open, and reconnects in the background", async () => {
    const { live, probes } = await openedStream();
    live.tab.hide();
    await live.browser.pass(60);
    expect(live.connections[0]!.isOpen).toBe(true);
    live.connections[0]!.end();
    await live.browser.pass(3);
    expect([live.connections.length, probes()]).toEqual([2, 1]);
  });

  it("a page that goes into the back/forward cache closes it, and one that returns opens it", async () => {
    const { live } = await openedStream();
    live.tab.fire("pagehide", { persisted: true });
    await live.browser.pass(5);
    expect(live.connections[0]!.isOpen).toBe(false);
    expect(live.connections).toHaveLength(1);
    live.tab.fire("pageshow", { persisted: true });
    await live.browser.pass(1);
    expect(live.connections).toHaveLength(2);
  });
});

describe("a socket", () => {
  it("has WebSocket's interface", async () => {
    const live = await liveTab();
    const socket = live.socket({ url: "/ws?room=1", protocols: "chat" });
    expect(socket).toMatchObject({
      url: "wss://app.example/ws?room=1",
      readyState: 0,
      protocol: "",
    });
    socket.binaryType = "arraybuffer";
    await live.browser.pass(1);
    const [inner] = live.sockets;
    expect(inner).toMatchObject({ protocols: "chat", binaryType: "arraybuffer" });
    expect(() => socket.send("early")).toThrow("The socket isn't open.");
    inner!.accept();
    expect(socket).toMatchObject({
      readyState: 1,
      protocol: "chat",
      bufferedAmount: 0,
      extensions: "",
    });
    socket.onmessage = vi.fn();
    inner!.receive("one");
    socket.send("two");
    expect(inner!.sent).toEqual(["two"]);
    expect(socket.onmessage).toHaveBeenCalledOnce();
    expect(live.events).toEqual(["open", ["message", "one"]]);
  });

  it("close(): closed, after the code was checked", async () => {
    const { live, socket, probes } = await openedSocket();
    expect(() => socket.close(1)).toThrow("Such a code isn't allowed.");
    expect(socket.readyState).toBe(socket.OPEN);
    socket.close();
    expect(socket.readyState).toBe(socket.CLOSING);
    live.sockets[0]!.drop(1000);
    expect(socket.readyState).toBe(socket.CLOSED);
    await live.browser.pass(30);
    expect([live.reason, live.sockets.length, probes()]).toEqual(["closed", 1, 0]);
    expect(live.events).toEqual(["open", "close"]);
  });

  it("that loses its connection opens another one, after one probe", async () => {
    const { live, socket, probes } = await openedSocket({ protocols: "chat" });
    live.sockets[0]!.drop(1001);
    expect([socket.readyState, live.events.at(-1)]).toEqual([socket.CONNECTING, "close"]);
    await live.browser.pass(3);
    expect([live.sockets.length, live.sockets[1]!.protocols, probes()]).toEqual([2, "chat", 1]);
    live.sockets[1]!.accept();
    expect(socket.readyState).toBe(socket.OPEN);
  });

  it("that the server closes with 4401: the probe is sent at once", async () => {
    const { live, socket, probes } = await openedSocket();
    live.browser.server.signOut("idle");
    live.sockets[0]!.drop(4401, "idle");
    await live.browser.pass(1);
    expect([live.reason, socket.readyState, probes()]).toEqual(["session-limit", 3, 1]);
  });

  it("with 4401 because a new sign-in has replaced the session: opens again without a sign-out on the page", async () => {
    const { live, browser, probes } = await openedSocket();
    browser.server.signOut();
    live.sockets[0]!.drop(4401, "replaced");
    await browser.pass(1);
    expect(probes()).toBe(0);
    browser.server.signIn(ADA);
    await browser.pass(2);
    expect([live.sockets.length, probes(), live.reason]).toEqual([2, 1, undefined]);
  });

  it("that can't open five times while the user is signed in: refused", async () => {
    const live = await liveTab();
    live.socket();
    for (let tries = 1; tries <= 5; tries += 1) {
      await live.browser.pass(40);
      expect([live.sockets.length, live.reason]).toEqual([tries, undefined]);
      live.sockets.at(-1)!.drop();
    }
    await live.browser.pass(100);
    expect([live.sockets.length, live.reason]).toEqual([5, "refused"]);
  });

  it("the tries of an outage don't count as refused", async () => {
    const { live, browser } = await openedSocket();
    browser.server.outage = "network";
    live.sockets[0]!.drop();
    await browser.pass(10);
    browser.server.outage = undefined;
    for (let tries = 2; tries <= 5; tries += 1) {
      await browser.pass(100);
      expect([live.sockets.length, live.reason]).toEqual([tries, undefined]);
      live.sockets.at(-1)!.drop();
    }
    await browser.pass(100);
    expect(live.reason).toBeUndefined();
  });

  it("of a page that is hidden emits `close` at once, and not after the next `open`", async () => {
    const { live } = await openedSocket({ closeWhenHidden: true });
    live.tab.hide();
    expect(live.events).toEqual(["open", "close"]);
    await live.browser.pass(2);
    live.tab.show();
    await live.browser.pass(1);
    live.sockets[1]!.accept();
    live.sockets[0]!.drop(1005);
    expect(live.events).toEqual(["open", "close", "open"]);
  });

  it("closes when another tab reports a sign-out", async () => {
    const { live, socket } = await openedSocket();
    const other = live.browser.tab("other");
    await live.browser.pass(1);
    void other.client.signOut();
    live.browser.server.signOut();
    await live.browser.pass(1);
    expect([live.reason, socket.readyState]).toEqual(["signed-out", socket.CLOSING]);
  });

  it("with an address or a protocol that WebSocket refuses: refused, and the error is reported", async () => {
    const live = await liveTab();
    const failure = new DOMException("The protocol is invalid.", "SyntaxError");
    Object.defineProperty(live.sockets, "push", {
      value: () => {
        throw failure;
      },
    });
    const socket = live.socket();
    await live.browser.pass(1);
    expect([live.reason, socket.readyState]).toEqual(["refused", socket.CLOSED]);
    expect(live.tab.errors).toEqual([failure]);
  });
});
