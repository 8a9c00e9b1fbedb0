/**
 * The public exports for authors of adapters. Applications import the entry of their framework,
 * such as `idpauth/express`, and from here the functions that need no `auth`, such as `deny` and
 * `hasClaim`.
 */
export { REQUEST_ACCESSORS } from "./auth/accessors.js";
export { createIdpAuth } from "./auth/create-idp-auth.js";
export { createAdapterAuth, type AdapterParts } from "./auth/adapter-auth.js";
export type { Accessors, AccessTokenOptions, SessionOptions } from "./auth/accessor-types.js";
export type {
  AdapterAuth,
  FrameworkAdapter,
  FrameworkFacts,
  FrameworkSource,
  IdpAuth,
  SessionMiddleware,
} from "./auth/adapter-types.js";
export type { IdpAuthNames } from "./config/names.js";
export type { IdpAuthOptions } from "./auth/idp-auth-options.js";
export {
  type Blocked,
  type BlockedByOutage,
  type BlockedByRule,
  type BlockedForStepUp,
  type BlockedUser,
} from "./guard/blocked.js";
export { loginUrlBackTo } from "./guard/login-url.js";
export type { GuardRule } from "./record/guard-requirements.js";
export { deny, type Denial } from "./application/hooks.js";
export {
  allOf,
  anyOf,
  emailDomain,
  hasClaim,
  type Rule,
  type WithClaims,
} from "./application/rules.js";
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
export type {
  AssertionAlgorithm,
  Jwk,
  PrivateKeyObject,
  PrivateKeyOption,
  RemoteKey,
  SignAssertion,
} from "./keys/client-keys.js";
export type { JsonObject } from "./record/json.js";
export type { LoginUrlOptions } from "./guard/login-url.js";
export { STARTUP_CHECKS } from "./config/startup-checks.js";
export { SESSION_FOR_TESTS, type SessionForTests } from "./sessions/session-for-tests.js";
export { SETTLED } from "./auth/settled.js";
export type { FrameworkSession } from "./sessions/framework-session.js";
export type { ListedSession, Subject } from "./sessions/subject-sessions.js";
export type { Explanation } from "./access/session-access.js";
export {
  describesBody,
  isStream,
  type AnyReply,
  type Body,
  type BodyStream,
  type NodeStream,
  type Reply,
} from "./http/reply.js";
export { PerRequest } from "./http/per-request.js";
export type { IdpRequest } from "./http/request.js";
export { onFirstClose, type Closable } from "./http/first-close.js";
export { headerLines } from "./http/header-lines.js";
export type { EventName, Events, Listener, ProviderEndpoint } from "./events/events.js";
export type { EndReason, SessionEnd } from "./record/session-policy.js";
export {
  credentialsToDict,
  type Credentials,
  type ProviderCredentials,
} from "./record/credentials.js";
export type { IdInfo, SessionUser, UserPayload, Claims } from "./record/identity.js";
export type { SessionRecord } from "./record/record.js";
export type { Language } from "./pages/languages.js";
export type { PluralForms } from "./pages/locales/message.js";
export type { MessageKey, MessageOverrides } from "./pages/messages.js";
export type { DescribedSession, PageDescription, PageLink } from "./pages/page-description.js";
export type { PageColors, PageLogo, PagesOptions, SchemeColors } from "./pages/page-options.js";
export type { Log, LogEntry, LogLevel } from "./events/log.js";
export type {
  EndWatcher,
  Entry,
  EntryPage,
  LossyIndex,
  SessionStore,
  Stored,
  StoreProblem,
} from "./ports/session-store.js";
export type { ProbeDetails, SessionProbe } from "./record/probe.js";
export type { Session } from "./record/session-view.js";
export type { ApiOptions } from "./config/api-options.js";
export type { ApiRule } from "./config/api-rules.js";
export type { SettingOptions } from "./config/read-settings.js";
export { hasEpochTimePassed, systemClock, type Clock, type EpochSeconds } from "./clock.js";
export {
  ApiTokenError,
  ConfigurationError,
  ERRORS,
  GuardMissingError,
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
export { SessionEndedError } from "./sessions/session-end-signal.js";
export { type Gate, type Gates, type Guards, type Stopped } from "./guard/gate.js";
export { assertGuardOptions, assertUsage, type Usage } from "./guard/guard-usage.js";
export {
  respondToBlocked,
  type AnyGuardResponses,
  type GuardResponsesOf,
} from "./guard/guard-responses.js";
export { GUARDED_CACHE_CONTROL, varyByCookie } from "./guard/cache-headers.js";
export { isValidIdpUrl } from "./http/document-urls.js";
export { memoryStore } from "./stores/memory/memory-store.js";
