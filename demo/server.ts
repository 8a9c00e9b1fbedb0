import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on loopback only and gives the address to click on. Rejects when the port is taken. */
export async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Takes no new connection, lets running requests finish, and drops each connection as soon as it has nothing to do. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), 25);
    server.close(() => {
      clearInterval(idle);
      resolve();
    });
  });
}
