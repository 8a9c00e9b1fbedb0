import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { execFileSync, spawn } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { planOf } from "../../scripts/test-plan.mjs";
import { includes, LONGEST, MATRIX, patterns, READS_BUILD, UNIT } from "../../scripts/test-rings.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

const files = readdirSync(path.join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))
  .map((file) => `test/${file.replaceAll(path.sep, "/")}`);

describe("the rings of the tests", () => {
  it("have each test file exactly once", () => {
    expect(files.filter((file) => includes(UNIT, file) && includes(MATRIX, file))).toEqual([]);
    const entries = [...UNIT, ...MATRIX];
    expect(entries.filter((entry) => entries.some((other) => other !== entry && includes([other], entry)))).toEqual([]);
    expect(entries.filter((entry, index) => entries.indexOf(entry) !== index)).toEqual([]);
  });

  it.each([
    ["unit", UNIT],
    ["matrix", MATRIX],
    ["what reads a build", READS_BUILD],
    ["what takes longest", LONGEST],
  ])("name only files and folders with tests: %s", (_, entries) => {
    expect(entries.filter((entry) => !existsSync(path.join(ROOT, entry)))).toEqual([]);
    expect(entries.filter((entry) => !files.some((file) => includes([entry], file)))).toEqual([]);
  });

  it("keep the guarantees in `npm test`", () => {
    const guards = ["test/guarantees/", "test/processes/", "test/stores/", "test/endpoints/", "test/access/", "test/sessions/"];
    const guarding = files.filter((file) => guards.some((folder) => file.startsWith(folder)));
    expect(guarding.length).toBeGreaterThan(20);
    expect(guarding.filter((file) => includes(MATRIX, file))).toEqual([]);
    // A browser, and the requirements of an adapter once.
    for (const file of ["test/browser/sign-in.browser.test.ts", "test/adapters/conformance.node.test.ts"]) {
      expect(files).toContain(file);
      expect(includes(MATRIX, file)).toBe(false);
    }
  });

  it("become patterns of vitest", () => {
    expect(patterns(["test/a.test.ts", "test/b"])).toEqual(["test/a.test.ts", "test/b/**/*.test.ts"]);
  });

  it("let no unit test open a socket or start a process", () => {
    expect(() => createServer().listen(0)).toThrow("A unit test listens on a socket");
    expect(() => spawn(process.execPath)).toThrow("A unit test starts a process");
    expect(() => execFileSync(process.execPath)).toThrow("A unit test starts a process");
  });
});

describe("a test command", () => {
  it("`npm run test:unit` runs the unit ring and nothing else", () => {
    expect(planOf("unit", [])).toEqual({
      checks: false,
      build: false,
      packageCheck: false,
      recorder: false,
      fuzz: false,
      table: false,
      env: {},
      vitest: ["run", "--project=unit"],
    });
  });

  it("`npm test` runs the checks, then the rings unit and main", () => {
    const plan = planOf("main", []);
    expect(plan).toMatchObject({ checks: true, recorder: false, table: false });
    expect(plan.vitest).toEqual(["run", "--project=unit", "--project=main"]);
  });

  it("`npm test -- PATH` runs these tests of any ring, without checks and recorder", () => {
    const plan = planOf("main", ["test/record", "-t", "name"]);
    expect(plan).toMatchObject({ checks: false, build: false, packageCheck: false, recorder: false, table: false });
    expect(plan.vitest).toEqual(["run", "test/record", "-t", "name"]);
  });

  it.each([
    [true, ["test/docs/readme.test.ts"]],
    [true, ["test/examples/examples.test.ts"]],
    [true, ["test/docs"]],
    [true, ["sqlite"]],
    [true, ["-t=name"]],
    [true, ["./test/recipes/astro.test.ts:12"]],
    [false, ["test/record/policy.test.ts"]],
    [false, ["test/endpoints"]],
  ])("builds first: %s, for %j", (build, chosen) => {
    expect(planOf("main", chosen).build).toBe(build);
  });

  it("`npm run test:matrix` runs all rings for longer, with coverage, recorder, new fuzzing inputs and security table", () => {
    const plan = planOf("matrix", []);
    expect(plan).toMatchObject({ checks: false, build: true, packageCheck: true, recorder: true, fuzz: true, table: true });
    expect(plan.env).toMatchObject({ INTERLEAVINGS: "3000" });
    expect(plan.vitest).toEqual(["run", "--coverage"]);
  });

  it("`npm run test:matrix -- PATH` judges no table, since most tests did not run", () => {
    const plan = planOf("matrix", ["test/record"]);
    expect(plan).toMatchObject({ packageCheck: false, recorder: true, fuzz: false, table: false });
    expect(plan.vitest).toEqual(["run", "--coverage", "test/record"]);
  });
});
