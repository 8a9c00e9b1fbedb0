import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseEnv } from "node:util";
import { onTestFinished } from "vitest";
import { providerCommand } from "../../src/cli/provider/provider-command.js";

/** A running `idpauth provider`, in this process. */
export interface RunningProvider {
  /** The only provider's, or the origin of all. */
  readonly issuer: string;
  readonly port: number;
  readonly stdout: string;
  /** The settings that it printed. */
  readonly env: Readonly<Record<string, string>>;
  stderr(): string;
  /** Ends it as Ctrl+C does, and gives the exit code. */
  stop(): Promise<number>;
}

/** A folder that is removed after the test. */
export function emptyFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-provider-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Surroundings {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly now?: () => number;
}

interface EndedProvider {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command until it has started or ended, and ends it with the test. */
export async function runProvider(
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<RunningProvider | EndedProvider> {
  const provider = await launchProvider(argv, surroundings);
  if ("stop" in provider) onTestFinished(() => provider.stop().then(() => undefined));
  return provider;
}

/** Runs the command until it has started or ended. */
export async function launchProvider(
  argv: readonly string[],
  { folder, env = {}, now = Date.now }: Surroundings,
): Promise<RunningProvider | EndedProvider> {
  const written = { stdout: "", stderr: "" };
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  let started: () => void = () => {};
  const running = new Promise<"running">((resolve) => (started = () => resolve("running")));
  const write = (text: string, stream: "stdout" | "stderr") => {
    written[stream] += text;
    if (written.stdout.includes("Ctrl+C ends the provider.")) started();
  };
  const ended = providerCommand(argv, { env, folder, home: folder, now, write, stopped });
  const code = await Promise.race([running, ended]);
  if (code !== "running") return { code, ...written };
  const issuer = /https?:\/\/127\.0\.0\.1:\d+/.exec(written.stdout)?.[0] ?? "";
  return {
    issuer,
    port: Number(new URL(issuer).port),
    stdout: written.stdout,
    env: Object.fromEntries(
      (written.stdout.match(/^[A-Z_]+=.*$/gm) ?? []).flatMap(
        (line) => Object.entries(parseEnv(line)) as [string, string][],
      ),
    ),
    stderr: () => written.stderr,
    stop() {
      stop();
      return ended;
    },
  };
}

/** @throws Error it did not start, and what it said */
export async function startProvider(
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<RunningProvider> {
  const provider = await runProvider(argv, surroundings);
  if ("code" in provider) throw new Error(`exit code ${provider.code}: ${provider.stderr}`);
  return provider;
}
