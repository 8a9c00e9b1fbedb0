import { isTenant, issuerTemplate, tenantIssuer } from "../config/tenant-issuers.js";
import { ProviderRefusedError } from "../errors.js";
import type { IdInfo } from "../record/identity.js";

/**
 * The tenants of Entra ID whose users may sign in (`IDP_ALLOWED_TENANTS`). Each tenant has an
 * issuer of its own.
 */
export interface Tenants {
  /** The issuer of the discovery document, with the literal `{tenantid}`. */
  readonly template: string;
  /**
   * Returns the issuer that an ID token with these claims must have: the template with its own
   * `tid`.
   *
   * @throws ProviderRefusedError `id_token_tid`: `tid` is no GUID in lower case; `id_token_tenant`:
   *   the tenant is not allowed
   */
  issuerFor(claims: IdInfo): string;
  /**
   * Whether a signing key may sign tokens of this issuer.
   * @param own the key's member `issuer`; absent: it may
   */
  keyFits(own: unknown, issuer: unknown): boolean;
  /**
   * Whether `iss` of an authorization response (RFC 9207) is the template, or the issuer of an
   * allowed tenant.
   */
  isResponseIssuer(iss: string): boolean;
}

/** The settings that say whose users may sign in. */
export interface TenantSettings {
  readonly issuer: string;
  /** Null: the provider has one issuer. */
  readonly allowedTenants: readonly string[] | "any" | null;
}

/** Returns undefined for a provider with one issuer. Pure. */
export function tenantsOf({ issuer, allowedTenants }: TenantSettings): Tenants | undefined {
  const template = issuerTemplate(issuer);
  // Only the setting turns the rules of several tenants on. Otherwise, issuers are compared
  // exactly.
  if (template === undefined || allowedTenants === null) return undefined;
  const isAllowed = (tenant: string) => allowedTenants === "any" || allowedTenants.includes(tenant);
  return {
    template,
    issuerFor({ tid }) {
      if (!isTenant(tid)) throw new ProviderRefusedError("id_token_tid");
      if (!isAllowed(tid)) throw new ProviderRefusedError("id_token_tenant");
      return tenantIssuer(template, tid);
    },
    keyFits: (own, issuer) => own === undefined || own === template || own === issuer,
    isResponseIssuer(iss) {
      const [head = "", tail = ""] = template.split("{tenantid}");
      const tenant =
        iss.startsWith(head) && iss.endsWith(tail)
          ? iss.slice(head.length, iss.length - tail.length)
          : "";
      return iss === template || (isTenant(tenant) && isAllowed(tenant));
    },
  };
}
