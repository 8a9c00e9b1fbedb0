import type { GuaranteeNumber, StoreProperty, StoreNeed } from "../guarantees.js";
import type { StoreUnderTest } from "../store-under-test.js";

/** One thing that a store owes. */
export interface StoreRequirement {
  /** The method that owes it, or what it is about: `expiry`, `processes`, … */
  readonly method: string;
  /** What it owes. Unique within its method; not renamed without need, since reports name it. */
  readonly title: string;
  /** The guarantees that a store which breaks it cannot give. */
  readonly guarantees: readonly GuaranteeNumber[];
  /** The other promises that hang on it. */
  readonly properties: readonly StoreProperty[];
  /** What happens over a store that breaks it, in one sentence. */
  readonly consequence: string;
  /** What the check takes; `bytes`: a store outside the process. Without it, the requirement is not checked. */
  readonly needs?: StoreNeed;
  /** Rejects when the store breaks it: with an AssertionError, or with what the store rejected with. */
  check(under: StoreUnderTest): Promise<void>;
}
