import { describe, expect, it } from "vitest";
import { checkImports, RULES } from "../../scripts/check-imports.mjs";

const CORE = { "src/clock.ts": "export {};", "src/record/record.ts": "export {};" };

function check(files: Record<string, string>): string[] {
  return checkImports(new Map(Object.entries({ ...CORE, ...files })));
}

describe("imports point down only", () => {
  it.each([
    ["record imports record", "src/record/session-policy.ts", 'import { a } from "./record.js";'],
    [
      "provider imports oauth4webapi and the clock",
      "src/provider/openid-provider.ts",
      'import "oauth4webapi";\nimport "../clock.js";',
    ],
    [
      "a store uses Node's own modules",
      "src/stores/file.ts",
      'import { open } from "node:fs/promises";',
    ],
    [
      "an adapter imports the public entry and its framework",
      "src/adapters/express/express.ts",
      'import "../../index.js";\nimport type { Request } from "express";',
    ],
    [
      "a new adapter imports its framework",
      "src/adapters/connect/connect.ts",
      'import "../../index.js";\nimport type { Server } from "connect";\nimport "node:http";',
    ],
    [
      "a new store imports a port",
      "src/stores/example/example-store.ts",
      'import "../../record/record.js";',
    ],
    [
      "the command line loads the test provider",
      "src/cli/provider/provider-server.ts",
      'import "../../testing/provider/provider-endpoints.js";\nimport "../../pages/layout.js";',
    ],
    [
      "the command line loads what its user names",
      "src/cli/store.ts",
      "export const load = (file: string) => import(file);",
    ],
    [
      "pages load a language when a request needs it",
      "src/pages/languages.ts",
      'const load = lazily(() => import("../record/record.js").then(({ a }) => a));',
    ],
    [
      "an import that stands in a comment or a text is none",
      "src/record/session-policy.ts",
      '// import "express";\nconst a = \'import "express"\';',
    ],
  ])("allowed: %s", (_, file, source) => {
    expect(
      check({
        "src/index.ts": "",
        "src/testing/provider/provider-endpoints.ts": "",
        "src/pages/layout.ts": "",
        [file]: source,
      }),
    ).toEqual([]);
  });

  it.each([
    [
      "record imports another folder",
      "src/record/session-policy.ts",
      'import "../provider/openid-provider.js";',
      "may not import src/provider",
    ],
    [
      "record imports only a type of another folder",
      "src/record/session-policy.ts",
      'import type { A } from "../provider/openid-provider.js";',
      "may not import src/provider",
    ],
    [
      "record uses an import type",
      "src/record/session-policy.ts",
      'type A = import("../provider/openid-provider.js").A;',
      "may not import src/provider",
    ],
    [
      "record re-exports from another folder",
      "src/record/session-policy.ts",
      'export * from "../provider/openid-provider.js";',
      "may not import src/provider",
    ],
    [
      "record uses Node's own modules",
      "src/record/session-policy.ts",
      'import { createHash } from "node:crypto";',
      "built-in",
    ],
    [
      "endpoints import oauth4webapi when they run",
      "src/endpoints/login.ts",
      'await import("oauth4webapi");',
      "may not import this package",
    ],
    [
      "pages load a language and remember that it failed",
      "src/pages/languages.ts",
      'const load = () => import("../record/record.js");',
      "lazily",
    ],
    [
      "pages name the function that forgets failures without passing the import to it",
      "src/pages/languages.ts",
      'const loaded = import("../record/record.js"); const load = lazily(() => loaded);',
      "lazily",
    ],
    [
      "a new adapter imports another's framework",
      "src/adapters/connect/connect.ts",
      'import "koa";',
      "may not import this package",
    ],
    [
      "an adapter imports another",
      "src/adapters/connect/connect.ts",
      'import "../express/express.js";',
      "src/adapters/connect may not import src/adapters/express",
    ],
    [
      "the demo imports an entry that is not public",
      "demo/main.ts",
      'import "idpauth/core";',
      "may not import this package",
    ],
    [
      "the address is computed",
      "src/record/session-policy.ts",
      "await import(`./${name}.js`);",
      "cannot be checked",
    ],
    ["the ending is missing", "src/record/session-policy.ts", 'import "./record";', "ends in .js"],
    ["the file is missing", "src/record/session-policy.ts", 'import "./clock.js";', "no such file"],
    ["a built-in module goes without node:", "src/stores/file.ts", 'import "fs";', "write node:"],
    ["a file has no rule", "src/helpers/all.ts", "", "has no rule"],
  ])("refused: %s", (_, file, source, reason) => {
    const violations = check({
      "src/provider/openid-provider.ts": "",
      "src/endpoints/login.ts": "",
      "src/sessions/seal.ts": "",
      "src/adapters/express/express.ts": "",
      "src/stores/memory/memory-store.ts": "",
      [file]: source,
    });
    expect(violations).toEqual([expect.stringContaining(reason)]);
    expect(violations[0]).toSatisfy((line: string) => line.startsWith(`${file}:1: `));
  });

  it("no folder may import the command line", () => {
    expect(
      Object.entries(RULES).filter(([, { folders }]) =>
        folders.some((folder) => /^src\/cli(?:\/|$)/.test(folder)),
      ),
    ).toEqual([]);
  });

  it("finds a cycle, also one of types alone, and names it once", () => {
    const files = {
      "src/record/a.ts": 'import "./b.js";',
      "src/record/b.ts": 'import type { C } from "./c.js";',
      "src/record/c.ts": 'import "./a.js";',
      "src/record/d.ts": 'import "./a.js";',
    };
    expect(check(files)).toEqual([
      expect.stringContaining(
        "a cycle: src/record/a.ts -> src/record/b.ts -> src/record/c.ts -> src/record/a.ts",
      ),
    ]);
  });
});
