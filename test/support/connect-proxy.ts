import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";

/** A proxy for outgoing requests: it tunnels (CONNECT), and forwards plain http requests. */
export interface ConnectProxy {
  readonly url: string;
  /** Host and port of each request's target. */
  readonly targets: string[];
  stop(): Promise<void>;
}

export async function startConnectProxy(): Promise<ConnectProxy> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((message, response) => {
    const url = new URL(message.url ?? "");
    targets.push(url.host);
    const { method, headers } = message;
    const outgoing = request(url, { method: method ?? "GET", headers }, (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.headers);
      incoming.pipe(response);
    });
    message.pipe(outgoing);
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", ({ url = "" }, near: Socket) => {
    targets.push(url);
    const { hostname, port } = new URL(`http://${url}`);
    const far = connect(Number(port || 80), hostname, () => {
      near.write("HTTP/1.1 200 Connection established\r\n\r\n");
      far.pipe(near);
      near.pipe(far);
    });
    for (const socket of [near, far]) socket.on("error", () => [near, far].map((s) => s.destroy()));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    targets,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
