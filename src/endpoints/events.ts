import type { SessionRequest } from "../access/session-request.js";
import { blockedUser } from "../guard/blocked-responses.js";
import { isSameOrigin } from "../http/initiator.js";
import { COMMON_HEADERS, shuttingDown, type AnyReply } from "../http/reply.js";
import { failureReply } from "../pages/failure-reply.js";
import { waitForEnd } from "../sessions/session-end-signal.js";
import { SessionStream, STREAM_HEADERS } from "../sessions/session-stream.js";
import type { EndpointContext } from "./context.js";

/** The open streams of one session in one process. Our decision. */
const MAX_STREAMS = 8;

const HEADERS = {
  ...COMMON_HEADERS,
  ...STREAM_HEADERS,
  "Cache-Control": "no-store, no-transform",
  "Cross-Origin-Resource-Policy": "same-origin",
};

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
    if (request.method === "HEAD") return reply();
    const release = takePlace(session.key ?? "");
    if (release === undefined)
      return failureReply({ code: "too_many_streams" }, request, { pages, otherwise: "json" });
    const { body } = new SessionStream({
      watch: (onEnd) => waitForEnd(() => session, { policy: settings, clock, onEnd }),
      clock,
      shutdown,
      closed: release,
    });
    return { ...reply(body), setCookies: session.setCookies };
  };
}

/** @param body undefined for HEAD */
function reply(body?: ReadableStream<Uint8Array>): AnyReply {
  return { status: 200, headers: HEADERS, ...(body && { body }) };
}
