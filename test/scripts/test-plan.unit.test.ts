import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { execFileSync, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  emptyResults,
  linesOfSkipped,
  listResults,
  planOf,
  stateOf,
} from "../../scripts/test-plan.mjs";
import { testsOf } from "../../scripts/tests-of.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

const files = readdirSync(path.join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))
  .map((file) => `test/${file.replaceAll(path.sep, "/")}`);

describe("the rings of the tests", () => {
  it("keep the guarantees in `npm test`", () => {
    const guards = [
      "test/guarantees/",
      "test/stores/",
      "test/endpoints/",
      "test/access/",
      "test/sessions/",
    ];
    const guarding = files.filter((file) => guards.some((folder) => file.startsWith(folder)));
    expect(guarding.length).toBeGreaterThan(20);
    // ioredis over a Cluster. `npm test` has ioredis over one server, and a Cluster with
    // node-redis.
    expect(guarding.filter((file) => file.endsWith(".matrix.test.ts"))).toEqual([
      "test/stores/redis-cluster.matrix.test.ts",
    ]);
    // A browser, the requirements of an adapter once, and several processes over each server.
    const others = [
      "browser/sign-in.browser",
      "adapters/conformance.node",
      "processes/sqlite",
      "processes/redis",
      "processes/postgres",
    ];
    for (const name of others) expect(files).toContain(`test/${name}.test.ts`);
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
      scan: false,
      fuzz: false,
      table: false,
      env: {},
      vitest: ["run", "--project=unit"],
      part: undefined,
    });
  });

  it("`npm test` runs the checks, then the rings unit and main", () => {
    const plan = planOf("main", []);
    expect(plan).toMatchObject({ checks: true, recorder: false, table: false });
    expect(plan.vitest).toEqual([
      "run",
      "--project=unit",
      "--project=main",
      "--project=main-isolated",
    ]);
  });

  it("`npm test -- PATH` runs these tests of any ring, without checks and recorder", () => {
    const plan = planOf("main", ["test/record", "-t", "name"]);
    expect(plan).toMatchObject({
      checks: false,
      build: false,
      packageCheck: false,
      recorder: false,
      table: false,
    });
    expect(plan.vitest).toEqual(["run", "test/record", "-t", "name"]);
  });

  it("`npm run test:adapter NAME` runs that adapter's tests of any ring, and those of all adapters", () => {
    const plan = planOf("adapter", ["koa", "-t", "name"]);
    expect(plan).toMatchObject({
      checks: false,
      build: false,
      packageCheck: false,
      recorder: false,
      fuzz: false,
      table: false,
    });
    expect(plan.vitest.slice(-2)).toEqual(["-t", "name"]);
    const tests = testsOf("adapter", "koa");
    expect(plan.vitest).toEqual(expect.arrayContaining([...tests]));
    for (const name of ["koa", "conformance.koa.matrix", "stream-replies"])
      expect(tests).toContain(`test/adapters/${name}.test.ts`);
    expect(
      tests.filter((file) => /express|fastify|fetch|hono|nestjs|next|node/.test(file)),
    ).toEqual([]);
  });

  it("`npm run test:store NAME` runs that store's tests, and those of all stores", () => {
    const tests = testsOf("store", "redis");
    for (const name of ["stores/redis", "stores/redis-cluster", "stores/ends.unit"])
      expect(tests).toContain(`test/${name}.test.ts`);
    expect(tests.filter((file) => /memory|postgres|sqlite/.test(file))).toEqual([]);
    expect(testsOf("adapter", "next").filter((file) => file.includes("nestjs"))).toEqual([]);
  });

  it.each([
    [
      "adapter",
      "coa",
      'No adapter has the name "coa". Choose one of: express, fastify, fetch, hono, koa, nestjs, next, node',
    ],
    ["store", "", 'No store has the name "". Choose one of: memory, postgres, redis, sqlite'],
  ] as const)("names each %s if it doesn't know %j", (kind, name, message) => {
    expect(() => planOf(kind, [name])).toThrow(message);
  });

  it("`npm run test:matrix` runs all rings for longer, with coverage, recorder, new fuzzing inputs and security table", () => {
    const plan = planOf("matrix", []);
    expect(plan).toMatchObject({
      checks: false,
      build: true,
      packageCheck: true,
      recorder: true,
      scan: true,
      fuzz: true,
      table: true,
      part: undefined,
    });
    expect(plan.env).toMatchObject({ INTERLEAVINGS: "3000" });
    expect(plan.vitest).toEqual(["run", "--coverage"]);
  });

  it("`npm run test:matrix -- PATH` judges no table, since most tests did not run", () => {
    const plan = planOf("matrix", ["test/record"]);
    expect(plan).toMatchObject({ packageCheck: false, recorder: true, fuzz: false, table: false });
    expect(plan.vitest).toEqual(["run", "--coverage", "test/record"]);
  });

  describe("with the folder TEST_RESULTS", () => {
    const forLater = ["--coverage", "--coverage.reporter=none", "--coverage.reportOnFailure"];

    it("`npm test` runs its tests as `npm run test:matrix` would, and leaves the results", () => {
      const plan = planOf("main", [], "empty");
      expect(plan).toMatchObject({
        checks: true,
        recorder: true,
        scan: false,
        fuzz: false,
        table: false,
        env: planOf("matrix", []).env,
        part: "main",
      });
      expect(plan.vitest).toEqual([
        "run",
        ...forLater,
        "--project=unit",
        "--project=main",
        "--project=main-isolated",
      ]);
    });

    it("`npm run test:matrix` runs the other tests, and judges all", () => {
      expect(planOf("matrix", [], "has main")).toEqual({
        ...planOf("matrix", []),
        vitest: ["run", ...forLater, "--project=matrix"],
        part: "matrix",
      });
    });

    it("`npm run test:matrix` runs all tests if `npm test` has left nothing", () => {
      expect(planOf("matrix", [], "empty")).toEqual(planOf("matrix", []));
    });

    it.each(["unit", "main", "matrix"] as const)(
      "a run of chosen tests with %s leaves and uses no results",
      (command) => {
        expect(planOf(command, ["test/record"], "has main")).toEqual(
          planOf(command, ["test/record"]),
        );
      },
    );

    it.each(["main.json", "blobs/main.json", "record/1.ndjson"])(
      "the results of `npm test` count only if it passed and %s is still there",
      (file) => {
        const results = mkdtempSync(path.join(tmpdir(), "idpauth-results-"));
        onTestFinished(() => rmSync(results, { recursive: true }));
        for (const name of ["blobs", "record"]) mkdirSync(path.join(results, name));
        for (const name of ["blobs/main.json", "record/1.ndjson"])
          writeFileSync(path.join(results, name), "{}");
        listResults(results);
        expect(stateOf(results)).toBe("has main");
        rmSync(path.join(results, file));
        expect(stateOf(results)).toBe("empty");
        emptyResults(results);
        expect(readdirSync(results)).toEqual([]);
      },
    );

    it("the rings of both commands are all that there are", () => {
      const projects = [planOf("main", [], "empty"), planOf("matrix", [], "has main")]
        .flatMap(({ vitest }) => vitest)
        .filter((argument) => argument.startsWith("--project="));
      const config = readFileSync(path.join(ROOT, "vitest.config.ts"), "utf8");
      const names = [...config.matchAll(/\bname: "([\w-]+)"/g)].map(([, name]) => name!);
      expect(projects).toEqual(names.map((name) => `--project=${name}`));
    });
  });
});

it("a test command counts the skipped tests and names the first five", () => {
  expect(linesOfSkipped([])).toEqual([]);
  expect(linesOfSkipped([..."abcdef"]).join()).toBe("6 skipped,  a,  b,  c,  d,  e");
});
