/** One row of the table of errors. docs/reference/errors.md is generated from it. */
interface ErrorRow {
  /** The HTTP status of the endpoints' responses. Error handlers of frameworks use it, too. */
  readonly status: number;
  /** One short sentence for users. */
  readonly title: string;
  readonly remedy: string;
}

/** Keeps the codes in the type of the table, and leaves the texts out. */
function errorRows<Code extends string>(
  rows: Readonly<Record<Code, ErrorRow>>,
): Readonly<Record<Code, ErrorRow>> {
  return rows;
}

/** The errors that a page shows. The pages' texts have their titles. */
export const PAGE_ERRORS = errorRows({
  invalid_parameter: {
    status: 400,
    title: "A query parameter is invalid",
    remedy: "Use one of the values in `valid_options`.",
  },
  host_invalid: {
    status: 400,
    title: "The Host header can't be used",
    remedy: "Set BASE_URL. idpauth then ignores the Host header.",
  },
  login_loop: {
    status: 500,
    title: "The sign-in page redirects to itself",
    remedy:
      "Have the proxy pass the Host header on unchanged, or set BASE_URL to the origin that browsers use. nginx: write `proxy_set_header Host $http_host`, because `$host` drops the port. Vite: write each entry of the proxy as an object with `changeOrigin: false`; the short form, a string, sets it to true. Astro: add the domain to `security.allowedDomains`. If a trusted proxy sends `X-Forwarded-Host`, set IDP_TRUST_PROXY.",
  },
  login_link_invalid: {
    status: 400,
    title: "This sign-in link is no longer valid",
    remedy:
      "Start the sign-in again. If the error occurs every time, check that the browser sends the cookie to the callback. The callback must have the origin of BASE_URL, and no proxy may drop cookies.",
  },
  sign_in_refused: {
    status: 400,
    title: "The sign-in could not be completed",
    remedy:
      "Start the sign-in again. If the error occurs every time, find the failed check in the log. Then compare client, issuer and clock with the provider.",
  },
  not_found: {
    status: 404,
    title: "There is no page at this address",
    remedy: "Check the path. docs/reference/endpoints.md lists the endpoints.",
  },
  method_not_allowed: {
    status: 405,
    title: "This method is not allowed here",
    remedy: "Use a method that the Allow header lists.",
  },
  provider_required: {
    status: 400,
    title: "Choose how to sign in",
    remedy:
      "Send the user to the `login_url` of one of the `providers`. If the response lists `email` under `parameters`, send the user to the login page, which asks for the work email address.",
  },
  prefetch_refused: {
    status: 503,
    title: "This page cannot be prefetched",
    remedy:
      "You don't need to do anything, because the user's click works. A script that signs a user in or out adds `response=json` to the address, or sends the header `X-Idpauth`. To avoid prefetches, exclude the links to login and logout from them.",
  },
  provider_unavailable: {
    status: 503,
    title: "The identity provider cannot be reached right now",
    remedy: "Try again after the seconds in Retry-After. All users stay signed in.",
  },
  provider_misconfigured: {
    status: 503,
    title: "Sign-in is not set up correctly",
    remedy: "Find the cause in the log line with this code, or run `npx idpauth check --live`.",
  },
  store_unavailable: {
    status: 503,
    title: "The session store cannot be reached right now",
    remedy: "Try again after the seconds in Retry-After. Check the store's health and capacity.",
  },
  session_missing: {
    status: 503,
    title: "The session middleware did not run",
    remedy:
      "Install the framework's session middleware before idpauth. Check the health of its store.",
  },
  sign_in_denied: {
    status: 403,
    title: "You are not allowed to sign in here",
    remedy: "`onSignIn` made this decision. If it's unexpected, check that function.",
  },
  claims_rejected: {
    status: 403,
    title: "Your account is missing information that this application needs",
    remedy:
      "The log line with this code names the claims, without values. Have the provider send them (scopes, claim mappings, `userinfo`), or allow other values in the schema.",
  },
  step_up_failed: {
    status: 403,
    title: "The identity provider did not confirm your identity again",
    remedy:
      "Check that the provider supports `max_age` and `acr_values`, and that both are allowed for this client. A missing `auth_time` never meets `maxAge`: if the provider sends the claim only on request, don't set IDP_REQUEST_AUTH_TIME to false.",
  },
  login_required: {
    status: 401,
    title: "Sign-in is required",
    remedy: "Send the user to `login_url`.",
  },
  insufficient_user_authentication: {
    status: 401,
    title: "Sign in again to continue",
    remedy: "Send the user to `login_url`.",
  },
  cross_origin: {
    status: 403,
    title: "This request did not come from this site",
    remedy:
      "Send the request from a page on the application's origin. If a proxy changes the Host header, set BASE_URL. For routes behind `auth.csrf`, a program can send the header `X-Idpauth: 1` instead.",
  },
  too_many_streams: {
    status: 429,
    title: "This session has too many open event streams",
    remedy:
      "Close one, for example by closing a tab. Instead of `/idpauth/events`, idpauth/client requests the session state, so nothing is lost. If a user of yours needs more event streams and WebSockets, raise IDP_STREAMS_PER_SESSION.",
  },
  forbidden: {
    status: 403,
    title: "You are not allowed to open this page",
    remedy:
      "Give the user the permission that `allow` checks. Signing in again doesn't help unless the claims have changed.",
  },
  hook_failed: {
    status: 503,
    title: "The sign-in cannot be completed right now",
    remedy:
      "The log line `function_threw` names the function and the kind of error. A function that you've set as `log` also gets the place in the code, as `details.place`. Correct the function that failed.",
  },
});

/**
 * THE table of errors: the codes of responses, exceptions and log lines. A code is never renamed.
 */
export const ERRORS = errorRows({
  ...PAGE_ERRORS,
  configuration_invalid: {
    status: 500,
    title: "The sign-in component is not configured correctly",
    remedy:
      "Correct each finding as its remedy says, and start again. `npx idpauth check` lists the findings without starting the application.",
  },
  origin_unknown: {
    status: 421,
    title: "This address isn't available here",
    remedy:
      "If the host is the application's, add it to BASE_URL, or have the function `baseUrl` return its origin. A reverse proxy must pass the Host header on unchanged; if it sends `X-Forwarded-Host`, set IDP_TRUST_PROXY or the framework's own setting.",
  },
  guard_missing: {
    status: 500,
    title: "This page isn't available right now",
    remedy:
      "Put the guard before the handler, and pass `requireSession` the request object that the guard received.",
  },
  other_user_signed_in: {
    status: 409,
    title: "You are signed in as another user",
    remedy:
      "You don't need to do anything: the user chooses which account to use. If one of your own pages starts the login, idpauth doesn't ask.",
  },
  sign_in_unconfirmed: {
    status: 409,
    title: "The sign-in needs the user's confirmation",
    remedy:
      "You don't need to do anything: the user confirms the sign-in or stays signed out. If one of your own pages starts the login, idpauth doesn't ask.",
  },
  session_ended: {
    status: 401,
    title: "The session has ended",
    remedy: "Close the connection. The response to the browser's next request contains the reason.",
  },
  shutting_down: {
    status: 503,
    title: "This server is restarting",
    remedy:
      "Connect again after the seconds in Retry-After: another process, or the next one, responds. Configure the load balancer to stop using a process that is stopping.",
  },
  api_sign_in_required: {
    status: 401,
    title: "Sign in again to use this service",
    remedy:
      "Send the user to `loginUrl`, which asks the provider for the consent or the authentication that the API needs.",
  },
  api_token_refused: {
    status: 502,
    title: "A service behind this application cannot be used right now",
    remedy:
      "The log line names the cause. Compare `resource`, `audience` and `scope` of the API in the option `apis` with what the provider allows for this client.",
  },
  api_token_missing: {
    status: 403,
    title: "This service can't be used with your present sign-in",
    remedy:
      "An API's own token comes with a refresh token. Have the provider send one (docs/providers/index.md), and set IDP_SESSION_AUTO_REFRESH. The log line names the cause.",
  },
  api_provider_mismatch: {
    status: 403,
    title: "You signed in with a provider that this service does not accept",
    remedy: "Guard the route with the API's provider: `auth.idpRequiredWith({ provider })`.",
  },
  api_path_invalid: {
    status: 400,
    title: "This address can't be passed on",
    remedy:
      "Send the path in its normal form: without dot segments, backslashes and a fragment, with letters and digits as they are, and with `fetchApi` also without a leading slash. If the API needs an encoded slash, an empty segment or a semicolon, list it in the API's `paths`.",
  },
  api_framing_invalid: {
    status: 400,
    title: "The length of this request isn't clear",
    remedy: "Send either Content-Length or Transfer-Encoding, once.",
  },
  api_body_consumed: {
    status: 500,
    title: "This request can't be passed on",
    remedy:
      "Mount the proxy before the body parser, because the proxy passes on the body as the browser sent it.",
  },
  api_unreachable: {
    status: 502,
    title: "The service behind this page can't be reached right now",
    remedy:
      "Check the API and its `url`. The log line has the code of the connection's error, such as ECONNREFUSED or CERT_HAS_EXPIRED.",
  },
  api_response_invalid: {
    status: 502,
    title: "The service behind this page sent an unusable response",
    remedy:
      "Check the response of the API: it switches to another protocol than WebSocket, or its status doesn't exist.",
  },
  api_redirect_refused: {
    status: 502,
    title: "The service behind this page redirects to another site",
    remedy:
      "If browsers may follow the redirect, list its origin in the API's `redirects`. Otherwise, check the API's Location, which is neither below its `url` nor below the proxy's path.",
  },
  api_token_rejected: {
    status: 502,
    title: "The service behind this page rejected the access token",
    remedy:
      "Compare the token's audience and issuer with what the API accepts. The response to an earlier token was 401, too, or the request was too large to repeat with the new one.",
  },
  api_nonce_demanded: {
    status: 503,
    title: "The service behind this page couldn't accept the request yet",
    remedy:
      "Try again. The API demanded a nonce in the DPoP proof, and the request was too large to repeat. idpauth has the nonce now.",
  },
  api_timeout: {
    status: 504,
    title: "The service behind this page didn't respond in time",
    remedy: "Try again. If the API needs longer, raise its `timeout`.",
  },
});

/** The codes of responses, exceptions and log lines; never renamed. */
export type ErrorCode = keyof typeof ERRORS;
