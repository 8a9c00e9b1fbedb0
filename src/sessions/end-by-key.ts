import { epochSeconds } from "../clock.js";
import { StoreUnavailableError } from "../errors.js";
import type { Stored } from "../ports/session-store.js";
import { traceOf, type TracedReason } from "./end-trace.js";
import { readSummary } from "./entry-summary.js";
import type { SessionEntriesOptions } from "./session-entries.js";
import type { EntryPages } from "./store-failures.js";

/** Store operations at a time. */
const CONCURRENT_ENDS = 16;
/**
 * Walks through a list. If sessions remain after them, the store is broken or the user signs in all
 * the time.
 */
const MAX_WALKS = 8;

export interface SessionEndingOptions extends Pick<
  SessionEntriesOptions,
  "store" | "sealer" | "clock"
> {
  /** Called with the key of each session that was ended. */
  readonly onEnded?: (key: string, reason: TracedReason) => void;
}

/** How sessions end. */
export interface Ending {
  readonly reason: TracedReason;
  /**
   * Called for each session as soon as it has ended, also if a later one fails. Not called if its
   * end has been announced.
   */
  readonly announce: () => void;
}

/** Ends sessions without their cookies. */
export interface SessionEnding {
  /**
   * Deletes the sessions with these keys and leaves their traces.
   *
   * @returns how many sessions it ended, without those whose end has been announced, such as after
   *   a session limit
   * @throws StoreUnavailableError some sessions may have ended
   */
  end(keys: readonly string[], ending: Ending): Promise<number>;
  /**
   * Ends the listed sessions that `belongs` accepts. It deletes each page before it reads the next
   * one, so each attempt makes progress, and memory holds one page. Returns and throws the same as
   * `end`.
   */
  endListed(
    list: () => EntryPages,
    belongs: (key: string, stored: Stored) => boolean,
    ending: Ending,
  ): Promise<number>;
}

export function createSessionEnding(options: SessionEndingOptions): SessionEnding {
  const { store, sealer, clock, onEnded } = options;

  async function endOne(key: string, { reason, announce }: Ending): Promise<boolean> {
    const removed = await store.delete(key);
    if (removed === undefined) return false;
    // Without a trace, the session has ended too. The removed entry may itself be the trace of an
    // earlier call.
    const trace = traceOf(sealer, key, { reason, now: epochSeconds(clock) });
    await store.insert(key, trace).catch(() => false);
    if (removed.subject === undefined) return false;
    onEnded?.(key, reason);
    if (readSummary(sealer, key, removed)?.isEnded === true) return false;
    announce();
    return true;
  }

  async function end(keys: readonly string[], ending: Ending): Promise<number> {
    let ended = 0;
    for (let start = 0; start < keys.length; start += CONCURRENT_ENDS) {
      const results = await Promise.all(
        keys.slice(start, start + CONCURRENT_ENDS).map((key) => endOne(key, ending)),
      );
      ended += results.filter(Boolean).length;
    }
    return ended;
  }

  return {
    end,
    async endListed(list, belongs, ending) {
      let ended = 0;
      for (let walk = 0; walk < MAX_WALKS; walk += 1) {
        let found = 0;
        for await (const entries of list()) {
          const keys = [...entries].flatMap(([key, stored]) => (belongs(key, stored) ? key : []));
          found += keys.length;
          ended += await end(keys, ending);
        }
        // Listed again after each walk: a sign-in that just finished may have moved a session to a
        // new key.
        if (found === 0) return ended;
      }
      throw new StoreUnavailableError(
        "The session store still lists sessions that were just deleted.",
      );
    },
  };
}
