/** Requests to a provider over connections that show the client's certificate (RFC 8705). */
import { Agent, fetch as undiciFetch } from "undici";
import {
  clientTlsOf,
  type CertificateSettings,
  type ClientTls,
} from "../../keys/client-certificate.js";

/** Milliseconds in which a connection must be there. A request has a shorter limit of its own. */
const CONNECT_MS = 10_000;

/**
 * Milliseconds that an unused connection stays open: less than the 5 s of Node's own servers, so
 * that none is closed while we send.
 */
const IDLE_CONNECTION_MS = 4_000;

export interface CertifiedRequests {
  /**
   * Sends a request, and never without the certificate: an http address is refused.
   * @throws TypeError also as undici's `fetch` does
   */
  readonly fetch: typeof globalThis.fetch;
  /** Closes the connections after their requests. A later request opens others. */
  readonly release: () => void;
}

/**
 * Creates what sends requests with one certificate. Registrations must not share it, because they
 * would share its connections, even if they have the same certificate.
 *
 * The runtime's own `fetch` isn't used, since its undici may be another version, whose agents don't
 * fit.
 */
export function createCertifiedRequests(settings: CertificateSettings): CertifiedRequests {
  const tls = clientTlsOf(settings);
  if (tls === undefined) throw new TypeError("The client has no certificate.");
  let agent: Agent | undefined;
  // The types of undici and those of the runtime differ in names alone.
  const send = undiciFetch as unknown as typeof globalThis.fetch;
  return {
    fetch(input, init) {
      const { protocol, origin } = new URL(input instanceof Request ? input.url : input);
      if (protocol !== "https:")
        return Promise.reject(new TypeError(`A certificate can't be shown to ${origin}.`));
      agent ??= agentWith(tls);
      const sent: object = { ...init, redirect: "manual", dispatcher: agent };
      return send(input, sent);
    },
    release() {
      agent?.close().catch(() => undefined);
      agent = undefined;
    },
  };
}

/** The provider's certificate is checked, whatever the environment says. */
function agentWith(tls: ClientTls): Agent {
  return new Agent({
    allowH2: false,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    connect: { ...tls, timeout: CONNECT_MS, rejectUnauthorized: true, allowH2: false },
  });
}
