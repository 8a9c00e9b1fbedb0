import type { RequestListener } from "node:http";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Serves on a free port of 127.0.0.1. `stop` ends every connection at once. */
export async function listen(
  listener: RequestListener,
): Promise<{ readonly port: number; readonly server: Server; stop(): Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    server,
    async stop() {
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
  };
}
