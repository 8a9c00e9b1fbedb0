import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { GuardMissingError, type EventStream } from "idpauth";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import { OpenedStream } from "./opened-stream.js";
import type { AdapterRequirement } from "./requirement.js";
import { withinLimit } from "./time-limit.js";

const area = "event streams";
const PATH = "/notices";
const BEGINNING = ": open\n\n";
/** Milliseconds between two comments. */
const COMMENT_INTERVAL_MS = 25_000;
/** More than all buffers between an application and a browser on the same machine. */
const MAX_SENT_BYTES = 67_108_864;
/** After as many turns of the event loop without a change, a browser is taken not to read. */
const MAX_IDLE_TURNS = 500;

interface Started {
  readonly app: StartedApplication;
  /** The streams that the handler got. */
  readonly streams: EventStream[];
  /** Opens a stream as a signed-in user. */
  open(): Promise<readonly [OpenedStream, EventStream]>;
}

async function start(
  starter: ApplicationStarter,
  {
    isGuarded = true,
    headers = {},
  }: { isGuarded?: boolean; headers?: Record<string, string> } = {},
): Promise<Started> {
  const streams: EventStream[] = [];
  const app = await starter.start({
    routes: [
      {
        kind: "stream",
        method: "GET",
        path: PATH,
        headers,
        ...(isGuarded && { guard: { mount: 0 } }),
        opened: (stream) => void streams.push(stream),
      },
    ],
  });
  return {
    app,
    streams,
    async open() {
      const read = await OpenedStream.open(app, await app.signedIn(), PATH);
      const stream = streams.at(-1);
      assert.ok(stream !== undefined, `there is no stream: ${String(read.status)} ${read.text}`);
      await read.until(BEGINNING);
      return [read, stream];
    },
  };
}

function aborted({ signal }: EventStream, otherwise: string): Promise<void> {
  const fired = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener("abort", () => {
        resolve();
      });
  });
  return withinLimit(fired, otherwise);
}

/** Sends events until the stream takes no more. @returns how many bytes */
async function fill({ send }: EventStream): Promise<number> {
  const part = "x".repeat(16_384);
  let bytes = 0;
  for (let idle = 0; idle < MAX_IDLE_TURNS && bytes < MAX_SENT_BYTES; idle += 1) {
    while (bytes < MAX_SENT_BYTES && send(part)) {
      bytes += part.length;
      idle = 0;
    }
    await nextTurn();
  }
  return bytes;
}

async function takesMore({ send }: EventStream): Promise<void> {
  while (!send("more")) await nextTurn();
}

export const eventStreamRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "eventStream sends events and comments at once, keeps caches and proxies from changing them, and keeps the application's headers",
    async check(starter) {
      const { app, open } = await start(starter, { headers: { "X-Own": "kept" } });
      const [read, stream] = await open();
      const { headers } = read;
      assert.deepEqual(
        [
          headers["content-type"],
          headers["cache-control"],
          headers["x-accel-buffering"],
          headers["x-idpauth-heartbeat"],
          headers["content-length"],
          headers["x-own"],
        ],
        ["text/event-stream", "private, no-store, no-transform", "no", "25", undefined, "kept"],
      );
      const { send } = stream;
      assert.equal(send({ total: 1 }, { event: "order", id: "7", retry: 9_000 }), true);
      await read.until('event: order\nid: 7\nretry: 9000\ndata: {"total":1}\n\n');
      assert.equal(send("two\nlines"), true);
      await read.until("data: two\ndata: lines\n\n");
      app.clock.advance(COMMENT_INTERVAL_MS);
      await read.until("lines\n\n:\n\n");
    },
  },
  {
    area,
    title: "at the end of the session, the stream says why, is complete, and its signal aborts",
    async check(starter) {
      const { app, streams } = await start(starter);
      const browser = await app.signedIn();
      const read = await OpenedStream.open(app, browser, PATH);
      await read.until(BEGINNING);
      await browser.get("/idpauth/logout/?response=json");
      assert.equal(await read.ended(), true);
      assert.ok(read.text.endsWith('event: ended\ndata: {"reason":"logout"}\n\n'), read.text);
      const [stream] = streams as [EventStream];
      await aborted(stream, "the signal does not abort");
      const { code, reason } = stream.signal.reason as Record<"code" | "reason", string>;
      assert.deepEqual([code, reason, stream.send("more")], ["session_ended", "logout", false]);
    },
  },
  {
    area,
    title: "when the browser leaves, the stream's signal aborts, and it takes no more events",
    needs: "aborted requests",
    async check(starter) {
      const { open } = await start(starter);
      const [read, stream] = await open();
      assert.equal(stream.signal.aborted, false);
      read.leave();
      await aborted(stream, "the signal of a browser that has left does not abort");
      assert.equal(stream.send("more"), false);
    },
  },
  {
    area,
    title: "a browser that does not read fills no memory: events are dropped until it reads again",
    async check(starter) {
      const { open } = await start(starter);
      const [read, stream] = await open();
      read.pause();
      const bytes = await fill(stream);
      assert.ok(bytes < MAX_SENT_BYTES, "the stream takes events that nobody reads");
      read.resume();
      await withinLimit(takesMore(stream), "the stream takes no event of a browser that reads");
      stream.close();
      assert.equal(await read.ended(), true);
      assert.ok(read.text.length > bytes, "an event that was taken is missing");
    },
  },
  {
    area,
    title: "HEAD has the headers of the stream and no body, and its signal aborts",
    async check(starter) {
      const { app, streams } = await start(starter);
      const browser = await app.signedIn();
      const { status, headers, text } = await withinLimit(
        browser.get(PATH, { method: "HEAD" }),
        "the response to HEAD does not end",
      );
      assert.deepEqual([status, headers["content-type"], text], [200, "text/event-stream", ""]);
      const [stream] = streams as [EventStream];
      assert.equal(stream.send("more"), false);
      await aborted(stream, "the signal does not abort");
    },
  },
  {
    area,
    title: "eventStream rejects with a GuardMissingError if no guard let the request pass",
    async check(starter) {
      const { app, streams } = await start(starter, { isGuarded: false });
      const response = await (await app.signedIn()).get(PATH);
      const [error] = app.caught;
      assert.ok(error instanceof GuardMissingError, String(error));
      assert.deepEqual(
        [response.status, response.json(), streams],
        [500, { caught: error.message }, []],
      );
      assert.match(error.message, /`eventStream`/);
    },
  },
  {
    area,
    title: "close and auth.close end the stream without an event, and new ones get 503",
    async check(starter) {
      const { app, open } = await start(starter);
      const [first, stream] = await open();
      stream.close();
      assert.equal(await first.ended(), true);
      const [second] = await open();
      const closed = app.auth.close();
      assert.equal(await second.ended(), true);
      await closed;
      for (const { text } of [first, second]) assert.ok(text.endsWith(BEGINNING), text);
      assert.equal((await (await app.signedIn()).get(PATH)).status, 503);
    },
  },
];
