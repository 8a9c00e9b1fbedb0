/**
 * The public exports for authors of adapters. Applications import the entry of their framework, such as `idpauth/express`, and from here
 * the functions that need no `auth`, such as `deny` and `hasClaim`.
 */
export { createIdpAuth } from "./create-idp-auth.js";
export type {
  Accessors,
  AccessTokenOptions,
  AdapterAuth,
  FrameworkAdapter,
  FrameworkFacts,
  IdpAuth,
  IdpAuthOptions,
  SessionMiddleware,
} from "./public-types.js";
export {
  loginUrlBackTo,
  type Blocked,
  type BlockedByOutage,
  type BlockedByRule,
  type BlockedForStepUp,
  type BlockedUser,
} from "./endpoints/guard.js";
export type { GuardRule } from "./endpoints/guard-rule.js";
export { deny, type Denial } from "./application/denial.js";
export { allOf, anyOf, emailDomain, hasClaim, type Rule, type WithClaims } from "./application/rules.js";
export type { ClaimsSchema } from "./application/claims-schema.js";
export type {
  ApplicationOptions,
  HookInput,
  RefreshResult,
  SignInInput,
  SignInResult,
  SignOutInput,
  SignOutReason,
} from "./application/hooks.js";
export type { JsonObject } from "./record/json.js";
export type { LoginUrlOptions } from "./endpoints/login-url.js";
export { SESSION_FOR_TESTS, type SessionForTests } from "./sessions/session-for-tests.js";
export type { FrameworkSession } from "./sessions/framework-session.js";
export type { ListedSession, Subject } from "./sessions/subject-sessions.js";
export type { Explanation } from "./access/session-access.js";
export type { AnyReply, IdpRequest, Reply } from "./http/request-and-replies.js";
export { PerRequest } from "./http/request-memory.js";
export { onFirstClose, type Closable } from "./http/first-close.js";
export type { EventName, Events, Listener, ProviderEndpoint } from "./events/events.js";
export type { EndReason, SessionEnd } from "./record/session-policy.js";
export type { Credentials, ProviderCredentials } from "./record/credentials.js";
export type { IdInfo, SessionUser, UserPayload } from "./record/identity.js";
export type { SessionRecord } from "./record/record.js";
export type { Language } from "./pages/languages.js";
export type { PluralForms } from "./pages/locales/message.js";
export type { MessageKey, MessageOverrides } from "./pages/messages.js";
export type { DescribedSession, PageDescription, PageLink } from "./pages/page-description.js";
export type { PageColors, PageLogo, PagesOptions, SchemeColors } from "./pages/page-options.js";
export type { Log, LogEntry, LogLevel } from "./ports/log.js";
export type { EndWatcher, Entry, SessionStore, Stored, StoreProblem } from "./ports/session-store.js";
export type { ProbeDetails, SessionProbe } from "./record/probe.js";
export type { Claims } from "./record/identity.js";
export type { Session } from "./record/session-view.js";
export type { SettingOptions } from "./config/read-settings.js";
export type { Clock, EpochSeconds } from "./clock.js";
export {
  ConfigurationError,
  ERRORS,
  IdpAuthError,
  isOutage,
  HookFailedError,
  ProviderRefusedError,
  ProviderUnavailableError,
  SessionMissingError,
  StoreUnavailableError,
  type ErrorCode,
  type Finding,
} from "./errors.js";
export { SessionEndedError } from "./sessions/session-ended-error.js";
export { respondToBlocked, type GuardResponsesOf } from "./endpoints/application-guard-responses.js";
export { assertGuardOptions, assertHandler, csrfCalledError, guardCalledError } from "./http/guard-usage.js";
export { GUARDED_CACHE_CONTROL, varyByCookie } from "./http/cache-headers.js";
export { credentialsToDict } from "./record/credentials.js";
export { hasEpochTimePassed, systemClock } from "./clock.js";
export { isValidIdpUrl } from "./config/provider-hosts.js";
export { memoryStore } from "./stores/memory/memory-store.js";
