/**
 * The provider's error codes that a page has a sentence for (RFC 6749 section 4.1.2.1, OpenID
 * Connect Core section 3.1.2.6), and `provider_error` for any other.
 */
export const SIGN_IN_ERRORS = [
  "access_denied",
  "login_required",
  "consent_required",
  "interaction_required",
  "account_selection_required",
  "invalid_request",
  "unauthorized_client",
  "unsupported_response_type",
  "invalid_scope",
  "server_error",
  "temporarily_unavailable",
  "provider_error",
] as const;

export type SignInErrorCode = (typeof SIGN_IN_ERRORS)[number];

/** Returns the code of a raw `error` parameter. Neither a page nor a URL repeats another text. */
export function signInErrorCode(raw: string): SignInErrorCode {
  return SIGN_IN_ERRORS.find((code) => code === raw) ?? "provider_error";
}
