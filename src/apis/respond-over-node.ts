/** The proxy for servers of node:http. Servers of the Fetch standard never load it, because their runtime may not have that module. */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Duplex, Readable } from "node:stream";
import type { Api } from "../config/api-options.js";
import type { AnyReply } from "../http/reply.js";
import { linesOf, nodeBody, nodeTransport } from "./forward.js";
import { proxyRequest } from "./proxy.js";
import { exchangeOf, type Proxied, type ProxyComponent } from "./respond.js";
import type { Transport } from "./transport.js";
import { proxyUpgrade } from "./upgrade.js";

/** Each holds the connections to its API. */
const transports = new WeakMap<Api, Transport<Readable>>();

/** Passes a request of node:http or node:http2 on. */
export function respondOverNode(
  proxied: Proxied,
  message: IncomingMessage | Http2ServerRequest,
  component: ProxyComponent,
): Promise<AnyReply> {
  const { api } = proxied;
  const transport = transports.get(api) ?? nodeTransport(api, component.clock);
  transports.set(api, transport);
  return proxyRequest(api, transport, exchangeOf(proxied, linesOf(message), component), nodeBody(message));
}

/** Passes an upgrade on. */
export async function upgrade(
  proxied: Proxied,
  [message, socket, head]: readonly [message: IncomingMessage, socket: Duplex, head: Buffer],
  component: ProxyComponent,
): Promise<void> {
  const exchange = exchangeOf(proxied, linesOf(message), component);
  await proxyUpgrade(proxied.api, component.clock, exchange, [message, socket, head]);
}
