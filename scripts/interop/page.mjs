// docs/evidence/interop.md, from docs/evidence/interop.json; `npm run docs` writes it.
import { periodOf } from "../measured.mjs";
import { readResults } from "./results.mjs";
import { SERVERS } from "./servers.mjs";

const HEAD = `# Real providers

\`npm run interop -- NAME\` runs idpauth against a real OpenID provider. The command starts a pinned version of the provider in a temporary folder,
configures it by its own admin interface, and uses its own pages in Chromium. The application is a small Express app with one or two processes, and
two APIs that verify their access tokens. Each step registers a client of its own. When all steps have run, the command stops what it started.

\`npm run interop\` without a name lists the providers, and what each of them lacks on your machine. Keycloak requires Java and PostgreSQL, the
providers written in Go require Go, and the one written in Python requires Python. The tests of this project require none of these.

- \`good\`: what the row says is true.
- Any other result is printed as it was seen. If it's the expected result, the row says why.

No hosted provider, such as Google, Entra ID, Auth0, Okta or Cognito, was run. If you have an account there, you can [send a
report](../reference/check-live.md#send-a-report).
`;

/** @param {Record<string, import("./results.mjs").ServerResult>} [results] by the server's key */
export function interopPage(results = readResults()) {
  const ran = SERVERS.flatMap(({ key }) => {
    const result = results[key];
    return result === undefined ? [] : [{ key, ...result }];
  });
  return `${HEAD}\n${measuredLine(ran)}\n\n${table(ran)}\n${ran.map(section).join("\n")}`;
}

/** @param {readonly import("./results.mjs").ServerResult[]} results */
function measuredLine(results) {
  const period = periodOf(results.map(({ date }) => date));
  return `Measured ${period} with \`npm run interop -- NAME\`. Each table below names its commit.`;
}

/** @param {readonly import("./results.mjs").ServerResult[]} results */
function table(results) {
  const rows = results.map(
    ({ title, version, date, steps }) => `| ${title} ${version} | ${date} | ${count(steps)} |`,
  );
  return `| Provider | Run on | Steps |\n|---|---|---|\n${rows.join("\n")}\n`;
}

/** @param {readonly import("./run-steps.mjs").StepResult[]} steps */
export function count(steps) {
  const good = steps.filter(({ result }) => result === "good").length;
  const expected = steps.filter((step) => step.expected === step.result).length;
  const wrong = steps.length - good - expected;
  const parts = [`${good} of ${steps.length} good`];
  if (expected > 0) parts.push(`${expected} different, as expected`);
  if (wrong > 0) parts.push(`**${wrong} wrong**`);
  return parts.join(", ");
}

/** @param {import("./results.mjs").ServerResult & { key: string }} result */
function section({ key, title, version, date, commit, node, notes, steps }) {
  const configurations = new Set(steps.map(({ configuration }) => configuration));
  return `## ${title} ${version}

\`npm run interop -- ${key}\`, run on ${date}, at commit ${commit}, on Node.js ${node}.
${notes === undefined ? "" : `\n${notes}\n`}
${configurations.size === 1 ? stepTable(steps) : configurationTable(steps, [...configurations])}
`;
}

/** @param {readonly import("./run-steps.mjs").StepResult[]} steps */
function stepTable(steps) {
  const rows = steps.map(
    ({ title, result, expected, reason, seconds }) =>
      `| ${title} | ${result}${expected === result && reason !== undefined ? `: ${reason}` : ""} | ${seconds} s |`,
  );
  return `| What was tried | Result | Duration |
|---|---|---|
${rows.join("\n")}`;
}

/**
 * @param {readonly import("./run-steps.mjs").StepResult[]} steps
 * @param {readonly (string | undefined)[]} configurations
 */
function configurationTable(steps, configurations) {
  const titles = [...new Set(steps.map(({ title }) => title))];
  const numbers = titles.map((_, index) => index + 1);
  const rows = configurations.map((name) => {
    const own = steps.filter(({ configuration }) => configuration === name);
    const cells = titles.map((title) => own.find((step) => step.title === title)?.result ?? "–");
    return `| ${name} | ${cells.join(" | ")} |`;
  });
  const reasons = steps.flatMap(({ configuration, title, result, expected, reason }) =>
    expected === result && reason !== undefined
      ? [`- ${configuration}, ${titles.indexOf(title) + 1}: ${reason}`]
      : [],
  );
  return `${titles.map((title, index) => `${index + 1}. ${title}`).join("\n")}

| Configuration | ${numbers.join(" | ")} |
|---|${numbers.map(() => "---|").join("")}
${rows.join("\n")}

- \`–\`: the step isn't possible, because an earlier one has another result than \`good\`.
${reasons.join("\n")}`;
}
