import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import express5 from "express";
import session, { MemoryStore, type SessionOptions } from "express-session";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions, LogEntry } from "../../src/index.js";
import {
  CookieBrowser,
  type CookieBrowserOptions,
} from "../../src/testing/browser/cookie-browser.js";
import {
  startTestProvider,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { optionsFor } from "./options-for.js";

/** Both releases are used alike; the newer one's types serve for both. */
export const EXPRESS: Readonly<Record<ExpressVersion, typeof express5>> = {
  4: createRequire(import.meta.url)("express4") as typeof express5,
  5: express5,
};

export type ExpressVersion = 4 | 5;

export interface ExpressApplicationOptions extends Omit<IdpAuthOptions, "clock" | "log"> {
  /** Default 5. */
  readonly version?: ExpressVersion;
  readonly provider?: TestProviderOptions;
  /**
   * Options of express-session, which is installed for `session: "host"`, or when they are given.
   */
  readonly middleware?: Partial<SessionOptions>;
  /** Runs before anything is installed. */
  readonly first?: (app: express5.Express) => void;
  /** Installs what stands between the middleware and the routes; default `auth.mount(app)`. */
  readonly mount?: (app: express5.Express, auth: ExpressIdpAuth) => void;
  /** Runs after idpauth was mounted. */
  readonly routes?: (app: express5.Express, auth: ExpressIdpAuth) => void;
}

/**
 * An Express application on a socket, with a test provider on another. One clock for component and
 * provider.
 */
export interface ExpressApplication {
  readonly auth: ExpressIdpAuth;
  readonly provider: TestProvider;
  readonly clock: TestClock;
  readonly log: LogEntry[];
  readonly origin: string;
  readonly port: number;
  /** What express-session keeps, by session id. */
  stored(): Record<string, Record<string, unknown>>;
  /** The store of express-session. */
  readonly hostStore: MemoryStore;
  /** Errors that reached the application's own error handler. */
  readonly caught: unknown[];
  browser(options?: CookieBrowserOptions): CookieBrowser;
  stop(): Promise<void>;
}

export async function startExpressApplication(
  options: ExpressApplicationOptions = {},
): Promise<ExpressApplication> {
  const {
    version = 5,
    provider: providerOptions,
    middleware,
    first,
    mount,
    routes,
    ...idpOptions
  } = options;
  const clock = new TestClock();
  const provider = await startTestProvider({ clock, ...providerOptions });
  const log: LogEntry[] = [];
  const caught: unknown[] = [];
  const hostStore = new MemoryStore();
  const auth = idpAuth({
    ...optionsFor(provider),
    ...idpOptions,
    clock,
    log: (entry) => log.push(entry),
  });

  const app = EXPRESS[version]();
  first?.(app);
  if (idpOptions.session === "host" || middleware !== undefined) {
    app.use(
      session({
        secret: "the host's secret",
        resave: false,
        saveUninitialized: false,
        store: hostStore,
        ...middleware,
      }),
    );
  }
  (mount ?? ((into) => auth.mount(into)))(app, auth);
  routes?.(app, auth);
  app.use(((error, _request, response, _next) => {
    caught.push(error);
    response
      .status((error as { status?: number }).status ?? 500)
      .json({ caught: (error as Error).message });
  }) satisfies express5.ErrorRequestHandler);

  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${String(port)}`;
  return {
    auth,
    provider,
    clock,
    log,
    origin,
    port,
    caught,
    hostStore,
    stored() {
      const { sessions } = hostStore as unknown as { sessions: Record<string, string> };
      return Object.fromEntries(
        Object.entries(sessions).map(([id, text]) => [
          id,
          JSON.parse(text) as Record<string, unknown>,
        ]),
      );
    },
    browser: (browserOptions) =>
      new CookieBrowser({ origin, now: () => clock.now(), ...browserOptions }),
    async stop() {
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
      await provider.stop();
    },
  };
}
