import { NoAnswerError, type Answer, type ApplicationProcess } from "./application-process.js";
import type { TestUser } from "./people.js";

export interface LoadOptions {
  readonly users: readonly TestUser[];
  /** Asked anew for each request, since processes come and go. */
  readonly processes: () => readonly ApplicationProcess[];
  /** Whether 503 is an answer, as while the store is away. */
  readonly allowsUnavailable: boolean;
  /** How many requests are under way at a time. */
  readonly workers: number;
}

const PATHS = [
  "/idpauth/session",
  "/guarded",
  "/idpauth/session?details=true",
  "/guarded",
  "/idpauth/login/",
];
/**
 * A new login keeps the user's cookie; more of them than a record keeps would only push each other
 * out.
 */
const LOGIN_EVERY = 20;

/** Users who keep asking, until they are told to stop, and who look closely at every answer. */
export class Load {
  answered = 0;
  unavailable = 0;
  readonly #options: LoadOptions;
  readonly #workers: readonly Promise<void>[];
  readonly #wrong = new Map<string, number>();
  #count = 0;
  #isOver = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#workers = Array.from({ length: options.workers }, () => this.#work());
  }

  /** Ends the load and gives each kind of wrong answer, with how often it came. */
  async stop(): Promise<readonly string[]> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    return [...this.#wrong].map(([what, times]) => `${String(times)} times: ${what}`);
  }

  async #work(): Promise<void> {
    while (!this.#isOver) {
      const number = this.#count++;
      const { users } = this.#options;
      const user = users[number % users.length]!;
      const path = number % LOGIN_EVERY === 0 ? PATHS.at(-1)! : PATHS[number % (PATHS.length - 1)]!;
      try {
        const answer = await this.#ask(number, path, user.cookie);
        this.answered += 1;
        if (answer.status === 503) this.unavailable += 1;
        const mistake = this.#mistakeIn(answer, path, user);
        if (mistake !== undefined) this.#note(mistake);
      } catch (error) {
        this.#note(String(error));
      }
      // Clients and provider share a processor with what they ask.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** As a balancer would: a process that takes no request is not asked, the next one is. */
  async #ask(number: number, path: string, cookie: string): Promise<Answer> {
    for (let attempt = 0; ; attempt += 1) {
      const processes = this.#options.processes();
      const process = processes[(number + attempt) % processes.length]!;
      try {
        return await process.ask(path, { cookie, allowsUnavailable: true });
      } catch (error) {
        if (
          !(error instanceof NoAnswerError) ||
          !error.isRetryable ||
          attempt > 2 * processes.length
        )
          throw error;
      }
    }
  }

  #mistakeIn(
    { status, setCookies, text }: Answer,
    path: string,
    { email }: TestUser,
  ): string | undefined {
    // Neither cleared nor replaced: nothing here gives a reason for a cookie.
    if (setCookies.length > 0) return `${path} ${String(status)} sets a cookie`;
    if (status === 503 && this.#options.allowsUnavailable) return undefined;
    if (path === "/idpauth/login/") return status === 302 ? undefined : `${path} ${String(status)}`;
    if (status !== 200) return `${path} ${String(status)} ${text.slice(0, 100)}`;
    if (!text.includes('"authenticated":true')) return `${path} says signed out`;
    return text.includes(`"email":"${email}"`)
      ? undefined
      : `${path} gives somebody else's session`;
  }

  #note(mistake: string): void {
    this.#wrong.set(mistake, (this.#wrong.get(mistake) ?? 0) + 1);
  }
}
