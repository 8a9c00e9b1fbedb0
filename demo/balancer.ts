import { request as sendRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { pipeline, type Duplex } from "node:stream";

/** A process behind the balancer. */
export interface Target {
  readonly name: string;
  readonly port: number;
}

export interface Balancer {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** The response's header that names the process. In a request, it chooses the process. */
const PROCESS = "x-demo-process";

/**
 * Returns a load balancer that sends each request to the next process. If a process dies while it
 * has a GET request, another process gets the request; a POST might have had an effect already.
 *
 * @param running returns the processes that take requests now
 */
export function createBalancer(running: () => readonly Target[]): Balancer {
  let turn = 0;

  function next(tried: readonly string[], wanted?: unknown): Target | undefined {
    const others = running().filter(({ name }) => !tried.includes(name));
    turn += 1;
    return others.find(({ name }) => name === wanted) ?? others[turn % others.length];
  }

  function pass(
    request: IncomingMessage,
    response: ServerResponse,
    tried: readonly string[] = [],
  ): void {
    const target = next(tried, request.headers[PROCESS]);
    if (target === undefined) {
      response.writeHead(503, { "Retry-After": "1", "Content-Type": "text/plain" });
      response.end(
        "No process is running. A new one starts in a few seconds. Nobody is signed out.",
      );
      return;
    }
    const { method, url, headers } = request;
    const isRepeatable = method === "GET" || method === "HEAD";
    const forwarded = sendRequest({
      port: target.port,
      host: "127.0.0.1",
      method,
      path: url,
      headers,
    });
    forwarded.on("response", (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, {
        ...incoming.headers,
        [PROCESS]: target.name,
      });
      pipeline(incoming, response, () => {});
    });
    forwarded.on("error", () => {
      if (response.headersSent || response.destroyed || !isRepeatable) response.destroy();
      else pass(request, response, [...tried, target.name]);
    });
    response.on("close", () => forwarded.destroy());
    if (isRepeatable) forwarded.end();
    else pipeline(request, forwarded, () => {});
  }

  return {
    request: (request, response) => pass(request, response),
    upgrade(request, socket, head) {
      const target = next([]);
      if (target === undefined) return void socket.destroy();
      const server = connect(target.port, "127.0.0.1", () => {
        const { method, url, rawHeaders } = request;
        const lines = rawHeaders.map((part, index) => part + (index % 2 === 0 ? ": " : "\r\n"));
        server.write(`${method} ${url} HTTP/1.1\r\n${lines.join("")}\r\n`);
        server.write(head);
        socket.pipe(server).pipe(socket);
      });
      server.on("error", () => socket.destroy()).on("close", () => socket.destroy());
      socket.on("close", () => server.destroy());
    },
  };
}
