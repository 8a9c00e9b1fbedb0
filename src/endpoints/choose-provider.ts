/** Which of several providers a login goes to. */
import { isIssuerOf } from "../config/tenant-issuers.js";
import { single } from "../http/request.js";
import type { BadParameter } from "../pages/failure-reply.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";

/** One provider: the login goes to it. Several: the user, or the script, chooses one. */
type Candidates = readonly EndpointRegistration[] | { readonly bad: BadParameter };

/**
 * Returns the providers that a login may go to, by its parameters `provider`, `iss` (OpenID Connect
 * Core section 4) and `api`.
 */
export function candidates(
  query: URLSearchParams,
  { registrations, settings, apis }: EndpointContext,
): Candidates {
  const { value: key, repeated } = single(query, "provider");
  // One provider without a key is never chosen.
  if (key !== undefined && settings.providers !== null) {
    const chosen = registrations.filter((one) => !repeated && one.key === key);
    return chosen.length > 0 ? chosen : { bad: { name: "provider", options: settings.providers } };
  }
  const iss = single(query, "iss");
  if (iss.value !== undefined) {
    const chosen = registrations.filter(
      ({ issuer }) => !iss.repeated && isIssuerOf(issuer, iss.value),
    );
    const reason =
      "The parameter iss takes the issuer of the application's provider, or of one of them, and only once";
    return chosen.length > 0 ? chosen : { bad: { name: "iss", options: [], reason } };
  }
  const preferred = apis.get(query.get("api") ?? "")?.provider ?? settings.defaultProvider;
  const standard = registrations.filter((one) => one.key === preferred);
  return standard.length > 0 ? standard : registrations;
}

/** Returns the API that a login to these providers asks for (parameter `api`). */
export function askedApi(
  query: URLSearchParams,
  { apis }: EndpointContext,
  providers: Candidates,
): string | undefined | BadParameter {
  const { value, repeated } = single(query, "api");
  if (apis.size === 0 || value === undefined) return undefined;
  if (repeated || !apis.has(value)) return { name: "api", options: [...apis.keys()] };
  const key = apis.get(value)?.provider;
  if (key === undefined || "bad" in providers || providers.some((one) => one.key === key))
    return value;
  return {
    name: "api",
    options: [],
    reason: `The API ${value} is for users of the provider ${key}`,
  };
}

/**
 * The parameter of a login whose first request another site may have started. It only makes the
 * login stricter.
 */
export const CROSS_SITE = "cross_site";
