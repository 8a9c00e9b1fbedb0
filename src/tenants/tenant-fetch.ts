/** How requests to providers are sent whose addresses customers have entered. */
import { fetch as undiciFetch } from "undici";
import { ProviderUnavailableError } from "../errors.js";
import { clientTlsOf, type CertificateSettings } from "../keys/client-certificate.js";
import { NAVIGATION_HEADERS, type Navigate } from "../live/navigation.js";
import { addressRefused, isAllowed } from "./network-rules.js";
import { TenantConnections, type ConnectionOptions } from "./tenant-connections.js";

export interface TenantFetch {
  /**
   * Sends a request if the rules allow its address, and never follows a redirect.
   * @throws ProviderUnavailableError `address_refused`
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Whether the rules allow an address, as far as it shows it: what a name resolves to is checked
   * only when a connection is made.
   */
  allows(url: URL): boolean;
  /** Navigates by the same rules. */
  readonly navigate: Navigate;
  /**
   * Returns what sends requests by the same rules, over connections of its own, which show the
   * client's certificate. Undefined: the client has none.
   */
  certified(settings: CertificateSettings): TenantFetch | undefined;
  /** Closes the connections after their requests. A later request opens others. */
  close(): void;
}

/**
 * Creates what sends requests by these rules. Providers with different rules must not share one,
 * because they would share its connections.
 */
export function createTenantFetch(rules: ConnectionOptions = {}): TenantFetch {
  const connections = new TenantConnections(rules);
  const { client: certificate } = rules;
  const allows = (url: URL) => isAllowed(url, rules);
  const assertAllowed = (url: URL): void => {
    if (!allows(url)) throw addressRefused();
    if (certificate !== undefined && url.protocol !== "https:")
      throw new TypeError(`A certificate can't be shown to ${url.origin}.`);
  };
  // The types of undici and those of the runtime differ in names alone.
  const send = undiciFetch as unknown as typeof globalThis.fetch;
  return {
    allows,
    async fetch(input, init) {
      assertAllowed(new URL(input instanceof Request ? input.url : input));
      const sent: object = { ...init, redirect: "manual", dispatcher: connections };
      try {
        return await send(input, sent);
      } catch (error) {
        const { cause } = error as Error;
        throw cause instanceof ProviderUnavailableError ? cause : error;
      }
    },
    async navigate(address, signal) {
      assertAllowed(address);
      const { statusCode, headers, body } = await connections.request({
        origin: address.origin,
        path: `${address.pathname}${address.search}`,
        method: "GET",
        headers: NAVIGATION_HEADERS,
        signal,
      });
      body.on("error", () => undefined).destroy();
      const [location = null] = [headers["location"]].flat();
      return { status: statusCode, location };
    },
    certified(settings) {
      const client = clientTlsOf(settings);
      return client && createTenantFetch({ ...rules, client });
    },
    close() {
      connections.release();
    },
  };
}
