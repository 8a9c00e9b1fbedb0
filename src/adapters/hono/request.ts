import type { Context } from "hono";
import type { IdpRequest } from "../../index.js";
import { WebRequest } from "../fetch/fetch.js";

/** What `@hono/node-server` puts into `c.env`: the request of node:http. */
interface Incoming {
  readonly url: string;
  readonly headersDistinct: { readonly host?: readonly string[] };
  readonly socket: { readonly encrypted?: boolean };
}

/** A request of Hono. On Node it is read as it was sent; elsewhere as the server's URL parser normalized it. */
export function requestOf(c: Context): IdpRequest {
  const { incoming } = ((c.env as unknown) ?? {}) as { readonly incoming?: Partial<Incoming> };
  return isOnTheWire(incoming) ? new WireRequest(c.req.raw, incoming) : new WebRequest(c.req.raw);
}

/** False for HTTP/2, which sends no Host header, and for another value that the application put there under that name. */
function isOnTheWire(incoming: Partial<Incoming> | undefined): incoming is Incoming {
  return typeof incoming?.url === "string" && incoming.headersDistinct !== undefined && incoming.socket !== undefined;
}

class WireRequest extends WebRequest {
  readonly #incoming: Incoming;

  constructor(request: Request, incoming: Incoming) {
    super(request);
    this.#incoming = incoming;
  }

  override get target(): string {
    return this.#incoming.url;
  }

  /** The scheme of the connection: an absolute target may claim any scheme. */
  override get scheme(): "http" | "https" {
    return this.#incoming.socket.encrypted === true ? "https" : "http";
  }

  /** Undefined if there are several Host headers, of which Node keeps the first (RFC 9112 section 3.2). */
  override get host(): string | undefined {
    const { host } = this.#incoming.headersDistinct;
    return host?.length === 1 ? host[0] : undefined;
  }
}
