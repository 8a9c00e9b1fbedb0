import { parseEnv } from "node:util";
import type { Finding } from "../errors.js";
import { readSettings, type Environment } from "../config/read-settings.js";
import type { CheckIo } from "./live/check-io.js";
import { report } from "./check-report.js";
import { HELP, readUsage, type Usage } from "./check-usage.js";

/** Writes text to a stream of the process; the text brings its own line ends. */
export type Write = (text: string, stream: "stdout" | "stderr") => void;

/** Reads a file's text; throws when it cannot. */
export type ReadText = (path: string) => string;

/** 0: no errors, 1: errors, 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** What only the application itself can tell when it starts. */
const OPTIONS_IN_CODE =
  "Options given in code: they win over the environment, so a finding about a setting that the code gives does not apply (and E010 is unseen).";
const MIDDLEWARE = "The session middleware (E002, W007, W008).";
const SESSIONS = "Where sessions live: the options `store` and `session` (E009, W005, W006).";
const PROVIDER = "The identity provider: it is not asked, so nobody knows yet whether it accepts the client; --live asks it.";
const SIGN_IN = "A sign-in: nobody has signed in, so what ID tokens and refreshes are like is unseen.";
const BASE_URL = "Whether visitors reach BASE_URL: it is not asked.";

/** What some editors of Windows begin a file with. */
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * The command line of the package.
 *
 * @param argv the arguments after the command's own name
 * @param io what `--live` asks through
 * @returns the exit code; a promise of it for `--live` only
 */
export function idpauth(
  env: Environment,
  argv: readonly string[],
  write: Write,
  readText: ReadText,
  io: CheckIo,
): ExitCode | Promise<ExitCode> {
  const usage = readUsage(argv);
  if ("mistake" in usage) {
    write(`idpauth: ${usage.mistake}\n\n${HELP}`, "stderr");
    return 2;
  }
  if (usage.help) {
    write(HELP, "stdout");
    return 0;
  }
  let filled = env;
  try {
    if (usage.envFile !== undefined) filled = { ...settingsIn(usage.envFile, readText, write), ...env };
  } catch {
    write(`idpauth: the file ${JSON.stringify(usage.envFile)} cannot be read\n`, "stderr");
    return 2;
  }
  const { findings } = readSettings({}, filled);
  if (usage.live) return live(filled, findings, usage, write, io);
  const { text, errors } = report({ findings, notSeen: [OPTIONS_IN_CODE, MIDDLEWARE, SESSIONS, PROVIDER] }, usage.json);
  write(text, "stdout");
  return errors === 0 ? 0 : 1;
}

/** @throws when the file cannot be read */
function settingsIn(file: string, readText: ReadText, write: Write): Environment {
  const text = readText(file);
  if (!text.startsWith(BYTE_ORDER_MARK)) return parseEnv(text);
  const name = JSON.stringify(file);
  // The application may be started with the same file, and get less of it.
  write(
    `idpauth: the file ${name} begins with a byte order mark, which is left out here; node --env-file loses the first setting over it\n`,
    "stderr",
  );
  return parseEnv(text.slice(BYTE_ORDER_MARK.length));
}

async function live(env: Environment, findings: readonly Finding[], { json, store }: Usage, write: Write, io: CheckIo): Promise<ExitCode> {
  // Loaded when it is asked for: the provider's libraries take longer than the whole offline check.
  const { checkLive } = await import("./live/check-live.js");
  const progress = (step: string) => {
    if (io.isTerminal) write(`asking: ${step} …\n`, "stderr");
  };
  const seen = await checkLive({ env, store, io, progress });
  const sessions = store === undefined ? [SESSIONS] : ["Whether the application uses the store that --store names (E009, W005, W006)."];
  const outcome = {
    findings: [...findings, ...seen.findings],
    notSeen: [...seen.notSeen, SIGN_IN, BASE_URL, OPTIONS_IN_CODE, MIDDLEWARE, ...sessions],
    facts: seen.facts,
  };
  const { text, errors } = report(outcome, json);
  write(text, "stdout");
  return errors === 0 ? 0 : 1;
}
