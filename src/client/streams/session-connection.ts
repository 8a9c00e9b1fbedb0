import type { Client } from "../client-interface.js";
import { LOST, probe, RETRY_MS, watchConnection } from "./connection-watch.js";
import type { ConnectionEnd, ConnectionEndReason } from "./connections.js";
import { watchPresence } from "./page-presence.js";
import type { StreamEnvironment } from "./stream-environment.js";

/** The longest pause between two attempts in an outage, in milliseconds, unless the server asks. */
const LONGEST_PAUSE_MS = 60_000;

/** Milliseconds of pauses after which an outage ends the connection. */
const OUTAGE_MS = 300_000;

/** Milliseconds from one connection to the next, whatever the server does. */
const PACE_MS = 1_000;

/**
 * Milliseconds after which a session that the server doesn't know counts as signed out. When the
 * user signs in again, the old session ends some moments before the browser has the new cookie.
 */
const GRACE_MS = 3_000;

const LIMITS: readonly unknown[] = ["max_age", "idle", "session_expiry"];

/** How a connection has closed that the page has not closed. */
export type Closing =
  /** By the network, a server that stops, or an outage. `retry`: milliseconds before the next one. */
  | { readonly kind: "lost"; readonly retry: number }
  /** The server says that the session has ended. */
  | { readonly kind: "ended" }
  /** It didn't open. `tries`: how often a signed-in user tries. */
  | { readonly kind: "refused"; readonly tries: number };

/** Whose session it is, and when it isn't wanted. */
export interface ConnectionSettings {
  readonly client: Client;
  readonly env: StreamEnvironment;
  readonly closeWhenHidden: boolean;
}

/**
 * Called when a connection has opened.
 *
 * @param beatMs milliseconds between its heartbeats; NaN or 0: it needn't beat
 * @returns what to call with each byte
 */
export type Opened = (beatMs: number) => () => void;

interface SessionConnectionParts extends ConnectionSettings {
  /** Connects, and resolves when the connection has closed. Closes it when the signal aborts. */
  readonly connect: (signal: AbortSignal, opened: Opened) => Promise<Closing>;
  /** Called once, when no further connection follows. */
  readonly over: (reason: ConnectionEndReason) => void;
}

export interface SessionConnection {
  readonly ended: Promise<ConnectionEnd>;
  end(reason: ConnectionEndReason): void;
}

/**
 * Keeps a connection open while the user is signed in. A connection that closes unexpectedly leads
 * to one probe, which decides whether another one follows. A page on a server has none.
 */
export function keepConnected(parts: SessionConnectionParts): SessionConnection {
  const { client, env } = parts;
  const ending = new AbortController();
  const { signal } = ending;
  /** Of the user for whom the first connection was opened. */
  let account: string | null = null;
  let connection: AbortController | undefined;
  let known = client.getState();
  let wasAway = false;
  let grace: number | undefined;
  let wake = () => {};
  let settle!: (end: ConnectionEnd) => void;
  const ended = new Promise<ConnectionEnd>((resolve) => (settle = resolve));

  const end = (reason: ConnectionEndReason) => {
    if (signal.aborted) return;
    ending.abort();
    stop();
    env.clearTimeout(grace);
    parts.over(reason);
    settle({ reason });
    connection?.abort();
    wake();
  };
  /** @param wasOpen whether the connection's own probe hasn't been sent */
  const confirm = async (wasOpen: boolean) => {
    if (wasOpen) await probe(client);
    if (client.getState().status === "signed-out") end("signed-out");
  };
  const watchSession = () => {
    const before = known;
    known = client.getState();
    const { status, account: current, reason } = known;
    const isSignedOut = status === "signed-out";
    if (!isSignedOut) {
      env.clearTimeout(grace);
      grace = undefined;
    }
    if (account && isSignedOut && reason === "no_credentials") {
      const wasOpen = connection?.signal.aborted === false;
      connection?.abort();
      grace ??= env.setTimeout(() => void confirm(wasOpen), GRACE_MS);
    } else if (account && (isSignedOut || (current && current !== account)))
      end(LIMITS.includes(reason) ? "session-limit" : "signed-out");
    // A moved idle timeout, for example, doesn't shorten a pause.
    if (status !== before.status || current !== before.account) wake();
  };
  const stop = client.subscribe(watchSession);

  if (Boolean(env.document)) {
    const isPresent = watchPresence({
      ...parts,
      signal,
      changed: () => {
        if (!isPresent()) connection?.abort();
        wasAway = true;
        wake();
      },
    });
    reconnect({
      ...parts,
      signal,
      end,
      isPresent,
      hasReturned: () => wasAway && !(wasAway = false),
      start: () => {
        ({ account } = client.getState());
        return (connection = new AbortController());
      },
      news: (milliseconds) =>
        new Promise((resolve) => {
          const timer =
            milliseconds === undefined ? undefined : env.setTimeout(resolve, milliseconds);
          wake = () => {
            env.clearTimeout(timer);
            resolve();
          };
        }),
    }).catch((error: unknown) => {
      env.reportError(error);
      end("refused");
    });
  }
  return { ended, end };
}

interface ReconnectParts extends SessionConnectionParts {
  /** Aborts when no further connection follows. */
  readonly signal: AbortSignal;
  readonly end: (reason: ConnectionEndReason) => void;
  readonly isPresent: () => boolean;
  /** Whether the page was away since the last call, so that another user may have signed in. */
  readonly hasReturned: () => boolean;
  /** Returns what aborts the connection that starts now. */
  readonly start: () => AbortController;
  /** Resolves when the user, the status or the page has changed, at the latest after these milliseconds. */
  readonly news: (milliseconds?: number) => Promise<void>;
}

/** Opens one connection after the other. Resolves when no further one follows. */
async function reconnect(parts: ReconnectParts): Promise<void> {
  const { client, env, signal, isPresent, news } = parts;
  let startedAt = 0;
  /** Attempts in a row that opened no connection. */
  let failures = 0;
  let refusals = 0;
  /** Milliseconds of their pauses. A computer that sleeps doesn't wait. */
  let waited = 0;
  const opened = () => {
    failures = refusals = waited = 0;
  };
  const attempt = async (): Promise<Closing | undefined> => {
    startedAt = env.Date.now();
    const connection = parts.start();
    const closing = await parts.connect(connection.signal, (beatMs) => {
      opened();
      return watchConnection({ client, env, connection, beatMs });
    });
    if (connection.signal.aborted && connection.signal.reason !== LOST) return undefined;
    // What the server still sends, nobody reads.
    connection.abort();
    return closing;
  };
  const pause = async (retry: number) => {
    const from = env.Date.now();
    const longest = Math.max(retry, Math.min(LONGEST_PAUSE_MS, retry * 2 ** failures));
    const pauseMs = longest * (1 + env.Math.random());
    await news(pauseMs);
    waited += Math.min(pauseMs, env.Date.now() - from);
  };
  /** Returns what is still to be decided. */
  const decide = async (closing: Closing): Promise<Closing | undefined> => {
    const isLost = closing.kind === "lost";
    const retry = isLost ? closing.retry : RETRY_MS;
    const isLate = waited >= OUTAGE_MS;
    if (!isLate && (isLost || failures)) await pause(retry);
    if (signal.aborted || !isPresent()) return undefined;
    failures++;
    const { status } = await probe(client);
    if (status === "signed-out") return undefined;
    const isUp = status === "signed-in";
    if (isUp && closing.kind === "refused" && ++refusals >= closing.tries) parts.end("refused");
    else if (isLate) parts.end("unavailable");
    return isUp ? undefined : { kind: "lost", retry };
  };

  let closing: Closing | undefined;
  while (!signal.aborted) {
    const since = env.Date.now() - startedAt;
    if (!isPresent()) {
      closing = undefined;
      await news();
    } else if (closing) closing = await decide(closing);
    else if (client.getState().status !== "signed-in") await news();
    else if (parts.hasReturned()) await probe(client);
    // A clock that was set back doesn't count.
    else if (since >= 0 && since < PACE_MS) await news(PACE_MS - since);
    else closing = await attempt();
  }
}
