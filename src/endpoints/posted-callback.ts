/**
 * A response of the provider as a posted form (OAuth 2.0 Form Post Response Mode). A cross-site POST
 * brings no SameSite=Lax cookie, so it is answered by a redirect to the callback's GET, which does.
 */
import type { SessionRequest } from "../access/session-request.js";
import type { Origin } from "../http/redirects.js";
import { redirect, type Reply } from "../http/reply.js";
import { queryOf, type IdpRequest } from "../http/request.js";
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
  const { events, pages } = context;
  const response = await fieldsInForm(request, context, registration);
  if (origin === undefined) {
    events.refused("callback", "host_invalid", { provider: registration.key });
    return failureReply({ code: "host_invalid" }, request, { pages, otherwise: "html" });
  }
  if (response.size === 0 || isTooLong(response)) return linkInvalid(callback);
  return redirect(withSealed(response, { origin, context, registration }), 303);
}

/** The fields of a provider's response that the callback reads. */
export function fieldsIn(response: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...response].filter(([name]) => FIELDS.includes(name)));
}

/** Those of a posted form, and the name that Apple posts. */
export async function fieldsInForm(
  request: IdpRequest,
  { clock }: EndpointContext,
  { settings }: EndpointRegistration,
): Promise<URLSearchParams> {
  const form = (await readForm(request, clock)) ?? new URLSearchParams();
  const response = fieldsIn(form);
  if (response.size > 0 && settings.appleTeamId !== null)
    for (const [part, text] of Object.entries(nameInForm(form) ?? {}))
      if (typeof text === "string") response.set(part, text);
  return response;
}

/** Whether a response is longer than an address can be. */
export function isTooLong(response: URLSearchParams): boolean {
  return response.toString().length > MAX_FIELDS_LENGTH;
}

/** Which callback gets a posted response. */
interface SealedFor {
  readonly origin: Origin;
  readonly context: EndpointContext;
  readonly registration: EndpointRegistration;
}

/** The path and query of the callback, with a posted response that counts at this origin only. */
export function withSealed(
  response: URLSearchParams,
  { origin, context, registration }: SealedFor,
): string {
  const path = pathOf(context, registration);
  const sealed = context.postedResponses.seal(response.toString(), { origin, path });
  return `${path}?${new URLSearchParams({ [RESPONSE]: sealed }).toString()}`;
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
