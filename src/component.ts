/** The composition root: it creates every part from the settings and the options, and connects the parts. */
import { createApplication, type Application } from "./application/application.js";
import { placeOf } from "./application/run-hook.js";
import { UnawaitedTasks } from "./access/unawaited-tasks.js";
import { createOrphanedTokenRule } from "./access/orphaned-tokens.js";
import { createRefresher } from "./access/shared-refresh.js";
import { createSessionAccess, type SessionAccess } from "./access/session-access.js";
import { Slots } from "./access/slots.js";
import type { FrameworkAdapter, IdpAuthOptions } from "./public-types.js";
import type { Clock } from "./clock.js";
import { issuerTemplate } from "./config/tenants.js";
import type { Settings } from "./config/read-settings.js";
import { DelayedRevocations } from "./endpoints/delayed-revocations.js";
import { createRouter, type Router } from "./endpoints/router.js";
import { SessionRequest } from "./endpoints/session-request.js";
import { SessionMissingError } from "./errors.js";
import { driverCode } from "./events/driver-code.js";
import type { EventHub } from "./events/event-hub.js";
import { logLine } from "./events/log-lines.js";
import { isSecure } from "./http/own-origin.js";
import type { IdpRequest } from "./http/request-and-replies.js";
import { createPages, type Pages } from "./pages/pages.js";
import type { Provider } from "./ports/provider.js";
import type { KeyNames } from "./record/stored-form.js";
import { createBundledSessions } from "./sessions/bundled-sessions.js";
import { labelOf } from "./sessions/device-summary.js";
import { createFrameworkSessions } from "./sessions/framework-session.js";
import { createProviderLogouts } from "./sessions/provider-logouts.js";
import { createSealer } from "./sessions/seal.js";
import { createSessionEnding } from "./sessions/session-ending.js";
import { createSessionForTests, type SessionForTests } from "./sessions/session-for-tests.js";
import { createSubjectSessions, type Subject, type SubjectSessions } from "./sessions/subject-sessions.js";
import type { CheckedSettings } from "./startup.js";
import { memoryStore } from "./stores/memory/memory-store.js";

/** The concurrent code exchanges of one process, and the milliseconds that a further one waits for a slot. Our decision. */
const EXCHANGES = { limit: 50, patience: 2_000 };

/** The options of a provider. */
export interface ProviderParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly fetch?: typeof globalThis.fetch;
}

export interface ComponentParts<FrameworkRequest extends object> {
  readonly options: IdpAuthOptions;
  readonly adapter: FrameworkAdapter<FrameworkRequest>;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly createProvider: (parts: ProviderParts) => Provider;
}

/** The running component. */
export interface Component<FrameworkRequest extends object> {
  readonly settings: Settings;
  readonly names: KeyNames;
  readonly pages: Pages;
  readonly provider: Provider;
  readonly access: SessionAccess;
  readonly application: Application;
  readonly tasks: UnawaitedTasks;
  readonly router: Router<FrameworkRequest>;
  /** Undefined with the framework's own sessions. */
  readonly subjectSessions: SubjectSessions | undefined;
  /** The keyed hash that tells one user from another in the browser. */
  readonly accountOf: (subject: Subject) => string;
  /** @throws SessionMissingError */
  open(raw: FrameworkRequest, request: IdpRequest): SessionRequest;
  idle(): Promise<void>;
  sessionForTests(asked: SessionForTests): Promise<readonly string[]>;
}

export function compose<FrameworkRequest extends object>(
  { settings, findings }: CheckedSettings,
  { options, adapter, clock, events, createProvider }: ComponentParts<FrameworkRequest>,
): Component<FrameworkRequest> {
  const { session = "bundled", sessionLabel, fetch } = options;
  const isBundled = session === "bundled";
  const names: KeyNames = {
    credentials: settings.credentialsSessionKeyName,
    oauth_state: settings.stateKeyName,
    final_redirect: settings.finalRedirectKeyName,
  };
  const client = { issuer: settings.issuer, clientId: settings.clientId };
  const { debug } = settings;
  const onStoreFailure = (error: unknown, duration?: number): void => {
    events.emit("outage", { side: "store", reason: driverCode(error), ...(duration !== undefined && { duration }) });
  };
  const storage = {
    store: options.store ?? memoryStore({ clock }),
    sealer: createSealer(settings.secretKey, settings.secretKeyFallbacks),
    clock,
    sessionTtl: settings.sessionTtl,
    onStoreFailure,
  };
  const bundled = createBundledSessions({
    ...storage,
    names,
    client,
    debug,
    policy: settings,
    keepIdToken: settings.logoutAtProvider !== false,
    onEndsLost: () => {
      events.log(logLine("ends_not_told"));
    },
    cookieName: settings.cookieName,
    publicPath: settings.publicPath,
    ...(sessionLabel && { labelOf: (request) => labelFor(request, sessionLabel, events) }),
  });
  const ofFramework = createFrameworkSessions({ names, client, debug, clock, policy: settings, onStoreFailure });
  const ending = createSessionEnding({
    ...storage,
    onEnded: (key, reason) => {
      bundled.ends.ended(key, reason);
    },
  });
  const subjectSessions = isBundled ? createSubjectSessions({ ...storage, policy: settings, ending }) : undefined;
  const providerLogouts = isBundled ? createProviderLogouts({ ...storage, client, ending }) : undefined;

  const provider = createProvider({ settings, clock, events, ...(fetch && { fetch }) });
  const orphanedTokens = createOrphanedTokenRule({
    provider,
    revokes: settings.tokenRevokeOnLogout,
    clock,
    ...(subjectSessions && { hasSignedInSince: (subject, since) => subjectSessions.hasSignedInSince(subject, since) }),
  });
  const tasks = new UnawaitedTasks();
  const revocations = new DelayedRevocations(clock, tasks);
  const { hookTimeout, dataLimit } = settings;
  const application = createApplication({ options, hookTimeout, dataLimit, clock, events });
  const refresher = createRefresher({
    provider,
    application,
    clock,
    events,
    orphanedTokens,
    tasks,
    userPatience: settings.httpTimeout * 1000,
    concurrency: settings.refreshConcurrency,
  });
  const policy = { ...settings, claimsVersion: application.claimsVersion };
  const access = createSessionAccess({ policy, refresher, application, tasks, clock, events });
  const exchangeSlots = new Slots({ ...EXCHANGES, reason: "exchange_queue_full", clock });

  function open(raw: FrameworkRequest, request: IdpRequest): SessionRequest {
    if (isBundled) {
      const opened = bundled.open(request.header("cookie"), isSecure(request, settings), request);
      return new SessionRequest(request, opened, clock.monotonic(), settings);
    }
    const frameworkSession = adapter.session?.(raw);
    if (frameworkSession === undefined) {
      events.emit("outage", { side: "session", reason: "session_missing" });
      throw new SessionMissingError();
    }
    return new SessionRequest(request, ofFramework.open(frameworkSession), clock.monotonic(), settings);
  }

  const pages = createPages({
    publicPath: settings.publicPath,
    sessionsPage: settings.sessionsPage,
    options: options.pages,
    onRenderFailed: (kind, error) => {
      const place = placeOf(error);
      events.log({ ...logLine("page_render_failed"), details: { kind, ...(place !== undefined && { place }) } });
    },
  });
  const accountOf = ({ iss, sub }: Subject) => storage.sealer.account(iss, sub);
  const context = {
    settings,
    names,
    pages,
    provider,
    sessions: access,
    application,
    clock,
    events,
    orphanedTokens,
    exchangeSlots,
    subjectSessions,
    providerLogouts,
    revocations,
    accountOf,
    tasks,
    findings,
  };
  return {
    settings,
    names,
    pages,
    provider,
    access,
    application,
    tasks,
    router: createRouter(context, open),
    subjectSessions,
    accountOf,
    open,
    idle() {
      revocations.runAll();
      return refresher.idle();
    },
    sessionForTests(asked) {
      if (!isBundled)
        throw new TypeError('With `session: "host"` the framework keeps the sessions; sign in through its routes (`signIn`).');
      const stampsActivity = settings.sessionIdleTimeout !== null;
      return createSessionForTests(asked, {
        ...settings,
        sessions: bundled,
        client,
        stampsActivity,
        clock,
        checkedData: application.checkedData,
        issuerTemplate: issuerTemplate(settings.issuer),
      });
    },
  };
}

/** The application's label of a session. A label that fails must not stop a sign-in. */
function labelFor(request: IdpRequest, label: NonNullable<IdpAuthOptions["sessionLabel"]>, events: EventHub): string | null {
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
