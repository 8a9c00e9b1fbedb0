import { randomBytes } from "node:crypto";
import { isOutage } from "../errors.js";
import { logLine } from "../events/log-lines.js";
import { isPrefetch, json, queryOf, redirect, single, type IdpRequest, type Reply } from "../http/request-and-replies.js";
import { withLogin } from "../record/pending-logins.js";
import type { PendingLogin } from "../record/record.js";
import { LOGIN_RESPONSES, sameOriginUrl, SCHEMES, type Origin, type Scheme } from "../http/redirects.js";
import { epochSeconds } from "../clock.js";
import type { Settings } from "../config/read-settings.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";
import { failureReply, outageReply } from "./failure-reply.js";
import { loginHop } from "./login-hop.js";
import { passedParameters } from "./login-parameters.js";
import { isSilent } from "./silent-login.js";
import { stepUpParameters } from "./step-up-parameters.js";
import { badParameters, choice, type BadParameter } from "./parameters.js";
import { badPopupParameters, popupQuery } from "./popup.js";

/** GET {mountPath}login/: redirects the user to the provider, or gives a script the URL to navigate to. */
export async function login(visit: SessionRequest, context: EndpointContext): Promise<Reply> {
  const { request, session, origin } = visit;
  const { settings, provider, clock, events } = context;
  const { pages } = context;
  const { publicPath } = settings;
  if (isPrefetch(request)) return failureReply({ code: "prefetch_refused" }, request, pages, "json");

  const query = new URLSearchParams(queryOf(request.target));
  const wanted = readParameters(query);
  const { passed, bad } = passedParameters(query, settings.loginParams);
  const { stepUp, bad: badStepUp } = stepUpParameters(query);
  if (!("scheme" in wanted) || bad.length > 0 || badStepUp.length > 0) {
    events.refused("login", "invalid_parameter");
    return badParameters([...("scheme" in wanted ? [] : wanted.bad), ...bad, ...badStepUp], request, pages);
  }
  if (origin === undefined) {
    events.refused("login", "host_invalid");
    return failureReply({ code: "host_invalid" }, request, pages, "json");
  }
  const hop = wanted.response === "json" ? undefined : loginHop(visit, query, context);
  if (hop !== undefined) return hop;

  const popup = wanted.response === "popup" ? popupQuery(query) : undefined;
  const destination: Destination =
    popup === undefined
      ? destinationOf(wanted.scheme, query, request, origin, settings)
      : { url: `${publicPath}popup${popup}`, decision: "not_used" };
  // The line contains neither address: one is a stranger's input, the other may be private.
  if (destination.decision === "rejected") events.log(logLine("origin_rejected"));
  const now = epochSeconds(clock);
  const pending: PendingLogin = {
    state: unguessable(),
    nonce: unguessable(),
    verifier: unguessable(),
    final_redirect: destination.url,
    redirect_uri: `${origin}${publicPath}login-callback`,
    issuer: settings.issuer,
    started_at: now,
    ...(stepUp && { step_up: stepUp }),
  };
  try {
    // The provider first: during an outage of the provider nothing is stored.
    const url = await provider.authorizationUrl({
      redirectUri: pending.redirect_uri,
      state: pending.state,
      nonce: pending.nonce,
      verifier: pending.verifier,
      selectAccount: query.get("select_account") === "true",
      parameters: passed,
      stepUp,
    });
    const debug = settings.debug ? { scheme: wanted.scheme, origin: destination.decision, final_redirect: destination.url } : undefined;
    const started = isSilent(url) ? { ...pending, silent: true as const } : pending;
    await session.begin((record) => withLogin(record, started, now, debug));
    const reply = wanted.response === "json" ? json({ redirect_to: url }) : redirect(url);
    return { ...reply, setCookies: session.setCookies };
  } catch (error) {
    if (isOutage(error)) events.failed("login", error);
    const again = popup === undefined ? "" : `?${new URLSearchParams([["response", "popup"], ...new URLSearchParams(popup)]).toString()}`;
    return outageReply(error, request, pages, { label: "action.tryAgain", href: `${publicPath}login/${again}` });
  }
}

/** 256 random bits: state (RFC 6749 section 10.10), nonce, and a PKCE verifier of the shortest allowed length (RFC 7636). */
function unguessable(): string {
  return randomBytes(32).toString("base64url");
}

interface Wanted {
  readonly scheme: Scheme;
  readonly response: (typeof LOGIN_RESPONSES)[number];
}

function readParameters(query: URLSearchParams): Wanted | { readonly bad: readonly BadParameter[] } {
  const scheme = choice(query, "scheme", SCHEMES, "DEFAULT");
  const response = choice(query, "response", LOGIN_RESPONSES, "redirect");
  if (typeof scheme === "string" && typeof response === "string") {
    // Only a script can set a custom header, and a script cannot follow the redirect to the provider.
    if (scheme === "PRESERVE_ORIGIN_HP" && response === "redirect") {
      return { bad: [{ name: "response", options: ["json"], reason: "The scheme PRESERVE_ORIGIN_HP requires response=json" }] };
    }
    const bad = response === "popup" ? badPopupParameters(query) : [];
    return bad.length > 0 ? { bad } : { scheme, response };
  }
  return { bad: [scheme, response].filter((outcome) => typeof outcome !== "string") };
}

interface Destination {
  readonly url: string;
  /** For the record's debug key. */
  readonly decision: "accepted" | "rejected" | "not_used";
}

function destinationOf(scheme: Scheme, query: URLSearchParams, request: IdpRequest, own: Origin, settings: Settings): Destination {
  const fallback = settings.authFinalRedirectUrl ?? settings.publicPath;
  if (scheme === "LANDING_PAGE" || scheme === "DEFAULT") return { url: fallback, decision: "not_used" };
  const asked = scheme === "PRESERVE_ORIGIN_QP" ? single(query, "origin_url") : { value: request.header("x-origin-url"), repeated: false };
  const accepted = asked.repeated ? undefined : sameOriginUrl(asked.value, own);
  return accepted === undefined ? { url: fallback, decision: "rejected" } : { url: accepted, decision: "accepted" };
}
