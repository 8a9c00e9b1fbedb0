import { PENDING_LOGIN_SECONDS } from "../record/pending-logins.js";
import {
  createSealedParameter,
  type SealedParameter,
  type SealedParameterOptions,
} from "./sealed-parameter.js";

/**
 * Seconds: the browser follows the redirect at once, but a callback that is repeated may come as
 * late as its login.
 */
const RESPONSE_SECONDS = PENDING_LOGIN_SECONDS;

/** The provider's response to a login, which a form has brought to the callback. */
export function createPostedResponses(
  parts: Pick<SealedParameterOptions, "sealer" | "clock">,
): SealedParameter {
  return createSealedParameter({ ...parts, purpose: "response", seconds: RESPONSE_SECONDS });
}
