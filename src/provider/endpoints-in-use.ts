/** Which of a provider's addresses idpauth uses: those of the settings, of aliases, of the document. */
import type { Endpoints } from "../config/endpoints-kind.js";
import type { CertificateSettings } from "../keys/client-certificate.js";
import { isObject } from "../record/json.js";

/** A discovery document, of which nothing is checked. */
export type Document = Readonly<Record<string, unknown>>;

/**
 * The endpoints that get the client's certificate, and no other address: discovery and JWKS don't
 * ask who the client is, and the browser opens the others.
 */
const CERTIFIED: readonly string[] = [
  "token_endpoint",
  "userinfo_endpoint",
  "revocation_endpoint",
  "pushed_authorization_request_endpoint",
] satisfies readonly (keyof Endpoints)[];

/** The settings that choose addresses. */
export interface EndpointSettings extends Pick<CertificateSettings, "clientCertificate"> {
  readonly providerMetadata: Endpoints;
}

/** Whether requests to an endpoint show the client's certificate. */
export function showsCertificate(
  name: keyof Endpoints,
  { clientCertificate }: Pick<CertificateSettings, "clientCertificate">,
): boolean {
  return clientCertificate !== null && CERTIFIED.includes(name);
}

/**
 * Returns the document with the addresses that idpauth uses. A client with a certificate uses the
 * aliases for mutual TLS (RFC 8705 section 5) in the place of the ordinary endpoints, and for
 * everything: a refused alias isn't replaced by the ordinary address, which may not ask for the
 * certificate. IDP_PROVIDER_METADATA are the operator's own words, which both give way to.
 *
 * The address of the alias is also what `aud` of an assertion names if it is the token endpoint's or
 * the receiver's, because a provider that knows itself by the name of the request expects that name;
 * the default, the issuer, is the same at both. It is `credentials.token_uri` as well: what else
 * uses the record's refresh token must show the certificate there.
 */
export function withEndpointsInUse(document: Document, settings: EndpointSettings): Document {
  return { ...document, ...aliasesIn(document, settings), ...settings.providerMetadata };
}

/** Returns the ordinary addresses that aliases replace. */
export function replacedEndpoints(document: Document, settings: EndpointSettings): string[] {
  return Object.keys(aliasesIn(document, settings))
    .map((name) => document[name])
    .filter((address) => typeof address === "string");
}

function aliasesIn(document: Document, { clientCertificate }: EndpointSettings): Document {
  const aliases = document["mtls_endpoint_aliases"];
  if (clientCertificate === null || !isObject(aliases)) return {};
  return Object.fromEntries(
    Object.entries(aliases).filter(
      ([name, address]) => CERTIFIED.includes(name) && address !== undefined && address !== null,
    ),
  );
}
