import { setInterval } from "node:timers/promises";
import { SessionEndedError } from "idpauth";

/**
 * The events of /api/stream: one `tick` a second, then `ended` with the reason. If the process ends,
 * the browser gets no such event, and connects to another one.
 *
 * @param ended aborts when the session or the process ends
 */
export async function* events(ended: AbortSignal): AsyncGenerator<string> {
  try {
    let count = 0;
    for await (const _ of setInterval(1000, undefined, { signal: ended }))
      yield `event: tick\ndata: ${String((count += 1))}\n\n`;
  } catch (error) {
    if (!ended.aborted) throw error;
    const why = endOf(ended);
    if (why !== undefined) yield `event: ended\ndata: ${why}\n\n`;
  }
}

/** Why the session has ended. Undefined: the process ends, and the session continues. */
export function endOf({ reason }: AbortSignal): string | undefined {
  if (!(reason instanceof SessionEndedError) || reason.reason === "closing") return undefined;
  return reason.reason;
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
