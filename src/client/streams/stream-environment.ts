import type { Environment } from "../environment.js";

/** What streams and sockets use of the browser. */
export interface StreamEnvironment extends Environment {
  readonly CloseEvent: new (type: string, init: CloseEventInit) => Event;
  readonly WebSocket: new (url: string, protocols?: string | string[]) => WebSocket;
}

/**
 * Returns the absolute http URL of an address of the page's own origin. On a server, the address
 * stays as it is.
 *
 * @throws TypeError the address is on another origin
 */
export function ownUrl(url: string | URL, { document, location }: Environment): string {
  if (!Boolean(document)) return String(url);
  const own = new URL(new URL(url, location.href).href.replace(/^ws/, "http"));
  if (own.origin !== location.origin) throw new TypeError(`${own.href} is on another origin.`);
  return own.href;
}
