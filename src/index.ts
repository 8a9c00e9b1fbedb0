/** The public face for host authors and for what all hosts share. Applications import their host's own form, such as `idpauth/express`. */
export {
  createIdpAuth,
  type AccessTokenOptions,
  type Blocked,
  type BlockedByOutage,
  type BlockedVisitor,
  type HostAdapter,
  type HostFacts,
  type IdpAuth,
  type IdpAuthOptions,
  type SessionMiddleware,
} from "./idp-auth.js";
export { SESSION_FOR_TESTS, type SessionForTests } from "./sessions/session-for-tests.js";
export type { HostSession } from "./sessions/host-session.js";
export type { ListedSession, Subject } from "./sessions/subject-sessions.js";
export type { Explanation } from "./credentials/credentials.js";
export type { IdpRequest, Reply } from "./core/http.js";
export type { EventName, Events, Listener, ProviderEndpoint } from "./core/events.js";
export type { EndReason } from "./core/policy.js";
export type { Credentials, IdInfo, ProviderCredentials, SessionRecord, UserPayload } from "./core/record.js";
export type { Entry, Log, LogEntry, LogLevel, SessionStore, Stored, StoreProblem } from "./core/ports.js";
export type { SettingOptions } from "./core/settings.js";
export type { Clock, EpochSeconds } from "./core/time.js";
export {
  ConfigurationError,
  ERRORS,
  IdpAuthError,
  isOutage,
  ProviderRefusedError,
  ProviderUnavailableError,
  SessionMissingError,
  StoreUnavailableError,
  type ErrorCode,
  type Finding,
} from "./core/errors.js";
export { credentialsToDict } from "./core/record.js";
export { hasEpochTimePassed, systemClock } from "./core/time.js";
export { isValidIdpUrl } from "./core/idp-url.js";
export { memoryStore } from "./stores/memory.js";
