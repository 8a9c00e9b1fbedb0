import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** A process that a supervisor keeps running. */
export interface Role {
  /** Short; a word. */
  readonly name: string;
  start(): ChildProcess;
  /** Settles when the process does its work. */
  ready(child: ChildProcess): Promise<unknown>;
}

export interface SupervisedOptions {
  /** Seconds from an end to the next start. */
  readonly pause: number;
  /** A line for the console. */
  readonly tell: (line: string) => void;
  /** The process has ended, or is there again. */
  readonly changed: () => void;
}

/** Milliseconds that a process has to end by itself. */
const PATIENCE = 5_000;

/**
 * Starts a process, starts it again when it ends, however it ended, and ends it for good when told
 * to.
 */
export class Supervised {
  readonly name: string;
  readonly #role: Role;
  readonly #options: SupervisedOptions;
  #child: ChildProcess | undefined;
  #isRunning = false;
  #isEnding = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(role: Role, options: SupervisedOptions) {
    this.name = role.name;
    this.#role = role;
    this.#options = options;
  }

  /** Of the last start. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** It does its work. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  get child(): ChildProcess | undefined {
    return this.#child;
  }

  /** Rejects when the process ends, or cannot be started, before it is ready. */
  async start(): Promise<void> {
    const child = this.#role.start();
    this.#child = child;
    let failure = "";
    const gone = new Promise<string>((resolve) => {
      child.once("error", (error) => (failure = error.message));
      child.once("close", (code, signal) => {
        resolve(
          failure !== "" ? failure : signal !== null ? `by ${signal}` : `with code ${String(code)}`,
        );
      });
    });
    const end = gone.then((how) => {
      throw new Error(`${this.name} (pid ${child.pid ?? "none"}) ended ${how}.`);
    });
    await Promise.race([this.#role.ready(child), end]);
    end.catch((error: unknown) => {
      this.#hasEnded(error);
    });
    this.#isRunning = true;
    this.#options.changed();
  }

  /** Resolves when the process is gone, also when it was gone before. */
  async end(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (
      child === undefined ||
      child.pid === undefined ||
      child.exitCode !== null ||
      child.signalCode !== null
    )
      return;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
    await gone;
    clearTimeout(timer);
  }

  #hasEnded(error: unknown): void {
    this.#isRunning = false;
    if (this.#isEnding) return;
    const { pause, tell, changed } = this.#options;
    tell(
      `${error instanceof Error ? error.message : String(error)} It starts again in ${pause} ${pause === 1 ? "second" : "seconds"}.`,
    );
    changed();
    this.#timer = setTimeout(() => {
      this.start().then(
        () => {
          tell(`${this.name} is back (pid ${this.pid ?? "none"}).`);
        },
        (again: unknown) => {
          this.#hasEnded(again);
        },
      );
    }, pause * 1000);
  }
}
