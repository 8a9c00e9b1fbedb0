// Requests that are broken off at random moments, by the browser or by the API.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Readable } from "node:stream";
import { expect } from "vitest";
import { eventually } from "../../support/eventually.js";
import type { Browser, Exchange } from "./browser.js";
import type { Stage } from "./hosts.js";

const MB = 1024 * 1024;

/** The seed of the random moments. TRANSPORT_SEED sets another one. */
const SEED = Number(process.env["TRANSPORT_SEED"] ?? 30);

/** How many requests are broken off, and how many of them at the same time. */
const ABORTS = 90;
const AT_ONCE = 8;

/** What the application's memory may grow by, from a third of the requests to all of them. */
const MOST_GROWTH = 3 * MB;

/** Milliseconds within which nothing of what was broken off is left. */
const REST = 20_000;

/** The sizes of the bodies, and of what passes before one is broken off. */
const MOST_BYTES = 2 * MB;

/** The undisturbed download is read that slowly, so that it lasts while others are broken off. */
const SLOW = { bytes: 20 * MB, milliseconds: 20 };

type Random = (below: number) => number;

/** The same numbers for the same seed (mulberry32). */
function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}

type Abort = (stage: Stage, random: Random) => Promise<void>;

const CHUNK = Buffer.alloc(16 * 1024, "x");

/** Reads until that many bytes have come, or the body is over. */
async function read(body: Readable, bytes: number): Promise<void> {
  body.on("error", () => undefined);
  let size = 0;
  const reached = new Promise<void>((resolve) => {
    body.on("data", ({ length }: Buffer) => {
      size += length;
      if (size >= bytes) resolve();
    });
    body.once("close", resolve);
  });
  await reached;
}

function writeUntil({ sent }: Exchange, bytes: number): void {
  sent.on("error", () => undefined);
  let left = bytes;
  const more = () => {
    for (let isFree = true; isFree && left > 0 && !sent.destroyed; left -= CHUNK.length)
      isFree = sent.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)));
  };
  sent.on("drain", more);
  more();
}

const length = (random: Random) => (random(2) === 0 ? "" : "&length");

const ABORT_KINDS: Readonly<Record<string, Abort>> = {
  async "the browser leaves a download"({ browser }, random) {
    const exchange = browser.open(
      `/api/orders/down?bytes=${String(2 * MOST_BYTES)}${length(random)}`,
    );
    const response = await exchange.response;
    await read(response.body, random(MOST_BYTES));
    exchange.leave();
    await exchange.end;
  },
  async "the browser leaves before the response"({ browser }, random) {
    const exchange = browser.open(`/api/orders/down?bytes=${String(MOST_BYTES)}`);
    await sleep(random(20));
    exchange.leave();
    exchange.response.then(
      ({ body }) => body.on("error", () => undefined).resume(),
      () => undefined,
    );
    await exchange.end;
  },
  async "the API breaks a download off"({ browser }, random) {
    const query = `bytes=${String(2 * MOST_BYTES)}&breaksAt=${String(1 + random(MOST_BYTES))}`;
    const { response, end } = browser.open(`/api/orders/down?${query}${length(random)}`);
    await read((await response).body, Infinity);
    expect(await end).toBe("broken");
  },
  async "the browser leaves an upload"({ browser }, random) {
    const exchange = browser.open("/api/orders/up", { method: "POST" });
    writeUntil(exchange, random(MOST_BYTES));
    await sleep(random(50));
    exchange.leave();
    await exchange.end;
  },
  async "the API breaks an upload off"({ browser }, random) {
    const path = `/api/orders/up?breaksAt=${String(1 + random(MOST_BYTES / 2))}`;
    const exchange = browser.open(path, { method: "POST" });
    writeUntil(exchange, MOST_BYTES);
    const status = await exchange.response.then(
      ({ status, body }) => (body.on("error", () => undefined).resume(), status),
      () => 502,
    );
    expect(status).toBe(502);
    exchange.leave();
    await exchange.end;
  },
  async "the browser leaves an event stream"({ browser }, random) {
    const exchange = browser.open("/api/orders/events");
    (await exchange.response).body.on("error", () => undefined).resume();
    await sleep(random(50));
    exchange.leave();
    await exchange.end;
  },
  async "the API breaks an event stream off"({ browser, api }, random) {
    const id = `random-${String(random(2 ** 31))}`;
    const { response, end } = browser.open(`/api/orders/events?id=${id}`);
    const request = await api.request(id);
    request.response.write("data: 1\n\n");
    const { body } = await response;
    body.on("error", () => undefined).resume();
    await sleep(random(50));
    request.message.socket.destroy();
    expect(await end).toBe("broken");
  },
};

const WEB_SOCKET_KINDS: Readonly<Record<string, Abort>> = {
  async "the browser leaves a WebSocket"({ browser }, random) {
    const webSocket = browser.upgrade("/api/orders/ws");
    await sleep(random(50));
    webSocket.send("x".repeat(random(MOST_BYTES / 8)));
    await sleep(random(20));
    webSocket.leave();
    await webSocket.closed;
  },
  async "the API breaks a WebSocket off"({ browser }, random) {
    const webSocket = browser.upgrade(`/api/orders/ws?breaksAt=${String(1 + random(10_000))}`);
    await eventually(async () => expect(webSocket.isUpgraded).toBe(true));
    webSocket.send("x".repeat(20_000));
    await webSocket.closed;
  },
};

/**
 * Breaks many requests off at random. Others that run at the same time, on the same connection if
 * it is HTTP/2, go on; afterwards nothing of the broken ones is left.
 */
export async function abortsAtRandom(stage: Stage, hasWebSockets: boolean): Promise<void> {
  const { app, api, browser } = stage;
  const random = seeded(SEED);
  const kinds = Object.entries({ ...ABORT_KINDS, ...(hasWebSockets && WEB_SOCKET_KINDS) });
  const undisturbed = await startUndisturbed(stage);
  const breakOff = async (count: number) => {
    let left = count;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (left > 0) {
          left -= 1;
          const [kind, abort] = kinds[random(kinds.length)]!;
          await abort(stage, random).catch((error: unknown) => {
            throw new Error(`With the seed ${String(SEED)}, ${kind}: ${String(error)}`, {
              cause: error,
            });
          });
        }
      }),
    );
    const { status, text } = await browser.get("/idpauth/session");
    expect([status, text]).toEqual([200, expect.stringContaining('"authenticated":true')]);
  };
  await breakOff(ABORTS / 3);
  const before = await app.inUse();
  await breakOff((ABORTS * 2) / 3);
  expect((await app.inUse()) - before).toBeLessThan(MOST_GROWTH);
  await undisturbed();
  await eventually(async () => {
    expect(api.requests.filter(({ isOver }) => !isOver).map(({ path }) => path)).toEqual([]);
    // What stays open then has a request.
    api.closeIdle();
    expect(api.sockets.size).toBe(0);
  }, REST);
  expect(await app.unhandled()).toEqual([]);
}

/** A slow download and an event stream. The function that it returns checks that both are whole. */
async function startUndisturbed({ browser, api }: Stage): Promise<() => Promise<void>> {
  const download = browser.open(`/api/orders/down?bytes=${String(SLOW.bytes)}`);
  const { body } = await download.response;
  let size = 0;
  let isSlow = true;
  body.on("data", ({ length }: Buffer) => {
    size += length;
    if (!isSlow) return;
    body.pause();
    setTimeout(() => body.resume(), SLOW.milliseconds);
  });
  const events = await openEvents(browser, api);
  return async () => {
    isSlow = false;
    body.resume();
    expect([await download.end, size]).toEqual(["whole", SLOW.bytes]);
    await events();
  };
}

async function openEvents(browser: Browser, api: Stage["api"]): Promise<() => Promise<void>> {
  const { response, end } = browser.open("/api/orders/events?id=undisturbed");
  const request = await api.request("undisturbed");
  request.response.write("data: 1\n\n");
  const { body } = await response;
  await once(body, "data");
  return async () => {
    request.response.end("data: 2\n\n");
    const [event] = (await once(body, "data")) as [Buffer];
    expect([event.toString(), await end]).toEqual(["data: 2\n\n", "whole"]);
  };
}
