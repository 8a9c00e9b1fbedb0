import type { StoreProblem } from "../../ports/session-store.js";
import type { EndsChannel } from "../end-announcements.js";
import { isPool } from "./pool.js";

/** What the store uses of a `Client` of `pg` that listens. */
export interface PostgresListener {
  /** Runs LISTEN, and later UNLISTEN. */
  query(text: string): Promise<unknown>;
  /** For each announced end of a session. */
  on(event: "notification", listener: (message: Notification) => void): unknown;
  /** The connection may be lost: this process then polls. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** The connection has closed: this process then polls. */
  on(event: "end", listener: () => void): unknown;
  /** Called after the last watcher is removed. */
  removeListener(event: "notification", listener: (message: Notification) => void): unknown;
  /** Called after the last watcher is removed. */
  removeListener(event: "error" | "end", listener: () => void): unknown;
}

interface Notification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/**
 * A channel belongs to a database. Stores with other tables may share it, because keys are random.
 */
const CHANNEL = "idpauth_ended";

/** Parameters: message */
export const NOTIFY = `SELECT pg_notify('${CHANNEL}', $1)`;

/**
 * Returns the channel of a client that listens. The announcements and the proofs go through the
 * pool. So a proof shows that the pool and the client use the same database, and that no pooler has
 * given the client's connection to another client.
 *
 * @param publish runs {@link NOTIFY} with the message
 */
export function postgresChannel(
  client: PostgresListener,
  publish: (message: string) => Promise<unknown>,
): EndsChannel {
  // An error without a listener ends the process.
  client.on("error", ignore);
  return {
    publish,
    listen({ message, ready, lost }) {
      const receive = ({ channel, payload = "" }: Notification): void => {
        if (channel === CHANNEL) message(payload);
      };
      client.on("notification", receive);
      client.on("error", lost);
      client.on("end", lost);
      client.query(`LISTEN ${CHANNEL}`).then(ready, ignore);
      return () => {
        client.removeListener("notification", receive);
        client.removeListener("error", lost);
        client.removeListener("end", lost);
        client.query(`UNLISTEN ${CHANNEL}`).catch(ignore);
      };
    },
  };
}

/** Returns the mistake in the option `listen`, without I/O. */
export function listenProblems(listen: PostgresListener | undefined): StoreProblem[] {
  if (listen === undefined) return [];
  const { query, on, removeListener } = listen as Partial<PostgresListener>;
  const isClient = [query, on, removeListener].every((method) => typeof method === "function");
  if (isClient && !isPool(listen)) return [];
  return [
    {
      message:
        "The option listen of postgresStore isn't a Client of pg. A pool can't listen, because it changes connections.",
      remedy:
        "Create a client for it: const listen = new pg.Client({ connectionString }); await listen.connect().",
    },
  ];
}

function ignore(): void {}
