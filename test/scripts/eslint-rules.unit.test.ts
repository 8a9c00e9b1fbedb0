import { Linter } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";
import { grammar } from "../../scripts/eslint-rules.mjs";

const CONFIG = {
  languageOptions: { parser: tseslint.parser as Linter.Parser },
  plugins: { grammar },
  rules: { "grammar/max-own-lines": ["error", 45], "grammar/sorted-imports": "error" },
} satisfies Linter.Config;

const check = (text: string) => new Linter().verify(text, CONFIG);

const rulesOf = (text: string) =>
  check(text).map(({ ruleId, line }) => `${ruleId?.split("/")[1] ?? "parser"} ${line}`);

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
    expect(check(text).map(({ message }) => message)).toEqual([
      "load() has 46 lines of its own; at most 45 are allowed.",
      "save() has 46 lines of its own; at most 45 are allowed.",
    ]);
  });
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
