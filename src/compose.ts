import { Background } from "./access/background-work.js";
import { runChecks, type FrameworkFacts as CheckedFacts } from "./config/startup-checks.js";
import { ConfigurationError, isOutage, SessionMissingError, type Finding } from "./errors.js";
import { publishingLines, publishToChannels } from "./events/diagnostics-channels.js";
import { EventHub } from "./events/event-hub.js";
import { identityOf, type EventName, type Listener } from "./events/events.js";
import type { IdpRequest, Reply } from "./http/request-reply.js";
import { isValidIdpUrl } from "./config/document-hosts.js";
import { sampled } from "./events/log-sampling.js";
import { PerRequest } from "./http/per-request.js";
import type { Log, LogEntry } from "./ports/log.js";
import type { SessionStore } from "./ports/session-store.js";
import type { UserSession } from "./ports/user-session.js";
import { frozenCredentials, type Credentials } from "./record/credentials.js";
import { userPayload, type UserPayload } from "./record/identity.js";
import { specifiedKeys, type KeyNames } from "./record/stored-form.js";
import { isSecure, ownOrigin, seenHost } from "./http/own-origin.js";
import type { Origin } from "./http/redirects.js";
import { storeMistake } from "./config/store-mistake.js";
import { readSettings, type SettingOptions, type Settings } from "./config/read-settings.js";
import { sessionView, type Session } from "./record/session-view.js";
import { Slots } from "./access/slots.js";
import { epochSeconds, systemClock, type Clock } from "./clock.js";
import { createSessionAccess, type Access, type Explanation, type SessionAccess } from "./access/session-access.js";
import { createLateTokenRule } from "./access/late-tokens.js";
import { createRefresher } from "./access/refresh.js";
import type { EndpointContext, Visit } from "./endpoints/context.js";
import { failureReply, retryAfterOf } from "./endpoints/failure.js";
import { blockedUser, type Blocked } from "./endpoints/blocked-request.js";
import { createRouter, type Router } from "./endpoints/router.js";
import { loadedWhenNeeded } from "./provider/lazy-provider.js";
import type { Provider } from "./ports/provider.js";
import { createBundledSessions } from "./sessions/bundled-sessions.js";
import { createFrameworkSessions, type FrameworkSession } from "./sessions/framework-session.js";
import { createSealer } from "./sessions/seal.js";
import { createSessionForTests, SESSION_FOR_TESTS, type SessionForTests } from "./sessions/session-for-tests.js";
import { createSubjectSessions, type ListedSession, type Subject, type SubjectSessions } from "./sessions/subject-sessions.js";
import { labelOf } from "./sessions/device-summary.js";
import { memoryStore } from "./stores/memory/memory-store.js";

export type { Blocked, BlockedByOutage, BlockedUser } from "./endpoints/blocked-request.js";

/** Settings in code, each overriding its environment variable, and what touches the world. */
export interface IdpAuthOptions extends SettingOptions {
  /** Where the settings that are not given in code are read from. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where bundled sessions live. Default: this process's memory, with a warning outside debug mode. */
  readonly store?: SessionStore;
  /** `"bundled"` (default): the component's own sessions. `"host"`: those of the host's session middleware. */
  readonly session?: "bundled" | "host";
  /**
   * Names a session for a device list when somebody signs in, for example
   * `(request) => request.header("user-agent")`. Kept as one line of at most 200 characters. Bundled sessions only.
   */
  readonly sessionLabel?: (request: IdpRequest) => string | null | undefined;
  /** Default: warnings and errors as single lines on stderr. False: nothing. */
  readonly log?: Log | false;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** What provider requests go through, for proxies and the like. Default: the runtime's `fetch`. */
  readonly fetch?: typeof fetch;
}

/**
 * How a host's requests are read. A host file implements it over its framework. `FrameworkRequest` is the one object that guards and
 * accessors of a request are all given: what is remembered of the request belongs to that object, in a private field that
 * nobody else can see.
 */
export interface FrameworkAdapter<FrameworkRequest extends object> {
  /** For messages: `Express`, … */
  readonly name: string;
  request(raw: FrameworkRequest): IdpRequest;
  /** The session of the host's own middleware on this request; undefined when there is none. */
  session?(raw: FrameworkRequest): FrameworkSession | undefined;
}

/** Whether the host's own session middleware is installed; see the check E002. */
export type SessionMiddleware = CheckedFacts["sessionMiddleware"];

/** What a host can tell about itself when it starts. */
export interface FrameworkFacts {
  /** Whether the host's own session middleware is installed, decided the host's own way. */
  readonly sessionMiddleware: SessionMiddleware;
  /** How to install it, for the remedy of E002. */
  readonly middlewareRemedy?: string;
  /** Whether it saves sessions that a request has not changed; see the check E015. */
  readonly rewritesSessions?: boolean;
}

export interface AccessTokenOptions {
  /** Seconds for which the token must still be good. Default 30. */
  readonly minValidity?: number;
}

/** The component, as host files build on it. Applications use a host's own form, such as `idpauth/express`. */
export interface IdpAuth<FrameworkRequest extends object> {
  /**
   * Runs the startup checks. Warnings go to the log and come back.
   *
   * @throws ConfigurationError with every finding at once
   */
  start(facts?: FrameworkFacts): readonly Finding[];
  /** The path that all endpoints begin with, such as `/idpauth/`. For hosts whose router wants to know. */
  mountPath(): string;
  /** Answers a request for one of the component's own endpoints; undefined: the path is not ours. */
  handle(raw: FrameworkRequest): Promise<Reply> | undefined;
  /** Undefined: the visitor may pass. The protected handler must not run otherwise. */
  guard(raw: FrameworkRequest): Promise<Blocked | undefined>;

  /**
   * The user's credentials, refreshed when the ID token has expired; null when signed out. It does not look at the expiry of the
   * access token in them: for a token that an API still accepts, use `getAccessToken`.
   *
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503); the user may still be signed in
   */
  getCredentials(raw: FrameworkRequest): Promise<Credentials | null>;
  /** The user's email, name and picture, after the same gate as `getCredentials`; null when signed out. */
  getUser(raw: FrameworkRequest): Promise<UserPayload | null>;
  /**
   * The session of a signed-in user: user, verified claims and times, read-only. It applies the same gate as `getCredentials`.
   *
   * @returns null when signed out
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503); the user may still be signed in
   */
  getSession(raw: FrameworkRequest): Promise<Session | null>;
  /**
   * The record's specified keys as stored, under their configured names, for debugging. It applies no gate: an ended session has a
   * record too, so never authorize by it; use `getSession`.
   *
   * @returns null without a session
   */
  readSessionRecord(raw: FrameworkRequest): Promise<Readonly<Record<string, unknown>> | null>;
  /** As `getCredentials`, but also looks at the access token's own expiry. */
  getAccessToken(raw: FrameworkRequest, options?: AccessTokenOptions): Promise<string | null>;
  /**
   * Whether the session is valid at this moment without a refresh. No side effects. It is false for a signed-in user whose ID token
   * has just expired, until a refresh renews the token. To learn whether a user is signed in, use `getUser` or `getSession`.
   */
  checkIdpAuthentication(raw: FrameworkRequest): Promise<boolean>;
  /**
   * As `checkIdpAuthentication`, with the reason; `id_token_expired` means that the next `getUser`, `getSession` or
   * `getCredentials` refreshes. No side effects.
   */
  explainIdpAuthentication(raw: FrameworkRequest): Promise<Explanation>;
  /**
   * A person's sessions, the newest sign-in first, for a device list. Bundled sessions only, as the two below.
   *
   * @param subject the `iss` and `sub` of id_info
   * @param current the request that asks, so that its own session can be told
   * @throws StoreUnavailableError
   */
  listSessions(subject: Subject, current?: FrameworkRequest): Promise<readonly ListedSession[]>;
  /**
   * Ends one session of a person. The tokens in it cannot be revoked at the provider: without the visitor's cookie nobody
   * can open them.
   *
   * @param id as `listSessions` gave it
   * @returns false: there is no such session of this person
   * @throws StoreUnavailableError
   */
  endSession(subject: Subject, id: string): Promise<boolean>;
  /**
   * Signs a person out everywhere. Tokens are not revoked at the provider, as above.
   *
   * @param options `except`: a request whose own session stays
   * @returns how many sessions were ended
   * @throws StoreUnavailableError some may have been ended; ask again
   */
  endAllSessions(subject: Subject, options?: { readonly except?: FrameworkRequest }): Promise<number>;
  /** Posts a token to the provider's revocation endpoint (RFC 7009). Resolves to whether that worked; never rejects. */
  revokeIdpToken(token: string, hint?: "refresh_token" | "access_token"): Promise<boolean>;
  /** Whether a URL is one of the provider's documents: https, no port, no user info, exactly a document host. */
  isValidIdpUrl(url: string): boolean;

  /**
   * Resolves once no refresh and no revocation runs any more, those included whose users have left. That takes as long as the provider does,
   * 30 s at the most; those that wait for a place or for another process's refresh, and a rotated token that waits for a store
   * which is away, may take minutes: bound the wait as your platform does. For an orderly exit: close the server, await this,
   * close the store. Never rejects.
   */
  idle(): Promise<void>;
  /** Listens to an event. @returns a function that ends it */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  /**
   * Signs somebody in without a provider, in tests; see `signedInAs` of `idpauth/testing`. Bundled sessions only.
   *
   * @returns the Set-Cookie values that a browser would have got
   * @throws StoreUnavailableError
   */
  [SESSION_FOR_TESTS](asked?: SessionForTests): Promise<readonly string[]>;
}

/** Everything that needs valid settings; made once, by the first start. */
interface Running {
  readonly settings: Settings;
  readonly names: KeyNames;
  readonly router: Router;
  readonly sessions: SessionAccess;
  readonly provider: Provider;
  idle(): Promise<void>;
  sessionForTests(asked: SessionForTests): Promise<readonly string[]>;
  /** Undefined: with the host's own sessions. */
  readonly subjectSessions: SubjectSessions | undefined;
  sessionOf(raw: object, request: IdpRequest): UserSession;
}

/**
 * Milliseconds for which the guard and the accessors share one read of the session. A request that lives longer, such
 * as an event stream, must see a logout.
 */
const SHARED_READ = 1_000;

/** Code exchanges that one process has at the provider at a time, and milliseconds that one more waits. Our decision. */
const EXCHANGES = { limit: 50, patience: 2_000 };

/** One request with its session. A class, not a literal with a getter: this is made for every request. */
class OpenVisit implements Visit {
  readonly request: IdpRequest;
  readonly session: UserSession;
  /** The clock's `monotonic()`. */
  readonly openedAt: number;
  readonly #settings: Settings;

  constructor(request: IdpRequest, session: UserSession, openedAt: number, settings: Settings) {
    this.request = request;
    this.session = session;
    this.openedAt = openedAt;
    this.#settings = settings;
  }

  // Both are worked out when they are asked for, which only a login and a guard that blocks do.

  get origin(): Origin | undefined {
    return ownOrigin(this.request, this.#settings);
  }

  get host(): string | undefined {
    return seenHost(this.request, this.#settings.trustProxy);
  }
}

/** The options that are no settings; known to the check of misspelt ones. */
const OTHER_OPTIONS = ["env", "store", "session", "sessionLabel", "log", "clock", "fetch"];

/** Builds the component for one host. Reads no clock, no file and no network until it is started or asked. */
export function createIdpAuth<FrameworkRequest extends object>(
  options: IdpAuthOptions,
  adapter: FrameworkAdapter<FrameworkRequest>,
): IdpAuth<FrameworkRequest> {
  return createIdpAuthOver(options, adapter, loadedWhenNeeded);
}

/** What a provider is built from. */
export interface ProviderParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventHub;
  readonly fetch?: typeof globalThis.fetch;
}

/** As `createIdpAuth`, over a provider of one's own: for tests that schedule every step. Not exported by the package. */
export function createIdpAuthOver<FrameworkRequest extends object>(
  options: IdpAuthOptions,
  adapter: FrameworkAdapter<FrameworkRequest>,
  createProvider: (parts: ProviderParts) => Provider,
): IdpAuth<FrameworkRequest> {
  const { env, store, session = "bundled", sessionLabel, log: logOption, clock = systemClock, fetch, ...settingOptions } = options;
  const everyLine = publishingLines(harmless(logOption === false ? () => undefined : (logOption ?? logToStderr)));
  const log = sampled(everyLine, clock);
  const events = new EventHub(log, clock, publishToChannels);
  let running: Running | undefined;

  function start(
    facts: FrameworkFacts = { sessionMiddleware: adapter.session === undefined ? "not-applicable" : "unknown" },
  ): readonly Finding[] {
    const read = readSettings(settingOptions, env ?? process.env, OTHER_OPTIONS);
    const mistake = store === undefined ? undefined : storeMistake(store);
    const findings = runChecks(read, {
      ...facts,
      frameworkName: adapter.name,
      sessionKind: session,
      storeGiven: store !== undefined,
      ...(mistake === undefined ? store?.problems && { storeProblems: store.problems } : { storeMistake: mistake }),
      sessionGiven: options.session !== undefined,
    });
    if (read.settings === undefined || findings.some((finding) => finding.severity === "error")) throw new ConfigurationError(findings);
    for (const finding of findings) {
      everyLine({ level: "warn", code: finding.code, message: `${finding.message} ${finding.remedy}` });
    }
    // Mounted twice is still one component, with one set of sessions.
    running ??= run(read.settings, findings);
    return findings;
  }

  function run(settings: Settings, findings: readonly Finding[]): Running {
    const names: KeyNames = {
      credentials: settings.credentialsSessionKeyName,
      oauth_state: settings.stateKeyName,
      final_redirect: settings.finalRedirectKeyName,
    };
    const provider = createProvider({ settings, clock, log, events, ...(fetch && { fetch }) });
    const kept = {
      store: store ?? memoryStore({ clock }),
      sealer: createSealer(settings.secretKey, settings.secretKeyFallbacks),
      clock,
      sessionTtl: settings.sessionTtl,
      onStoreFailure: (error: unknown, duration: number) => {
        events.emit("outage", { side: "store", reason: driverCode(error), duration });
      },
    };
    const client = { issuer: settings.issuer, clientId: settings.clientId };
    const subjectSessions = session === "bundled" ? createSubjectSessions({ ...kept, policy: settings }) : undefined;
    const lateTokens = createLateTokenRule({
      provider,
      revokes: settings.tokenRevokeOnLogout,
      clock,
      ...(subjectSessions && { hasSignedInSince: (subject, since) => subjectSessions.hasSignedInSince(subject, since) }),
    });
    const background = new Background();
    const refresher = createRefresher({
      provider,
      clock,
      events,
      lateTokens,
      background,
      userPatience: settings.httpTimeout * 1000,
      concurrency: settings.refreshConcurrency,
    });
    const sessions = createSessionAccess({ policy: settings, refresher, clock, events });
    const bundled = createBundledSessions({
      ...kept,
      names,
      client,
      cookieName: settings.cookieName,
      publicPath: settings.publicPath,
      debug: settings.debug,
      ...(sessionLabel && { labelOf: (request) => labelFor(request, sessionLabel, log) }),
    });
    const hosted = createFrameworkSessions({
      names,
      client,
      debug: settings.debug,
      onStoreFailure: (error) => {
        events.emit("outage", { side: "store", reason: driverCode(error) });
      },
    });
    const exchangeSlots = new Slots({ ...EXCHANGES, reason: "exchange_queue_full", clock });
    const context: EndpointContext = {
      settings,
      names,
      provider,
      sessions,
      clock,
      log,
      events,
      lateTokens,
      exchangeSlots,
      background,
      findings,
    };

    return {
      settings,
      names,
      provider,
      idle: () => refresher.idle(),
      sessionForTests(asked) {
        if (session === "host")
          throw new TypeError('With `session: "host"` the host keeps the sessions; sign in through its routes (`signIn`).');
        const stampsActivity = settings.sessionIdleTimeout !== null;
        return createSessionForTests(asked, { ...settings, sessions: bundled, client, stampsActivity, clock });
      },
      sessions,
      subjectSessions,
      router: createRouter(context),
      sessionOf(raw, request) {
        if (session === "bundled") return bundled.open(request.header("cookie"), isSecure(request, settings), request);
        const frameworkSession = adapter.session?.(raw as FrameworkRequest);
        if (frameworkSession === undefined) {
          events.emit("outage", { side: "session", reason: "session_missing" });
          throw new SessionMissingError();
        }
        return hosted.open(frameworkSession);
      },
    };
  }

  const ready = (): Running => {
    // An application that was never mounted is checked now: a mistake must not look like "signed out".
    if (running === undefined) start();
    return running as Running;
  };

  function open(raw: FrameworkRequest, request: IdpRequest): OpenVisit {
    const { settings, sessionOf } = ready();
    return new OpenVisit(request, sessionOf(raw, request), clock.monotonic(), settings);
  }

  const visits = new PerRequest<OpenVisit>();
  function visitOf(raw: FrameworkRequest): OpenVisit {
    const known = visits.get(raw);
    if (known !== undefined && clock.monotonic() - known.openedAt < SHARED_READ) return known;
    const visit = open(raw, adapter.request(raw));
    visits.set(raw, visit);
    return visit;
  }
  // Async, so that what opening a session throws is a rejection like any other.
  const access = async (raw: FrameworkRequest): Promise<Access> => ready().sessions.access(visitOf(raw).session);

  function sessionsOf({ iss, sub }: Subject): SubjectSessions {
    if (typeof iss !== "string" || typeof sub !== "string" || iss === "" || sub === "") {
      throw new TypeError("A person is named by the `iss` and `sub` of id_info, two texts.");
    }
    const { subjectSessions } = ready();
    if (subjectSessions !== undefined) return subjectSessions;
    throw new TypeError('With `session: "host"` nobody but the host\'s session store knows its sessions; list and end them there.');
  }

  async function keyOf(raw: FrameworkRequest | undefined): Promise<string | undefined> {
    if (raw === undefined) return undefined;
    const visit = visitOf(raw);
    await visit.session.read();
    return visit.session.key;
  }

  async function guard(raw: FrameworkRequest): Promise<Blocked | undefined> {
    const { settings } = ready();
    try {
      const visit = visitOf(raw);
      const outcome = await ready().sessions.access(visit.session);
      if (outcome.authenticated) return undefined;
      const { reason, record } = outcome;
      events.emit("blocked", { ...identityOf(record?.id_info), reason });
      return blockedUser(visit, reason, settings);
    } catch (error) {
      if (!isOutage(error)) throw error;
      const retryAfter = retryAfterOf(error);
      const reply = failureReply({ code: error.code, retryAfter }, adapter.request(raw), settings.publicPath, "json");
      return { kind: "unavailable", reply, error, retryAfter };
    }
  }

  return {
    start,
    mountPath: () => ready().settings.mountPath,
    handle(raw) {
      return ready().router.handle(adapter.request(raw), (request) => open(raw, request));
    },
    guard,
    async getCredentials(raw) {
      const outcome = await access(raw);
      return outcome.authenticated ? frozenCredentials(outcome.record.credentials) : null;
    },
    async getUser(raw) {
      const outcome = await access(raw);
      return outcome.authenticated ? userPayload(outcome.record.id_info) : null;
    },
    async getSession(raw) {
      const outcome = await access(raw);
      return outcome.authenticated ? sessionView(outcome.record, ready().settings, epochSeconds(clock)) : null;
    },
    async readSessionRecord(raw) {
      const record = await visitOf(raw).session.read();
      return record === undefined ? null : Object.freeze(specifiedKeys(record, ready().names));
    },
    async getAccessToken(raw, { minValidity = 30 } = {}) {
      return ready().sessions.accessToken(visitOf(raw).session, minValidity);
    },
    async checkIdpAuthentication(raw) {
      return (await ready().sessions.explain(visitOf(raw).session)).authenticated;
    },
    async explainIdpAuthentication(raw) {
      return ready().sessions.explain(visitOf(raw).session);
    },
    async listSessions(subject, current) {
      return sessionsOf(subject).list(subject, await keyOf(current));
    },
    async endSession(subject, id) {
      const isEnded = await sessionsOf(subject).end(subject, id);
      if (isEnded) events.emit("logout", { issuer: subject.iss, subject: subject.sub, revoked: null });
      return isEnded;
    },
    async endAllSessions(subject, { except } = {}) {
      const sessions = sessionsOf(subject);
      const ended = await sessions.endAll(subject, await keyOf(except));
      for (let one = 0; one < ended; one += 1) {
        events.emit("logout", { issuer: subject.iss, subject: subject.sub, revoked: null });
      }
      return ended;
    },
    async revokeIdpToken(token, hint = "refresh_token") {
      try {
        return await ready().provider.revoke(token, hint);
      } catch {
        return false;
      }
    },
    idle: async () => running?.idle(),
    isValidIdpUrl: (url) => isValidIdpUrl(url, ready().settings.documentHosts),
    on: (name, listener) => events.on(name, listener),
    [SESSION_FOR_TESTS]: async (asked = {}) => ready().sessionForTests(asked),
  };
}

/** The host's own word for a session. A label that fails must not stop a sign-in. */
function labelFor(request: IdpRequest, label: (request: IdpRequest) => string | null | undefined, log: Log): string | null {
  try {
    const said: unknown = label(request);
    if (said instanceof Promise) said.catch(() => undefined);
    return labelOf(said);
  } catch {
    log({ level: "error", code: "session_label_failed", message: "The option sessionLabel threw; the session has no label." });
    return null;
  }
}

/** The code of a driver's error, such as `ECONNREFUSED` or PostgreSQL's `57P01`, when it has the form of one; never its words. */
function driverCode(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    const { code } = at as { readonly code?: unknown };
    if (typeof code === "string" && /^[A-Z0-9_]{2,40}$/.test(code)) return code;
  }
  return "rejected";
}

/** A log that throws must not stop what it was told about. */
function harmless(hook: Log): Log {
  return (entry) => {
    try {
      const result: unknown = hook(entry);
      if (result !== undefined) Promise.resolve(result).catch(() => undefined);
    } catch {
      // There is nowhere left to say it.
    }
  };
}

function logToStderr({ level, code, message }: LogEntry): void {
  if (level !== "info") process.stderr.write(`idpauth ${level} ${code}: ${message}\n`);
}
