/** Issuers of providers with several tenants, each of which has an issuer of its own (Entra ID). */
import { parseUrl } from "../http/redirects.js";

/** A tenant identifier, in the form in which Entra ID sends it: a GUID in lower case. */
const TENANT = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

const PLACEHOLDER = "{tenantid}";

/** Whether a claim or a setting is a tenant identifier in lower case. */
export function isTenant(value: unknown): value is string {
  return typeof value === "string" && TENANT.test(value);
}

/**
 * Returns the issuer in the discovery document of Entra ID's endpoints for several tenants,
 * `/organizations/v2.0` and `/common/v2.0`: literally
 * `https://login.microsoftonline.com/{tenantid}/v2.0`. Undefined for every other issuer. Pure.
 *
 * The path decides, not the hostname: Microsoft's national clouds have hostnames of their own.
 */
export function issuerTemplate(issuer: string): string | undefined {
  const url = parseUrl(issuer);
  // The text is compared too, since issuers are compared exactly.
  if (
    url === undefined ||
    !/^\/(?:organizations|common)\/v2\.0$/.test(url.pathname) ||
    issuer !== url.origin + url.pathname
  )
    return undefined;
  return `${url.origin}/${PLACEHOLDER}/v2.0`;
}

/**
 * Whether `iss` names this issuer, or one of its tenants. Whose users may sign in is decided by the
 * ID token alone.
 */
export function isIssuerOf(issuer: string, iss: string | undefined): boolean {
  const template = issuerTemplate(issuer);
  return (
    iss === issuer ||
    (iss !== undefined &&
      template !== undefined &&
      iss.split("/").some((part) => isTenant(part) && iss === tenantIssuer(template, part)))
  );
}

/** Whether an issuer of a discovery document is a template for several tenants. */
export function isTemplate(issuer: string): boolean {
  return issuer.includes(PLACEHOLDER);
}

/** Returns the issuer of one tenant. @param template of {@link issuerTemplate} */
export function tenantIssuer(template: string, tenant: string): string {
  return template.replace(PLACEHOLDER, tenant);
}
