import assert from "node:assert/strict";
import type { SessionStore } from "idpauth";
import { withResponsesChecked } from "./checked-responses.js";
import {
  GUARANTEES,
  STORE_PROPERTIES,
  type GuaranteeNumber,
  type StoreProperty,
} from "./guarantees.js";
import type { StoreRequirement } from "./requirements/requirement.js";
import {
  callLimit,
  assertStore,
  assertStoreUnderTest,
  whyNotChecked,
  type StoreFactory,
  type StoreUnderTest,
} from "./store-under-test.js";

/**
 * A store breaks a requirement. The message gives the lost guarantees and the reason; `cause` is
 * the failed check.
 */
export class StoreRequirementError extends Error {
  /** Minifiers don't change it. */
  override readonly name = "StoreRequirementError";
  /** The method or the subject of the requirement. */
  readonly method: string;
  /** The broken rule, unique within its method. */
  readonly title: string;
  /** The guarantees that the store cannot give. */
  readonly guarantees: readonly GuaranteeNumber[];
  /** The properties that the store cannot give. */
  readonly properties: readonly StoreProperty[];

  constructor(
    name: string,
    { method, title, guarantees, properties, consequence }: StoreRequirement,
    cause: unknown,
  ) {
    const lost = [
      ...guarantees.map(
        (number) =>
          `  guarantee ${number}: ${GUARANTEES.find((one) => one.number === number)?.title ?? ""}`,
      ),
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

/** The result of one requirement. */
export interface StoreResult {
  /** The method or the subject of the requirement. */
  readonly method: string;
  /** The rule, unique within its method. */
  readonly title: string;
  /** The guarantees that depend on it. */
  readonly guarantees: readonly GuaranteeNumber[];
  /** The properties that depend on it. */
  readonly properties: readonly StoreProperty[];
  /** True if it was checked and the store meets it. */
  readonly passed: boolean;
  /** The reason that it could not be checked. */
  readonly notChecked?: string;
  /** The error of a store that breaks it. */
  readonly error?: StoreRequirementError;
}

/**
 * Checks one requirement on a store of its own.
 *
 * @throws TypeError if `create` returns no store under test. If `create` rejects, its error is
 *   passed on.
 */
export async function checkRequirement(
  name: string,
  requirement: StoreRequirement,
  create: StoreFactory,
): Promise<StoreResult> {
  const under = await create();
  assertStoreUnderTest(name, under);
  try {
    return await resultOf(name, requirement, under);
  } finally {
    await under.close?.();
  }
}

async function resultOf(
  name: string,
  requirement: StoreRequirement,
  under: StoreUnderTest,
): Promise<StoreResult> {
  const { method, title, guarantees, properties, needs } = requirement;
  const about = { method, title, guarantees, properties };
  const notChecked = whyNotChecked(under, needs);
  if (notChecked !== undefined) return { ...about, passed: false, notChecked };
  try {
    await requirement.check(withChecks(under));
    return { ...about, passed: true };
  } catch (error) {
    return { ...about, passed: false, error: new StoreRequirementError(name, requirement, error) };
  }
}

/** Returns the store under test with every response checked. */
function withChecks(under: StoreUnderTest): StoreUnderTest {
  const { life, timeLimit, outage } = under;
  return {
    store: withResponsesChecked(under.store, callLimit(under)),
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
  assert.notEqual(
    other,
    under.store,
    "another() returned the same store. It must open a second store over the same data.",
  );
  return withResponsesChecked(other, callLimit(under));
}
