#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { pathToFileURL } from "node:url";
import { systemClock } from "../clock.js";
import { idpauth, type ExitCode, type Write } from "./check-command.js";
import type { CheckIo } from "./live/check-io.js";

/** Milliseconds after which a finished check exits, even if a module of the project still runs. */
const LEAVE_MS = 2_000;

interface Manifest {
  readonly version: string;
}

const io: CheckIo = {
  clock: systemClock,
  fetch: (input, init) => fetch(input, init),
  folder: process.cwd(),
  isTerminal: process.stderr.isTTY,
  version: () =>
    (JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as Manifest)
      .version,
  async importModule(file, env) {
    Object.assign(process.env, env);
    return (await import(pathToFileURL(file).href)) as unknown;
  },
};

const argv = process.argv.slice(2);
const write: Write = (text, stream) => process[stream].write(text);

// The exit code is only set, so that a pipe gets the complete output.
process.exitCode = await run();

async function run(): Promise<ExitCode> {
  if (argv[0] === "provider") return provider(argv.slice(1));
  if (argv[0] === "keys")
    return (await import("./keys-command.js")).keysCommand(argv.slice(1), process.cwd(), write);
  const readText = (path: string) => readFileSync(path, "utf8");
  return idpauth(argv, { env: process.env, write, readText, io });
}

async function provider(rest: readonly string[]): Promise<ExitCode> {
  // Loaded on demand, with the test kit's provider.
  const { providerCommand } = await import("./provider/provider-command.js");
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve());
  });
  return providerCommand(rest, {
    env: process.env,
    folder: process.cwd(),
    home: homedir(),
    now: Date.now,
    write,
    stopped,
  });
}

// unref: the timer itself does not keep the process alive.
setTimeout(() => process.exit(), LEAVE_MS).unref();
