import { afterEach, describe, expect, it } from "vitest";
import type { AnyReply } from "../../src/adapter.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import { application as app, signedIn, store } from "../support/one-application.js";

const PATH = "/idpauth/events";
const OWN_PAGE = { accept: "text/event-stream", "sec-fetch-site": "same-origin" };
/** The browser connects again after 5 to 10 seconds. */
const BEGINNING = /^retry: (?:[5-9]\d{3}|10000)\n: open\n\n$/;

afterEach(() => app.stop());

const start = (options: ApplicationOptions = {}) => signedIn({ events: true, ...options });

async function open(
  user: TestUser,
  headers: Readonly<Record<string, string | undefined>> = OWN_PAGE,
  method = "GET",
  auth = app.auth,
): Promise<AnyReply> {
  return (await auth.handle(user.request(PATH, { method, headers }))) as AnyReply;
}

/** What a promise resolves to, or "nothing" if it is still pending. */
function now<Value>(promise: Promise<Value>): Promise<Value | "nothing"> {
  return Promise.race([promise, Promise.resolve("nothing" as const)]);
}

/** The reader of a stream. */
async function read(user: TestUser) {
  const { status, body } = await open(user);
  expect(status).toBe(200);
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  return {
    async next(): Promise<string | undefined> {
      const { value } = await reader.read();
      return value && new TextDecoder().decode(value);
    },
    leave: () => reader.cancel(),
  };
}

describe("the event stream", () => {
  it("is 404 unless it is on", async () => {
    const user = await start({ events: false });
    expect((await open(user)).status).toBe(404);
  });

  it("begins with the time to connect again and a comment, and a comment follows every 25 seconds", async () => {
    const stream = await read(await start());
    expect(await stream.next()).toMatch(BEGINNING);
    const next = stream.next();
    await app.clock.advanceAsync(24_999);
    expect(await now(next)).toBe("nothing");
    await app.clock.advanceAsync(1);
    expect(await next).toBe(":\n\n");
    const second = stream.next();
    await app.clock.advanceAsync(25_000);
    expect(await second).toBe(":\n\n");
  });

  it("of a browser that does not read stores one comment at most", async () => {
    const stream = await read(await start());
    expect(await stream.next()).toMatch(BEGINNING);
    await app.clock.advanceAsync(250_000);
    expect(await stream.next()).toBe(":\n\n");
    expect(await now(stream.next())).toBe("nothing");
  });

  it.each<[reason: string, options: ApplicationOptions, end: (user: TestUser) => Promise<unknown>]>(
    [
      ["logout", {}, (user) => user.get("/idpauth/logout/?response=json")],
      ["replaced", {}, (user) => user.signIn(undefined, { sub: "grace" })],
      ["idle", { sessionIdleTimeout: 60 }, () => app.clock.advanceAsync(62_000)],
      ["max_age", { sessionMaxAge: 90 }, () => app.clock.advanceAsync(92_000)],
      [
        "ended_everywhere",
        {},
        () => app.auth.endAllSessions({ iss: app.provider.issuer, sub: "ada" }),
      ],
      [
        "too_many_sessions",
        { sessionsPerUser: 1 },
        async () => {
          await app.clock.advanceAsync(1_000);
          await app.user().signIn(undefined, { sub: "ada" });
        },
      ],
    ],
  )("ends with the reason %s", async (reason, options, end) => {
    const user = await start(options);
    await user.signIn(undefined, { sub: "ada" });
    const stream = await read(user);
    await stream.next();
    await app.clock.advanceAsync(0);
    await end(user);
    await app.clock.advanceAsync(2_000);
    let last = await stream.next();
    while (last === ":\n\n") last = await stream.next();
    expect(last).toBe(`event: ended\ndata: {"reason":"${reason}"}\n\n`);
    expect(await stream.next()).toBeUndefined();
  });

  it("ends in order when the process closes, without a word: the session continues, and the browser connects again", async () => {
    const user = await start();
    await app.clock.advanceAsync(0);
    const before = app.clock.pendingTimers;
    const stream = await read(user);
    await stream.next();
    await app.clock.advanceAsync(0);
    await app.auth.close();
    expect(await stream.next()).toBeUndefined();
    expect(app.clock.pendingTimers).toBe(before);
    expect((await user.get("/idpauth/session")).json()).toMatchObject({ authenticated: true });
  });

  it("is 503 after close() was called, also with a session that has ended", async () => {
    const user = await start();
    void app.auth.close();
    for (const each of [user, app.user()]) {
      const { status, headers, body } = await open(each);
      expect(JSON.parse(body as string)).toMatchObject({ code: "shutting_down", status: 503 });
      expect([status, headers["Connection"], headers["Retry-After"]]).toEqual([503, "close", "1"]);
    }
  });

  it("is not ended by an outage of the store, and ends when the store is back", async () => {
    const user = await start();
    const stream = await read(user);
    await stream.next();
    store.isDown = true;
    await app.clock.advanceAsync(10_000);
    store.isDown = false;
    const next = stream.next();
    expect(await now(next)).toBe("nothing");
    await user.get("/idpauth/logout/?response=json");
    await app.clock.advanceAsync(5_000);
    expect(await next).toContain("event: ended");
  });

  it("does not count as activity", async () => {
    const user = await start({ sessionIdleTimeout: 3_600 });
    const stamp = async () =>
      (await app.auth.readSessionRecord(user.request("/")))?.["idp_last_active"];
    const before = await stamp();
    app.clock.advance(600_000);
    const stream = await read(user);
    await stream.next();
    await app.clock.advanceAsync(600_000);
    expect(await stamp()).toBe(before);
  });

  it("is 503 in an outage of the store, and takes no place", async () => {
    const user = await start();
    store.isDown = true;
    for (let times = 0; times < 9; times += 1) expect((await open(user)).status).toBe(503);
    store.isDown = false;
    expect((await open(user)).status).toBe(200);
  });

  it("is 401 for a signed-out user", async () => {
    await start();
    const answer = await open(app.user());
    expect([answer.status, answer.body]).toEqual([
      401,
      expect.stringContaining('"error":"login_required"'),
    ]);
  });

  it("is refused for a page of another origin before the session is read", async () => {
    const user = await start();
    const before = store.operations.length;
    const unknown = { "sec-fetch-site": undefined };
    for (const headers of [
      unknown,
      ...["cross-site", "same-site", "none"].map((site) => ({ "sec-fetch-site": site })),
      { ...unknown, origin: "https://evil.example" },
    ]) {
      expect((await open(user, headers)).status, JSON.stringify(headers)).toBe(403);
    }
    expect(store.operations).toHaveLength(before);
  });
});

describe("the streams of one session", () => {
  it("are at most eight in one process, and each that closes gives its place back", async () => {
    const user = await start();
    const streams = [];
    for (let count = 0; count < 8; count += 1) streams.push(await read(user));
    expect((await open(user)).status).toBe(429);
    const other = app.user();
    await other.signIn();
    expect((await open(other)).status).toBe(200);
    expect((await open(user, OWN_PAGE, "GET", app.another())).status).toBe(200);
    await streams[0]?.leave();
    expect((await open(user)).status).toBe(200);
    expect((await open(user)).status).toBe(429);
  });

  it("leave no timer and no watcher when they have closed, by the browser or by the end of the session", async () => {
    const user = await start();
    await app.clock.advanceAsync(0);
    const before = app.clock.pendingTimers;
    for (let round = 0; round < 20; round += 1) {
      const stream = await read(user);
      await stream.next();
      await app.clock.advanceAsync(0);
      await stream.leave();
    }
    expect(app.clock.pendingTimers).toBe(before);
    const stream = await read(user);
    await stream.next();
    await app.clock.advanceAsync(0);
    await user.get("/idpauth/logout/?response=json");
    expect(await stream.next()).toContain("event: ended");
    expect(await stream.next()).toBeUndefined();
    // The store's own: it keeps the trace of the sign-in for ten minutes.
    expect(app.clock.pendingTimers).toBe(1);
  });

  it("HEAD opens none", async () => {
    const user = await start();
    const reply = await open(user, OWN_PAGE, "HEAD");
    expect([reply.status, reply.headers["Content-Type"], reply.body]).toEqual([
      200,
      "text/event-stream",
      undefined,
    ]);
  });
});
