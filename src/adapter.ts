/**
 * The public exports for authors of adapters and stores. What applications use too, such as
 * `IdpAuthOptions` and `SessionStore`, comes from `idpauth`. What only frameworks over node:http
 * need is here too, and loads no module of Node.js until it gets a response.
 */
export { SETTLED, type Accessors } from "./auth/accessor-types.js";
export { REQUEST_ACCESSORS } from "./auth/accessors.js";
export { createAdapterAuth, type AdapterParts } from "./auth/adapter-auth.js";
export type {
  FrameworkAdapter,
  FrameworkFacts,
  FrameworkSource,
  IdpAuth,
} from "./auth/adapter-types.js";
export { createIdpAuth } from "./auth/create-idp-auth.js";
export { OBSERVE, type Observable, type Observed } from "./auth/observe.js";
export { hasEpochTimePassed, systemClock, type EpochSeconds } from "./clock.js";
export { STARTUP_CHECKS, type SessionMiddleware } from "./config/startup-checks.js";
export { ERRORS } from "./errors.js";
export { driverCode } from "./events/event-hub.js";
export { GUARDED_CACHE_CONTROL, varyByCookie } from "./guard/cache-headers.js";
export type { Gate, Gates, Guards, Stopped } from "./guard/gate.js";
export {
  respondToBlocked,
  type AnyGuardResponses,
  type GuardResponsesOf,
} from "./guard/custom-responses.js";
export { assertGuardOptions, assertUsage, type Usage } from "./guard/guard-usage.js";
export { loginUrlBackTo } from "./guard/login-url.js";
export { isValidIdpUrl } from "./http/document-urls.js";
export { onFirstClose, type Closable } from "./http/first-close.js";
export { headerLines } from "./http/header-lines.js";
export { PerRequest } from "./http/per-request.js";
export {
  describesBody,
  isStream,
  type AnyReply,
  type Body,
  type BodyStream,
  type NodeStream,
  type Reply,
} from "./http/reply.js";
export {
  headerText,
  NodeRequest,
  onClose,
  rememberResponse,
  responseTo,
  soleHost,
  type AnyRequest,
  type AnyResponse,
} from "./node-http/node-message.js";
export {
  breakOff,
  breakOffWith,
  cancelStream,
  eventStreamTo,
  keepHeadPrivate,
  keepPrivate,
  readableOf,
  sendHead,
  sendStream,
  writeFresh,
  writeReply,
} from "./node-http/node-response.js";
export {
  sourceOf,
  upgradesOf,
  type UpgradeProxy,
  type UpgradeRequest,
} from "./node-http/upgrades.js";
export type { Facts, Identity, Observation, Observer, Operation, Work } from "./ports/observer.js";
export type {
  EndWatcher,
  Entry,
  EntryPage,
  LossyIndex,
  Stored,
  StoreProblem,
} from "./ports/session-store.js";
export { credentialsToDict, type ProviderCredentials } from "./record/credentials.js";
export type { SessionRecord } from "./record/record.js";
export type { FrameworkSession } from "./sessions/framework-session.js";
export { SESSION_FOR_TESTS, type SessionForTests } from "./sessions/session-for-tests.js";
