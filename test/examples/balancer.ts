import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A load balancer without sticky sessions: each request goes to the next server, or to the one
 * after it if that doesn't accept connections.
 */
export class Balancer {
  readonly origin: string;
  /** For each request that a server got: the server's origin, and the path. */
  readonly passed: { readonly server: string; readonly path: string }[] = [];
  servers: readonly string[] = [];
  readonly #http: http.Server;
  #turn = 0;

  private constructor(server: http.Server) {
    this.#http = server;
    this.origin = `http://localhost:${String((server.address() as AddressInfo).port)}`;
    server.on("request", (request, response) => {
      this.#forward(request, (upstream) => {
        response.writeHead(upstream.statusCode!, upstream.rawHeaders);
        upstream.on("error", () => response.destroy());
        upstream.pipe(response);
      }).catch(() => response.destroy());
    });
    server.on("upgrade", (_request, socket) => socket.destroy());
  }

  static async start(): Promise<Balancer> {
    const server = http.createServer().listen(0, "localhost");
    await once(server, "listening");
    return new Balancer(server);
  }

  async stop(): Promise<void> {
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, "close");
  }

  async #forward(
    request: IncomingMessage,
    pass: (upstream: IncomingMessage) => void,
  ): Promise<void> {
    const body = await new Response(request as never).arrayBuffer();
    for (let tries = this.servers.length; tries > 0; tries -= 1) {
      const server = this.servers[this.#turn++ % this.servers.length]!;
      const { method, url: path = "/", headers } = request;
      const outgoing = http.request(`${server}${path}`, { method, headers, agent: false });
      try {
        outgoing.end(Buffer.from(body));
        const [upstream] = (await once(outgoing, "response")) as [IncomingMessage];
        this.passed.push({ server, path });
        pass(upstream);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED") throw error;
      }
    }
    throw new Error("no server accepts connections");
  }
}
