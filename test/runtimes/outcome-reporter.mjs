// @ts-check
// A reporter of vitest that counts for run.mjs. Vitest itself counts a test that is expected to
// fail as passed; a table of what holds must not.
import { writeFileSync } from "node:fs";

export default class OutcomeReporter {
  /** @param {readonly import("vitest/node").TestModule[]} modules */
  onTestRunEnd(modules) {
    const outcome = { passed: 0, total: 0, expectedToFail: 0, brokenFiles: 0 };
    for (const module of modules) {
      // A hook or an import that fails takes its tests with it.
      if (module.errors().length > 0) outcome.brokenFiles += 1;
      for (const test of module.children.allTests()) {
        outcome.total += 1;
        if (test.result().state !== "passed") continue;
        if (test.options.fails === true) outcome.expectedToFail += 1;
        else outcome.passed += 1;
      }
    }
    writeFileSync(process.env["IDPAUTH_OUTCOME_FILE"] ?? "", JSON.stringify(outcome));
  }
}
