import { createServer } from "node:http";
import path from "node:path";
import { TENANTS_PATH } from "../../testing/provider/entra-tenants.js";
import type { ExitCode, Write } from "../check-command.js";
import { textClaim } from "./choosable-people.js";
import { envLines, writeEnv, type ApplicationSettings } from "./env-file.js";
import { ADDRESS, CLIENT_ID, close, listen, serve } from "./provider-server.js";
import {
  defaultDataFile,
  PROVIDER_HELP,
  readProviderUsage,
  type ProviderUsage,
} from "./provider-usage.js";
import {
  newState,
  readState,
  StateFileError,
  writeState,
  type ProviderState,
} from "./state-file.js";

/** What the command gets from its process. */
export interface ProviderIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The current folder. */
  readonly folder: string;
  /** The user's home folder. */
  readonly home: string;
  /** Milliseconds since the epoch. */
  now(): number;
  readonly write: Write;
  /** Resolves when the command is to end. */
  readonly stopped: Promise<void>;
}

/** A reason why the provider cannot start, and what to do. */
class StartError extends Error {}

/**
 * Runs `idpauth provider` until it is stopped.
 *
 * @param argv the arguments after `provider`
 */
export async function providerCommand(argv: readonly string[], io: ProviderIo): Promise<ExitCode> {
  const usage = readProviderUsage(argv);
  if ("mistake" in usage) {
    io.write(`idpauth provider: ${usage.mistake}\n\n${PROVIDER_HELP}`, "stderr");
    return 2;
  }
  if (usage.help) {
    io.write(PROVIDER_HELP, "stdout");
    return 0;
  }
  try {
    await run(usage, io);
    return 0;
  } catch (error) {
    if (!(error instanceof StartError) && !(error instanceof StateFileError)) throw error;
    io.write(`idpauth provider: ${error.message}\n`, "stderr");
    return 2;
  }
}

async function run(usage: ProviderUsage, io: ProviderIo): Promise<void> {
  const file = dataFile(usage, io);
  const state = (file === undefined ? undefined : readState(file)) ?? (await newState());
  const server = createServer();
  const port = await listen(server, usage.port).catch((error: unknown) => {
    throw new StartError(portProblem(usage.port, error));
  });
  try {
    const issuer = `http://${ADDRESS}:${port}${usage.tenant === undefined ? "" : TENANTS_PATH}`;
    const save = () => {
      state.grants.prune(io.now());
      if (file !== undefined) writeState(file, state);
    };
    const failed = (error: unknown) => {
      io.write(
        `idpauth provider: a request failed: ${error instanceof Error ? error.message : "unknown error"}\n`,
        "stderr",
      );
    };
    serve(server, { ...usage, ...state, issuer, now: () => io.now(), save, failed });
    save();
    const settings = settingsFor(issuer, usage, state);
    const written =
      usage.writeEnv === undefined ? undefined : writtenEnv(usage.writeEnv, settings, io);
    io.write(
      greeting(issuer, usage, file) +
        (written ?? toPaste(settings)) +
        "\nCtrl+C ends the provider.\n",
      "stdout",
    );
    await io.stopped;
  } finally {
    await close(server);
  }
}

/**
 * Returns undefined if nothing is kept: with another port at each start, the issuer is another one
 * each time.
 */
function dataFile(
  { data, port }: ProviderUsage,
  { env, folder, home }: ProviderIo,
): string | undefined {
  if (data !== undefined) return path.resolve(folder, data);
  return port === 0 ? undefined : defaultDataFile(port, env, home);
}

function portProblem(port: number, error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const another = `choose another port: npx idpauth provider --port=${port < 65_535 ? port + 1 : 9400}`;
  if (code === "EADDRINUSE")
    return `port ${port} of ${ADDRESS} is in use, perhaps by another \`idpauth provider\`. End that program, or ${another}`;
  return `port ${port} of ${ADDRESS} can't be used (${code}). Instead, ${another}`;
}

function settingsFor(
  issuer: string,
  { tenant }: ProviderUsage,
  { secretKey, clientSecret }: ProviderState,
): ApplicationSettings {
  return {
    SECRET_KEY: secretKey,
    IDP_ISSUER: issuer,
    ...(tenant !== undefined && { IDP_ALLOWED_TENANTS: tenant }),
    IDP_CLIENT_ID: CLIENT_ID,
    IDP_CLIENT_SECRET: clientSecret,
    SCOPE: "openid email profile offline_access",
    BASE_URL: "http://localhost:3000",
  };
}

function greeting(issuer: string, { people }: ProviderUsage, file: string | undefined): string {
  const names = people.map(
    (person) => `${textClaim(person, "name") ?? ""} <${textClaim(person, "email") ?? ""}>`,
  );
  const kept =
    file === undefined
      ? "not kept; the next start creates new ones"
      : `${file} (kept for the next start)`;
  return `idpauth provider: ${issuer}
For development only: you sign in by choosing a person, without a password. It listens on this machine only.

People: ${names.join(", ")}
Keys and tokens: ${kept}
`;
}

function toPaste(settings: ApplicationSettings): string {
  return `
The application's settings, to copy into its .env file (or use --write-env):

${envLines(settings)}`;
}

/** @throws StartError the file names another provider; it stays unchanged */
function writtenEnv(name: string, settings: ApplicationSettings, { folder }: ProviderIo): string {
  let outcome: ReturnType<typeof writeEnv>;
  try {
    outcome = writeEnv(path.resolve(folder, name), settings);
  } catch (error) {
    throw new StartError(
      `${name} can't be written (${error instanceof Error && "code" in error ? String(error.code) : "unknown error"})`,
    );
  }
  if (outcome === "written") return `Wrote the application's settings to ${name}\n`;
  if (outcome === "same")
    return `The application's settings are already in ${name}. The file is unchanged.\n`;
  throw new StartError(
    `${name} exists and doesn't name this provider. The command never overwrites a file. Remove the file, choose another file ` +
      "(--write-env=FILE), or start without --write-env and copy the settings that the command prints",
  );
}
