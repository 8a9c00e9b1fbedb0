/** The sessions of a component: idpauth's own, or the framework's (`session: "host"`). */
import { SessionRequest } from "../access/session-request.js";
import type { Clock } from "../clock.js";
import type { ConfiguredProvider } from "../config/read-settings.js";
import { SessionMissingError } from "../errors.js";
import { driverCode, type EventHub } from "../events/event-hub.js";
import { functionThrew, logLine } from "../events/log-lines.js";
import { isAtUnknownHost, isSecure, ownOrigin, severalOrigins } from "../http/own-origin.js";
import type { IdpRequest } from "../http/request.js";
import { deviceName } from "../record/device.js";
import type { Subject } from "../record/identity.js";
import type { ClientIdentity } from "../record/record.js";
import type { KeyNames } from "../record/stored-form.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { createBundledSessions, type BundledSessions } from "../sessions/bundled-sessions.js";
import { CallbackStates } from "../sessions/callback-states.js";
import { cookieNameFor, cookieValues, hasCookie } from "../sessions/cookie.js";
import { createSessionEnding } from "../sessions/end-by-key.js";
import { createOwnForms, type OwnForms, type OwnFormsParts } from "../sessions/form-proof.js";
import { createFrameworkSessions } from "../sessions/framework-session.js";
import { NoSession } from "../sessions/no-session.js";
import { createPostedResponses } from "../sessions/posted-responses.js";
import { createProviderLogouts, type ProviderLogouts } from "../sessions/provider-logouts.js";
import { createSealer, type Sealer } from "../sessions/seal.js";
import type { SealedParameter } from "../sessions/sealed-parameter.js";
import type { IsProviderKnown } from "../sessions/session-entries.js";
import { labelOf } from "../sessions/session-label.js";
import { createReportedStore } from "../sessions/store-failures.js";
import {
  createSubjectSessions,
  type ListedClient,
  type SubjectSessions,
} from "../sessions/subject-sessions.js";
import { memoryStore } from "../stores/memory/memory-store.js";
import type { ComponentParts } from "./component-parts.js";
import type { IdpAuthOptions } from "./idp-auth-options.js";
import type { CheckedSettings } from "./startup.js";

export interface ComponentSessions<FrameworkRequest extends object> {
  readonly names: KeyNames;
  /** @throws SessionMissingError */
  open(raw: FrameworkRequest, request: IdpRequest): SessionRequest;
  /** Whether a request's browser may have a session, by its cookies alone. */
  mayHaveSession(request: IdpRequest): boolean;
  /** Proves which logins a form of our own page has begun. */
  readonly ownForms: OwnForms;
  readonly postedResponses: SealedParameter;
  readonly callbackStates: CallbackStates;
  /** The keyed hash that tells one user from another in the browser. */
  accountOf(subject: Subject): string;
  /** Undefined with the framework's own sessions, like `own`. */
  readonly subjectSessions: SubjectSessions | undefined;
  readonly own: OwnSessions | undefined;
}

/** idpauth's own sessions, which can be found without a request, too. */
export interface OwnSessions {
  readonly bundled: BundledSessions;
  readonly subjectSessions: SubjectSessions;
  /** The logouts by one client's provider. */
  logoutsOf(client: ClientIdentity): ProviderLogouts;
}

/** Both kinds of sessions are created from this. */
interface Storage {
  readonly sealer: Sealer;
  readonly names: KeyNames;
  readonly clients: readonly ListedClient[];
  readonly hasSource: boolean;
  readonly isProviderKnown: IsProviderKnown | undefined;
  readonly namesProviders: boolean;
  readonly debug: boolean;
  readonly onStoreFailure: (error: unknown, duration?: number) => void;
}

/** @param isProviderKnown asks the source of providers, if there is one */
export function createComponentSessions<FrameworkRequest extends object>(
  checked: CheckedSettings,
  parts: ComponentParts<FrameworkRequest>,
  isProviderKnown: IsProviderKnown,
): ComponentSessions<FrameworkRequest> {
  const { settings, providers } = checked;
  const names = keyNamesOf(settings);
  const sealer = createSealer(settings.secretKey, settings.secretKeyFallbacks);
  const storage: Storage = {
    sealer,
    names,
    clients: providers.map(clientIn),
    hasSource: checked.source !== undefined,
    isProviderKnown: checked.source && isProviderKnown,
    namesProviders: settings.providers !== null,
    debug: settings.debug,
    onStoreFailure(error, duration) {
      const outage = { side: "store", reason: driverCode(error) } as const;
      parts.events.emit("outage", { ...outage, ...withoutUndefined({ duration }) });
    },
  };
  const accountOf = accountsBy(sealer, checked);
  const parameters = { settings, sealer, clock: parts.clock };
  const sealed = sealedWith(parameters);
  if ((parts.options.session ?? "bundled") !== "bundled")
    return {
      names,
      accountOf,
      open: frameworkSessions(checked, parts, storage),
      // The name of the framework's cookie isn't known.
      mayHaveSession: (request) => request.header("cookie") !== undefined,
      ownForms: createOwnForms({ ...parameters, sessionOf: sessionOfFramework }),
      ...sealed,
      subjectSessions: undefined,
      own: undefined,
    };
  const own = createOwnSessions(checked, parts, storage);
  const { bundled, subjectSessions } = own;
  const { cookieName, publicPath } = settings;
  const open = (_raw: FrameworkRequest, request: IdpRequest): SessionRequest => {
    if (isAtUnknownHost(request, settings))
      return new SessionRequest(request, new NoSession(), parameters);
    const opened = bundled.open(request.header("cookie"), isSecure(request, settings), request);
    return new SessionRequest(request, opened, parameters);
  };
  const nameFor = (request: IdpRequest) =>
    cookieNameFor(cookieName, publicPath, isSecure(request, settings));
  const { mayHaveSession, sessionOf } = ownCookies(nameFor);
  const ownForms = createOwnForms({ ...parameters, sessionOf });
  const ways = { open, mayHaveSession, ownForms, ...sealed };
  return { names, accountOf, ...ways, subjectSessions, own };
}

/** What the cookies of a request tell, without a read. */
function ownCookies(nameFor: (request: IdpRequest) => string) {
  return {
    mayHaveSession: (request: IdpRequest) => hasCookie(request.header("cookie"), nameFor(request)),
    sessionOf: ({ request }: Parameters<OwnFormsParts["sessionOf"]>[0]) =>
      cookieValues(request.header("cookie"), nameFor(request)).join(" "),
  };
}

function clientIn({ key, settings: { issuer, clientId } }: ConfiguredProvider): ListedClient {
  return { key, issuer, clientId };
}

function accountsBy(
  sealer: Sealer,
  { source, providers }: CheckedSettings,
): ComponentSessions<never>["accountOf"] {
  const isSourced = (key: string | undefined) =>
    source !== undefined && !providers.some((one) => one.key === key);
  return ({ iss, sub, provider }) =>
    sealer.account(iss, sub, isSourced(provider) ? provider : undefined);
}

function sealedWith(parts: {
  readonly sealer: Sealer;
  readonly clock: Clock;
}): Pick<ComponentSessions<never>, "postedResponses" | "callbackStates"> {
  return {
    postedResponses: createPostedResponses(parts),
    callbackStates: new CallbackStates(parts),
  };
}

/** The cookie may change with each response. A session in the cookie itself has no id. */
const sessionOfFramework: OwnFormsParts["sessionOf"] = ({ request, session }) => {
  const cookie = request.header("cookie");
  return cookie && (session.key ?? cookie);
};

function keyNamesOf(settings: CheckedSettings["settings"]): KeyNames {
  return {
    credentials: settings.credentialsSessionKeyName,
    oauth_state: settings.stateKeyName,
    final_redirect: settings.finalRedirectKeyName,
  };
}

function createOwnSessions(
  { settings, providers, source }: CheckedSettings,
  { options, clock, events }: ComponentParts<never>,
  { onStoreFailure, ...storage }: Storage,
): OwnSessions {
  const { sessionTtl, cookieName, publicPath } = settings;
  const { store = memoryStore({ clock }) } = options;
  // Without the sessions page, nothing of the browser is stored that nothing shows.
  const sessionLabel = options.sessionLabel ?? (settings.sessionsPage ? deviceLabel : undefined);
  const stored = {
    ...storage,
    store: createReportedStore(store, clock, { onFailure: onStoreFailure, operations: events }),
    clock,
    sessionTtl,
    policy: settings,
  };
  const bundled = createBundledSessions({
    ...stored,
    keepIdToken:
      providers.some((one) => one.settings.logoutAtProvider !== false) ||
      (source !== undefined && source.inherited.logoutAtProvider !== false),
    onEndsLost: () => events.log(logLine("ends_not_told")),
    cookieName,
    publicPath,
    ...(severalOrigins(settings) && {
      originOf: (request: IdpRequest) => ownOrigin(request, settings),
    }),
    ...(sessionLabel && { labelOf: (request) => labelFor(request, sessionLabel, events) }),
  });
  const ending = createSessionEnding({
    ...stored,
    onEnded: (key, reason) => bundled.ends.ended(key, reason),
  });
  return {
    bundled,
    subjectSessions: createSubjectSessions({ ...stored, ending }),
    logoutsOf: (client) => createProviderLogouts({ ...stored, client, ending }),
  };
}

/** Returns what opens a request's session of the framework. */
function frameworkSessions<FrameworkRequest extends object>(
  { settings }: CheckedSettings,
  { adapter, clock, events }: ComponentParts<FrameworkRequest>,
  storage: Storage,
): ComponentSessions<FrameworkRequest>["open"] {
  const requestParts = { settings, clock };
  const sessions = createFrameworkSessions({ ...storage, clock, policy: settings });
  return (raw, request) => {
    if (isAtUnknownHost(request, settings))
      return new SessionRequest(request, new NoSession(), requestParts);
    const session = adapter.session?.(raw);
    if (session === undefined) {
      events.emit("outage", { side: "session", reason: "session_missing" });
      throw new SessionMissingError();
    }
    const origin = severalOrigins(settings) && ownOrigin(request, settings);
    return new SessionRequest(request, sessions.open(session, origin), requestParts);
  };
}

const deviceLabel = (request: IdpRequest) => deviceName(request.header("user-agent"));

/** The label of a session. One that the application fails to make must not stop a sign-in. */
function labelFor(
  request: IdpRequest,
  label: NonNullable<IdpAuthOptions["sessionLabel"]>,
  events: EventHub,
): string | null {
  try {
    const text: unknown = label(request);
    // An async function is a mistake, and its rejection must not end the process.
    if (text instanceof Promise) text.catch(() => undefined);
    return labelOf(text);
  } catch (error) {
    events.log(functionThrew("sessionLabel", error));
    return null;
  }
}
