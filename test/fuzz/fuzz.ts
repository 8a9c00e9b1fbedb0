import fc from "fast-check";
import { describe, expect, it } from "vitest";

/** An input that once found a mistake. It's a value, so no change to a generator changes it. */
export interface Kept<Input> {
  /** The mistake that it found. */
  readonly why: string;
  readonly input: Input;
  /** What the input consists of, as `shown` prints it, so that it can't silently become another. */
  readonly mark: string;
}

export interface FuzzTarget<Input> {
  /** The row of docs/evidence/security.json. */
  readonly id: string;
  readonly target: string;
  /** Inputs of each run, always the same: a second or two at the most. */
  readonly runs: number;
  readonly property: fc.IRawProperty<Input>;
  readonly kept?: readonly Kept<Input>[];
  /** @returns the text in which a mark is looked for. The default is JSON. */
  readonly shown?: (input: Input) => string;
}

/** Of the inputs of each run. */
const SEED = 1;

/**
 * More inputs, from a seed of the moment: `FUZZ_RUNS=100000`, at most `FUZZ_SECONDS` (180) for each
 * target.
 */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 0);
const SECONDS = Number(process.env["FUZZ_SECONDS"] ?? 180);

/** Tries a property with a target's first inputs, its kept ones and, when asked for more, new ones. */
export function fuzz<Input>({ id, target, runs, property, ...rest }: FuzzTarget<Input>): void {
  const { kept = [], shown = JSON.stringify } = rest;
  const check = async (parameters: fc.Parameters<Input>) => {
    const details = await fc.check(property, parameters);
    if (!details.failed) return details.numRuns;
    const report = String(await fc.asyncDefaultReportMessage(details));
    throw new Error(`Keep this input among those of the target, as a value:\n${report}`, {
      cause: details.errorInstance,
    });
  };
  describe(`[${id}] fuzzing: ${target}`, () => {
    it(`${String(runs)} inputs`, async () => {
      await check({ seed: SEED, numRuns: runs });
    });

    for (const { why, input, mark } of kept) {
      it(`the kept input: ${why}`, async () => {
        expect(shown(input)).toContain(mark);
        await check({ examples: [input], numRuns: 1 });
      });
    }

    if (RUNS === 0) return;
    it(
      "new inputs",
      // Another try would take another seed.
      { timeout: (SECONDS + 60) * 1000, retry: 0 },
      async () => {
        const numRuns = await check({
          numRuns: RUNS,
          plugins: [fc.interruptAfterTimeLimit(SECONDS * 1000) as fc.Plugin<Input>],
        });
        console.info(`${target}: ${String(numRuns)} inputs`);
      },
    );
  });
}
