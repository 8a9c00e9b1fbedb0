import type { RedisLine } from "./connection.js";
import { withinTime } from "../time-limit.js";

/** The server is no primary (any more), or not yet one that serves. */
const USELESS = /^(LOADING|MASTERDOWN|READONLY)\b/;
/** A script repeats inside its own error what the command said. */
const REPLICA = /^MASTERDOWN\b|\bREADONLY\b/;
/** The server's errors begin with a code; what a client says itself does not. */
const REPLY = /^[A-Z]{2,}\b/;

/**
 * Gives up connections on which nothing is answered any more. Where a machine has lost power, or a NAT has dropped the flow,
 * nobody tells the client: it keeps the dead connection for many minutes, or for as long as it is used.
 *
 * An operation that fails begins a watch: each line is asked with a PING, and one that is silent for a whole time limit is
 * given up, if it still has the same connection.
 */
export class RedisSilence {
  readonly #lines: () => readonly RedisLine[];
  readonly #timeout: number;
  #isWatching = false;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #answers = 0;

  /** @param timeout milliseconds */
  constructor(lines: () => readonly RedisLine[], timeout: number) {
    this.#lines = lines;
    this.#timeout = timeout;
  }

  /** Something has been answered, on whichever line. */
  answered(): void {
    this.#answers += 1;
  }

  /** An operation has failed for this reason. Never throws. */
  failed(error: unknown): void {
    if (error instanceof Error && REPLICA.test(error.message)) this.#leaveReplica();
    else if (!isAnswer(error)) this.#watch();
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const lines = this.#lines();
    const watches = lines.map((line) => this.#watchLine(line, lines.length === 1));
    void Promise.allSettled(watches).then(() => {
      this.#isWatching = false;
    });
  }

  async #watchLine(line: RedisLine, isOnly: boolean): Promise<void> {
    const connection = line.current();
    const answers = this.#answers;
    if (connection === undefined || (await isAnswered(line, this.#timeout))) return;
    // A slow server is not silent. Who answers cannot be told where there are several.
    if (isOnly && this.#answers !== answers) return;
    if (line.current() === connection) line.reconnect();
  }

  /** A primary that has been demoted still reads, and so shows sessions that have been deleted. */
  #leaveReplica(): void {
    const now = performance.now();
    if (now - this.#refusedAt < this.#timeout) return;
    this.#refusedAt = now;
    for (const line of this.#lines()) if (line.current() !== undefined) line.reconnect();
  }
}

/** An error of the server is an answer, too. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && REPLY.test(error.message) && !USELESS.test(error.message);
}

/** Also when a client refuses at once, the line has the whole time to come back to life. */
function isAnswered(line: RedisLine, timeout: number): Promise<boolean> {
  const answered = new Promise<boolean>((resolve) => {
    const ping = async (): Promise<unknown> => line.ping();
    ping().then(
      () => {
        resolve(true);
      },
      (error: unknown) => {
        if (isAnswer(error)) resolve(true);
      },
    );
  });
  return withinTime(answered, timeout).catch(() => false);
}
