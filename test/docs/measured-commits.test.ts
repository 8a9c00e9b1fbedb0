import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { evidenceNames, readEvidence } from "../../scripts/evidence/files.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** The objects of a file that say at which commit something was measured. */
function runsIn(value: Json): Record<string, Json>[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.values(value).flatMap(runsIn);
  const isRun = !Array.isArray(value) && "commit" in value && "date" in value;
  return isRun ? [value, ...inside] : inside;
}

const runs = evidenceNames().map((name) => [name, runsIn(readEvidence(name) as Json)] as const);

it.each(runs)("docs/evidence/%s.json says when each figure was measured", (_, measured) => {
  for (const { date, commit } of measured) {
    expect(date ?? "2026-01-01").toMatch(/^(?:\d{4}-\d\d-\d\d|each run)$/);
    if (date === "each run") expect(commit).toBeNull();
  }
});

it.each(["bench", "scripts", "site", "soak", "src"])(
  "the code in %s/ names only files of docs/evidence/ that exist",
  (folder) => {
    const names = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:mjs|ts)$/.test(name))
      .filter((name) => !/node_modules|^pages|^dist/.test(name))
      .flatMap(
        (name) =>
          readFileSync(path.join(ROOT, folder, name), "utf8").match(
            /\bdocs\/evidence\/[\w-]+\.\w+\b/g,
          ) ?? [],
      );
    expect([...new Set(names)].filter((name) => !existsSync(path.join(ROOT, name)))).toEqual([]);
  },
);
