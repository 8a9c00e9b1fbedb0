import { checkRequirement, type StoreResult } from "./check-requirement.js";
import { GUARANTEES, STORE_PROPERTIES, type GuaranteeNumber, type StoreProperty, type StoreNeed } from "./guarantees.js";
import { storeRequirements } from "./requirements/index.js";
import type { StoreFactory } from "./store-under-test.js";

export interface StoreCheckOptions {
  /** For the report. */
  readonly name: string;
  /** Called for each requirement; what it gives is closed after it. */
  readonly create: StoreFactory;
  /** Called with each result as it comes, for a run that takes its time. */
  readonly report?: (result: StoreResult) => void;
}

/** What can be promised over the store. */
export interface StoreReport {
  readonly name: string;
  /** One for each requirement, in the order of the table. */
  readonly results: readonly StoreResult[];
  /** The seven, in their order. */
  readonly guarantees: readonly GuaranteeVerdict[];
  readonly properties: readonly PropertyVerdict[];
}

export interface GuaranteeVerdict {
  readonly number: GuaranteeNumber;
  readonly title: string;
  /** False: a requirement that it hangs on is broken. Undefined: none is, but not all could be checked. */
  readonly given: boolean | undefined;
}

export interface PropertyVerdict {
  readonly name: StoreProperty;
  readonly title: string;
  /** As for a guarantee. */
  readonly given: boolean | undefined;
}

/**
 * Holds a store to the port, without any test runner: all requirements one after the other, each on a store of its own.
 * A broken requirement does not reject; it is in the report.
 *
 * @throws TypeError what `create` gave is no store under test; and whatever `create` itself rejects with
 */
export async function checkStore({ name, create, report }: StoreCheckOptions): Promise<StoreReport> {
  const checked: Checked[] = [];
  let isInProcess = false;
  const noted: StoreFactory = async () => {
    const under = await create();
    isInProcess = (under as { store?: { inProcess?: boolean } } | undefined)?.store?.inProcess === true;
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
      given: verdict(({ properties }) => properties.includes(other)),
    })),
  };
}

interface Checked {
  readonly result: StoreResult;
  readonly needs: StoreNeed | undefined;
}

/**
 * What a store in this process cannot be asked keeps a promise from being given only where the promise is about that very
 * thing: nobody else can reach the store.
 */
function isGiven(checked: readonly Checked[], isInProcess: boolean, own: StoreNeed | undefined): boolean | undefined {
  if (checked.some(({ result }) => result.error !== undefined)) return false;
  const open = checked.filter(({ result }) => result.notChecked !== undefined);
  if (open.some(({ needs }) => !isInProcess || needs === own)) return undefined;
  return true;
}
