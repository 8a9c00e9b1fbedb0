import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on loopback only and gives the address to click on. Rejects when the port is taken. */
export async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * A way to end the server: takes no new connection, lets running requests finish, and drops every other connection, also
 * those that browsers open ahead of a request.
 */
export function closable(server: Server): () => Promise<void> {
  let running = 0;
  let isClosing = false;
  const dropUnused = () => {
    if (isClosing && running === 0) server.closeAllConnections();
  };
  server.on("request", (_request, response) => {
    running += 1;
    response.once("close", () => {
      running -= 1;
      dropUnused();
    });
  });
  return () =>
    new Promise((resolve) => {
      isClosing = true;
      server.close(() => resolve());
      dropUnused();
    });
}
