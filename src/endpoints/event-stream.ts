import type { SessionRequest } from "../access/session-request.js";
import type { Clock } from "../clock.js";
import { blockedUser } from "../guard/blocked.js";
import { isSameOrigin } from "../http/initiator.js";
import { eventStream, shuttingDown, type AnyReply } from "../http/reply.js";
import { failureReply } from "../pages/failure-reply.js";
import { whenEnded, type SessionEndedError } from "../sessions/session-end-signal.js";
import type { Shutdown } from "../work/shutdown.js";
import type { EndpointContext } from "./context.js";

/** The open streams of one session in one process. Our decision. */
const MAX_STREAMS = 8;

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

/**
 * Creates GET {mountPath}events: an event stream that tells when the session ends, by an event
 * `ended` with `{"reason":"…"}`. It never counts as activity.
 */
export function createEvents(): (
  opened: SessionRequest,
  context: EndpointContext,
) => Promise<AnyReply> {
  const streams = new Map<string, number>();

  /** @returns a function that gives the place back; undefined if there is none */
  function takePlace(session: string): (() => void) | undefined {
    const count = streams.get(session) ?? 0;
    if (count >= MAX_STREAMS) return undefined;
    streams.set(session, count + 1);
    return () => {
      const left = (streams.get(session) ?? 0) - 1;
      if (left > 0) streams.set(session, left);
      else streams.delete(session);
    };
  }

  return async function events(opened, context) {
    const { access, settings, clock, pages, shutdown } = context;
    const { request, session, origin } = opened;
    if (!isSameOrigin(request, origin))
      return failureReply({ code: "cross_origin" }, request, { pages, otherwise: "json" });
    if (shutdown.isClosing) return shuttingDown();
    const outcome = await access.access(session, { slide: false });
    if (!outcome.authenticated) return (await blockedUser(opened, outcome, context)).reply;
    if (request.method === "HEAD") return eventStream(undefined);
    const release = takePlace(session.key ?? "");
    if (release === undefined)
      return failureReply({ code: "too_many_streams" }, request, { pages, otherwise: "json" });
    const body = untilEnd({
      watch: (onClose) => whenEnded(() => session, { policy: settings, clock, onClose }),
      clock,
      shutdown,
      closed: release,
    });
    return { ...eventStream(body), setCookies: session.setCookies };
  };
}

interface StreamOfSession {
  /**
   * Returns the signal of the session's end. Its argument takes the function to call when the
   * stream closes.
   */
  readonly watch: (onClose: (close: () => void) => void) => AbortSignal;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
  /**
   * Called once when the stream has closed, by the session's end, a shutdown, or because the
   * browser left.
   */
  readonly closed: () => void;
}

/**
 * Returns the stream of a session. A comment is left out while the browser does not read, so a slow
 * browser fills no memory.
 */
function untilEnd({ watch, clock, shutdown, closed }: StreamOfSession): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let stopComments: () => void;
  let unwatch: () => void;
  let leave: () => void;
  function close(): void {
    stopComments();
    unwatch();
    leave();
    closed();
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => {
        controller.enqueue(encoder.encode(text));
      };
      function commentLater(): void {
        stopComments = clock.timer(COMMENT_INTERVAL_MS, () => {
          if ((controller.desiredSize ?? 0) > 0) send(":\n\n");
          commentLater();
        });
      }
      const pause = RETRY_MS + Math.floor(Math.random() * RETRY_MS);
      send(`retry: ${String(pause)}\n: open\n\n`);
      commentLater();
      const end = () => {
        controller.close();
        close();
      };
      const ended = watch((stop) => (unwatch = stop));
      // Without a word, so that the browser connects again after its pause.
      leave = shutdown.onClosing(end);
      ended.addEventListener("abort", () => {
        const { reason } = ended.reason as SessionEndedError;
        send(`event: ended\ndata: ${JSON.stringify({ reason })}\n\n`);
        end();
      });
    },
    cancel() {
      close();
    },
  });
}
