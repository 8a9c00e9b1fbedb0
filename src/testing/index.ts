/**
 * The kit for tests: a provider on a socket, people who sign in without a browser, and what every store and every host owes, as
 * tests for any runner and as a report without one.
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
  type MutatedIdToken,
  type PersonClaims,
  type ProviderHooks,
  type ProviderSettings,
  type ReceivedRequest,
  type TestProvider,
  type TestProviderOptions,
} from "./provider/test-provider.js";
export { RunningClock, type MovableClock } from "./running-clock.js";
export { TestClock } from "./test-clock.js";
export {
  CookieBrowser,
  CookieJar,
  type BrowserAnswer,
  type BrowserRequestOptions,
  type CookieBrowserOptions,
  type FollowedAnswer,
  type KeptCookie,
  type PrefixProxy,
} from "./browser/cookie-browser.js";
export { browser, type BrowserOptions, type Visitor } from "./sign-in/visitor.js";
export { signIn, type SignInOptions } from "./sign-in/sign-in.js";
export { SignInError, type SignInStep } from "./sign-in/sign-in-error.js";
export { signedInAs, signedInCookie, type SignedInAsOptions, type SignedInCookie, type SignsInForTests } from "./sign-in/signed-in-as.js";
export type { TestedApplication } from "./sign-in/serve.js";
export { checkStore, type GuaranteeVerdict, type OtherVerdict, type StoreCheckOptions, type StoreReport } from "./store/check-store.js";
export { formatStoreReport } from "./store/format-store-report.js";
export type { StoreResult } from "./store/check-obligation.js";
export { StoreObligationError } from "./store/check-obligation.js";
export { GUARANTEES, OTHER_PROMISES, type Guarantee, type GuaranteeNumber, type OtherPromise, type StoreNeed } from "./store/guarantees.js";
export { storeObligations } from "./store/obligations/index.js";
export type { StoreObligation } from "./store/obligations/obligation.js";
export type { StoreFactory, StoreOutage, StoreUnderTest } from "./store/store-under-test.js";
export { testStore, type RegisterTest, type StoreTestOptions, type TestContext } from "./store/test-store.js";
export { checkHost, type HostCheckOptions, type HostReport } from "./host/check-host.js";
export { formatHostReport, formatHostTable } from "./host/format-host-report.js";
export { HostObligationError, type HostResult } from "./host/check-obligation.js";
export {
  HOST_FEATURES,
  type EchoRoute,
  type HostAuth,
  type HostFactory,
  type HostFeature,
  type HostRoute,
  type HostSetup,
  type HostUnderTest,
  type JsonRoute,
  type RouteGuard,
  type RunningHost,
} from "./host/host-under-test.js";
export { hostObligations } from "./host/obligations/index.js";
export type { HostObligation } from "./host/obligations/obligation.js";
export { testHost, type HostTestOptions } from "./host/test-host.js";
export { redirectCorpus, type RedirectCase } from "./host/redirect-corpus.js";
