/**
 * The kit for tests: a provider and an API on sockets, sign-in without a browser, and clocks. The
 * suites for authors of stores and adapters are in `idpauth-conformance`.
 */
export {
  compactJws,
  startTestProvider,
  type Endpoint,
  type Fault,
  type Hold,
  type HoldOptions,
  type IdTokenDraft,
  type Issued,
  type JsonPart,
  type JwksControls,
  type LogoutResponse,
  type LogoutTokenOptions,
  type MutatedIdToken,
  type NonceDemand,
  type PersonClaims,
  type PresentedCertificate,
  type ProviderHooks,
  type ProviderSettings,
  type ReceivedRequest,
  type RegisteredNames,
  type RequestedTarget,
  type ResponseJwtDraft,
  type TestProvider,
  type TestProviderOptions,
} from "./provider/test-provider.js";
export {
  startTestProviders,
  type AddedProviderOptions,
  type FoundProvider,
  type TestProviders,
} from "./provider/test-providers.js";
export {
  startTestApi,
  type ApiRequest,
  type TestApi,
  type TestApiOptions,
} from "./api/test-api.js";
export type { StepUpRequirement } from "./api/admission.js";
export type { TokenClaims, TokenProvider } from "./api/access-token-checks.js";
export {
  testCertificate,
  testCertificateAuthority,
  type TestCertificate,
  type TestCertificateOptions,
} from "./certificates/test-certificates.js";
export { RunningClock, type MovableClock } from "./running-clock.js";
export { TestClock } from "./test-clock.js";
export {
  CookieBrowser,
  CookieJar,
  type BrowserResponse,
  type BrowserRequestOptions,
  type CookieBrowserOptions,
  type FollowedResponse,
  type KeptCookie,
  type PrefixProxy,
} from "./browser/cookie-browser.js";
export {
  browser,
  type BrowserOptions,
  type PostedData,
  type TestBrowser,
} from "./sign-in/test-browser.js";
export { signIn, type SignInOptions } from "./sign-in/sign-in.js";
export { SignInError, type SignInStep } from "./sign-in/sign-in-error.js";
export {
  signedInAs,
  signedInCookie,
  type SignedInAsOptions,
  type SignedInCookie,
  type SignsInForTests,
} from "./sign-in/signed-in-as.js";
export { providersEnv } from "./providers-env.js";
export { settled, type Settles } from "./settled.js";
export type { Served, TestedApplication } from "./sign-in/serve.js";
export { liveStoreRequirements, type LiveStoreRequirement } from "./store/live-requirements.js";
export { storeSteps, type InsertedEntry, type StoreToCheck } from "./store/store-steps.js";
