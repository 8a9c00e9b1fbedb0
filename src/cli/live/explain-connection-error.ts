import { ProviderUnavailableError } from "../../errors.js";
import { counted } from "./message-parts.js";

/** Why a request to the provider brought no answer. */
export interface Failure {
  readonly kind: "network" | "certificate" | "too_large";
  /** Goes on after "the provider at …": `refuses connections`. */
  readonly words: string;
  readonly remedy?: string;
}

const NO_NAME = "Check the host name for typing mistakes, and this machine's name resolution (DNS).";

const NETWORK: Readonly<Record<string, Omit<Failure, "kind">>> = {
  ENOTFOUND: { words: "has a host name that does not exist (DNS)", remedy: NO_NAME },
  EAI_AGAIN: { words: "has a host name that cannot be resolved at the moment (DNS)", remedy: NO_NAME },
  ECONNREFUSED: {
    words: "refuses connections",
    remedy: "Check host and port, and whether the provider runs; in a container, localhost is the container itself.",
  },
  ECONNRESET: { words: "breaks the connection off" },
  UND_ERR_SOCKET: { words: "breaks the connection off" },
  EPIPE: { words: "breaks the connection off" },
  ETIMEDOUT: { words: "cannot be connected to in time" },
  UND_ERR_CONNECT_TIMEOUT: { words: "cannot be connected to in time" },
  EHOSTUNREACH: { words: "cannot be reached: there is no route to it" },
  ENETUNREACH: { words: "cannot be reached: there is no route to it" },
  EPROTO: { words: "does not speak TLS at that port", remedy: "Check the port, and whether the address is http or https." },
};

const OWN_AUTHORITY =
  "Put the certificate of that authority into a file and name it in NODE_EXTRA_CA_CERTS, for the application, too; never turn verification off.";

const CERTIFICATE: Readonly<Record<string, Omit<Failure, "kind">>> = {
  CERT_HAS_EXPIRED: {
    words: "has a certificate that has expired",
    remedy: "Have it renewed. If it is valid, this machine's clock is wrong.",
  },
  CERT_NOT_YET_VALID: {
    words: "has a certificate that is not valid yet",
    remedy: "Most likely this machine's clock is behind; synchronise it (NTP).",
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: { words: "has a self-signed certificate", remedy: OWN_AUTHORITY },
  SELF_SIGNED_CERT_IN_CHAIN: { words: "has a certificate of an authority that this machine does not know", remedy: OWN_AUTHORITY },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { words: "has a certificate of an authority that this machine does not know", remedy: OWN_AUTHORITY },
  UNABLE_TO_GET_ISSUER_CERT: { words: "has a certificate of an authority that this machine does not know", remedy: OWN_AUTHORITY },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    words: "sends its certificate without those of the authorities between it and a known one, or comes from an unknown one",
    remedy: `The server has to send the whole chain. Or it is an authority of your own: ${OWN_AUTHORITY}`,
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    words: "has a certificate for another host name",
    remedy: "Use the host name that the certificate is made out to; it has to be the issuer's, too.",
  },
  CERT_REVOKED: { words: "has a certificate that was revoked" },
};

/**
 * @param error what the backchannel rejected with
 * @param timeout IDP_HTTP_TIMEOUT, seconds
 */
export function failureOf(error: unknown, timeout: number): Failure {
  if (error instanceof ProviderUnavailableError) {
    if (error.reason === "too_large") return { kind: "too_large", words: "answers with more than 1 MiB" };
    if (error.reason === "timeout") {
      return { kind: "network", words: `does not answer within ${counted(timeout, "second")} (IDP_HTTP_TIMEOUT)` };
    }
  }
  // Ours (`provider_unavailable`) is written in small letters.
  const codes = codesOf(error, ({ code }) => (typeof code === "string" && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? [code] : []));
  const known = codes.map(connectionFailure).find((failure) => failure !== undefined);
  if (known !== undefined) return known;
  const [code] = codes;
  if (code !== undefined && /CERT|TLS/.test(code))
    return { kind: "certificate", words: `has a certificate that is not accepted (${code})` };
  return { kind: "network", words: `cannot be asked${code === undefined ? "" : ` (${code})`}` };
}

/** What a code of Node, undici or OpenSSL says of a connection, to whatever server; undefined: nothing that is known. */
export function connectionFailure(code: string): Failure | undefined {
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined) return { kind: "certificate", ...certificate };
  const network = NETWORK[code] ?? (code.startsWith("ERR_SSL_") ? NETWORK["EPROTO"] : undefined);
  return network && { kind: "network", ...network };
}

/** What an error may have, whoever threw it. */
interface ErrorParts {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** The codes of an error, of those that caused it, and of those that it gathers; at most `depth` deep, the outermost first. */
export function codesOf(error: unknown, codesIn: (error: ErrorParts) => readonly string[], depth = 5): string[] {
  if (depth === 0 || typeof error !== "object" || error === null) return [];
  const { cause, errors } = error as ErrorParts;
  const gathered: unknown[] = Array.isArray(errors) ? errors : [];
  return [...codesIn(error), ...[cause, ...gathered].flatMap((inner) => codesOf(inner, codesIn, depth - 1))];
}
