import { describe, expect, it } from "vitest";
import { checkGrammar, pruned } from "../../scripts/check-grammar.mjs";

const FILE = "src/record/example.ts";

function rulesOf(text: string, file = FILE): string[] {
  return checkGrammar(file, text).map(
    ({ place, rule }) => `${rule.split("/")[1] ?? rule} ${place.split(":")[1] ?? ""}`,
  );
}

/** @returns a function with `count` lines of its own, its first and its last one included */
function functionOf(count: number, inside: readonly string[] = []): string {
  const statements = Array.from({ length: count - 2 }, () => "  run();");
  return ["function one() {", ...statements, ...inside, "}"].join("\n");
}

describe("a function has at most 45 lines of its own", () => {
  it("counts the function's first and last line, and each line with code", () => {
    expect(rulesOf(functionOf(45))).toEqual([]);
    expect(rulesOf(functionOf(46))).toEqual(["max-own-lines 1"]);
  });

  it("doesn't count blank lines and lines with only a comment", () => {
    expect(rulesOf(functionOf(45, ["", "  // why", "  /* why", "     not */", ""]))).toEqual([]);
    expect(rulesOf(functionOf(45, ["  run(); // why"]))).toEqual(["max-own-lines 1"]);
  });

  it("counts the lines of a text, also blank ones", () => {
    expect(rulesOf(functionOf(44, ["  run(`", "`);"]))).toEqual(["max-own-lines 1"]);
  });

  it("doesn't count the lines of the functions inside, which have a limit of their own", () => {
    const inside = functionOf(45);
    expect(rulesOf(functionOf(45, [inside, inside]))).toEqual([]);
    expect(rulesOf(functionOf(45, [functionOf(46)]))).toEqual(["max-own-lines 45"]);
  });

  it("counts a line that a function shares with an inner one for both", () => {
    const callback = ["  run(() => {", "    work();", "  });"];
    expect(rulesOf(functionOf(43, callback))).toEqual([]);
    expect(rulesOf(functionOf(44, callback))).toEqual(["max-own-lines 1"]);
  });

  it("counts a method and an arrow function, and names them", () => {
    const body = Array.from({ length: 44 }, () => "run();").join("\n");
    const text = `class A {\n  load() {\n${body}\n  }\n}\nconst save = () => {\n${body}\n};`;
    expect(checkGrammar(FILE, text).map(({ message }) => message)).toEqual([
      "load() has 46 lines of its own; at most 45 are allowed.",
      "save() has 46 lines of its own; at most 45 are allowed.",
    ]);
  });

  it("exempts the requirements that we publish", () => {
    const file = "packages/idpauth-conformance/src/adapter/requirements/example.ts";
    expect(rulesOf(functionOf(46), file)).toEqual([]);
    const other = "packages/idpauth-conformance/src/adapter/example.ts";
    expect(rulesOf(functionOf(46), other)).toHaveLength(1);
  });
});

describe("a part's type is declared", () => {
  it.each(["Pick", "Omit"])("%s of another folder's type is a finding", (utility) => {
    const text = `import type { A } from "../ports/a.js";\nfunction f(a: ${utility}<A, "b">) {}`;
    expect(rulesOf(text)).toEqual(["declared-types 2"]);
  });

  it("Pick of a type of the same folder, or of a package, is none", () => {
    const text =
      'import type { C } from "jose";\nimport type { B } from "./b.js";\n' +
      'interface A { b: 1 }\ntype D = [Pick<A, "b">, Pick<B, "b">, Omit<C, "b">];';
    expect(rulesOf(text)).toEqual([]);
  });

  it("the type that a factory happens to return is a finding", () => {
    expect(rulesOf("type Lease = ReturnType<typeof createLease>;")).toEqual(["declared-types 1"]);
    expect(rulesOf("type Timer = ReturnType<typeof setTimeout>;")).toEqual([]);
  });
});

describe("a constant names what its number counts", () => {
  it.each([
    "REFUSAL_SECONDS = 60",
    "REPLACED_KEY_MS = 5 * 60_000",
    "MAX_BODY_BYTES = 1024 * 1024",
    "MAX_NAME_LENGTH = 64",
    "MAX_USED_STATES = 8",
    "HOUR_MS = 3_600_000",
    'NAME = "idpauth"',
    "UNCHANGED = (text) => text",
  ])("%s is clear", (declaration) => {
    expect(rulesOf(`const ${declaration};`)).toEqual([]);
  });

  it.each([
    "REMEMBERED = 60_000",
    "HOUR = 60 * MINUTE_SECONDS",
    "MAX_LENGTH = 64",
    "MAX_BYTES = 64 * 1024",
    "LONGEST_SECONDS = 30",
    "SWEEP_MILLISECONDS = 20",
    "MAX_ACCESS = 20",
  ])("%s isn't", (declaration) => {
    expect(rulesOf(`const ${declaration};`)).toEqual(["named-units 1"]);
  });
});

it("a fourth parameter is a finding, except in the requirements that we publish", () => {
  expect(rulesOf("function f(a: 1, b: 2, c: 3) {}")).toEqual([]);
  const text = "function f(a: 1, b: 2, c: 3, d: 4) {}";
  expect(rulesOf(text)).toEqual(["max-params 1"]);
  expect(rulesOf(text, "packages/idpauth-conformance/src/store/requirements/example.ts")).toEqual(
    [],
  );
});

it("an exception ends with its file's last finding; until then, it keeps its reason", () => {
  const found = ["a.ts:1", "a.ts:2", "b.ts:1", "new.ts:1"].map((place) => ({
    place,
    rule: "grammar/named-units",
    message: "",
  }));
  const reasons = { "a.ts": "It is public.", "b.ts": null };
  expect(
    pruned(
      { "grammar/named-units": { ...reasons, "c.ts": "Old." }, "grammar/other": { "a.ts": null } },
      found,
    ),
  ).toEqual({ "grammar/named-units": reasons });
});

describe("imports are sorted", () => {
  it("Node's modules, packages, folders above, this folder; then by address", () => {
    const sorted = ["node:fs", "node:net", "jose", "../a.js", "../b/c.js", "./a.js"];
    expect(rulesOf(sorted.map(importOf).join("\n"))).toEqual([]);
    expect(rulesOf(sorted.toReversed().map(importOf).join("\n"))).toEqual(["sorted-imports 1"]);
    expect(rulesOf(["../b.js", "../a.js"].map(importOf).join("\n"))).toHaveLength(1);
  });

  it("an import for its effect stays where it is", () => {
    expect(rulesOf(`${importOf("./b.js")}\nimport "../effect.js";\n${importOf("./a.js")}`)).toEqual(
      [],
    );
  });
});

function importOf(address: string): string {
  return `import { a } from "${address}";`;
}
