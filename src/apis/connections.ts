/** The connections to an API. */
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Api } from "../config/api-options.js";

/**
 * Milliseconds that an unused connection stays open: less than the 5 s of Node's own servers, so
 * that none is closed while we send.
 */
const IDLE_CONNECTION_MS = 4_000;

/**
 * Creates the pool of connections to one API. The certificate is checked, whatever the environment
 * says.
 */
export function agentOf({ url }: Api): http.Agent {
  const options = { keepAlive: true, timeout: IDLE_CONNECTION_MS };
  const agent =
    url.protocol === "https:"
      ? new https.Agent({ ...options, rejectUnauthorized: true })
      : new http.Agent(options);
  // What nobody has asked for would be the response to the next request, perhaps another user's
  // (RFC 9112 section 9.2).
  return agent.on("free", (socket: Socket) => socket.once("data", closeUnasked));
}

export function closeUnasked(this: Socket): void {
  this.destroy();
}

export function isClosedByPeer({ code }: NodeJS.ErrnoException): boolean {
  return code === "ECONNRESET" || code === "EPIPE" || code === "ECONNABORTED";
}

type Done = (error?: NodeJS.ErrnoException | null) => void;
type Write = (...written: [...unknown[], done: Done]) => void;

const outliving = new WeakSet<Duplex>();

/**
 * Lets a connection live until the API has closed it also for reading. An API that refuses an upload
 * sends its response and closes; Node.js destroys a connection at the first write that fails, and
 * with it the response that has arrived.
 */
export function outliveWriteErrors(socket: Socket): void {
  if (outliving.has(socket)) return;
  outliving.add(socket);
  const own = socket as unknown as Record<"_write" | "_writev", Write>;
  for (const name of ["_write", "_writev"] as const) {
    const write = own[name].bind(socket);
    own[name] = (...written) => {
      const done = written.pop() as Done;
      write(...written, (error) => {
        done(error && isClosedByPeer(error) ? undefined : error);
      });
    };
  }
}
