import { CHECK_GROUPS } from "../config/check-table.js";
import { groupOf, inReportOrder } from "../config/startup-checks.js";
import { seeExplanation, type Finding } from "../errors.js";
import type { LiveFacts } from "../live/live-facts.js";
import { counted } from "../live/message-parts.js";
import { factLines } from "./live/format-facts.js";

/** The result of a check. */
export interface Outcome {
  readonly findings: readonly Finding[];
  /** What was not checked, and why. */
  readonly notSeen: readonly string[];
  /** Of `--live` only: one for each provider. */
  readonly facts?: readonly LiveFacts[];
}

export interface Report {
  readonly text: string;
  /** The number of errors. */
  readonly errors: number;
}

export function report(outcome: Outcome, asJson: boolean): Report {
  const findings = inReportOrder(outcome.findings);
  const errors = findings.filter((finding) => finding.severity === "error").length;
  const sorted = { ...outcome, findings };
  return { text: asJson ? jsonReport(sorted, errors) : textReport(sorted, errors), errors };
}

function jsonReport({ findings, notSeen, facts }: Outcome, errors: number): string {
  const object = {
    ok: errors === 0,
    errors,
    warnings: findings.length - errors,
    findings: findings.map((finding) => ({ ...finding, group: groupOf(finding) })),
    notSeen,
    // Those of several providers under their keys.
    ...(facts && {
      facts:
        facts[0]?.key === undefined
          ? facts[0]
          : Object.fromEntries<LiveFacts>(facts.map((one) => [one.key ?? "", one])),
    }),
  };
  return `${JSON.stringify(object, undefined, 2)}\n`;
}

function textReport({ findings, notSeen, facts }: Outcome, errors: number): string {
  const groups = CHECK_GROUPS.flatMap((group) => {
    const lines = findings.filter((finding) => groupOf(finding) === group).map(textFinding);
    return lines.length === 0 ? [] : [`${group}:\n${lines.join("")}`];
  });
  const summary = `idpauth check: ${counted(errors, "error")}, ${counted(findings.length - errors, "warning")}\n`;
  const learned = (facts ?? []).map((one) =>
    section(one.key === undefined ? "facts" : `facts of ${one.key}`, factLines(one)),
  );
  return [summary, ...groups, ...learned, section("not checked", notSeen)].join("\n");
}

function section(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.map((line) => `  - ${line}\n`).join("")}`;
}

function textFinding({ code, severity, message, remedy }: Finding): string {
  return `  ${code} ${severity}: ${message}\n       ${remedy}\n       ${seeExplanation(code)}\n`;
}
