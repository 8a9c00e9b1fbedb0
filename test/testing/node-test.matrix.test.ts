import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { storeRequirements, type StoreNeed } from "../../packages/idpauth-conformance/src/index.js";

// As a stranger's project runs it: Node's own test runner in a process of its own, over the built
// package (`npm test` builds it first; for this file alone it takes `npm run build`).

const run = promisify(execFile);

/** What the store of the example has. */
const OPTIONAL = new Set<StoreNeed>(["getMany", "ends"]);

it("testStore runs under node:test: what holds passes, what cannot be checked is skipped with the reason", async () => {
  const example = path.join(import.meta.dirname, "node-test-example.mjs");
  // Node's runner believes itself inside another one when it finds this.
  const { NODE_TEST_CONTEXT: _outer, ...env } = process.env;
  const { stdout } = await run(process.execPath, ["--test", "--test-reporter=tap", example], {
    env,
  });
  const count = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(stdout)?.[1]);
  const needs = storeRequirements.filter(
    (requirement) => requirement.needs !== undefined && !OPTIONAL.has(requirement.needs),
  ).length;
  expect(count("tests")).toBe(storeRequirements.length);
  expect(count("skipped")).toBe(needs);
  expect(count("pass")).toBe(storeRequirements.length - needs);
  expect(count("fail")).toBe(0);
  expect(stdout).toContain(
    "# SKIP not checked: no other process can reach a store in this process",
  );
});
