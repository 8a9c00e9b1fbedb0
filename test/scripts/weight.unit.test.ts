import { describe, expect, it } from "vitest";
import { loadedAtStart, overBudget } from "../../scripts/weight-budgets.mjs";

describe("budgets of lines of code", () => {
  it("a part at its budget passes; one more line exceeds it, and the message names the part, its lines and its budget", () => {
    expect(overBudget({ access: 10, all: 20 }, { access: 10, all: 20 })).toEqual([]);
    expect(overBudget({ access: 11, all: 20 }, { access: 10, all: 20 })).toEqual(["access has 11 lines; its budget is 10."]);
  });

  it("a new folder needs a budget, and a removed folder needs none", () => {
    expect(overBudget({ added: 1 }, { removed: 1 })).toEqual([
      expect.stringContaining("added has 1 lines and no budget"),
      expect.stringContaining("removed has a budget, but does not exist"),
    ]);
  });
});

it("what loads at startup excludes types and what import() loads later", () => {
  const files: Record<string, string> = {
    "src/entry.ts": [
      'import { a, type A } from "./folder/a.js";',
      'import type { B } from "./types.js";',
      'import { type C } from "./types.js";',
      'export type { D } from "./types.js";',
      'export { e } from "./e.js";',
      'import "node:fs";',
      'export const later = () => import("./later.js");',
    ].join("\n"),
    "src/folder/a.ts": 'import "../effect.js";\nimport { e } from "../e.js";',
    "src/e.ts": "export const e = 1;",
    "src/effect.ts": "",
  };
  const read = (file: string) => {
    const text = files[file];
    if (text === undefined) throw new Error(`${file} was read`);
    return text;
  };
  expect([...loadedAtStart("src/entry.ts", read)].toSorted()).toEqual(["src/e.ts", "src/effect.ts", "src/entry.ts", "src/folder/a.ts"]);
});
