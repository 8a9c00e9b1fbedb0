import type { IncomingMessage } from "node:http";
import { onFirstClose, PerRequest, type Closable } from "../../index.js";
import type { AnyRequest, AnyResponse } from "./message.js";

const responses = new PerRequest<AnyResponse>();

/** Stores the response to a message for `onClose`. Node itself has no reference from a message to its response. */
export function rememberResponse(message: AnyRequest, response: AnyResponse): void {
  responses.set(message, response);
}

/**
 * Calls a function once when the response to a message is complete or the connection has closed; for an upgraded connection, when that
 * closes. If that has happened, it calls the function at once, asynchronously.
 *
 * If the response is not known, it calls the function when the connection closes. The connection may first serve further requests.
 *
 * @param known the response. Default: the stored one; see `rememberResponse`
 */
export function onClose(message: AnyRequest, closed: () => void, known = responses.get(message)): void {
  onFirstClose(closables(message, known), closed);
}

/** Returns the objects whose first close ends the exchange. The message is not one of them: it closes when its body was read. */
function closables(message: AnyRequest, known: AnyResponse | undefined): readonly Closable[] {
  if ("stream" in message) return [message.stream];
  const { socket } = message;
  const isUpgrade = (message as IncomingMessage & { readonly upgrade?: boolean }).upgrade === true;
  return isUpgrade || known === undefined ? [socket] : [socket, known];
}
