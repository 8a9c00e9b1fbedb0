import type { GuaranteeNumber, StoreProperty, StoreNeed } from "../guarantees.js";
import type { StoreUnderTest } from "../store-under-test.js";

/** One rule that a session store follows. */
export interface StoreRequirement {
  /** The method or the subject: `get`, `expiry`, `processes`, … */
  readonly method: string;
  /**
   * The rule. Unique within its method. Reports name the requirement by method and title, so keep
   * both stable.
   */
  readonly title: string;
  /** The guarantees that are lost with a store that breaks it. */
  readonly guarantees: readonly GuaranteeNumber[];
  /** The properties that are lost with a store that breaks it. */
  readonly properties: readonly StoreProperty[];
  /** What happens with a store that breaks it, in one sentence. */
  readonly consequence: string;
  /** The feature that the check uses. Without the feature, the requirement is not checked. */
  readonly needs?: StoreNeed;
  /**
   * Whether `idpauth check --live` also checks it: it needs a few seconds and only the seven
   * methods, and does not wait for an expiry.
   */
  readonly live?: true;
  /** Rejects if the store breaks it, with an AssertionError or the store's own error. */
  check(under: StoreUnderTest): Promise<void>;
}
