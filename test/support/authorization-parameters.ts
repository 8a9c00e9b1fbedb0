/** The parameters of an authorization request whose settings are the defaults, sorted. */
export const AUTHORIZATION_PARAMETERS = [
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "nonce",
  "prompt",
  "redirect_uri",
  "response_type",
  "scope",
  "state",
];
