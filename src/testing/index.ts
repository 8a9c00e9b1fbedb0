/** The kit for tests: what every store owes, as tests for any runner and as a report without one. */
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
