import type { SessionRequest } from "../access/session-request.js";
import { blockedUser } from "../guard/blocked-responses.js";
import { isSameOrigin } from "../http/initiator.js";
import { COMMON_HEADERS, shuttingDown, type AnyReply } from "../http/reply.js";
import { failureReply } from "../pages/failure-reply.js";
import { waitForEnd } from "../sessions/session-end-signal.js";
import { SessionStream, STREAM_HEADERS } from "../sessions/session-stream.js";
import { createPlaces, STREAM_RETRY_SECONDS } from "../work/places-per-key.js";
import type { EndpointContext } from "./context.js";

/** The open streams of one session in one process. Our decision. */
const MAX_STREAMS = 8;

const TOO_MANY_STREAMS = { code: "too_many_streams", retryAfter: STREAM_RETRY_SECONDS } as const;

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
  const streams = createPlaces(MAX_STREAMS);

  return async function events(opened, context) {
    const { access, settings, clock, pages, shutdown } = context;
    const { request, session, origin } = opened;
    if (!isSameOrigin(request, origin))
      return failureReply({ code: "cross_origin" }, request, { pages, otherwise: "json" });
    if (shutdown.isClosing) return shuttingDown();
    const outcome = await access.access(session, { slide: false });
    if (!outcome.authenticated) return (await blockedUser(opened, outcome, context)).reply;
    if (request.method === "HEAD") return reply();
    const release = streams.take(session.key);
    if (release === undefined)
      return failureReply(TOO_MANY_STREAMS, request, { pages, otherwise: "json" });
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
