import type { PersonClaims } from "./people.js";

/** The path of an issuer with several tenants, unless a test sets another. */
export const TENANTS_PATH = "/organizations/v2.0";

interface Issuing {
  readonly issuer: string;
  readonly settings: { readonly tenant: string | undefined };
}

/** Returns the issuer of the discovery document: with several tenants, Entra ID's template. */
export function announcedIssuer({ issuer, settings }: Issuing): string {
  return settings.tenant === undefined ? issuer : ofTenant(issuer, "{tenantid}");
}

/** Returns the claims of an ID token that name its issuer. */
export function issuerClaims(
  person: PersonClaims,
  { issuer, settings }: Issuing,
): Readonly<Record<string, unknown>> {
  if (settings.tenant === undefined) return { iss: issuer };
  const tid = person["tid"] ?? settings.tenant;
  return { iss: ofTenant(issuer, typeof tid === "string" ? tid : ""), tid };
}

function ofTenant(issuer: string, tenant: string): string {
  return `${new URL(issuer).origin}/${tenant}/v2.0`;
}
