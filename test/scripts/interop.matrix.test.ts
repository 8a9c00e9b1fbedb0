import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { CONFIGURATIONS } from "../../scripts/interop/npm/configurations.mjs";
import { STEPS } from "../../scripts/interop/npm/steps.mjs";
import { root } from "../../scripts/run.mjs";

const page = readFileSync(path.join(root, "docs/evidence/interop.md"), "utf8");

it("docs/evidence/interop.md shows the expected result of each configuration and step; if not, run `npm run interop`", () => {
  const [, , ...rows] = page.split("\n").filter((line) => line.startsWith("|"));
  const shown = rows.map((row) => row.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
  const expected = CONFIGURATIONS.map(({ program, title, expected = {} }) => [
    program,
    title,
    ...STEPS.map((_, index) => expected[index + 1] ?? "good"),
  ]);
  expect(shown).toEqual(expected);
});

it("docs/evidence/interop.md names each step and the versions that the lock file installs", () => {
  for (const [index, { title }] of STEPS.entries())
    expect(page).toContain(`\n${index + 1}. ${title}\n`);
  const lock = JSON.parse(
    readFileSync(path.join(root, "scripts/interop/npm/package-lock.json"), "utf8"),
  ) as {
    packages: Record<string, { version: string; resolved?: string }>;
  };
  for (const name of ["better-auth", "@better-auth/oauth-provider", "oidc-provider"]) {
    expect(page).toContain(`${name} ${lock.packages[`node_modules/${name}`]!.version}`);
  }
});
