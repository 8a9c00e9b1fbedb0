// Runs the conformance suite of every host and writes docs/evidence/adapters.md: requirements by hosts. `npm run adapters:table`
// builds first. What a host lacks has no test, and shows as n/a with the reason.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { ADAPTER_FEATURES, formatAdapterTable, adapterRequirements } from "idpauth/testing";
import { root, testOutcomes } from "./run.mjs";

/** @typedef {{ title: string, status: string, failureMessages: string[] }} Outcome */

/** @type {Map<string, Map<string, Outcome>>} */
const hosts = new Map();
for (const outcome of /** @type {Outcome[]} */ (testOutcomes("test/adapters/conformance"))) {
  const [, host, requirement] = /^(.*? sessions), (.*)$/s.exec(outcome.title) ?? [];
  if (host === undefined || requirement === undefined) continue;
  if (!hosts.has(host)) hosts.set(host, new Map());
  hosts.get(host)?.set(requirement, outcome);
}

const reports = [...hosts].map(([host, outcomes]) => {
  const session = /** @type {"bundled" | "host"} */ (host.endsWith(", host sessions") ? "host" : "bundled");
  const results = adapterRequirements
    .filter((requirement) => (requirement.session ?? session) === session)
    .map(({ area, title, needs }) => {
      const outcome = outcomes.get(`${area}: ${title}`);
      if (outcome === undefined)
        return { area, title, passed: false, notChecked: needs === undefined ? "not run" : ADAPTER_FEATURES[needs] };
      const passed = outcome.status === "passed";
      // Only whether it is there counts for the table.
      return { area, title, passed, ...(!passed && { error: /** @type {any} */ (new Error(outcome.failureMessages.join("\n"))) }) };
    });
  return { name: host.replace(/, (bundled|host) sessions$/, ""), session, results };
});
reports.sort((one, other) => one.name.localeCompare(other.name, "en") || one.session.localeCompare(other.session));

const text = `# Every adapter against the same requirements

The results of \`testAdapter\` of \`idpauth/testing\`, over real sockets, on Node ${process.version.slice(1)}. To repeat it:
\`npm run adapters:table\`. The frameworks are described in [frameworks.md](../how-to/frameworks.md).

${formatAdapterTable(reports)}`;
writeFileSync(path.join(root, "docs/evidence/adapters.md"), text);
console.log(`docs/evidence/adapters.md: ${reports.length} columns`);
