/**
 * The public exports for applications, besides the entry of their framework, such as
 * `idpauth/express`: the functions that need no `auth`, the errors, and the types that an
 * application writes down.
 */
export type { AccessTokenOptions, DpopCall } from "./auth/accessor-types.js";
export type { ProviderAddresses } from "./auth/provider-addresses.js";
export type { AdapterAuth } from "./auth/adapter-types.js";
export type { IdpAuthOptions } from "./auth/idp-auth-options.js";
export type { Explanation } from "./access/session-access.js";
export type { ClaimsSchema } from "./application/claims-schema.js";
export {
  deny,
  type Denial,
  type HookInput,
  type RefreshResult,
  type SignInInput,
  type SignInResult,
  type SignOutInput,
} from "./application/hooks.js";
export {
  allOf,
  anyOf,
  emailDomain,
  hasClaim,
  type WithClaims,
} from "./application/ready-made-rules.js";
export type { Clock } from "./clock.js";
export type { ApiDispatcher, ApiOptions } from "./config/api-options.js";
export type { ApiRule } from "./config/api-rules.js";
export type { IdpAuthNames } from "./config/inferred-names.js";
export type { ProviderOptions } from "./config/provider-options.js";
export type { OriginOfHost } from "./config/setting-options.js";
export {
  providerSource,
  type ProviderSource,
  type ProviderSourceOptions,
  type SourcedProviderOptions,
} from "./config/provider-source.js";
export {
  ApiTokenError,
  ConfigurationError,
  GuardMissingError,
  HookFailedError,
  IdpAuthError,
  isOutage,
  ProviderRefusedError,
  ProviderUnavailableError,
  SessionMissingError,
  StoreUnavailableError,
  type ErrorCode,
  type Finding,
} from "./errors.js";
export type { Events } from "./events/events.js";
export type { Log, LogEntry } from "./events/log.js";
export type { Blocked } from "./guard/blocked-responses.js";
export type { LoginUrlOptions } from "./guard/login-url.js";
export type { IdpRequest } from "./http/request.js";
export type { Jwk, PrivateKeyOption, RemoteKey, SignAssertion } from "./keys/client-keys.js";
export type { Language } from "./pages/languages.js";
export type { PluralForms } from "./pages/locales/message.js";
export type { MessageOverrides } from "./pages/messages.js";
export type { PageDescription } from "./pages/page-description.js";
export type { PagesOptions } from "./pages/page-options.js";
export type { SessionStore } from "./ports/session-store.js";
export type { Credentials } from "./record/credentials.js";
export type { GuardRule, ProviderOf, RouteRule } from "./record/guard-requirements.js";
export type { Claims, IdInfo, SessionUser, Subject, UserPayload } from "./record/identity.js";
export type { EndReason, SessionEnd } from "./record/end-reason.js";
export type { ClientState } from "./record/client-state.js";
export type { Session } from "./record/session-view.js";
export { SessionEndedError } from "./sessions/session-end-signal.js";
export type { EventStream } from "./sessions/event-stream.js";
export type { ListedSession } from "./sessions/subject-sessions.js";
export { memoryStore } from "./stores/memory/memory-store.js";
