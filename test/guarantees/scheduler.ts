import type { Clock } from "../../src/clock.js";
import { TestClock } from "../../src/testing/test-clock.js";
import type { Random } from "./random.js";

/** A process of the application, as far as the scheduler knows it. */
export interface Process {
  readonly name: string;
  crashed: boolean;
}

/**
 * On whose behalf something happens: what a step causes is its owner's too, until the next step.
 */
export interface Owner {
  readonly process: Process | undefined;
  readonly actor: Actor | undefined;
}

export interface Actor {
  /** `probe#2` */
  readonly name: string;
  readonly kind: string;
  /**
   * How readily its steps are chosen, against 1: some are slow enough for others to do all their
   * work meanwhile.
   */
  readonly pace: number;
  /** A fault was injected into something that it did. */
  faulted: boolean;
}

/** What befalls an operation outside the process. `after`: the work is done, the answer is lost. */
export type Fault = "none" | "before" | "after" | "hang";

export interface Operation<Result> {
  readonly label: string;
  /** Runs at the first of the two scheduling points. */
  readonly work: () => Result | Promise<Result>;
  /** What befalls it; asked when it would do its work. */
  readonly fault: () => Fault;
  /** What the caller gets in place of an answer. */
  readonly failure: (how: "unreachable" | "timeout") => Error;
  /** Milliseconds after which the caller gives up. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** Milliseconds that each of the two points is held back. */
  readonly delays?: readonly [number, number];
  /** The work may be done and nobody will ever hear of it. */
  readonly lost?: () => void;
  /** Called in the step in which the caller gets its answer. */
  readonly answered?: (result: Result) => void;
}

interface Step {
  readonly label: string;
  readonly owner: Owner;
  /** Neither before this moment of the clock's `monotonic()`, nor before this many steps. */
  readonly notBefore: number;
  readonly notBeforeStep: number;
  readonly run: () => void;
}

interface Timer {
  readonly due: number;
  readonly owner: Owner;
  readonly task: () => void;
}

interface Outstanding {
  readonly isWrite: boolean;
  readonly process: Process;
  abandon(): void;
}

/** A timer runs at most this late, in milliseconds: a process that is busy, not one that sleeps. */
const LAG = 50;
/**
 * Milliseconds in which a process tries no stamp after one has failed, with the lag of a timer on
 * each side.
 */
const WRITE_PAUSE = 1_000 + 2 * LAG;

const NOBODY: Owner = { process: undefined, actor: undefined };

/**
 * Decides everything: which pending step runs next, when time passes, what fails. Everything that
 * runs between two steps is what the first of them caused; there is no I/O, so two turns of the
 * event loop settle it.
 */
export class Scheduler {
  readonly clock = new TestClock();
  readonly random: Random;
  readonly trace: string[] = [];
  /** Told of what happens, by kind. */
  readonly count: (kind: string) => void;
  /**
   * Steps in the order they came, no time lost, no faults: for preparing and for looking at the
   * end.
   */
  orderly = false;
  /** Time stands still while anything can be done. */
  prompt = false;
  current: Owner = NOBODY;
  #stepsTaken = 0;
  #steps: Step[] = [];
  #timers: Timer[] = [];
  readonly #outstanding = new Set<Outstanding>();
  /** When a process last saw a write fail, on the clock's `monotonic()`. */
  readonly #writeFailedAt = new Map<Process, number>();

  constructor(random: Random, count: (kind: string) => void) {
    this.random = random;
    this.count = count;
  }

  get stepsTaken(): number {
    return this.#stepsTaken;
  }

  /** Something that happens when its turn comes. */
  add(
    label: string,
    owner: Owner,
    run: () => void,
    { delay = 0, steps = 0 }: { delay?: number; steps?: number } = {},
  ): void {
    const notBefore = this.clock.monotonic() + delay;
    this.#steps.push({ label, owner, run, notBefore, notBeforeStep: this.#stepsTaken + steps });
  }

  /**
   * The clock of one process: its timers are steps as any other, once they are due, and die with
   * it.
   */
  clockOf(process: Process): Clock {
    const { clock } = this;
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      timer: (milliseconds, task) =>
        this.#timer(milliseconds, { process, actor: this.current.actor }, task),
    };
  }

  #timer(milliseconds: number, owner: Owner, task: () => void): () => void {
    const timer = { due: this.clock.monotonic() + Math.max(0, milliseconds), owner, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Whether a write of this process is outstanding, or has failed within a second. */
  hasPausedWrites(process: Process): boolean {
    const failedAt = this.#writeFailedAt.get(process) ?? -Infinity;
    return (
      this.clock.monotonic() - failedAt <= WRITE_PAUSE ||
      [...this.#outstanding].some((each) => each.isWrite && each.process === process)
    );
  }

  /** Two scheduling points: before the work, and after it before the answer. */
  operation<Result>(process: Process, operation: Operation<Result>): Promise<Result> {
    const { label, work, failure, lost, signal } = operation;
    const [delayBefore, delayAfter] = this.orderly ? [0, 0] : (operation.delays ?? [0, 0]);
    const owner: Owner = { process, actor: this.current.actor };
    const isWrite = /^store\.(?:touch|replace)\b/.test(label);
    return new Promise<Result>((resolve, reject) => {
      let state: "waiting" | "worked" | "over" = "waiting";
      const outstanding = { process, isWrite, abandon: () => giveUp(undefined) };
      this.#outstanding.add(outstanding);
      const end = () => {
        state = "over";
        this.#outstanding.delete(outstanding);
        cancelTimer?.();
        signal?.removeEventListener("abort", onAbort);
      };
      /** The caller hears nothing more. What was on its way may arrive soon, late, or never. */
      const giveUp = (error: Error | undefined) => {
        if (state === "over") return;
        if (owner.actor !== undefined) owner.actor.faulted = true;
        if (isWrite) this.#writeFailedAt.set(process, this.clock.monotonic());
        const arrives =
          state === "worked" ? "done" : this.random.pick(["soon", "late", "never", "never"]);
        end();
        lost?.();
        this.#note(
          `${label}: nobody waits for the answer any more, the work arrives ${arrives}`,
          owner,
        );
        const orphan: Owner = { process: undefined, actor: owner.actor };
        // Whatever comes of it, nobody is told.
        const arrive = () => void (async () => work())().catch(() => undefined);
        if (arrives === "soon" || arrives === "late") {
          this.add(`${label} arrives ${arrives}`, orphan, arrive, {
            steps: arrives === "soon" ? 0 : this.random.below(12),
          });
        }
        if (error !== undefined) reject(error);
      };
      const onAbort = () => giveUp(failure("timeout"));
      const cancelTimer =
        operation.timeout === undefined
          ? undefined
          : this.#timer(operation.timeout, owner, () => giveUp(failure("timeout")));
      signal?.addEventListener("abort", onAbort);
      const refuse = () => {
        if (owner.actor !== undefined) owner.actor.faulted = true;
        if (isWrite) this.#writeFailedAt.set(process, this.clock.monotonic());
        end();
        reject(failure("unreachable"));
      };
      const point = async () => {
        if (state !== "waiting") return;
        const fault = this.orderly ? "none" : operation.fault();
        if (fault !== "none") {
          this.count(`fault ${fault}`);
          this.#note(`${label}: ${fault === "hang" ? "hangs" : `fails ${fault} its work`}`, owner);
        }
        if (fault === "hang") {
          if (operation.timeout === undefined && signal === undefined) refuse();
          return;
        }
        if (fault === "before") {
          refuse();
          return;
        }
        state = "worked";
        let result: Result;
        try {
          const working = work();
          result = working instanceof Promise ? await working : working;
        } catch (error) {
          this.add(`${label} says no`, owner, () => {
            if (state !== "worked") return;
            end();
            reject(error instanceof Error ? error : new Error(String(error)));
          });
          return;
        }
        const answer = () => {
          if (state !== "worked") return;
          if (fault === "after") {
            lost?.();
            refuse();
            return;
          }
          end();
          operation.answered?.(result);
          resolve(result);
        };
        this.add(`${label} answers`, owner, answer, { delay: delayAfter });
      };
      this.add(label, owner, () => void point(), { delay: delayBefore });
    });
  }

  /** The process is gone: what it waited for never continues, and it asks for nothing any more. */
  crash(process: Process): void {
    process.crashed = true;
    for (const outstanding of [...this.#outstanding])
      if (outstanding.process === process) outstanding.abandon();
    this.#steps = this.#steps.filter(({ owner }) => owner.process !== process);
    this.#timers = this.#timers.filter(({ owner }) => owner.process !== process);
  }

  /** False: nothing is left to happen. */
  async step(): Promise<boolean> {
    const next = this.#choose();
    if (next === undefined) return this.#passTime();
    this.#stepsTaken += 1;
    this.current = next.owner;
    if (next.label !== "") this.#note(next.label, next.owner);
    next.run();
    await turn();
    // Between two pages of a list, the code itself waits for a turn.
    await turn();
    this.current = NOBODY;
    return true;
  }

  /** Time with nothing in it, for preparing. */
  advance(milliseconds: number): void {
    this.clock.advance(milliseconds);
  }

  #choose(): { label: string; owner: Owner; run: () => void } | undefined {
    const now = this.clock.monotonic();
    const due = this.#timers.filter((timer) => timer.due <= now);
    const ready = this.#steps.filter(
      (step) => step.notBefore <= now && step.notBeforeStep <= this.#stepsTaken,
    );
    // When only steps wait that are to come later, later is now.
    const early = this.#steps.filter((step) => step.notBefore <= now);
    const steps = ready.length > 0 || due.length > 0 || this.#timers.length > 0 ? ready : early;
    const all = due.length + steps.length;
    if (all === 0) return undefined;
    if (!this.orderly && !this.prompt && due.length === 0 && this.random.chance(0.15))
      return undefined;
    const index = this.orderly ? 0 : this.#weigh([...steps, ...due]);
    const step = steps[index];
    if (step !== undefined) {
      this.#steps.splice(this.#steps.indexOf(step), 1);
      return step;
    }
    const timer = due[index - steps.length];
    if (timer === undefined) return undefined;
    this.#timers.splice(this.#timers.indexOf(timer), 1);
    return { label: "a timer", owner: timer.owner, run: timer.task };
  }

  #weigh(choices: readonly { readonly owner: Owner }[]): number {
    const paceOf = ({ owner }: { readonly owner: Owner }) => owner.actor?.pace ?? 1;
    let left = this.random.next() * choices.reduce((sum, choice) => sum + paceOf(choice), 0);
    const index = choices.findIndex((choice) => (left -= paceOf(choice)) < 0);
    return Math.max(0, index);
  }

  /** To the next moment at which something can happen, or a part of the way there. */
  #passTime(): boolean {
    const now = this.clock.monotonic();
    const moments = [
      ...this.#timers.map(({ due }) => due),
      ...this.#steps.map(({ notBefore }) => notBefore),
    ].filter((at) => at > now);
    if (moments.length === 0) {
      if (this.#steps.length + this.#timers.length === 0) return false;
      this.clock.advance(this.random.below(500));
      this.#stepsTaken += 1;
      return true;
    }
    const whole = Math.min(...moments) - now;
    const part =
      this.orderly || this.random.chance(0.7)
        ? whole + (this.orderly ? 0 : this.random.below(LAG))
        : this.random.below(whole);
    this.clock.advance(part);
    this.#stepsTaken += 1;
    return true;
  }

  note(text: string): void {
    this.#note(text, this.current);
  }

  #note(text: string, { process, actor }: Owner): void {
    const seconds = (this.clock.monotonic() / 1000).toFixed(3).padStart(9);
    this.trace.push(
      `${seconds} ${(process?.name ?? "").padEnd(3)} ${(actor?.name ?? "").padEnd(12)} ${text}`,
    );
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
