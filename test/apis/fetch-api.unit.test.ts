// Requests of the application to an API, without servers: what is sent, with which token, and what
// becomes of a failure.
import { describe, expect, it } from "vitest";
import { fetchApi, type FetchApiPorts } from "../../src/apis/fetch-api.js";
import type { Api } from "../../src/config/api-options.js";
import type { IdpAuthError } from "../../src/errors.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { apiRow } from "./api-row.js";
import type { Operations } from "../../src/ports/observer.js";
import { unobserved } from "../support/unobserved.js";

interface Setting {
  readonly api?: Partial<Api>;
  readonly path?: string;
  readonly init?: RequestInit;
  /** The user's tokens one after another; the last one stays. */
  readonly tokens?: readonly string[];
  /** The API's responses one after another, or why there are none. After them it is silent. */
  readonly answers?: readonly (Response | Error)[];
  /** Streams go over node:http. */
  readonly hasSendStream?: boolean;
  /** What a call for another token than a rejected one throws. */
  readonly refused?: Error;
  readonly events?: Operations;
}

/** A request with everything around it, and what happened to it. */
function request({ api, path = "items?a=b", init = {}, ...setting }: Setting = {}) {
  const clock = new TestClock();
  const tokens = [...(setting.tokens ?? ["token-1", "token-2"])];
  const answers = [...(setting.answers ?? [new Response("yes")])];
  const sent: { url: string; init: RequestInit }[] = [];
  const streams: unknown[] = [];
  const asked: unknown[] = [];
  const send = (url: string, options: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      sent.push({ url, init: options });
      options.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
      const answer = answers.shift();
      if (answer instanceof Error) reject(answer);
      else if (answer !== undefined) resolve(answer);
    });
  const ports: FetchApiPorts = {
    send: send as typeof fetch,
    clock,
    events: setting.events ?? unobserved,
    token: async (...rejected) => {
      asked.push(rejected);
      if (rejected.length > 0 && setting.refused !== undefined) throw setting.refused;
      return { value: (tokens.length > 1 ? tokens.shift() : tokens[0]) ?? "" };
    },
    ...(setting.hasSendStream === true && {
      sendStream: async (stream, given) => {
        streams.push({ ...stream, isOurClock: given === clock });
        return new Response("streamed");
      },
    }),
  };
  const row = apiRow(api);
  const response = fetchApi({ api: row, path, init }, ports);
  const failure = response.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { response, failure, sent, streams, asked, clock, row };
}

const bearerOf = ({ init }: { init: RequestInit }) =>
  new Headers(init.headers).get("authorization");
const codeOf = (error: unknown) => (error as IdpAuthError).code;

describe("a request of the application to an API", () => {
  it("is an operation that an observer watches, and that continues its trace", async () => {
    const operations: unknown[] = [];
    const notes: unknown[] = [];
    const observation = {
      traceHeaders: { traceparent: "ours" },
      note: (what: unknown) => void notes.push(what),
    };
    const events: Operations = {
      observer: undefined,
      run: (operation, work) => (operations.push(operation), work(observation as never)),
    };
    const headers = { traceparent: "the caller's", baggage: "a=b" };
    const { response, sent, row } = request({ init: { headers }, events });
    expect((await response).status).toBe(200);
    expect(operations).toEqual([{ name: "api", api: "orders", method: "GET", url: row.url }]);
    const got = new Headers(sent[0]!.init.headers);
    expect([got.get("traceparent"), got.get("baggage")]).toEqual(["ours", null]);
    expect(notes).toEqual([{ status: 200 }]);
  });

  it("has the user's token and the API's constant headers, whatever the application says", async () => {
    const { response, sent, asked } = request({
      api: { requestHeaders: { "x-tenant": "one", "x-own": true } },
      init: {
        headers: {
          Authorization: "Bearer own",
          DPoP: "of the browser",
          "X-Tenant": "two",
          "X-Own": "kept",
          Accept: "a/b",
        },
      },
    });
    expect(await (await response).text()).toBe("yes");
    expect(sent).toHaveLength(1);
    expect(sent[0]!.url).toBe("https://orders.internal/v2/items?a=b");
    expect(Object.fromEntries(new Headers(sent[0]!.init.headers))).toEqual({
      authorization: "Bearer token-1",
      "x-tenant": "one",
      "x-own": "kept",
      accept: "a/b",
    });
    expect(asked).toEqual([[]]);
  });

  it("follows no redirect, sends no cookies and is in no cache", async () => {
    const { response, sent } = request({
      init: {
        ...{ cache: "force-cache" },
        redirect: "follow",
        credentials: "include",
        keepalive: true,
      },
    });
    await response;
    const { signal, headers: _headers, ...options } = sent[0]!.init;
    expect(options).toEqual({
      method: "GET",
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      keepalive: true,
    });
    expect(signal?.aborted).toBe(false);
  });

  it("stays below the API's address", async () => {
    const { failure, sent, asked } = request({ path: "../admin" });
    expect(await failure).toMatchObject({ code: "api_path_invalid" });
    expect((await failure) as Error).toHaveProperty("message", expect.stringMatching(/\w/));
    expect([sent, asked]).toEqual([[], []]);
  });

  it("has one of the API's methods, in any letter case", async () => {
    const api = { methods: ["GET", "DELETE"] };
    const { response, sent } = request({ api, init: { method: "delete" } });
    await response;
    expect(sent[0]!.init.method).toBe("DELETE");
    const refused = request({ api, init: { method: "PATCH" } });
    expect(await refused.failure).toMatchObject({ code: "method_not_allowed" });
    expect(String(await refused.failure)).toMatch(/\w\.$/);
    expect([refused.sent, refused.asked]).toEqual([[], []]);
  });
});

describe("a response 401", () => {
  const rejected = () => new Response("no", { status: 401 });

  it("whose token nobody can replace fails as the token does, and its body is discarded", async () => {
    let isCanceled = false;
    const body = new ReadableStream({ cancel: () => void (isCanceled = true) });
    const refused = new Error("no other token");
    const { failure, sent } = request({ answers: [new Response(body, { status: 401 })], refused });
    expect([await failure, sent.length, isCanceled]).toEqual([refused, 1, true]);
  });

  it("is asked again with another token, and its body is discarded", async () => {
    let isCanceled = false;
    const body = new ReadableStream({ cancel: () => void (isCanceled = true) });
    const { response, sent, asked } = request({
      answers: [new Response(body, { status: 401 }), new Response("yes")],
    });
    expect(await (await response).text()).toBe("yes");
    expect(sent.map(bearerOf)).toEqual(["Bearer token-1", "Bearer token-2"]);
    expect([asked, isCanceled]).toEqual([[[], ["token-1"]], true]);
  });

  it("without a body is asked again, too; the second one is the response", async () => {
    const empty = new Response(null, { status: 401 });
    const { response, sent } = request({ answers: [empty, rejected()] });
    const { status } = await response;
    expect([status, sent.length]).toEqual([401, 2]);
  });

  it.each([
    [401, ["token-1"]],
    [403, ["token-1", "token-2"]],
  ])("is the response if there is no other token, and so is %i", async (status, tokens) => {
    const { response, sent } = request({ tokens, answers: [new Response("no", { status })] });
    expect(await (await response).text()).toBe("no");
    expect(sent).toHaveLength(1);
  });

  it("to a stream is the response, because its body is spent", async () => {
    const init = { method: "POST", body: new Blob(["a"]).stream() };
    const { response, sent, asked } = request({ init, answers: [rejected()] });
    expect((await response).status).toBe(401);
    expect([sent.length, asked.length]).toEqual([1, 2]);
  });
});

describe("a body", () => {
  const stream = () => new Blob(["a"]).stream();

  it.each<[string, unknown, boolean]>([
    ["a stream of the Web", stream(), true],
    ["what gives chunks", { [Symbol.asyncIterator]: () => undefined }, true],
    ["text", "text", false],
    ["null", null, false],
    ["a form", new URLSearchParams("a=b"), false],
    ["nothing", undefined, false],
  ])("%s goes over node:http if it is a stream", async (_what, body, isStream) => {
    const init = { method: "POST", body: body as never };
    const over = request({ init, hasSendStream: true });
    expect(await (await over.response).text()).toBe(isStream ? "streamed" : "yes");
    expect(over.streams).toHaveLength(isStream ? 1 : 0);
    const plain = request({ init });
    await plain.response;
    expect(plain.sent[0]!.init).toHaveProperty("body", body);
    expect("duplex" in plain.sent[0]!.init).toBe(isStream);
  });

  it("that is a stream is sent with the same address, token and clock", async () => {
    const { response, streams, row, sent } = request({
      init: { method: "POST", body: stream() },
      hasSendStream: true,
    });
    await response;
    expect(streams).toMatchObject([
      { api: row, isOurClock: true, init: { method: "POST", redirect: "manual" } },
    ]);
    expect((streams[0] as { url: URL }).url.href).toBe("https://orders.internal/v2/items?a=b");
    expect(bearerOf(streams[0] as { init: RequestInit })).toBe("Bearer token-1");
    expect(sent).toEqual([]);
  });

  it("stays with the runtime's fetch if something of the runtime's belongs to it", async () => {
    const init = { method: "POST", body: stream(), dispatcher: {} as never };
    const { response, sent, streams } = request({ init, hasSendStream: true });
    await response;
    expect([sent.length, streams]).toEqual([1, []]);
    expect(sent[0]!.init).toHaveProperty("duplex", "half");
  });
});

describe("a request that gets no response", () => {
  it("times out after the API's timeout, and not before", async () => {
    const { failure, clock, sent } = request({ api: { timeout: 7 }, answers: [] });
    await clock.advanceAsync(6_999);
    expect(sent[0]!.init.signal?.aborted).toBe(false);
    await clock.advanceAsync(1);
    expect(codeOf(await failure)).toBe("api_timeout");
  });

  it("leaves no timer after a response, nor after a failure", async () => {
    const good = request();
    await good.response;
    const bad = request({ answers: [new Error("ECONNREFUSED")] });
    await bad.failure;
    expect([good.clock.pendingTimers, bad.clock.pendingTimers]).toEqual([0, 0]);
  });

  it("fails with a code of ours, and with its cause", async () => {
    const cause = new TypeError("fetch failed");
    const { failure } = request({ answers: [cause] });
    expect(await failure).toMatchObject({ code: "api_unreachable", cause });
  });

  it("fails with the application's own reason if the application broke it off", async () => {
    const own = new AbortController();
    const reason = new Error("enough");
    const { failure, sent } = request({ init: { signal: own.signal }, answers: [] });
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toHaveLength(1);
    own.abort(reason);
    expect(await failure).toBe(reason);
  });

  it("fails with a code of ours although the application could break it off", async () => {
    const init = { signal: new AbortController().signal };
    const { failure } = request({ init, answers: [new Error("ECONNRESET")] });
    expect(codeOf(await failure)).toBe("api_unreachable");
  });
});
