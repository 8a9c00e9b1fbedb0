import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { conformanceModules as modules } from "../conformance/modules.js";

const page = readFileSync(new URL("../../docs/evidence/conformance.md", import.meta.url), "utf8");

/** The rows of each plan's table, by the plan's name. */
const sections = new Map(
  page
    .split(/^## /m)
    .map((section) => [/^Plan `([^`]+)`, \d+ modules\./m.exec(section)?.[1], section] as const)
    .filter((entry): entry is [string, string] => entry[0] !== undefined)
    .map(([plan, section]) => [plan, section.split("\n").filter((line) => line.startsWith("| `"))]),
);

describe("docs/evidence/conformance.md, if not so: `npm run conformance`", () => {
  it("has exactly the plans that modules are replayed of", () => {
    expect([...sections.keys()].sort()).toEqual(
      [...new Set(modules.flatMap(({ plans }) => plans))].sort(),
    );
  });

  it.each([...sections.keys()])(
    "lists exactly the modules of %s, with what they demand, each passed with something seen",
    (plan) => {
      const rows = sections
        .get(plan)!
        .map((line) => line.split(/ (?<!\\)\| /).map((cell) => cell.replace(/^\| | \|$/g, "")));
      const expected = modules.filter(({ plans }) => plans.some((each) => each === plan));
      expect(rows.map(([module, demands]) => [module, demands])).toEqual(
        expected.map(({ module, demands }) => [`\`${module}\``, demands]),
      );
      for (const [, , seen, result] of rows) {
        expect(seen).toMatch(/\w/);
        expect(result).toBe("passed");
      }
      expect(page).toContain(`Plan \`${plan}\`, ${expected.length} modules.`);
    },
  );

  it.each([
    ["oidcc-client-basic-certification-test-plan", 14],
    ["oidcc-client-config-certification-test-plan", 6],
    ["oidcc-client-rp-initiated-logout-rp-basic", 3],
    ["oidcc-client-back-channel-logout-rp-basic", 8],
    ["oidcc-client-front-channel-logout-rp-basic", 1],
  ])("has every module that the suite has in %s: %s", (plan, count) => {
    expect(sections.get(plan)).toHaveLength(count);
  });

  it("says that it is a replay and no certificate", () => {
    expect(page).toMatch(/a replay, by our own provider, and not\s+a certificate/);
  });
});
