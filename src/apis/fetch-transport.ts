/** Requests to APIs over `fetch`, for servers that have no socket. */
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import { endable } from "./endable-stream.js";
import { isEventStreamType } from "./response-headers.js";
import {
  apiTimeout,
  asApiError,
  type ApiRequest,
  type IncomingBody,
  type Transport,
} from "./transport.js";

type Stream = ReadableStream<Uint8Array>;

/** Returns the body of a request; undefined if it has none. */
export function fetchBody(request: Request): IncomingBody<Stream> | undefined {
  const { body, bodyUsed } = request;
  if (body === null) return undefined;
  return {
    stream: body,
    isUsed: bodyUsed || body.locked,
    hasArrived: false,
    bytes: async () => new Uint8Array(await request.arrayBuffer()),
  };
}

export function fetchTransport(api: Api, clock: Clock, send: typeof fetch): Transport<Stream> {
  return async (request) => {
    const own = new AbortController();
    const timer = restartable(clock, api.timeout * 1000, () => own.abort(apiTimeout()));
    request.onAbort((reason) => own.abort(reason));
    try {
      timer.start();
      const response = await send(request.url.href, initOf(request, own.signal, timer));
      timer.stop();
      // Some runtimes hide a redirect that they were asked not to follow.
      if (response.type === "opaqueredirect") throw new Error("This runtime hides redirects.");
      const { status, headers } = response;
      // The runtime has decompressed the body.
      const decoded = headers.has("content-encoding") ? ["content-encoding", "content-length"] : [];
      const lines = [...headers].filter(([name]) => !decoded.includes(name)).flat();
      const body = response.body ?? new Blob([]).stream();
      const timed = isEventStreamType(headers.get("content-type") ?? undefined)
        ? request.endsBy === undefined
          ? body
          : endable(body, request.endsBy)
        : throughTimer(body, timer.start, timer.stop);
      return {
        status,
        lines,
        body: timed,
        discard: () => void timed.cancel().catch(() => undefined),
      };
    } catch (error) {
      timer.stop();
      throw asApiError(own.signal.aborted ? own.signal.reason : error);
    }
  };
}

function initOf(
  { method, headers, body }: ApiRequest<Stream>,
  signal: AbortSignal,
  timer: Timer,
): RequestInit & { cache: string } {
  const sent = new Headers([...headers]);
  // Runtimes decompress what they know, and not each the same.
  sent.set("accept-encoding", "identity");
  const isStream = body !== undefined && !(body instanceof Uint8Array);
  return {
    method,
    headers: sent,
    redirect: "manual",
    // Otherwise runtimes that follow the standard fail on a 401 to a stream, and those with a cache
    // or with cookies use them.
    credentials: "omit",
    cache: "no-store",
    signal,
    // While the browser is slow, the API isn't.
    ...(body !== undefined && {
      body: isStream ? throughTimer(body, timer.stop, timer.start) : body,
    }),
    ...(isStream && { duplex: "half" }),
  };
}

interface Timer {
  readonly start: () => void;
  readonly stop: () => void;
}

function restartable(clock: Clock, milliseconds: number, expired: () => void): Timer {
  let cancel: () => void = () => undefined;
  return {
    start() {
      cancel();
      cancel = clock.timer(milliseconds, expired);
    },
    stop: () => {
      cancel();
    },
  };
}

/** The same stream, without a buffer; calls one function before each read and one after it. */
function throughTimer(source: Stream, before: () => void, after: () => void): Stream {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        before();
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } finally {
          after();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
