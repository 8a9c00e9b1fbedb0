/** The event stream of a session: that of the endpoint, and those of the application. */
import type { Clock } from "../clock.js";
import { ERRORS, IdpAuthError } from "../errors.js";
import type { AnyReply } from "../http/reply.js";
import type { Shutdown } from "../work/shutdown.js";
import type { EventStream } from "./event-stream.js";
import { endedText, eventText } from "./event-text.js";
import { SessionEndedError } from "./session-end-signal.js";

/**
 * Milliseconds between two comments, which keep proxies from closing the connection. Most of them
 * wait for 60 seconds.
 */
const COMMENT_INTERVAL_MS = 25_000;

/**
 * Milliseconds after which the browser connects again. Up to as much again by chance, so that not
 * all browsers come at once.
 */
const RETRY_MS = 5_000;

/** What waits for a browser that reads slowly, besides the buffers of its connection. */
const WAITING_BYTES = 65_536;

/** What a stream needs of its request and of the component. */
export interface StreamParts {
  /** Calls a function when the session ends, and never before it returns. Returns what ends that. */
  readonly watch: (onEnd: (error: SessionEndedError) => void) => { close(): void };
  readonly clock: Clock;
  readonly shutdown: Shutdown;
  /** Called once when the stream has closed. */
  readonly closed?: () => void;
  /** When the application has the stream, so that it misses no `abort`. */
  readonly handedOver?: Promise<void>;
}

const ENCODER = new TextEncoder();
const STRATEGY = new ByteLengthQueuingStrategy({ highWaterMark: WAITING_BYTES });

/**
 * The stream of a session. An event that the browser doesn't read in time fills no memory. A
 * process can have thousands of idle streams: an object keeps less memory than functions that share
 * their variables.
 */
export class SessionStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #clock: Clock;
  readonly #closed: (() => void) | undefined;
  readonly #handedOver: Promise<void> | undefined;
  readonly #watching: { close(): void };
  readonly #stay: () => void;
  readonly #comment = (): void => {
    if (this.#output.desiredSize === WAITING_BYTES) this.#write(":\n\n");
    this.#stopComments = this.#clock.timer(COMMENT_INTERVAL_MS, this.#comment);
  };
  #output!: ReadableStreamDefaultController<Uint8Array>;
  #stopComments: () => void;
  #isOpen = true;
  /** Made when the application first asks for the signal. */
  #left: AbortController | undefined;
  #hasLeft = false;
  #leftBy: unknown;

  constructor({ watch, clock, shutdown, closed, handedOver }: StreamParts) {
    this.#clock = clock;
    this.#closed = closed;
    this.#handedOver = handedOver;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#output = controller;
        },
        cancel: () => {
          this.#leave();
        },
      },
      STRATEGY,
    );
    const pause = RETRY_MS + Math.floor(Math.random() * RETRY_MS);
    this.#write(`retry: ${pause}\n: open\n\n`);
    this.#stopComments = clock.timer(COMMENT_INTERVAL_MS, this.#comment);
    this.#watching = watch((error) => {
      if (this.#isOpen) this.#write(endedText(error.reason));
      this.end(error);
    });
    // Without a word, so that the browser connects again after its pause.
    this.#stay = shutdown.onClosing(() => {
      this.end(new SessionEndedError("closing"));
    });
  }

  /** See {@link EventStream}. */
  get signal(): AbortSignal {
    if (this.#left === undefined) {
      this.#left = new AbortController();
      if (this.#hasLeft) this.#left.abort(this.#leftBy);
    }
    return this.#left.signal;
  }

  send(data: unknown, options?: Parameters<EventStream["send"]>[1]): boolean {
    const text = eventText(data, options);
    if (!this.#isOpen || (this.#output.desiredSize ?? 0) <= 0) return false;
    this.#write(text);
    return true;
  }

  end(reason?: unknown): void {
    if (!this.#isOpen) return;
    this.#output.close();
    this.#leave(reason);
  }

  /** Breaks the body off if something of it hasn't been read. */
  breakOff(): void {
    this.#output.error(new SessionEndedError("closing"));
  }

  #write(text: string): void {
    this.#output.enqueue(ENCODER.encode(text));
  }

  #leave(reason?: unknown): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#stopComments();
    this.#watching.close();
    this.#stay();
    this.#closed?.();
    void (this.#handedOver ?? Promise.resolve()).then(() => {
      [this.#hasLeft, this.#leftBy] = [true, reason];
      this.#left?.abort(reason);
    });
  }
}

/** What a stream of the application needs besides. */
export interface ApplicationStreamParts extends Omit<StreamParts, "handedOver"> {
  readonly isHead: boolean;
  /**
   * Calls a function when the response is complete or the browser has left. Absent: nobody knows.
   */
  readonly onClose: ((closed: () => void) => void) | undefined;
}

/**
 * Opens an event stream for the application.
 *
 * @param respond sends the response, or makes it
 * @throws IdpAuthError `shutting_down` (503)
 */
export async function openApplicationStream<Sent>(
  { isHead, onClose, ...parts }: ApplicationStreamParts,
  respond: (reply: AnyReply) => Sent | Promise<Sent>,
): Promise<EventStream & { readonly response: Sent }> {
  if (parts.shutdown.isClosing) {
    parts.closed?.();
    throw new IdpAuthError("shutting_down", `${ERRORS.shutting_down.title}.`);
  }
  let handOver!: () => void;
  const handedOver = new Promise<void>((resolve) => (handOver = resolve));
  const opened = isHead ? undefined : new SessionStream({ ...parts, handedOver });
  const stream = opened === undefined ? closedStream(handedOver) : streamOf(opened);
  try {
    const response = await respond({
      status: 200,
      headers: STREAM_HEADERS,
      ...(opened && { body: opened.body }),
    });
    if (opened && onClose) {
      // A browser that doesn't read what is left holds the server open.
      const forget = parts.shutdown.add({
        destroy: () => {
          opened.breakOff();
        },
      });
      onClose(() => {
        forget();
        stream.close();
      });
    }
    return { ...stream, response };
  } catch (error) {
    stream.close();
    throw error;
  } finally {
    // Later than the caller, whose promise resolves first.
    setTimeout(handOver);
  }
}

/** What the application gets: functions that it can pass on without their object. */
function streamOf(opened: SessionStream): EventStream {
  return {
    send: (data, options) => opened.send(data, options),
    signal: opened.signal,
    close: () => {
      opened.end();
    },
  };
}

/** The stream of a response to HEAD, which has none. */
function closedStream(handedOver: Promise<void>): EventStream {
  const left = new AbortController();
  void handedOver.then(() => {
    left.abort();
  });
  return {
    send(data, options) {
      eventText(data, options);
      return false;
    },
    signal: left.signal,
    close: () => undefined,
  };
}

/**
 * No cache or proxy stores, changes or buffers an event stream. The application's own headers stay
 * otherwise.
 */
export const STREAM_HEADERS = {
  "Cache-Control": "private, no-store, no-transform",
  "Content-Type": "text/event-stream",
  // The buffer of nginx.
  "X-Accel-Buffering": "no",
  // Seconds. The browser's client takes a stream for lost that has missed three comments.
  "X-Idpauth-Heartbeat": String(COMMENT_INTERVAL_MS / 1000),
} as const;
