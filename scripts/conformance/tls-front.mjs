// Terminates TLS for the suite and for the application, with certificates of one CA of this run.
import assert from "node:assert";
import { request } from "node:http";
import { createServer } from "node:https";
import { TLSSocket } from "node:tls";
import { createCertificate } from "../certificate.mjs";

/** Milliseconds until the run's certificates expire. */
const LIFETIME = 24 * 3_600_000;
const WRONG_HOST = "x-test-mtls-called-on-wrong-host";

/**
 * @typedef {object} TlsFront
 * @property {string} origin
 * @property {(port: number) => void} forwardTo a port of 127.0.0.1
 * @property {() => void} end
 *
 * @typedef {object} FrontOptions
 * @property {string} name of the host
 * @property {import("../certificate.mjs").Certificate} authority
 * @property {boolean} [asksForCertificate] whether a client may show a certificate, which the server
 *   behind gets in a header
 */

export function createAuthority() {
  return createCertificate({
    name: "idpauth conformance",
    isAuthority: true,
    until: Date.now() + LIFETIME,
  });
}

/**
 * @param {string} name the subject's
 * @param {import("../certificate.mjs").Certificate} authority
 */
export function createSigned(name, authority) {
  return createCertificate({ name, authority, until: Date.now() + LIFETIME });
}

/**
 * @param {FrontOptions} options
 * @returns {Promise<TlsFront>}
 */
export function startTlsFront({ name, authority, asksForCertificate = false }) {
  let target = 0;
  const server = createServer(
    {
      ...createSigned(name, authority),
      requestCert: asksForCertificate,
      rejectUnauthorized: false,
    },
    (incoming, outgoing) => {
      const { method = "GET", url = "/" } = incoming;
      const forwarded = request(
        {
          host: "127.0.0.1",
          port: target,
          path: url,
          method,
          headers: { ...headersOf(incoming), ...(!asksForCertificate && wrongHostOf(url)) },
        },
        (response) => {
          outgoing.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(outgoing);
        },
      );
      forwarded.once("error", () => outgoing.destroy());
      incoming.pipe(forwarded);
    },
  );
  return new Promise((resolve) => {
    // Without a host, it listens on ::1 too, which `localhost` may be.
    server.listen(0, () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      resolve({
        origin: `https://${name}:${port}`,
        forwardTo(to) {
          target = to;
        },
        end() {
          server.closeAllConnections();
          server.close();
        },
      });
    });
  });
}

/**
 * What the suite's own nginx configuration adds. Whatever a client sends under these names is lost.
 *
 * @param {import("node:http").IncomingMessage} incoming
 */
function headersOf({ headers, socket }) {
  assert(socket instanceof TLSSocket);
  const { host = "" } = headers;
  const [, port = "443"] = /:(\d+)$/.exec(host) ?? [];
  const { "x-ssl-cert": _, [WRONG_HOST]: __, ...others } = headers;
  const shown = socket.getPeerX509Certificate();
  return {
    ...others,
    "x-forwarded-for": socket.remoteAddress ?? "",
    "x-forwarded-proto": "https",
    "x-forwarded-host": host,
    "x-forwarded-port": port,
    "x-ssl-cipher": socket.getCipher().standardName,
    "x-ssl-protocol": socket.getProtocol() ?? "",
    ...(shown !== undefined && { "x-ssl-cert": shown.toString().trim().replaceAll("\n", " ") }),
  };
}

/**
 * The suite refuses its mutual TLS addresses at the front that asks for no certificate.
 *
 * @param {string} url
 */
function wrongHostOf(url) {
  return /^\/test-mtls/i.test(url) ? { [WRONG_HOST]: "true" } : {};
}
