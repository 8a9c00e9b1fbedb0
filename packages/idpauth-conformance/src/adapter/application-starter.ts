import { randomBytes } from "node:crypto";
import type { IdpAuthOptions, LogEntry } from "idpauth";
import { CookieBrowser, type CookieBrowserOptions } from "idpauth/testing";
import {
  startTestProvider,
  type Issued,
  type PersonClaims,
  type TestProvider,
  type TestProviderOptions,
} from "idpauth/testing";
import { TestClock } from "idpauth/testing";
import type {
  ApplicationAuth,
  AdapterFeature,
  ApplicationRoute,
  AdapterSetup,
  AdapterUnderTest,
  RunningApplication,
} from "./adapter-under-test.js";

/** The differences from the usual application. */
export interface StageOptions {
  /**
   * Further options of idpauth; a list gives one mount each. All mounts use the same provider by
   * default.
   */
  readonly options?: IdpAuthOptions | readonly IdpAuthOptions[];
  /** Default: {@link USUAL_ROUTES}. */
  readonly routes?: readonly ApplicationRoute[];
  /** The path below which the application is mounted. Default: none. */
  readonly basePath?: string;
  /** Whether the framework trusts one proxy in front. Default false. */
  readonly trustsProxy?: boolean;
  /** What runs before idpauth. Default: nothing. */
  readonly earlier?: AdapterSetup["earlier"];
  /** Default: without `auth.csrf`. */
  readonly csrf?: boolean;
  /** Default: none. */
  readonly proxied?: AdapterSetup["proxied"];
  /** Default: true. */
  readonly handlesErrors?: boolean;
  /** The options of its provider. */
  readonly provider?: TestProviderOptions;
  /**
   * Default: a new clock. Set it if a store or a further provider needs the clock before the start.
   */
  readonly clock?: TestClock;
}

/** What an application has unless a requirement asks for it. */
const NO_EXTRAS = {
  basePath: "",
  trustsProxy: false,
  earlier: [],
  csrf: false,
  proxied: [],
  handlesErrors: true,
} satisfies Partial<AdapterSetup>;

/** A running application and its provider, with one clock that stands still. */
export interface StartedApplication {
  /** Where its users sign in. */
  readonly provider: TestProvider;
  /** The clock of the application and of the provider. */
  readonly clock: TestClock;
  /** The log entries of all mounts. */
  readonly log: readonly LogEntry[];
  /** The errors that reached the application's own error handler. */
  readonly caught: readonly unknown[];
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** The port that the application listens on. */
  readonly port: number;
  /** The first mount. */
  readonly auth: ApplicationAuth;
  /** One for each mount. */
  readonly auths: readonly ApplicationAuth[];
  /** As the adapter's application has it. */
  readonly handle: RunningApplication["handle"];
  /** How often each route's `respond` ran, by path. */
  readonly ran: ReadonlyMap<string, number>;
  /** Returns a new browser whose cookies expire by the application's clock. */
  browser(options?: CookieBrowserOptions): CookieBrowser;
  /** Signs the provider's user in with this browser, or with a new one, and returns the browser. */
  signedIn(browser?: CookieBrowser): Promise<CookieBrowser>;
  /**
   * Starts a login with this browser and approves it at the provider. Returns the callback URL,
   * which the browser has not requested yet.
   *
   * @param login default the login of the first mount without parameters
   * @param person default the provider's person
   */
  approved(browser: CookieBrowser, login?: string, person?: PersonClaims): Promise<string>;
  /** Returns another browser with the current cookies of this one. */
  copyOf(browser: CookieBrowser): CookieBrowser;
  /**
   * Returns the newest value of that kind that the provider has issued.
   * @throws Error if there is none
   */
  newest(kind: Issued["kind"]): string;
}

/** A public page, a guarded page, and an echo of each kind. */
export const USUAL_ROUTES: readonly ApplicationRoute[] = [
  { kind: "json", method: "GET", path: "/public", respond: () => ({ for: "everybody" }) },
  {
    kind: "json",
    method: "GET",
    path: "/reports",
    guard: { mount: 0 },
    respond: async ([auth], raw) => ({
      user: (await auth?.clientState(raw))?.user,
      token: (await auth?.getCredentials(raw))?.token ?? null,
    }),
  },
  {
    kind: "json",
    method: "POST",
    path: "/reports",
    guard: { mount: 0 },
    respond: () => ({ posted: true }),
  },
  { kind: "echo", method: "POST", path: "/echo" },
  { kind: "echo", method: "POST", path: "/guarded-echo", guard: { mount: 0 } },
];

/** A new one for each run: a fixed key would be published with the package. */
export const SECRET_KEY = randomBytes(32).toString("base64url");

/** Returns the usual application's options for a client of that provider. */
export function optionsFor(provider: TestProvider): IdpAuthOptions {
  return {
    env: {},
    secretKey: SECRET_KEY,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    issuer: provider.issuer,
    scope: ["openid", "email", "profile", "offline_access"],
  };
}

/** A server that a requirement has started. */
interface Stoppable {
  /** Resolves when it has stopped. */
  stop(): Promise<unknown>;
}

/** Starts applications and providers for a requirement, and stops all of them. */
export class ApplicationStarter {
  /** Where the sessions are stored. */
  readonly session: "bundled" | "host";
  readonly #adapter: AdapterUnderTest;
  readonly #running: Stoppable[] = [];

  constructor(adapter: AdapterUnderTest, session: "bundled" | "host") {
    this.#adapter = adapter;
    this.session = session;
  }

  /** Whether the adapter has a feature. */
  has(feature: AdapterFeature): boolean {
    return this.#adapter.lacks?.includes(feature) !== true;
  }

  /** Starts a provider, and stops it at the end. */
  async startProvider(clock: TestClock, options: TestProviderOptions = {}): Promise<TestProvider> {
    return this.stopping(await startTestProvider({ clock, ...options }));
  }

  /** Returns a server that was started for a requirement, and stops it at the end. */
  stopping<Server extends Stoppable>(server: Server): Server {
    this.#running.unshift(server);
    return server;
  }

  /** Starts an application with its provider, and stops both at the end. */
  async start({
    options = {},
    routes = USUAL_ROUTES,
    provider: providerOptions,
    clock = new TestClock(),
    ...rest
  }: StageOptions = {}): Promise<StartedApplication> {
    const provider = await this.startProvider(clock, providerOptions);
    const log: LogEntry[] = [];
    const caught: unknown[] = [];
    const ran = new Map<string, number>();
    const mounts = [options].flat().map((own: IdpAuthOptions) => ({
      ...optionsFor(provider),
      ...(rest.basePath !== undefined && { mountPath: `${rest.basePath}/idpauth/` }),
      ...(this.session === "host" && { session: "host" as const }),
      clock,
      log: (entry: LogEntry) => void log.push(entry),
      ...own,
    }));
    const app: RunningApplication = await this.#adapter.start({
      ...NO_EXTRAS,
      ...rest,
      mounts,
      session: this.session,
      routes: routes.map((route) => (route.kind === "json" ? counted(route, ran) : route)),
      caught: (error) => void caught.push(error),
    });
    this.stopping(app);
    const [auth] = app.auths;
    if (auth === undefined)
      throw new TypeError(
        `The host ${this.#adapter.name} gave no \`auths\`: one for each mount is owed.`,
      );
    const origin = `http://127.0.0.1:${String(app.port)}`;
    const browser = (browserOptions?: CookieBrowserOptions) =>
      new CookieBrowser({ origin, now: () => clock.now(), ...browserOptions });
    return {
      provider,
      clock,
      log,
      caught,
      origin,
      port: app.port,
      auth,
      auths: app.auths,
      // Not `bind`: an application of Express has a method of that name.
      handle: app.handle && ((...both) => app.handle?.(...both)),
      ran,
      browser,
      ...stepsOf(provider, browser, `${rest.basePath ?? ""}/idpauth/login/`),
    };
  }

  /** Stops everything in reverse order, also if stopping one of them fails. */
  async stop(): Promise<void> {
    const each = this.#running.shift();
    if (each === undefined) return;
    try {
      await each.stop();
    } finally {
      await this.stop();
    }
  }
}

/** What tests do with the browsers of an application. */
function stepsOf(
  provider: TestProvider,
  browser: StartedApplication["browser"],
  usualLogin: string,
): Pick<StartedApplication, "signedIn" | "approved" | "copyOf" | "newest"> {
  return {
    async signedIn(by = browser()) {
      const response = await by.follow(usualLogin);
      if (response.status !== 200)
        throw new Error(
          `the sign-in ended in ${String(response.status)} at ${response.url.pathname}`,
        );
      return by;
    },
    async approved(by, login = usualLogin, person?: PersonClaims) {
      const response = await by.navigate(login);
      if (response.status !== 302)
        throw new Error(`the login responded with ${String(response.status)}: ${response.text}`);
      return provider.signInCode(response.location ?? "", person);
    },
    copyOf(original) {
      const copy = browser();
      for (const cookie of original.cookies.all()) copy.cookies.plant(cookie);
      return copy;
    },
    newest(kind) {
      const found = provider.issued.filter((issued) => issued.kind === kind).at(-1);
      if (found === undefined) throw new Error(`the provider has issued no ${kind}`);
      return found.value;
    },
  };
}

function counted(
  route: Extract<ApplicationRoute, { kind: "json" }>,
  ran: Map<string, number>,
): ApplicationRoute {
  return {
    ...route,
    respond(auths, raw) {
      ran.set(route.path, (ran.get(route.path) ?? 0) + 1);
      return route.respond(auths, raw);
    },
  };
}
