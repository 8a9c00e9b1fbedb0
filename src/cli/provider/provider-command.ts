import type { Server } from "node:http";
import path from "node:path";
import { variableOf } from "../../config/provider-keys.js";
import type { ExitCode, Write } from "../check-command.js";
import { enteredSettings, settingsFor, type ApplicationSettings } from "./application-settings.js";
import { clientFiles, createCertificates, type Certificates } from "./certificate-files.js";
import { textClaim } from "./choosable-people.js";
import { developmentProvider, type DevelopmentProvider } from "./development-provider.js";
import { envLines, writeEnv, type Outcome } from "./env-file.js";
import { readClientJwks, readIdentity } from "./input-files.js";
import { PROVIDER_HELP } from "./provider-help.js";
import { ADDRESS, close, listen, newServer, serve } from "./provider-server.js";
import { readProviderUsage, type ProviderOptions, type ProviderUsage } from "./provider-usage.js";
import { codeOf, StartError } from "./start-error.js";
import {
  defaultDataFile,
  keptProvider,
  newState,
  readState,
  writeState,
  type KeptState,
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
    await run(usage, argv, io);
    return 0;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    io.write(`idpauth provider: ${error.message}\n`, "stderr");
    return 2;
  }
}

async function run(usage: ProviderUsage, argv: readonly string[], io: ProviderIo): Promise<void> {
  const file = dataFile(usage, io);
  const state = (file === undefined ? undefined : readState(file)) ?? newState();
  const certificates =
    file !== undefined && usage.providers.some(({ mtls }) => mtls)
      ? createCertificates(state, file, io.now())
      : undefined;
  const server = serverFor(usage, certificates, io);
  const begun = await Promise.all(
    usage.providers.map((options) => begin(options, { state, file, io })),
  );
  const port = await listen(server, usage.port).catch((error: unknown) => {
    throw new StartError(portProblem(usage.port, argv, error));
  });
  try {
    const isPlain = usage.tls === undefined && certificates === undefined;
    const origin = `${isPlain ? "http" : "https"}://${ADDRESS}:${port}`;
    const providers = begun.map((start) => start(origin, usage.baseUrl));
    const save = () => {
      for (const { grants } of providers) grants.prune(io.now());
      if (file !== undefined) writeState(file, state);
    };
    const failed = (error: unknown) => {
      tell(`a request failed: ${error instanceof Error ? error.message : "unknown error"}`, io);
    };
    serve(server, { providers, now: () => io.now(), save, failed });
    save();
    const settings = settingsFor({ secretKey: state.secretKey, baseUrl: usage.baseUrl, providers });
    const handedOver =
      usage.writeEnv === undefined ? toPaste(settings) : writtenEnv(usage.writeEnv, settings, io);
    io.write(
      `${greeting(providers, file)}${handedOver}${usage.providers.map(ownKey).join("")}${toTrust(usage, certificates)}${toEnter(providers)}\nCtrl+C ends the provider.\n`,
      "stdout",
    );
    await io.stopped;
  } finally {
    await close(server);
  }
}

/** Reads and creates what a provider needs. The result starts it, once the port is known. */
async function begin(
  options: ProviderOptions,
  {
    state,
    file,
    io,
  }: { readonly state: KeptState; readonly file: string | undefined; readonly io: ProviderIo },
) {
  const { client } = options;
  const clientJwks =
    typeof client === "object" ? readClientJwks(client.jwks, io.folder) : undefined;
  const kept = await keptProvider(options.key, state);
  const files =
    options.mtls && file !== undefined
      ? clientFiles(options, kept, { state, file, now: io.now() })
      : undefined;
  return (origin: string, baseUrl: string | undefined): DevelopmentProvider =>
    developmentProvider(options, kept, {
      origin,
      baseUrl,
      clientJwks,
      clientFiles: files,
      now: () => io.now(),
      noteRefusal({ endpoint, error, reason }) {
        if (isUsual(error)) return;
        const who = options.key === undefined ? "" : `${options.key} `;
        tell(`${who}refused ${endpoint}: ${error}, ${reason}`, io);
      },
    });
}

/** What the user decides, the response to `prompt=none`, and the demand for a nonce are nobody's mistake. */
function isUsual(error: string): boolean {
  return ["access_denied", "login_required", "use_dpop_nonce"].includes(error);
}

/** Control characters are replaced: a request could move the cursor with them, or begin a line. */
function tell(what: string, io: ProviderIo): void {
  io.write(`idpauth provider: ${what.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD")}\n`, "stderr");
}

function ofKey({ key }: { readonly key: string | undefined }): string {
  return key === undefined ? "" : ` of ${key}`;
}

function serverFor(
  usage: ProviderUsage,
  certificates: Certificates | undefined,
  { folder }: ProviderIo,
): Server {
  try {
    const identity = readIdentity(usage, folder) ?? certificates?.identity;
    return newServer(identity, certificates?.authority);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError("--tls-key: the key can't be used with the certificate");
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

function portProblem(port: number, argv: readonly string[], error: unknown): string {
  const code = codeOf(error);
  const another = `choose another port: ${commandWith(port < 65_535 ? port + 1 : 9400, argv)}`;
  if (code === "EADDRINUSE")
    return `port ${port} of ${ADDRESS} is in use, perhaps by another \`idpauth provider\`. End that program, or ${another}`;
  return `port ${port} of ${ADDRESS} can't be used (${code}). Instead, ${another}`;
}

/** Returns the given command with another port, for a POSIX shell. */
function commandWith(port: number, argv: readonly string[]): string {
  const others = argv.filter(
    (argument, index) => !/^--port(?:=|$)/.test(argument) && argv[index - 1] !== "--port",
  );
  const words = others.map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`,
  );
  return ["npx idpauth provider", ...words, `--port=${port}`].join(" ");
}

function greeting(providers: readonly DevelopmentProvider[], file: string | undefined): string {
  const kept =
    file === undefined
      ? "not kept; the next start creates new ones"
      : `${file} (kept for the next start)`;
  return `idpauth provider: ${providers.map(({ issuer }) => issuer).join(", ")}
For development only: you sign in by choosing a person, without a password. It listens on this machine only.

${providers.map(peopleOf).join("")}Keys and tokens: ${kept}
`;
}

function peopleOf({ key, people }: DevelopmentProvider): string {
  const names = people.map(
    (person) => `${textClaim(person, "name") ?? ""} <${textClaim(person, "email") ?? ""}>`,
  );
  return `People${ofKey({ key })}: ${names.join(", ")}\n`;
}

/** What the application needs besides, if its key is not ours. */
function ownKey({ key, client }: ProviderOptions): string {
  if (typeof client !== "object") return "";
  const variable = key === undefined ? "IDP_PRIVATE_KEY" : variableOf(key, "IDP_PRIVATE_KEY");
  return `\nSet ${variable} to the private key of ${client.jwks}, for example ${variable}=file:idp-private-key.pem\n`;
}

/** What the application's process needs to reach a provider with a certificate of the command. */
function toTrust({ tls }: ProviderUsage, certificates: Certificates | undefined): string {
  if (certificates === undefined || tls !== undefined) return "";
  return `
Start the application with this variable in its environment, because Node.js reads it before any .env file:

${envLines({ NODE_EXTRA_CA_CERTS: certificates.authorityFile })}
Your browser warns of the provider's certificate until you trust this authority there, too.
`;
}

function toPaste(settings: ApplicationSettings): string {
  return `
The application's settings, to copy into its .env file (or use --write-env):

${envLines(settings)}`;
}

function toEnter(providers: readonly DevelopmentProvider[]): string {
  if (providers[0]?.key === undefined) return "";
  return `
If each customer of your app enters a provider on a settings page, enter these:

${enteredSettings(providers)}`;
}

/** @throws StartError the file names another provider; it stays unchanged */
function writtenEnv(name: string, settings: ApplicationSettings, { folder }: ProviderIo): string {
  let outcome: Outcome;
  try {
    outcome = writeEnv(path.resolve(folder, name), settings);
  } catch (error) {
    throw new StartError(`${name} can't be written (${codeOf(error)})`);
  }
  if (outcome.kind === "written") return `Wrote the application's settings to ${name}\n`;
  if (outcome.kind === "kept") return unchangedEnv(name, outcome.differing);
  throw new StartError(
    `${name} exists and doesn't name this provider. The command never overwrites a file. Remove the file, choose another file ` +
      "(--write-env=FILE), or start without --write-env and copy the settings that the command prints",
  );
}

function unchangedEnv(name: string, differing: ApplicationSettings): string {
  if (Object.keys(differing).length === 0)
    return `The application's settings are already in ${name}. The file is unchanged.\n`;
  return `${name} already names this provider, so the file is unchanged. These settings are different in it:

${envLines(differing)}`;
}
