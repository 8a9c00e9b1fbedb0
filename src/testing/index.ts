/**
 * The kit for tests: a provider on a socket, sign-in without a browser, and the requirements of
 * stores and adapters, as tests for any runner and as a report without a runner.
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
  type PersonClaims,
  type ProviderHooks,
  type ProviderSettings,
  type ReceivedRequest,
  type RequestedTarget,
  type TestProvider,
  type TestProviderOptions,
} from "./provider/test-provider.js";
export {
  startTestApi,
  type ApiRequest,
  type TestApi,
  type TestApiOptions,
} from "./api/test-api.js";
export type { StepUpRequirement } from "./api/admission.js";
export type { TokenClaims, TokenProvider } from "./api/access-token-checks.js";
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
export {
  checkStore,
  type GuaranteeVerdict,
  type PropertyVerdict,
  type StoreCheckOptions,
  type StoreReport,
} from "../conformance/store/check-store.js";
export { formatStoreReport } from "../conformance/store/format-store-report.js";
export type { StoreResult } from "../conformance/store/check-requirement.js";
export { StoreRequirementError } from "../conformance/store/check-requirement.js";
export {
  GUARANTEES,
  STORE_PROPERTIES,
  type Guarantee,
  type GuaranteeNumber,
  type OptionalMethod,
  type StoreProperty,
  type StoreNeed,
} from "../conformance/store/guarantees.js";
export { storeRequirements } from "../conformance/store/requirements/index.js";
export type { StoreRequirement } from "../conformance/store/requirements/requirement.js";
export type {
  StoreFactory,
  StoreOutage,
  StoreUnderTest,
} from "../conformance/store/store-under-test.js";
export {
  testStore,
  type RegisterTest,
  type StoreTestOptions,
  type TestContext,
} from "../conformance/store/test-store.js";
export {
  checkAdapter,
  type AdapterCheckOptions,
  type AdapterReport,
  type AdapterScope,
} from "../conformance/adapter/check-adapter.js";
export {
  formatAdapterReport,
  formatAdapterTable,
} from "../conformance/adapter/format-adapter-report.js";
export {
  AdapterRequirementError,
  type AdapterResult,
} from "../conformance/adapter/check-requirement.js";
export {
  ADAPTER_FEATURES,
  type EchoRoute,
  type ApplicationAuth,
  type AdapterFactory,
  type AdapterFeature,
  type ApplicationRoute,
  type AdapterSetup,
  type AdapterUnderTest,
  type JsonRoute,
  type ProxiedApi,
  type RouteGuard,
  type RunningApplication,
  type StreamRoute,
} from "../conformance/adapter/adapter-under-test.js";
export type {
  ApplicationStarter,
  StageOptions,
  StartedApplication,
} from "../conformance/adapter/application-starter.js";
export { adapterRequirements } from "../conformance/adapter/requirements/index.js";
export type { AdapterRequirement } from "../conformance/adapter/requirements/requirement.js";
export { testAdapter, type AdapterTestOptions } from "../conformance/adapter/test-adapter.js";
