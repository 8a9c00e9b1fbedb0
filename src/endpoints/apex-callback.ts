/**
 * The callback at IDP_CALLBACK_ORIGIN, for a provider that allows one redirect URI. It reads and
 * stores nothing of a session: it sends the browser on to the callback of the login's own origin,
 * with the provider's response.
 */
import type { CommonSettings } from "../config/read-settings.js";
import { isOutage } from "../errors.js";
import { seenHost } from "../http/forwarded-headers.js";
import { normalHost } from "../http/origins.js";
import { severalOrigins } from "../http/own-origin.js";
import type { Origin } from "../http/redirects.js";
import { redirect, type Reply } from "../http/reply.js";
import { queryOf, single, type IdpRequest } from "../http/request.js";
import { failureReply, outageReply } from "../pages/failure-reply.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { fieldsIn, fieldsInForm, isTooLong, withSealed } from "./posted-callback.js";
import { SIGNED_RESPONSE, unverifiedState } from "./signed-response.js";

const CALLBACK = /^login-callback(?:\/([^/]+))?\/?$/;

/**
 * @param path below the mount path
 * @returns undefined if the request isn't a callback at this origin, or is one of this origin's own
 *   logins
 */
export async function apexCallback(
  path: string,
  request: IdpRequest,
  context: EndpointContext,
): Promise<Reply | undefined> {
  const { callbackOrigin } = context.settings;
  const match = CALLBACK.exec(path);
  if (callbackOrigin === null || match === null) return undefined;
  if (!isSentTo(callbackOrigin, request, context.settings)) return undefined;
  const [, key] = match;
  try {
    const registration = await registrationOf(key, request, context);
    const arrived: Arrived = { request, context, callbackOrigin, key, registration };
    if (request.method === "GET") return await sentOn(arrived, inQuery(arrived));
    if (request.method !== "POST" || registration?.settings.responseMode !== "form_post")
      return undefined;
    return await sentOn(arrived, await inForm(arrived, registration));
  } catch (error) {
    if (!isOutage(error)) throw error;
    return outageReply(error, request, { pages: context.pages });
  }
}

async function registrationOf(
  key: string | undefined,
  { method }: IdpRequest,
  { registrations, source }: EndpointContext,
): Promise<EndpointRegistration | undefined> {
  const listed = registrations.find((one) => one.key === key);
  if (listed !== undefined || key === undefined) return listed;
  // The sealed state names the key, so only the form of a POST needs the provider.
  return method === "POST" ? source?.find(key, "request") : undefined;
}

/** A callback at the callback origin. */
interface Arrived {
  readonly request: IdpRequest;
  readonly context: EndpointContext;
  readonly callbackOrigin: Origin;
  /** The provider's key, by the path: perhaps a stranger's text. */
  readonly key: string | undefined;
  readonly registration: EndpointRegistration | undefined;
}

/** The provider's response. */
interface Response {
  readonly fields: URLSearchParams;
  /** Undefined: there is none, or there are several. */
  readonly state: string | undefined;
  /** The address of the callback at an origin, with the response. */
  locationAt(origin: Origin): string;
  /** Whether the callback of this origin's own logins gets it by a redirect, too. */
  readonly isPosted: boolean;
}

function inQuery({ request, context, key, registration }: Arrived): Response {
  const query = new URLSearchParams(queryOf(request.target));
  const { value: jwt, repeated } = single(query, SIGNED_RESPONSE);
  // Of a provider from a source, only its own callback knows the mode.
  const mode = registration?.settings.responseMode ?? (jwt === undefined ? "query" : "jwt");
  const isSigned = mode === "jwt" && jwt !== undefined && !repeated;
  const fields = isSigned ? new URLSearchParams({ [SIGNED_RESPONSE]: jwt }) : fieldsIn(query);
  const state = isSigned && !isTooLong(fields) ? unverifiedState(jwt) : stateIn(fields);
  const path = `${context.settings.publicPath}login-callback${key === undefined ? "" : `/${key}`}`;
  return {
    fields,
    state,
    locationAt: (origin) => `${origin}${path}?${fields.toString()}`,
    isPosted: false,
  };
}

async function inForm(
  { request, context }: Arrived,
  registration: EndpointRegistration,
): Promise<Response> {
  const fields = await fieldsInForm(request, context, registration);
  return {
    fields,
    state: stateIn(fields),
    locationAt: (origin) => `${origin}${withSealed(fields, { origin, context, registration })}`,
    isPosted: true,
  };
}

function stateIn(fields: URLSearchParams): string | undefined {
  const { value, repeated } = single(fields, "state");
  return repeated ? undefined : value;
}

async function sentOn(
  arrived: Arrived,
  { fields, state = "", locationAt, isPosted }: Response,
): Promise<Reply | undefined> {
  const { context, callbackOrigin, key } = arrived;
  const { settings, hosts, callbackStates } = context;
  const place = callbackStates.open(state, callbackOrigin);
  const isOwn = place === undefined && severalOrigins(settings)?.has(callbackOrigin) === true;
  if (isOwn && !isPosted) return undefined;
  const isFit = !isTooLong(fields) && (isOwn || place?.key === key);
  const origin = isOwn ? callbackOrigin : place?.origin;
  if (!isFit || origin === undefined || (!isOwn && (await hosts?.isOwn(origin)) !== true))
    return invalid(arrived);
  return redirect(locationAt(origin), 303);
}

function invalid({ request, context, registration }: Arrived): Promise<Reply> {
  const { pages, events } = context;
  events.refused("callback", "state", { provider: registration?.key });
  const failure = { code: "login_link_invalid", action: null } as const;
  return failureReply(failure, request, { pages, otherwise: "html" });
}

function isSentTo(
  callbackOrigin: Origin,
  request: IdpRequest,
  { trustProxy }: CommonSettings,
): boolean {
  const { protocol, host } = new URL(callbackOrigin);
  const scheme = protocol === "https:" ? "https" : "http";
  return normalHost(scheme, seenHost(request, trustProxy)) === host;
}
