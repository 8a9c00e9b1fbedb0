/** What the proxy needs of a session and of the framework. */
import { reasonLine } from "../events/log-lines.js";
import type { LogEntry } from "../events/log.js";
import type { SessionRequest } from "../access/session-access.js";
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import type { CommonSettings } from "../config/read-settings.js";
import { ApiTokenError, ERRORS, isOutage } from "../errors.js";
import { driverCode, type EventHub } from "../events/event-hub.js";
import { blockedUser, loginHeader, loginPath, providerIn, type Blocked } from "../guard/blocked.js";
import { json, problem, type AnyReply, type Reply } from "../http/reply.js";
import { failureReply, outageOf } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";
import type { Registration } from "../ports/registration.js";
import { clientOf } from "../record/record.js";
import { fetchBody, fetchTransport } from "./fetch-forward.js";
import { proxyRequest, type Exchange } from "./proxy.js";
import type { HeaderLines } from "./request-headers.js";

/** The running component, as far as the proxy uses it. */
export interface ProxyComponent {
  readonly settings: CommonSettings;
  readonly registrations: readonly Registration[];
  readonly pages: Pages;
  readonly events: EventHub;
  readonly clock: Clock;
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
  /** The guard of the route. */
  readonly guard: () => Promise<Blocked | undefined>;
  /** A signal that aborts when the session ends. */
  readonly ended: () => AbortSignal;
  readonly onClose: (closed: () => void) => void;
}

/** Seconds for which a token must stay valid. */
const MIN_VALIDITY = 30;

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
  const { api, opened, client, guard, ended, onClose } = proxied;
  const { settings, registrations, events } = component;
  return {
    request: opened.request,
    lines,
    origin: opened.origin,
    client,
    pathPrefix: settings.pathPrefix,
    clock: component.clock,
    ended,
    onClose,
    async token(rejected) {
      try {
        const blocked = rejected === undefined ? await guard() : undefined;
        if (blocked !== undefined) return blocked.reply;
        const token = await component.apiToken(opened.session, api.api, {
          minValidity: MIN_VALIDITY,
          rejected,
        });
        // A rejected token is never "signed out".
        const known = token ?? rejected;
        return known ?? (await blockedUser(opened, "no_credentials", component)).reply;
      } catch (error) {
        if (error instanceof ApiTokenError) return refusedReply(error);
        if (isOutage(error))
          return failureReply(
            outageOf(error, loginPath(settings.publicPath)),
            opened.request,
            component.pages,
            "json",
          );
        throw error;
      }
    },
    async loginUrl({ scope: _scope, ...stepUp }) {
      const record = await opened.session.read();
      const provider = record && clientOf(record, registrations)?.key;
      return loginPath(settings.publicPath, { ...providerIn(provider), ...stepUp, api: api.api });
    },
    failed(error) {
      const cause = driverCode(error);
      const failure = {
        during: "api",
        api: api.api,
        kind: "outage",
        reason: error.code,
        ...(cause !== "rejected" && { cause }),
      } as const;
      events.emit(
        "failure",
        failure,
        error.code === "api_body_consumed" ? consumed(api.api) : undefined,
      );
    },
  };
}

/** The line for a request whose body is gone, which is no failure of the API. */
function consumed(api: string): LogEntry {
  const message = `The proxy couldn't send a request to the API ${api}, because other code, such as a body parser, had read its body. Mount \`auth.proxyApi\` before that code.`;
  return { ...reasonLine("api_failed", "api_body_consumed", { api }), message };
}

/**
 * What the browser gets if there is no token for the API: a login that asks for what is missing, in
 * the guard's form, or a problem.
 */
function refusedReply({ code, loginUrl }: ApiTokenError): Reply {
  if (loginUrl === undefined) return problem(code, `${ERRORS[code].title}.`);
  const error = "insufficient_user_authentication";
  return json({ authenticated: true, error, login_url: loginUrl }, 401, {
    ...loginHeader(loginUrl),
    "WWW-Authenticate": `Bearer error="${error}"`,
  });
}
