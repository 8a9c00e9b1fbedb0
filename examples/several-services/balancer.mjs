// @ts-check
import http from "node:http";
import { pipeline } from "node:stream";

/**
 * A load balancer for development: each request goes to the next process. Without one, connections
 * break off, as if no server listened. It doesn't pass WebSockets.
 */
export class Balancer {
  /** The processes that get requests, by their ports. @type {readonly number[]} */
  ports = [];
  #turn = 0;
  #server = http.createServer((request, response) => this.#pass(request, response));

  /** @param {number} port 0: any. @returns {Promise<string>} the address */
  async listen(port) {
    await new Promise((resolve, reject) => {
      this.#server.once("error", reject).listen(port, "127.0.0.1", () => resolve(undefined));
    });
    const { port: actual } = /** @type {import("node:net").AddressInfo} */ (this.#server.address());
    return `http://localhost:${actual}/`;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  #pass(request, response) {
    const port = this.ports[this.#turn++ % this.ports.length];
    if (port === undefined) return void request.socket.destroy();
    const { method, url, headers } = request;
    const outgoing = http.request({
      ...{ host: "127.0.0.1", port, method, path: url },
      // A connection of its own, so that no request waits on one that the process is closing.
      ...{ headers: { ...headers, connection: "close" }, agent: false },
    });
    outgoing.on("response", (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.rawHeaders);
      pipeline(incoming, response, () => {});
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    request.pipe(outgoing);
  }
}
