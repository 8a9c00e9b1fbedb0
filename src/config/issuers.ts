import { parseUrl } from "../http/redirects.js";

export const GOOGLE_ISSUER = "https://accounts.google.com";

const GOOGLE_HOST = "accounts.google.com";
const GOOGLE_DOCUMENT_HOST = "docs.google.com";

/** Whether an issuer is Google's, which needs parameters that the standard does not have. */
export function isGoogleIssuer(issuer: string): boolean {
  return parseUrl(issuer)?.hostname === GOOGLE_HOST;
}

/**
 * Returns the default hostnames of a provider's documents. Google's documents are not on its
 * issuer's hostname.
 */
export function defaultDocumentHosts(issuer: string): readonly string[] {
  if (isGoogleIssuer(issuer)) return [GOOGLE_DOCUMENT_HOST];
  const host = parseUrl(issuer)?.hostname;
  return host === undefined || host === "" ? [] : [host];
}

/**
 * Returns whose logout address to use, by the setting or else by the issuer's hostname. These
 * addresses sign out without a question. Undefined: the `end_session_endpoint`, which asks the user
 * unless the request has an `id_token_hint`.
 */
export function logoutPresetOf({
  issuer,
  logoutAtProvider: setting,
}: {
  readonly issuer: string;
  readonly logoutAtProvider: boolean | "auth0" | "cognito";
}): "auth0" | "cognito" | undefined {
  if (setting === "auth0" || setting === "cognito") return setting;
  if (isAuth0Issuer(issuer)) return "auth0";
  const host = parseUrl(issuer)?.hostname ?? "";
  return /^cognito-idp\.[a-z0-9-]+\.amazonaws\.com$/.test(host) ? "cognito" : undefined;
}

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

/** The hostnames of Entra ID and of its national clouds. */
const ENTRA_HOSTS = [
  "login.microsoftonline.com",
  "login.microsoftonline.us",
  "login.partner.microsoftonline.cn",
  "sts.windows.net",
];

/** Returns whether an issuer is Entra ID, or one of its national clouds. */
export function isEntraIssuer(issuer: string): boolean {
  return ENTRA_HOSTS.includes(parseUrl(issuer)?.hostname ?? "");
}

/** Returns whether an issuer is Auth0's, with one of its own hostnames. */
export function isAuth0Issuer(issuer: string): boolean {
  return parseUrl(issuer)?.hostname.endsWith(".auth0.com") === true;
}

/** Returns whether an issuer is Okta's, with one of its own hostnames. */
export function isOktaIssuer(issuer: string): boolean {
  return /\.(?:okta|oktapreview|okta-emea)\.com$/.test(parseUrl(issuer)?.hostname ?? "");
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

/**
 * White space, control characters and the backslash: browsers drop them or read them as a slash.
 */
const FORBIDDEN = /[\s\p{Cc}\\]/u;

/**
 * Whether a URL is one of the provider's documents: absolute, https, without user info and port,
 * and with a hostname of `documentHosts`. The raw text and the WHATWG parser must give the same
 * hostname, so that no two parsers can disagree. Other letter case, a trailing dot,
 * percent-encoding and an explicit `:443` are refused. Pure; never throws.
 *
 * @param url false for a value that is not a string
 * @param documentHosts lower case, without port; setting `IDP_DOCUMENT_HOSTS`
 */
export function isValidIdpUrl(url: string, documentHosts: readonly string[]): boolean {
  if (typeof url !== "string" || !url.startsWith("https://") || FORBIDDEN.test(url)) return false;
  const host = /^[^/?#]*/.exec(url.slice("https://".length))?.[0] ?? "";
  return documentHosts.includes(host) && parseUrl(url)?.host === host;
}
