// Writes docs/evidence/conformance.md: the relying-party modules of the OpenID Foundation's conformance suite, replayed by our tests. Each row
// has the requirement and the result. `npm run conformance`.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { root, testOutcomes } from "./run.mjs";

/** @typedef {{ module: string, plans: readonly string[], demands: string, seen?: string }} Replayed */
/** @typedef {{ status: string, meta?: { conformance?: Replayed } }} Outcome */

/** The plans, in the order of the page. */
const PLANS = [
  {
    plan: "oidcc-client-basic-certification-test-plan",
    title: "Basic relying party",
    words: "One of the two plans that a certificate would need. `response_type=code`.",
  },
  {
    plan: "oidcc-client-config-certification-test-plan",
    title: "Config relying party",
    words: "The other plan that a certificate would need.",
  },
  {
    plan: "oidcc-client-refreshtoken-test-plan",
    title: "Refresh tokens",
    words:
      "Not part of any certificate. The modules for `aud` and `azp` have left the suite's plan; OpenID Connect Core 12.2 still demands what they check.",
  },
  {
    plan: "oidcc-client-test-plan",
    title: "The comprehensive plan, as far as it goes beyond the ones above",
    words: "Not part of any certificate.",
  },
  {
    plan: "fapi2-security-profile-final-client-test-plan",
    title: "FAPI 2.0 Security Profile, the modules that fit every relying party",
    words:
      "idpauth is no FAPI client: no pushed requests, no sender-constrained tokens, RS256 where FAPI asks for PS256. These modules hold for any client.",
  },
];

/** Modules of the same neighbourhood that are not replayed, and why. */
const LEFT_OUT = [
  [
    "oidcc-client-test-nonce-unless-code-flow",
    "about the implicit and hybrid flows; idpauth has the code flow alone, and always sends a nonce",
  ],
  ["oidcc-client-test-form-post-error", "about `response_mode=form_post`; the callback takes GET alone, and a POST is 405"],
  [
    "oidcc-client-rp-initiated-logout-rp-basic",
    "a whole plan, about logout at the provider; idpauth ends its own session and revokes the token",
  ],
];

const outcomes = /** @type {Outcome[]} */ (testOutcomes("test/conformance/conformance.test.ts"));

/** @param {string} text */
const cell = (text) => text.replaceAll("|", "\\|");

/** @param {{ plan: string, title: string, words: string }} plan */
function section({ plan, title, words }) {
  const rows = outcomes.flatMap(({ status, meta }) => {
    const replayed = meta?.conformance;
    if (replayed?.plans.includes(plan) !== true) return [];
    const { module, demands, seen } = replayed;
    return [`| \`${module}\` | ${cell(demands)} | ${cell(seen ?? "")} | ${status} |`];
  });
  return `## ${title}

Plan \`${plan}\`, ${rows.length} modules. ${words}

| Module | The relying party has to | What was seen | Result |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}

const text = `# The OpenID Foundation's conformance modules, replayed

Each row is a module of the [conformance suite](https://openid.net/certification/) for relying parties, replayed by idpauth's own
test provider against an Express application with idpauth, over real sockets. **This is a replay, by our own provider, and not
a certificate**: the suite itself was not run, and the OpenID Foundation has not seen it. If the suite allows a relying party
to skip a check, such as a signature on a channel that TLS protects, this replay requires the check.

To repeat it, run \`npm run conformance\`. The modules are in the folder \`test/conformance\`, one file each. Every module also checks
the following: \`openid\` is among the scopes, state, nonce and an S256 challenge are sent, the redirect URI is the same
at both endpoints, and no token or secret is in any URL.

The suite's provider expects a userinfo request. idpauth sends one if the ID token has no email, name and picture, as here.
Otherwise an application can send one with the access token that \`getCredentials\` gives.

${PLANS.map(section).join("\n")}
## Not replayed

| Module or plan | Why |
| --- | --- |
${LEFT_OUT.map(([module = "", why = ""]) => `| \`${module}\` | ${cell(why)} |`).join("\n")}
`;
writeFileSync(path.join(root, "docs/evidence/conformance.md"), text);
const passed = outcomes.filter(({ status }) => status === "passed").length;
console.log(`docs/evidence/conformance.md: ${passed} of ${outcomes.length} modules passed`);
