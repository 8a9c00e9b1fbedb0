import { expect, it } from "vitest";
import { loadedAtStart } from "../../scripts/loaded-at-start.mjs";

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
  expect([...loadedAtStart("src/entry.ts", read)].toSorted()).toEqual([
    "src/e.ts",
    "src/effect.ts",
    "src/entry.ts",
    "src/folder/a.ts",
  ]);
});
