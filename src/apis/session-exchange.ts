/** A request for an API with the session behind it: its token, and the responses without one. */
import type { Owners } from "../access/session-owner.js";
import type { SessionRequest } from "../access/session-request.js";
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import type { CommonSettings } from "../config/read-settings.js";
import { ApiTokenError, ERRORS, isOutage, type ErrorCode, type IdpAuthError } from "../errors.js";
import { driverCode, type EventHub } from "../events/event-hub.js";
import { functionThrew, logLine, reasonLine } from "../events/log-lines.js";
import type { LogEntry } from "../events/log.js";
import { blockedByOutage, blockedUser, type Blocked } from "../guard/blocked-responses.js";
import type { GuardOpened } from "../guard/guard.js";
import { isNavigation, loginPath } from "../guard/login-url.js";
import { saysOtherSite } from "../http/initiator.js";
import type { Origin } from "../http/redirects.js";
import type { Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import { failureReply, outageOf } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";
import type { AccessToken } from "../record/dpop.js";
import type { EndReason } from "../record/end-reason.js";
import type { GuardRule } from "../record/guard-requirements.js";
import { MIN_VALIDITY_SECONDS } from "../record/token-validity.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { Places } from "../work/places-per-key.js";
import type { Shutdown } from "../work/shutdown.js";
import { challengeReply } from "./challenge-reply.js";
import type { Challenge } from "./challenge.js";
import type { Exchange, RefusalDetails, Watch } from "./exchange.js";
import { rulesFor } from "./path-rules.js";
import type { HeaderLines } from "./request-headers.js";
import { sendObserved, sendUnobserved } from "./trace-headers.js";

/** The running component, as far as the proxy uses it. */
export interface ProxyComponent {
  readonly settings: CommonSettings;
  readonly pages: Pages;
  readonly owners: Owners;
  readonly events: EventHub;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
  readonly streams: Places;
  apiToken(
    session: SessionRequest["session"],
    api: string,
    options: { minValidity: number; rejected?: string | undefined },
  ): Promise<AccessToken | null>;
}

/** A request for an API. */
export interface Proxied {
  readonly api: Api;
  readonly opened: SessionRequest;
  readonly client: string | undefined;
  readonly guard: GuardOpened;
  /** Those of the proxy. The API's rules for the path are added to them. */
  readonly rules: readonly GuardRule[];
  readonly watch: Exchange["watch"];
  /** Undefined: nobody tells when the response is complete. */
  readonly onClose: ((closed: () => void) => void) | undefined;
}

/** Milliseconds of silence after which the system asks whether the browser is still there. */
const KEEP_ALIVE_MS = 60_000;

/** Milliseconds that a guard may take before the session is read again. */
const LOOK_AGAIN_MS = 100;

/** A message of Node.js, as far as its connection, or its stream of HTTP/2, is broken off. */
interface Severable {
  readonly stream?: { destroy(): unknown };
  readonly socket: { destroy(): unknown; setKeepAlive?(enable: boolean, delay: number): unknown };
}

/** A request as it came. */
interface Received {
  readonly lines: HeaderLines;
  /** Absent: the end of the stream from the API breaks the connection. */
  readonly message?: Severable | undefined;
}

/** A request for an API, with the session behind it. */
export class SessionExchange implements Exchange {
  readonly api: Api;
  readonly request: IdpRequest;
  readonly lines: HeaderLines;
  readonly origin: Origin | undefined;
  readonly client: string | undefined;
  readonly pathPrefix: string;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
  readonly onClose: Exchange["onClose"];
  readonly connection: Exchange["connection"];
  readonly #proxied: Proxied;
  readonly #component: ProxyComponent;
  readonly #message: Severable | undefined;

  constructor(proxied: Proxied, { lines, message }: Received, component: ProxyComponent) {
    const { request, origin } = proxied.opened;
    this.api = proxied.api;
    this.request = request;
    this.lines = lines;
    this.origin = origin;
    this.client = proxied.client;
    this.pathPrefix = component.settings.pathPrefix;
    this.clock = component.clock;
    this.shutdown = component.shutdown;
    this.onClose = proxied.onClose;
    this.connection = message?.stream ?? message?.socket;
    this.#proxied = proxied;
    this.#component = component;
    this.#message = message;
  }

  watch(onEnd: (reason: IdpAuthError) => void): Watch {
    return this.#proxied.watch(onEnd);
  }

  takeStream(): (() => void) | undefined {
    const { opened } = this.#proxied;
    // A place that nobody gives back would be lost.
    if (this.onClose === undefined) return () => undefined;
    const place = this.#component.streams.take(opened.session.key);
    // A browser that has vanished without a word gives its place back, too. Node.js doesn't let it
    // be set over HTTP/2.
    if (place && this.#message?.stream === undefined)
      this.#message?.socket.setKeepAlive?.(true, KEEP_ALIVE_MS);
    return place;
  }

  token(): Promise<AccessToken | Reply> {
    return this.#token(false);
  }

  tokenAgain(rejected?: string): Promise<AccessToken | Reply> {
    return this.#token(true, rejected);
  }

  async challenged(challenge: Challenge): Promise<Reply> {
    const { api, opened } = this.#proxied;
    const { settings, owners } = this.#component;
    const { scope: _scope, ...required } = challenge.parameters;
    const record = await opened.session.read();
    const provider = owners.of(record).provider;
    const parameters = { ...withoutUndefined({ provider }), ...required, api: api.api };
    const loginUrl = loginPath(settings.publicPath, parameters);
    return challengeReply({ challenge, api: api.api, loginUrl }, opened, this.#component);
  }

  refused(code: ErrorCode, more?: RefusalDetails): Promise<Reply> {
    return refusedReply({ code, ...more }, this, this.#component.pages);
  }

  observed<Sent extends { readonly status: number }>(
    headers: Map<string, string>,
    send: () => Promise<Sent>,
  ): Promise<Sent> {
    const { api, url } = this.api;
    const { method } = this.request;
    return this.#component.events.run({ name: "api", api, method, url }, (observation) =>
      observation === undefined
        ? sendUnobserved(headers, send)
        : sendObserved(headers, send, observation),
    );
  }

  failed(error: IdpAuthError): void {
    const { api } = this.api;
    const cause = driverCode(error);
    const failure = {
      during: "api",
      api,
      kind: "outage",
      reason: error.code,
      ...(cause !== "rejected" && { cause }),
    } as const;
    this.#component.events.emit("failure", failure, lineOf(error.code, api));
  }

  locationDropped(): void {
    const { api } = this.api;
    this.#component.events.log({ ...logLine("api_location_dropped"), details: { api } });
  }

  threw(error: unknown): void {
    this.#component.events.log(functionThrew("allow", error, { api: this.api.api }));
  }

  /** @param isAgain the session may have ended since the request came */
  async #token(isAgain: boolean, rejected?: string): Promise<AccessToken | Reply> {
    const { api } = this;
    const { opened, guard, rules } = this.#proxied;
    try {
      const gone = isAgain ? await this.#blockedIfGone() : undefined;
      const since = this.clock.monotonic();
      const blocked = gone ?? (await guard(opened, [...rulesFor(api, this.request), ...rules]));
      if (blocked !== undefined) return blocked.reply;
      // The application's own rule may have waited, such as for its database.
      const isLate = this.clock.monotonic() - since >= LOOK_AGAIN_MS;
      const late = isLate ? await this.#blockedIfGone() : undefined;
      if (late !== undefined) return late.reply;
      const options = { minValidity: MIN_VALIDITY_SECONDS, rejected };
      const token = await this.#component.apiToken(opened.session, api.api, options);
      return token ?? (await this.#blocked("no_credentials")).reply;
    } catch (error) {
      return this.#withoutToken(error, isAgain);
    }
  }

  async #withoutToken(error: unknown, isAgain: boolean): Promise<Reply> {
    const { settings, pages } = this.#component;
    if (error instanceof ApiTokenError) return tokenRefused(error, this.#proxied, this.#component);
    if (!isOutage(error)) throw error;
    if (!isAgain) {
      const cause = { error, provider: undefined };
      const { reply } = await blockedByOutage(this.#proxied.opened, cause, this.#component);
      return reply;
    }
    // The API has already answered once, so it may have processed the request.
    const outage = outageOf(error, loginPath(settings.publicPath));
    return failureReply(outage, this.request, { pages, otherwise: "json" });
  }

  /** What has gone is known from this look-up only: a framework's session keeps its copy. */
  async #blockedIfGone(): Promise<Blocked | undefined> {
    const { session } = this.#proxied.opened;
    if ((await session.reload()) !== undefined) return undefined;
    return this.#blocked(session.endedBy ?? "no_credentials");
  }

  #blocked(reason: EndReason): Promise<Blocked> {
    return blockedUser(this.#proxied.opened, { reason }, this.#component);
  }
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

/** The API and the request that isn't passed on. */
type Requested = Pick<Exchange, "api" | "request">;

interface Refused extends RefusalDetails {
  readonly code: ErrorCode;
  /** Our own word for the cause. */
  readonly reason?: string;
}

/**
 * The response to a request that isn't passed on, or whose response isn't: a page for a navigation,
 * otherwise a problem document.
 */
function refusedReply(failure: Refused, { api, request }: Requested, pages: Pages): Promise<Reply> {
  // A page of another site, such as the provider's, led here: the user can go on.
  const goesOn = failure.code === "cross_origin" && isNavigation(request);
  const label = goesOn ? "action.continue" : "action.tryAgain";
  const hasAction = goesOn || ERRORS[failure.code].status >= 500;
  // The link would reach the guard as the application's own, and a login at the provider that the
  // rule requires may replace the session.
  const isKept = () =>
    !saysOtherSite(request) ||
    rulesFor(api, request).every(({ provider }) => provider === undefined);
  const link = { label, href: "" } as const;
  const action = hasAction ? (isKept() ? link : null) : undefined;
  return failureReply({ ...failure, action }, request, { pages, otherwise: "json" });
}

/**
 * What the browser gets if there is no token for the API: a login that asks for what is missing, or
 * a failure.
 */
function tokenRefused(
  { api, code, status, reason, loginUrl }: ApiTokenError,
  proxied: Pick<Proxied, "api" | "opened">,
  component: ProxyComponent,
): Promise<Reply> {
  if (loginUrl === undefined) {
    // A 502 has the provider's word as its reason, which is for the log.
    const failure = status === 403 ? { code, reason } : { code };
    const { request } = proxied.opened;
    return refusedReply(failure, { api: proxied.api, request }, component.pages);
  }
  const error = "insufficient_user_authentication";
  const challenge = { status: 401, error, parameters: {} } as const;
  return challengeReply({ challenge, api, loginUrl }, proxied.opened, component);
}
