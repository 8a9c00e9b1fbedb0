/** What a login replies that several providers fit. Loaded by its first use. */
import type { SessionRequest } from "../access/session-request.js";
import { keptByChooser } from "../config/login-parameters.js";
import { ERRORS } from "../errors.js";
import { CROSS_SITE } from "../http/cross-site-parameter.js";
import type { Initiator } from "../http/initiator.js";
import { problem, type Reply } from "../http/reply.js";
import { queryOf } from "../http/request.js";
import type { DescribedProvider } from "../pages/page-description.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";

/** A login for which the user, or the script, has to choose one of several providers. */
interface Choice {
  readonly providers: readonly EndpointRegistration[];
  readonly passed: Readonly<Record<string, string>>;
  readonly isJson: boolean;
  readonly initiator: Initiator;
}

/**
 * The reply to a login that several providers fit: a page where the user chooses, or 400 with the
 * list for a script.
 */
export async function chooserFor(
  { request }: SessionRequest,
  { pages }: EndpointContext,
  { providers, isJson, ...login }: Choice,
): Promise<Reply> {
  const kept = keptParameters(new URLSearchParams(queryOf(request.target)), login);
  const choices = choicesOf(providers, kept, pages);
  if (!isJson) return pages.chooser({ providers: choices }, request);
  const code = "provider_required";
  return problem(code, `${ERRORS[code].title}.`, { members: { providers: listed(choices) } });
}

/** Parameters of a login, in order. A name can occur more than once. */
export type Kept = readonly (readonly [name: string, value: string])[];

/** Returns what a login keeps while the user chooses. */
export function keptParameters(
  query: URLSearchParams,
  { passed, initiator }: Pick<Choice, "passed" | "initiator">,
): Kept {
  const kept = [...keptByChooser(query), ...Object.entries(passed)];
  if (initiator === "other") kept.push([CROSS_SITE, "true"]);
  return kept;
}

/** Returns the providers, each with the address of its login. */
export function choicesOf(
  providers: readonly EndpointRegistration[],
  kept: Kept,
  { publicPath }: { readonly publicPath: string },
): DescribedProvider[] {
  return providers.map(({ key = "", name, icon }) => {
    const query = new URLSearchParams({ provider: key });
    for (const [parameter, value] of kept) query.append(parameter, value);
    return { key, name, icon, href: `${publicPath}login/?${query.toString()}` };
  });
}

/** Returns the choices as a problem document lists them. */
export function listed(choices: readonly DescribedProvider[]) {
  return choices.map(({ key, name, href }) => ({ key, name, login_url: href }));
}
