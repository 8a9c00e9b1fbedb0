import type { Client } from "../client-interface.js";
import type { SessionState } from "../session-state.js";
import type { StreamEnvironment } from "./stream-environment.js";

/** Milliseconds before a new connection, unless the server says how many. */
export const RETRY_MS = 2_000;

/** Why a connection is aborted whose server can't be heard any more. */
export const LOST = "lost";

/**
 * The heartbeats that a connection may miss. The first interval without one may have begun just
 * after the last byte, so one more has to pass.
 */
const MISSED_BEATS = 3;

/** Milliseconds between two looks at the clock, for a connection that needn't beat. */
const TICK_MS = 30_000;

/** The shortest and the longest interval of heartbeats that counts, in milliseconds. */
const [LEAST_BEAT_MS, MOST_BEAT_MS] = [1_000, 3_600_000];

/** Milliseconds. A timer that is later has slept: browsers delay those of hidden pages by a minute. */
const LATE_MS = 90_000;

export interface WatchedConnection {
  readonly client: Client;
  readonly env: StreamEnvironment;
  readonly connection: AbortController;
  /** Milliseconds between two heartbeats. NaN or 0, for example: the connection needn't beat. */
  readonly beatMs: number;
}

/**
 * Aborts a connection that has gone silent, because a path can drop it without a word. One that
 * needn't beat is lost if a probe fails after the network has come back, or the computer has slept.
 *
 * @returns what to call with each byte
 */
export function watchConnection({
  client,
  env,
  connection,
  beatMs,
}: WatchedConnection): () => void {
  const { signal } = connection;
  const beats = beatMs >= LEAST_BEAT_MS && beatMs <= MOST_BEAT_MS;
  let silent = 0;
  let timer: number | undefined;
  let isChecking = false;
  const check = () => {
    if (isChecking) return;
    isChecking = true;
    // Not all browsers at once.
    const pause = RETRY_MS * (1 + env.Math.random());
    env.setTimeout(() => void confirm(), pause);
  };
  const confirm = async () => {
    if (!signal.aborted && (await probe(client)).status === "unavailable") connection.abort(LOST);
    isChecking = false;
  };
  const tick = () => {
    const pause = (beats ? beatMs : TICK_MS) * (1 + env.Math.random() / 10);
    const due = env.Date.now() + pause;
    timer = env.setTimeout(() => {
      if (!beats) {
        if (env.Date.now() - due > LATE_MS) check();
      } else if (++silent > MISSED_BEATS) {
        connection.abort(LOST);
        return;
      }
      tick();
    }, pause);
  };
  tick();
  if (!beats) env.addEventListener("online", check, { signal });
  signal.addEventListener("abort", () => env.clearTimeout(timer));
  return () => {
    silent = 0;
  };
}

const probes = new WeakMap<Client, Promise<SessionState>>();

/** Sends a probe, unless another connection of the client waits for one. */
export function probe(client: Client): Promise<SessionState> {
  const running = probes.get(client) ?? client.refresh().finally(() => probes.delete(client));
  probes.set(client, running);
  return running;
}
