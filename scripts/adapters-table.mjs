// Runs the conformance suite of every adapter and writes docs/evidence/adapters.json: how many
// requirements each setup meets, and those that a setup doesn't meet. A requirement whose feature an
// adapter lacks has no test; the file gives the reason. `npm run adapters:table` builds first.
import { ADAPTER_FEATURES, adapterRequirements } from "idpauth-conformance";
import { runNow } from "./evidence/commits.mjs";
import { keepEvidence } from "./evidence/files.mjs";
import { testOutcomes } from "./run.mjs";

/** @typedef {{ title: string, status: string }} Outcome */
/**
 * @typedef {object} Report what one adapter, with one kind of sessions, does
 * @property {string} name
 * @property {"bundled" | "host"} session
 * @property {readonly { requirement: string, passed: boolean, notChecked?: string }[]} results
 */

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

/** @returns {Report[]} one for each adapter and kind of sessions */
function reports() {
  const all = [...adapters].map(([adapter, outcomes]) => {
    const session = /** @type {"bundled" | "host"} */ (
      adapter.endsWith(", host sessions") ? "host" : "bundled"
    );
    const results = adapterRequirements
      .filter((requirement) => (requirement.session ?? session) === session)
      .map(({ area, title, needs }) => {
        const requirement = `${area}: ${title}`;
        const outcome = outcomes.get(requirement);
        if (outcome !== undefined) return { requirement, passed: outcome.status === "passed" };
        const notChecked = needs === undefined ? "not run" : ADAPTER_FEATURES[needs];
        return { requirement, passed: false, notChecked };
      });
    const framework = adapter.replace(/, (bundled|host) sessions$/, "");
    return {
      name: session === "host" ? `${framework}, its own sessions` : framework,
      session,
      results,
    };
  });
  return all
    .filter(({ results }) => results.length > 0)
    .sort((one, other) => one.name.localeCompare(other.name, "en"));
}

const columns = reports();

/** @param {string} requirement */
function missedBy(requirement) {
  const isMissed = (/** @type {Report["results"][number]} */ result) =>
    result.requirement === requirement && !result.passed && result.notChecked === undefined;
  return columns.filter(({ results }) => results.some(isMissed)).map(({ name }) => name);
}

await keepEvidence("adapters", {
  ...runNow("npm run adapters:table"),
  setups: columns.map(({ name, results }) => ({
    name,
    met: results.filter(({ passed }) => passed).length,
    of: results.length,
  })),
  requirements: adapterRequirements
    .map(({ area, title }) => `${area}: ${title}`)
    .map((requirement) => ({ requirement, notMetBy: missedBy(requirement) }))
    .filter(({ notMetBy }) => notMetBy.length > 0),
  doesNotApply: columns.flatMap(({ name, results }) =>
    [...new Set(results.flatMap(({ notChecked }) => notChecked ?? []))].map((reason) => ({
      setup: name,
      reason,
    })),
  ),
});
console.log(`docs/evidence/adapters.json: ${columns.length} setups`);
