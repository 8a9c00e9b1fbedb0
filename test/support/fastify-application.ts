import cookie from "@fastify/cookie";
import session, { type FastifySessionOptions } from "@fastify/session";
import fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import { idpAuth, type FastifyIdpAuth } from "../../src/adapters/fastify/fastify.js";
import type { IdpAuthOptions, LogEntry } from "../../src/index.js";
import {
  CookieBrowser,
  type CookieBrowserOptions,
} from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { optionsFor } from "./options-for.js";

export interface FastifyApplicationOptions extends Omit<IdpAuthOptions, "clock" | "log"> {
  readonly server?: FastifyServerOptions;
  /**
   * Options of @fastify/session, which is registered for `session: "host"`, or when they are given.
   */
  readonly plugin?: Partial<FastifySessionOptions>;
  /** Runs before anything is registered. */
  readonly first?: (app: FastifyInstance) => unknown;
  /** Default `app.register(auth.plugin)`. */
  readonly register?: (app: FastifyInstance, auth: FastifyIdpAuth) => unknown;
  /** Runs after idpauth was registered. */
  readonly routes?: (app: FastifyInstance, auth: FastifyIdpAuth) => unknown;
}

/**
 * A Fastify application on a socket, with a test provider on another. One clock for component and
 * provider.
 */
export interface FastifyApplication {
  readonly app: FastifyInstance;
  readonly auth: FastifyIdpAuth;
  readonly provider: TestProvider;
  readonly clock: TestClock;
  readonly log: LogEntry[];
  readonly origin: string;
  readonly port: number;
  /** What @fastify/session keeps, by session id. */
  readonly hostStore: HostStore;
  /** Errors that reached the application's own error handler. */
  readonly caught: unknown[];
  browser(options?: CookieBrowserOptions): CookieBrowser;
  stop(): Promise<void>;
}

type Done = (error?: unknown) => void;

/** As stores outside the process do it: what is kept is a text, and half of the store can fail. */
export class HostStore {
  readonly texts = new Map<string, string>();
  /** Says whether an operation fails, and whether it was done before it failed. */
  fails: (operation: "set" | "destroy", id: string) => "before" | "after" | undefined = () =>
    undefined;

  get(id: string, done: (error: unknown, data?: never) => void): void {
    const text = this.texts.get(id);
    done(null, text === undefined ? undefined : (JSON.parse(text) as never));
  }

  set(id: string, data: object, done: Done): void {
    this.#do("set", id, () => this.texts.set(id, JSON.stringify(data)), done);
  }

  destroy(id: string, done: Done): void {
    this.#do("destroy", id, () => this.texts.delete(id), done);
  }

  /** All sessions, by id. */
  all(): Record<string, Record<string, unknown>> {
    return Object.fromEntries(
      [...this.texts].map(([id, text]) => [id, JSON.parse(text) as Record<string, unknown>]),
    );
  }

  #do(operation: "set" | "destroy", id: string, work: () => unknown, done: Done): void {
    const failure = this.fails(operation, id);
    if (failure !== "before") work();
    if (failure === undefined) done();
    else done(new Error("READONLY"));
  }
}

export async function startFastifyApplication(
  options: FastifyApplicationOptions = {},
): Promise<FastifyApplication> {
  const { server, plugin, first, register, routes, ...idpOptions } = options;
  const clock = new TestClock();
  const provider = await startTestProvider({ clock });
  const log: LogEntry[] = [];
  const caught: unknown[] = [];
  const hostStore = new HostStore();
  const auth = idpAuth({
    ...optionsFor(provider),
    ...idpOptions,
    clock,
    log: (entry) => log.push(entry),
  });
  const app = fastify({ forceCloseConnections: true, ...server });
  app.setErrorHandler((error: Error & { status?: number }, _request, reply) => {
    caught.push(error);
    return reply.code(error.status ?? 500).send({ caught: error.message });
  });
  await first?.(app);
  if (idpOptions.session === "host" || plugin !== undefined)
    await registerSession(app, { store: hostStore, ...plugin });
  await (register ?? ((into) => into.register(auth.plugin)))(app, auth);
  await routes?.(app, auth);
  const origin = await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    app,
    auth,
    provider,
    clock,
    log,
    origin,
    port: Number(new URL(origin).port),
    hostStore,
    caught,
    browser: (browserOptions) =>
      new CookieBrowser({ origin, now: () => clock.now(), ...browserOptions }),
    async stop() {
      await app.close();
      await provider.stop();
    },
  };
}

export async function registerSession(
  app: FastifyInstance,
  options: Partial<FastifySessionOptions> = {},
): Promise<void> {
  await app.register(cookie);
  await app.register(session, {
    secret: "the host's secret of at least 32 characters",
    cookie: { secure: "auto" },
    saveUninitialized: false,
    rolling: false,
    ...options,
  });
}
