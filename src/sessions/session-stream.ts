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
  /**
   * Returns the signal of the session's end. Its argument takes the function to call when the
   * stream closes.
   */
  readonly watch: (onClose: (close: () => void) => void) => AbortSignal;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
  /** Called once when the stream has closed. */
  readonly closed?: () => void;
  /** When the application has the stream, so that it misses no `abort`. */
  readonly handedOver?: Promise<void>;
}

interface OpenedStream {
  readonly stream: EventStream;
  readonly body: ReadableStream<Uint8Array>;
  /** Breaks the body off if something of it hasn't been read. */
  readonly breakOff: () => void;
}

/** Opens the stream of a session. An event that the browser doesn't read in time fills no memory. */
export function openSessionStream(parts: StreamParts): OpenedStream {
  const { watch, clock, shutdown, closed, handedOver = Promise.resolve() } = parts;
  const encoder = new TextEncoder();
  const left = new AbortController();
  const releases: (() => void)[] = closed === undefined ? [] : [closed];
  let output!: ReadableStreamDefaultController<Uint8Array>;
  let stopComments: () => void;

  function write(text: string): void {
    output.enqueue(encoder.encode(text));
  }

  function commentLater(): void {
    stopComments = clock.timer(COMMENT_INTERVAL_MS, () => {
      if (output.desiredSize === WAITING_BYTES) write(":\n\n");
      commentLater();
    });
  }

  let isOpen = true;
  function leave(reason?: unknown): void {
    if (!isOpen) return;
    isOpen = false;
    stopComments();
    for (const release of releases) release();
    void handedOver.then(() => {
      left.abort(reason);
    });
  }

  function end(reason?: unknown): void {
    if (!isOpen) return;
    output.close();
    leave(reason);
  }

  const ended = watch((release) => releases.push(release));
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        output = controller;
      },
      cancel() {
        leave();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: WAITING_BYTES }),
  );
  const pause = RETRY_MS + Math.floor(Math.random() * RETRY_MS);
  write(`retry: ${pause}\n: open\n\n`);
  commentLater();
  ended.addEventListener("abort", () => {
    const error = ended.reason as SessionEndedError;
    if (isOpen) write(endedText(error.reason));
    end(error);
  });
  // Without a word, so that the browser connects again after its pause.
  const stay = shutdown.onClosing(() => {
    end(new SessionEndedError("closing"));
  });
  releases.push(stay);
  const send: EventStream["send"] = (data, options) => {
    const text = eventText(data, options);
    if (!isOpen || (output.desiredSize ?? 0) <= 0) return false;
    write(text);
    return true;
  };
  const close = () => {
    end();
  };
  const breakOff = () => {
    output.error(new SessionEndedError("closing"));
  };
  return { stream: { send, signal: left.signal, close }, body, breakOff };
}

/** What a stream of the application needs besides. */
export interface ApplicationStreamParts extends Omit<StreamParts, "closed" | "handedOver"> {
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
  if (parts.shutdown.isClosing)
    throw new IdpAuthError("shutting_down", `${ERRORS.shutting_down.title}.`);
  let handOver!: () => void;
  const handedOver = new Promise<void>((resolve) => (handOver = resolve));
  const opened = isHead ? undefined : openSessionStream({ ...parts, handedOver });
  const stream = opened?.stream ?? closedStream(handedOver);
  try {
    const response = await respond({
      status: 200,
      headers: STREAM_HEADERS,
      ...(opened && { body: opened.body }),
    });
    if (opened && onClose) {
      // A browser that doesn't read what is left holds the server open.
      const forget = parts.shutdown.add({ destroy: opened.breakOff });
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
} as const;
