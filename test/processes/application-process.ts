import { fork, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import path from "node:path";
import { buildPackage } from "../support/build.js";
import type { ProcessOptions } from "./process-options.js";

const FOLDER = import.meta.dirname;
const START_TIMEOUT = 120_000;
/** Milliseconds between two attempts of a request that got 503. */
const RETRY = 100;

export interface Answer {
  readonly status: number;
  readonly setCookies: readonly string[];
  readonly location: string | undefined;
  readonly text: string;
}

/** What a scenario amounted to. */
export interface Tally {
  requests: number;
  signedIn: number;
}

export interface AskOptions {
  readonly cookie?: string;
  /** As a browser that follows a link. */
  readonly navigates?: boolean;
  /** Posts these fields. */
  readonly form?: URLSearchParams;
  /** The user goes away. */
  readonly signal?: AbortSignal;
  /**
   * Whether 503 is a response as any other, as during an outage. Otherwise the request is repeated,
   * as 503 asks.
   */
  readonly allowsUnavailable?: boolean;
}

export interface StartOptions {
  /** Runs the next version of the record's format. */
  readonly nextFormat?: boolean;
  readonly tally: Tally;
}

/** One application process, and a client with connections that stay open. */
export class ApplicationProcess {
  readonly #child: ChildProcess;
  readonly #tally: Tally;
  readonly #agent = new Agent({ keepAlive: true });
  #isEnding = false;
  /** The port that it listens on. */
  port = 0;
  stderr = "";
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;

  private constructor(options: ProcessOptions, { nextFormat = false, tally }: StartOptions) {
    this.#tally = tally;
    this.#child = fork(path.join(FOLDER, "application.mjs"), [JSON.stringify(options)], {
      execArgv: nextFormat ? ["--import", path.join(FOLDER, "next-format.mjs")] : [],
      env: { PATH: process.env["PATH"], NODE_ENV: "production" },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        this.#agent.destroy();
        resolve({ code, signal });
      });
    });
  }

  static async start(
    options: ProcessOptions,
    startOptions: StartOptions,
  ): Promise<ApplicationProcess> {
    // It names the package as a stranger does, so the build is what runs.
    await buildPackage();
    const started = new ApplicationProcess(options, startOptions);
    started.port = await started.#listening();
    return started;
  }

  /** Whether it is still there; one that crashed is not. */
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** One request. Rejects with the connection's error when there is no answer. */
  async ask(target: string, options: AskOptions = {}): Promise<Answer> {
    for (;;) {
      const answer = await this.#askOnce(target, options);
      // A process without processor time can exceed the time limits of its store, which changes
      // nothing for its users.
      if (answer.status !== 503 || options.allowsUnavailable === true) return answer;
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
  }

  async #askOnce(
    target: string,
    { cookie, navigates = false, form, signal }: AskOptions,
  ): Promise<Answer> {
    const headers = {
      host: "app.example",
      accept: navigates ? "text/html" : "application/json",
      // The application's own pages start its logins.
      ...(form === undefined && { "sec-fetch-site": "same-origin" }),
      ...(cookie !== undefined && { cookie }),
      ...(form && { "content-type": "application/x-www-form-urlencoded" }),
    };
    const method = form === undefined ? "GET" : "POST";
    const answer = await new Promise<Answer>((resolve, reject) => {
      const outgoing = httpRequest(
        {
          host: "127.0.0.1",
          port: this.port,
          path: target,
          method,
          agent: this.#agent,
          headers,
          ...(signal && { signal }),
        },
        (message) => {
          answerOf(message).then(resolve, reject);
        },
      );
      outgoing.on("error", (error) => {
        this.#noAnswer(error, outgoing.reusedSocket).then(reject, reject);
      });
      outgoing.end(form?.toString());
    });
    this.#tally.requests += 1;
    if (answer.status === 200 && answer.text.includes('"authenticated":true'))
      this.#tally.signedIn += 1;
    return answer;
  }

  /** Whether SIGSTOP has stopped it. */
  get isSuspended(): boolean {
    const stat = readFileSync(`/proc/${String(this.#child.pid)}/stat`, "utf8");
    // After the name, which may contain any character.
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
  }

  suspend(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  async kill(
    signal: "SIGKILL" | "SIGTERM" = "SIGKILL",
  ): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
    this.#isEnding = true;
    this.#child.kill(signal);
    return this.ended;
  }

  async #noAnswer(error: Error, isReused: boolean): Promise<Error> {
    if (this.#isEnding) return new NoAnswerError(error, true);
    // A process that nobody has told to end, and that does, has crashed.
    await Promise.race([this.ended, new Promise((resolve) => setTimeout(resolve, 100))]);
    if (!this.isRunning) return new Error(`an application process crashed: ${this.stderr}`);
    return new NoAnswerError(error, isReused);
  }

  #listening(): Promise<number> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#child.kill("SIGKILL");
        reject(new Error(`an application process did not start in time: ${this.stderr}`));
      }, START_TIMEOUT);
      this.#child.once("message", (message) => {
        clearTimeout(late);
        resolve((message as { port: number }).port);
      });
      void this.ended.then(({ code, signal }) => {
        clearTimeout(late);
        reject(
          new Error(`an application process ended with ${String(code ?? signal)}: ${this.stderr}`),
        );
      });
    });
  }
}

/** The connection failed before an answer came. */
export class NoAnswerError extends Error {
  /** Nobody has taken the request, so a balancer asks the next process. */
  readonly isRetryable: boolean;

  /**
   * @param mayBeClosed a kept connection, which the server may have closed meanwhile, or one that
   *   was never accepted
   */
  constructor(cause: NodeJS.ErrnoException, mayBeClosed: boolean) {
    super(`no answer: ${cause.code ?? cause.message}`, { cause });
    this.isRetryable =
      cause.code === "ECONNREFUSED" || (cause.code === "ECONNRESET" && mayBeClosed);
  }
}

async function answerOf(message: IncomingMessage): Promise<Answer> {
  let text = "";
  message.setEncoding("utf8");
  for await (const chunk of message) text += chunk as string;
  return {
    status: message.statusCode ?? 0,
    setCookies: message.headers["set-cookie"] ?? [],
    location: message.headers.location,
    text,
  };
}
