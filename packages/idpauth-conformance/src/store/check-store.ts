import { checkRequirement, type StoreResult } from "./check-requirement.js";
import {
  GUARANTEES,
  PROPERTY_NEEDS,
  STORE_PROPERTIES,
  type GuaranteeNumber,
  type StoreProperty,
  type StoreNeed,
} from "./guarantees.js";
import { storeRequirements } from "./requirements/index.js";
import type { StoreFactory } from "./store-under-test.js";

/** Options of `checkStore`. */
export interface StoreCheckOptions {
  /** The store's name in the report. */
  readonly name: string;
  /** Called for each requirement. The result is closed after the check. */
  readonly create: StoreFactory;
  /** Called with each result, as soon as it is known. */
  readonly report?: (result: StoreResult) => void;
}

/** The guarantees that the store supports. */
export interface StoreReport {
  /** As given to `checkStore`. */
  readonly name: string;
  /** One result for each requirement, in the order of {@link storeRequirements}. */
  readonly results: readonly StoreResult[];
  /** The seven guarantees, in their order. */
  readonly guarantees: readonly GuaranteeVerdict[];
  /** In the order of `STORE_PROPERTIES`. */
  readonly properties: readonly PropertyVerdict[];
}

/** Whether the store supports a guarantee. */
export interface GuaranteeVerdict {
  /** Its place in `GUARANTEES`, from 1. */
  readonly number: GuaranteeNumber;
  /** One short sentence. */
  readonly title: string;
  /**
   * False: a requirement for it is broken. Undefined: no such requirement is broken, but some could
   * not be checked.
   */
  readonly given: boolean | undefined;
}

/** Whether the store supports a property. */
export interface PropertyVerdict {
  /** A key of `STORE_PROPERTIES`. */
  readonly name: StoreProperty;
  /** One short sentence. */
  readonly title: string;
  /** The same as for a guarantee. */
  readonly given: boolean | undefined;
}

/**
 * Checks a store without a test runner, one requirement after another, each on a store of its own.
 * A broken requirement does not reject; the report names it.
 *
 * @throws TypeError if `create` returns no store under test. If `create` rejects, its error is
 *   passed on.
 */
export async function checkStore({
  name,
  create,
  report,
}: StoreCheckOptions): Promise<StoreReport> {
  const checked: Checked[] = [];
  let isInProcess = false;
  const noted: StoreFactory = async () => {
    const under = await create();
    isInProcess =
      (under as { store?: { inProcess?: boolean } } | undefined)?.store?.inProcess === true;
    return under;
  };
  for (const requirement of storeRequirements) {
    const result = await checkRequirement(name, requirement, noted);
    checked.push({ result, needs: requirement.needs });
    report?.(result);
  }
  const verdict = (isConcerned: (result: StoreResult) => boolean, needs?: StoreNeed) =>
    isGiven(
      checked.filter(({ result }) => isConcerned(result)),
      isInProcess,
      needs,
    );
  return {
    name,
    results: checked.map(({ result }) => result),
    guarantees: GUARANTEES.map(({ number, title, needs }) => ({
      number,
      title,
      given: verdict(({ guarantees }) => guarantees.includes(number), needs),
    })),
    properties: (Object.keys(STORE_PROPERTIES) as StoreProperty[]).map((other) => ({
      name: other,
      title: STORE_PROPERTIES[other],
      given: verdict(({ properties }) => properties.includes(other), PROPERTY_NEEDS[other]),
    })),
  };
}

interface Checked {
  readonly result: StoreResult;
  readonly needs: StoreNeed | undefined;
}

const OPTIONAL: readonly (StoreNeed | undefined)[] = ["getMany", "ends", "lossyIndex"];

/**
 * Returns the verdict on a guarantee or property. An unchecked requirement does not count if it is
 * on an optional method. Nor does it for a store in this process, which no other process reaches,
 * unless the guarantee itself needs it.
 */
function isGiven(
  checked: readonly Checked[],
  isInProcess: boolean,
  own: StoreNeed | undefined,
): boolean | undefined {
  if (checked.some(({ result }) => result.error !== undefined)) return false;
  const open = checked.filter(({ result }) => result.notChecked !== undefined);
  const isIgnored = (needs: StoreNeed | undefined) =>
    needs !== own && (isInProcess || OPTIONAL.includes(needs));
  if (open.some(({ needs }) => !isIgnored(needs))) return undefined;
  return true;
}
