import { describe, expect, it } from "vitest";
import { reachableTypes } from "../../scripts/entry-types.mjs";

const typesOf = (files: Record<string, string>, ...entries: string[]) => {
  const read = (file: string) => files[file] ?? expect.unreachable(`reads ${file}`);
  return Object.fromEntries(reachableTypes(read, entries));
};

describe("the types that the package publishes", () => {
  it("are what an entry exports, and what that names in any file, with their docstrings", () => {
    const types = typesOf(
      {
        "index.d.ts": 'export { start, type Options as StartOptions } from "./core/start.js";\n',
        "core/start.d.ts":
          'import type { Clock, Unneeded } from "../clock.js";\nimport { Internal } from "../internal.js";\n' +
          "/** How to start. */\nexport interface Options {\n    /** Of the tests. */\n    readonly clock?: Clock;\n}\n" +
          "export declare function stop(internal: Internal): void;\n/** Starts. */\nexport declare function start(): typeof state;\n" +
          "declare const state: State;\ntype State = string;\nexport {};\n",
        "clock.d.ts":
          "export interface Clock {\n    now(): number;\n}\nexport interface Unneeded {\n}\n",
      },
      "index.d.ts",
    );
    expect(types).toEqual({
      "index.d.ts": 'export { start, type Options as StartOptions } from "./core/start.js";\n',
      "core/start.d.ts":
        'import type { Clock } from "../clock.js";\n' +
        "/** How to start. */\nexport interface Options {\n    /** Of the tests. */\n    readonly clock?: Clock;\n}\n" +
        "/** Starts. */\nexport declare function start(): typeof state;\n" +
        "declare const state: State;\ntype State = string;\nexport {};\n",
      "clock.d.ts": "export interface Clock {\n    now(): number;\n}\n",
    });
  });

  it("follow a renamed import, the default import of a package, and an import inside a type", () => {
    const types = typesOf(
      {
        "index.d.ts":
          'import type Koa from "koa";\nimport type { Next, Context } from "koa";\nimport { A as B, C } from "./a.js";\n' +
          'export declare const x: [Koa, Next, B, import("./d.js").D];\n',
        "a.d.ts": "type Hidden = 1;\nexport type { Hidden as A };\nexport type C = 2;\n",
        "d.d.ts": "export type D = 1;\nexport type E = 2;\n",
      },
      "index.d.ts",
    );
    expect(types).toEqual({
      "index.d.ts":
        'import type Koa from "koa";\nimport type { Next } from "koa";\nimport { A as B } from "./a.js";\n' +
        'export declare const x: [Koa, Next, B, import("./d.js").D];\n',
      "a.d.ts": "type Hidden = 1;\nexport type { Hidden as A };\n",
      "d.d.ts": "export type D = 1;\n",
    });
  });

  it("of two entries share a file that has what both need", () => {
    const shared = "export type A = 1;\nexport type B = 2;\nexport type C = 3;\n";
    const files = {
      "a.d.ts": 'export { A } from "./shared.js";\n',
      "b.d.ts": 'export { B } from "./shared.js";\n',
      "shared.d.ts": shared,
    };
    expect(typesOf(files, "a.d.ts", "b.d.ts")["shared.d.ts"]).toBe(
      "export type A = 1;\nexport type B = 2;\n",
    );
  });

  it.each([
    'export * from "./a.js";',
    'import * as a from "./a.js";',
    'import "./a.js";',
    "declare module 'koa' {}",
    "declare global {}",
    "export default 1;",
  ])("are refused if a file has %s", (statement) => {
    const files = { "index.d.ts": `export declare const x: 1;\n${statement}\n` };
    expect(() => typesOf(files, "index.d.ts")).toThrow(
      /^index\.d\.ts: .* cannot tell what this declares: /,
    );
  });
});
