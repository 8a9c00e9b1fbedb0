import { check, CHECK_GROUPS, CHECKS, type CheckCode, type CheckGroup } from "./check-table.js";
import type { Finding } from "../errors.js";
import type { StoreProblem } from "../ports/session-store.js";
import { isOnThisMachine } from "./setting-rules.js";
import type { SettingsResult } from "./read-settings.js";

export { check, CHECK_GROUPS, CHECKS, type CheckCode, type CheckGroup };

/** What only a host knows; the settings cannot tell. */
export interface FrameworkFacts {
  /**
   * What the host finds of its own session middleware. `cookie-only`: one that keeps the whole session in the browser.
   * `not-applicable`: the host has none, or was not asked because its sessions are not wanted.
   */
  readonly sessionMiddleware: "present" | "absent" | "cookie-only" | "unknown" | "not-applicable";
  readonly sessionKind: "bundled" | "host";
  /** Option `store` is given. */
  readonly storeGiven: boolean;
  /** Why what was given as `store` is no session store. */
  readonly storeMistake?: StoreProblem;
  /** What the store says of its own setup. */
  readonly storeProblems?: readonly StoreProblem[];
  /** Option `session` is given. */
  readonly sessionGiven: boolean;
  /** As people write it: `Express`. */
  readonly frameworkName: string;
  /** How this host's session middleware is installed, for E002. */
  readonly middlewareRemedy?: string;
  /** The session middleware saves sessions that a request has not changed. */
  readonly rewritesSessions?: boolean;
}

/** All startup checks: what the settings show and what the host knows, in the order of a report. Pure. */
export function runChecks(result: SettingsResult, facts: FrameworkFacts): readonly Finding[] {
  return inReportOrder([...result.findings, ...sessionFindings(result, facts)]);
}

/** Errors first; within each severity by group, then as found. */
export function inReportOrder(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => rank(a) - rank(b));
}

/** The group of a finding; project settings for a code that is not in the table. */
export function groupOf(finding: Finding): CheckGroup {
  return Object.hasOwn(CHECKS, finding.code) ? CHECKS[finding.code as CheckCode].group : CHECK_GROUPS[0];
}

function rank(finding: Finding): number {
  return (finding.severity === "error" ? 0 : CHECK_GROUPS.length) + CHECK_GROUPS.indexOf(groupOf(finding));
}

function sessionFindings(result: SettingsResult, facts: FrameworkFacts): Finding[] {
  return facts.sessionKind === "host" ? frameworkSessionFindings(facts) : bundledSessionFindings(result, facts);
}

function frameworkSessionFindings(facts: FrameworkFacts): Finding[] {
  const findings: Finding[] = [];
  const asked = '`session: "host"` asks for the host\'s own sessions, but';
  const remedy = facts.middlewareRemedy;
  switch (facts.sessionMiddleware) {
    case "absent":
      findings.push(check("E002", `${asked} no session middleware of ${facts.frameworkName} is installed before idpauth.`, remedy));
      break;
    case "cookie-only":
      findings.push(
        check(
          "E002",
          `${asked} the one found at ${facts.frameworkName} is cookie-only: it would keep the record, tokens included, in the browser instead of server-side.`,
          remedy,
        ),
      );
      break;
    case "not-applicable":
      findings.push(check("E002", `${asked} ${facts.frameworkName} has no sessions that idpauth could use.`, remedy));
      break;
    case "unknown":
      findings.push(check("W008", `${facts.frameworkName} cannot tell whether its session middleware is installed.`));
      break;
    case "present":
      break;
  }
  if (facts.rewritesSessions === true) findings.push(check("E015"));
  if (facts.storeGiven) findings.push(check("E009"));
  findings.push(check("W006"));
  return findings;
}

function bundledSessionFindings({ settings }: SettingsResult, facts: FrameworkFacts): Finding[] {
  const { storeMistake } = facts;
  if (storeMistake !== undefined) return [check("E014", storeMistake.message, storeMistake.remedy)];
  const findings: Finding[] = (facts.storeProblems ?? []).map(({ message, remedy }) => check("E012", message, remedy));
  // With broken settings, nothing says whether this is development; the errors come first anyway.
  if (!facts.storeGiven && settings !== undefined && !(settings.debug && isOnThisMachine(settings.baseUrl))) findings.push(check("W005"));
  if (!facts.storeGiven && !facts.sessionGiven && facts.sessionMiddleware === "present") {
    findings.push(
      check(
        "W007",
        `${facts.frameworkName} has a session middleware, but neither \`store\` nor \`session\` is given, so idpauth keeps sessions of its own beside it.`,
      ),
    );
  }
  return findings;
}
