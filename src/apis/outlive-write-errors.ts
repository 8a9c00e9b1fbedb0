import type { Socket } from "node:net";

/** How a write fails if the other side has closed or reset the connection. */
export const CLOSED_BY_PEER: readonly string[] = ["ECONNRESET", "EPIPE", "ECONNABORTED"];

type Done = (error?: NodeJS.ErrnoException | null) => void;
type Write = (...written: [...unknown[], done: Done]) => void;

/**
 * Lets a new connection live until the API has closed it also for reading. An API that refuses an
 * upload sends its response and closes; Node.js destroys a connection at the first write that
 * fails, and with it the response that has arrived.
 */
export function outliveWriteErrors(socket: Socket): void {
  const own = socket as unknown as Record<"_write" | "_writev", Write>;
  for (const name of ["_write", "_writev"] as const) {
    const write = own[name].bind(socket);
    own[name] = (...written) => {
      const done = written.pop() as Done;
      write(...written, (error) => {
        done(error && CLOSED_BY_PEER.includes(error.code ?? "") ? undefined : error);
      });
    };
  }
}
