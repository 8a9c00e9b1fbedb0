import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import {
  serverCertificate,
  testCertificateAuthority,
  trustTestAuthority,
} from "../certificates/test-certificates.js";
import { addTlsOrigin } from "../certificates/tls-origins.js";

/** How a server of the kit encrypts. */
export interface KitTls {
  /** Whether it asks each client for a certificate, which the client may leave out. */
  readonly requestsCertificates: boolean;
}

// Never closes an idle connection: on a busy machine it could close one that the application is
// about to use again.
const OPTIONS = { keepAliveTimeout: 0 };

/** Returns a server with a certificate of the kit's authority, or one without TLS. */
export function newKitServer(listener: RequestListener, tls: KitTls | undefined): Server {
  if (tls === undefined) return createServer(OPTIONS, listener);
  return createSecureServer(
    {
      ...OPTIONS,
      ...serverCertificate(),
      ca: testCertificateAuthority(),
      requestCert: tls.requestsCertificates,
      // The endpoint decides: a self-signed certificate can be the client's registered one.
      rejectUnauthorized: false,
    },
    listener,
  );
}

/** One server on a port of 127.0.0.1, which it keeps while it is closed. */
export class KitServer {
  readonly server: Server;
  readonly #tls: KitTls | undefined;
  #port = 0;
  #distrust: () => void = () => undefined;

  constructor(listener: RequestListener, tls: KitTls | undefined) {
    this.#tls = tls;
    this.server = newKitServer(listener, tls);
  }

  /** After the first `listen`. */
  get origin(): string {
    return `${this.#tls === undefined ? "http" : "https"}://127.0.0.1:${String(this.#port)}`;
  }

  /** Rejects if the port is in use, or the runtime can't trust a certificate of the kit. */
  async listen(): Promise<void> {
    if (this.#tls !== undefined) this.#distrust = trustTestAuthority();
    await new Promise<void>((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(this.#port, "127.0.0.1", () => {
        this.server.off("error", reject);
        resolve();
      });
    }).catch((error: unknown) => {
      this.#distrust();
      throw error;
    });
    this.#port = (this.server.address() as AddressInfo).port;
    if (this.#tls !== undefined) addTlsOrigin(this.origin);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve();
      });
      this.server.closeAllConnections();
      this.#distrust();
    });
  }
}
