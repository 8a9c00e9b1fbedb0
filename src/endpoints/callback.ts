import type { SessionRequest } from "../access/session-request.js";
import { ProviderRefusedError } from "../errors.js";
import { loginPath } from "../guard/login-url.js";
import type { Reply } from "../http/reply.js";
import { queryOf, single } from "../http/request.js";
import { failureReply, outageReply } from "../pages/failure-reply.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { linkInvalid } from "./callback-endings.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { finishLogin } from "./finish-login.js";

export type CallbackEndpoint = (opened: SessionRequest, context: EndpointContext) => Promise<Reply>;

/**
 * GET {mountPath}login-callback, or login-callback/{key}: completes the sign-in after the provider's
 * redirect. A double click sends the same URL twice at once; both requests get the same response.
 */
export function createCallback(registration: EndpointRegistration): CallbackEndpoint {
  const running = new Map<string, Promise<Reply>>();
  return async (opened, context) => {
    const { request, session } = opened;
    const { pages } = context;
    const callback = { opened, context, registration };
    try {
      const query = new URLSearchParams(queryOf(request.target));
      const { value: state, repeated } = single(query, "state");
      await session.read().catch((error: unknown) => {
        context.events.failed("callback", error, { provider: registration.key });
        throw error;
      });
      if (state === undefined || state === "" || repeated || session.key === undefined)
        return await linkInvalid(callback);
      // The whole URL: an attacker who planted the cookie of a login of their own (session
      // fixation) knows the state, but not the code.
      const id = `${session.key} ${queryOf(request.target)}`;
      let reply = running.get(id);
      if (reply === undefined) {
        reply = finishLogin(callback, query, state).finally(() => running.delete(id));
        running.set(id, reply);
      }
      return await reply;
    } catch (error) {
      if (error instanceof ProviderRefusedError)
        return failureReply({ code: "sign_in_refused" }, request, { pages, otherwise: "html" });
      return outageReply(error, request, {
        pages,
        action: {
          label: "action.signInAgain",
          href: loginPath(pages.publicPath, withoutUndefined({ provider: registration.key })),
        },
      });
    }
  };
}
