import { setInterval } from "node:timers/promises";
import type { SessionEndedError } from "idpauth";

/**
 * The events of /api/stream: one `tick` a second, then `ended` with the reason.
 *
 * @param ended fires when the session ends
 * @param closing fires when this process ends; a browser then connects to another one
 */
export async function* events(ended: AbortSignal, closing: AbortSignal | undefined): AsyncGenerator<string> {
  const signal = closing === undefined ? ended : AbortSignal.any([ended, closing]);
  try {
    let count = 0;
    for await (const _ of setInterval(1000, undefined, { signal })) yield `event: tick\ndata: ${String((count += 1))}\n\n`;
  } catch (error) {
    if (!signal.aborted) throw error;
    if (ended.aborted) yield `event: ended\ndata: ${(ended.reason as SessionEndedError).reason}\n\n`;
  }
}

/** Served as /stream.js. It shows the state of the event stream in the element with the id `stream`. */
export const STREAM_SCRIPT = `"use strict";
{
  const show = (text) => {
    document.getElementById("stream").textContent = text;
  };
  const source = new EventSource("/api/stream");
  source.addEventListener("tick", ({ data }) => show("Event stream: open, tick " + data + "."));
  source.addEventListener("ended", ({ data }) => {
    source.close();
    show("Event stream: closed, because the session has ended (" + data + ").");
  });
  source.addEventListener("error", () => {
    show(source.readyState === EventSource.CLOSED ? "Event stream: refused." : "Event stream: connecting.");
  });
}
`;
