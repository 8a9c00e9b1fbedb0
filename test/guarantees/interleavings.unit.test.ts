import { describe, expect, it } from "vitest";
import {
  ACTOR_KINDS,
  EVENT_KINDS,
  planScenario,
  runInterleaving,
  type Outcome,
  type Scenario,
} from "./interleaving.js";
import { Random } from "./random.js";

const HOW_MANY = Number(process.env["INTERLEAVINGS"] ?? 300);
/** A run of this many is long enough for the rare kinds, too. */
const LONG = 3_000;
/** Replays one interleaving and prints its steps. */
const ONE_SEED = process.env["INTERLEAVING_SEED"];

/** In one interleaving of a hundred, or fewer. */
const RARE = [
  "a later sign-in outlived a late logout token",
  "afterwards out by a lost callback",
  "callback 403",
  "hook onSignOut replaced",
  "keys away after the token was spent",
  "reuse in the named case",
  "takeover",
  "unknown key after the token was spent",
];

/** What must have happened at least once, or the run has shown nothing. */
const MUST_HAPPEN = [
  ...ACTOR_KINDS.map((kind) => `actor ${kind}`),
  ...EVENT_KINDS.map((kind) => `event ${kind}`),
  ...["get", "insert", "replace", "touch", "delete"].map((method) => `store.${method}`),
  ...["in", "out", "unavailable", "logged out"].map((said) => `answer ${said}`),
  ...["before", "after", "hang"].map((fault) => `fault ${fault}`),
  ...["302", "400", "503"].map((status) => `callback ${status}`),
  ...["200", "400"].map((status) => `back-channel ${status}`),
  "a logout overtook its callback",
  "a token for an API stored",
  "afterwards signed in",
  "afterwards out by logout at the provider",
  "afterwards out by refusal",
  "ended at the provider",
  "logout remembered",
  "trace left",
  "another person's sign-in",
  "conflict",
  "data carried over by a sign-in",
  "data updated",
  "ended by onRefresh",
  "hook onRefresh",
  "hook onSignIn",
  ...["logout", "logged_out_at_provider", "idle", "max_age"].map(
    (reason) => `hook onSignOut ${reason}`,
  ),
  "late revocation",
  "lease taken",
  "logout won over a callback",
  "one token request for all",
  "one token request for each API",
  "refresh",
  "retry afterwards",
  ...(HOW_MANY < LONG ? [] : RARE),
];

type Counts = Map<string, number>;

function countInto(counts: Counts): (kind: string) => void {
  return (kind) => counts.set(kind, (counts.get(kind) ?? 0) + 1);
}

function report(counts: Counts, interleavings: number, steps: number): string {
  const rows = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, times]) => `${String(times).padStart(9)}  ${kind}`);
  return [`${String(interleavings)} interleavings, ${String(steps)} steps`, ...rows].join("\n");
}

function told(seed: number, { violations, trace }: Outcome): string {
  const broken = violations.map(({ check, message }) => `  ${check}: ${message}`);
  return [`INTERLEAVING_SEED=${String(seed)} breaks a guarantee:`, ...broken, "", ...trace].join(
    "\n",
  );
}

/**
 * Looks for a shorter story of the same failure: an actor, an event or a process less, under a few
 * other seeds.
 */
async function shrunk(seed: number, failure: Outcome): Promise<string> {
  const check = failure.violations[0]?.check;
  let [best, bestSeed, scenario] = [failure, seed, planScenario(new Random(seed ^ 0x5eed))];
  let isSmaller = true;
  while (isSmaller) {
    isSmaller = false;
    for (const candidate of smaller(scenario)) {
      for (let attempt = 0; attempt < 60 && !isSmaller; attempt += 1) {
        const outcome = await runInterleaving(seed + attempt * 7_919, () => undefined, candidate);
        if (outcome.violations[0]?.check !== check) continue;
        [best, bestSeed, scenario, isSmaller] = [outcome, seed + attempt * 7_919, candidate, true];
      }
      if (isSmaller) break;
    }
  }
  const [full, short] = [told(seed, failure), best.trace.join("\n")];
  return best === failure
    ? full
    : `${full}\n\nThe same in fewer steps (seed ${String(bestSeed)}, a smaller cast):\n${short}`;
}

function smaller(scenario: Scenario): Scenario[] {
  const without = <Item>(items: readonly Item[]) =>
    items.map((_, left) => items.filter((__, index) => index !== left));
  return [
    ...without(scenario.actors).map((actors) => ({ ...scenario, actors })),
    ...without(scenario.events).map((events) => ({ ...scenario, events })),
    ...(scenario.prompt ? [] : [{ ...scenario, prompt: true }]),
  ];
}

describe("[ASVS-15.4.1] the seven guarantees", () => {
  it(
    `[S4] [R0] [R4] [R15] hold over ${ONE_SEED === undefined ? String(HOW_MANY) : "one"} interleavings of requests, crashes and outages`,
    { timeout: 600_000 },
    async () => {
      const counts: Counts = new Map();
      const seeds =
        ONE_SEED === undefined
          ? Array.from({ length: HOW_MANY }, (_, index) => index + 1)
          : [Number(ONE_SEED)];
      let steps = 0;
      for (const seed of seeds) {
        const outcome = await runInterleaving(seed, countInto(counts));
        steps += outcome.steps;
        if (outcome.violations.length > 0) expect.fail(await shrunk(seed, outcome));
        if (ONE_SEED !== undefined) console.log(outcome.trace.join("\n"));
      }
      if (ONE_SEED !== undefined) return;
      console.log(report(counts, seeds.length, steps));
      expect(MUST_HAPPEN.filter((kind) => !counts.has(kind))).toEqual([]);
    },
  );

  it("are shown by runs that replay: the same seed takes the same steps", async () => {
    for (const seed of [3, 14, 159, 265, 358, 979]) {
      const [first, second] = [
        await runInterleaving(seed, () => undefined),
        await runInterleaving(seed, () => undefined),
      ];
      expect(first.trace.length).toBeGreaterThan(20);
      expect(second.trace).toEqual(first.trace);
    }
    const [one, other] = [
      await runInterleaving(1, () => undefined),
      await runInterleaving(2, () => undefined),
    ];
    expect(other.trace).not.toEqual(one.trace);
  });
});
