/** The connections to providers whose addresses customers have entered. */
import type { SecureContextOptions } from "node:tls";
import { buildConnector, Dispatcher, Pool } from "undici";
import { guardedLookup, isInternal, type NetworkRules } from "./network-rules.js";

export interface ConnectionOptions extends NetworkRules {
  /** The certificates of authorities, for tests. Default those of Node.js. */
  readonly ca?: SecureContextOptions["ca"];
  /** The certificate that the connections show, and its key. */
  readonly client?: Pick<SecureContextOptions, "cert" | "key"> | undefined;
}

/**
 * The origins whose connections are kept. One more closes those of the origin that was used least
 * recently, after its requests.
 */
const MAX_ORIGINS = 100;

/** The connections to one origin. Further requests wait for one of them. */
const MAX_CONNECTIONS = 50;

/** Milliseconds that an unused connection stays open. */
const IDLE_CONNECTION_MS = 4_000;

/** Milliseconds in which a connection must be there, and in which the next part of a response. */
const SILENCE_MS = 10_000;

/** Sends requests to many origins, and keeps connections to the last ones. */
export class TenantConnections extends Dispatcher {
  readonly #options: ConnectionOptions;
  readonly #connect: buildConnector.connector;
  /** The most recently used one is the last. */
  readonly #pools = new Map<string, Pool>();

  constructor(options: ConnectionOptions) {
    super();
    this.#options = options;
    this.#connect = connectorFor(options);
  }

  /** The number of origins that may have connections. */
  get origins(): number {
    return this.#pools.size;
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    return this.#poolOf(String(options.origin)).dispatch(options, handler);
  }

  /** Closes all connections after their requests. A later request opens others. */
  release(): void {
    for (const origin of [...this.#pools.keys()]) this.#close(origin);
  }

  #poolOf(origin: string): Pool {
    const pool =
      this.#pools.get(origin) ??
      new Pool(origin, {
        connect: this.#connect,
        connections: MAX_CONNECTIONS,
        allowH2: false,
        keepAliveTimeout: IDLE_CONNECTION_MS,
        keepAliveMaxTimeout: IDLE_CONNECTION_MS,
        headersTimeout: SILENCE_MS,
        bodyTimeout: SILENCE_MS,
      });
    this.#pools.delete(origin);
    this.#pools.set(origin, pool);
    const [oldest] = this.#pools.keys();
    if (this.#pools.size > MAX_ORIGINS && oldest !== undefined) this.#close(oldest);
    return pool;
  }

  #close(origin: string): void {
    const pool = this.#pools.get(origin);
    this.#pools.delete(origin);
    pool?.close().catch(() => undefined);
  }
}

/** Returns what opens connections. The certificate is checked, whatever the environment says. */
function connectorFor({ ca, client, ...rules }: ConnectionOptions): buildConnector.connector {
  const options = {
    ...(ca !== undefined && { ca }),
    ...client,
    timeout: SILENCE_MS,
    rejectUnauthorized: true,
    allowH2: false,
  };
  const guarded = buildConnector({ ...options, lookup: guardedLookup(rules) });
  const { lookup } = rules;
  const unguarded = buildConnector({ ...options, ...(lookup !== undefined && { lookup }) });
  return (to, done) => {
    const url = new URL(`${to.protocol}//${to.host ?? to.hostname}`);
    (isInternal(url, rules) ? unguarded : guarded)(to, done);
  };
}
