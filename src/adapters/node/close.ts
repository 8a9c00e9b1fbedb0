import type { IncomingMessage } from "node:http";
import { onFirstClose, type Closable } from "../../index.js";
import type { AnyRequest, AnyResponse } from "./message.js";

/** Node's own reference to the response that a connection is sending. It is undocumented. Null: the connection is sending none. */
interface Connection extends Closable {
  readonly _httpMessage?: (Closable & { readonly req?: unknown }) | null;
}

/**
 * Calls a function once when the response to a message is complete or the connection has closed; for an upgraded connection, when that
 * closes. If that has happened, it calls the function at once, asynchronously.
 *
 * @param known the response, if the framework knows it
 */
export function onClose(message: AnyRequest, closed: () => void, known?: AnyResponse): void {
  const all = closables(message, known);
  if (all.length > 0) onFirstClose(all, closed);
  else queueMicrotask(closed);
}

/** The objects of which the first one to close ends the exchange. Not the message: it closes as soon as its body was read. */
function closables(message: AnyRequest, known: AnyResponse | undefined): readonly Closable[] {
  if ("stream" in message) return [message.stream];
  const socket: Connection = message.socket;
  if ((message as IncomingMessage & { readonly upgrade?: boolean }).upgrade === true) return [socket];
  if (known !== undefined) return [socket, known];
  const { _httpMessage: sending } = socket;
  if (sending === null) return [];
  // If the reference is to the response to another message, only the end of the connection is certain.
  return sending?.req === message ? [socket, sending] : [socket];
}
