import { describe, expect, it } from "vitest";
import { mergeTypes } from "../../scripts/merge-types.mjs";

const merged = (files: Record<string, string>, ...entries: string[]) =>
  Object.fromEntries(mergeTypes(new Map(Object.entries(files)), entries));

describe("the merged types", () => {
  it("have one file for each part of src/, next to the entries, and no import of a part from itself", () => {
    const types = merged(
      {
        "index.d.ts": 'export { start, type Options, } from "./core/start.js";\n',
        "core/start.d.ts":
          'import type { Clock } from "../clock.js";\nimport { Limit } from "./inner/limit.js";\nexport { type Limit };\n' +
          "/** How to start. */\nexport interface Options {\n    readonly limit: Limit;\n    readonly clock: Clock;\n}\n" +
          "export declare function start(): void;\n",
        "core/inner/limit.d.ts":
          'import { Clock, systemClock } from "../../clock.js";\nexport type Limit = typeof systemClock | Clock;\n',
        "clock.d.ts":
          "export interface Clock {\n    now(): number;\n}\nexport declare const systemClock: Clock;\n",
      },
      "index.d.ts",
    );
    expect(types).toEqual({
      "index.d.ts": 'export { start, type Options } from "./core/types.js";\n',
      "core/types.d.ts":
        'import { Clock, systemClock } from "../types.js";\n' +
        "/** How to start. */\nexport interface Options {\n    readonly limit: Limit;\n    readonly clock: Clock;\n}\n" +
        "export declare function start(): void;\nexport type Limit = typeof systemClock | Clock;\n",
      "types.d.ts":
        "export interface Clock {\n    now(): number;\n}\nexport declare const systemClock: Clock;\n",
    });
  });

  it("keep the adapters apart, what comes from packages, and an import inside a type", () => {
    const types = merged(
      {
        "adapters/koa/koa.d.ts":
          'import type Koa from "koa";\nimport type { Next } from "koa";\nexport { text } from "./message.js";\n',
        "adapters/koa/message.d.ts":
          'export declare const text: import("../node/message.js").Text;\n',
        "adapters/node/message.d.ts": "export type Text = string;\n",
      },
      "adapters/koa/koa.d.ts",
    );
    expect(types).toEqual({
      "adapters/koa/koa.d.ts":
        'import { type Next } from "koa";\nimport type Koa from "koa";\nexport { text } from "./types.js";\n',
      "adapters/koa/types.d.ts": 'export declare const text: import("../node/types.js").Text;\n',
      "adapters/node/types.d.ts": "export type Text = string;\n",
    });
  });

  it("are refused if two files of a part declare one name", () => {
    const files = {
      "core/a.d.ts": "type Row = 1;\nexport type A = Row;\n",
      "core/b.d.ts": "interface Row {\n}\nexport type B = Row;\n",
    };
    expect(() => merged(files)).toThrow(
      "core/a.d.ts and core/b.d.ts both declare Row, and the package needs both. Rename one.",
    );
  });

  it("are refused if a file renames what its part declares", () => {
    const files = {
      "core/a.d.ts": "export type A = 1;\n",
      "core/b.d.ts": 'import { A as B } from "./a.js";\nexport type C = B;\n',
    };
    expect(() => merged(files)).toThrow("core/b.d.ts gives a name of its own part another name: ");
  });
});
