/**
 * The proxy for servers of node:http. Servers of the Fetch standard never load it, because their
 * runtime may not have that module.
 */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Duplex, Readable } from "node:stream";
import type { Api } from "../config/api-options.js";
import type { AnyReply } from "../http/reply.js";
import { nodeBody, nodeTransport } from "./forward.js";
import { proxyRequest } from "./proxy.js";
import { exchangeOf, type Proxied, type ProxyComponent } from "./respond.js";
import type { Transport } from "./transport.js";
import { proxyUpgrade } from "./upgrade.js";

/** Each holds the connections to its API. */
const transports = new WeakMap<Api, Transport<Readable>>();

function transportTo(api: Api, { clock }: ProxyComponent): Transport<Readable> {
  const transport = transports.get(api) ?? nodeTransport(api, clock);
  transports.set(api, transport);
  return transport;
}

/** Passes a request of node:http or node:http2 on. */
export function respondOverNode(
  proxied: Proxied,
  message: IncomingMessage | Http2ServerRequest,
  component: ProxyComponent,
): Promise<AnyReply> {
  const exchange = exchangeOf(proxied, message.rawHeaders, component);
  return proxyRequest(
    proxied.api,
    transportTo(proxied.api, component),
    exchange,
    nodeBody(message),
  );
}

/** Passes an upgrade on. */
export function upgrade(
  proxied: Proxied,
  [message, socket, head]: readonly [message: IncomingMessage, socket: Duplex, head: Buffer],
  component: ProxyComponent,
): Promise<void> {
  const exchange = exchangeOf(proxied, message.rawHeaders, component);
  return proxyUpgrade(proxied.api, transportTo(proxied.api, component), exchange, [
    message,
    socket,
    head,
  ]);
}
