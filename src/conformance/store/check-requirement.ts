import assert from "node:assert/strict";
import type { SessionStore } from "../../index.js";
import { withResponsesChecked } from "./checked-responses.js";
import { GUARANTEES, STORE_PROPERTIES, type GuaranteeNumber, type StoreProperty } from "./guarantees.js";
import type { StoreRequirement } from "./requirements/requirement.js";
import {
  answerLimit,
  assertStore,
  assertStoreUnderTest,
  whyNotChecked,
  type StoreFactory,
  type StoreUnderTest,
} from "./store-under-test.js";

/** A store breaks a requirement. The message says what it cannot guarantee, and why; `cause` is what was seen. */
export class StoreRequirementError extends Error {
  override readonly name = "StoreRequirementError";
  readonly method: string;
  readonly title: string;
  /** The guarantees that the store cannot give. */
  readonly guarantees: readonly GuaranteeNumber[];
  /** The other promises that it cannot keep. */
  readonly properties: readonly StoreProperty[];

  constructor(name: string, { method, title, guarantees, properties, consequence }: StoreRequirement, cause: unknown) {
    const lost = [
      ...guarantees.map((number) => `  guarantee ${number}: ${GUARANTEES.find((one) => one.number === number)?.title ?? ""}`),
      ...properties.map((other) => `  ${other}: ${STORE_PROPERTIES[other]}`),
    ];
    const seen = cause instanceof Error ? cause.message : String(cause);
    super(
      `The ${name} store breaks a requirement. ${method}: ${title}.\n${consequence}\nSo it cannot give\n${lost.join("\n")}\nSeen: ${seen}`,
      {
        cause,
      },
    );
    this.method = method;
    this.title = title;
    this.guarantees = guarantees;
    this.properties = properties;
  }
}

/** What became of one requirement. */
export interface StoreResult {
  readonly method: string;
  readonly title: string;
  /** The guarantees that hang on it. */
  readonly guarantees: readonly GuaranteeNumber[];
  /** The other promises that hang on it. */
  readonly properties: readonly StoreProperty[];
  /** True only when it was checked and holds. */
  readonly passed: boolean;
  /** Why it could not be checked. */
  readonly notChecked?: string;
  /** Why it does not hold. */
  readonly error?: StoreRequirementError;
}

/**
 * Holds a store of its own to one requirement.
 *
 * @throws TypeError what `create` gave is no store under test; and whatever `create` itself rejects with
 */
export async function checkRequirement(name: string, requirement: StoreRequirement, create: StoreFactory): Promise<StoreResult> {
  const under = await create();
  assertStoreUnderTest(name, under);
  try {
    return await resultOf(name, requirement, under);
  } finally {
    await under.close?.();
  }
}

async function resultOf(name: string, requirement: StoreRequirement, under: StoreUnderTest): Promise<StoreResult> {
  const { method, title, guarantees, properties, needs } = requirement;
  const about = { method, title, guarantees, properties };
  const notChecked = whyNotChecked(under, needs);
  if (notChecked !== undefined) return { ...about, passed: false, notChecked };
  try {
    await requirement.check(asked(under));
    return { ...about, passed: true };
  } catch (error) {
    return { ...about, passed: false, error: new StoreRequirementError(name, requirement, error) };
  }
}

/** The same, over a store whose answers are looked at. */
function asked(under: StoreUnderTest): StoreUnderTest {
  const { life, timeLimit, outage } = under;
  return {
    store: withResponsesChecked(under.store, answerLimit(under)),
    now: () => under.now(),
    advance: (seconds) => under.advance(seconds),
    ...(life !== undefined && { life }),
    ...(timeLimit !== undefined && { timeLimit }),
    ...(outage !== undefined && { outage }),
    ...(under.another !== undefined && { another: async () => anotherOf(under) }),
  };
}

async function anotherOf(under: StoreUnderTest): Promise<SessionStore> {
  const other: unknown = await under.another?.();
  assertStore("second", other);
  assert.notEqual(other, under.store, "another() gave the very same store: it must open a second one over the same data");
  return withResponsesChecked(other, answerLimit(under));
}
