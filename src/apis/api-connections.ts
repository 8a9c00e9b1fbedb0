/** The connections to APIs, over undici. */
import type { Readable } from "node:stream";
import type { SecureContextOptions } from "node:tls";
import { Agent, buildConnector, type Dispatcher } from "undici";
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import type { Shutdown } from "../work/shutdown.js";
import { outliveWriteErrors } from "./outlive-write-errors.js";
import type { Pieces } from "./request-bodies.js";
import type { Transport } from "./transport.js";
import { undiciTransport } from "./undici-transport.js";

/**
 * The most bytes of headers in a response. When undici's own limit of 16 KB is reached, the API has
 * already acted. HTTP/2 sends no more to the browser than this.
 */
const MAX_HEADER_BYTES = 65_536;

/**
 * Milliseconds that an unused connection stays open: less than the 5 s of Node's own servers, so
 * that none is closed while we send.
 */
const IDLE_CONNECTION_MS = 4_000;

/** The connections of each API. */
const opened = new WeakMap<Api, Connections>();

/** Returns what sends requests to an API. @param shutdown closes its connections */
export function transportTo(
  api: Api,
  clock: Clock,
  shutdown?: Shutdown,
): Transport<Readable, Pieces> {
  const connections = opened.get(api) ?? new Connections(api, clock);
  shutdown?.atEnd(connections.release);
  return connections.transport;
}

/** The connections to one API, which a shutdown closes. A later request opens others. */
class Connections {
  readonly transport: Transport<Readable, Pieces>;
  readonly #api: Api;
  #agent: Agent | undefined;

  constructor(api: Api, clock: Clock) {
    this.#api = api;
    this.transport = undiciTransport(api, clock, this);
    opened.set(api, this);
  }

  readonly release = (): void => {
    void this.#agent?.close();
    this.#agent = undefined;
  };

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const own = this.#api.dispatcher as unknown as Dispatcher | undefined;
    return (own ?? (this.#agent ??= agentOf(this.#api, this.#api.certificate?.()))).dispatch(
      options,
      handler,
    );
  }
}

/**
 * Creates the pool of connections to one API. The certificate is checked, whatever the environment
 * says.
 *
 * @param tls whom to trust, and with which certificate
 */
export function agentOf({ timeout }: Pick<Api, "timeout">, tls?: SecureContextOptions): Agent {
  const connector = buildConnector({
    ...tls,
    // Longer than a request waits, so that it is the request that times out.
    timeout: 2 * timeout * 1000,
    rejectUnauthorized: true,
    allowH2: false,
  });
  return new Agent({
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    connect(options, done) {
      connector(options, (...connected) => {
        const [error, socket] = connected;
        if (error === null) outliveWriteErrors(socket);
        done(...connected);
      });
    },
  });
}
