import { pathToFileURL } from "node:url";
import path from "node:path";
import { idpauth } from "../../src/cli/check-command.js";
import type { LiveFacts } from "../../src/live/live-facts.js";
import type { CheckIo } from "../../src/cli/live/check-io.js";
import { systemClock } from "../../src/clock.js";

export const ROOT = path.resolve(import.meta.dirname, "../..");

export interface LiveReport {
  readonly code: number;
  readonly ok: boolean;
  readonly codes: readonly string[];
  readonly findings: readonly {
    readonly code: string;
    readonly group: string;
    readonly message: string;
    readonly remedy: string;
  }[];
  readonly notSeen: readonly string[];
  readonly facts: LiveFacts;
  /** Everything that was written. */
  readonly output: string;
  readonly stderr: string;
}

/** The I/O of the process, with a clock that is so many milliseconds ahead. */
export function checkIo({
  ahead = 0,
  ...changes
}: Partial<CheckIo> & { ahead?: number } = {}): CheckIo {
  return {
    clock: { ...systemClock, now: () => Date.now() + ahead },
    fetch: (input, init) => fetch(input, init),
    folder: ROOT,
    isTerminal: false,
    version: () => "1.2.3",
    importModule: async (file) =>
      (await import(/* @vite-ignore */ pathToFileURL(file).href)) as unknown,
    ...changes,
  };
}

type RunOptions = Parameters<typeof checkIo>[0] & { readonly args?: readonly string[] };

/** Runs `idpauth check --live --json` as a function. */
export async function runLive(
  env: Record<string, string | undefined>,
  { args = [], ...changes }: RunOptions = {},
): Promise<LiveReport> {
  const { code, written } = await run(env, ["--json", ...args], changes);
  const report = JSON.parse(written.stdout) as Omit<LiveReport, "code" | "codes">;
  const codes = report.findings.map((finding) => finding.code);
  return {
    ...report,
    code,
    codes,
    output: written.stdout + written.stderr,
    stderr: written.stderr,
  };
}

/** Runs `idpauth check --live` as a function, and returns its report as text. */
export async function textOfLive(
  env: Record<string, string | undefined>,
  { args = [], ...changes }: RunOptions = {},
): Promise<string> {
  return (await run(env, args, changes)).written.stdout;
}

async function run(
  env: Record<string, string | undefined>,
  args: readonly string[],
  changes: Parameters<typeof checkIo>[0],
) {
  const written = { stdout: "", stderr: "" };
  const write = (text: string, stream: "stdout" | "stderr") => (written[stream] += text);
  const readText = () => {
    throw new Error("no such file");
  };
  const io = checkIo(changes);
  const code = await idpauth(["check", "--live", ...args], { env, write, readText, io });
  if (code === 2) throw new Error(written.stderr);
  return { code, written };
}
