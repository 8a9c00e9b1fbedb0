/** A login as it begins: its secrets, and who began it. */
import { randomBytes } from "node:crypto";
import type { SessionRequest } from "../access/session-request.js";
import { epochSeconds } from "../clock.js";
import { CROSS_SITE } from "../http/cross-site-parameter.js";
import { initiatorOf, isByScript, type Initiator } from "../http/initiator.js";
import { severalOrigins } from "../http/own-origin.js";
import type { Origin } from "../http/redirects.js";
import type { PendingLogin } from "../record/record.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import type { Destination } from "./login-destination.js";
import type { LoginParameters } from "./login-parameters.js";

/** Who began a login. The mark of a page of ours only makes the login stricter. */
export function loginInitiator(
  opened: SessionRequest,
  query: URLSearchParams,
  { ownForms }: EndpointContext,
): Initiator {
  if (query.has(CROSS_SITE)) return "other";
  return ownForms.isProven(opened, query) ? "own" : initiatorOf(opened.request);
}

interface NewLogin extends Pick<LoginParameters, "stepUp"> {
  readonly origin: Origin;
  readonly initiator: Initiator;
  readonly registration: EndpointRegistration;
  /** The name of the API that this login asks for. */
  readonly api: string | undefined;
  readonly destination: Destination;
}

export function newLogin(
  { request }: SessionRequest,
  { settings, clock, callbackStates }: EndpointContext,
  { origin, initiator, registration, stepUp, api, destination }: NewLogin,
): PendingLogin {
  const { key, issuer } = registration;
  const callbackOrigin = settings.callbackOrigin ?? origin;
  const random = unguessable();
  return {
    // 256 random bits each. The PKCE verifier has the shortest allowed length (RFC 7636).
    state:
      callbackOrigin === origin
        ? random
        : callbackStates.create(random, { origin, key }, callbackOrigin),
    nonce: unguessable(),
    verifier: unguessable(),
    final_redirect: destination.url,
    redirect_uri: `${callbackOrigin}${settings.publicPath}login-callback${key === undefined ? "" : `/${key}`}`,
    issuer,
    started_at: epochSeconds(clock),
    ...withoutUndefined({
      origin: severalOrigins(settings) && origin,
      provider: key,
      cross_site: initiator === "other" || undefined,
      unattended: isByScript(request) || initiator === "other" || undefined,
      step_up: stepUp,
      api,
    }),
  };
}

function unguessable(): string {
  return randomBytes(32).toString("base64url");
}
