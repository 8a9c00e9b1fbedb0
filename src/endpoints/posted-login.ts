import type { SessionRequest } from "../access/session-request.js";
import { redirect, type Reply } from "../http/reply.js";
import { queryOf, single } from "../http/request.js";
import { badParameters } from "../pages/failure-reply.js";
import { lazily } from "../work/lazily.js";
import type { EndpointContext } from "./context.js";
import { readForm } from "./posted-form.js";

/** Loaded at the start if a login may ask for the work email address. */
export const loadPostedEmail = lazily(() => import("./posted-email.js"));

/** Characters of a query: longer request lines are refused by servers and proxies. */
const MAX_QUERY_LENGTH = 8_192;

/**
 * POST {mountPath}login/: redirects to the GET with the same fields (OpenID Connect Core section 4).
 * It neither reads nor changes the session: a form of another site brings no SameSite=Lax cookie,
 * so its login would replace a session that it can't see.
 */
export async function postedLogin(
  opened: SessionRequest,
  context: EndpointContext,
): Promise<Reply> {
  const { settings, clock, events, pages, ownForms } = context;
  const { request } = opened;
  const form = await readForm(request, clock);
  const ofAddress = new URLSearchParams(queryOf(request.target));
  const fields = form && new URLSearchParams([...ofAddress, ...form]);
  if (fields === undefined || fields.toString().length > MAX_QUERY_LENGTH) {
    events.refused("login", "invalid_parameter");
    const reason = `The login takes a form (application/x-www-form-urlencoded) with at most ${String(MAX_QUERY_LENGTH)} characters`;
    return badParameters([{ name: "form", options: [], reason }], request, pages);
  }
  const { findByEmailDomain } = context.source ?? {};
  const { value: email } = single(fields, "email");
  if (email !== undefined && !fields.has("provider") && findByEmailDomain !== undefined) {
    const { answerToEmail } = await loadPostedEmail();
    return answerToEmail(opened, context, { email, fields, findByEmailDomain });
  }
  const query = ownForms.withProof(opened, fields).toString();
  return redirect(`${settings.publicPath}login/${query === "" ? "" : `?${query}`}`, 303);
}
