// What terminates TLS before the application, as in production.
import { request } from "node:http";
import { createServer } from "node:https";
import { createCertificate } from "../../certificate.mjs";

/**
 * @typedef {object} TlsFront
 * @property {string} origin
 * @property {(origin: string) => void} forwardTo
 * @property {() => void} end
 */

/** @returns {Promise<TlsFront>} */
export function startTlsFront() {
  let target = "";
  const server = createServer(createCertificate({ name: "localhost" }), (incoming, outgoing) => {
    const { method = "GET", headers, url = "/" } = incoming;
    const forwarded = request(`${target}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.once("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      resolve({
        origin: `https://localhost:${port}`,
        forwardTo(origin) {
          target = origin;
        },
        end() {
          server.closeAllConnections();
          server.close();
        },
      });
    });
  });
}
