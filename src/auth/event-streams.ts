/** The event streams of an application. The first one loads this code. */
import { ERRORS, GuardMissingError, IdpAuthError } from "../errors.js";
import type { UserSession } from "../ports/user-session.js";
import { waitForEnd, type SessionEndedError } from "../sessions/session-end-signal.js";
import { openApplicationStream } from "../sessions/session-stream.js";
import { STREAM_RETRY_SECONDS } from "../work/places-per-key.js";
import type { Shutdown } from "../work/shutdown.js";
import type { FrameworkAdapter, IdpAuth } from "./adapter-types.js";
import type { Component } from "./component.js";
import type { RequestMemory } from "./request-memory.js";

export interface EventStreamParts<FrameworkRequest extends object> {
  readonly ready: () => Component<FrameworkRequest>;
  readonly adapter: FrameworkAdapter<FrameworkRequest>;
  readonly memory: RequestMemory<FrameworkRequest>;
  readonly shutdown: Shutdown;
}

export function createEventStreams<FrameworkRequest extends object>({
  ready,
  adapter,
  memory,
  shutdown,
}: EventStreamParts<FrameworkRequest>): IdpAuth<FrameworkRequest>["openEventStream"] {
  return async (raw, respond) => {
    if (!memory.passedWith(raw)) throw new GuardMissingError("eventStream");
    const { settings, open, clock, streams } = ready();
    const request = adapter.request(raw);
    const isHead = request.method === "HEAD";
    const leave = isHead
      ? undefined
      : streams.take(await keyOf(memory.remember(raw).opened.session));
    if (leave === undefined && !isHead)
      throw Object.assign(
        new IdpAuthError("too_many_streams", `${ERRORS.too_many_streams.title}.`),
        { retryAfter: STREAM_RETRY_SECONDS },
      );
    const parts = {
      isHead,
      ...(leave && { closed: leave }),
      watch: (onEnd: (error: SessionEndedError) => void) =>
        waitForEnd(() => open(raw, request).session, { policy: settings, clock, onEnd }),
      onClose: adapter.onClose && ((closed: () => void) => adapter.onClose?.(raw, closed)),
      clock,
      shutdown,
    };
    return openApplicationStream(parts, respond);
  };
}

/** The key of a session that may not have been read yet. */
async function keyOf(session: UserSession): Promise<string | undefined> {
  // In an outage nobody knows it, and the guard has let the request pass.
  if (session.key === undefined) await session.read().catch(() => undefined);
  return session.key;
}
