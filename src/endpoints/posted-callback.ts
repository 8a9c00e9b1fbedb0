/**
 * A response of the provider as a posted form (OAuth 2.0 Form Post Response Mode). A cross-site POST
 * brings no SameSite=Lax cookie, so it is answered by a redirect to the callback's GET, which does.
 */
import type { SessionRequest } from "../access/session-request.js";
import { redirect, type Reply } from "../http/reply.js";
import { queryOf } from "../http/request.js";
import { failureReply } from "../pages/failure-reply.js";
import { nameInForm, nameInResponse } from "./apple-posted-name.js";
import { linkInvalid, type Callback, type ProviderAnswer } from "./callback-endings.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { readForm } from "./posted-form.js";

/** The callback's parameter that contains the posted response, sealed with SECRET_KEY. */
const RESPONSE = "response";

/** The fields that the callback reads. Of others, nothing gets into the address. */
const FIELDS = ["state", "code", "iss", "error"];

/** Characters of the fields: the longest request line that servers and proxies accept has 8,192. */
const MAX_FIELDS_LENGTH = 5_000;

/** POST {mountPath}login-callback: neither reads nor changes the session. */
export async function postedCallback(callback: Callback): Promise<Reply> {
  const { opened, context, registration } = callback;
  const { request, origin } = opened;
  const { clock, events, pages } = context;
  const form = (await readForm(request, clock)) ?? new URLSearchParams();
  const fields = [...form].filter(([name]) => FIELDS.includes(name));
  const response = new URLSearchParams(fields);
  if (fields.length > 0 && registration.settings.appleTeamId !== null)
    for (const [part, text] of Object.entries(nameInForm(form) ?? {}))
      if (typeof text === "string") response.set(part, text);
  const content = response.toString();
  if (origin === undefined) {
    events.refused("callback", "host_invalid", { provider: registration.key });
    return failureReply({ code: "host_invalid" }, request, { pages, otherwise: "html" });
  }
  if (content === "" || content.length > MAX_FIELDS_LENGTH) return linkInvalid(callback);
  const place = { origin, path: pathOf(context, registration) };
  const sealed = context.postedResponses.seal(content, place);
  return redirect(`${place.path}?${new URLSearchParams({ [RESPONSE]: sealed }).toString()}`, 303);
}

/**
 * The provider's response: the query of the callback, or what a form has posted before. Empty, so
 * without a state: the sealed form was modified, is for another provider, or has expired.
 */
export function responseOf(
  { request, origin }: SessionRequest,
  context: EndpointContext,
  registration: EndpointRegistration,
): ProviderAnswer {
  const query = new URLSearchParams(queryOf(request.target));
  const [sealed] = query.getAll(RESPONSE);
  if (sealed === undefined || registration.settings.responseMode === "query")
    return { query, postedName: null };
  const path = pathOf(context, registration);
  const response = new URLSearchParams(
    origin && context.postedResponses.open(sealed, { origin, path }),
  );
  return { query: response, postedName: nameInResponse(response) };
}

function pathOf({ settings }: EndpointContext, { key }: EndpointRegistration): string {
  return `${settings.publicPath}login-callback${key === undefined ? "" : `/${key}`}`;
}
