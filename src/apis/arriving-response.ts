import { AsyncResource } from "node:async_hooks";
import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { IdleTimer } from "./idle-timer.js";
import { valuesOf, type HeaderLines } from "./request-headers.js";
import type { ApiResponse } from "./transport.js";

/** The most bytes that are kept while nobody reads them: more than one read brings. */
const MAX_UNREAD_BYTES = 65_536;

interface Head {
  readonly status: number;
  readonly lines: HeaderLines;
  readonly isEventStream: boolean;
}

/**
 * A stream that speaks in the context that opened it. Undici calls in the context of the request
 * that opened the connection, which may be another user's.
 */
class ArrivingBody extends Readable {
  readonly #context = new AsyncResource("idpauth.ApiResponse");

  /** @param chunk null: the end. @returns whether more may arrive */
  arrive(chunk: Buffer | null): boolean {
    return this.#context.runInAsyncScope(() => this.push(chunk));
  }

  breakOff(error: Error): void {
    this.#context.runInAsyncScope(() => this.destroy(error));
  }
}

/** A response whose body arrives piece by piece, no faster than it is read. */
export class ArrivingResponse implements ApiResponse<Readable> {
  readonly status: number;
  readonly lines: HeaderLines;
  readonly #isEventStream: boolean;
  readonly #controller: Dispatcher.DispatchController;
  readonly #timer: IdleTimer;
  #unread: Buffer[] = [];
  #size = 0;
  /** The bytes that are still to come; not a number if that isn't known. */
  #left: number;
  #isComplete = false;
  /** Nobody gets what still arrives. */
  #isDiscarded = false;
  #error: Error | undefined;
  #stream: ArrivingBody | undefined;

  constructor(
    { status, lines, isEventStream }: Head,
    controller: Dispatcher.DispatchController,
    timer: IdleTimer,
  ) {
    this.status = status;
    this.lines = lines;
    this.#isEventStream = isEventStream;
    this.#controller = controller;
    this.#timer = timer;
    this.#left = Number(valuesOf(lines, "content-length")[0]);
  }

  whole(): Uint8Array | undefined {
    if (!this.#isComplete || this.#error !== undefined || this.#stream !== undefined)
      return undefined;
    return Buffer.concat(this.#unread);
  }

  get body(): Readable {
    return (this.#stream ??= this.#opened());
  }

  discard(): void {
    this.#isDiscarded = true;
    this.#unread = [];
    this.#stream?.destroy();
    // An event stream that was only read to its end would stay open.
    if (this.#isEventStream) this.#abort();
    else this.#resume();
  }

  add(chunk: Buffer): void {
    this.#timer.moved("download");
    this.#left -= chunk.length;
    if (this.#stream !== undefined) {
      if (!this.#stream.arrive(chunk)) this.#pause();
      return;
    }
    this.#size += chunk.length;
    if (!this.#isDiscarded) this.#unread.push(chunk);
    if (this.#size <= MAX_UNREAD_BYTES) return;
    if (this.#isDiscarded) this.#abort();
    else this.#pause();
  }

  /** All of it has arrived. */
  complete(): void {
    this.#isComplete = true;
    this.#stream?.arrive(null);
  }

  /** Ends the body in order before the API does. */
  end(): void {
    this.complete();
    this.#isDiscarded = true;
    // Otherwise its connection would serve another request, whose response would begin with the
    // rest.
    this.#abort();
  }

  /** Breaks it off, unless nobody gets the rest. */
  fail(error: Error): void {
    if (this.#isDiscarded) return;
    this.#error ??= error;
    this.#stream?.breakOff(error);
  }

  #opened(): ArrivingBody {
    const stream = new ArrivingBody({
      read: () => {
        this.#resume();
      },
      destroy: (error, done) => {
        if (!this.#isComplete) this.#abort();
        done(error);
      },
    });
    // Without a listener, an error of a response that nobody reads would end the process.
    stream.on("error", () => undefined);
    for (const chunk of this.#unread) stream.push(chunk);
    this.#unread = [];
    if (this.#isComplete) stream.push(null);
    if (this.#error !== undefined) stream.destroy(this.#error);
    return stream;
  }

  #pause(): void {
    // Nothing would tell that the response is whole, which the end of its connection would break.
    if (this.#left === 0) return;
    this.#controller.pause();
    this.#timer.waits("download");
  }

  #resume(): void {
    if (!this.#controller.paused) return;
    this.#timer.moved("download");
    this.#controller.resume();
  }

  #abort(): void {
    this.#controller.abort(new Error("Nobody reads the response."));
  }
}
