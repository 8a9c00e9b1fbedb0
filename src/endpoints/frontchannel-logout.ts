import { isEntraIssuer } from "../config/tenants.js";
import { framedPage, queryOf, single, type Reply } from "../http/request-and-replies.js";
import type { EndpointContext } from "./context.js";
import { outageReply } from "./failure-reply.js";
import { badParameters } from "./parameters.js";
import type { SessionRequest } from "./session-request.js";

/**
 * GET {mountPath}frontchannel-logout: the provider's logout page loads it in a frame (OpenID Connect Front-Channel Logout 1.0). It ends the
 * sessions with this `sid`. It ignores cookies, because browsers do not send them in a frame of another site.
 */
export async function frontchannelLogout({ request }: SessionRequest, context: EndpointContext): Promise<Reply> {
  const { settings, pages, providerLogouts, events } = context;
  const query = new URLSearchParams(queryOf(request.target));
  const sid = single(query, "sid");
  const iss = single(query, "iss");
  try {
    const fits = await isOurs(iss, context);
    if (sid.value === undefined || sid.value === "" || sid.repeated || !fits) {
      const bad = fits
        ? { name: "sid", options: [], reason: "The parameter sid is missing, empty or repeated" }
        : { name: "iss", options: [], reason: "The parameter iss is not this application's provider" };
      events.refused("frontchannel_logout", "invalid_parameter");
      return badParameters([bad], request, pages);
    }
    const ended = (await providerLogouts?.endSid(sid.value)) ?? 0;
    for (let count = 0; count < ended; count += 1) {
      events.emit("ended", { issuer: iss.value ?? settings.issuer, reason: "logged_out_at_provider" });
    }
    return framedPage(new URL(settings.issuer).origin);
  } catch (error) {
    events.failed("frontchannel_logout", error);
    return outageReply(error, request, pages);
  }
}

async function isOurs(
  { value, repeated }: { readonly value: string | undefined; readonly repeated: boolean },
  { settings: { issuer }, provider }: EndpointContext,
): Promise<boolean> {
  // Entra ID sends no `iss`.
  if (value === undefined) return isEntraIssuer(issuer);
  if (repeated) return false;
  return value === issuer || (await provider.facts()).isResponseIssuer?.(value) === true;
}
