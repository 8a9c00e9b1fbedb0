import { StoreUnavailableError } from "../../errors.js";
import { isLocked, unavailable } from "./failure.js";
import type { Connection } from "./schema.js";

/** Jobs of one transaction at most. */
const BATCH = 64;
/** Milliseconds after which a transaction takes in no further job, so that other work gets its turn. */
const BATCH_MILLISECONDS = 3;
/** The longest pause, in milliseconds, between two tries for the write lock. */
const LONGEST_PAUSE = 16;

interface Job {
  readonly run: (connection: Connection) => unknown;
  readonly durable: boolean;
  /** On `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The writes of this process, in the order in which they came. What has come within one turn of the event loop shares a
 * transaction, and so one wait for the disk; while another process holds the write lock, one timer tries again for all.
 * A job that was not begun by its deadline is rejected and never runs.
 */
export class WriteQueue {
  readonly #connect: () => Connection;
  readonly #timeout: number;
  #jobs: Job[] = [];
  #isScheduled = false;
  #tries = 0;
  /** How many of the next jobs get a transaction each, since one of them made a shared one fail. */
  #alone = 0;
  #synchronous: { connection: Connection; durable: boolean } | undefined;
  #onIdle: (() => void)[] = [];

  /** @param timeout milliseconds that a job may wait */
  constructor(connect: () => Connection, timeout: number) {
    this.#connect = connect;
    this.#timeout = timeout;
  }

  /**
   * @param durable whether the result must outlive a power cut: the commit waits until the disk has it. Without, the last
   * moments before a power cut, not before a crash of the process, may be lost; never is the database damaged.
   * @throws StoreUnavailableError nothing was written, unless it says that the commit failed
   */
  add<Result>(run: (connection: Connection) => Result, durable: boolean): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ run, durable, deadline: performance.now() + this.#timeout, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves when no job waits. */
  idle(): Promise<void> {
    if (this.#jobs.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#next();
    });
  }

  /** The pauses are drawn, so that processes do not meet again and again; the timer keeps the process alive, as I/O would. */
  #tryAgain(): void {
    this.#tries += 1;
    this.#isScheduled = true;
    setTimeout(
      () => {
        this.#next();
      },
      1 + Math.random() * Math.min(LONGEST_PAUSE, 2 ** this.#tries),
    );
  }

  #next(): void {
    this.#isScheduled = false;
    this.#rejectLate();
    if (this.#jobs.length > 0) this.#runBatch(this.#jobs.slice(0, this.#alone > 0 ? 1 : BATCH));
    if (this.#jobs.length > 0) {
      this.#schedule();
      return;
    }
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** All wait equally long, so that the late ones are the first. */
  #rejectLate(): void {
    const now = performance.now();
    const firstInTime = this.#jobs.findIndex(({ deadline }) => deadline > now);
    const count = firstInTime < 0 ? this.#jobs.length : firstInTime;
    if (count > 0) this.#reject(count, new StoreUnavailableError("The session store did not answer in time."));
  }

  #runBatch(batch: readonly Job[]): void {
    let connection: Connection;
    try {
      connection = this.#connect();
      this.#begin(connection, batch);
    } catch (error) {
      if (isLocked(error)) this.#tryAgain();
      else this.#reject(this.#jobs.length, unavailable(error));
      return;
    }
    this.#tries = 0;
    let results: unknown[];
    try {
      results = runSome(batch, connection);
    } catch (error) {
      rollBack(connection);
      if (batch.length > 1) this.#alone = batch.length;
      else this.#reject(1, unavailable(error));
      return;
    }
    try {
      connection.statements.commit.run();
    } catch (error) {
      rollBack(connection);
      this.#reject(results.length, unavailable(error));
      return;
    }
    for (const [index, { resolve }] of this.#take(results.length).entries()) resolve(results[index] as never);
  }

  /** SQLite takes the setting outside a transaction only, and at once when it is prepared, so it cannot be kept prepared. */
  #begin(connection: Connection, batch: readonly Job[]): void {
    const durable = batch.some((job) => job.durable);
    if (this.#synchronous?.connection !== connection || this.#synchronous.durable !== durable) {
      connection.database.exec(`PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}`);
      this.#synchronous = { connection, durable };
    }
    connection.statements.begin.run();
  }

  #reject(count: number, error: StoreUnavailableError): void {
    for (const { reject } of this.#take(count)) reject(error);
  }

  #take(count: number): Job[] {
    this.#alone = Math.max(0, this.#alone - count);
    return this.#jobs.splice(0, count);
  }
}

/** At least one, and no more than there is time for. */
function runSome(batch: readonly Job[], connection: Connection): unknown[] {
  const end = performance.now() + BATCH_MILLISECONDS;
  const results: unknown[] = [];
  for (const job of batch) {
    results.push(job.run(connection));
    if (performance.now() >= end) break;
  }
  return results;
}

/** After some failures SQLite has rolled back already, and says so. */
function rollBack(connection: Connection): void {
  try {
    connection.statements.rollback.run();
  } catch {
    // Nothing is left to roll back.
  }
}
