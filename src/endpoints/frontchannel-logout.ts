import { notifyOfEnd } from "../access/notify-application.js";
import type { SessionRequest } from "../access/session-request.js";
import { profileOf } from "../config/provider-profiles.js";
import type { Reply } from "../http/reply.js";
import { queryOf, single } from "../http/request.js";
import { outageReply, badParameters } from "../pages/failure-reply.js";
import { framedPage } from "../pages/page-reply.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";

/**
 * GET {mountPath}frontchannel-logout, or frontchannel-logout/{key}: the provider's logout page
 * loads it in a frame (OpenID Connect Front-Channel Logout 1.0). It ends the sessions with this
 * `sid`. It ignores cookies, because browsers do not send them in a frame of another site. So a
 * link or an image of another site, which could as well name a `sid`, must not end a session.
 */
export function createFrontchannelLogout(registration: EndpointRegistration) {
  return async ({ request }: SessionRequest, context: EndpointContext): Promise<Reply> => {
    const { pages, events } = context;
    const { key, issuer, logouts } = registration;
    const query = new URLSearchParams(queryOf(request.target));
    const sid = single(query, "sid");
    const iss = single(query, "iss");
    // Older browsers, and browsers over http, do not send the header.
    if ((request.header("sec-fetch-dest") ?? "iframe") !== "iframe") {
      events.refused("frontchannel_logout", "not_in_a_frame", { provider: key });
      const reason = "Only a frame of the provider's logout page may open this address";
      return badParameters([{ name: "sid", options: [], reason }], request, pages);
    }
    try {
      const fits = await isOurs(iss, registration);
      if (sid.value === undefined || sid.value === "" || sid.repeated || !fits) {
        const bad = fits
          ? { name: "sid", options: [], reason: "The parameter sid is missing, empty or repeated" }
          : {
              name: "iss",
              options: [],
              reason: "The parameter iss isn't this application's provider",
            };
        events.refused("frontchannel_logout", "invalid_parameter", { provider: key });
        return await badParameters([bad], request, pages);
      }
      await logouts?.endSid(sid.value, () => {
        const reason = "logged_out_at_provider";
        const end = { reason, iss: iss.value ?? issuer, sub: undefined, provider: key } as const;
        notifyOfEnd(end, context);
      });
      return framedPage(new URL(issuer).origin);
    } catch (error) {
      events.failed("frontchannel_logout", error, { provider: key });
      return outageReply(error, request, { pages });
    }
  };
}

async function isOurs(
  { value, repeated }: { readonly value: string | undefined; readonly repeated: boolean },
  { issuer, provider }: EndpointRegistration,
): Promise<boolean> {
  if (value === undefined) return !profileOf(issuer).frontchannelIss;
  if (repeated) return false;
  return value === issuer || (await provider.facts()).isResponseIssuer?.(value) === true;
}
