// The evidence of mutation testing: docs/evidence/mutation.json has the last run of each file, which
// scripts/mutation.mjs records.
import { keepEvidence, readEvidence } from "./evidence/files.mjs";

const RECORD = ["test/record/record.unit.test.ts", "test/record/polluted-prototype.unit.test.ts"];
const REFRESH = ["test/access/refresh-attempt.unit.test.ts"];
const OTHER_SITE = ["test/endpoints/other-user.test.ts", "test/endpoints/posted-login.test.ts"];

/**
 * The files that decide, who is signed in, where a redirect leads, which token counts, what a
 * sealed record gives away; with the tests that have to notice when they decide otherwise.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const DECIDING_FILES = {
  "src/record/session-policy.ts": [
    "test/record/session-policy.unit.test.ts",
    "test/sessions/subject-sessions.test.ts",
  ],
  "src/record/application-data.ts": [
    "test/record/application-data.unit.test.ts",
    "test/record/record.unit.test.ts",
  ],
  "src/application/ready-made-rules.ts": ["test/application/ready-made-rules.unit.test.ts"],
  "src/record/guard-requirements.ts": ["test/record/guard-requirements.unit.test.ts"],
  "src/record/authentication-strength.ts": [
    "test/record/authentication-strength.unit.test.ts",
    "test/record/guard-requirements.unit.test.ts",
  ],
  "src/http/redirects.ts": ["test/http/redirects.unit.test.ts"],
  "src/http/same-origin-url.ts": ["test/http/redirects.unit.test.ts"],
  "src/record/record.ts": RECORD,
  "src/record/stored-form.ts": ["test/record/record.unit.test.ts"],
  "src/record/identity.ts": ["test/record/record.unit.test.ts"],
  "src/record/credentials.ts": ["test/record/record.unit.test.ts"],
  "src/record/json.ts": ["test/record/json.unit.test.ts", ...RECORD],
  "src/record/pending-logins.ts": ["test/record/pending-logins.unit.test.ts"],
  "src/access/shared-refresh.ts": [
    ...REFRESH,
    "test/access/shared-refresh.unit.test.ts",
    "test/access/refresh.test.ts",
    "test/opentelemetry/instrument.test.ts",
  ],
  "src/access/refresh-attempt.ts": [...REFRESH, "test/opentelemetry/instrument.test.ts"],
  "src/access/lease.ts": REFRESH,
  "src/access/refresh-limits.ts": REFRESH,
  "src/access/optional-writes.ts": ["test/access/optional-writes.unit.test.ts"],
  "src/access/ended-event.ts": ["test/access/session-access.unit.test.ts"],
  "src/access/session-access.ts": ["test/access/session-access.unit.test.ts"],
  "src/record/token-validity.ts": ["test/record/token-validity.unit.test.ts"],
  "src/record/recent-refusal.ts": ["test/record/token-validity.unit.test.ts"],
  "src/record/entry-life.ts": ["test/record/entry-life.unit.test.ts"],
  "src/record/stored-api-tokens.ts": ["test/record/stored-api-tokens.unit.test.ts"],
  "src/record/why-no-api-token.ts": ["test/record/why-no-api-token.unit.test.ts"],
  "src/record/claims-after-refresh.ts": ["test/record/claims-after-refresh.unit.test.ts"],
  "src/record/refresh-changes.ts": ["test/record/refresh-changes.unit.test.ts"],
  "src/sessions/seal.ts": [
    "test/sessions/seal.unit.test.ts",
    "test/sessions/sealed-parameter.unit.test.ts",
    "test/sessions/sign-in-trace.unit.test.ts",
  ],
  "src/sessions/cookie.ts": [
    "test/sessions/cookie.unit.test.ts",
    "test/sessions/seal.unit.test.ts",
  ],
  "src/sessions/session-entries.ts": [
    "test/sessions/session-entries.unit.test.ts",
    "test/sessions/bundled-sessions.unit.test.ts",
  ],
  "src/sessions/entry-summary.ts": [
    "test/sessions/entry-summary.unit.test.ts",
    "test/sessions/session-entries.unit.test.ts",
  ],
  "src/sessions/end-trace.ts": ["test/sessions/session-entries.unit.test.ts"],
  "src/sessions/session-label.ts": ["test/sessions/session-label.unit.test.ts"],
  "src/sessions/listed-pages.ts": ["test/sessions/listed-pages.unit.test.ts"],
  "src/sessions/bundled-sessions.ts": ["test/sessions/bundled-sessions.unit.test.ts"],
  "src/sessions/session-renewal.ts": ["test/sessions/bundled-sessions.unit.test.ts"],
  "src/sessions/framework-session.ts": ["test/sessions/framework-session.unit.test.ts"],
  "src/sessions/subject-sessions.ts": ["test/sessions/subject-sessions.unit.test.ts"],
  "src/sessions/provider-logouts.ts": ["test/sessions/provider-logouts.unit.test.ts"],
  "src/sessions/end-by-key.ts": ["test/sessions/end-by-key.unit.test.ts"],
  "src/sessions/shared-scans.ts": ["test/sessions/shared-scans.unit.test.ts"],
  "src/sessions/store-failures.ts": [
    "test/sessions/store-failures.unit.test.ts",
    "test/opentelemetry/instrument.test.ts",
  ],
  "src/sessions/old-traces.ts": ["test/sessions/bundled-sessions.unit.test.ts"],
  "src/sessions/sign-in-trace.ts": [
    "test/sessions/sign-in-trace.unit.test.ts",
    "test/sessions/bundled-sessions.unit.test.ts",
  ],
  "src/sessions/sealed-parameter.ts": ["test/sessions/sealed-parameter.unit.test.ts"],
  "src/sessions/posted-responses.ts": ["test/sessions/sealed-parameter.unit.test.ts"],
  "src/sessions/form-proof.ts": ["test/sessions/form-proof.unit.test.ts"],
  "src/http/cross-site-parameter.ts": OTHER_SITE,
  "src/http/initiator.ts": [
    ...OTHER_SITE,
    "test/endpoints/without-click.test.ts",
    "test/endpoints/session-list.test.ts",
    "test/guard/guard.test.ts",
  ],
  "src/endpoints/posted-callback.ts": [
    "test/endpoints/posted-callback.test.ts",
    "test/endpoints/apple.test.ts",
  ],
  "src/endpoints/apple-posted-name.ts": ["test/endpoints/apple.test.ts"],
  "src/provider/apple-secret.ts": ["test/provider/apple-secret.unit.test.ts"],
  "src/provider/signed-jwt.ts": ["test/provider/signed-jwt.unit.test.ts"],
  "src/endpoints/posted-login.ts": ["test/endpoints/posted-login.test.ts"],
  "src/endpoints/refuse-without-click.ts": ["test/endpoints/without-click.test.ts"],
  "src/endpoints/repeated-callback.ts": ["test/endpoints/repeated-callback.unit.test.ts"],
  "src/endpoints/running-exchanges.ts": ["test/endpoints/running-exchanges.unit.test.ts"],
  "src/apis/api-url.ts": ["test/apis/path-rules.unit.test.ts"],
  "src/apis/lenient-path.ts": ["test/apis/path-rules.unit.test.ts"],
  "src/apis/path-rules.ts": ["test/apis/path-rules.unit.test.ts"],
  "src/apis/request-headers.ts": ["test/apis/headers.unit.test.ts"],
  "src/apis/response-headers.ts": ["test/apis/headers.unit.test.ts"],
  "src/apis/redirects-and-links.ts": ["test/apis/headers.unit.test.ts"],
  "src/apis/challenge.ts": ["test/apis/headers.unit.test.ts"],
  "src/apis/idle-timer.ts": ["test/apis/idle-timer.unit.test.ts"],
  "src/apis/arriving-response.ts": ["test/apis/arriving-response.unit.test.ts"],
  "src/apis/undici-transport.ts": ["test/apis/undici-transport.unit.test.ts"],
  "src/apis/request-steps.ts": [
    "test/apis/proxy.unit.test.ts",
    "test/apis/fetch-api.unit.test.ts",
    "test/apis/many-streams.test.ts",
  ],
  "src/apis/abort-at-session-end.ts": ["test/apis/proxy.unit.test.ts"],
  "src/apis/challenge-reply.ts": ["test/apis/challenge-reply.unit.test.ts"],
  "src/apis/session-exchange.ts": [
    "test/apis/session-exchange.unit.test.ts",
    "test/apis/many-streams.test.ts",
    "test/opentelemetry/instrument.test.ts",
  ],
  "src/apis/fetch-api.ts": ["test/apis/fetch-api.unit.test.ts"],
  "src/config/api-rules.ts": [
    "test/config/read-apis.unit.test.ts",
    "test/apis/path-rules.unit.test.ts",
  ],
  "src/work/shutdown.ts": ["test/work/shutdown.unit.test.ts"],
  "src/provider/shared-back-off.ts": ["test/provider/refresh-back-off.unit.test.ts"],
  "src/provider/refresh-back-off.ts": ["test/provider/refresh-back-off.unit.test.ts"],
  "src/access/rejected-token.ts": ["test/access/rejected-token.unit.test.ts"],
  "src/endpoints/clock-difference.ts": ["test/endpoints/clock-difference.unit.test.ts"],
  "src/provider/response-meaning.ts": ["test/provider/token-response.unit.test.ts"],
  "src/provider/id-token.ts": [
    "test/provider/id-token.unit.test.ts",
    "test/provider/id-token.test.ts",
  ],
};

/**
 * @typedef {{ mutants: readonly { status: string }[] }} Tested what Stryker reports about a file
 * @typedef {object} Run the last one of a file
 * @property {string} date
 * @property {string} commit that was checked out
 * @property {number} mutants
 * @property {number} killed
 * @property {number} timedOut
 * @property {number} survived
 * @property {number} notCovered
 * @property {number} errors
 * @typedef {Readonly<Record<string, Run>>} Evidence
 */

/** @returns {Evidence} */
export function readRuns() {
  return readEvidence("mutation");
}

/**
 * Writes a run of a file to the evidence. Call it again only after the promise is resolved.
 *
 * @param {string} file
 * @param {Tested} tested
 * @param {{ date: string, commit: string }} run
 */
export async function recordRun(file, { mutants }, { date, commit }) {
  const count = (/** @type {RegExp} */ status) =>
    mutants.filter((mutant) => status.test(mutant.status)).length;
  /** @type {Run} */
  const outcome = {
    date,
    commit,
    mutants: mutants.length,
    killed: count(/^Killed$/),
    timedOut: count(/^Timeout$/),
    survived: count(/^Survived$/),
    notCovered: count(/^NoCoverage$/),
    errors: count(/^(?:CompileError|RuntimeError|Ignored)$/),
  };
  const runs = { ...readRuns(), [file]: outcome };
  const listed = Object.keys(DECIDING_FILES).flatMap((name) =>
    runs[name] === undefined ? [] : [[name, runs[name]]],
  );
  await keepEvidence("mutation", Object.fromEntries(listed));
}
