/** Which scopes and resources requests for the tokens of APIs have. Pure. */
import type { TokenTarget } from "../ports/provider.js";
import { profileOf } from "./provider-profiles.js";

/** An API, and whether it has tokens of its own. */
interface ApiRow extends TokenTarget {
  /** Undefined: it gets the session's token. */
  readonly target: string | undefined;
  /** The key of the provider whose users may use it. Undefined: any. */
  readonly provider: string | undefined;
}

/**
 * Returns the APIs for whose own tokens a provider is asked.
 * @param key the provider's; undefined: it is the only one
 */
export function targetsAt<Row extends ApiRow>(
  apis: Iterable<Row>,
  key: string | undefined,
): readonly Row[] {
  return [...apis].filter(
    ({ target, provider }) => target !== undefined && (provider ?? key) === key,
  );
}

/** Whether a request for a token is for one resource at a time, which its scope names. */
export function isNamedByScope(issuer: string): boolean {
  return profileOf(issuer).apiTokens.namedBy === "scope";
}

/** The scopes that name an API's resource: without scopes, all permissions of the resource. */
export function scopesThatName({ resource, audience, scope }: TokenTarget): readonly string[] {
  return scope.length > 0 ? scope : [`${resource ?? audience[0] ?? ""}/.default`];
}

/**
 * Returns the resources and scopes that a login asks for, so that the refreshes for these APIs
 * succeed (RFC 8707 section 2.2).
 *
 * @param api the API that the login is for, whose consent may come later
 */
export function askedAtLogin(
  targets: readonly TokenTarget[],
  issuer: string,
  api?: string,
): { readonly resources: readonly string[]; readonly scopes: readonly string[] } {
  const asked = targets.filter((target) => !target.consentLater || target.api === api);
  if (isNamedByScope(issuer)) return { resources: [], scopes: asked.flatMap(scopesThatName) };
  return {
    resources: asked.flatMap(({ resource }) => resource ?? []),
    scopes: asked.flatMap(({ scope }) => scope),
  };
}
