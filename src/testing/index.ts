/** The kit for tests: what every store owes, as tests for any runner and as a report without one. */
export { checkStore, type GuaranteeVerdict, type OtherVerdict, type StoreCheckOptions, type StoreReport } from "./check-store.js";
export { formatStoreReport } from "./format-store-report.js";
export type { StoreResult } from "./check-obligation.js";
export { StoreObligationError } from "./check-obligation.js";
export { GUARANTEES, OTHER_PROMISES, type Guarantee, type GuaranteeNumber, type OtherPromise, type StoreNeed } from "./guarantees.js";
export { storeObligations } from "./obligations/index.js";
export type { StoreObligation } from "./obligations/obligation.js";
export type { StoreFactory, StoreOutage, StoreUnderTest } from "./store-under-test.js";
export { testStore, type RegisterTest, type StoreTestOptions, type TestContext } from "./test-store.js";
