import type { SessionRequest } from "../access/session-request.js";
import { ProviderRefusedError } from "../errors.js";
import { loginPath } from "../guard/login-url.js";
import { markIf } from "../http/cross-site-parameter.js";
import type { Reply } from "../http/reply.js";
import { single } from "../http/request.js";
import { failureReply, outageReply } from "../pages/failure-reply.js";
import { withoutUndefined } from "../record/without-undefined.js";
import {
  linkInvalid,
  presentUser,
  type Callback,
  type ProviderAnswer,
} from "./callback-endings.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { finishLogin } from "./finish-login.js";
import { postedCallback, responseOf } from "./posted-callback.js";
import { RunningExchanges } from "./running-exchanges.js";
import { signedAnswer } from "./signed-response.js";

export type CallbackEndpoint = (opened: SessionRequest, context: EndpointContext) => Promise<Reply>;

/**
 * GET {mountPath}login-callback, or login-callback/{key}: completes the sign-in after the provider's
 * redirect. A double click sends the same response twice at once; both requests get the same reply.
 */
export function createCallback(registration: EndpointRegistration): CallbackEndpoint {
  const running = new Map<string, Promise<Reply>>();
  const exchanges = new RunningExchanges();
  return async (opened, context) => {
    const { request, session } = opened;
    const { pages } = context;
    const callback = { opened, context, registration };
    try {
      if (request.method === "POST") return await postedCallback(callback);
      const isSigned = registration.settings.responseMode === "jwt";
      const response = isSigned
        ? await signedResponse(callback)
        : responseOf(opened, context, registration);
      // Anyone can write a query without a signature.
      if (response === undefined) return await linkInvalid(callback, undefined, "response_missing");
      const { value: state, repeated } = single(response.query, "state");
      await session.read().catch((error: unknown) => {
        context.events.failed("callback", error, { provider: registration.key });
        throw error;
      });
      if (state === undefined || state === "" || repeated) return await linkInvalid(callback);
      if (session.key === undefined)
        return await finishLogin(callback, response, { state, exchanges });
      // The whole response: an attacker who planted the cookie of a login of their own (session
      // fixation) knows the state, but not the code.
      const id = `${session.key} ${response.query.toString()}`;
      let reply = running.get(id);
      if (reply === undefined) {
        reply = finishLogin(callback, response, { state, exchanges }).finally(() =>
          running.delete(id),
        );
        running.set(id, reply);
      }
      return await reply;
    } catch (error) {
      // Another site may have begun that login.
      const parameters = { ...withoutUndefined({ provider: registration.key }), ...markIf(true) };
      const href = loginPath(pages.publicPath, parameters);
      if (error instanceof ProviderRefusedError) {
        const action = { label: "action.startAgain", href } as const;
        const user = await presentUser(callback, undefined);
        return failureReply({ code: "sign_in_refused", action, user }, request, {
          pages,
          otherwise: "html",
        });
      }
      return outageReply(error, request, {
        pages,
        isOrganizations: registration.sourceKey !== undefined,
        action: { label: "action.signInAgain", href },
      });
    }
  };
}

/**
 * As {@link signedAnswer}. No login is looked for before the signature is verified, so a stranger's
 * response never uses one up.
 */
async function signedResponse(callback: Callback): Promise<ProviderAnswer | undefined> {
  try {
    return await signedAnswer(callback);
  } catch (error) {
    const { context, registration } = callback;
    context.events.failed("callback", error, { provider: registration.key });
    throw error;
  }
}
