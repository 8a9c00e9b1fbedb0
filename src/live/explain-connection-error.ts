import type { SettingText } from "../config/setting-names.js";
import { ProviderUnavailableError } from "../errors.js";
import { ADDRESS_REFUSED } from "../provider/http-to-provider.js";
import { counted } from "./message-parts.js";

/** Why a request got no response. */
export interface Failure {
  readonly kind: "network" | "certificate" | "too_large" | "address";
  /** Completes "the provider at …": `refuses connections`. */
  readonly words: string;
  readonly remedy?: SettingText;
}

const SLOW: SettingText = ({ env }) =>
  "Check the address, and the DNS, firewalls and proxies between this machine and the provider. Then check the provider's health. " +
  `If the provider is only slow, set ${env("httpTimeout")} to more seconds.`;

const NO_NAME = "Check the spelling of the hostname, and this machine's DNS configuration.";

const NETWORK: Readonly<Record<string, Omit<Failure, "kind">>> = {
  ENOTFOUND: { words: "has a hostname that doesn't exist (DNS)", remedy: NO_NAME },
  EAI_AGAIN: {
    words: "has a hostname that can't be resolved at the moment (DNS)",
    remedy: NO_NAME,
  },
  ECONNREFUSED: {
    words: "refuses connections",
    remedy:
      "Check hostname and port, and whether the provider runs. In a container, localhost is the container itself.",
  },
  ECONNRESET: { words: "closes the connection" },
  UND_ERR_SOCKET: { words: "closes the connection" },
  EPIPE: { words: "closes the connection" },
  ETIMEDOUT: { words: "doesn't accept a connection in time" },
  UND_ERR_CONNECT_TIMEOUT: { words: "doesn't accept a connection in time" },
  EHOSTUNREACH: { words: "can't be reached: there is no network route" },
  ENETUNREACH: { words: "can't be reached: there is no network route" },
  EPROTO: {
    words: "doesn't use TLS at that port",
    remedy: "Check the port, and whether the address needs http or https.",
  },
};

const OWN_AUTHORITY =
  "Set NODE_EXTRA_CA_CERTS to a file with that authority's certificate, for the application as well. Never turn verification off.";

const CERTIFICATE: Readonly<Record<string, Omit<Failure, "kind">>> = {
  CERT_HAS_EXPIRED: {
    words: "has a certificate that has expired",
    remedy: "Have the certificate renewed. If it's still valid, correct this machine's clock.",
  },
  CERT_NOT_YET_VALID: {
    words: "has a certificate that isn't valid yet",
    remedy: "Most likely this machine's clock is behind. Synchronize it (NTP).",
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: { words: "has a self-signed certificate", remedy: OWN_AUTHORITY },
  SELF_SIGNED_CERT_IN_CHAIN: {
    words: "has a certificate from an unknown authority",
    remedy: OWN_AUTHORITY,
  },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    words: "has a certificate from an unknown authority",
    remedy: OWN_AUTHORITY,
  },
  UNABLE_TO_GET_ISSUER_CERT: {
    words: "has a certificate from an unknown authority",
    remedy: OWN_AUTHORITY,
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    words: "sends an incomplete certificate chain, or has a certificate from an unknown authority",
    remedy: `Have the server send the complete chain. If your own authority issued the certificate: ${OWN_AUTHORITY}`,
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    words: "has a certificate for another hostname",
    remedy: "Use the hostname in the certificate. The issuer must have the same hostname.",
  },
  CERT_REVOKED: { words: "has a revoked certificate" },
};

/**
 * Returns why a request to the provider got no response.
 *
 * @param error the rejection of a request to the provider
 * @param timeout IDP_HTTP_TIMEOUT, seconds
 */
export function failureOf(error: unknown, timeout: number): Failure {
  if (error instanceof ProviderUnavailableError) {
    if (error.reason === "too_large") return { kind: "too_large", words: "sends more than 1 MiB" };
    if (error.reason === ADDRESS_REFUSED)
      return { kind: "address", words: "has an address that idpauth doesn't connect to" };
    if (error.reason === "timeout") {
      return {
        kind: "network",
        words: `doesn't respond within ${counted(timeout, "second")}`,
        remedy: SLOW,
      };
    }
  }
  // idpauth's own codes (`provider_unavailable`) are in lower case.
  const codes = codesOf(error, ({ code }) =>
    typeof code === "string" && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? [code] : [],
  );
  const known = codes.map(connectionFailure).find((failure) => failure !== undefined);
  if (known !== undefined) return known;
  const [code] = codes;
  if (code !== undefined && /CERT|TLS/.test(code))
    return { kind: "certificate", words: `has a certificate that isn't accepted (${code})` };
  return { kind: "network", words: `can't be reached${code === undefined ? "" : ` (${code})`}` };
}

/** Explains a connection error code of Node, undici or OpenSSL; undefined for an unknown code. */
export function connectionFailure(code: string): Failure | undefined {
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined) return { kind: "certificate", ...certificate };
  const network = NETWORK[code] ?? (code.startsWith("ERR_SSL_") ? NETWORK["EPROTO"] : undefined);
  return network && { kind: "network", ...network };
}

/** The members of an error, of any library. */
interface ErrorParts {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/**
 * Returns the codes of an error, of its causes, and of the errors of an AggregateError: the
 * outermost first, at most `depth` levels.
 */
export function codesOf(
  error: unknown,
  codesIn: (error: ErrorParts) => readonly string[],
  depth = 5,
): string[] {
  if (depth === 0 || typeof error !== "object" || error === null) return [];
  const { cause, errors } = error as ErrorParts;
  const gathered: unknown[] = Array.isArray(errors) ? errors : [];
  return [
    ...codesIn(error),
    ...[cause, ...gathered].flatMap((inner) => codesOf(inner, codesIn, depth - 1)),
  ];
}
