import type { Clock } from "../clock.js";

/** Something that is open for longer than a response takes: a stream, a socket, a transfer. */
export interface Open {
  /** Ends it in order. Absent: it is finite, so a shutdown waits for it. */
  readonly end?: () => void;
  /** Breaks it off, when the time limit has passed. */
  readonly destroy: () => void;
}

/** Seconds that a shutdown waits if the application doesn't say. */
const TIMEOUT = 10;

/** The most milliseconds that a timer of Node.js can wait. */
const LONGEST = 2 ** 31 - 1;

/** What one `auth` object has open, and how it ends when the process stops. */
export class Shutdown {
  readonly #open = new Set<Open>();
  readonly #listeners = new Set<() => void>();
  readonly #resources = new Set<() => void>();
  #closed: Promise<void> | undefined;
  /** Whether the time limit of the shutdown has passed. */
  #isLate = false;
  #onEmpty: (() => void) | undefined;

  /** Whether new streams and sockets are refused. */
  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  /**
   * Remembers what is open. During a shutdown, it is ended at once; after the time limit, broken off.
   * @returns a function to call when it has closed
   */
  add(open: Open): () => void {
    this.#open.add(open);
    if (this.#isLate) attempt(open.destroy);
    else if (this.isClosing) open.end?.();
    return () => {
      this.#open.delete(open);
      if (this.#open.size === 0) this.#onEmpty?.();
    };
  }

  /**
   * Calls a function when a shutdown begins; if it has begun, at once, asynchronously. The shutdown
   * doesn't wait for what it does.
   *
   * @returns a function that removes it
   */
  onClosing(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.isClosing) queueMicrotask(() => this.#call(listener));
    return () => void this.#listeners.delete(listener);
  }

  /** Releases something, such as idle connections, once nothing is open any more. */
  atEnd(release: () => void): void {
    this.#resources.add(release);
  }

  /**
   * Ends everything. Never rejects. Every call returns the promise of the first one.
   *
   * @param timeout seconds after which the rest is broken off
   * @param settled resolves when no work is running that no response waits for
   * @param onLate gets the number of what is broken off
   */
  close(
    clock: Clock,
    timeout: number | undefined,
    settled: () => Promise<void>,
    onLate: (count: number) => void,
  ): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      const seconds = timeout !== undefined && timeout >= 0 ? timeout : TIMEOUT;
      // The clock's timers keep no process alive; this one does.
      const alive = setInterval(() => undefined, 60_000);
      let isDone = false;
      const done = () => {
        isDone = true;
        clearInterval(alive);
        for (const release of this.#resources) attempt(release);
        resolve();
      };
      // Also after everything has closed: a request that a guard held may open something later.
      clock.timer(Math.min(seconds * 1000, LONGEST), () => {
        this.#isLate = true;
        if (!isDone || this.#open.size > 0) onLate(this.#open.size);
        for (const open of [...this.#open]) attempt(open.destroy);
        done();
      });
      // Later, because `isClosing` is still false here.
      queueMicrotask(() => {
        for (const listener of [...this.#listeners]) this.#call(listener);
        for (const { end } of [...this.#open]) if (end !== undefined) attempt(end);
        void this.#drained(settled).then(done);
      });
    });
    return this.#closed;
  }

  #call(listener: () => void): void {
    if (this.#listeners.delete(listener)) attempt(listener);
  }

  /** What is open may begin a refresh, so both are looked at until neither is left. */
  async #drained(settled: () => Promise<void>): Promise<void> {
    do {
      if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
      await settled().catch(() => undefined);
    } while (this.#open.size > 0);
  }
}

/** A shutdown goes on, whatever one of its parts does. */
function attempt(task: () => void): void {
  try {
    task();
  } catch {
    // It was closed already.
  }
}
