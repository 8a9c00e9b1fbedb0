/** What the proxy needs of a session and of the framework. */
import { logLine, reasonLine } from "../events/log-lines.js";
import type { LogEntry } from "../events/log.js";
import type { SessionAccess } from "../access/session-access.js";
import type { SessionRequest } from "../access/session-request.js";
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import type { CommonSettings } from "../config/read-settings.js";
import type { GuardRule } from "../config/rule-options.js";
import { ApiTokenError, ERRORS, isOutage, placeOf, type ErrorCode } from "../errors.js";
import { driverCode, type EventHub } from "../events/event-hub.js";
import { blockedUser, type Blocked } from "../guard/blocked.js";
import { isNavigation, loginPath, providerIn } from "../guard/login-url.js";
import type { AnyReply, Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import { failureReply, outageOf, type Failure } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";
import type { Shutdown } from "../work/shutdown.js";
import { fetchBody, fetchTransport } from "./fetch-forward.js";
import { proxyRequest, type Exchange } from "./proxy.js";
import type { HeaderLines } from "./request-headers.js";
import { stepUpReply } from "./step-up.js";
import { rulesFor } from "./target.js";

/** The running component, as far as the proxy uses it. */
export interface ProxyComponent {
  readonly settings: CommonSettings;
  readonly pages: Pages;
  readonly access: SessionAccess;
  readonly events: EventHub;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
  apiToken(
    session: SessionRequest["session"],
    api: string,
    options: { minValidity: number; rejected?: string | undefined },
  ): Promise<string | null>;
}

/** A request for an API. */
export interface Proxied {
  readonly api: Api;
  readonly opened: SessionRequest;
  readonly client: string | undefined;
  /** The guard of the proxy. @param ofPath the API's rules for this request */
  readonly guard: (ofPath: readonly GuardRule[]) => Promise<Blocked | undefined>;
  /** A signal that aborts when the session ends. */
  readonly ended: () => AbortSignal;
  readonly onClose: (closed: () => void) => void;
  /** Breaks the connection to the browser, or its stream of HTTP/2. */
  readonly cut?: () => void;
}

/** Seconds for which a token must stay valid. */
const MIN_VALIDITY = 30;

/** Milliseconds that a guard may take before the session is read again. */
const LOOK_AGAIN = 100;

/** Passes a request of the Fetch standard on. */
export function respondOverFetch(
  proxied: Proxied,
  request: Request,
  component: ProxyComponent,
): Promise<AnyReply> {
  const transport = fetchTransport(proxied.api, component.clock, globalThis.fetch);
  return proxyRequest(
    proxied.api,
    transport,
    exchangeOf(proxied, [...request.headers].flat(), component),
    fetchBody(request),
  );
}

/** Returns what the proxy needs of a request. @param lines its headers */
export function exchangeOf(
  proxied: Proxied,
  lines: HeaderLines,
  component: ProxyComponent,
): Exchange {
  const { api, opened, client, guard, ended, onClose, cut } = proxied;
  const { settings, pages, events, clock, access } = component;
  const { request, session } = opened;

  /** What has gone is known from this look-up only: a framework's session keeps its copy. */
  async function blockedIfGone(): Promise<Blocked | undefined> {
    if ((await session.reload()) !== undefined) return undefined;
    return blockedUser(opened, session.endedBy ?? "no_credentials", component);
  }

  /** @param isAgain the session may have ended since the request came */
  async function token(isAgain: boolean, rejected?: string): Promise<string | Reply> {
    try {
      const gone = isAgain ? await blockedIfGone() : undefined;
      const since = clock.monotonic();
      const blocked = gone ?? (await guard(rulesFor(api, request)));
      if (blocked !== undefined) return blocked.reply;
      // The application's own rule may have waited, such as for its database.
      const late = clock.monotonic() - since >= LOOK_AGAIN ? await blockedIfGone() : undefined;
      if (late !== undefined) return late.reply;
      const options = { minValidity: MIN_VALIDITY, rejected };
      // A rejected token is never "signed out".
      const known = (await component.apiToken(session, api.api, options)) ?? rejected;
      return known ?? (await blockedUser(opened, "no_credentials", component)).reply;
    } catch (error) {
      if (error instanceof ApiTokenError) return tokenRefused(error, opened, component);
      if (!isOutage(error)) throw error;
      return failureReply(outageOf(error, loginPath(settings.publicPath)), request, pages, "json");
    }
  }

  return {
    request,
    lines,
    origin: opened.origin,
    client,
    pathPrefix: settings.pathPrefix,
    clock,
    shutdown: component.shutdown,
    ...(cut && { cut }),
    ended,
    onClose,
    token: () => token(false),
    tokenAgain: (rejected) => token(true, rejected),
    async stepUp(challenge) {
      const { scope: _scope, ...stepUp } = challenge.parameters;
      const record = await session.read();
      const provider = record && access.ownerOf(record).provider;
      const parameters = { ...providerIn(provider), ...stepUp, api: api.api };
      const loginUrl = loginPath(settings.publicPath, parameters);
      return stepUpReply(challenge, { api: api.api, loginUrl }, opened, component);
    },
    refused: (code, more) => refusedReply({ code, ...more }, request, pages),
    failed(error) {
      const cause = driverCode(error);
      const failure = {
        during: "api",
        api: api.api,
        kind: "outage",
        reason: error.code,
        ...(cause !== "rejected" && { cause }),
      } as const;
      events.emit("failure", failure, lineOf(error.code, api.api));
    },
    locationDropped() {
      const { level, message } = logLine("api_location_dropped");
      events.log({ level, code: "api_location_dropped", message, details: { api: api.api } });
    },
    threw(error) {
      const place = placeOf(error);
      const details = { api: api.api, ...(place !== undefined && { place }) };
      events.log({ ...logLine("api_rule_threw"), details });
    },
  };
}

/** The line of a failure whose cause isn't only the API's. */
function lineOf(code: ErrorCode, api: string): LogEntry | undefined {
  const message =
    code === "api_body_consumed"
      ? `The proxy couldn't send a request to the API ${api}, because other code, such as a body parser, had read its body. Mount \`auth.proxyApi\` before that code.`
      : code === "api_redirect_refused"
        ? `The API ${api} redirected the browser to another site, so the browser got 502 (api_redirect_refused). If browsers may follow the redirect, list its origin in \`apis.${api}.redirects\`.`
        : undefined;
  return message === undefined
    ? undefined
    : { ...reasonLine("api_failed", code, { api }), message };
}

/**
 * The response to a request that isn't passed on, or whose response isn't: a page for a navigation,
 * otherwise a problem document.
 */
function refusedReply(
  failure: Pick<Failure, "code" | "headers" | "detail" | "reason">,
  request: IdpRequest,
  pages: Pages,
): Promise<Reply> {
  // A page of another site, such as the provider's, led here: the user can go on.
  const goesOn = failure.code === "cross_origin" && isNavigation(request);
  const label = goesOn ? "action.continue" : "action.tryAgain";
  const hasAction = goesOn || ERRORS[failure.code].status >= 500;
  const action = hasAction ? ({ label, href: "" } as const) : undefined;
  return failureReply({ ...failure, action }, request, pages, "json");
}

/**
 * What the browser gets if there is no token for the API: a login that asks for what is missing, or
 * a failure.
 */
function tokenRefused(
  { api, code, status, reason, loginUrl }: ApiTokenError,
  opened: SessionRequest,
  component: ProxyComponent,
): Promise<Reply> {
  if (loginUrl === undefined) {
    // A 502 has the provider's word as its reason, which is for the log.
    const failure = status === 403 ? { code, reason } : { code };
    return refusedReply(failure, opened.request, component.pages);
  }
  const error = "insufficient_user_authentication";
  return stepUpReply({ status: 401, error, parameters: {} }, { api, loginUrl }, opened, component);
}
