import { readFileSync } from "node:fs";
// What holds of the transport on every framework and protocol: bodies of any size in flat memory,
// nothing read ahead, nothing cut short, and nothing that ends more than its own request.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Readable, Writable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.js";
import type { Protocol } from "./browser.js";
import { startStage, type Host, type Stage } from "./hosts.js";
import { abortsAtRandom } from "./random-aborts.js";

const MB = 1024 * 1024;

/** The size of a body that must pass in flat memory. TRANSPORT_BYTES sets another one. */
const LARGE = Math.floor(Number(process.env["TRANSPORT_BYTES"] ?? 256 * MB));

/**
 * What a process may grow by while such a body passes: half of it. V8 collects buffers that are done
 * with after 64 MB of them, and takes its time.
 */
const MOST_GROWTH = 128 * MB;

/**
 * What the process and the machine's buffers may hold of a body that nobody takes. Linux lets the
 * buffers of each of the two connections grow to these limits.
 */
const MOST_AHEAD = Math.max(32 * MB, 16 * MB + 2 * (bufferLimit("rmem") + bufferLimit("wmem")));

/** The size of a body that one side doesn't take at once. */
const HELD = 2 * MOST_AHEAD;

/** Milliseconds of a pause that is longer than the timeout of the hasty API. */
const PAUSE = 2_000;

/** Seconds within which a logout cuts what is open. */
const SOON = 5;

const CHUNK = Buffer.alloc(64 * 1024, "x");

export interface Transport {
  /** The framework's name in the names of the tests. */
  readonly name: string;
  readonly host: Host;
  readonly protocols: readonly Protocol[];
  /** Whether its servers have WebSockets. */
  readonly hasWebSockets?: boolean;
  /** Whether its application has one API only, and `fetchApi` counts what it downloads. */
  readonly isNext?: boolean;
  /**
   * Whether another framework's tests show the pace, the sizes through `fetchApi`, and what is broken
   * off at random.
   */
  readonly isBrief?: boolean;
}

export function testTransport(transport: Transport): void {
  describe.each(transport.protocols)(`${transport.name} over %s`, (protocol) => {
    let stage: Stage;
    beforeAll(async () => (stage = await startStage(transport.host, protocol)));
    afterAll(() => stage.stop());
    const current = () => stage;
    // TLS changes nothing but the socket.
    const isBrief = transport.isBrief === true || protocol === "h2";

    if (protocol !== "h2") describe("the size of bodies", () => testSizes(current, transport));
    if (!isBrief) describe("the pace", () => testPace(current, transport));
    testCompression(current);
    describe("event streams", () => testEventStreams(current, transport));
    describe("what is broken off", () => {
      testBreaks(current);
      testLogout(current, transport, protocol);
      if (isBrief) return;
      it("requests that users and the API break off at random end alone", async () => {
        await abortsAtRandom(
          current(),
          transport.hasWebSockets === true && protocol === "http/1.1",
        );
      });
    });
    it("nothing was left unhandled", async () => {
      expect(await current().app.unhandled()).toEqual([]);
    });
  });
}

/** Writes that many bytes as fast as the other side takes them, and ends. */
async function write(sent: Writable, bytes: number): Promise<void> {
  for (let left = bytes; left > 0 && !sent.destroyed; left -= CHUNK.length)
    if (!sent.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)))) await drained(sent);
  sent.end();
}

function drained(sent: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      sent.off("drain", done).off("close", done);
      resolve();
    };
    sent.on("drain", done).on("close", done);
  });
}

async function sizeOf(body: Readable): Promise<number> {
  let size = 0;
  for await (const piece of body) size += (piece as Buffer).length;
  return size;
}

function testSizes(stage: () => Stage, { isNext = false, isBrief = false }: Transport): void {
  const upload = (path: string) => async (bytes: number) => {
    const { sent, response, end } = stage().browser.open(path, { method: "POST" });
    await write(sent, bytes);
    const { status, body } = await response;
    const received = await text(body);
    expect([status, await end, received]).toEqual([200, "whole", JSON.stringify({ size: bytes })]);
  };
  const download =
    (path: string, isCounted = false) =>
    async (bytes: number) => {
      const { response, end } = stage().browser.open(`${path}?bytes=${String(bytes)}`);
      const { status, body } = await response;
      const size = isCounted
        ? (JSON.parse(await text(body)) as { size: number }).size
        : await sizeOf(body);
      expect([status, await end, size]).toEqual([200, "whole", bytes]);
    };
  const throughFetchApi = [
    ["an upload through fetchApi", upload("/via/up")],
    ["a download through fetchApi", download("/via/down", isNext)],
  ] as const;
  it.each([
    ["an upload through the proxy", upload("/api/orders/up")],
    ["a download through the proxy", download("/api/orders/down")],
    ...(isBrief ? [] : throughFetchApi),
  ] as const)("%s passes in flat memory", async (_title, transfer) => {
    const { app } = stage();
    // The first one compiles code and fills pools.
    await transfer(LARGE / 8);
    await app.inUse();
    await app.watch();
    await transfer(LARGE / 8);
    const few = await app.most();
    await app.inUse();
    await app.watch();
    await transfer(LARGE);
    const many = await app.most();
    const growth = { rss: many.rss - few.rss, external: many.external - few.external };
    if (process.env["TRANSPORT_BYTES"] !== undefined)
      console.log(`${expect.getState().currentTestName ?? ""}: ${JSON.stringify({ few, many })}`);
    expect(Math.max(growth.rss, growth.external), JSON.stringify({ few, many })).toBeLessThan(
      MOST_GROWTH,
    );
  });
}

/** Bytes. Zero where the system doesn't tell. */
function bufferLimit(name: "rmem" | "wmem"): number {
  try {
    return Number(readFileSync(`/proc/sys/net/ipv4/tcp_${name}`, "utf8").split(/\s+/)[2]);
  } catch {
    return 0;
  }
}

/** Waits until a count of bytes stands still. */
async function standsStill(count: () => number): Promise<number> {
  for (let before = -1, still = 0; ;) {
    await sleep(100);
    still = count() === before ? still + 1 : 0;
    before = count();
    if (still === 5) return before;
  }
}

let requests = 0;

/** A query that finds the request again at the API. */
function named(query: string): readonly [id: string, query: string] {
  requests += 1;
  return [String(requests), `?id=${String(requests)}&${query}`];
}

function testPace(stage: () => Stage, { isNext = false }: Transport): void {
  it("a slow reader: the API's response is not read ahead, and all of it arrives in the end", async () => {
    const { browser, api } = stage();
    const [id, query] = named(`bytes=${String(HELD)}`);
    const { response, end } = browser.open(`/api/orders/down${query}`);
    const { body } = await response;
    const request = await api.request(id);
    expect(await standsStill(() => request.sent)).toBeLessThan(MOST_AHEAD);
    expect([await sizeOf(body), await end]).toEqual([HELD, "whole"]);
  });

  it("a slow API: the browser's body is not read ahead, and all of it arrives in the end", async () => {
    const { browser, api } = stage();
    const [id, query] = named("");
    const { sent, response, end } = browser.open(`/api/orders/slow${query}`, { method: "POST" });
    let taken = 0;
    const written = (async () => {
      for (let left = HELD; left > 0; left -= CHUNK.length, taken += CHUNK.length)
        if (!sent.write(CHUNK)) await drained(sent);
      sent.end();
    })();
    const request = await api.request(id);
    expect(await standsStill(() => taken)).toBeLessThan(MOST_AHEAD);
    request.message.resume();
    await written;
    const { status, body } = await response;
    expect([status, await text(body), await end]).toEqual([
      200,
      JSON.stringify({ size: HELD }),
      "whole",
    ]);
  });

  it("the first byte of a response arrives while the API still has the rest", async () => {
    const { browser, api } = stage();
    const [id, query] = named("");
    const { response, end } = browser.open(`/api/orders/events${query}`);
    const request = await api.request(id);
    const { status, body } = await response;
    request.response.write("a");
    const [first] = (await once(body, "data")) as [Buffer];
    request.response.end("b");
    const rest = await text(body);
    expect([status, first.toString() + rest, await end]).toEqual([200, "ab", "whole"]);
  });

  it("the first byte of a body reaches the API while the browser still has the rest", async () => {
    const { browser, api } = stage();
    const [id, query] = named("");
    const { sent, response } = browser.open(`/api/orders/up${query}`, { method: "POST" });
    sent.write("a");
    const request = await api.request(id);
    await eventually(async () => expect(request.received).toBe(1));
    sent.end("b");
    const { status, body } = await response;
    expect([status, await text(body)]).toEqual([200, '{"size":2}']);
  });

  const path = isNext ? "/api/orders" : "/api/hasty";
  it.skipIf(isNext).concurrent(
    "an upload that pauses for longer than the API's timeout is not cut off",
    async () => {
      const { browser } = stage();
      const { sent, response } = browser.open(`${path}/up`, { method: "POST" });
      sent.write(CHUNK);
      await sleep(PAUSE);
      sent.end(CHUNK);
      const { status, body } = await response;
      expect([status, await text(body)]).toEqual([200, `{"size":${2 * CHUNK.length}}`]);
    },
  );

  it.skipIf(isNext).concurrent(
    "a reader who pauses for longer than the API's timeout is not cut off",
    async () => {
      const { browser } = stage();
      const { response, end } = browser.open(`${path}/down?bytes=${String(HELD)}`);
      const { body } = await response;
      await sleep(PAUSE);
      expect([await sizeOf(body), await end]).toEqual([HELD, "whole"]);
    },
  );

  it("a browser that waits for 100 sends its body", async () => {
    const { browser } = stage();
    const exchange = browser.open("/api/orders/up", {
      method: "POST",
      headers: { expect: "100-continue" },
    });
    await eventually(async () => expect(exchange.interim).toContain(100));
    exchange.sent.end("abc");
    const { status, body } = await exchange.response;
    expect([status, await text(body)]).toEqual([200, '{"size":3}']);
  });

  it("interim responses of the API don't replace its response", async () => {
    const { browser } = stage();
    const { response, end } = browser.open("/api/orders/interim");
    const { status, body } = await response;
    expect([status, await text(body), await end]).toEqual([200, "whole", "whole"]);
  });
}

function testCompression(stage: () => Stage): void {
  it.each([
    ["as the browser accepts it", ""],
    ["although no request allows it", "?always"],
  ])("what the API compresses %s arrives readable", async (_title, query) => {
    const headers = { "accept-encoding": query === "" ? "gzip" : "identity" };
    const exchange = stage().browser.open(`/api/orders/packed${query}`, { headers });
    const { status, headers: received, body } = await exchange.response;
    const isPacked = received["content-encoding"] === "gzip";
    const bytes = await buffer(body);
    expect([status, (isPacked ? gunzipSync(bytes) : bytes).toString()]).toEqual([200, "unpacked"]);
  });
}

function testEventStreams(stage: () => Stage, { isNext = false }: Transport): void {
  it("headers arrive before the first event, and a silent stream stays open", async () => {
    const { browser, api } = stage();
    const [id, query] = named("");
    const { response, end, leave } = browser.open(
      `/api/${isNext ? "orders" : "hasty"}/events${query}`,
    );
    const { status, headers, body } = await response;
    expect([status, headers["content-type"]]).toEqual([200, "text/event-stream"]);
    const request = await api.request(id);
    await sleep(PAUSE);
    request.response.write("data: 1\n\n");
    const [event] = (await once(body, "data")) as [Buffer];
    expect(event.toString()).toBe("data: 1\n\n");
    body.resume();
    leave();
    await end;
    await eventually(async () => expect(request.isOver).toBe(true));
  });
}

function testBreaks(stage: () => Stage): void {
  it.each([
    ["of unknown length", ""],
    ["with a length", "&length"],
  ])("a response %s that the API breaks off is broken off", async (_title, length) => {
    const { browser } = stage();
    const query = `?bytes=${String(MB)}&breaksAt=${String(MB / 2)}${length}`;
    const { response, end } = browser.open(`/api/orders/down${query}`);
    const { body } = await response;
    await sizeOf(body).catch(() => undefined);
    expect(await end).toBe("broken");
  });

  it("an event stream that the API breaks off is broken off", async () => {
    const { browser, api } = stage();
    const [id, query] = named("");
    const { response, end } = browser.open(`/api/orders/events${query}`);
    const { body } = await response;
    const request = await api.request(id);
    request.response.write("data: 1\n\n");
    await once(body, "data");
    request.message.socket.destroy();
    body.on("error", () => undefined).resume();
    expect(await end).toBe("broken");
  });

  it("an API that breaks off before its response is a 502", async () => {
    const { sent, response, end } = stage().browser.open("/api/orders/silent", { method: "POST" });
    sent.end("abc");
    const { status, body } = await response;
    await text(body);
    expect([status, await end]).toEqual([502, "whole"]);
  });

  it("an upload that the API breaks off gets no response of success", async () => {
    const { browser } = stage();
    const { sent, response, end } = browser.open(`/api/orders/up?breaksAt=${String(MB)}`, {
      method: "POST",
    });
    sent.on("error", () => undefined);
    void write(sent, 20 * MB);
    const status = await response.then(
      ({ status, body }) => (body.on("error", () => undefined).resume(), status),
      () => undefined,
    );
    if (status !== undefined) expect(status).toBe(502);
    else expect(await end).toBe("broken");
  });
}

function testLogout(
  stage: () => Stage,
  { hasWebSockets = false }: Transport,
  protocol: Protocol,
): void {
  it("a logout cuts downloads, uploads, event streams and WebSockets, and none seems whole", async () => {
    const { api, provider, browser } = stage();
    const leaving = browser.another();
    await leaving.signIn(provider);
    const download = leaving.open("/api/orders/down");
    const events = leaving.open("/api/orders/events");
    const upload = leaving.open("/api/orders/up", { method: "POST" });
    const { body } = await download.response;
    const slowly = setInterval(() => body.read(CHUNK.length), 50);
    (await events.response).body.on("error", () => undefined).resume();
    upload.sent.on("error", () => undefined).write(CHUNK);
    const webSocket =
      hasWebSockets && protocol === "http/1.1" ? leaving.upgrade("/api/orders/ws") : undefined;
    if (webSocket) await eventually(async () => expect(webSocket.isUpgraded).toBe(true));
    await eventually(async () =>
      expect(api.requests.filter(({ isOver }) => !isOver)).toHaveLength(3),
    );
    body.on("error", () => undefined);
    await leaving.get("/idpauth/logout/?response=json");
    clearInterval(slowly);
    body.resume();
    const status = upload.response.then(
      ({ status, body }) => (body.on("error", () => undefined).resume(), status),
      () => undefined,
    );
    const late = sleep(SOON * 1000).then(() => "late");
    expect(await Promise.race([download.end, late])).toBe("broken");
    expect(await Promise.race([events.end, late])).not.toBe("late");
    const uploaded = await Promise.race([status, late]);
    expect(["late", 200]).not.toContain(uploaded);
    if (webSocket) expect(await Promise.race([webSocket.closed, late])).toBeUndefined();
    await eventually(async () => {
      expect(api.requests.filter(({ isOver }) => !isOver)).toEqual([]);
      expect([...api.upgraded]).toEqual([]);
    });
    leaving.close();
  });
}
