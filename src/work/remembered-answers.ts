import type { Clock } from "../clock.js";
import { inTime } from "./deadline.js";
import { createSlots, type Slots } from "./slots.js";

export interface RememberedAnswersOptions<Answer> {
  /** Undefined: there is no answer for this key. */
  readonly ask: (key: string) => Promise<Answer | undefined>;
  readonly clock: Clock;
  /** The most answers that are remembered. The least recently used one goes. */
  readonly limit: number;
  /** Returns the error of a question that takes too long, or that there is no place for. */
  readonly late: () => Error;
}

/** Milliseconds for which an answer counts. */
export const ANSWER_MS = 300_000;
/** Milliseconds for which a key counts as unknown, and how many of these are remembered. */
const UNKNOWN_MS = 10_000;
const UNKNOWN_LIMIT = 1_000;

/** Questions that are asked at a time, and the milliseconds for each, and for waiting for a place. */
const CONCURRENCY = 16;
const PATIENCE_MS = 5_000;

interface Remembered<Answer> {
  readonly answer: Answer;
  readonly until: number;
}

/**
 * The answers of an application's function that looks something up by a key. Each key is asked for
 * once at a time. Strangers can make keys up, so unknown keys have a list of their own, and push out
 * no answer.
 */
export class RememberedAnswers<Answer> {
  readonly #options: RememberedAnswersOptions<Answer>;
  readonly #slots: Slots;
  readonly #answers = new Map<string, Remembered<Answer>>();
  /** Until when each key counts as unknown. */
  readonly #unknown = new Map<string, number>();
  readonly #asking = new Map<string, Promise<Answer | undefined>>();

  constructor(options: RememberedAnswersOptions<Answer>) {
    const { clock } = options;
    this.#options = options;
    this.#slots = createSlots({
      limit: CONCURRENCY,
      reason: "busy",
      clock,
      patience: PATIENCE_MS,
    });
  }

  /** How many keys are remembered, with and without an answer. */
  get size(): number {
    return this.#answers.size + this.#unknown.size;
  }

  /** The last answer, even if it no longer counts. */
  last(key: string): Answer | undefined {
    return this.#answers.get(key)?.answer;
  }

  /** Whether the answer, or that there is none, is known and counts. */
  isKnown(key: string): boolean {
    const now = this.#options.clock.monotonic();
    const known = this.#answers.get(key);
    if (known === undefined) return (this.#unknown.get(key) ?? -Infinity) > now;
    if (known.until <= now) return false;
    this.#answers.delete(key);
    this.#answers.set(key, known);
    return true;
  }

  /**
   * Asks for the answer, or waits for the request that is asking already.
   *
   * @throws what the function throws; `late()` of the options
   */
  ask(key: string): Promise<Answer | undefined> {
    const running = this.#asking.get(key);
    if (running !== undefined) return running;
    const asked = this.#askNow(key).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
  }

  async #askNow(key: string): Promise<Answer | undefined> {
    const { ask, clock, late, limit } = this.#options;
    const release = await this.#slots.take().catch(() => {
      throw late();
    });
    let answer: Answer | undefined;
    try {
      answer = await inTime(ask(key), { clock, milliseconds: PATIENCE_MS, late });
    } finally {
      release();
    }
    const now = clock.monotonic();
    this.#answers.delete(key);
    this.#unknown.delete(key);
    if (answer === undefined) put(this.#unknown, [key, now + UNKNOWN_MS], UNKNOWN_LIMIT);
    else put(this.#answers, [key, { answer, until: now + ANSWER_MS }], limit);
    return answer;
  }
}

function put<Value>(
  into: Map<string, Value>,
  [key, value]: readonly [string, Value],
  limit: number,
): void {
  into.set(key, value);
  const [oldest] = into.keys();
  if (into.size > limit && oldest !== undefined) into.delete(oldest);
}
