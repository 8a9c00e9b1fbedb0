import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const MEBIBYTE = 1_048_576;

/** A busy machine gives the process, which works for less than a minute, a tenth of its time. */
const PATIENT = { timeout: 600_000 };

/**
 * Returns the growth in bytes for each 100,000. Without NODE_OPTIONS, because a recorder of the
 * test run keeps what it sees.
 */
async function growth(what: "probes" | "logins", signal: AbortSignal): Promise<number> {
  const { NODE_OPTIONS: _recorded, ...env } = process.env;
  const program = path.join(import.meta.dirname, "memory-growth.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program, what], {
    env,
    signal,
  });
  const grown = JSON.parse(stdout) as { growth: number; of: number };
  return (grown.growth / grown.of) * 100_000;
}

it(
  "[L4] 1,000,000 probes, half of them with a cookie of their own: less than 1 MB more for each 100,000, once warm",
  PATIENT,
  async ({ signal }) => {
    expect(await growth("probes", signal)).toBeLessThan(MEBIBYTE);
  },
);

it(
  "[L4] 100,000 logins that no user finishes: what they took is freed when they expire",
  PATIENT,
  async ({ signal }) => {
    expect(await growth("logins", signal)).toBeLessThan(MEBIBYTE);
  },
);
