/**
 * What closes with an exchange: a response, a connection or a stream of HTTP/2, each an event
 * emitter of Node.js.
 */
export interface Closable {
  /** True: it has closed, and emits nothing more. */
  readonly destroyed?: boolean;
  /** Adds a listener, as `EventEmitter` does. */
  on(event: "close", listener: () => void): unknown;
  /** Removes a listener, as `EventEmitter` does. */
  off(event: "close", listener: () => void): unknown;
}

/**
 * Calls a function once when the first of several objects closes. If one has closed, it calls the
 * function at once, asynchronously.
 */
export function onFirstClose(all: readonly Closable[], closed: () => void): void {
  if (all.some(({ destroyed }) => destroyed === true)) {
    queueMicrotask(closed);
    return;
  }
  let isClosed = false;
  function done(): void {
    // An object may close by the event of another one, whose listeners are being called.
    if (isClosed) return;
    isClosed = true;
    for (const each of all) each.off("close", done);
    closed();
  }
  // Not `once`, which keeps 200 bytes more for each connection.
  for (const each of all) each.on("close", done);
}
