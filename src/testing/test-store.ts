import { storeObligations, type StoreFactory } from "./store-obligations.js";

/** Any test runner's way to register a test: `it` of vitest, `test` of node:test, … */
export type RegisterTest = (name: string, run: () => Promise<void>) => unknown;

export interface StoreTestOptions {
  /** For the names of the tests. */
  readonly name: string;
  /** Called for each test; what it gives is closed after it. */
  readonly create: StoreFactory;
  readonly test: RegisterTest;
}

/** Holds a store to the port: one test per obligation, each on a store of its own. */
export function testStore({ name, create, test }: StoreTestOptions): void {
  for (const obligation of storeObligations) {
    test(`${name} store, ${obligation.method}: ${obligation.promise}`, async () => {
      const under = await create();
      try {
        await obligation.check(under);
      } finally {
        await under.close?.();
      }
    });
  }
}
