/** The proxy on servers that have no socket, where each request to an API goes over `fetch`. */
import type { AnyReply } from "../http/reply.js";
import { fetchBody, fetchTransport } from "./fetch-transport.js";
import { proxyRequest } from "./request-steps.js";
import { SessionExchange, type Proxied, type ProxyComponent } from "./session-exchange.js";

/** Passes a request of the Fetch standard on. */
export function respondOverFetch(
  proxied: Proxied,
  request: Request,
  component: ProxyComponent,
): Promise<AnyReply> {
  const transport = fetchTransport(proxied.api, component.clock, globalThis.fetch);
  const lines = [...request.headers].flat();
  const exchange = new SessionExchange(proxied, { lines }, component);
  return proxyRequest(exchange, transport, fetchBody(request));
}
