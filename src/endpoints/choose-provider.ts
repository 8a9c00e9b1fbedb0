/** Which of several providers a login goes to. */
import { single } from "../http/request.js";
import type { BadParameter } from "../pages/failure-reply.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";

/** One provider: the login goes to it. Several: the user, or the script, chooses one. */
type Candidates = readonly EndpointRegistration[] | { readonly bad: BadParameter };

/** Returns the providers that a login may go to, by its parameters `provider` and `iss` (OpenID Connect Core section 4). */
export function candidates(query: URLSearchParams, { registrations, settings }: EndpointContext): Candidates {
  // One provider without a key is never chosen.
  if (settings.providers === null) return registrations;
  const { value: key, repeated } = single(query, "provider");
  if (key !== undefined) {
    const chosen = registrations.filter((one) => !repeated && one.key === key);
    return chosen.length > 0 ? chosen : { bad: { name: "provider", options: settings.providers } };
  }
  const iss = single(query, "iss");
  if (iss.value !== undefined) {
    const chosen = registrations.filter(({ issuer }) => !iss.repeated && issuer === iss.value);
    const reason = "The parameter iss takes the issuer of one of the application's providers, and only once";
    return chosen.length > 0 ? chosen : { bad: { name: "iss", options: [], reason } };
  }
  const standard = registrations.filter((one) => one.key === settings.defaultProvider);
  return standard.length > 0 ? standard : registrations;
}

/** Returns the API that a login asks for (parameter `api`). */
export function askedApi(query: URLSearchParams, { apis }: EndpointContext): string | undefined | { readonly bad: BadParameter } {
  const { value, repeated } = single(query, "api");
  if (apis.size === 0 || value === undefined) return undefined;
  return !repeated && apis.has(value) ? value : { bad: { name: "api", options: [...apis.keys()] } };
}

/** The parameter of a login whose first request another site may have started. It only makes the login stricter. */
export const CROSS_SITE = "cross_site";
