import { expect, it } from "vitest";
import { neededTypes } from "../../scripts/entry-types.mjs";

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
