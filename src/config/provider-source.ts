/** Providers that aren't known at the start: one for each customer, for example. */
import { parseUrl } from "../http/redirects.js";
import { isObject } from "../record/json.js";
import type { ProviderOptions } from "./provider-options.js";

/**
 * The settings of a provider that `find` returns. A key or certificate can't be the path of a file,
 * because a customer may have typed it. The settings of a logout beyond this browser can only turn
 * off what the application has turned on.
 */
export interface SourcedProviderOptions extends ProviderOptions {
  /**
   * The domains of the customer's e-mail addresses, in lower case. An address of another domain is
   * `email_verified: false`, whatever the provider says. Default: the provider decides.
   */
  readonly emailDomains?: readonly string[] | undefined;
  /**
   * Whether the provider may have private addresses, for a customer inside your own network. Https
   * is required even so. Default false.
   */
  readonly allowPrivateNetwork?: boolean | undefined;
}

/** What `providerSource` takes. */
export interface ProviderSourceOptions {
  /**
   * Returns a provider's settings, or undefined if there is no such provider. It is called for a
   * login, a callback, a logout token, and a session whose provider this process doesn't remember:
   * once at a time for a key, 16 times at once, and for at most 5 seconds. If it throws or takes
   * longer, requests of that provider get 503 and nobody is signed out.
   *
   * @param key 1 to 63 lowercase letters, digits and hyphens, starting with a letter. A stranger
   *   may have written it
   */
  readonly find: (
    key: string,
  ) => SourcedProviderOptions | undefined | Promise<SourcedProviderOptions | undefined>;
  /**
   * Returns the key of the provider for the domain of an e-mail address, or undefined. With it, a
   * login that names no provider asks for the address.
   *
   * @param domain in lower case and in ASCII (Punycode)
   */
  readonly findByEmailDomain?: (domain: string) => string | undefined | Promise<string | undefined>;
  /** Seconds for which a process remembers what `find` returned. Default 300. */
  readonly maxAge?: number;
  /** The most providers that a process remembers. The one unused for longest goes. Default 1,000. */
  readonly limit?: number;
  /**
   * Hosts, such as `localhost:4000`, that are allowed in spite of the network rules. For tests and
   * for the development provider.
   */
  readonly internalHosts?: readonly string[];
}

const MARK: unique symbol = Symbol.for("idpauth.provider-source");

/** A source of providers, for the option `providers`. */
export interface ProviderSource {
  /** Only an object with this mark is a source, in all copies of this package. */
  readonly [MARK]: Required<Omit<ProviderSourceOptions, "findByEmailDomain">> &
    Pick<ProviderSourceOptions, "findByEmailDomain">;
}

/** What a source was made with, complete. */
export type SourceOptions = ProviderSource[typeof MARK];

/**
 * Returns a source of providers for the option `providers`: alone, or after a list, as
 * `[{ staff: { … } }, providerSource({ … })]`.
 *
 * @throws TypeError an option isn't what it must be
 *
 * @example
 * const acme = { issuer: "https://login.acme.com", clientId: "app", clientSecret: "its secret" };
 * const customers = new Map([["acme", acme]]);
 * const auth = idpAuth({ providers: providerSource({ find: (key) => customers.get(key) }) });
 */
export function providerSource(options: ProviderSourceOptions): ProviderSource {
  const { find, findByEmailDomain, maxAge = 300, limit = 1_000, internalHosts = [] } = options;
  const mistake =
    (typeof (find as unknown) !== "function" && "`find` isn't a function") ||
    (findByEmailDomain !== undefined &&
      typeof (findByEmailDomain as unknown) !== "function" &&
      "`findByEmailDomain` isn't a function") ||
    (!(Number.isFinite(maxAge) && maxAge >= 1) &&
      "`maxAge` isn't a number of seconds, 1 or more") ||
    (!(Number.isSafeInteger(limit) && limit >= 1) && "`limit` isn't a whole number, 1 or more") ||
    (!(Array.isArray(internalHosts) && internalHosts.every(isHost)) &&
      "`internalHosts` isn't a list of hosts such as `localhost:4000`, without a scheme");
  if (mistake !== false) throw new TypeError(`providerSource: ${mistake}.`);
  const complete = { find, findByEmailDomain, maxAge, limit, internalHosts };
  return Object.freeze({ [MARK]: Object.freeze(complete) }) as ProviderSource;
}

/** Whether it is a host as a URL contains it, perhaps with a port. */
function isHost(host: unknown): boolean {
  return (
    typeof host === "string" &&
    ["http", "https"].some((scheme) => parseUrl(`${scheme}://${host}`)?.host === host)
  );
}

/** The two parts of the option `providers`. */
export interface SplitProviders {
  /** The list; undefined: none is given in code. */
  readonly list: unknown;
  readonly source: SourceOptions | undefined;
}

/** Takes the option `providers` apart. A value of a wrong form is left to the check of the list. */
export function splitProviders(option: unknown): SplitProviders {
  const alone = sourceIn(option);
  if (alone !== undefined) return { list: undefined, source: alone };
  if (Array.isArray(option) && option.length === 2) {
    const [list, source] = option as readonly unknown[];
    const second = sourceIn(source);
    if (second !== undefined) return { list, source: second };
  }
  return { list: option, source: undefined };
}

function sourceIn(value: unknown): SourceOptions | undefined {
  return isObject(value) && MARK in value ? (value as unknown as ProviderSource)[MARK] : undefined;
}

/** In an address, so it never comes from an e-mail address. */
const SOURCE_KEY = /^[a-z][a-z0-9-]{0,62}$/;

/** Whether a text can be the key of a provider from a source. */
export function isSourceKey(value: unknown): value is string {
  return typeof value === "string" && SOURCE_KEY.test(value);
}
