import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { epochSeconds, systemClock } from "../clock.js";
import { readSettings, type Environment } from "../config/read-settings.js";
import { report, type Outcome } from "./check-report.js";
import { HELP, readUsage, type Usage } from "./check-usage.js";
import type { CheckIo } from "./live/check-io.js";
import type { CheckedProvider } from "./live/provider-report.js";
import type { ModuleSettings } from "./module-settings.js";
import {
  BASE_URL,
  MIDDLEWARE,
  OPTIONS_IN_CODE,
  PROVIDER,
  ROUTES,
  SAME_STORE,
  SESSIONS,
  SIGN_IN,
} from "./not-checked.js";

/** Writes text to a stream of the process. The text includes its line ends. */
export type Write = (text: string, stream: "stdout" | "stderr") => void;

/** Reads a file's text. Throws if it cannot be read. */
type ReadText = (path: string) => string;

/** 0: no errors, 1: errors, 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** Some Windows editors write it at the start of a file. */
const BYTE_ORDER_MARK = "\uFEFF";

/** What the command gets from its process. */
export interface CheckProcess {
  readonly env: Environment;
  readonly write: Write;
  readonly readText: ReadText;
  /** The I/O of `--live`. */
  readonly io: CheckIo;
}

/** One run of the command. */
interface Run extends CheckProcess {
  readonly usage: Usage;
}

/**
 * Runs `idpauth check`.
 *
 * @param argv the arguments after the command's own name
 * @returns the exit code; a promise only for `--live` and `--module`
 */
export function idpauth(
  argv: readonly string[],
  process: CheckProcess,
): ExitCode | Promise<ExitCode> {
  const { write } = process;
  const usage = readUsage(argv);
  if ("mistake" in usage) {
    write(`idpauth: ${usage.mistake}\n\n${HELP}`, "stderr");
    return 2;
  }
  if (usage.help) {
    write(HELP, "stdout");
    return 0;
  }
  let { env } = process;
  try {
    if (usage.envFile !== undefined) env = { ...settingsIn(usage.envFile, process), ...env };
  } catch {
    write(`idpauth: the file ${JSON.stringify(usage.envFile)} can't be read\n`, "stderr");
    return 2;
  }
  const run = { ...process, env, usage };
  if (usage.module !== undefined) return ofModule(usage.module, run);
  const { findings } = readSettings({}, env, { now: epochSeconds(systemClock) });
  const seen = { findings, notSeen: [OPTIONS_IN_CODE, MIDDLEWARE, SESSIONS] };
  return usage.live ? live(seen, run) : written(offline(seen), run);
}

/** Checks the settings of a module's `auth` object. */
async function ofModule(module: string, run: Run): Promise<ExitCode> {
  const { env, io, usage } = run;
  const { moduleSettings } = await import("./module-settings.js");
  const read = await moduleSettings(module, env, io);
  if ("mistake" in read) {
    run.write(`idpauth: ${read.mistake}\n`, "stderr");
    return 2;
  }
  const { findings, options } = read;
  const fetch = options?.fetch ?? io.fetch;
  const seen = { findings, notSeen: [MIDDLEWARE, ROUTES] };
  return usage.live
    ? live(seen, { ...run, io: { ...io, fetch } }, read)
    : written(offline(seen), run);
}

function offline({ findings, notSeen }: Outcome): Outcome {
  return { findings, notSeen: [...notSeen, PROVIDER] };
}

/** Writes the report. */
function written(outcome: Outcome, { usage, write }: Run): ExitCode {
  const { text, errors } = report(outcome, usage.json);
  write(text, "stdout");
  return errors === 0 ? 0 : 1;
}

/** Reads the settings in a file. @throws if the file cannot be read */
function settingsIn(file: string, { readText, write }: CheckProcess): Environment {
  const text = readText(file);
  if (!text.startsWith(BYTE_ORDER_MARK)) return parseEnv(text);
  const name = JSON.stringify(file);
  // The application may read the same file without its first setting.
  write(
    `idpauth: the file ${name} starts with a byte order mark. This check ignores the mark, but node --env-file loses the first setting. Remove the mark\n`,
    "stderr",
  );
  return parseEnv(text.slice(BYTE_ORDER_MARK.length));
}

/** @param module what `--module` names */
async function live(
  { findings, notSeen }: Outcome,
  run: Run,
  module?: ModuleSettings,
): Promise<ExitCode> {
  const { env, io } = run;
  // Loaded on demand: the provider's libraries take longer to load than the whole offline check.
  const { tellsOfRefreshTokens } = await import("../live/check-provider.js");
  const { checkLive } = await import("./live/check-live.js");
  const { providerTargets } = await import("./live/provider-targets.js");
  const progress = (step: string) => {
    if (io.isTerminal) run.write(`checking: ${step} …\n`, "stderr");
  };
  const { store, report: file } = run.usage;
  if (file !== undefined && existsSync(path.resolve(io.folder, file)))
    return cannotWrite(file, "EEXIST", run.write);
  const seen: CheckedProvider[] = [];
  // The store is the same for all providers.
  for (const [index, target] of providerTargets(env, module).entries())
    seen.push({
      target,
      ...(await checkLive({ target, env, store: index === 0 ? store : undefined, io, progress })),
    });
  const isKnown = seen.every(tellsOfRefreshTokens);
  const known = findings.filter(({ code }) => code !== "W004" || !isKnown);
  const left =
    store === undefined ? notSeen : [...notSeen.filter((text) => text !== SESSIONS), SAME_STORE];
  const outcome = {
    findings: [...known, ...seen.flatMap((one) => one.findings)],
    notSeen: [...new Set(seen.flatMap((one) => one.notSeen)), SIGN_IN, BASE_URL, ...left],
    facts: seen.map((one) => one.facts),
  };
  const code = written(outcome, run);
  if (file === undefined) return code;
  const { providerReport } = await import("./live/provider-report.js");
  const text = providerReport({
    version: io.version(),
    now: io.clock.now(),
    findings: outcome.findings,
    providers: seen,
  });
  return writeReport(text, file, run) ? code : 2;
}

/** Writes the report about the provider to a new file. @returns whether it could */
function writeReport(text: string, file: string, { io, write }: Run): boolean {
  try {
    writeFileSync(path.resolve(io.folder, file), text, { flag: "wx" });
  } catch (error) {
    cannotWrite(file, (error as { readonly code?: string }).code, write);
    return false;
  }
  write(
    `The report about your provider is in ${file}. It leaves out secrets, addresses and names. Look through it before you send it. ` +
      "docs/reference/check-live.md says where to.\n",
    "stderr",
  );
  return true;
}

/** @param code why the report's file can't be written, in Node.js's words */
function cannotWrite(file: string, code: string | undefined, write: Write): 2 {
  const why =
    code === "EEXIST"
      ? "exists already, and isn't overwritten. Name another file with --report=FILE"
      : `can't be written (${code ?? "unknown error"})`;
  write(`idpauth: the file ${JSON.stringify(file)} ${why}\n`, "stderr");
  return 2;
}
