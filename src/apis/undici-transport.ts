/** Requests to APIs over undici. */
import { Readable, type Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import { ArrivingResponse } from "./arriving-response.js";
import { IdleTimer } from "./idle-timer.js";
import { CLOSED_BY_PEER } from "./outlive-write-errors.js";
import type { Pieces } from "./request-bodies.js";
import { valuesOf, type HeaderLines } from "./request-headers.js";
import { isEventStreamType } from "./response-headers.js";
import {
  apiTimeout,
  asApiError,
  type ApiRequest,
  type ApiResponse,
  type Transport,
} from "./transport.js";

/** A request whose body is read piece by piece, unless it is known whole. */
type Call = ApiRequest<Pieces>;

/** Where a request goes, and how long the API may take. */
interface Destination {
  readonly origin: string;
  readonly dispatcher: Pick<Dispatcher, "dispatch">;
  readonly clock: Clock;
  /** Seconds that the API may take for its next byte. */
  readonly timeout: number;
}

/** Methods that change nothing (RFC 9110 section 9.2.1), so that a request may be sent twice. */
const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];

/** How a connection fails that the API has closed or reset. */
const CLOSED = ["UND_ERR_SOCKET", ...CLOSED_BY_PEER];

/** @param dispatcher of this API alone, because it holds the connections */
export function undiciTransport(
  { url, timeout }: Pick<Api, "url" | "timeout">,
  clock: Clock,
  dispatcher: Pick<Dispatcher, "dispatch">,
): Transport<Readable, Pieces> {
  const to = { origin: url.origin, dispatcher, clock, timeout };
  return (request) =>
    new Promise((resolve, reject) => {
      new ApiCall(request, to, { resolve, reject }).send(request);
    });
}

interface Settled {
  resolve(response: ApiResponse<Readable>): void;
  reject(error: Error): void;
}

/** A request, and what undici tells of it. */
class ApiCall implements Dispatcher.DispatchHandler {
  /** Undefined: the response has begun. A stream keeps nothing of its request. */
  #request: Call | undefined;
  readonly #to: Destination;
  readonly #settled: Settled;
  readonly #timer: IdleTimer;
  #canRepeat: boolean;
  #controller: Dispatcher.DispatchController | undefined;
  /** Why it was broken off. */
  #reason: Error | undefined;
  #response: ArrivingResponse | undefined;
  /** The body, while undici reads it. */
  #upload: AsyncGenerator<Uint8Array> | undefined;

  constructor(request: Call, to: Destination, settled: Settled) {
    this.#request = request;
    this.#to = to;
    this.#settled = settled;
    this.#canRepeat = request.body === undefined && SAFE_METHODS.includes(request.method);
    this.#timer = new IdleTimer(to.clock, to.timeout, () => {
      this.#breakOff(apiTimeout());
    });
  }

  send(request: Call): void {
    request.onAbort((reason) => {
      this.#breakOff(reason);
    });
    if (this.#reason === undefined) this.#dispatch(request);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Not by `abort`, which would close the connection that others wait for.
    if (this.#reason !== undefined) throw this.#reason;
  }

  onResponseStarted(): void {
    this.#canRepeat = false;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // An interim response, such as 103.
    if (status < 200) return;
    const lines = linesOf(controller);
    const { timesHeadOnly, endsBy } = this.#request ?? {};
    this.#request = undefined;
    const isEventStream = isEventStreamType(valuesOf(lines, "content-type")[0]);
    if (timesHeadOnly === true || isEventStream) this.#timer.stop();
    else this.#timer.moved("download");
    const response = new ArrivingResponse(
      { status, lines, isEventStream },
      controller,
      this.#timer,
    );
    this.#response = response;
    this.#settled.resolve(response);
    // Afterwards, because a shutdown that has begun ends it at once, and undici tells of a failure.
    if (isEventStream)
      endsBy?.(() => {
        response.end();
      });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#response?.add(chunk);
  }

  onResponseEnd(): void {
    this.#timer.stop();
    this.#endUpload();
    this.#response?.complete();
  }

  onRequestUpgrade(
    ...[controller, , { upgrade }, socket]: readonly [
      controller: Dispatcher.DispatchController,
      status: number,
      headers: { readonly upgrade?: string | string[] },
      socket: Duplex,
    ]
  ): void {
    this.#timer.stop();
    socket.on("error", () => undefined);
    // Only the protocol that was asked for is passed on.
    const isAsked = String(upgrade).toLowerCase() === this.#request?.upgrade;
    this.#request = undefined;
    this.#settled.resolve({
      // Over HTTP/2, which names no protocol, undici says 200.
      status: 101,
      lines: linesOf(controller),
      body: Readable.from([]),
      discard: () => void socket.destroy(),
      ...(isAsked && { upgraded: socket }),
    });
  }

  onResponseError(_controller: unknown, error: NodeJS.ErrnoException): void {
    // The connection may have served others before, and waited too long.
    const canRepeat = this.#canRepeat && CLOSED.includes(String(error.code));
    const request = canRepeat ? this.#request : undefined;
    if (request !== undefined) {
      this.#canRepeat = false;
      this.#dispatch(request);
      return;
    }
    this.#timer.stop();
    this.#endUpload();
    this.#response?.fail(error);
    this.#settled.reject(asApiError(error));
  }

  #dispatch({ method, url, headers, body, length, upgrade }: Call): void {
    const { origin, dispatcher } = this.#to;
    const lines: string[] = [];
    for (const [name, value] of headers) lines.push(name, value);
    const isWhole = body === undefined || body instanceof Uint8Array;
    if (!isWhole && length !== undefined) lines.push("content-length", String(length));
    const options = {
      origin,
      path: url.href.slice(origin.length),
      method,
      headers: lines,
      body: isWhole ? body : (this.#upload = this.#timed(body)),
      upgrade,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    try {
      // The types don't know that a body may be any iterable.
      dispatcher.dispatch(options as Dispatcher.DispatchOptions, this);
    } catch (error) {
      // One of the application's, such as a `ProxyAgent`, may throw.
      this.onResponseError(undefined, error as Error);
    }
  }

  /** Undici asks for the next piece when the API has accepted the one before. */
  async *#timed(body: Pieces): AsyncGenerator<Uint8Array> {
    this.#timer.waits("upload");
    for await (const chunk of body) {
      this.#timer.moved("upload");
      yield chunk;
      this.#timer.waits("upload");
    }
    this.#timer.moved("upload");
  }

  /** Undici, which waits for a connection to accept a piece, may wait for one that is gone. */
  #endUpload(): void {
    void this.#upload?.return(undefined).catch(() => undefined);
    this.#upload = undefined;
  }

  #breakOff(reason: Error): void {
    this.#timer.stop();
    this.#endUpload();
    this.#canRepeat = false;
    this.#reason ??= reason;
    this.#controller?.abort(reason);
    this.#response?.fail(reason);
    this.#settled.reject(reason);
  }
}

/** The header lines as they came, one character for each byte. */
function linesOf({ rawHeaders }: Dispatcher.DispatchController): HeaderLines {
  const lines: string[] = [];
  if (Array.isArray(rawHeaders))
    for (const bytes of rawHeaders as readonly Buffer[]) lines.push(bytes.toString("latin1"));
  // Of HTTP/2, which an application's own dispatcher may speak.
  else
    for (const [name, value] of Object.entries(rawHeaders ?? {}))
      for (const one of [value ?? []].flat()) lines.push(name, one);
  return lines;
}
