import { X509Certificate, type KeyObject } from "node:crypto";
import tls from "node:tls";
import {
  certificateThumbprint,
  issueCertificate,
  type CertificateNames,
  type KeyAndCertificate,
} from "./certificates.js";

/** Options of `testCertificate`. */
export interface TestCertificateOptions {
  /** The subject's common name; default `test-client`. */
  readonly commonName?: string;
  /** The subject's organization; default none. */
  readonly organization?: string;
  /** A DNS name, for `tls_client_auth_san_dns`. */
  readonly dns?: string;
  /** An IPv4 address, for `tls_client_auth_san_ip`. */
  readonly ip?: string;
  /** A URI, for `tls_client_auth_san_uri`. */
  readonly uri?: string;
  /** An email address, for `tls_client_auth_san_email`. */
  readonly email?: string;
  /**
   * Whether the certificate signs itself, for `self_signed_tls_client_auth`. Default false: the
   * kit's authority, which test providers and test APIs trust, issues it.
   */
  readonly isSelfSigned?: boolean;
  /** The private key; default a fresh one on the curve P-256. */
  readonly privateKey?: KeyObject;
  /** The beginning of its validity, in milliseconds since the epoch; default an hour ago. */
  readonly from?: number;
  /** The end of its validity; default in about a year. */
  readonly until?: number;
}

/** A client's certificate for tests. */
export interface TestCertificate {
  /** PEM. */
  readonly cert: string;
  /** The private key as PEM. */
  readonly key: string;
  /** The thumbprint in the claim `cnf` of bound tokens, `x5t#S256` (RFC 8705 section 3.1). */
  readonly thumbprint: string;
}

let authority: KeyAndCertificate | undefined;

/** The authority of this process, whose key never leaves it. */
function processAuthority(): KeyAndCertificate {
  return (authority ??= issueCertificate({ commonName: "idpauth test kit", use: "authority" }));
}

/**
 * Returns the certificate of the kit's authority, as PEM. It is another one in each process.
 *
 * @example
 * // Let another process trust the kit: write it to the file that NODE_EXTRA_CA_CERTS names.
 * const pem = testCertificateAuthority();
 */
export function testCertificateAuthority(): string {
  return processAuthority().cert;
}

/**
 * Creates a client's certificate, for mutual TLS (RFC 8705) with a test provider or a test API.
 *
 * @example
 * const { cert, key } = testCertificate({ commonName: "my-client" });
 */
export function testCertificate(options: TestCertificateOptions = {}): TestCertificate {
  const { commonName = "test-client", organization, isSelfSigned = false } = options;
  const { dns, ip, uri, email, privateKey, from, until } = options;
  const listed = (name: string | undefined) => (name === undefined ? [] : [name]);
  const names: CertificateNames = {
    commonName,
    organization,
    dns: listed(dns),
    ip: listed(ip),
    uri: listed(uri),
    email: listed(email),
  };
  const issued = issueCertificate({
    ...names,
    use: "client",
    authority: isSelfSigned ? undefined : processAuthority(),
    key: privateKey?.export({ type: "pkcs8", format: "pem" }).toString(),
    from,
    until,
  });
  return { ...issued, thumbprint: certificateThumbprint(new X509Certificate(issued.cert)) };
}

/** Returns the certificate of a server on this machine. */
export function serverCertificate(): KeyAndCertificate {
  return loopbackCertificate(processAuthority());
}

/** Returns a certificate for the names of this machine. */
export function loopbackCertificate(issuer: KeyAndCertificate): KeyAndCertificate {
  return issueCertificate({
    commonName: "127.0.0.1",
    dns: ["localhost"],
    ip: ["127.0.0.1"],
    use: "server",
    authority: issuer,
  });
}

/** How many servers need the trust. */
let servers = 0;
let before: readonly string[] = [];

/** Node.js 24.4 and earlier versions of 24 don't have these, and other runtimes may not. */
const { getCACertificates, setDefaultCACertificates }: Partial<typeof tls> = tls;

/**
 * Makes this process trust the kit's authority, until the returned function has been called as
 * often. The application under test runs in it, and has no setting for an authority.
 *
 * @throws Error the runtime can't
 */
export function trustTestAuthority(): () => void {
  if (getCACertificates === undefined || setDefaultCACertificates === undefined)
    throw new Error("The option `tls` needs Node.js 22.19 or later of 22, or 24.5 or later.");
  if (servers === 0) {
    before = getCACertificates("default");
    setDefaultCACertificates([...before, testCertificateAuthority()]);
  }
  servers += 1;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    servers -= 1;
    if (servers === 0) setDefaultCACertificates(before);
  };
}
