/** The kit for tests: what every store owes, as tests for any runner. */
export { storeObligations, type StoreFactory, type StoreObligation, type StoreUnderTest } from "./store-obligations.js";
export { testStore, type RegisterTest, type StoreTestOptions } from "./test-store.js";
