/**
 * The sentences of the landing page for the provider's error codes (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6). The
 * page shows only these: neither the provider's text nor a text in the URL.
 */
export const SIGN_IN_ERRORS = {
  access_denied: "You did not give your consent, or your account may not use this application.",
  login_required: "You must sign in at the identity provider first.",
  consent_required: "The identity provider needs your consent first.",
  interaction_required: "The identity provider must ask you a question first.",
  account_selection_required: "You must choose an account at the identity provider first.",
  invalid_request: "The identity provider could not read this application's request.",
  unauthorized_client: "The identity provider does not let this application sign people in this way.",
  unsupported_response_type: "The identity provider does not support the way this application signs people in.",
  invalid_scope: "The identity provider does not offer all permissions that this application requests.",
  server_error: "Something went wrong at the identity provider.",
  temporarily_unavailable: "The identity provider is busy or under maintenance. Try again in a moment.",
  provider_error: "The identity provider ended the sign-in, without a reason that this site knows.",
} as const satisfies Record<string, string>;

export type SignInErrorCode = keyof typeof SIGN_IN_ERRORS;

/** The code of a raw `error` parameter: itself if it is in the list, else `provider_error`. */
export function signInErrorCode(raw: string): SignInErrorCode {
  return Object.hasOwn(SIGN_IN_ERRORS, raw) ? (raw as SignInErrorCode) : "provider_error";
}
