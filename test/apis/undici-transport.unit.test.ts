import { PassThrough } from "node:stream";
import type { Dispatcher } from "undici";
import { describe, expect, it } from "vitest";
import type { Pieces } from "../../src/apis/request-bodies.js";
import { asApiError, type ApiRequest } from "../../src/apis/transport.js";
import { undiciTransport } from "../../src/apis/undici-transport.js";
import { IdpAuthError } from "../../src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";

type Call = ApiRequest<Pieces>;

const ORIGIN = "https://orders.internal";

interface Dispatched {
  readonly options: Dispatcher.DispatchOptions;
  readonly handler: Required<Dispatcher.DispatchHandler>;
}

/** A controller as undici hands it in, which notes why it is aborted. */
function controllerOf(rawHeaders: Dispatcher.DispatchController["rawHeaders"] = []) {
  const reasons: Error[] = [];
  const controller: Dispatcher.DispatchController & { readonly reasons: Error[] } = {
    reasons,
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders,
    pause: () => undefined,
    resume: () => undefined,
    abort: (reason) => void reasons.push(reason),
  };
  return controller;
}

function sent(changes: Partial<Call> = {}) {
  const clock = new TestClock();
  const dispatched: Dispatched[] = [];
  let abort: (reason: Error) => void = () => undefined;
  const request: Call = {
    method: "GET",
    url: new URL(`${ORIGIN}/v2/items?q=%2F`),
    headers: new Map([["accept", "*/*"]]),
    body: undefined,
    length: undefined,
    onAbort: (given) => (abort = given),
    ...changes,
  };
  const dispatcher = {
    dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
      dispatched.push({ options, handler: handler as Dispatched["handler"] });
      return true;
    },
  };
  const api = { url: new URL(`${ORIGIN}/v2/`), timeout: 10 };
  const response = undiciTransport(api, clock, dispatcher)(request);
  const failure = response.catch((error: unknown) => error as IdpAuthError);
  const { handler } = dispatched[0]!;
  return { clock, dispatched, handler, response, failure, abort: (reason: Error) => abort(reason) };
}

const closed = (code: string) => Object.assign(new Error("closed"), { code });

describe("a request over undici", () => {
  it("has the path as it is written, and no time limit of undici", () => {
    const { options } = sent().dispatched[0]!;
    expect(options).toMatchObject({
      origin: ORIGIN,
      path: "/v2/items?q=%2F",
      method: "GET",
      headers: ["accept", "*/*"],
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    expect([options.body, options.upgrade]).toEqual([undefined, undefined]);
  });

  it("says the length of a body only if it is read piece by piece", async () => {
    async function* pieces() {
      yield Buffer.from("ab");
    }
    const whole = sent({ method: "POST", body: new Uint8Array(3), length: 3 });
    expect(whole.dispatched[0]!.options.headers).toEqual(["accept", "*/*"]);
    const counted = sent({ method: "POST", body: pieces(), length: 2 });
    expect(counted.dispatched[0]!.options.headers).toEqual(["accept", "*/*", "content-length", "2"]); // prettier-ignore
    const chunked = sent({ method: "POST", body: pieces() });
    expect(chunked.dispatched[0]!.options.headers).toEqual(["accept", "*/*"]);
    const got: string[] = [];
    for await (const piece of chunked.dispatched[0]!.options.body as AsyncIterable<Buffer>)
      got.push(piece.toString());
    expect(got).toEqual(["ab"]);
  });

  it("resolves with the lines as they came, whatever their form, and passes interim responses over", async () => {
    for (const raw of [
      [Buffer.from("X-A"), Buffer.from([0xc3, 0xa9]), Buffer.from("x-a"), Buffer.from("2")],
      ["X-A", "Ã©", "x-a", "2"],
    ]) {
      const { handler, response } = sent();
      handler.onResponseStart(controllerOf(["x-interim", "1"]), 103, {});
      handler.onResponseStart(controllerOf(raw as Buffer[]), 200, {});
      expect((await response).lines).toEqual(["X-A", "Ã©", "x-a", "2"]);
    }
    const { handler, response } = sent();
    const of = { ":status": "200", "x-a": ["1", "2"], "x-b": "3", "x-c": undefined };
    handler.onResponseStart(controllerOf(of as never), 200, {});
    expect((await response).lines).toEqual([":status", "200", "x-a", "1", "x-a", "2", "x-b", "3"]);
  });
});

it("a response has its pieces, and is whole at its end", async () => {
  const { handler, response, clock } = sent();
  const controller = controllerOf();
  handler.onResponseStart(controller, 200, {});
  for (const piece of ["one ", "two"]) handler.onResponseData(controller, Buffer.from(piece));
  const { whole } = await response;
  expect(whole?.call(await response)).toBeUndefined();
  handler.onResponseEnd(controller, {});
  expect(Buffer.from(whole!.call(await response)!).toString()).toBe("one two");
  expect(clock.pendingTimers).toBe(0);
});

describe("a connection that is closed before any byte of a response", () => {
  it.each(["GET", "HEAD", "OPTIONS"])("has a %s sent once more, and not twice", async (method) => {
    const { handler, dispatched, failure } = sent({ method });
    handler.onResponseError(controllerOf(), closed("UND_ERR_SOCKET"));
    expect(dispatched).toHaveLength(2);
    expect(dispatched[1]!.options).toEqual(dispatched[0]!.options);
    handler.onResponseError(controllerOf(), closed("UND_ERR_SOCKET"));
    expect(dispatched).toHaveLength(2);
    expect(await failure).toMatchObject({ code: "api_unreachable" });
  });

  it.each(["UND_ERR_SOCKET", "ECONNRESET", "ECONNABORTED", "EPIPE"])("as %s says", (code) => {
    const { handler, dispatched } = sent();
    handler.onResponseError(controllerOf(), closed(code));
    expect(dispatched).toHaveLength(2);
  });

  it.each<[string, Partial<Call>, string]>([
    ["a POST", { method: "POST" }, "UND_ERR_SOCKET"],
    ["a DELETE", { method: "DELETE" }, "ECONNRESET"],
    ["a GET with a body", { body: new Uint8Array(1) }, "ECONNRESET"],
    ["a connection that nobody accepted", {}, "ECONNREFUSED"],
    ["what is no HTTP", {}, "HPE_INVALID_CONSTANT"],
  ])("has %s not repeated", async (_what, changes, code) => {
    const { handler, dispatched, failure } = sent(changes);
    const cause = closed(code);
    handler.onResponseError(controllerOf(), cause);
    expect([dispatched.length, await failure]).toMatchObject([
      1,
      { code: "api_unreachable", cause },
    ]);
  });

  it("has nothing repeated after the first byte, nor after it was broken off", async () => {
    const answered = sent();
    answered.handler.onResponseStarted();
    answered.handler.onResponseError(controllerOf(), closed("ECONNRESET"));
    expect([answered.dispatched.length, await answered.failure]).toMatchObject([1, { code: "api_unreachable" }]); // prettier-ignore
    const left = sent();
    const reason = new IdpAuthError("login_required", "The session ended.");
    left.abort(reason);
    left.handler.onResponseError(controllerOf(), closed("ECONNRESET"));
    expect([left.dispatched.length, await left.failure]).toEqual([1, reason]);
  });
});

describe("a request that is broken off", () => {
  const reason = new IdpAuthError("login_required", "The session ended.");

  it("while it waits for a connection, isn't sent on it, and leaves it to others", async () => {
    const { handler, failure, abort, clock } = sent();
    abort(reason);
    expect(await failure).toBe(reason);
    const controller = controllerOf();
    expect(() => {
      handler.onRequestStart(controller, {});
    }).toThrow(reason);
    expect([controller.reasons, clock.pendingTimers]).toEqual([[], 0]);
  });

  it("by a dispatcher that throws leaves no timer", async () => {
    const clock = new TestClock();
    const cause = new Error("no such header");
    const dispatch = () => {
      throw cause;
    };
    const api = { url: new URL(ORIGIN), timeout: 10 };
    const refused = undiciTransport(api, clock, { dispatch })({
      method: "GET",
      url: api.url,
      headers: new Map(),
      body: undefined,
      length: undefined,
      onAbort: () => undefined,
    });
    await expect(refused).rejects.toMatchObject({ code: "api_unreachable", cause });
    expect(clock.pendingTimers).toBe(0);
  });

  it("before it is sent, asks for no connection", async () => {
    const clock = new TestClock();
    const dispatch = () => {
      throw new Error("sent");
    };
    const api = { url: new URL(ORIGIN), timeout: 10 };
    const send = undiciTransport(api, clock, { dispatch });
    const refused = send({
      method: "POST",
      url: api.url,
      headers: new Map(),
      body: undefined,
      length: undefined,
      onAbort(abort) {
        abort(reason);
      },
    });
    await expect(refused).rejects.toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });

  it("is aborted, before its response and during it", async () => {
    const before = sent();
    const controller = controllerOf();
    before.handler.onRequestStart(controller, {});
    expect(controller.reasons).toEqual([]);
    before.abort(reason);
    expect([controller.reasons, await before.failure]).toEqual([[reason], reason]);
    const during = sent();
    const other = controllerOf();
    during.handler.onRequestStart(other, {});
    during.handler.onResponseStart(other, 200, {});
    const { body } = await during.response;
    during.abort(reason);
    await new Promise((resolve) => body.once("close", resolve));
    expect([other.reasons[0], body.errored]).toEqual([reason, reason]);
  });
});

describe("an upload", () => {
  it.each<[string, (handler: Dispatched["handler"]) => void]>([
    ["the API has responded", (handler) => handler.onResponseEnd(controllerOf(), {})],
    ["its connection fails", (handler) => handler.onResponseError(controllerOf(), closed("EPIPE"))],
  ])("is no longer read as soon as %s", async (_what, end) => {
    let isEnded = false;
    async function* pieces() {
      try {
        yield Buffer.from("one");
        yield Buffer.from("two");
      } finally {
        isEnded = true;
      }
    }
    const { dispatched, handler, failure } = sent({ method: "POST", body: pieces() });
    const body = (dispatched[0]!.options.body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    await body.next();
    handler.onResponseStart(controllerOf(), 413, {});
    end(handler);
    await failure;
    await expect.poll(() => isEnded).toBe(true);
    expect(await body.next()).toEqual({ done: true, value: undefined });
  });
});

describe("the time limit", () => {
  const EVENTS = ["Content-Type", "text/event-stream; charset=utf-8"];

  it("ends a request without a response", async () => {
    const { clock, failure, handler } = sent();
    const controller = controllerOf();
    handler.onRequestStart(controller, {});
    clock.advance(9_999);
    expect(controller.reasons).toEqual([]);
    clock.advance(1);
    expect(await failure).toMatchObject({ code: "api_timeout" });
    expect([controller.reasons, clock.pendingTimers]).toMatchObject([[{ code: "api_timeout" }], 0]);
  });

  it.each<[string, string[], Partial<Call>, number]>([
    ["a body", [], {}, 1],
    ["no event stream", EVENTS, {}, 0],
    ["no body whose head alone is timed", [], { timesHeadOnly: true }, 0],
  ])("watches %s", async (_what, lines, changes, timers) => {
    const { clock, handler, response } = sent(changes);
    const controller = controllerOf(lines);
    clock.advance(9_000);
    handler.onResponseStart(controller, 200, {});
    await response;
    expect(clock.pendingTimers).toBe(timers);
    clock.advance(9_999);
    expect(controller.reasons).toEqual([]);
    handler.onResponseEnd(controller, {});
    expect(clock.pendingTimers).toBe(0);
  });

  it("doesn't count while a piece of the upload is awaited", async () => {
    let arrive: (piece: Buffer) => void = () => undefined;
    const piece = new Promise<Buffer>((resolve) => (arrive = resolve));
    async function* pieces() {
      yield await piece;
    }
    const { clock, dispatched, failure } = sent({ method: "POST", body: pieces() });
    const body = (dispatched[0]!.options.body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    const first = body.next();
    clock.advance(600_000);
    arrive(Buffer.from("x"));
    await first;
    clock.advance(9_999);
    expect(clock.pendingTimers).toBe(1);
    const last = body.next();
    await last;
    clock.advance(10_000);
    expect(await failure).toMatchObject({ code: "api_timeout" });
  });

  it("leaves no timer after a failure", async () => {
    const { clock, handler, failure } = sent({ method: "POST" });
    handler.onResponseError(controllerOf(), closed("ECONNRESET"));
    await failure;
    expect(clock.pendingTimers).toBe(0);
  });
});

it("an error of ours is returned as it is", () => {
  const own = new IdpAuthError("api_timeout", "x");
  expect(asApiError(own)).toBe(own);
});

describe("an event stream", () => {
  it("gives the function that ends it, and another response doesn't", async () => {
    for (const [type, count] of [
      ["text/event-stream", 1],
      ["application/json", 0],
    ] as const) {
      const ends: (() => void)[] = [];
      const { handler, response } = sent({ endsBy: (end) => void ends.push(end) });
      handler.onResponseStart(controllerOf(["content-type", type]), 200, {});
      const { body } = await response;
      expect(ends).toHaveLength(count);
      if (count === 0) continue;
      body.resume();
      ends[0]!();
      await new Promise((resolve) => body.once("end", resolve));
    }
  });
});

it("an event stream whose end is due at once has no bytes, and is no failure", async () => {
  const endsBy = (end: () => void) => {
    end();
  };
  const { handler, response } = sent({ endsBy });
  const controller = controllerOf(["content-type", "text/event-stream"]);
  controller.abort = (reason) => {
    handler.onResponseError(controller, reason);
  };
  handler.onResponseStart(controller, 200, {});
  const { status, whole } = await response;
  expect([status, whole!.call(await response)]).toEqual([200, Buffer.alloc(0)]);
});

describe("an upgrade", () => {
  const socket = () => new PassThrough();

  it("asks for the protocol, and returns the connection if the API changes to it", async () => {
    const { dispatched, handler, response, clock } = sent({ upgrade: "websocket" });
    expect(dispatched[0]!.options.upgrade).toBe("websocket");
    const upgraded = socket();
    handler.onRequestUpgrade(controllerOf(["A", "b"]), 101, { upgrade: "WebSocket" }, upgraded);
    expect(await response).toMatchObject({ status: 101, lines: ["A", "b"] });
    expect((await response).upgraded).toBe(upgraded);
    expect(clock.pendingTimers).toBe(0);
    upgraded.emit("error", new Error("reset"));
  });

  it.each([
    ["another protocol", 101, { upgrade: "h2c" }],
    ["no protocol, as HTTP/2 does", 200, {}],
  ])("to %s is one that nobody asked for", async (_what, status, headers) => {
    const { handler, response } = sent({ upgrade: "websocket" });
    const other = socket();
    handler.onRequestUpgrade(controllerOf(), status, headers, other);
    const got = await response;
    expect([got.status, got.upgraded]).toEqual([101, undefined]);
    got.discard();
    expect(other.destroyed).toBe(true);
  });
});
