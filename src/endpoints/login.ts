import type { SessionRequest } from "../access/session-request.js";
import { ownParameters } from "../config/login-parameters.js";
import { isOutage, ProviderRefusedError } from "../errors.js";
import { logLine } from "../events/log-lines.js";
import { initiatorOf, type Initiator } from "../http/initiator.js";
import { isAuthority, parseUrl, type Origin } from "../http/redirects.js";
import { redirect, json, type Reply } from "../http/reply.js";
import { queryOf } from "../http/request.js";
import {
  badParameters,
  failureReply,
  outageReply,
  type BadParameter,
} from "../pages/failure-reply.js";
import type { AuthorizationAddress } from "../ports/provider.js";
import type { UserSession } from "../ports/user-session.js";
import { withLogin } from "../record/pending-logins.js";
import type { PendingLogin } from "../record/record.js";
import type { ApiLogin } from "../record/stored-api-tokens.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { lazily } from "../work/lazily.js";
import { readApi, readProviders } from "./choose-provider.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { reportForwardedList } from "./forwarded-list.js";
import {
  destinationOf,
  failureAt,
  failureCodeOf,
  loginAgain,
  type Destination,
} from "./login-destination.js";
import { readLoginParameters, type LoginParameters } from "./login-parameters.js";
import { loginInitiator, newLogin } from "./new-login.js";

/** Loaded at the start if a login can name an API. */
export const loadApiLogin = lazily(() => import("../record/stored-api-tokens.js"));
/** Loaded at the start if a user may have to choose. */
export const loadChooser = lazily(() => import("./provider-chooser.js"));
/** Loaded at the start if a login may ask for the work email address. */
export const loadOrganization = lazily(() => import("./organization.js"));

/**
 * GET {mountPath}login/: redirects the user to the provider, or gives a script the URL to navigate
 * to.
 */
export async function login(opened: SessionRequest, context: EndpointContext): Promise<Reply> {
  const { request, origin } = opened;
  const { settings, events, pages } = context;
  const query = new URLSearchParams(queryOf(request.target));
  // A parameter that the table of login parameters lacks has no effect.
  const own = ownParameters(query);
  const initiator = loginInitiator(opened, query, context);
  // The pages that offer another account, or ask for the work email address, pass a hint, also in a
  // login that another site began. A hint in a link of another site would choose the account.
  const names =
    initiator === "own" || initiatorOf(request) === "own"
      ? [...new Set([...settings.loginParams, "login_hint"])]
      : settings.loginParams;
  const bad: BadParameter[] = [];
  const { providers, mayBeOther } = await readProviders(own, context, bad).catch(
    (error: unknown) => {
      events.failed("login", error);
      throw error;
    },
  );
  const api = readApi(own, { context, providers }, bad);
  const wanted = readLoginParameters(query, names, bad);
  if (bad.length > 0) {
    events.refused("login", "invalid_parameter");
    return badParameters(bad, request, pages);
  }
  if (origin === undefined) {
    events.refused("login", "host_invalid");
    return failureReply({ code: "host_invalid" }, request, { pages, otherwise: "json" });
  }
  const { response, passed } = wanted;
  reportForwardedList(opened, context);
  const hop = response === "json" ? undefined : loginHop(opened, own, context);
  if (hop !== undefined) return hop;
  const [registration, ...others] = providers;
  const asksForEmail = mayBeOther && context.source?.findByEmailDomain !== undefined;
  if (asksForEmail || registration === undefined || others.length > 0) {
    const isJson = response === "json";
    const choice = { providers, passed, isJson, initiator };
    const { chooserFor, keptParameters } = await loadChooser();
    if (!asksForEmail) return chooserFor(opened, context, choice);
    const { organizationFor } = await loadOrganization();
    const kept = keptParameters(query, { passed, initiator });
    return organizationFor(opened, context, { ...choice, kept });
  }
  return startLogin(opened, context, { ...wanted, own, origin, initiator, registration, api });
}

interface Start extends LoginParameters {
  readonly own: URLSearchParams;
  readonly origin: Origin;
  readonly initiator: Initiator;
  readonly registration: EndpointRegistration;
  /** The name of the API that this login asks for. */
  readonly api: string | undefined;
}

async function startLogin(
  opened: SessionRequest,
  context: EndpointContext,
  start: Start,
): Promise<Reply> {
  const { request, session } = opened;
  const { settings, events, owners } = context;
  const { scheme, response, own, origin, registration } = start;
  const destination = destinationOf({ scheme, query: own, request, origin }, settings);
  // The line contains neither address: one is a stranger's input, the other may be private.
  if (destination.decision === "rejected") events.log(logLine("origin_rejected"));
  const pending = newLogin(opened, context, { ...start, destination });
  try {
    const wanted = await apiLoginOf(session, start, owners);
    // The provider first: during an outage of the provider nothing is stored.
    const { started, url, expiresIn } = await begun(pending, start, wanted);
    const debug = debugOf(start, destination, settings);
    await session.begin((record) => withLogin(record, started, debug));
    const reply =
      response === "json"
        ? json(withoutUndefined({ redirect_to: url, expires_in: expiresIn }))
        : redirect(url);
    return { ...reply, setCookies: session.setCookies };
  } catch (error) {
    const isOrganizations = registration.sourceKey !== undefined;
    return loginFailed(opened, context, { error, pending, response, isOrganizations });
  }
}

/** A login that the provider expects. */
interface Begun extends Pick<AuthorizationAddress, "url" | "expiresIn"> {
  readonly started: PendingLogin;
}

async function begun(
  pending: PendingLogin,
  { passed, stepUp, own, registration, api }: Start,
  wanted: ApiLogin | undefined,
): Promise<Begun> {
  const { provider } = registration;
  const dpopKey = await provider.createDpopKey();
  const { url, isSilent, expiresIn } = await provider.authorizationUrl({
    redirectUri: pending.redirect_uri,
    state: pending.state,
    nonce: pending.nonce,
    verifier: pending.verifier,
    dpopKey,
    selectAccount: own.get("select_account") === "true",
    parameters: passed,
    stepUp,
    requestsAuthTime: registration.requestsAuthTime(),
    api,
    ...wanted,
    takeSlot: registration.takePushSlot,
  });
  const marks = withoutUndefined({ silent: isSilent || undefined, dpop_key: dpopKey });
  return { started: { ...pending, ...marks }, url, expiresIn };
}

/** What the debug page shows of the login. */
function debugOf(
  { scheme }: Start,
  { decision, url }: Destination,
  { debug }: EndpointContext["settings"],
): object | undefined {
  return debug ? { scheme, origin: decision, final_redirect: url } : undefined;
}

interface FailedLogin {
  readonly error: unknown;
  readonly pending: PendingLogin;
  readonly response: LoginParameters["response"];
  /** Whether the provider is a customer's own. */
  readonly isOrganizations: boolean;
}

/** The reply to a login that did not reach the provider. */
async function loginFailed(
  { request }: SessionRequest,
  { settings: { publicPath }, events, pages }: EndpointContext,
  { error, pending, response, isOrganizations }: FailedLogin,
): Promise<Reply> {
  const { provider } = pending;
  const again = loginAgain(pending, publicPath);
  if (error instanceof ProviderRefusedError) events.refused("login", error.reason, { provider });
  else if (isOutage(error)) events.failed("login", error, { provider });
  const code = failureCodeOf(error);
  const failedAt = code && failureAt(pending, code, publicPath);
  if (failedAt !== undefined && response === "redirect") return redirect(failedAt);
  if (code === "sign_in_refused") {
    const action = { label: "action.startAgain", href: again } as const;
    return failureReply({ code, action }, request, { pages, otherwise: "html" });
  }
  const action = { label: "action.tryAgain", href: again } as const;
  return outageReply(error, request, { pages, action, isOrganizations });
}

/** What the login has to bring for its API, because of the session that starts it. */
async function apiLoginOf(
  session: UserSession,
  { api, registration }: Pick<Start, "registration" | "api">,
  owners: EndpointContext["owners"],
): Promise<ApiLogin | undefined> {
  if (api === undefined) return undefined;
  const record = await session.read();
  if (record === undefined || owners.of(record).registration !== registration) return undefined;
  const { apiLogin } = await loadApiLogin();
  return apiLogin(record, api);
}

/**
 * The query parameter of a login that was redirected to BASE_URL. It is ignored if the Host header
 * is BASE_URL's.
 */
const HOP = "idp_hop";

const CAUSES =
  "Something between the browser and the application rewrites Host. Usual causes: `$host` in nginx, which drops the port (use " +
  "`$http_host`), `changeOrigin` in Vite's proxy, an Astro `security.allowedDomains` that doesn't list this host, a proxy that names " +
  "the host in X-Forwarded-Host while IDP_TRUST_PROXY is off, or a BASE_URL with another host or port than browsers use.";

/**
 * Redirects a login whose Host header differs from BASE_URL's to BASE_URL, once. The cookie and the
 * callback belong to that host, so a login that starts elsewhere cannot finish. If the redirected
 * login has another Host again, a proxy rewrites the header; a second redirect would loop.
 *
 * @returns undefined if the Host header is BASE_URL's, or if BASE_URL is not set
 */
function loginHop(
  { request, host, origin }: SessionRequest,
  own: URLSearchParams,
  context: EndpointContext,
): Promise<Reply> | Reply | undefined {
  const { settings, pages, events } = context;
  const { publicPath, baseUrl } = settings;
  if (baseUrl === null || origin === undefined) return undefined;
  const base = new URL(origin);
  // Only hosts are compared: behind a proxy that terminates TLS the schemes differ.
  if (parseUrl(`${base.protocol}//${host ?? ""}`)?.host === base.host) return undefined;
  if (!own.getAll(HOP).includes("1")) {
    const sent = queryOf(request.target);
    // Unchanged if a header can carry it: encoding can triple its length, and servers refuse long
    // headers.
    const sendable = /^[\x21-\x7e]*$/.test(sent) ? sent : new URLSearchParams(sent).toString();
    return redirect(
      `${origin}${publicPath}login/?${sendable}${sendable === "" ? "" : "&"}${HOP}=1`,
    );
  }
  // A hostile Host header is repeated neither to the user nor in the log.
  const seen =
    host !== undefined && isAuthority(host)
      ? `the Host header "${host}"`
      : "a Host header that is missing or no host name";
  const detail = `The login was sent to BASE_URL (${origin}) and came back with ${seen}. ${CAUSES}`;
  // Once for each Host header: every login of every user takes the same way.
  events.logOnce({ level: "error", code: "login_loop", message: detail });
  events.emit("failure", { during: "login", kind: "refusal", reason: "login_loop" }, null);
  return failureReply({ code: "login_loop", detail }, request, { pages, otherwise: "json" });
}
