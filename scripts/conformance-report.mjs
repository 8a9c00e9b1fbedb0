// Writes docs/evidence/conformance.md: the relying-party modules of the OpenID Foundation's
// conformance suite, replayed by our tests. Each row has the requirement and the result.
// `npm run conformance`.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { measured } from "./measured.mjs";
import { root, testOutcomes } from "./run.mjs";

/**
 * @typedef {{ module: string, plans: readonly string[], demands: string, seen?: string }} Replayed
 */
/** @typedef {{ status: string, meta?: { conformance?: Replayed } }} Outcome */

/** The plans, in the order of the page. */
const PLANS = [
  {
    plan: "oidcc-client-basic-certification-test-plan",
    title: "Basic relying party",
    words: "A certificate requires this plan and the next one. The plan uses `response_type=code`.",
  },
  {
    plan: "oidcc-client-config-certification-test-plan",
    title: "Config relying party",
    words: "A certificate requires this plan and the previous one.",
  },
  {
    plan: "oidcc-client-refreshtoken-test-plan",
    title: "Refresh tokens",
    words:
      "No certificate requires this plan. The suite has removed the modules for `aud` and `azp` from it, but OpenID Connect Core 12.2 still requires these checks.",
  },
  {
    plan: "oidcc-client-test-plan",
    title: "Comprehensive plan: the modules that the plans above lack",
    words: "Not part of any certificate.",
  },
  {
    plan: "oidcc-client-rp-initiated-logout-rp-basic",
    title: "RP-initiated logout",
    words:
      "A certificate of the profile RP-Initiated Logout requires this plan. In each module, the provider also sends a logout token.",
  },
  {
    plan: "oidcc-client-back-channel-logout-rp-basic",
    title: "Back-channel logout",
    words: "A certificate of the profile Back-Channel Logout requires this plan.",
  },
  {
    plan: "oidcc-client-front-channel-logout-rp-basic",
    title: "Front-channel logout",
    words: "A certificate of the profile Front-Channel Logout requires this plan.",
  },
  {
    plan: "oidcc-client-logout-test-plan",
    title: "Comprehensive logout plan: the modules that the plans above lack",
    words: "Not part of any certificate.",
  },
  {
    plan: "fapi2-security-profile-final-client-test-plan",
    title: "FAPI 2.0 Security Profile, without sender-constrained tokens",
    words:
      "As in the suite, the client pushes each authorization request (PAR) and authenticates with its key (`private_key_jwt`). idpauth isn't a FAPI client: its tokens are bearer tokens, although FAPI requires DPoP or mutual TLS. It also accepts RS256, although FAPI requires PS256, ES256 or EdDSA.",
  },
];

/** Modules of the same neighbourhood that are not replayed, and why. */
const LEFT_OUT = [
  [
    "fapi2-security-profile-final-client-test-happy-path-no-dpop-nonce",
    "It is about tokens that DPoP binds to a key. idpauth supports only bearer tokens.",
  ],
  [
    "fapi2-security-profile-final-client-test-rs-dpop-auth-scheme-case-insensitivity",
    "It is about DPoP at the resource server. idpauth sends requests to no resource server but userinfo, with a bearer token.",
  ],
  [
    "fapi2-security-profile-final-client-test-happy-path-no-mtls-endpoint-aliases",
    "It is about mutual TLS, which idpauth doesn't support.",
  ],
  [
    "fapi2-security-profile-final-client-refresh-token-test",
    "It belongs to national profiles of FAPI, and refreshes after a resource server rejects the access token. The plan for refresh tokens above covers refreshes.",
  ],
  [
    "fapi2-security-profile-final-client-test-grant-management-*",
    "They are about Grant Management for OAuth 2.0, which idpauth doesn't support.",
  ],
  [
    "oidcc-client-test-nonce-unless-code-flow",
    "It is about the implicit and hybrid flows. idpauth supports only the code flow, and always sends a nonce.",
  ],
  [
    "oidcc-client-test-form-post-error",
    "It is about `response_mode=form_post`. The callback accepts only GET, and a POST gets 405.",
  ],
  [
    "oidcc-client-test-session-management",
    "It is about OpenID Connect Session Management, which polls a frame of the provider. Browsers that block third-party cookies break it.",
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

| Module | The relying party must | Observed | Result |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}

const text = `# The OpenID Foundation's conformance modules, replayed

${measured("npm run conformance")}

The OpenID Foundation tests relying parties, such as idpauth, with a [conformance suite](https://openid.net/certification/) of modules. Each
row of this page is one module. idpauth's own test provider replays it over real sockets against an Express application with idpauth.

**This is a replay, by our own provider, and not a certificate.** The suite itself was not run, and the OpenID Foundation has not seen the results.
The suite allows a relying party to skip some checks. For example, it may skip the signature of a token that arrives over TLS. This replay requires
these checks too.

The folder \`test/conformance\` lists the modules by subject. Every module also checks these points:

- The scopes contain \`openid\`.
- The authorization request has a state, a nonce and an S256 challenge.
- The redirect URI is the same at both endpoints.
- No URL contains a token or a secret.

The suite's provider expects a userinfo request. idpauth sends one if the ID token has no email, name and picture, as in this replay.
Otherwise an application can send one with the access token that \`getCredentials\` returns.

A code such as \`id_token_aud\` or \`iss\` in a result is the reason that idpauth logs.

${PLANS.map(section).join("\n")}
## Not replayed

| Module or plan | Why |
| --- | --- |
${LEFT_OUT.map(([module = "", why = ""]) => `| \`${module}\` | ${cell(why)} |`).join("\n")}
`;
writeFileSync(path.join(root, "docs/evidence/conformance.md"), text);
const passed = outcomes.filter(({ status }) => status === "passed").length;
console.log(`docs/evidence/conformance.md: ${passed} of ${outcomes.length} modules passed`);
