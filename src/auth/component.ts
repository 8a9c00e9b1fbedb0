/**
 * The composition root: it creates every part from the settings and the options, and connects the
 * parts.
 */
import { createOrphanedTokenRule } from "../access/orphaned-tokens.js";
import { createSessionAccess } from "../access/session-access.js";
import { Owners } from "../access/session-owner.js";
import { SessionRequest } from "../access/session-request.js";
import { createRefresher } from "../access/shared-refresh.js";
import { createApplication } from "../application/application.js";
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import type { Settings } from "../config/read-settings.js";
import type { SettingNames } from "../config/setting-names.js";
import { issuerTemplate } from "../config/tenant-issuers.js";
import type { EndpointContext, EndpointRegistration } from "../endpoints/context.js";
import { createDelayedRevocations } from "../endpoints/delayed-revocations.js";
import { createRouter, type Router } from "../endpoints/router.js";
import { placeOf, SessionMissingError } from "../errors.js";
import { driverCode, type EventHub, type ProviderEvents } from "../events/event-hub.js";
import { logLine, reasonLine } from "../events/log-lines.js";
import { isSecure, type IdpRequest } from "../http/request.js";
import { createPages } from "../pages/pages.js";
import type { Provider } from "../ports/provider.js";
import type { TokenTarget } from "../ports/provider.js";
import type { UserSession } from "../ports/user-session.js";
import type { OwnEndpoints } from "../provider/endpoint-owners.js";
import type { WantedValidity } from "../record/stored-api-tokens.js";
import type { KeyNames } from "../record/stored-form.js";
import { createBundledSessions } from "../sessions/bundled-sessions.js";
import { createSessionEnding } from "../sessions/end-by-key.js";
import { createFrameworkSessions } from "../sessions/framework-session.js";
import { createProviderLogouts } from "../sessions/provider-logouts.js";
import { createSealer } from "../sessions/seal.js";
import type { SessionForTests } from "../sessions/session-for-tests.js";
import { labelOf } from "../sessions/session-label.js";
import { createReportedStore } from "../sessions/store-failures.js";
import { createSubjectSessions, type Subject } from "../sessions/subject-sessions.js";
import { memoryStore } from "../stores/memory/memory-store.js";
import { lazily } from "../work/lazily.js";
import type { Shutdown } from "../work/shutdown.js";
import { createSlots, slotsWithin } from "../work/slots.js";
import { UnawaitedTasks } from "../work/unawaited-tasks.js";
import { apiCode, loadApiAccess } from "./api-code.js";
import type { FrameworkAdapter, IdpAuthOptions } from "./public-types.js";
import type { CheckedSettings } from "./startup.js";

/**
 * The concurrent requests of one process at one provider, and the milliseconds that a further one
 * waits for a slot. Our decision.
 */
const AT_PROVIDER = { limit: 50, patience: 2_000 };

/** The concurrent requests at all providers: enough for several that hang. Our decision. */
const ALL_SLOTS = 4 * AT_PROVIDER.limit;

/** Loaded by the first test that signs a user in. Applications never need it. */
const loadSessionForTests = lazily(() => import("../sessions/sign-in-for-tests.js"));

/** Loaded at the start if there are several providers. */
const loadEndpointOwners = lazily(() => import("../provider/endpoint-owners.js"));

/** What a provider is created from. */
export interface ProviderParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly events: ProviderEvents;
  readonly names: SettingNames;
  readonly targets: readonly TokenTarget[];
  /** What {@link Component.settled} waits for. */
  readonly tasks: UnawaitedTasks;
  /** Loads what tells its endpoints from those of other providers. Undefined: there is one. */
  readonly endpoints: (() => Promise<OwnEndpoints | undefined>) | undefined;
  readonly fetch?: typeof globalThis.fetch;
}

export interface ComponentParts<FrameworkRequest extends object> {
  readonly options: IdpAuthOptions;
  readonly adapter: FrameworkAdapter<FrameworkRequest>;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly createProvider: (parts: ProviderParts) => Provider;
  /** Gets the session of each request for an endpoint. */
  readonly endpointOpened: (raw: FrameworkRequest, opened: SessionRequest) => void;
  readonly shutdown: Shutdown;
  /** Whether a route for users of this provider needs `auth_time`. */
  readonly needsAuthTime: (provider: string | undefined) => boolean;
}

/** The running component. */
export interface Component<FrameworkRequest extends object> extends EndpointContext {
  /** The registration at the provider with this key. Undefined: there is no such provider. */
  registrationAt(key: string | undefined): EndpointRegistration | undefined;
  /** @throws TypeError there is no such API */
  apiNamed(name: string): Api;
  /** Returns the access token for an API. @throws ApiTokenError */
  apiToken(session: UserSession, api: string, options: WantedValidity): Promise<string | null>;
  readonly router: Router<FrameworkRequest>;
  /** @throws SessionMissingError */
  open(raw: FrameworkRequest, request: IdpRequest): SessionRequest;
  /** Resolves when no refresh and no revocation is running. Never rejects. */
  settled(): Promise<void>;
  sessionForTests(asked: SessionForTests): Promise<readonly string[]>;
}

export function compose<FrameworkRequest extends object>(
  { settings, providers, apis, findings }: CheckedSettings,
  parts: ComponentParts<FrameworkRequest>,
): Component<FrameworkRequest> {
  const { options, adapter, clock, events, createProvider, needsAuthTime, endpointOpened } = parts;
  const { shutdown } = parts;
  const { session = "bundled", sessionLabel, fetch } = options;
  const isBundled = session === "bundled";
  const names: KeyNames = {
    credentials: settings.credentialsSessionKeyName,
    oauth_state: settings.stateKeyName,
    final_redirect: settings.finalRedirectKeyName,
  };
  const { debug, publicPath, cookieName } = settings;
  const clients = providers.map(({ settings: { issuer, clientId } }) => ({ issuer, clientId }));
  const ofClients = { clients, namesProviders: settings.providers !== null };
  const onStoreFailure = (error: unknown, duration?: number): void => {
    events.emit("outage", {
      side: "store",
      reason: driverCode(error),
      ...(duration !== undefined && { duration }),
    });
  };
  const storage = {
    store: createReportedStore(options.store ?? memoryStore({ clock }), clock, onStoreFailure),
    sealer: createSealer(settings.secretKey, settings.secretKeyFallbacks),
    clock,
    sessionTtl: settings.sessionTtl,
  };
  const bundled = createBundledSessions({
    ...storage,
    ...ofClients,
    names,
    debug,
    policy: settings,
    keepIdToken: providers.some((one) => one.settings.logoutAtProvider !== false),
    onEndsLost: () => events.log(logLine("ends_not_told")),
    cookieName,
    publicPath,
    ...(sessionLabel && { labelOf: (request) => labelFor(request, sessionLabel, events) }),
  });
  const ofFramework = createFrameworkSessions({
    ...ofClients,
    names,
    debug,
    clock,
    policy: settings,
    onStoreFailure,
  });
  const ending = createSessionEnding({
    ...storage,
    onEnded: (key, reason) => bundled.ends.ended(key, reason),
  });
  const subjectSessions = isBundled
    ? createSubjectSessions({ ...storage, clients, policy: settings, ending })
    : undefined;

  const tasks = new UnawaitedTasks();
  const slotsFor = (reason: string) => {
    const slots = (limit: number) => createSlots({ ...AT_PROVIDER, limit, reason, clock });
    const common = slots(ALL_SLOTS);
    return () => slotsWithin(slots(AT_PROVIDER.limit), common);
  };
  const loadOwners = lazily(async () =>
    (await loadEndpointOwners()).createEndpointOwners(providers),
  );
  const exchangeSlots = slotsFor("exchange_queue_full");
  const pushSlots = slotsFor("push_queue_full");
  const registrations = providers.map(
    ({ key, name, names: settingNames, settings: own }): EndpointRegistration => {
      const client = { issuer: own.issuer, clientId: own.clientId };
      const targets = [...apis.values()].filter(
        ({ target, provider }) => target !== undefined && (provider ?? key) === key,
      );
      return {
        ...client,
        key,
        name,
        settings: own,
        provider: createProvider({
          settings: own,
          clock,
          events: events.ofProvider(key),
          names: settingNames,
          endpoints: providers.length > 1 ? async () => (await loadOwners())(key) : undefined,
          targets,
          tasks,
          ...(fetch && { fetch }),
        }),
        takeExchangeSlot: exchangeSlots(),
        takePushSlot: pushSlots(),
        requestsAuthTime: () => own.requestAuthTime ?? needsAuthTime(key),
        logouts: isBundled ? createProviderLogouts({ ...storage, client, ending }) : undefined,
      };
    },
  );
  const orphanedTokens = createOrphanedTokenRule({
    revokes: settings.tokenRevokeOnLogout,
    clock,
    ...(subjectSessions && {
      hasSignedInSince: (subject, since) => subjectSessions.hasSignedInSince(subject, since),
    }),
  });
  const revocations = createDelayedRevocations(clock, tasks);
  const application = createApplication({ options, ...settings, clock, events });
  const owners = new Owners(registrations);
  const shared = { owners, application, clock, events, orphanedTokens, tasks };
  const refresher = createRefresher({
    ...shared,
    httpTimeout: settings.httpTimeout,
    concurrency: settings.refreshConcurrency,
  });
  const policy = { ...settings, claimsVersion: application.claimsVersion };
  const access = createSessionAccess({ ...shared, policy, refresher });
  const requestParts = { settings, clock };
  function open(raw: FrameworkRequest, request: IdpRequest): SessionRequest {
    if (isBundled) {
      const opened = bundled.open(request.header("cookie"), isSecure(request, settings), request);
      return new SessionRequest(request, opened, requestParts);
    }
    const frameworkSession = adapter.session?.(raw);
    if (frameworkSession === undefined) {
      events.emit("outage", { side: "session", reason: "session_missing" });
      throw new SessionMissingError();
    }
    return new SessionRequest(request, ofFramework.open(frameworkSession), requestParts);
  }

  const pages = createPages({
    publicPath,
    address: settings,
    sessionsPage: settings.sessionsPage,
    options: options.pages,
    onRenderFailed: (kind, error) => {
      const place = placeOf(error);
      events.log({
        ...logLine("page_render_failed"),
        details: { kind, ...(place !== undefined && { place }) },
      });
    },
    onLanguageFailed: (language, error) => {
      events.logOnce({
        ...reasonLine("language_not_loaded", language),
        details: { language, reason: driverCode(error) },
      });
    },
  });
  // A sign-in must not fail because a file can't be opened later, so what the settings use is loaded
  // now. Each use waits for it, and tries again if it failed.
  tasks.add(pages.load({ chooser: providers.length > 1 }));
  for (const load of apiCode(apis)) tasks.add(load());

  const registrationAt = (key: string | undefined) => registrations.find((one) => one.key === key);

  function apiNamed(name: string): Api {
    const api = apis.get(name);
    if (api === undefined)
      throw new TypeError(`${JSON.stringify(name)} isn't in the option \`apis\`.`);
    return api;
  }

  const accountOf = ({ iss, sub }: Subject) => storage.sealer.account(iss, sub);
  const context = {
    ...shared,
    settings,
    registrations,
    names,
    pages,
    apis,
    access,
    subjectSessions,
    revocations,
    accountOf,
    findings,
    shutdown,
  };
  const apiParts = { ...context, policy, refresher, publicPath };
  return {
    ...context,
    router: createRouter(context, (raw: FrameworkRequest, request) => {
      const opened = open(raw, request);
      endpointOpened(raw, opened);
      return opened;
    }),
    registrationAt,
    apiNamed,
    async apiToken(session, name, options) {
      const api = apiNamed(name);
      const { apiToken } = await loadApiAccess();
      return apiToken({ session, api, ...options }, apiParts);
    },
    open,
    async settled() {
      // A logout of the meantime may have added a revocation.
      do {
        revocations.runAll();
        await refresher.idle();
      } while (revocations.isWaiting);
    },
    async sessionForTests(asked) {
      if (!isBundled)
        throw new TypeError(
          'With `session: "host"`, the framework stores the sessions, so sign in through the application\'s routes (`signIn`).',
        );
      const { createSessionForTests } = await loadSessionForTests();
      const stampsActivity = settings.sessionIdleTimeout !== null;
      const registration =
        asked.provider === undefined ? registrations[0] : registrationAt(asked.provider);
      if (registration === undefined)
        throw new TypeError("signedInAs: `provider` isn't the key of a provider.");
      return createSessionForTests(asked, {
        ...registration.settings,
        sessions: bundled,
        client: registration,
        stampsActivity,
        clock,
        checkedData: application.checkedData,
        issuerTemplate: issuerTemplate(registration.issuer),
      });
    },
  };
}

/** The application's label of a session. A label that fails must not stop a sign-in. */
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
  } catch {
    events.log(logLine("session_label_failed"));
    return null;
  }
}
