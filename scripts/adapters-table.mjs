// Runs the conformance suite of every adapter and writes docs/evidence/adapters.md: each
// requirement with the setups that meet it. A requirement whose feature an adapter lacks has no test;
// the page gives the reason. `npm run adapters:table` builds first.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { ADAPTER_FEATURES, formatAdapterTable, adapterRequirements } from "idpauth/testing";
import { measured } from "./measured.mjs";
import { narrowTable } from "./narrow-table.mjs";
import { root, testOutcomes } from "./run.mjs";

/** @typedef {{ title: string, status: string, failureMessages: string[] }} Outcome */
/** @typedef {import("idpauth/testing").AdapterReport} AdapterReport */

/** @type {Map<string, Map<string, Outcome>>} */
const adapters = new Map();
for (const outcome of /** @type {Outcome[]} */ (testOutcomes("test/adapters/conformance"))) {
  // The ids of the security table come first.
  const [, adapter, requirement] =
    /^(?:\[[^\]]*\] )*(.*? sessions), (.*)$/s.exec(outcome.title) ?? [];
  if (adapter === undefined || requirement === undefined) continue;
  if (!adapters.has(adapter)) adapters.set(adapter, new Map());
  adapters.get(adapter)?.set(requirement, outcome);
}

/** @returns {AdapterReport[]} one for each adapter and kind of sessions */
function reports() {
  const all = [...adapters].map(([adapter, outcomes]) => {
    const session = /** @type {"bundled" | "host"} */ (
      adapter.endsWith(", host sessions") ? "host" : "bundled"
    );
    const results = adapterRequirements
      .filter((requirement) => (requirement.session ?? session) === session)
      .map(({ area, title, needs }) => {
        const outcome = outcomes.get(`${area}: ${title}`);
        if (outcome === undefined)
          return {
            area,
            title,
            passed: false,
            notChecked: needs === undefined ? "not run" : ADAPTER_FEATURES[needs],
          };
        const passed = outcome.status === "passed";
        // The table shows only whether there is an error.
        return {
          area,
          title,
          passed,
          ...(!passed && {
            error: /** @type {any} */ (new Error(outcome.failureMessages.join("\n"))),
          }),
        };
      });
    return { name: adapter.replace(/, (bundled|host) sessions$/, ""), session, results };
  });
  return all
    .filter(({ results }) => results.length > 0)
    .sort(
      (one, other) =>
        one.name.localeCompare(other.name, "en") || one.session.localeCompare(other.session),
    );
}

const columns = reports();
const text = `# Every adapter against the same requirements

${measured("npm run adapters:table")}

These are the results of \`testAdapter\` of \`idpauth/testing\`, over real sockets. [Mount idpauth](../how-to/mounting.md) describes the frameworks.

${narrowTable(formatAdapterTable(columns))}
`;
writeFileSync(path.join(root, "docs/evidence/adapters.md"), text);
console.log(`docs/evidence/adapters.md: ${columns.length} setups`);
