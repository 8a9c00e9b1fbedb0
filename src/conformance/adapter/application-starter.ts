import type { IdpAuthOptions, LogEntry } from "../../index.js";
import { CookieBrowser, type CookieBrowserOptions } from "../../testing/browser/cookie-browser.js";
import {
  startTestProvider,
  type Issued,
  type PersonClaims,
  type TestProvider,
  type TestProviderOptions,
} from "../../testing/provider/test-provider.js";
import { TestClock } from "../../testing/test-clock.js";
import type {
  ApplicationAuth,
  AdapterFeature,
  ApplicationRoute,
  AdapterSetup,
  AdapterUnderTest,
  RunningApplication,
} from "./adapter-under-test.js";

/** What a requirement may change of the usual application. */
export interface StageOptions {
  /** Options of idpauth beside the usual ones; several: one mount each. The provider is the same unless they name another. */
  readonly options?: IdpAuthOptions | readonly IdpAuthOptions[];
  /** Default: {@link USUAL_ROUTES}. */
  readonly routes?: readonly ApplicationRoute[];
  readonly basePath?: string;
  readonly trustsProxy?: boolean;
  readonly earlier?: AdapterSetup["earlier"];
  readonly provider?: TestProviderOptions;
  /** Default: one of its own. For what has to know the time before the application starts: a store, a further provider. */
  readonly clock?: TestClock;
}

/** A running application with a provider of its own; one clock for both, which stands still. */
export interface StartedApplication {
  readonly provider: TestProvider;
  readonly clock: TestClock;
  /** Of all mounts. */
  readonly log: readonly LogEntry[];
  /** What reached the application's own error handler. */
  readonly caught: readonly unknown[];
  readonly origin: string;
  readonly port: number;
  /** Of the first mount. */
  readonly auth: ApplicationAuth;
  readonly auths: readonly ApplicationAuth[];
  /** How often a route's `respond` ran, by path. */
  readonly ran: ReadonlyMap<string, number>;
  /** A new browser, which keeps cookies by the application's clock. */
  browser(options?: CookieBrowserOptions): CookieBrowser;
  /** Signs the provider's person in with this browser, else a new one, and gives it. */
  signedIn(browser?: CookieBrowser): Promise<CookieBrowser>;
  /**
   * Begins to sign in with this browser and agrees at the provider: gives the address that the provider sends the browser
   * back to, which it has not visited yet.
   *
   * @param login default the login of the first mount without parameters
   * @param person default the provider's person
   */
  approved(browser: CookieBrowser, login?: string, person?: PersonClaims): Promise<string>;
  /** A further browser with the cookies that this one has now. */
  copyOf(browser: CookieBrowser): CookieBrowser;
  /** The newest that the provider has issued of that kind; fails when there is none. */
  newest(kind: Issued["kind"]): string;
}

/** One page for everybody, one that is guarded, and an echo of each kind. */
export const USUAL_ROUTES: readonly ApplicationRoute[] = [
  { kind: "json", method: "GET", path: "/public", respond: () => ({ for: "everybody" }) },
  {
    kind: "json",
    method: "GET",
    path: "/reports",
    guard: { mount: 0 },
    respond: async ([auth], raw) => ({
      user: (await auth?.getUser(raw)) ?? null,
      token: (await auth?.getCredentials(raw))?.token ?? null,
    }),
  },
  { kind: "json", method: "POST", path: "/reports", guard: { mount: 0 }, respond: () => ({ posted: true }) },
  { kind: "echo", method: "POST", path: "/echo" },
  { kind: "echo", method: "POST", path: "/guarded-echo", guard: { mount: 0 } },
];

/** The usual application's options for a client of that provider. */
export function optionsFor(provider: TestProvider): IdpAuthOptions {
  return {
    env: {},
    secretKey: "a secret key of at least 32 bytes",
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    issuer: provider.issuer,
    scope: ["openid", "email", "profile", "offline_access"],
  };
}

/** Starts what requirements ask for, and stops all of it. */
export class ApplicationStarter {
  readonly session: "bundled" | "host";
  readonly #host: AdapterUnderTest;
  readonly #running: { stop(): Promise<unknown> }[] = [];

  constructor(host: AdapterUnderTest, session: "bundled" | "host") {
    this.#host = host;
    this.session = session;
  }

  has(feature: AdapterFeature): boolean {
    return this.#host.lacks?.includes(feature) !== true;
  }

  async startProvider(clock: TestClock, options: TestProviderOptions = {}): Promise<TestProvider> {
    const provider = await startTestProvider({ clock, ...options });
    this.#running.unshift(provider);
    return provider;
  }

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
    const mounts = (Array.isArray(options) ? (options as readonly IdpAuthOptions[]) : [options as IdpAuthOptions]).map((own) => ({
      ...optionsFor(provider),
      ...(rest.basePath !== undefined && { mountPath: `${rest.basePath}/idpauth/` }),
      ...(this.session === "host" && { session: "host" as const }),
      clock,
      log: (entry: LogEntry) => void log.push(entry),
      ...own,
    }));
    const app: RunningApplication = await this.#host.start({
      mounts,
      session: this.session,
      basePath: rest.basePath ?? "",
      trustsProxy: rest.trustsProxy ?? false,
      earlier: rest.earlier ?? [],
      routes: routes.map((route) => (route.kind === "json" ? counted(route, ran) : route)),
      caught: (error) => void caught.push(error),
    });
    this.#running.unshift(app);
    const [auth] = app.auths;
    if (auth === undefined) throw new TypeError(`The host ${this.#host.name} gave no \`auths\`: one for each mount is owed.`);
    const origin = `http://127.0.0.1:${String(app.port)}`;
    const usualLogin = `${rest.basePath ?? ""}/idpauth/login/`;
    const browser = (browserOptions?: CookieBrowserOptions) => new CookieBrowser({ origin, now: () => clock.now(), ...browserOptions });
    return {
      provider,
      clock,
      log,
      caught,
      origin,
      port: app.port,
      auth,
      auths: app.auths,
      ran,
      browser,
      async signedIn(by = browser()) {
        const response = await by.follow(usualLogin);
        if (response.status !== 200) throw new Error(`the sign-in ended in ${String(response.status)} at ${response.url.pathname}`);
        return by;
      },
      async approved(by, login = usualLogin, person?: PersonClaims) {
        const response = await by.navigate(login);
        if (response.status !== 302) throw new Error(`the login was answered with ${String(response.status)}: ${response.text}`);
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

  /** What was started last is stopped first; the others also when one of them cannot be, or has something to say. */
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

function counted(route: Extract<ApplicationRoute, { kind: "json" }>, ran: Map<string, number>): ApplicationRoute {
  return {
    ...route,
    respond(auths, raw) {
      ran.set(route.path, (ran.get(route.path) ?? 0) + 1);
      return route.respond(auths, raw);
    },
  };
}
