/** The event streams of an application. The first one loads this code. */
import { GuardMissingError } from "../errors.js";
import { waitForEnd, type SessionEndedError } from "../sessions/session-end-signal.js";
import { openApplicationStream } from "../sessions/session-stream.js";
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
    const { settings, open, clock } = ready();
    const request = adapter.request(raw);
    const parts = {
      isHead: request.method === "HEAD",
      watch: (onEnd: (error: SessionEndedError) => void) =>
        waitForEnd(() => open(raw, request).session, { policy: settings, clock, onEnd }),
      onClose: adapter.onClose && ((closed: () => void) => adapter.onClose?.(raw, closed)),
      clock,
      shutdown,
    };
    return openApplicationStream(parts, respond);
  };
}
