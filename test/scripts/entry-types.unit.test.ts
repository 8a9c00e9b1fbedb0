import { expect, it } from "vitest";
import { docstringLines, neededTypes, shownTypes } from "../../scripts/entry-types.mjs";

it("the types of an entry are those of each module that it imports, in every form of an import", () => {
  const files: Readonly<Record<string, string>> = {
    "adapters/koa/koa.d.ts": `export { type A } from "../../a.js";\nexport * from "./own.js";\n`,
    "adapters/koa/own.d.ts": `export declare const x: import("../../b.js").B;\n`,
    "a.d.ts": `import type { B } from "./b.js";\nimport type { Context } from "koa";\nexport type A = [B, Context];\n`,
    "b.d.ts": `import "./c.js";\nimport * as all from "./a.js";\nexport type B = all.A;\n`,
    "c.d.ts": "export {};\n",
    "unused.d.ts": "export {};\n",
  };
  expect([...neededTypes((file) => files[file]!, ["adapters/koa/koa.d.ts"])].sort()).toEqual(
    Object.entries(files)
      .filter(([file]) => file !== "unused.d.ts")
      .sort(),
  );
});

it("an entry shows what it exports, extends or gives another name, at any number of removes", () => {
  const files = new Map([
    [
      "entry.d.ts",
      `export * from "./all.js";\nimport type { B, Hidden } from "./b.js";\nimport type { C } from "./c.js";\nimport { D } from "./d.js";\nexport { D };\nexport interface E extends Pick<B, "b"> {\n  readonly c: C;\n}\nexport type F = G;\nimport type { G } from "./g.js";\n`,
    ],
    ["all.d.ts", `export { type H as I } from "./h.js";\n`],
    ...["b", "c", "d", "g", "h"].map((name): [string, string] => [`${name}.d.ts`, ""]),
  ]);
  expect([...shownTypes(files, ["entry.d.ts"])].sort()).toEqual(
    ["all", "b", "d", "entry", "g", "h"].map((name) => `${name}.d.ts`),
  );
});

it("the lines of docstrings are found, and no line with anything else", () => {
  const text = `/** One. */
export interface A {
  /**
   * Two.
   */
  readonly a: string; /** beside */
  readonly b: "/**";
}
//# sourceMappingURL=a.d.ts.map`;
  expect([...docstringLines(text)]).toEqual([0, 2, 3, 4]);
});
