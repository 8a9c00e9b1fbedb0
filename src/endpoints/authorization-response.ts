/** What the provider's redirect to the callback says. */
import { single } from "../http/request.js";
import type { ProviderFacts } from "../ports/provider.js";
import type { PendingLogin } from "../record/record.js";
import { signInErrorCode, type SignInErrorCode } from "../record/sign-in-errors.js";
import { needsUser } from "../record/silent-login.js";

/** The authorization response, as the query of the callback has it. */
export type AuthorizationResponse =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "error"; readonly code: SignInErrorCode }
  | { readonly kind: "invalid"; readonly reason: "iss" | "parameters" | "provider" };

/**
 * A code that a provider can issue (RFC 6749 appendix A.11), of a length that fits a URL. No other
 * code is sent to the provider.
 */
const CODE = /^[\x20-\x7e]{1,8192}$/;

/** Reads the authorization response (RFC 6749 section 4.1.2) of a login whose state is known. */
export function readAuthorizationResponse(
  query: URLSearchParams,
  login: PendingLogin,
  facts: ProviderFacts,
): AuthorizationResponse {
  const iss = single(query, "iss");
  const error = single(query, "error");
  const code = single(query, "code");
  // RFC 9207 section 2.4: compared if present, on errors too; required if the provider announces
  // it.
  const fits = (value: string) => facts.isResponseIssuer?.(value) ?? value === facts.issuer;
  const isIssRight = iss.value === undefined ? !facts.sendsIss : fits(iss.value) && !iss.repeated;
  if (!isIssRight || login.issuer !== facts.issuer) return { kind: "invalid", reason: "iss" };
  if (error.repeated || code.repeated) return { kind: "invalid", reason: "parameters" };
  if (error.value !== undefined && error.value !== "")
    return {
      kind: "error",
      code: error.value === facts.cancelled ? "access_denied" : signInErrorCode(error.value),
    };
  if (code.value !== undefined && CODE.test(code.value)) return { kind: "code", code: code.value };
  return { kind: "invalid", reason: "parameters" };
}

/**
 * Whether a silent login failed because the provider needs the user: the application then goes on
 * without a sign-in.
 */
export function isSilentFailure(login: PendingLogin, response: AuthorizationResponse): boolean {
  return login.silent === true && response.kind === "error" && needsUser(response.code);
}
