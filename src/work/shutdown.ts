import type { Clock } from "../clock.js";

/** Something that is open for longer than a response takes: a stream, a socket, a transfer. */
export interface Open {
  /** Ends it in order. Absent: it is finite, so a shutdown waits for it. */
  readonly end?: () => void;
  /** Breaks it off, when the time limit has passed. */
  readonly destroy: () => void;
}

interface Entry {
  readonly open: Open;
  /** Its index in the list, which has no order. */
  place: number;
}

/** Seconds that a shutdown waits if the application doesn't say. */
const DEFAULT_TIMEOUT_SECONDS = 10;

/** The most that a timer of Node.js can wait. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** How a shutdown goes. */
export interface Closing {
  readonly clock: Clock;
  /** Seconds after which the rest is broken off. */
  readonly timeout: number | undefined;
  /** Resolves when no work is running that no response waits for. */
  readonly settled: () => Promise<void>;
  /** Gets the number of what is broken off. */
  readonly onLate: (count: number) => void;
}

/** What one `auth` object has open, and how it ends when the process stops. */
export class Shutdown {
  /**
   * Not a Set: each time its table is made anew, V8 keeps the one before, and with it the requests
   * that were open, until the next full garbage collection. A proxied request cost half as much
   * again.
   */
  readonly #open: Entry[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #resources = new Set<() => void>();
  #closed: Promise<void> | undefined;
  /**
   * Breaks something off when the time limit passes, once the shutdown has ended: a request that a
   * guard held may open something later. Returns a function that cancels it.
   */
  #breakOffInTime: ((open: Open) => () => void) | undefined;
  #onEmpty: (() => void) | undefined;

  /** Whether new streams and sockets are refused. */
  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  /**
   * Remembers what is open. During a shutdown, it is ended at once.
   * @returns a function to call when it has closed
   */
  add(open: Open): () => void {
    const entry: Entry = { open, place: this.#open.length };
    this.#open.push(entry);
    if (this.isClosing) open.end?.();
    const cancel = this.#breakOffInTime?.(open);
    return () => {
      cancel?.();
      this.#remove(entry);
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

  /** Ends everything. Never rejects. Every call returns the promise of the first one. */
  close({ clock, timeout, settled, onLate }: Closing): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      const seconds = timeout !== undefined && timeout >= 0 ? timeout : DEFAULT_TIMEOUT_SECONDS;
      // The clock's timers keep no process alive; this one does.
      const alive = setInterval(() => undefined, 60_000);
      const limit = Math.min(seconds * 1000, LONGEST_TIMER_MS);
      const since = clock.monotonic();
      let isOver = false;
      const done = () => {
        if (isOver) return;
        isOver = true;
        cancel();
        clearInterval(alive);
        this.#breakOffInTime = (open) =>
          clock.timer(Math.max(0, since + limit - clock.monotonic()), () => {
            onLate(1);
            attempt(() => {
              open.destroy();
            });
          });
        for (const { open } of [...this.#open])
          attempt(() => {
            open.destroy();
          });
        for (const release of this.#resources) attempt(release);
        resolve();
      };
      const cancel = clock.timer(limit, () => {
        onLate(this.#open.length);
        done();
      });
      // Later, because `isClosing` is still false here.
      queueMicrotask(() => {
        for (const listener of [...this.#listeners]) this.#call(listener);
        for (const { open } of [...this.#open]) attempt(() => open.end?.());
        void this.#drained(settled).then(done);
      });
    });
    return this.#closed;
  }

  #remove(entry: Entry): void {
    if (this.#open[entry.place] !== entry) return;
    const last = this.#open.pop();
    if (last !== undefined && last !== entry) {
      this.#open[entry.place] = last;
      last.place = entry.place;
    }
    if (this.#open.length === 0) this.#onEmpty?.();
  }

  #call(listener: () => void): void {
    if (this.#listeners.delete(listener)) attempt(listener);
  }

  /** What is open may begin a refresh, so both are looked at until neither is left. */
  async #drained(settled: () => Promise<void>): Promise<void> {
    do {
      if (this.#open.length > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
      await settled().catch(() => undefined);
    } while (this.#open.length > 0);
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
