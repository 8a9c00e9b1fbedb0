import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { execFileSync, spawn } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { planOf } from "../../scripts/test-plan.mjs";

it("a unit test can't open a socket or start a process", () => {
  expect(() => createServer().listen(0)).toThrow("A unit test listens on a socket");
  expect(() => spawn(process.execPath)).toThrow("A unit test starts a process");
  expect(() => execFileSync(process.execPath)).toThrow("A unit test starts a process");
});

// A mistake here would leave tests out without a word.
describe("with the folder TEST_RESULTS", () => {
  it("`npm run test:matrix` runs what `npm test` has left, and all tests if it has left nothing", () => {
    expect(planOf("matrix", [], "has main").vitest).toContain("--project=matrix");
    expect(planOf("matrix", [], "empty")).toEqual(planOf("matrix", []));
    expect(planOf("matrix", []).vitest).toEqual(["run"]);
    expect(planOf("main", [], "empty").env).toEqual(planOf("matrix", []).env);
  });

  it("a run of chosen tests leaves and uses no results", () => {
    for (const command of ["unit", "main", "matrix"] as const)
      expect(planOf(command, ["test/record"], "has main")).toEqual(
        planOf(command, ["test/record"]),
      );
  });

  it("the rings of both commands are all that there are", () => {
    const projects = [planOf("main", [], "empty"), planOf("matrix", [], "has main")]
      .flatMap(({ vitest }) => vitest)
      .filter((argument) => argument.startsWith("--project="));
    const config = readFileSync(
      path.resolve(import.meta.dirname, "../../vitest.config.ts"),
      "utf8",
    );
    const names = [...config.matchAll(/\bname: "([\w-]+)"/g)].map(([, name]) => name!);
    expect(projects).toEqual(names.map((name) => `--project=${name}`));
  });
});
