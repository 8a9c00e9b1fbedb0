/**
 * The requirements of stores and adapters, as tests for any runner and as a report without a runner.
 */
export {
  checkStore,
  type GuaranteeVerdict,
  type PropertyVerdict,
  type StoreCheckOptions,
  type StoreReport,
} from "./store/check-store.js";
export { formatStoreReport } from "./store/format-store-report.js";
export type { StoreResult } from "./store/check-requirement.js";
export { StoreRequirementError } from "./store/check-requirement.js";
export {
  GUARANTEES,
  STORE_PROPERTIES,
  type Guarantee,
  type GuaranteeNumber,
  type OptionalMethod,
  type StoreProperty,
  type StoreNeed,
} from "./store/guarantees.js";
export { storeRequirements } from "./store/requirements/index.js";
export type { StoreRequirement } from "./store/requirements/requirement.js";
export type { StoreFactory, StoreOutage, StoreUnderTest } from "./store/store-under-test.js";
export {
  testStore,
  type RegisterTest,
  type StoreTestOptions,
  type TestContext,
} from "./store/test-store.js";
export {
  checkAdapter,
  type AdapterCheckOptions,
  type AdapterReport,
  type AdapterScope,
} from "./adapter/check-adapter.js";
export { formatAdapterReport, formatAdapterTable } from "./adapter/format-adapter-report.js";
export { AdapterRequirementError, type AdapterResult } from "./adapter/check-requirement.js";
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
} from "./adapter/adapter-under-test.js";
export type {
  ApplicationStarter,
  StageOptions,
  StartedApplication,
} from "./adapter/application-starter.js";
export { adapterRequirements } from "./adapter/requirements/index.js";
export type { AdapterRequirement } from "./adapter/requirements/requirement.js";
export { testAdapter, type AdapterTestOptions } from "./adapter/test-adapter.js";
