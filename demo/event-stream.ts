import { setInterval } from "node:timers/promises";
import type { SessionEndedError } from "idpauth";

/**
 * The events of /api/stream: one `tick` a second, then `ended` with the reason.
 *
 * @param ended fires when the session ends
 * @param closing fires when this process ends; a browser then connects to another one
 */
export async function* events(
  ended: AbortSignal,
  closing: AbortSignal | undefined,
): AsyncGenerator<string> {
  const signal = closing === undefined ? ended : AbortSignal.any([ended, closing]);
  try {
    let count = 0;
    for await (const _ of setInterval(1000, undefined, { signal }))
      yield `event: tick\ndata: ${String((count += 1))}\n\n`;
  } catch (error) {
    if (!signal.aborted) throw error;
    if (ended.aborted)
      yield `event: ended\ndata: ${(ended.reason as SessionEndedError).reason}\n\n`;
  }
}

/**
 * Returns the script /stream.js. It shows the state of the event stream and of the WebSocket in the
 * elements with these ids.
 *
 * @param hasSocket whether the framework has a WebSocket at /ws
 */
export function streamScript(hasSocket: boolean): string {
  return `"use strict";
{
  const show = (id, text) => {
    document.getElementById(id).textContent = text;
  };
  const source = new EventSource("/api/stream");
  source.addEventListener("tick", ({ data }) => show("stream", "Event stream: open, tick " + data + "."));
  source.addEventListener("ended", ({ data }) => {
    source.close();
    show("stream", "Event stream: closed, because the session has ended (" + data + ").");
  });
  source.addEventListener("error", () => {
    show("stream", source.readyState === EventSource.CLOSED ? "Event stream: refused." : "Event stream: connecting.");
  });
${hasSocket ? SOCKET_SCRIPT : ""}}
`;
}

/**
 * A tick shows that a session exists, also after the server has started again. So the WebSocket
 * opens then. It opens after a second, because browsers report a WebSocket that a navigation
 * interrupts as an error.
 */
const SOCKET_SCRIPT = `
  let socket;
  source.addEventListener("tick", () => {
    if (socket !== undefined && socket.readyState !== WebSocket.CLOSED) return;
    socket = new WebSocket(location.origin.replace(/^http/, "ws") + "/ws");
    socket.addEventListener("open", () => show("socket", "WebSocket: connected."));
    socket.addEventListener("close", ({ code, reason }) => {
      const why = code === 4401 ? ", because the session has ended (" + reason + ")." : " (code " + code + ").";
      show("socket", "WebSocket: closed" + why);
    });
  });
`;
