import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import type { CookieBrowser } from "idpauth/testing";
import type { StartedApplication } from "../application-starter.js";
import { assertProblem, mediaType } from "./assertions.js";
import { OpenedStream } from "./opened-stream.js";
import type { AdapterRequirement } from "./requirement.js";
import { withinLimit } from "./time-limit.js";

const area = "events";
const EVENTS = "/idpauth/events";
const OWN_PAGE = { accept: "text/event-stream", "sec-fetch-site": "same-origin" };
/** What follows the first line, `retry`, whose number differs from stream to stream. */
const BEGINNING = ": open\n\n";
/** Milliseconds between two comments. */
const COMMENT_INTERVAL_MS = 25_000;
const MAX_STREAMS = 8;

function start(starter: Parameters<AdapterRequirement["check"]>[0], options: object = {}) {
  return starter.start({ options: { events: true, ...options } });
}

function withoutRetry(text: string): string {
  return text.replace(/^retry: \d+\n/, "");
}

/** Opens a stream, and waits for its beginning. */
async function opened(app: StartedApplication, browser: CookieBrowser): Promise<OpenedStream> {
  const stream = await OpenedStream.open(app, browser, EVENTS);
  assert.equal(stream.status, 200);
  await stream.until(BEGINNING);
  return stream;
}

async function openedAll(app: StartedApplication, browser: CookieBrowser): Promise<OpenedStream[]> {
  const streams: OpenedStream[] = [];
  while (streams.length < MAX_STREAMS) streams.push(await opened(app, browser));
  return streams;
}

function head(browser: CookieBrowser) {
  return browser.get(EVENTS, { method: "HEAD", headers: OWN_PAGE });
}

/** Opens a stream as soon as there is a place. */
async function openedLater(app: StartedApplication, browser: CookieBrowser): Promise<OpenedStream> {
  for (;;) {
    const stream = await OpenedStream.open(app, browser, EVENTS);
    if (stream.status === 200) return stream;
    await stream.ended();
    await wait(10);
  }
}

export const eventsRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "the event stream begins at once, and its headers keep caches and proxies from storing, changing or buffering it",
    async check(starter) {
      const app = await start(starter);
      const { headers } = await opened(app, await app.signedIn());
      assert.deepEqual(
        [
          headers["content-type"],
          headers["cache-control"],
          headers["x-accel-buffering"],
          headers["x-idpauth-heartbeat"],
          headers["content-length"],
        ],
        ["text/event-stream", "no-store, no-transform", "no", "25", undefined],
      );
    },
  },
  {
    area,
    title: "a comment arrives every 25 seconds",
    async check(starter) {
      const app = await start(starter);
      const stream = await opened(app, await app.signedIn());
      for (const comments of [1, 2]) {
        app.clock.advance(COMMENT_INTERVAL_MS);
        await stream.until(BEGINNING + ":\n\n".repeat(comments));
      }
    },
  },
  {
    area,
    title: "at the end of the session the stream says why, and the response is complete",
    async check(starter) {
      const app = await start(starter);
      const browser = await app.signedIn();
      const streams = [await opened(app, browser), await opened(app, browser)];
      const other = await opened(app, await app.signedIn());
      await browser.get("/idpauth/logout/?response=json");
      for (const stream of streams) {
        assert.equal(await stream.ended(), true);
        assert.equal(
          withoutRetry(stream.text),
          `${BEGINNING}event: ended\ndata: {"reason":"logout"}\n\n`,
        );
      }
      assert.equal(withoutRetry(other.text), BEGINNING);
    },
  },
  {
    area,
    title: "a ninth stream of one session gets 429, until the browser has left one",
    needs: "aborted requests",
    async check(starter) {
      const app = await start(starter);
      const browser = await app.signedIn();
      const [first] = await openedAll(app, browser);
      assertProblem(await browser.get(EVENTS, { headers: OWN_PAGE }), 429, "too_many_streams");
      await opened(app, await app.signedIn());
      first?.leave();
      await withinLimit(
        openedLater(app, browser),
        "the stream of a browser that has left keeps its place",
      );
    },
  },
  {
    area,
    title: "HEAD has the headers of a stream, no body, and takes no place",
    async check(starter) {
      const app = await start(starter);
      const browser = await app.signedIn();
      for (let times = 0; times <= MAX_STREAMS; times += 1) {
        const response = await withinLimit(head(browser), "the response to HEAD does not end");
        assert.deepEqual(
          [response.status, mediaType(response), response.text],
          [200, "text/event-stream", ""],
        );
      }
      await opened(app, browser);
    },
  },
];
