import { describe, expect, it } from "vitest";
import { runFixation } from "./fixation.js";

const HOW_MANY = Number(process.env["INTERLEAVINGS"] ?? 300);
/** Replays one interleaving and prints its steps. */
const ONE_SEED = process.env["INTERLEAVING_SEED"];

/** What must have happened at least once, or the run has shown nothing. */
const MUST_HAPPEN = [
  ...["ada", "mallory"].flatMap((user) =>
    ["callback", "signIn", "probe", "logout"].map((kind) => `${user} ${kind}`),
  ),
  ...["302", "400", "409"].map((status) => `callback ${status}`),
  ...["ada", "mallory"].map((user) => `${user} signed in`),
  "failure repeated",
  "login begun again",
  "told to be signed in",
  "trace of a sign-in",
  ...(HOW_MANY < 3_000 ? [] : ["callback 503", "event crash", "failure sign_in_running"]),
];

describe("[ASVS-7.2.4] [R12] session fixation", () => {
  it(
    `never succeeds in ${ONE_SEED === undefined ? String(HOW_MANY) : "one"} interleavings of two browsers, one of them an attacker's`,
    { timeout: 3_600_000 },
    async () => {
      const counts = new Map<string, number>();
      const count = (kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const seeds =
        ONE_SEED === undefined
          ? Array.from({ length: HOW_MANY }, (_, index) => index + 1)
          : [Number(ONE_SEED)];
      for (const seed of seeds) {
        const { violations, trace } = await runFixation(seed, count);
        if (violations.length > 0) {
          const broken = violations.map(({ check, message }) => `  ${check}: ${message}`);
          const head = `INTERLEAVING_SEED=${String(seed)} breaks a guarantee:`;
          expect.fail([head, ...broken, "", ...trace].join("\n"));
        }
        if (ONE_SEED !== undefined) console.log(trace.join("\n"));
      }
      if (ONE_SEED !== undefined) return;
      console.log(
        [...counts]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([kind, times]) => `${String(times).padStart(9)}  ${kind}`)
          .join("\n"),
      );
      expect(MUST_HAPPEN.filter((kind) => !counts.has(kind))).toEqual([]);
    },
  );
});
