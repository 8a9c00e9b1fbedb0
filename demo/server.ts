import type { Server } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";

/** Listens on this machine only. @throws Error with the system's code, such as EADDRINUSE */
export async function listen(server: NetServer, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Returns a function that closes the server: it takes no new connection, lets running requests
 * finish, and drops connections without a request.
 */
export function closable(server: Server): () => Promise<void> {
  let running = 0;
  let isClosing = false;
  const dropUnused = (): void => {
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

/** A terminal and npm both pass Ctrl+C on. Within so many milliseconds, it's the same one. */
const SAME_SIGNAL_MS = 500;

/** Calls `close` when the process is told to end, then ends it with 0. A second signal ends it at once. */
export function endOnSignal(close: () => Promise<void>): void {
  // If the terminal is gone, nobody reads the last lines.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  let endingSince: number | undefined;
  const end = (): void => {
    if (endingSince !== undefined) {
      if (performance.now() - endingSince > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    endingSince = performance.now();
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);
}
