import type { Server } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";

/** Listens on loopback only and gives the address to click on. Rejects when the port is taken. */
export async function listen(server: NetServer, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Whether a port could not be had: another process listens there, or it is not for everybody. */
export function isTaken(error: unknown): error is Error {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "EADDRINUSE" || error.code === "EACCES")
  );
}

/**
 * A way to end the server: takes no new connection, lets running requests finish, and drops every
 * other connection, also those that browsers open ahead of a request.
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

/**
 * Milliseconds within which a second signal is the first one again: a terminal tells the demo, and
 * npm passes it on.
 */
const SAME_SIGNAL = 500;

/**
 * Ends the process when it is told to, after `close`; a second signal does not wait. A closed
 * terminal tells it, too.
 */
export function endOnSignal(close: () => Promise<void>): void {
  // A terminal that was closed (EIO) or a reader that has ended (EPIPE) takes no lines any more;
  // that is no reason to stop halfway.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  let endingSince: number | undefined;
  const end = (signal: NodeJS.Signals) => {
    if (endingSince !== undefined) {
      // Shell and system both tell of a closed terminal, at times of their own.
      if (signal !== "SIGHUP" && performance.now() - endingSince > SAME_SIGNAL) process.exit(1);
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
