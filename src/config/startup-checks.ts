import type { Finding } from "../errors.js";
import type { StoreProblem } from "../ports/session-store.js";
import { isOnThisMachine } from "./check-common-settings.js";
import { isTest } from "./check-secret-key.js";
import { CHECK_GROUPS, CHECKS, type CheckCode, type CheckGroup } from "./check-table.js";
import { check, named, providerCheck } from "./findings.js";
import type { SettingsResult } from "./read-settings.js";

/**
 * The name of the method that runs the startup checks and starts nothing. `idpauth check --module`
 * calls it. It is a registered symbol, so that several copies of this package share it.
 */
export const STARTUP_CHECKS: unique symbol = Symbol.for("idpauth.startup-checks");

/**
 * Whether the framework's session middleware is installed; see the check E002. `cookie-only`: it
 * stores the whole session in the browser. `not-applicable`: the framework has no sessions, or they
 * are not used.
 */
export type SessionMiddleware = "present" | "absent" | "cookie-only" | "unknown" | "not-applicable";

/** What only the adapter knows about its framework. */
export interface FrameworkFacts {
  readonly sessionMiddleware: SessionMiddleware;
  readonly sessionKind: "bundled" | "host";
  /** Whether the option `store` is given. */
  readonly storeGiven: boolean;
  /** Why the option `store` is not a session store. */
  readonly storeMistake?: StoreProblem;
  /** Problems that the store reports about its configuration. */
  readonly storeProblems?: readonly StoreProblem[];
  /** What is wrong with the application's own functions; one sentence each. */
  readonly applicationMistakes?: readonly string[];
  /** The findings about the option `pages`. */
  readonly pageFindings?: readonly Finding[];
  /** The framework's name for messages: `Express`. */
  readonly frameworkName: string;
  /** How to install this framework's session middleware, for E002. */
  readonly middlewareRemedy?: string;
}

const APPLICATION_REMEDY =
  "Pass functions, a schema such as zod's `z.object({ … })`, and a string. docs/how-to/users-and-claims.md has examples.";

/**
 * The warnings about what a test doesn't need: the address of a deployment, and sessions that
 * survive a restart.
 */
const NOT_IN_TESTS = ["W001", "W005"];

/** Returns the findings of all startup checks, in the order of a report. Pure. */
export function runChecks(result: SettingsResult, facts: FrameworkFacts): readonly Finding[] {
  const { read } = result;
  const issuers = read.flatMap(({ values }) => values.issuer ?? []);
  const findings = inReportOrder([
    ...result.findings,
    ...(facts.sessionKind === "host"
      ? frameworkSessionFindings(result, facts)
      : bundledSessionFindings(result, facts)),
    ...(facts.applicationMistakes ?? []).map((mistake) =>
      check("E006", mistake, APPLICATION_REMEDY),
    ),
    ...(facts.pageFindings ?? []),
  ]);
  return isTest(read[0]?.values.secretKey, issuers)
    ? findings.filter(({ code }) => !NOT_IN_TESTS.includes(code))
    : findings;
}

/** Returns the finding of a problem in a store's options, which it knows without its server. */
export function storeFinding({ message, remedy, isWarning }: StoreProblem): Finding {
  return check(isWarning === true ? "W026" : "E012", message, remedy);
}

/** Returns the finding of a problem that a store's server reports. */
export function serverFinding({ message, remedy, isWarning }: StoreProblem): Finding {
  return check(isWarning === true ? "W025" : "E012", message, remedy);
}

/** Sorts findings: errors first, then by group. Findings of one group keep their order. */
export function inReportOrder(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the group of a finding; `project settings` for an unknown code. */
export function groupOf(finding: Finding): CheckGroup {
  return Object.hasOwn(CHECKS, finding.code)
    ? CHECKS[finding.code as CheckCode].group
    : /^[EW]1\d\d$/.test(finding.code)
      ? "live"
      : "project settings";
}

function rank(finding: Finding): number {
  return (
    (finding.severity === "error" ? 0 : CHECK_GROUPS.length) +
    CHECK_GROUPS.indexOf(groupOf(finding))
  );
}

/** The settings for which idpauth must find a user's sessions. */
const NEEDS_INDEX = ["backchannelLogout", "frontchannelLogout", "sessionsPage"] as const;

function frameworkSessionFindings({ read }: SettingsResult, facts: FrameworkFacts): Finding[] {
  const findings: Finding[] = [];
  const requested = '`session: "host"` uses the framework\'s own sessions, but';
  const name = facts.frameworkName;
  const problem = {
    absent: `no session middleware of ${name} is installed before idpauth.`,
    "cookie-only": `the session middleware of ${name} is cookie-only. It would store the record and its tokens in the browser instead of server-side.`,
    "not-applicable": `${name} has no sessions that idpauth can use.`,
    unknown: undefined,
    present: undefined,
  }[facts.sessionMiddleware];
  if (problem !== undefined)
    findings.push(check("E002", `${requested} ${problem}`, facts.middlewareRemedy));
  if (facts.sessionMiddleware === "unknown")
    findings.push(
      check("W008", `idpauth can't tell whether the session middleware of ${name} is installed.`),
    );
  if (facts.storeGiven) findings.push(check("E009"));
  const unusable = read.flatMap(({ values, names }) =>
    NEEDS_INDEX.filter((name) => values[name] === true).map(names.label),
  );
  if (unusable.length > 0) {
    const named = [...new Set(unusable)].join(" and ");
    findings.push(
      check(
        "E020",
        `${requested} idpauth can't look up a user's sessions there, which is required for ${named}.`,
      ),
    );
  }
  const bound = read.filter(({ values }) => values.dpop === true);
  findings.push(...bound.map(({ names }) => named(providerCheck("E038"), names)));
  findings.push(check("W006"));
  return findings;
}

function bundledSessionFindings({ settings }: SettingsResult, facts: FrameworkFacts): Finding[] {
  const { storeMistake } = facts;
  if (storeMistake !== undefined) return [check("E006", storeMistake.message, storeMistake.remedy)];
  const findings: Finding[] = (facts.storeProblems ?? []).map(storeFinding);
  // With refused settings, the mode is unknown, and the errors come first.
  if (
    !facts.storeGiven &&
    settings !== undefined &&
    !(settings.debug && isOnThisMachine(settings.baseUrl))
  )
    findings.push(check("W005"));
  return findings;
}
