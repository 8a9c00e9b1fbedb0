/**
 * What a provider is sent so that an access token is for one API, and whether the token that came
 * is.
 */
import { isNamedByScope, scopesThatName } from "../config/api-scopes.js";
import { profileOf } from "../config/provider-profiles.js";
import { ProviderRefusedError } from "../errors.js";
import type { TokenTarget } from "../ports/provider.js";
import type { SpentRefresh } from "../record/credentials.js";
import { isObject } from "../record/json.js";
import { withoutUndefined } from "../record/without-undefined.js";

/** Returns the parameters of a refresh for one API. Pure. */
export function targetParameters(
  target: TokenTarget,
  issuer: string,
): Readonly<Record<string, string>> {
  const { resource, audience, scope } = target;
  const [first] = audience;
  if (isNamedByScope(issuer)) return { scope: scopesThatName(target).join(" ") };
  return withoutUndefined({
    resource,
    audience: resource === undefined ? first : undefined,
    scope: scope.length > 0 ? scope.join(" ") : undefined,
  });
}

/**
 * Checks that an access token is for this API.
 *
 * @throws ProviderRefusedError `api_token_…`
 */
export function checkAudience(
  { accessToken, resources }: SpentRefresh,
  { resource, audience }: TokenTarget,
  issuer: string,
): void {
  if (resource !== undefined && resources !== undefined && !resources.includes(resource))
    throw new ProviderRefusedError("api_token_resource");
  const expected = [...audience, ...(resource === undefined ? [] : [resource])];
  if (expected.length === 0) return;
  const claims = claimsOf(accessToken ?? "");
  if (claims === undefined) {
    if (!profileOf(issuer).apiTokens.mayBeOpaque)
      throw new ProviderRefusedError("api_token_opaque");
    return;
  }
  if (![claims["aud"]].flat().some((aud) => expected.includes(aud as string)))
    throw new ProviderRefusedError("api_token_audience");
}

/**
 * Returns the claims of a JWT; undefined for a token that is none. Nothing is verified: the API
 * does that.
 */
function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString());
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Scopes that no token response has to name: those of OpenID Connect, and Entra ID's name for all
 * permissions of an API.
 */
const UNNAMED = /^(?:openid|profile|email|address|phone|offline_access|.*\/\.default)$/;

/**
 * Returns the scopes that were asked for and not granted. Pure. Entra ID may name a scope without
 * its resource, and in another case.
 */
export function missingScopes(
  { scope }: TokenTarget,
  granted: readonly string[] | undefined,
): readonly string[] {
  const nameOf = (full: string) => full.slice(full.lastIndexOf("/") + 1).toLowerCase();
  const names = granted?.map(nameOf);
  return names === undefined
    ? []
    : scope.filter((asked) => !names.includes(nameOf(asked)) && !UNNAMED.test(asked));
}
