import { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { certificateThumbprint } from "./certificates.js";

/** The certificate that a client has presented. */
export interface PresentedCertificate {
  /** PEM. */
  readonly cert: string;
  /** As `x5t#S256` (RFC 8705 section 3.1). */
  readonly thumbprint: string;
  /** Whether the server's authority has issued it, and it is valid now. */
  readonly isTrusted: boolean;
}

/** Returns the client's certificate; undefined if it has presented none. */
export function presentedCertificate({
  socket,
}: Pick<IncomingMessage, "socket">): PresentedCertificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  return {
    cert: certificate.toString(),
    thumbprint: certificateThumbprint(certificate),
    isTrusted: socket.authorized,
  };
}

/** How a client registers its certificate (RFC 8705 section 2.1.2). Each member must fit. */
export interface RegisteredNames {
  /** `tls_client_auth_subject_dn`, such as `CN=test-client` (RFC 4514). */
  readonly subjectDn?: string;
  /** `tls_client_auth_san_dns`. */
  readonly sanDns?: string;
  /** `tls_client_auth_san_uri`. */
  readonly sanUri?: string;
  /** `tls_client_auth_san_ip`. */
  readonly sanIp?: string;
  /** `tls_client_auth_san_email`. */
  readonly sanEmail?: string;
}

/** Returns whether the certificate has all the registered names. */
export function hasNames(cert: string, names: RegisteredNames): boolean {
  const { subject, subjectAltName = "" } = new X509Certificate(cert);
  const alternatives = subjectAltName.split(", ");
  const has = (kind: string, name: string | undefined) =>
    name === undefined || alternatives.includes(`${kind}:${name}`);
  return (
    (names.subjectDn === undefined || isSameName(subject, names.subjectDn)) &&
    has("DNS", names.sanDns) &&
    has("URI", names.sanUri) &&
    has("IP Address", names.sanIp) &&
    has("email", names.sanEmail)
  );
}

/** @param subject one part a line, the most significant first, which RFC 4514 writes last */
function isSameName(subject: string, written: string): boolean {
  const parts = written.split(/(?<!\\),\s*/).reverse();
  const unescaped = (part: string) => part.replace(/\\(.)/g, "$1");
  return unescaped(subject) === unescaped(parts.join("\n"));
}
