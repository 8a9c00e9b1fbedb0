import { notifyOfLogout } from "../access/notify-application.js";
import type { SessionRequest } from "../access/session-request.js";
import { isSourceKey } from "../config/provider-source.js";
import { clientState } from "../endpoints/session-probe.js";
import { ERRORS, GuardMissingError, IdpAuthError, isOutage } from "../errors.js";
import { logLine } from "../events/log-lines.js";
import { loginUrlFor } from "../guard/login-url.js";
import { isValidIdpUrl } from "../http/document-urls.js";
import { withData } from "../record/application-data.js";
import type { ClientState } from "../record/client-state.js";
import { frozenCredentials } from "../record/credentials.js";
import { isSameUser } from "../record/identity.js";
import type { Subject } from "../record/identity.js";
import { frozenCopy, type JsonObject } from "../record/json.js";
import { userIn, type SessionRecord } from "../record/record.js";
import { sessionView, type Session } from "../record/session-view.js";
import { specifiedKeys } from "../record/stored-form.js";
import { MIN_VALIDITY_SECONDS } from "../record/token-validity.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { whenEnded } from "../sessions/session-end-signal.js";
import { SESSION_FOR_TESTS } from "../sessions/session-for-tests.js";
import type { SubjectSessions } from "../sessions/subject-sessions.js";
import { SETTLED, type Accessors } from "./accessor-types.js";
import { isNode, loadFetchApi, loadProvenRequests, loadStreamApi } from "./api-code.js";
import type { ComponentParts } from "./component-parts.js";
import type { Component } from "./component.js";
import { OBSERVE } from "./observe.js";
import { addressesOf, assertOrigin } from "./provider-addresses.js";
import type { RequestMemory } from "./request-memory.js";

export interface AccessorParts<FrameworkRequest extends object> extends Pick<
  ComponentParts<FrameworkRequest>,
  "adapter" | "clock" | "events" | "shutdown"
> {
  /** The component; it is started if it is not running yet. */
  readonly ready: () => Component<FrameworkRequest>;
  readonly memory: RequestMemory<FrameworkRequest>;
  readonly openedOf: (raw: FrameworkRequest) => SessionRequest;
  readonly settled: () => Promise<void>;
}

/** The accessors that only need a request. On Next.js, which knows the current one, it can be left out. */
export const REQUEST_ACCESSORS = [
  "getCredentials",
  "updateData",
  "readSessionRecord",
  "getAccessToken",
  "fetchApi",
  "dpopProof",
  "checkIdpAuthentication",
  "explainIdpAuthentication",
] as const satisfies readonly (keyof Accessors<object>)[];

/**
 * The functions of the `auth` object. Each is async if it reads a session, so that every error is a
 * rejection.
 */
export function createAccessors<FrameworkRequest extends object>(
  parts: AccessorParts<FrameworkRequest>,
): Accessors<FrameworkRequest> {
  const { ready, memory, openedOf, adapter, settled, shutdown, events } = parts;
  const sessionOf = (raw: FrameworkRequest) => openedOf(raw).session;
  const hostFound = (raw: FrameworkRequest) => hostOf(raw, parts);
  const access = async (raw: FrameworkRequest, options?: { readonly slide: boolean }) => {
    const found = hostFound(raw);
    if (found !== undefined) await found;
    const outcome = await ready().access.access(sessionOf(raw), options);
    if (outcome.authenticated) keepPrivate(parts, raw);
    return outcome;
  };

  return {
    async getCredentials(raw) {
      const outcome = await access(raw);
      if (!outcome.authenticated) return null;
      const { credentials } = outcome.record;
      const { registration } = outcome.owner;
      // The session keeps the secret of its sign-in, which may have been replaced since.
      return frozenCredentials({
        ...credentials,
        client_secret: registration?.settings.clientSecret ?? credentials.client_secret,
      });
    },
    async getSession<Value>(
      raw: FrameworkRequest,
      options?: { readonly ifUnavailable: Value },
    ): Promise<Session | Value | null> {
      try {
        const outcome = await access(raw);
        if (!outcome.authenticated) return null;
        const { record, owner, at } = outcome;
        const { provider } = owner;
        return sessionView(record, { policy: ready().settings, now: at, provider });
      } catch (error) {
        return inOutage(error, options);
      }
    },
    requireSession(raw) {
      const session = memory.passedWith(raw);
      return session ? Promise.resolve(session) : Promise.reject(new GuardMissingError());
    },
    seenSession(raw) {
      const seen = memory.seenBy(raw);
      if (seen === undefined) return null;
      const { settings, owners } = ready();
      const { provider } = owners.of(seen.record);
      return sessionView(seen.record, { policy: settings, now: seen.at, provider });
    },
    async clientState<Value>(
      raw: FrameworkRequest,
      options?: { readonly ifUnavailable: Value },
    ): Promise<ClientState | Value> {
      try {
        return clientState(await access(raw, { slide: false }), false, ready());
      } catch (error) {
        return inOutage(error, options);
      }
    },
    async updateData(raw, change) {
      const found = hostFound(raw);
      if (found !== undefined) await found;
      const session = sessionOf(raw);
      const { application } = ready();
      const outcome = await access(raw);
      if (!outcome.authenticated) return null;
      const user = userIn(outcome.record);
      const { record } = await session.update((fresh) => {
        // Another user may have signed in with this cookie meanwhile.
        if (fresh.credentials === undefined || !isSameUser(userIn(fresh), user)) return fresh;
        return withData(fresh, application.checkedData(change(dataOf(fresh))));
      });
      return record?.credentials === undefined || !isSameUser(userIn(record), user)
        ? null
        : dataOf(record);
    },
    async readSessionRecord(raw) {
      const found = hostFound(raw);
      if (found !== undefined) await found;
      const record = await sessionOf(raw).read();
      return record === undefined ? null : Object.freeze(specifiedKeys(record, ready().names));
    },
    ...createTokenAccessors(parts),
    async checkIdpAuthentication(raw) {
      const found = hostFound(raw);
      if (found !== undefined) await found;
      return (await ready().access.explain(sessionOf(raw))).authenticated;
    },
    async explainIdpAuthentication(raw) {
      const found = hostFound(raw);
      if (found !== undefined) await found;
      return ready().access.explain(sessionOf(raw));
    },
    whenEnded(raw) {
      const { settings, open, clock, hosts } = ready();
      const opened = () => open(raw, adapter.request(raw)).session;
      return whenEnded(opened, {
        ...(hosts && {
          openLater: async () => {
            await hosts.find(adapter.request(raw));
            return opened();
          },
        }),
        policy: settings,
        clock,
        onClose: (closed) => adapter.onClose?.(raw, closed),
        shutdown,
      });
    },
    loginUrl(raw, options) {
      const { settings, source } = ready();
      const isProvider = (key: string) =>
        settings.providers?.includes(key) === true || (source !== undefined && isSourceKey(key));
      return loginUrlFor(adapter.request(raw), { settings, isProvider }, options);
    },
    ...createListAccessors(parts),
    ...createSourceAccessors(ready),
    isValidIdpUrl: (url) => isValidIdpUrl(url, ready().documentHosts),
    close: ({ timeout } = {}) =>
      shutdown.close({
        clock: parts.clock,
        timeout,
        settled,
        onLate: (count) => {
          events.log({ ...logLine("closed_late"), details: { count } });
        },
      }),
    [SETTLED]: settled,
    on: (name, listener) => events.on(name, listener),
    [OBSERVE](observer) {
      if (events.observer !== undefined)
        throw new TypeError(
          "This `auth` is instrumented already. With Next.js, call `instrument` in `register()` of instrumentation.ts.",
        );
      events.observer = observer;
      return {
        userHash: (iss, sub, provider) =>
          ready().accountOf({ iss, sub, ...withoutUndefined({ provider }) }),
        stop: () => (events.observer = undefined),
      };
    },
    [SESSION_FOR_TESTS]: async (asked = {}) => ready().sessionForTests(asked),
  };
}

const NO_SOURCE =
  "The option `providers` has no source. `providerSource` makes one: docs/how-to/tenants.md.";

/**
 * What an accessor returns in an outage.
 *
 * @throws the error, if it is none or the caller named no value
 */
function inOutage<Value>(
  error: unknown,
  options: { readonly ifUnavailable: Value } | undefined,
): Value {
  if (options !== undefined && "ifUnavailable" in options && isOutage(error))
    return options.ifUnavailable;
  throw error;
}

/**
 * Finds out which origin a request's host belongs to, before its session is opened. Undefined:
 * nothing has to be found out.
 */
function hostOf<FrameworkRequest extends object>(
  raw: FrameworkRequest,
  { ready, adapter }: AccessorParts<FrameworkRequest>,
): Promise<void> | undefined {
  return ready().hosts?.find(adapter.request(raw));
}

/** Keeps the response private to a request whose user the application has read. A guard has done it. */
function keepPrivate<FrameworkRequest extends object>(
  { adapter, memory }: AccessorParts<FrameworkRequest>,
  raw: FrameworkRequest,
): void {
  if (!memory.isGuarded(raw)) adapter.keepPrivate?.(raw);
}

/** The accessors that give a token, use one and revoke one. */
function createTokenAccessors<FrameworkRequest extends object>(
  parts: AccessorParts<FrameworkRequest>,
): Pick<
  Accessors<FrameworkRequest>,
  "getAccessToken" | "fetchApi" | "dpopProof" | "revokeIdpToken"
> {
  const { ready, openedOf } = parts;
  return {
    async getAccessToken(raw, { minValidity = MIN_VALIDITY_SECONDS, api, rejected } = {}) {
      const found = hostOf(raw, parts);
      if (found !== undefined) await found;
      const { session } = openedOf(raw);
      const component = ready();
      const token =
        api === undefined
          ? await component.access.accessToken(session, minValidity, rejected)
          : await component.apiToken(session, api, { minValidity, rejected });
      if (token !== null) keepPrivate(parts, raw);
      return typeof token === "object" ? (token?.value ?? null) : token;
    },
    // eslint-disable-next-line @typescript-eslint/max-params -- `auth.fetchApi()` is public.
    async fetchApi(raw, name, path, init = {}) {
      const found = hostOf(raw, parts);
      if (found !== undefined) await found;
      const { session } = openedOf(raw);
      const component = ready();
      const { fetchApi } = await loadFetchApi();
      let isSent = false;
      const token = async (rejected?: string) => {
        // The session may have ended while the API was responding.
        if (isSent) await session.reload();
        isSent = true;
        const value = await component.apiToken(session, name, {
          minValidity: MIN_VALIDITY_SECONDS,
          rejected,
        });
        if (value === null)
          throw new IdpAuthError("login_required", `${ERRORS.login_required.title}.`);
        keepPrivate(parts, raw);
        return value;
      };
      return fetchApi(
        { api: component.apiNamed(name), path, init },
        {
          send: globalThis.fetch,
          ...(isNode && {
            sendStream: async (request, clock) =>
              (await loadStreamApi()).sendStream(request, clock, component.shutdown),
          }),
          clock: component.clock,
          events: component.events,
          token,
        },
      );
    },
    async dpopProof(raw, { method, url, accessToken, nonce }) {
      const address = new URL(url);
      const found = hostOf(raw, parts);
      if (found !== undefined) await found;
      const outcome = await ready().access.access(openedOf(raw).session);
      if (!outcome.authenticated) return null;
      const { record } = outcome;
      const { dpop } = record.idp_state;
      if (dpop === undefined || isBearerToken(record, accessToken)) return null;
      keepPrivate(parts, raw);
      const { proofOf } = await loadProvenRequests();
      return proofOf(dpop.key, { method, url: address, accessToken, nonce }, ready().clock);
    },
    async revokeIdpToken(token, hint = "refresh_token", key?: string) {
      try {
        const registration = await ready().registrationAt(key);
        return (await registration?.provider.revoke(token, hint)) ?? false;
      } catch {
        return false;
      }
    },
  };
}

/** Whether a token of the session isn't bound to its key: it came while DPoP was off. */
function isBearerToken(
  { credentials, idp_state: { apis } }: SessionRecord,
  token: string,
): boolean {
  const known = [credentials, ...Object.values(apis ?? {})];
  return known.some((one) => one?.token === token && one.token_type === undefined);
}

/** The accessors of a source of providers. */
function createSourceAccessors(
  ready: () => Pick<Component<never>, "settings" | "source">,
): Pick<Accessors<object>, "forgetProvider" | "checkProvider" | "providerAddresses"> {
  return {
    forgetProvider(key) {
      ready().source?.forget(key);
    },
    async checkProvider(given, { key, origin } = {}) {
      const { source } = ready();
      if (source === undefined) throw new TypeError(NO_SOURCE);
      if (origin !== undefined) assertOrigin("checkProvider", origin);
      return source.check(given, { key, origin });
    },
    providerAddresses(key, { origin } = {}) {
      const { settings, source } = ready();
      if (source === undefined) throw new TypeError(NO_SOURCE);
      return addressesOf(key, origin, { settings, inherited: source.inherited });
    },
  };
}

/** The accessors that list and end the sessions of a user. */
type ListAccessors<FrameworkRequest extends object> = Pick<
  Accessors<FrameworkRequest>,
  "listSessions" | "endSession" | "endAllSessions"
>;

function createListAccessors<FrameworkRequest extends object>(
  parts: AccessorParts<FrameworkRequest>,
): ListAccessors<FrameworkRequest> {
  const { ready, openedOf } = parts;
  function sessionsOf({ iss, sub, provider }: Subject): SubjectSessions {
    if (typeof iss !== "string" || typeof sub !== "string" || iss === "" || sub === "") {
      throw new TypeError(
        "Pass the user as the `iss` and `sub` of id_info, two non-empty strings.",
      );
    }
    const { subjectSessions, source } = ready();
    if (source !== undefined && provider === undefined)
      throw new TypeError(
        "Pass the user's `provider`, too: with a source of providers, `iss` and `sub` don't identify a user.",
      );
    if (subjectSessions !== undefined) return subjectSessions;
    throw new TypeError(
      'With `session: "host"`, the framework stores the sessions. List and end them in its session store.',
    );
  }

  const logoutOf = (subject: Subject) => () => notifyOfLogout(subject, ready());

  async function keyOf(raw: FrameworkRequest | undefined): Promise<string | undefined> {
    if (raw === undefined) return undefined;
    await hostOf(raw, parts);
    const { session } = openedOf(raw);
    await session.read();
    return session.key;
  }

  return {
    async listSessions(subject, current) {
      return (await sessionsOf(subject).list(subject, await keyOf(current))).sessions;
    },
    async endSession(subject, id) {
      return sessionsOf(subject).end(subject, id, logoutOf(subject));
    },
    async endAllSessions(subject, { except } = {}) {
      return sessionsOf(subject).endAll(subject, await keyOf(except), logoutOf(subject));
    },
  };
}

/** The application's data as the application may see it. */
function dataOf({ idp_state: { data = {} } }: SessionRecord): JsonObject {
  return frozenCopy(data);
}
