// The policy of the proxy, without servers: which requests are sent, with what, and what becomes of
// the response, of a failure and of an end.
import { describe, expect, it } from "vitest";
import type { Challenge } from "../../src/apis/challenge.js";
import { Closing } from "../../src/apis/abort-at-session-end.js";
import type { Exchange } from "../../src/apis/exchange.js";
import { answered, proxyRequest } from "../../src/apis/request-steps.js";
import type { ApiRequest, ApiResponse, IncomingBody } from "../../src/apis/transport.js";
import type { Api } from "../../src/config/api-options.js";
import { ERRORS, IdpAuthError, type ErrorCode } from "../../src/errors.js";
import { problem, type Reply } from "../../src/http/reply.js";
import { SessionEndedError } from "../../src/sessions/session-end-signal.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { Shutdown } from "../../src/work/shutdown.js";
import { apiRow } from "./api-row.js";
import { usable } from "./usable-token.js";
import { watchOf } from "./watch-of.js";

const ORIGIN = "https://app.example";
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Nothing here waits for a server, so what hasn't come after some turns never comes. */
async function soon<Value>(promise: Promise<Value>): Promise<Value> {
  const never = async () => {
    for (let at = 0; at < 50; at++) await turn();
    throw new Error("There is no response.");
  };
  return Promise.race([promise, never()]);
}

type Stream = ReadableStream<Uint8Array>;
type Request = ApiRequest<Stream>;
type Lines = Readonly<Record<string, string>>;

/** A response of the API. */
interface Answer {
  readonly status?: number;
  readonly headers?: Lines;
  readonly whole?: string | undefined;
  readonly isUpgraded?: boolean;
}

interface Setting {
  readonly api?: Partial<Api>;
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Lines;
  /** The user's tokens: the first one, and those that `tokenAgain` returns one after another. */
  readonly tokens?: readonly (string | Reply | Error)[];
  /** The API's responses one after another, or why there are none. After them it is silent. */
  readonly answers?: readonly (Answer | Error)[];
  readonly body?: Partial<IncomingBody<Stream>>;
  /** The session has ended already. */
  readonly hasEnded?: boolean;
  readonly isUncut?: boolean;
  /** Nobody tells when the response is complete. */
  readonly isUntold?: boolean;
}

const SENT = new TextEncoder().encode("sent");
const UPLOAD = new Blob(["an upload"]).stream();
const POST = { method: "POST", headers: { "X-Idpauth": "1" } };
const SIGNED_OUT = problem("login_required", "No.");

/** A request with everything around it, and what happened to it. */
function parties(setting: Setting = {}) {
  const { method = "GET", target = "/api/orders/items", headers = {}, answers } = setting;
  const { tokens = ["token-1", "token-2", "token-3"] } = setting;
  const clock = new TestClock();
  const shutdown = new Shutdown();
  const session = new AbortController();
  if (setting.hasEnded === true) session.abort(new SessionEndedError("logout"));
  const log: string[] = [];
  const sent: Request[] = [];
  const failures: IdpAuthError[] = [];
  const challenges: Challenge[] = [];
  const aborts: unknown[] = [];
  const closes: (() => void)[] = [];
  const lines = Object.entries(headers).flat();
  const left = [...tokens];
  const next = () => {
    const token = left.shift() ?? "token-1";
    // A rule of the application has thrown.
    if (token instanceof Error) throw token;
    return token;
  };
  const exchange: Exchange = {
    api: apiRow(setting.api),
    request: {
      method,
      target,
      scheme: "https",
      host: "app.example",
      header: (name) =>
        Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1],
    },
    lines,
    origin: ORIGIN,
    client: "192.0.2.7",
    pathPrefix: "",
    clock,
    shutdown,
    connection: setting.isUncut === true ? undefined : { destroy: () => log.push("cut") },
    takeStream: () => () => undefined,
    watch: (onEnd) => (log.push("watch"), watchOf(session.signal, onEnd)),
    onClose: setting.isUntold === true ? undefined : (closed) => void closes.push(closed),
    token: async () => (log.push("token"), usable(next())),
    tokenAgain: async (rejected) => (log.push(`again ${rejected ?? "-"}`), usable(next())),
    challenged: async (challenge) => (
      challenges.push(challenge),
      problem("insufficient_user_authentication", "Step up.")
    ),
    observed: (_headers, send) => send(),
    refused: async (code, { headers = {}, detail = "" } = {}) => problem(code, detail, { headers }),
    failed: (error) => void failures.push(error),
    locationDropped: () => void log.push("dropped"),
  };
  const responses = [...(answers ?? [])];
  const streams: Stream[] = [];
  const transport = (request: Request) =>
    new Promise<ApiResponse<Stream>>((resolve, reject) => {
      log.push("send");
      sent.push(request);
      request.onAbort((reason) => {
        aborts.push(reason);
        reject(reason);
      });
      const answer = responses.shift();
      if (answer instanceof Error) reject(answer);
      else if (answer !== undefined) resolve(responseOf(answer));
    });
  const responseOf = ({ status = 200, headers = {}, ...answer }: Answer): ApiResponse<Stream> => {
    const body = new Blob(["body"]).stream();
    streams.push(body);
    return {
      status,
      lines: Object.entries(headers).flat(),
      body,
      discard: () => void log.push("discard"),
      ...("whole" in answer && {
        whole: () =>
          answer.whole === undefined ? undefined : new TextEncoder().encode(answer.whole),
      }),
      ...(answer.isUpgraded === true && { upgraded: {} as never }),
    };
  };
  const body: IncomingBody<Stream> | undefined = setting.body && {
    stream: UPLOAD,
    isUsed: false,
    hasArrived: true,
    bytes: async () => (log.push("read"), SENT),
    ...setting.body,
  };
  const begun = proxyRequest(exchange, transport, body);
  const reply = () => soon(begun);
  return {
    ...{ clock, shutdown, session, log, sent, failures, challenges, aborts, reply, streams },
    exchange,
    /** The response is complete, or the browser has left. */
    close: () => closes.forEach((closed) => closed()),
    end: () => session.abort(new SessionEndedError("logout")),
    async got() {
      const { status, headers, body } = await reply();
      const text = typeof body === "string" ? (JSON.parse(body) as { code: string }) : undefined;
      return { status, headers, body, code: text?.code };
    },
  };
}

const errorsOf = (errors: readonly unknown[]) =>
  errors.map((error) => error instanceof IdpAuthError && [error.code, error.message]);
const codesOf = (errors: readonly unknown[]) =>
  errors.map((error) => error instanceof IdpAuthError && error.code);
const titled = (code: ErrorCode) => [code, `${ERRORS[code].title}.`];

/** Begins a shutdown, with a clock of its own. */
function shutDown(shutdown: Shutdown) {
  const clock = new TestClock();
  const state = { isOver: false };
  const over = () => (state.isOver = true);
  void shutdown.close({ clock, timeout: 10, settled: async () => undefined, onLate: () => undefined }).then(over); // prettier-ignore
  return { clock, state };
}

describe("a request that isn't passed on", () => {
  it.each<[string, Setting, number, string]>([
    ["outside the API's path", { target: "/other" }, 404, "not_found"],
    ["with a path that leads out", { target: "/api/orders/..%2fx" }, 400, "api_path_invalid"],
    ["by a method that isn't listed", { method: "PURGE" }, 405, "method_not_allowed"],
    ["by a form of another site", { method: "POST" }, 403, "cross_origin"],
    ["with two lengths", { headers: { "Content-Length": "5, 5" } }, 400, "api_framing_invalid"],
  ])("%s gets its reason, and the API isn't reached", async (_what, setting, status, code) => {
    const { got, log, failures, clock } = parties(setting);
    expect(await got()).toMatchObject({ status, code });
    expect([log, failures, clock.pendingTimers]).toEqual([[], [], 0]);
  });

  it("says what is wrong with the path, and which methods there are", async () => {
    const api = { methods: ["GET", "POST"] };
    const { body } = await parties({ target: "/api/orders/a\\b" }).got();
    expect((JSON.parse(body as string) as { detail: string }).detail).not.toBe("");
    expect((await parties({ api, method: "PUT" }).got()).headers["Allow"]).toBe("GET, POST");
  });

  it.each<[string, Lines, boolean, boolean]>([
    ["GET", {}, false, true],
    ["GET", { "Sec-Fetch-Site": "same-origin" }, false, true],
    ["GET", { "Sec-Fetch-Site": "none" }, false, true],
    ["GET", { "Sec-Fetch-Site": "same-site" }, false, false],
    ["GET", { "Sec-Fetch-Site": "cross-site" }, false, false],
    ["GET", { "Sec-Fetch-Site": "cross-site" }, true, true],
    ["POST", { "Sec-Fetch-Site": "cross-site" }, true, false],
    ["HEAD", { "Sec-Fetch-Site": "cross-site" }, true, true],
    ["OPTIONS", { "Sec-Fetch-Site": "cross-site" }, true, false],
    ["OPTIONS", { "Sec-Fetch-Site": "same-origin" }, false, true],
    ["GET", { Origin: ORIGIN }, false, true],
    ["GET", { Origin: "https://evil.example" }, false, false],
    ["GET", { Origin: "https://evil.example" }, true, true],
    ["OPTIONS", { Origin: "https://evil.example" }, true, false],
    ["GET", { Origin: "https://evil.example", "Sec-Fetch-Site": "same-origin" }, false, true],
    ["POST", { Origin: ORIGIN }, false, true],
    ["POST", { Origin: "https://evil.example" }, false, false],
    ["POST", { "X-Idpauth": "1" }, false, true],
  ])("or is, as its origin says: %s %j, allowCrossSite %s, %s", async (method, headers, allowCrossSite, passes) => {
    const { got, sent } = parties({ method, headers, api: { allowCrossSite }, answers: [{}] });
    expect((await got()).status).toBe(passes ? 200 : 403);
    expect(sent).toHaveLength(passes ? 1 : 0);
  }); // prettier-ignore

  it("because its body was read is an error that the operator learns of", async () => {
    const { got, log, failures } = parties({ ...POST, body: { isUsed: true } });
    expect(await got()).toMatchObject({ status: 500, code: "api_body_consumed" });
    expect([log, errorsOf(failures)]).toEqual([[], [titled("api_body_consumed")]]);
  });

  it("because the user has no token gets the guard's response, and its body isn't read", async () => {
    const { reply, log } = parties({
      ...POST,
      headers: { ...POST.headers, "Content-Length": "4" },
      tokens: [SIGNED_OUT],
      body: { hasArrived: false },
    });
    expect([await reply(), log]).toEqual([SIGNED_OUT, ["token"]]);
  });

  it.each<[string, Setting, number]>([
    ["an event stream", { headers: { Accept: "text/event-stream" } }, 503],
    ["anything else", { headers: { Accept: "text/html" } }, 200],
    ["nothing", {}, 200],
    ["a stream in response to a POST", { ...POST, headers: { ...POST.headers, Accept: "text/event-stream" } }, 200],
  ])("during a shutdown is a request for %s", async (_what, setting, status) => {
    const { exchange, shutdown, sent, reply } = parties({ ...setting, answers: [{}] });
    expect((await reply()).status).toBe(200);
    shutDown(shutdown);
    const transport = async () => ({ status: 200, lines: [], body: UPLOAD, discard: () => undefined }); // prettier-ignore
    const { headers, ...rest } = await proxyRequest(exchange, transport, undefined);
    expect([rest.status, sent.length]).toEqual([status, 1]);
    if (status === 503) expect(headers).toMatchObject({ Connection: "close", "Retry-After": "1" });
  }); // prettier-ignore
});

describe("a request", () => {
  it("is sent with its method, URL and the user's token", async () => {
    const { reply, sent } = parties({ target: "/api/orders/items?q=%2F", answers: [{}] });
    await reply();
    const [{ method, url, headers, body, length } = {} as Request] = sent;
    expect([method, url.href, body, length]).toEqual(["GET", "https://orders.internal/v2/items?q=%2F", undefined, undefined]); // prettier-ignore
    expect(Object.fromEntries(headers)).toMatchObject({
      authorization: "Bearer token-1",
      "x-forwarded-for": "192.0.2.7",
      "x-forwarded-host": "app.example",
      "x-forwarded-prefix": "/api/orders",
    });
  });

  it.each<[string, Lines, boolean, number | undefined]>([
    ["no length", {}, false, undefined],
    ["chunks", { "Transfer-Encoding": "chunked" }, false, undefined],
    ["65536 bytes", { "Content-Length": "65536" }, true, 65_536],
    ["65537 bytes", { "Content-Length": "65537" }, false, 65_537],
  ])("with a body of %s is kept for a repetition, or streams", async (_what, headers, isKept, length) => {
    const setting = { ...POST, headers: { ...POST.headers, ...headers }, body: {}, answers: [{}] };
    const { reply, sent, log } = parties(setting);
    await reply();
    expect(sent[0]!.body).toBe(isKept ? SENT : UPLOAD);
    expect([sent[0]!.length, log]).toEqual([length, ["token", ...(isKept ? ["read"] : []), "send"]]);
  }); // prettier-ignore

  const SHORT = { ...POST, headers: { ...POST.headers, "Content-Length": "4" } };

  it("whose body comes late is sent with what the session says then", async () => {
    const { reply, sent, log } = parties({ ...SHORT, body: { hasArrived: false }, answers: [{}] });
    await reply();
    expect(log).toEqual(["token", "read", "again -", "send"]);
    expect(sent[0]!.headers.get("authorization")).toBe("Bearer token-2");
    expect(sent[0]!.body).toBe(SENT);
  });

  it("whose user has signed out until the body was there isn't sent", async () => {
    const tokens = ["token-1", SIGNED_OUT];
    const { reply, log } = parties({ ...SHORT, tokens, body: { hasArrived: false } });
    expect([await reply(), log]).toEqual([SIGNED_OUT, ["token", "read", "again -"]]);
  });

  it.each([true, false])("whose browser breaks the body off is no failure of the API: %s", async (hasArrived) => {
    const bytes = () => Promise.reject(new Error("aborted"));
    const { got, log, failures } = parties({ ...SHORT, body: { hasArrived, bytes } });
    expect((await got()).code).toBe("api_unreachable");
    expect([log, failures]).toEqual([["token"], []]);
  }); // prettier-ignore

  it("whose session ends while the body is awaited isn't sent", async () => {
    const bytes = () => new Promise<never>(() => undefined);
    const { got, log, failures, clock, end } = parties({ ...SHORT, body: { hasArrived: false, bytes } }); // prettier-ignore
    await turn();
    clock.advance(499);
    expect(log).toEqual(["token"]);
    clock.advance(1);
    expect(log).toEqual(["token", "watch"]);
    end();
    expect((await got()).code).toBe("session_ended");
    expect([log, failures]).toEqual([["token", "watch"], []]);
  });

  it("whose browser leaves while the body is awaited isn't sent", async () => {
    const bytes = () => new Promise<never>(() => undefined);
    const { got, log, failures, clock, close } = parties({ ...SHORT, body: { hasArrived: false, bytes } }); // prettier-ignore
    await turn();
    close();
    expect((await got()).code).toBe("api_unreachable");
    expect([log, failures, clock.pendingTimers]).toEqual([["token"], [], 0]);
  });
});

describe("a 401 of the API", () => {
  const DENIED = { status: 401, headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' } };
  const STRICT = { status: 401, headers: { "WWW-Authenticate": 'Bearer error="insufficient_user_authentication", max_age=60' } }; // prettier-ignore
  const STREAMED = { ...POST, headers: { ...POST.headers, "Transfer-Encoding": "chunked" }, body: {} }; // prettier-ignore

  it("leads to one repetition with another token and the same body", async () => {
    const headers = { ...POST.headers, "Content-Length": "4" };
    const answers = [DENIED, { status: 403 }];
    const { got, sent, log } = parties({ ...POST, headers, body: {}, answers });
    expect((await got()).status).toBe(403);
    expect(log).toEqual(["token", "read", "send", "again token-1", "discard", "send"]);
    expect(sent.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer token-1",
      "Bearer token-2",
    ]);
    expect(sent[1]!.body).toBe(SENT);
  });

  it("is 502 if it comes again, and if there is no other token", async () => {
    const twice = parties({ answers: [DENIED, DENIED] });
    expect(await twice.got()).toMatchObject({ status: 502, code: "api_token_rejected" });
    expect(twice.log).toEqual(["token", "send", "again token-1", "discard", "send", "discard"]);
    expect(errorsOf(twice.failures)).toEqual([titled("api_token_rejected")]);
    const same = parties({ tokens: ["token-1", "token-1"], answers: [DENIED] });
    expect((await same.got()).code).toBe("api_token_rejected");
    expect(same.log).toEqual(["token", "send", "again token-1", "discard"]);
  });

  it("to a stream is 502 after a refresh, of which the next request profits", async () => {
    const { got, log } = parties({ ...STREAMED, answers: [DENIED] });
    expect((await got()).code).toBe("api_token_rejected");
    expect(log).toEqual(["token", "send", "again token-1", "discard"]);
  });

  it.each([{}, STREAMED])("after which the user is signed out says so: %j", async (setting) => {
    const tokens = ["token-1", SIGNED_OUT];
    const { reply, failures } = parties({ ...setting, tokens, answers: [DENIED] });
    expect([await reply(), failures]).toEqual([SIGNED_OUT, []]);
  });

  it("or 403 that demands another scope is a step-up, and any other 403 passes", async () => {
    const status = 403;
    const demand = (error: string) => ({
      status,
      headers: { "WWW-Authenticate": `Bearer error="${error}", scope="a"` },
    });
    const scope = parties({ answers: [demand("insufficient_scope")] });
    expect((await scope.got()).code).toBe("insufficient_user_authentication");
    expect(scope.challenges).toEqual([
      { status, error: "insufficient_scope", parameters: { scope: "a" } },
    ]);
    const other = parties({ answers: [demand("invalid_token")] });
    expect([(await other.got()).status, other.challenges]).toEqual([status, []]);
  });

  it("is broken off with its repetition when the browser leaves, because its body may never end", async () => {
    const { close, got, log, aborts } = parties({ answers: [DENIED] });
    await turn();
    expect(log.at(-1)).toBe("send");
    close();
    expect((await got()).code).toBe("api_unreachable");
    expect(codesOf(aborts)).toEqual(["api_unreachable", "api_unreachable"]);
  });

  it("that demands another sign-in is a step-up, the first time and after a repetition", async () => {
    for (const answers of [[STRICT], [DENIED, STRICT]]) {
      const { got, log, challenges } = parties({ answers });
      expect((await got()).code).toBe("insufficient_user_authentication");
      expect(challenges).toEqual([
        { status: 401, error: "insufficient_user_authentication", parameters: { max_age: "60" } },
      ]);
      expect(log.at(-1)).toBe("discard");
    }
  });
});

describe("a failure of the connection to the API", () => {
  it("is reported to the operator as it was", async () => {
    const error = new IdpAuthError("api_timeout", "Too late.");
    const { got, failures } = parties({ answers: [error] });
    expect([(await got()).status, failures]).toEqual([504, [error]]);
  });

  it("of another kind is 502, with its cause", async () => {
    const cause = new Error("ECONNREFUSED");
    const { got, failures } = parties({ answers: [cause] });
    expect([(await got()).code, failures.map((failure) => failure.cause)]).toEqual(["api_unreachable", [cause]]); // prettier-ignore
  });

  it("is none if the session ended, the browser left, or a shutdown broke it off", async () => {
    const ended = parties();
    await turn();
    ended.clock.advance(500);
    ended.end();
    expect(await ended.got()).toMatchObject({ status: 401, code: "session_ended" });
    const left = parties();
    await turn();
    left.close();
    expect((await left.got()).code).toBe("api_unreachable");
    const cut = parties();
    await turn();
    const { clock } = shutDown(cut.shutdown);
    clock.advance(10_000);
    expect(await cut.got()).toMatchObject({ status: 503, code: "shutting_down" });
    // Nothing is sent yet, so the browser can still get the 503.
    expect(cut.log).toEqual(["token", "send"]);
    expect([...ended.failures, ...left.failures, ...cut.failures]).toEqual([]);
    expect(errorsOf([...left.aborts, ...cut.aborts])).toEqual([
      ["api_unreachable", "The browser has left."],
      ["shutting_down", "`auth.close()` has broken the request off."],
    ]);
  });
});

it("a rule that throws after the first response leaves nothing open", async () => {
  const { got, clock, shutdown } = parties({ answers: [{ status: 401 }], tokens: ["token-1", new Error("a rule")] }); // prettier-ignore
  await expect(got()).rejects.toThrow("a rule");
  expect(clock.pendingTimers).toBe(0);
  const { state } = shutDown(shutdown);
  await turn();
  expect(state.isOver).toBe(true);
});

describe("a response", () => {
  it("passes if nobody tells when it is complete, also an event stream", async () => {
    for (const type of ["text/plain", "text/event-stream"]) {
      const answers = [{ headers: { "Content-Type": type } }];
      expect((await parties({ answers, isUntold: true }).got()).status).toBe(200);
    }
  });

  it("streams, with a type", async () => {
    const { got, streams, log } = parties({ answers: [{ headers: { ETag: "1" } }] });
    const { status, headers, body } = await got();
    expect([status, body]).toEqual([200, streams[0]]);
    expect(headers).toMatchObject({ Etag: "1", "Content-Type": "application/octet-stream" });
    expect(log).toEqual(["token", "send"]);
    const typed = parties({ answers: [{ headers: { "Content-Type": "text/plain" } }] });
    expect((await typed.got()).headers["Content-Type"]).toBe("text/plain");
  });

  it.each([
    [undefined, true],
    ['attachment; filename="a.txt"', true],
    ["attachment; filename=\u00e9.txt", false],
    ["\u00e9", false],
    ["\u00e9 at the beginning", false],
  ])("that has arrived whole is sent at once, unless Node would change its name: %s", async (name, isWhole) => {
    const headers = name === undefined ? {} : { "Content-Disposition": name };
    const { got, streams } = parties({ answers: [{ headers, whole: "whole" }] });
    const { body } = await got();
    if (isWhole) expect(new TextDecoder().decode(body as Uint8Array)).toBe("whole");
    else expect(body).toBe(streams[0]);
  }); // prettier-ignore

  it("that hasn't arrived whole streams", async () => {
    const { got, streams } = parties({ answers: [{ whole: undefined }] });
    expect((await got()).body).toBe(streams[0]);
  });

  it.each([
    [99, 500],
    [100, 100],
    [200, 200],
    [599, 599],
    [600, 500],
    [0, 500],
  ])("with the status %i has the status %i", async (status, expected) => {
    const { got, failures } = parties({ answers: [{ status }] });
    expect([(await got()).status, failures]).toEqual([expected, []]);
  });

  it.each([
    [100, "GET", false, true],
    [199, "GET", false, true],
    [200, "GET", true, true],
    [204, "GET", false, false],
    [205, "GET", false, false],
    [206, "GET", true, true],
    [304, "GET", true, false],
    [200, "HEAD", true, false],
    [204, "HEAD", false, false],
  ])("with %i to %s: its length passes %s, its body %s", async (status, method, hasLength, hasBody) => {
    const { reply, log } = parties({ method, answers: [{ status, headers: { "Content-Length": "4" } }] });
    const { headers, ...rest } = await reply();
    expect("Content-Length" in headers).toBe(hasLength);
    expect([rest.body !== undefined, log.at(-1)]).toEqual([hasBody, hasBody ? "send" : "discard"]);
    expect("Content-Type" in headers).toBe(hasBody);
  }); // prettier-ignore

  it("that switches protocols without a request for it is 502", async () => {
    const { got, failures, log } = parties({ answers: [{ status: 101 }] });
    expect(await got()).toMatchObject({ status: 502, code: "api_response_invalid" });
    expect([log.at(-1), errorsOf(failures)]).toEqual(["discard", [titled("api_response_invalid")]]);
    const asked = parties({ answers: [{ status: 101, isUpgraded: true }] });
    expect((await asked.got()).status).toBe(101);
    expect(asked.log).not.toContain("discard");
  });

  it("that redirects elsewhere is 502, and another one loses its Location alone", async () => {
    const headers = { Location: "https://evil.example/" };
    const refused = parties({ answers: [{ status: 302, headers }] });
    expect(await refused.got()).toMatchObject({ status: 502, code: "api_redirect_refused" });
    expect(refused.log).toEqual(["token", "send", "discard"]);
    expect(errorsOf(refused.failures)).toEqual([titled("api_redirect_refused")]);
    const acted = parties({ answers: [{ status: 201, headers }] });
    const { status, headers: returned, body } = await acted.got();
    expect([status, returned["Location"], body]).toEqual([201, undefined, acted.streams[0]]);
    expect([acted.log, acted.failures]).toEqual([["token", "send", "dropped"], []]);
    const inside = parties({ answers: [{ status: 302, headers: { Location: "/v2/a" } }] });
    expect((await inside.got()).headers["Location"]).toBe("/api/orders/a");
    expect(inside.log).toEqual(["token", "send"]);
  });
});

describe("a response that is being sent", () => {
  const EVENTS = { headers: { "Content-Type": "text/event-stream" } };

  it("whole needs no watch and no wait of a shutdown any more", async () => {
    const { reply, clock, shutdown, log } = parties({ answers: [{ whole: "whole" }] });
    await reply();
    expect(clock.pendingTimers).toBe(0);
    const { state } = shutDown(shutdown);
    await turn();
    expect([state.isOver, log]).toEqual([true, ["token", "send"]]);
  });

  it("as a stream is watched after half a second, and an event stream at once", async () => {
    const download = parties({ answers: [{}] });
    await download.reply();
    download.clock.advance(499);
    expect(download.log).not.toContain("watch");
    download.clock.advance(1);
    expect(download.log.filter((entry) => entry === "watch")).toHaveLength(1);
    const events = parties({ answers: [EVENTS] });
    await events.reply();
    expect(events.log).toEqual(["token", "send", "watch"]);
    expect(events.clock.pendingTimers).toBe(0);
  });

  it.each([EVENTS, {}])("is broken off when the session ends, for that reason: %j", async (answer) => {
    const { reply, clock, aborts, end, close } = parties({ answers: [answer] });
    await reply();
    clock.advance(500);
    end();
    expect(codesOf(aborts)).toEqual(["session_ended"]);
    close();
    expect(new Set(codesOf(aborts))).toEqual(new Set(["session_ended"]));
  }); // prettier-ignore

  it("is broken off if the session has ended before the watch begins", async () => {
    const { reply, aborts } = parties({ answers: [EVENTS], hasEnded: true });
    await reply();
    expect(codesOf(aborts)).toEqual(["session_ended"]);
  });

  it("is broken off when the browser leaves, and then nothing is watched or waited for", async () => {
    for (const answer of [EVENTS, {}]) {
      const { reply, clock, shutdown, aborts, close, end } = parties({ answers: [answer] });
      await reply();
      close();
      end();
      clock.advance(1000);
      expect([codesOf(aborts), clock.pendingTimers]).toEqual([["api_unreachable"], 0]); // prettier-ignore
      const { state } = shutDown(shutdown);
      await turn();
      expect(state.isOver).toBe(true);
    }
  });

  it("may end before a shutdown does, which then breaks it off on both sides", async () => {
    const { reply, shutdown, aborts, log } = parties({ answers: [{}] });
    await reply();
    const { clock, state } = shutDown(shutdown);
    await turn();
    expect([state.isOver, aborts]).toEqual([false, []]);
    clock.advance(10_000);
    expect([codesOf(aborts), log.at(-1)]).toEqual([["shutting_down"], "cut"]);
    const without = parties({ answers: [{}], isUncut: true });
    await without.reply();
    shutDown(without.shutdown).clock.advance(10_000);
    expect(codesOf(without.aborts)).toEqual(["shutting_down"]);
  });
});

describe("the end of an event stream in order, by a shutdown,", () => {
  it.each([
    ["GET", true],
    ["HEAD", false],
    ["POST", false],
  ])("is offered to the transport for %s: %s", async (method, isOffered) => {
    const { reply, sent } = parties({ ...POST, method, answers: [{}] });
    await reply();
    expect(sent[0]!.endsBy !== undefined).toBe(isOffered);
  });

  it("is called once, and the shutdown waits for the close", async () => {
    const { reply, sent, shutdown, close, log, aborts } = parties({ answers: [{}] });
    await reply();
    let ends = 0;
    sent[0]!.endsBy!(() => void (ends += 1));
    const { state } = shutDown(shutdown);
    await turn();
    expect([ends, state.isOver]).toEqual([1, false]);
    close();
    await turn();
    expect([ends, state.isOver, log]).toEqual([1, true, ["token", "send"]]);
    expect(codesOf(aborts)).toEqual(["api_unreachable"]);
  });

  it("doesn't keep what stays open from being broken off", async () => {
    const { reply, sent, shutdown, aborts, log } = parties({ answers: [{}] });
    await reply();
    sent[0]!.endsBy!(() => undefined);
    const { clock } = shutDown(shutdown);
    await turn();
    clock.advance(10_000);
    expect([codesOf(aborts), log.at(-1)]).toEqual([["shutting_down"], "cut"]);
  });
});

it("a function that breaks off is called at once if that has happened before", async () => {
  const { exchange, close } = parties();
  await turn();
  const closing = new Closing(exchange);
  close();
  const reasons: unknown[] = [];
  closing.onAbort((reason) => reasons.push(reason));
  expect(codesOf(reasons)).toEqual(["api_unreachable"]);
  await expect(soon(closing.aborted())).rejects.toMatchObject({ code: "api_unreachable" });
});

it("a request without a body, such as that for a WebSocket, waits for nothing", async () => {
  const { exchange, log } = parties();
  await turn();
  const response = { status: 403, lines: [], body: UPLOAD, discard: () => undefined };
  const send = async () => response;
  const url = new URL("https://orders.internal/v2/");
  const reply = await answered(exchange, url, { canRepeat: true, send });
  expect([reply.status, log]).toEqual([403, ["token", "send", "token"]]);
});
