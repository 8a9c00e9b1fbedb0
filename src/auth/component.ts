/**
 * The composition root: it creates every part from the settings and the options, and connects the
 * parts.
 */
import type { AccessContext } from "../access/access-context.js";
import type { ApiAccessParts } from "../access/api-access.js";
import { createOrphanedTokenRule } from "../access/orphaned-tokens.js";
import { createSessionAccess } from "../access/session-access.js";
import { Owners } from "../access/session-owner.js";
import type { SessionRequest } from "../access/session-request.js";
import { createRefresher, type Refresher } from "../access/shared-refresh.js";
import { createApplication } from "../application/application.js";
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import { documentHosts } from "../config/provider-profiles.js";
import type { CommonSettings } from "../config/read-settings.js";
import { issuerTemplate } from "../config/tenant-issuers.js";
import type { EndpointContext, EndpointRegistration } from "../endpoints/context.js";
import {
  createDelayedRevocations,
  type DelayedRevocations,
} from "../endpoints/revocation-after-logout.js";
import { createRouter, type Router } from "../endpoints/router.js";
import { driverCode } from "../events/event-hub.js";
import { functionFailed, functionThrew, reasonLine } from "../events/log-lines.js";
import { isKnownOrigin } from "../http/own-origin.js";
import type { IdpRequest } from "../http/request.js";
import { createPages, type Pages } from "../pages/pages.js";
import type { UserSession } from "../ports/user-session.js";
import type { AccessToken } from "../record/dpop.js";
import type { SessionRecord } from "../record/record.js";
import type { WantedValidity } from "../record/token-validity.js";
import type { IsProviderKnown } from "../sessions/session-entries.js";
import type { SessionForTests } from "../sessions/session-for-tests.js";
import type { SubjectSessions } from "../sessions/subject-sessions.js";
import { lazily } from "../work/lazily.js";
import { createPlaces, type Places } from "../work/places-per-key.js";
import { UnawaitedTasks } from "../work/unawaited-tasks.js";
import { apiCode, loadApiAccess } from "./api-code.js";
import type { ComponentParts } from "./component-parts.js";
import {
  createComponentSessions,
  type ComponentSessions,
  type OwnSessions,
} from "./component-sessions.js";
import { createHostGate } from "./host-gate.js";
import { lateSource, type LateSource, type LateSourceParts } from "./late-source.js";
import { createRegistrations } from "./registrations.js";
import type { CheckedSettings } from "./startup.js";

/** Loaded by the first test that signs a user in. Applications never need it. */
const loadSessionForTests = lazily(() => import("../sessions/sign-in-for-tests.js"));

interface ApiFunctions {
  /** @throws TypeError there is no such API */
  apiNamed(name: string): Api;
  /** Returns the access token for an API. @throws ApiTokenError */
  apiToken(session: UserSession, api: string, options: WantedValidity): Promise<AccessToken | null>;
}

/** The running component. */
export interface Component<FrameworkRequest extends object> extends EndpointContext, ApiFunctions {
  /**
   * The registration at the provider with this key. Undefined: there is no such provider.
   * @throws ProviderUnavailableError the source of providers fails, as a rejection
   */
  registrationAt(
    key: string | undefined,
  ): EndpointRegistration | undefined | Promise<EndpointRegistration | undefined>;
  /** The hostnames of the documents of all providers. */
  readonly documentHosts: readonly string[];
  readonly router: Router<FrameworkRequest>;
  /** @throws SessionMissingError */
  open(raw: FrameworkRequest, request: IdpRequest): SessionRequest;
  /**
   * The places of each session's event streams, proxied event streams and WebSockets. Those of
   * `/idpauth/events` have their own.
   */
  readonly streams: Places;
  /** Resolves when no refresh and no revocation is running. Never rejects. */
  settled(): Promise<void>;
  sessionForTests(asked: SessionForTests): Promise<readonly string[]>;
  /** Undefined: all providers are in the list. */
  readonly source: LateSource | undefined;
}

export function compose<FrameworkRequest extends object>(
  checked: CheckedSettings,
  parts: ComponentParts<FrameworkRequest>,
): Component<FrameworkRequest> {
  const { settings, apis, findings } = checked;
  // The reads of requests ask, after the composition.
  const isProviderKnown: IsProviderKnown = (client) => source?.has(client) ?? false;
  const sessions = createComponentSessions(checked, parts, isProviderKnown);
  const { own, open, mayHaveSession, ...ofEndpoints } = sessions;
  const { subjectSessions } = ofEndpoints;
  const tasks = new UnawaitedTasks();
  const { list: registrations, create } = createRegistrations(checked, parts, { tasks, own });
  const source = sourceOf(checked, { ...parts, create, tasks });
  const shared = sharedBy({ registrations, source }, { settings, subjectSessions, tasks, parts });
  const refresher = refresherOf(shared, settings);
  const policy = { ...settings, claimsVersion: shared.application.claimsVersion };
  const access = createSessionAccess({ ...shared, policy, refresher });
  const revocations = createDelayedRevocations(parts.clock, tasks);
  const pages = pagesOf(settings, mayHaveSession, parts);
  loadNow([() => pages.load(choicesIn(checked)), ...apiCode(checked)], tasks);
  const context: EndpointContext & Pick<Component<never>, "source"> = {
    ...shared,
    ...ofEndpoints,
    settings,
    apis,
    findings,
    registrations,
    source,
    pages,
    hosts: createHostGate(settings, pages),
    access,
    revocations,
    shutdown: parts.shutdown,
  };
  return {
    ...context,
    router: createRouter(context, remembered(open, parts.endpointOpened)),
    open,
    streams: createPlaces(settings.streamsPerSession),
    registrationAt: registrationsIn({ registrations, source }),
    documentHosts: registrations.flatMap((one) => documentHosts(one.settings.issuer)),
    ...apiFunctions(apis, { ...settings, ...shared, policy, access, refresher }),
    settled: () => settled(revocations, refresher),
    sessionForTests: (asked) => sessionForTests(asked, own, context),
  };
}

function sourceOf(
  { source, providers, settings }: CheckedSettings,
  parts: Omit<LateSourceParts, "listed" | "isOwn">,
): LateSource | undefined {
  const listed = providers.map(({ key }) => key);
  const isOwn = (origin: string) => isKnownOrigin(origin, settings);
  return source && lateSource(source, { ...parts, listed, isOwn });
}

interface KnownRegistrations {
  readonly registrations: readonly EndpointRegistration[];
  readonly source: LateSource | undefined;
}

/** What `shared` of a component is made from. */
interface SharedParts {
  readonly settings: CommonSettings;
  readonly subjectSessions: SubjectSessions | undefined;
  readonly tasks: UnawaitedTasks;
  readonly parts: ComponentParts<never>;
}

/** What every access, refresh and endpoint of the component uses. */
function sharedBy(
  { registrations, source }: KnownRegistrations,
  { settings, subjectSessions, tasks, parts: { options, clock, events } }: SharedParts,
): OwnedAccessContext {
  const { hookTimeout, dataLimit } = settings;
  const owners = new Owners(registrations, source);
  const providerOf = (record: SessionRecord) => owners.of(record).provider;
  return {
    owners,
    application: createApplication({ options, hookTimeout, dataLimit, clock, events, providerOf }),
    clock,
    events,
    orphanedTokens: orphanedTokensOf(settings, subjectSessions, clock),
    tasks,
  };
}

/** The pages on which a user may have to choose. */
function choicesIn({ providers, source }: CheckedSettings): Parameters<Pages["load"]>[0] {
  return {
    chooser: providers.length > 1 || source !== undefined,
    organization: source?.options.findByEmailDomain !== undefined,
  };
}

function registrationsIn({
  registrations,
  source,
}: KnownRegistrations): Component<never>["registrationAt"] {
  return (key) =>
    registrations.find((one) => one.key === key) ??
    (key === undefined ? undefined : source?.find(key, "request"));
}

interface OwnedAccessContext extends AccessContext {
  readonly owners: Owners<EndpointRegistration>;
}

function refresherOf(
  shared: AccessContext,
  { httpTimeout, refreshConcurrency: concurrency }: CommonSettings,
): Refresher {
  return createRefresher({ ...shared, httpTimeout, concurrency });
}

/**
 * A sign-in must not fail because a file can't be opened later, so what the settings use is loaded
 * now. Each use waits for it, and tries again if it failed.
 */
function loadNow(loads: readonly (() => Promise<unknown>)[], tasks: UnawaitedTasks): void {
  for (const load of loads) tasks.add(load());
}

/** Opens a request for an endpoint. */
function remembered<Raw extends object>(
  open: ComponentSessions<Raw>["open"],
  endpointOpened: ComponentParts<Raw>["endpointOpened"],
): ComponentSessions<Raw>["open"] {
  return (raw, request) => {
    const opened = open(raw, request);
    endpointOpened(raw, opened);
    return opened;
  };
}

async function settled(revocations: DelayedRevocations, refresher: Refresher): Promise<void> {
  // A logout of the meantime may have added a revocation.
  do {
    revocations.runAll();
    await refresher.idle();
  } while (revocations.isWaiting);
}

function orphanedTokensOf(
  { tokenRevokeOnLogout }: CommonSettings,
  subjectSessions: SubjectSessions | undefined,
  clock: Clock,
): AccessContext["orphanedTokens"] {
  return createOrphanedTokenRule({
    revokes: tokenRevokeOnLogout,
    clock,
    ...(subjectSessions && {
      hasSignedInSince: (subject, since) => subjectSessions.hasSignedInSince(subject, since),
    }),
  });
}

const RENDER_RESULT = { function: "pages.render", kind: "not_a_string" };

function pagesOf(
  settings: CommonSettings,
  mayHaveSession: (request: IdpRequest) => boolean,
  { options, events }: ComponentParts<never>,
): Pages {
  return createPages({
    publicPath: settings.publicPath,
    address: settings,
    sessionsPage: settings.sessionsPage,
    debug: settings.debug,
    mayHaveSession,
    options: options.pages,
    onRenderFailed(page, thrown) {
      events.log(
        thrown === undefined
          ? functionFailed("didn't return a string", { ...RENDER_RESULT, page })
          : functionThrew("pages.render", thrown.error, { page }),
      );
    },
    onLanguageFailed(language, error) {
      events.logOnce({
        ...reasonLine("language_not_loaded", language),
        details: { language, reason: driverCode(error) },
      });
    },
  });
}

function apiFunctions(apis: ReadonlyMap<string, Api>, parts: ApiAccessParts): ApiFunctions {
  function apiNamed(name: string): Api {
    const api = apis.get(name);
    if (api === undefined)
      throw new TypeError(`${JSON.stringify(name)} isn't in the option \`apis\`.`);
    return api;
  }
  return {
    apiNamed,
    async apiToken(session, name, options) {
      const api = apiNamed(name);
      const { apiToken } = await loadApiAccess();
      return apiToken({ session, api, ...options }, parts);
    },
  };
}

/** @throws TypeError the framework stores the sessions, or there is no such provider */
async function sessionForTests(
  asked: SessionForTests,
  own: OwnSessions | undefined,
  { settings, registrations, source, application, clock }: EndpointContext,
): Promise<readonly string[]> {
  if (own === undefined)
    throw new TypeError(
      'With `session: "host"`, the framework stores the sessions, so sign in through the application\'s routes (`signIn`).',
    );
  const { createSessionForTests } = await loadSessionForTests();
  const registration =
    registrations.find(({ key }) => asked.provider === undefined || key === asked.provider) ??
    (asked.provider && (await source?.find(asked.provider, "session")));
  if (!registration) throw new TypeError("signedInAs: `provider` isn't the key of a provider.");
  return createSessionForTests(asked, {
    ...registration.settings,
    sessions: own.bundled,
    client: registration,
    stampsActivity: settings.sessionIdleTimeout !== null,
    clock,
    checkedData: application.checkedData,
    issuerTemplate: issuerTemplate(registration.issuer),
  });
}
