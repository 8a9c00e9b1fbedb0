import { parseEnv } from "node:util";
import { CHECK_GROUPS, groupOf, inReportOrder } from "../core/checks.js";
import type { Finding } from "../core/errors.js";
import { readSettings, type Environment } from "../core/settings.js";

/** Writes text to a stream of the process; the text brings its own line ends. */
export type Write = (text: string, stream: "stdout" | "stderr") => void;

/** Reads a file's text; throws when it cannot. */
export type ReadText = (path: string) => string;

const HELP = `Usage: idpauth check [--env-file=FILE] [--json]

Runs the startup checks on the settings in the environment, without starting the application.

  --env-file=FILE  settings in a file, read as node --env-file does: the environment wins over it
  --json           the result as one JSON object
  -h, --help       this text

Exit code: 0 no errors (warnings allowed), 1 errors, 2 wrong usage.
`;

/** What only the application itself can tell when it starts. */
const NOT_SEEN = [
  "Options given in code: they win over the environment, so a finding about a setting that the code gives does not apply (and E010 is unseen).",
  "The session middleware (E002, W007, W008).",
  "Where sessions live: the options `store` and `session` (E009, W005, W006).",
  "The identity provider: it is not asked, so nobody knows yet whether it accepts the client.",
] as const;

/**
 * The command line of the package.
 *
 * @param argv the arguments after the command's own name
 * @returns the exit code: 0 no errors, 1 errors, 2 wrong usage
 */
export function idpauth(env: Environment, argv: readonly string[], write: Write, readText: ReadText): 0 | 1 | 2 {
  const flags = argv.filter((argument) => argument.startsWith("-"));
  const commands = argv.filter((argument) => !argument.startsWith("-"));
  const mistake = usageMistake(commands, flags);
  if (mistake !== undefined) {
    write(`idpauth: ${mistake}\n\n${HELP}`, "stderr");
    return 2;
  }
  if (flags.some((flag) => flag === "--help" || flag === "-h")) {
    write(HELP, "stdout");
    return 0;
  }
  const file = flags.find(isEnvFile)?.slice(ENV_FILE.length);
  let filled = env;
  try {
    if (file !== undefined) filled = { ...parseEnv(readText(file)), ...env };
  } catch {
    write(`idpauth: the file ${JSON.stringify(file)} cannot be read\n`, "stderr");
    return 2;
  }
  return check(filled, flags.includes("--json"), write);
}

const ENV_FILE = "--env-file=";

function isEnvFile(flag: string): boolean {
  return flag.startsWith(ENV_FILE) && flag.length > ENV_FILE.length;
}

function usageMistake(commands: readonly string[], flags: readonly string[]): string | undefined {
  const unknown = flags.find((flag) => !["--json", "--help", "-h"].includes(flag) && !isEnvFile(flag));
  if (unknown !== undefined) return `unknown option ${JSON.stringify(unknown)}`;
  if (flags.filter(isEnvFile).length > 1) return "--env-file is given more than once";
  if (commands.length > 1) return "too many arguments";
  if (commands[0] !== undefined && commands[0] !== "check") return `unknown command ${JSON.stringify(commands[0])}`;
  if (commands.length === 0 && !flags.includes("--help") && !flags.includes("-h")) return "which command?";
  return undefined;
}

function check(env: Environment, asJson: boolean, write: Write): 0 | 1 {
  const findings = inReportOrder(readSettings({}, env).findings);
  const errors = findings.filter((finding) => finding.severity === "error").length;
  write(asJson ? jsonReport(findings, errors) : textReport(findings, errors), "stdout");
  return errors === 0 ? 0 : 1;
}

function jsonReport(findings: readonly Finding[], errors: number): string {
  const report = {
    ok: errors === 0,
    errors,
    warnings: findings.length - errors,
    findings: findings.map((finding) => ({ ...finding, group: groupOf(finding) })),
    notSeen: NOT_SEEN,
  };
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

function textReport(findings: readonly Finding[], errors: number): string {
  const groups = CHECK_GROUPS.flatMap((group) => {
    const lines = findings.filter((finding) => groupOf(finding) === group).map(textFinding);
    return lines.length === 0 ? [] : [`${group}:\n${lines.join("")}`];
  });
  const summary = `idpauth check: ${counted(errors, "error")}, ${counted(findings.length - errors, "warning")}\n`;
  const notSeen = `not seen from here:\n${NOT_SEEN.map((line) => `  - ${line}\n`).join("")}`;
  return [summary, ...groups, notSeen].join("\n");
}

function textFinding({ code, severity, message, remedy }: Finding): string {
  return `  ${code} ${severity}: ${message}\n       ${remedy}\n`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
