import { createCertificate } from "../../scripts/certificate.mjs";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";

/**
 * A proxy that ends TLS, as in front of an application in production. It passes the Host header on.
 */
export interface HttpsFront {
  /** `https://localhost:port` */
  readonly origin: string;
  /** Where requests are passed on to; may be set once the port of the front is known. */
  target: string;
  close(): Promise<void>;
}

export async function startHttpsFront(
  certificate = createCertificate({ name: "localhost" }),
): Promise<HttpsFront> {
  const server: Server = createServer(certificate, (incoming, response) => {
    const { method, headers } = incoming;
    const forwarded = { ...headers, "x-forwarded-proto": "https" };
    const passed = request(
      new URL(incoming.url ?? "/", front.target),
      { method: method ?? "GET", headers: forwarded },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on("error", () => response.writeHead(502).end());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const front: HttpsFront = {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    target: "http://127.0.0.1:9",
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return front;
}
