import { describe, expect, it } from "vitest";
import { checkImports } from "../../scripts/check-imports.mjs";

const CORE = { "src/core/time.ts": "export {};", "src/core/record.ts": "export {};" };

function check(files: Record<string, string>): string[] {
  return checkImports(new Map(Object.entries({ ...CORE, ...files })));
}

describe("imports point down only", () => {
  it.each([
    ["core imports core", "src/core/policy.ts", 'import { a } from "./time.js";'],
    ["provider imports openid-client and core", "src/provider/openid.ts", 'import "openid-client";\nimport "../core/time.js";'],
    ["a store uses Node's own modules", "src/stores/file.ts", 'import { open } from "node:fs/promises";'],
    [
      "a host imports the public entry and its framework",
      "src/hosts/express.ts",
      'import "../index.js";\nimport type { Request } from "express";',
    ],
    ["the command line loads what its user names", "src/cli/store.ts", "export const load = (file: string) => import(file);"],
    ["an import that stands in a comment or a text is none", "src/core/policy.ts", '// import "express";\nconst a = \'import "express"\';'],
  ])("allowed: %s", (_, file, source) => {
    expect(check({ "src/index.ts": "", [file]: source })).toEqual([]);
  });

  it.each([
    ["core imports another room", "src/core/policy.ts", 'import "../provider/openid.js";', "may not import src/provider"],
    [
      "core imports only a type of another room",
      "src/core/policy.ts",
      'import type { A } from "../provider/openid.js";',
      "may not import src/provider",
    ],
    ["core uses an import type", "src/core/policy.ts", 'type A = import("../provider/openid.js").A;', "may not import src/provider"],
    ["core re-exports from another room", "src/core/policy.ts", 'export * from "../provider/openid.js";', "may not import src/provider"],
    ["core uses Node's own modules", "src/core/policy.ts", 'import { createHash } from "node:crypto";', "built-in"],
    ["core imports a package", "src/core/policy.ts", 'import "jose";', "may not import this package"],
    ["pages import endpoints", "src/pages/layout.ts", 'import "../endpoints/login.js";', "may not import src/endpoints"],
    ["a store imports sessions", "src/stores/memory.ts", 'import "../sessions/seal.js";', "may not import src/sessions"],
    ["endpoints import openid-client", "src/endpoints/login.ts", 'import * as client from "openid-client";', "may not import this package"],
    [
      "endpoints import openid-client when they run",
      "src/endpoints/login.ts",
      'await import("openid-client");',
      "may not import this package",
    ],
    ["a host reaches past the public entry", "src/hosts/express.ts", 'import "../core/time.js";', "may not import src/core"],
    ["a host imports another's framework", "src/hosts/express.ts", 'import "koa";', "may not import this package"],
    ["the demo reaches into the sources", "demo/main.ts", 'import "../src/core/time.js";', "may not import src/core"],
    ["the demo imports an entry that is not public", "demo/main.ts", 'import "idpauth/core";', "may not import this package"],
    ["the address is computed", "src/core/policy.ts", "await import(`./${name}.js`);", "cannot be checked"],
    ["the ending is missing", "src/core/policy.ts", 'import "./time";', "ends in .js"],
    ["the file is missing", "src/core/policy.ts", 'import "./clock.js";', "no such file"],
    ["a built-in module goes without node:", "src/stores/file.ts", 'import "fs";', "write node:"],
    ["a file lies in no room", "src/helpers/all.ts", "", "lies in no room"],
  ])("refused: %s", (_, file, source, reason) => {
    const violations = check({
      "src/provider/openid.ts": "",
      "src/endpoints/login.ts": "",
      "src/sessions/seal.ts": "",
      [file]: source,
    });
    expect(violations).toEqual([expect.stringContaining(reason)]);
    expect(violations[0]).toSatisfy((line: string) => line.startsWith(`${file}:1: `));
  });

  it("names the line of each offence", () => {
    const source = '\nimport "./time.js";\n\nimport "jose";\nimport "express";\n';
    expect(check({ "src/core/policy.ts": source }).map((line) => line.split(" ")[0])).toEqual([
      "src/core/policy.ts:4:",
      "src/core/policy.ts:5:",
    ]);
  });

  it("finds a cycle, also one of types alone, and names it once", () => {
    const files = {
      "src/core/a.ts": 'import "./b.js";',
      "src/core/b.ts": 'import type { C } from "./c.js";',
      "src/core/c.ts": 'import "./a.js";',
      "src/core/d.ts": 'import "./a.js";',
    };
    expect(check(files)).toEqual([expect.stringContaining("a cycle: src/core/a.ts -> src/core/b.ts -> src/core/c.ts -> src/core/a.ts")]);
  });
});
