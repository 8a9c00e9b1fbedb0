/** `idpauth/client/streams`: live connections that belong to the session of the page. */
import { pageClient } from "../page-client.js";
import type { ConnectionOptions, SessionSocket, SessionStream } from "./connections.js";
import { FetchEventSource } from "./fetch-event-source.js";
import type { ConnectionSettings } from "./session-connection.js";
import type { StreamEnvironment } from "./stream-environment.js";
import { SocketOfSession } from "./web-socket.js";

export type {
  ConnectionEnd,
  ConnectionEndReason,
  ConnectionOptions,
  SessionSocket,
  SessionStream,
} from "./connections.js";

/**
 * Returns an event stream with the interface of `EventSource`. It opens when the user is signed in,
 * and again after each unexpected close, until `ended` resolves. On a server it never opens.
 *
 * @throws TypeError the address is on another origin
 *
 * @example
 * const stream = openStream("/news");
 * stream.addEventListener("message", ({ data }) => console.log(data));
 */
export function openStream(url: string | URL, options?: ConnectionOptions): SessionStream {
  return new FetchEventSource(url, settingsOf(options)) as SessionStream;
}

/**
 * Returns a socket with the interface of `WebSocket`. It opens when the user is signed in, and again
 * after each unexpected close, until `ended` resolves. On a server it never opens.
 *
 * @param url of http or ws
 * @throws TypeError the address is on another origin
 *
 * @example
 * const socket = openSocket("/chat");
 * socket.addEventListener("open", () => socket.send("Hello"));
 */
export function openSocket(
  url: string | URL,
  protocols?: string | string[],
  options?: ConnectionOptions,
): SessionSocket {
  return new SocketOfSession(url, protocols, settingsOf(options)) as SessionSocket;
}

function settingsOf({
  client = pageClient(),
  closeWhenHidden = false,
}: ConnectionOptions = {}): ConnectionSettings {
  return { client, closeWhenHidden, env: globalThis as unknown as StreamEnvironment };
}
