import { lazily } from "../work/lazily.js";
import type { IdpAuth } from "./adapter-types.js";
import type { EventStreamParts } from "./event-streams.js";

/** Event streams whose code is loaded by the first one. Most applications open none. */
export function lateEventStreams<FrameworkRequest extends object>(
  parts: EventStreamParts<FrameworkRequest>,
): IdpAuth<FrameworkRequest>["openEventStream"] {
  const load = lazily(async () => (await import("./event-streams.js")).createEventStreams(parts));
  return async (raw, respond) => (await load())(raw, respond);
}
