import { StoreUnavailableError } from "../../errors.js";
import { isLocked, unavailable } from "./failure.js";
import type { Connection } from "./schema.js";

/** Maximum number of jobs in one transaction. */
const BATCH_WRITES = 64;
/**
 * Milliseconds after which a transaction takes no further job, so that other work gets its turn.
 */
const BATCH_LIMIT_MS = 3;
/** Longest pause between two tries for the write lock, in milliseconds. */
const LONGEST_PAUSE_MS = 16;

interface Job {
  readonly run: (connection: Connection) => unknown;
  readonly durable: boolean;
  /** On `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The writes of this process, in their order. Writes of one turn of the event loop share a
 * transaction, and so one wait for the disk. While another process has the write lock, one timer
 * tries again for all. A job that has not begun by its deadline is rejected and never runs.
 *
 * @param timeout milliseconds that a job may wait
 */

export function createWriteQueue(connect: () => Connection, timeout: number) {
  const jobs: Job[] = [];
  let isScheduled = false;
  let tries = 0;
  const onIdle: (() => void)[] = [];
  let synchronous: { connection: Connection; durable: boolean } | undefined;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(next);
  }

  /** Random pauses, so that processes do not meet again and again. */
  function tryAgain(): void {
    tries += 1;
    isScheduled = true;
    const pause = 1 + Math.random() * Math.min(LONGEST_PAUSE_MS, 2 ** tries);
    setTimeout(next, pause);
  }

  function next(): void {
    isScheduled = false;
    rejectLate();
    if (jobs.length > 0) runBatch();
    if (jobs.length > 0) {
      schedule();
      return;
    }
    for (const resolve of onIdle.splice(0)) resolve();
  }

  /** Every job may wait equally long, so the late jobs are the first. */
  function rejectLate(): void {
    const now = performance.now();
    while (jobs[0] !== undefined && jobs[0].deadline <= now) {
      jobs.shift()?.reject(new StoreUnavailableError("The session store didn't respond in time."));
    }
  }

  function runBatch(): void {
    let connection: Connection;
    try {
      connection = connect();
      begin(connection);
    } catch (error) {
      if (isLocked(error)) tryAgain();
      else for (const { reject } of jobs.splice(0)) reject(unavailable(error));
      return;
    }
    tries = 0;
    const [results, failure] = runSome(connection, jobs.slice(0, BATCH_WRITES));
    const batch = jobs.splice(0, results.length);
    const failed = failure === undefined ? undefined : jobs.shift();
    try {
      connection.statements.commit.run();
    } catch (error) {
      rollBack(connection);
      for (const { reject } of batch) reject(unavailable(failure ?? error));
      batch.length = 0;
    }
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
    failed?.reject(unavailable(failure));
  }

  /**
   * SQLite takes the setting outside a transaction only, and when it is prepared, so no prepared
   * statement can repeat it.
   */
  function begin(connection: Connection): void {
    const durable = jobs.slice(0, BATCH_WRITES).some((job) => job.durable);
    if (synchronous?.connection !== connection || synchronous.durable !== durable) {
      connection.database.exec(`PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}`);
      synchronous = { connection, durable };
    }
    connection.statements.begin.run();
  }

  return {
    /**
     * Runs a job in a transaction and returns its result after the commit.
     *
     * @param durable whether the commit waits until the disk has the write. Otherwise a power cut
     *   may lose the last moments; a crash of the process loses nothing, and neither damages the
     *   database.
     * @throws StoreUnavailableError nothing was written, unless the commit failed
     */
    add<Result>(run: (connection: Connection) => Result, durable: boolean): Promise<Result> {
      return new Promise((resolve, reject) => {
        jobs.push({ run, durable, deadline: performance.now() + timeout, resolve, reject });
        schedule();
      });
    },

    /** Resolves when no job waits. */
    idle(): Promise<void> {
      if (jobs.length === 0) return Promise.resolve();
      return new Promise((resolve) => onIdle.push(resolve));
    },
  };
}

/**
 * Runs jobs until one fails or the time is over. A statement that SQLite refuses leaves the others
 * of its transaction as they are. After a worse failure SQLite has rolled back, and the commit
 * fails.
 */
function runSome(
  connection: Connection,
  jobs: readonly Job[],
): [results: unknown[], failure: unknown] {
  const end = performance.now() + BATCH_LIMIT_MS;
  const results: unknown[] = [];
  for (const { run } of jobs) {
    try {
      results.push(run(connection));
    } catch (error) {
      return [results, error];
    }
    if (performance.now() >= end) break;
  }
  return [results, undefined];
}

function rollBack({ statements }: Connection): void {
  try {
    statements.rollback.run();
  } catch {
    // SQLite has already rolled back.
  }
}
