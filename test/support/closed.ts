import type { EventEmitter } from "node:events";

/**
 * Resolves when a connection has closed, also by a reset. `events.once` rejects on an error before it,
 * so a test that writes while the other side closes would fail now and then.
 */
export async function closed(socket: EventEmitter): Promise<void> {
  await new Promise((resolve) => {
    socket.once("close", resolve).on("error", () => undefined);
  });
}
