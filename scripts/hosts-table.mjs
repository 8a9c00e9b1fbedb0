// Runs the conformance suite of every host and writes docs/evidence/hosts-conformance.md: obligations by hosts. `npm run hosts:table`
// builds first. What a host lacks has no test, and shows as n/a with the reason.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { HOST_FEATURES, formatHostTable, hostObligations } from "idpauth/testing";
import { root, testOutcomes } from "./run.mjs";

/** @typedef {{ title: string, status: string, failureMessages: string[] }} Outcome */

/** @type {Map<string, Map<string, Outcome>>} */
const hosts = new Map();
for (const outcome of /** @type {Outcome[]} */ (testOutcomes("test/adapters/conformance"))) {
  const [, host, obligation] = /^(.*? sessions), (.*)$/s.exec(outcome.title) ?? [];
  if (host === undefined || obligation === undefined) continue;
  if (!hosts.has(host)) hosts.set(host, new Map());
  hosts.get(host)?.set(obligation, outcome);
}

const reports = [...hosts].map(([host, outcomes]) => {
  const session = /** @type {"bundled" | "host"} */ (host.endsWith(", host sessions") ? "host" : "bundled");
  const results = hostObligations
    .filter((obligation) => (obligation.session ?? session) === session)
    .map(({ area, promise, needs }) => {
      const outcome = outcomes.get(`${area}: ${promise}`);
      if (outcome === undefined)
        return { area, promise, passed: false, notChecked: needs === undefined ? "not run" : HOST_FEATURES[needs] };
      const passed = outcome.status === "passed";
      // Only whether it is there counts for the table.
      return { area, promise, passed, ...(!passed && { error: /** @type {any} */ (new Error(outcome.failureMessages.join("\n"))) }) };
    });
  return { name: host.replace(/, (bundled|host) sessions$/, ""), session, results };
});
reports.sort((one, other) => one.name.localeCompare(other.name, "en") || one.session.localeCompare(other.session));

const text = `# Every adapter against the same requirements

The results of \`testHost\` of \`idpauth/testing\`, over real sockets, on Node ${process.version.slice(1)}. To repeat it:
\`npm run hosts:table\`. The frameworks are described in [frameworks.md](../how-to/frameworks.md).

${formatHostTable(reports)}`;
writeFileSync(path.join(root, "docs/evidence/hosts-conformance.md"), text);
console.log(`docs/evidence/hosts-conformance.md: ${reports.length} columns`);
