/** The rules for addresses that customers enter, or that their providers' documents contain. */
import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { ProviderUnavailableError } from "../errors.js";
import { ADDRESS_REFUSED } from "../provider/http-to-provider.js";
import { addressKind } from "./public-address.js";
import { publicLookup } from "./public-lookup.js";

export interface NetworkRules {
  /**
   * Whether addresses of private networks are allowed. This machine, its link and the metadata of a
   * cloud never are. Default false.
   */
  readonly allowPrivateNetwork?: boolean;
  /**
   * Hosts, or hosts with a port, for which no rule applies, for tests: `localhost` or
   * `127.0.0.1:8443`, as a URL contains them.
   */
  readonly internalHosts?: readonly string[];
  /**
   * Resolves names, for tests. By default, DNS is asked for names of the internet, and `lookup` of
   * node:dns for those of a private network, which may be in the hosts file.
   */
  readonly lookup?: LookupFunction;
}

/** Names that no public server has (RFC 6761, RFC 6762, RFC 8375, and ICANN's for private use). */
const INTERNAL_NAMES = ["localhost", "local", "internal", "home.arpa"];

/**
 * Whether the rules allow a request to this address. What a name resolves to is checked when the
 * connection is made, by {@link guardedLookup}: a second lookup could return something else.
 */
export function isAllowed(url: URL, rules: NetworkRules): boolean {
  if (url.username !== "" || url.password !== "") return false;
  if (isInternal(url, rules)) return url.protocol === "https:" || url.protocol === "http:";
  const { port, hostname } = url;
  if (url.protocol !== "https:" || (port !== "" && Number(port) <= 1023)) return false;
  const isLiteral = hostname.startsWith("[") || isIP(hostname) !== 0;
  // The URL parser has made one spelling of all of the same address.
  return isLiteral
    ? allowsAddress(hostname.replace(/^\[|\]$/g, ""), rules)
    : allowsName(hostname, rules);
}

/** Whether no rule applies to an address. */
export function isInternal(
  { hostname, host }: Pick<URL, "hostname" | "host">,
  { internalHosts = [] }: NetworkRules,
): boolean {
  return internalHosts.includes(hostname) || internalHosts.includes(host);
}

function allowsName(name: string, { allowPrivateNetwork = false }: NetworkRules): boolean {
  // No certificate is for a name with a dot at its end.
  if (name === "" || name.endsWith(".")) return false;
  const isOf = (domain: string) => name === domain || name.endsWith(`.${domain}`);
  if (isOf("localhost")) return false;
  // A name without a dot gets one of this machine's own domains.
  return allowPrivateNetwork || (name.includes(".") && !INTERNAL_NAMES.some(isOf));
}

function allowsAddress(address: string, { allowPrivateNetwork = false }: NetworkRules): boolean {
  const kind = addressKind(address);
  return kind === "public" || (kind === "private" && allowPrivateNetwork);
}

/** The error of an address that the rules don't allow. It contains nothing of the address. */
export function addressRefused(): ProviderUnavailableError {
  return new ProviderUnavailableError(ADDRESS_REFUSED, { misconfigured: true });
}

/**
 * Returns a `lookup` for connections that fails with {@link addressRefused} unless the rules allow
 * every address that the name has.
 */
export function guardedLookup(rules: NetworkRules): LookupFunction {
  const {
    allowPrivateNetwork = false,
    lookup = allowPrivateNetwork ? systemLookup : publicLookup(),
  } = rules;
  return (hostname, options, done) => {
    // All of them, because the next lookup may return another one.
    lookup(hostname, { ...options, all: true }, (error, result, family) => {
      if (error !== null) {
        done(error, "");
        return;
      }
      const found: readonly LookupAddress[] = Array.isArray(result)
        ? result
        : [{ address: result, family: family ?? isIP(result) }];
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => allowsAddress(address, rules)))
        done(addressRefused(), "");
      else if (options.all === true) done(null, [...found]);
      else done(null, first.address, first.family);
    });
  };
}
