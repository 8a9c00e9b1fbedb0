/** Which of several providers a login goes to. */
import { queryOf, single } from "../http/request.js";
import { problem, type Reply } from "../http/reply.js";
import type { BadParameter } from "../pages/failure-reply.js";
import { ERRORS } from "../errors.js";
import type { SessionRequest } from "../access/session-access.js";
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

/** The parameters that a login keeps while the user chooses, besides those that it passes on. */
const KEPT = ["scheme", "response", "origin_url", "target_link_uri", "select_account", "max_age", "acr_values", "attempt"];

/** The parameter of a login whose first request another site may have started. It only makes the login stricter. */
export const CROSS_SITE = "cross_site";

/** The reply to a login that several providers fit: a page where the user chooses, or 400 with the list for a script. */
export async function chooserFor(
  providers: readonly EndpointRegistration[],
  login: { readonly passed: Readonly<Record<string, string>>; readonly isJson: boolean; readonly isCrossSite: boolean },
  { request }: SessionRequest,
  { pages }: EndpointContext,
): Promise<Reply> {
  const query = new URLSearchParams(queryOf(request.target));
  const kept = [...KEPT.flatMap((name) => query.getAll(name).map((value) => [name, value])), ...Object.entries(login.passed)];
  if (login.isCrossSite) kept.push([CROSS_SITE, "true"]);
  const choices = providers.map(({ key = "", name }) => {
    const href = `${pages.publicPath}login/?${new URLSearchParams([["provider", key], ...kept] as [string, string][]).toString()}`;
    return { key, name, href };
  });
  if (!login.isJson) return pages.chooser({ choices }, request);
  const code = "provider_required";
  const members = { providers: choices.map(({ key, name, href }) => ({ key, name, login_url: href })) };
  return problem(code, `${ERRORS[code].title}.`, { members });
}
