import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { AdapterParts } from "../auth/adapter-auth.js";
import type { FrameworkSource } from "../auth/adapter-types.js";
import type { IdpAuthNames } from "../config/inferred-names.js";
import type { IdpRequest } from "../http/request.js";
import { NodeRequest, socketOf, type AnyRequest } from "./node-message.js";

/** Of the `auth` object of each framework over node:http. */
export interface UpgradeProxy {
  /**
   * Passes the upgrades to WebSockets on to the APIs that `proxyApi` was called for. Bundled
   * sessions only.
   *
   * @returns false for a WebSocket whose path is no API's. True: idpauth responds, also to a request
   *   that offers another protocol, on every path:
   *   `server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy())`
   */
  readonly proxyUpgrade: (message: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
}

/** An upgrade as the framework's setting about trusted proxies reads it. */
export interface UpgradeRequest {
  /** With the scheme and the host that the framework trusts. */
  readonly request: IdpRequest;
  /** The browser's IP address. Undefined: that of the connection. */
  readonly client?: string | undefined;
}

/**
 * Makes the function for the event `upgrade` of a server.
 * @param requestOf default: as the connection says
 */
export function upgradesOf(
  proxyUpgrade: AdapterParts<never, object, object, IdpAuthNames>["proxyUpgrade"],
  requestOf?: (message: IncomingMessage) => UpgradeRequest | undefined,
): UpgradeProxy["proxyUpgrade"] {
  return (message, socket, head) => {
    const { request, client } = requestOf?.(message) ?? { request: new NodeRequest(message) };
    return proxyUpgrade(request, [message, socket, head], client);
  };
}

/**
 * Returns a message as the proxy of an API reads it.
 * @param client the browser's IP address, as far as the framework trusts it
 */
export function sourceOf(
  message: AnyRequest,
  client = socketOf(message)?.remoteAddress,
): FrameworkSource {
  return { node: message, client };
}
