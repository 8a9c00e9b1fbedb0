import { randomBytes } from "node:crypto";
import { RunningClock, type MovableClock } from "../running-clock.js";
import type { TestProvider, TestProviderOptions } from "./test-provider-api.js";
import { startTestProvider } from "./test-provider.js";

/** Options of `providers.add`: those of `startTestProvider`, and what a customer adds. */
export interface AddedProviderOptions extends Omit<TestProviderOptions, "clock"> {
  /**
   * The domains of its users' email addresses, in lower case and in ASCII, such as `acme.example`.
   * Default: none, so no address leads to this provider.
   */
  readonly emailDomains?: readonly string[];
}

/** The options of one of an application's providers, as `find` returns them. */
export interface FoundProvider {
  /** The test provider's own. */
  readonly issuer: string;
  /** `test-client-KEY`, unless `add` was given another. */
  readonly clientId: string;
  /** Undefined if the client authenticates with a key or certificate of yours. */
  readonly clientSecret: string | undefined;
  /** True if the provider's setting `dpop` is `required`. */
  readonly dpop?: true;
  /** As `add` was given them. */
  readonly emailDomains?: readonly string[];
}

/** Test providers of an application that learns them while it runs, each under its key. */
export interface TestProviders {
  /**
   * What the application needs besides its providers, as environment variables: a random
   * `SECRET_KEY`, the scopes, and empty values for the settings of a developer's `.env`.
   */
  readonly env: Readonly<Record<string, string>>;
  /** The clock of all providers. Give it to idpauth, too. */
  readonly clock: MovableClock;
  /**
   * The options of an application whose providers are exactly these: `providerSource(providers.source)`.
   * An application with a table of its own needs only `internalHosts`, and puts the options that
   * `find` returns into its table.
   */
  readonly source: {
    /** Returns the options of a provider that was added and not removed. */
    find(key: string): FoundProvider | undefined;
    /** Returns the key of the provider with this domain in `emailDomains`. */
    findByEmailDomain(domain: string): string | undefined;
    /** The host of all test providers, which is not public and has no https. */
    readonly internalHosts: readonly string[];
  };
  /**
   * Starts a provider. The client ID is `test-client-KEY`, unless the options contain another.
   *
   * @throws Error the key is in use
   */
  add(key: string, options?: AddedProviderOptions): Promise<TestProvider>;
  /**
   * Returns the running provider.
   *
   * @throws Error there is none under this key
   */
  get(key: string): TestProvider;
  /**
   * Stops a provider, and `find` doesn't find it any more. The application remembers it for
   * `maxAge`, or until `auth.forgetProvider(key)`.
   */
  remove(key: string): Promise<void>;
  /** Stops all providers. Rejects if the application violated a rule at one of them. */
  stop(): Promise<void>;
  /** The same as `stop`, for `await using providers = await startTestProviders()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

interface Entry {
  readonly provider: TestProvider;
  readonly emailDomains: readonly string[] | undefined;
}

/**
 * Starts test providers, each on a port of its own, for an application with `providerSource`. You can
 * add more and remove them while the application runs.
 *
 * @param first the options of each provider to start with, under its key
 * @param options `clock`: of all providers; default a `RunningClock`
 *
 * @example
 * const providers = await startTestProviders({ acme: { emailDomains: ["acme.example"] } });
 * const auth = idpAuth({ env: providers.env, providers: providerSource(providers.source) });
 * await providers.add("initech"); // while the application runs
 * const user = await signIn(app, { email: "ada@initech.example" }, { provider: "initech" });
 * await providers.stop();
 */
export async function startTestProviders(
  first: Readonly<Record<string, AddedProviderOptions>> = {},
  options: { readonly clock?: MovableClock } = {},
): Promise<TestProviders> {
  const providers = new RunningProviders(options.clock ?? new RunningClock());
  try {
    for (const [key, one] of Object.entries(first)) await providers.add(key, one);
  } catch (error) {
    await providers.stop();
    throw error;
  }
  return providers;
}

class RunningProviders implements TestProviders {
  readonly clock: MovableClock;
  readonly env: TestProviders["env"] = {
    // Random: a published key is refused unless every provider is known to be on this machine.
    SECRET_KEY: randomBytes(32).toString("base64url"),
    SCOPE: "openid email profile offline_access",
    // Empty means unset, and overrides a developer's .env.
    BASE_URL: "",
    IDP_DEBUG: "off",
    IDP_PROVIDERS: "",
    IDP_ISSUER: "",
    IDP_CLIENT_ID: "",
    IDP_CLIENT_SECRET: "",
    IDP_PRIVATE_KEY: "",
    IDP_ALLOWED_TENANTS: "",
    IDP_PUSHED_REQUESTS: "",
    IDP_TOKEN_ENDPOINT_AUTH_METHOD: "",
    IDP_CLIENT_CERTIFICATE: "",
    IDP_CLIENT_CERTIFICATE_KEY: "",
    IDP_DPOP: "",
    IDP_FAPI: "",
  };
  readonly #entries = new Map<string, Entry>();
  /** Those that have been added and have not started. */
  readonly #starting = new Set<string>();

  readonly source: TestProviders["source"] = {
    find: (key) => this.#found(key),
    findByEmailDomain: (domain) =>
      [...this.#entries].find(([, { emailDomains = [] }]) => emailDomains.includes(domain))?.[0],
    internalHosts: ["127.0.0.1"],
  };

  constructor(clock: MovableClock) {
    this.clock = clock;
  }

  async add(
    key: string,
    { emailDomains, ...options }: AddedProviderOptions = {},
  ): Promise<TestProvider> {
    if (this.#entries.has(key) || this.#starting.has(key))
      throw new Error(`There is a provider under the key ${JSON.stringify(key)} already.`);
    this.#starting.add(key);
    try {
      const own = { clientId: `test-client-${key}`, clock: this.clock };
      const provider = await startTestProvider({ ...own, ...options });
      this.#entries.set(key, { provider, emailDomains });
      return provider;
    } finally {
      this.#starting.delete(key);
    }
  }

  get(key: string): TestProvider {
    const entry = this.#entries.get(key);
    if (entry !== undefined) return entry.provider;
    const keys = [...this.#entries.keys()].join(", ") || "none";
    throw new Error(`There is no provider under the key ${JSON.stringify(key)}. Running: ${keys}.`);
  }

  async remove(key: string): Promise<void> {
    const provider = this.get(key);
    this.#entries.delete(key);
    await provider.stop();
  }

  async stop(): Promise<void> {
    const ends = [...this.#entries.keys()].map((key) => this.remove(key));
    await Promise.allSettled(ends);
    await Promise.all(ends); // rejects if one did
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #found(key: string): FoundProvider | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const { issuer, clientId, clientSecret, settings } = entry.provider;
    const hasSecret = settings.clientJwks === undefined && settings.tlsClientAuth === undefined;
    return {
      issuer,
      clientId,
      clientSecret: hasSecret ? clientSecret : undefined,
      ...(settings.dpop === "required" && { dpop: true }),
      ...(entry.emailDomains !== undefined && { emailDomains: entry.emailDomains }),
    };
  }
}
