import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const MEBIBYTE = 1_048_576;

/** How many bytes more for each 100,000. Without NODE_OPTIONS: what records a whole run of the tests keeps what it has seen. */
async function growth(what: "probes" | "logins"): Promise<number> {
  const { NODE_OPTIONS: _recorded, ...env } = process.env;
  const program = path.join(import.meta.dirname, "memory-growth.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program, what], { env });
  const grown = JSON.parse(stdout) as { growth: number; of: number };
  return (grown.growth / grown.of) * 100_000;
}

it(
  "[L4] 1,000,000 probes, half of them with a cookie of their own: less than 1 MB more for each 100,000, once warm",
  { timeout: 180_000 },
  async () => {
    expect(await growth("probes")).toBeLessThan(MEBIBYTE);
  },
);

it("[L4] 100,000 logins that no user finishes: what they took is given back when they lapse", { timeout: 180_000 }, async () => {
  expect(await growth("logins")).toBeLessThan(MEBIBYTE);
});
