import { X509Certificate } from "node:crypto";
import { certificateThumbprint } from "../certificates/certificates.js";
import { hasNames } from "../certificates/presented-certificate.js";
import type { ReceivedRequest } from "./received-requests.js";
import type { ProviderSettings } from "./test-provider-settings.js";

/**
 * Returns why the client's certificate doesn't authenticate it (RFC 8705 sections 2.1 and 2.2).
 * Undefined for a right one.
 */
export function certificateMistake(
  { params, headers, certificate }: ReceivedRequest,
  { clientId, tlsClientAuth }: ProviderSettings,
): string | undefined {
  const instead = "but this client authenticates with a certificate";
  if (params.has("client_secret") || headers.authorization !== undefined)
    return `the request contains a client secret, ${instead}`;
  if (params.has("client_assertion")) return `the request contains a client_assertion, ${instead}`;
  if (params.get("client_id") !== clientId) return `client_id isn't ${clientId}`;
  if (certificate === undefined) return `the client has presented none, ${instead}`;
  const { selfSigned, names = {} } = (tlsClientAuth ?? {}) as {
    readonly selfSigned?: readonly string[];
    readonly names?: Parameters<typeof hasNames>[1];
  };
  if (selfSigned !== undefined)
    return selfSigned.some((one) => thumbprintOf(one) === certificate.thumbprint)
      ? undefined
      : "the client's certificate isn't a registered one";
  if (!certificate.isTrusted)
    return "the client's certificate isn't one of the provider's authority, or isn't valid now";
  return hasNames(certificate.cert, names)
    ? undefined
    : "the client's certificate has other names than the registered ones";
}

function thumbprintOf(cert: string): string {
  return certificateThumbprint(new X509Certificate(cert));
}

/** The name of the method in the discovery document. */
export function tlsMethod({ tlsClientAuth }: ProviderSettings): string | undefined {
  if (tlsClientAuth === undefined) return undefined;
  return "selfSigned" in tlsClientAuth ? "self_signed_tls_client_auth" : "tls_client_auth";
}
