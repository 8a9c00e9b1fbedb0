import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, it } from "vitest";

/** One line of seeds.json. */
interface KeptSeed {
  readonly target: string;
  readonly seed: number;
  /** Of a single input, as fast-check reports it; without it the seed's first inputs are tried. */
  readonly path?: string;
  /** What it once found, or why it is kept. */
  readonly why: string;
}

const SEEDS = JSON.parse(
  readFileSync(new URL("seeds.json", import.meta.url), "utf8"),
) as readonly KeptSeed[];

/**
 * More inputs, from a seed of the moment: `FUZZ_RUNS=100000`, at most `FUZZ_SECONDS` (180) for each
 * target.
 */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 0);
const SECONDS = Number(process.env["FUZZ_SECONDS"] ?? 180);

/**
 * Tries a property with every seed that is kept for the target, and, when asked for more, with new
 * inputs. A failure says what to add to seeds.json, so that it is tried for ever.
 *
 * @param id the row of docs/evidence/security.md
 * @param runs inputs for each kept seed: a second or two at the most
 */
export function fuzz<Input>(
  id: string,
  target: string,
  runs: number,
  property: fc.IRawProperty<Input>,
): void {
  const check = async (parameters: fc.Parameters<Input>) => {
    const details = await fc.check(property, parameters);
    if (!details.failed) return details.numRuns;
    const line = { target, seed: details.seed, path: details.counterexamplePath ?? "", why: "…" };
    const report = String(await fc.asyncDefaultReportMessage(details));
    throw new Error(`Keep this in test/fuzz/seeds.json: ${JSON.stringify(line)}\n${report}`, {
      cause: details.errorInstance,
    });
  };
  describe(`[${id}] fuzzing: ${target}`, () => {
    for (const { seed, path, why } of SEEDS.filter((kept) => kept.target === target)) {
      it(`seed ${String(seed)}${path === undefined ? "" : ` at ${path}`}: ${why}`, async () => {
        await check({ seed, ...(path === undefined ? { numRuns: runs } : { path }) });
      });
    }

    if (RUNS === 0) return;
    it(
      "new inputs",
      async () => {
        const numRuns = await check({
          numRuns: RUNS,
          plugins: [fc.interruptAfterTimeLimit(SECONDS * 1000) as fc.Plugin<Input>],
        });
        console.info(`${target}: ${String(numRuns)} inputs`);
      },
      (SECONDS + 60) * 1000,
    );
  });
}
