import { connect } from "node:net";

/** The code that stands where a connection's first message has its protocol version. */
const CANCEL_REQUEST = 80_877_102;
const LIMIT_MILLISECONDS = 500;

/**
 * Asks the server, over a connection of its own, to cancel what `client` is running; true when the server has taken the
 * request, false after half a second; never rejects. Whether it helped is not said. The request names the client's connection
 * by a secret, so it can reach no other, and that connection must not be used again afterwards.
 *
 * @param client a client of `pg`; without what the request needs (a native one, a stream of the application's own) nothing is sent
 */
export function cancelStatement(pool: { readonly options: object }, client: object): Promise<boolean> {
  const { host, port, processID, secretKey } = client as Record<string, unknown>;
  const hasOwnStream = "stream" in pool.options && pool.options.stream !== undefined;
  if (hasOwnStream || typeof host !== "string" || typeof port !== "number") return Promise.resolve(false);
  if (typeof processID !== "number" || typeof secretKey !== "number") return Promise.resolve(false);
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(CANCEL_REQUEST, 4);
  request.writeInt32BE(processID | 0, 8);
  request.writeInt32BE(secretKey | 0, 12);
  return new Promise((resolve) => {
    const socket = connect(host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    const timer = setTimeout(() => {
      // A server that has taken the connection, and is frozen, finds the request when it wakes.
      if (socket.connecting) socket.destroy();
      else socket.unref().end();
      resolve(false);
    }, LIMIT_MILLISECONDS);
    socket.on("error", () => socket.destroy());
    socket.on("close", (hadError) => {
      clearTimeout(timer);
      resolve(!hadError);
    });
    // The server closes when it has passed the request on; a pooler forgets it when we close earlier.
    socket.write(request);
    socket.resume();
  });
}
