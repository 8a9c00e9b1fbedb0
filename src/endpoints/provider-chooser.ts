/** What a login replies that several providers fit. Loaded by its first use. */
import type { SessionRequest } from "../access/session-request.js";
import { keptByChooser } from "../config/login-parameters.js";
import { ERRORS } from "../errors.js";
import { CROSS_SITE } from "../http/cross-site-parameter.js";
import type { Initiator } from "../http/initiator.js";
import { problem, type Reply } from "../http/reply.js";
import { queryOf } from "../http/request.js";
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
  { providers, passed, isJson, initiator }: Choice,
): Promise<Reply> {
  const query = new URLSearchParams(queryOf(request.target));
  const kept = [...keptByChooser(query), ...Object.entries(passed)];
  if (initiator === "other") kept.push([CROSS_SITE, "true"]);
  const choices = providers.map(({ key = "", name, icon }) => {
    const href = `${pages.publicPath}login/?${new URLSearchParams([["provider", key], ...kept] as [string, string][]).toString()}`;
    return { key, name, icon, href };
  });
  if (!isJson) return pages.chooser({ providers: choices }, request);
  const code = "provider_required";
  const members = {
    providers: choices.map(({ key, name, href }) => ({ key, name, login_url: href })),
  };
  return problem(code, `${ERRORS[code].title}.`, { members });
}
