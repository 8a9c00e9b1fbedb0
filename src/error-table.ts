/** One row of the table of errors. docs/reference/errors.md is generated from it. */
interface ErrorRow {
  /** The HTTP status of the endpoints' responses. Error handlers of frameworks use it, too. */
  readonly status: number;
  /** One short sentence for users. */
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

/** Keeps the codes in the type of the table, and leaves the texts out. */
function errorRows<Code extends string>(rows: Readonly<Record<Code, ErrorRow>>): Readonly<Record<Code, ErrorRow>> {
  return rows;
}

/** THE table of errors: the codes of responses, exceptions and log lines. A code is never renamed. */
export const ERRORS = errorRows({
  configuration_invalid: {
    status: 500,
    title: "The sign-in component is not configured correctly",
    cause: "One or more startup checks failed. The exception lists all findings.",
    remedy:
      "Correct each finding as its remedy says, and start again. `npx idpauth check` lists the findings without starting the application.",
  },
  invalid_parameter: {
    status: 400,
    title: "A query parameter has no valid value",
    cause: "`scheme` or `response` is unknown, empty or given more than once, or the two cannot be combined.",
    remedy: "Use one of the values in `valid_options`.",
  },
  host_invalid: {
    status: 400,
    title: "The Host header is not usable",
    cause: "The request's Host header is missing or not a hostname. So idpauth cannot tell to which address the login returns.",
    remedy: "Set BASE_URL. idpauth then ignores the Host header.",
  },
  login_loop: {
    status: 500,
    title: "The sign-in page redirects to itself",
    cause:
      "idpauth redirects a login to BASE_URL, but the login arrives there with another Host header. A development proxy or the framework rewrites the header. The response and the log contain the Host header and BASE_URL.",
    remedy:
      "Have the proxy pass the Host header on unchanged, or set BASE_URL to the origin that browsers use. Vite: write each entry of the proxy as an object with `changeOrigin: false`; the short form, a string, sets it to true. Astro: add the domain to `security.allowedDomains`. If a trusted proxy sends `X-Forwarded-Host`, set IDP_TRUST_PROXY.",
  },
  login_link_invalid: {
    status: 400,
    title: "This sign-in link is no longer valid",
    cause: "The callback's state is missing, repeated, unknown, expired, already used, or belongs to another browser.",
    remedy:
      "Start the sign-in again. If the error returns every time, check that the browser sends the cookie to the callback. The callback must have the origin of BASE_URL, and no proxy may drop cookies.",
  },
  sign_in_refused: {
    status: 400,
    title: "The sign-in could not be completed",
    cause:
      "The provider refused the code, or its ID token or issuer failed a check. Or another user signed in while this sign-in was in progress.",
    remedy:
      "Start the sign-in again. If the error returns every time, find the failed check in the log. Then compare client, issuer and clock with the provider.",
  },
  login_required: {
    status: 401,
    title: "Sign-in is required",
    cause: "The route is guarded, and the user is not signed in, or a session limit has ended the session.",
    remedy: "Send the user to `login_url`.",
  },
  not_found: {
    status: 404,
    title: "There is no page at this address",
    cause: "There is no endpoint at this path below the mount path. Or it is the debug endpoint, and debug mode is off.",
    remedy: "Check the path. docs/reference/endpoints.md lists the endpoints.",
  },
  method_not_allowed: {
    status: 405,
    title: "This method is not allowed here",
    cause: "All endpoints support GET. The index, session and debug endpoints also support HEAD.",
    remedy: "Use a method that the Allow header lists.",
  },
  prefetch_refused: {
    status: 503,
    title: "This page cannot be prefetched",
    cause: "A browser or framework prefetched the login or logout link, without a click by the user.",
    remedy: "No action is needed: the user's click works. To avoid such requests, exclude the two links from prefetching.",
  },
  provider_unavailable: {
    status: 503,
    title: "The identity provider cannot be reached right now",
    cause: "A request to the provider failed: there was a network failure, a timeout or an unusable response. The session is kept.",
    remedy: "Try again after the seconds in Retry-After. All users stay signed in.",
  },
  provider_misconfigured: {
    status: 503,
    title: "Sign-in is not set up correctly",
    cause:
      "The settings do not match the provider. Examples: a wrong client secret, another issuer, a discovery document that redirects, or encrypted ID tokens. Sessions are kept.",
    remedy: "Find the cause in the log line with this code, or run `npx idpauth check --live`.",
  },
  store_unavailable: {
    status: 503,
    title: "The session store cannot be reached right now",
    cause: "The session store did not respond in time, or has no space for another login. The session and the cookie are unchanged.",
    remedy: "Try again after the seconds in Retry-After. Check the store's health and capacity.",
  },
  session_missing: {
    status: 503,
    title: "The session middleware did not run",
    cause:
      '`session: "host"` is set, but this request has no session of the framework. The session middleware is missing, runs after idpauth, or has lost its store.',
    remedy: "Install the framework's session middleware before idpauth. Check the health of its store.",
  },
  sign_in_denied: {
    status: 403,
    title: "You may not sign in here",
    cause: "The application's `onSignIn` refused this user with `deny()`. There is no new session, and the tokens are revoked.",
    remedy: "This is the application's decision. If it is unexpected, check that function.",
  },
  claims_rejected: {
    status: 403,
    title: "Your account lacks information that this application needs",
    cause: "The application's claims schema (`claims`) does not accept what the provider says about this user.",
    remedy:
      "The log line `claims_refused` names the claims, without values. Have the provider send them (scopes, claim mappings, `userinfo`), or allow other values in the schema.",
  },
  step_up_failed: {
    status: 403,
    title: "The identity provider did not confirm your identity again",
    cause:
      "A route requires a recent or strong authentication (`maxAge`, `acr`). The provider's ID token does not show it: `auth_time` or `acr` is missing, too old or too weak. Or another user signed in.",
    remedy: "Check that the provider supports `max_age` and `acr_values`, and that both are allowed for this client.",
  },
  cross_origin: {
    status: 403,
    title: "This request did not come from this site",
    cause:
      "A request came from a page of another origin, or from a program that sends neither Sec-Fetch-Site nor Origin. The sessions page, the event stream and `auth.csrf` refuse such requests.",
    remedy:
      "Send the request from a page of the application's own origin. If a proxy changes the Host header, set BASE_URL. For routes behind `auth.csrf`, a program may send the header `X-Idpauth: 1` instead.",
  },
  too_many_streams: {
    status: 429,
    title: "This session has too many open event streams",
    cause: "The session has 8 event streams of `events` open in this process.",
    remedy: "Close one, for example by closing a tab. The client of idpauth asks for the session state instead, so nothing is lost.",
  },
  session_ended: {
    status: 401,
    title: "The session has ended",
    cause: "The signal of `whenEnded` aborts with this error when the session of its request ends. `reason` says why.",
    remedy: "Close the connection. The browser learns why at its next request.",
  },
  forbidden: {
    status: 403,
    title: "You may not open this page",
    cause: "The user is signed in, but the route's `allow` did not return true.",
    remedy: "Give the user the right that `allow` checks. A new sign-in does not help unless the claims have changed.",
  },
  insufficient_user_authentication: {
    status: 401,
    title: "Sign in again to continue",
    cause: "The route requires a more recent or stronger authentication than the session has (`maxAge`, `acr`; RFC 9470).",
    remedy: "Send the user to `login_url`.",
  },
  hook_failed: {
    status: 503,
    title: "The sign-in cannot be completed right now",
    cause:
      "A function of the application (`onSignIn`, `onRefresh` or the claims schema) threw, or took longer than `hookTimeout`. Existing sessions are kept.",
    remedy: "The log line `hook_threw` names the function, the kind of error and its place. Correct that function.",
  },
  provider_refused: {
    status: 400,
    title: "The identity provider refused the sign-in or refresh",
    cause:
      "The provider refused a code or a refresh token, or the ID token failed a check. Only authors of adapters see this code: endpoints respond with `sign_in_refused`, and a refused refresh ends the session with `refresh_rejected`.",
    remedy: "Have the user sign in again.",
  },
});

export type ErrorCode = keyof typeof ERRORS;
