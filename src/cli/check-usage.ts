import { isModule, isStoreAddress } from "./live/store-option.js";

export const HELP = `Usage: idpauth check [--env-file=FILE] [--json] [--module=FILE] [--live [--store=STORE] [--report[=FILE]]]
       idpauth provider [--help]
       idpauth keys [--help]

idpauth provider runs an OpenID provider for development on this machine.
idpauth keys creates a private key for the application, in place of a client secret.
idpauth check runs the startup checks on the settings in the environment, without starting the application.

  --env-file=FILE  reads settings from a file, as node --env-file does; the environment overrides the file
                   (Node.js reads the option itself: if FILE doesn't exist, it exits with code 9)
  --module=FILE    also checks the options in code: imports a JavaScript module, such as ./auth.mjs, that exports \`auth\`,
                   which is what idpAuth() returned
  --json           prints the result as one JSON object
  --live           also checks the provider, with requests that don't sign anyone in or change anything there
  --store=STORE    with --live: also checks the session store, with test entries that it removes again:
                     redis://… or rediss://…   with the project's package redis or ioredis
                     postgres://…              with the project's package pg
                     sqlite:PATH               an existing file
                     ./module.mjs              whose default export is a store, or a function that returns one
                     env:NAME                  a variable with one of these; hides a password from the process list
  --report[=FILE]  with --live: also writes a report about the provider for idpauth's project, without secrets, addresses and
                   names; default idpauth-report.md. An existing file is never overwritten
  -h, --help       prints this text

Exit code: 0 without errors (warnings are allowed), 1 with errors, 2 for wrong usage.
`;

/** The options of the command line. */
export interface Usage {
  readonly help: boolean;
  readonly json: boolean;
  readonly live: boolean;
  readonly envFile: string | undefined;
  readonly module: string | undefined;
  readonly store: string | undefined;
  /** The file that gets the report. */
  readonly report: string | undefined;
}

const ENV_FILE = "--env-file=";
const STORE = "--store=";
const MODULE = "--module=";
const REPORT = "--report=";
const WITH_VALUE = { [ENV_FILE]: "FILE", [STORE]: "STORE", [MODULE]: "FILE", [REPORT]: "FILE" };

/** Where a report goes without a file of its own. */
const REPORT_FILE = "idpauth-report.md";

/**
 * Reads the command line, or returns its mistake. The mistake never contains a store's address,
 * which may contain a password.
 */
export function readUsage(argv: readonly string[]): Usage | { readonly mistake: string } {
  const flags = argv
    .filter((argument) => argument.startsWith("-"))
    .map((flag) => (flag === "--report" ? REPORT + REPORT_FILE : flag));
  const commands = argv.filter((argument) => !argument.startsWith("-"));
  const usage = {
    help: flags.includes("--help") || flags.includes("-h"),
    json: flags.includes("--json"),
    live: flags.includes("--live"),
    envFile: valueOf(ENV_FILE, flags),
    module: valueOf(MODULE, flags),
    store: valueOf(STORE, flags),
    report: valueOf(REPORT, flags),
  };
  const mistake = mistakeIn(commands, flags, usage);
  return mistake === undefined ? usage : { mistake };
}

function valueOf(option: string, flags: readonly string[]): string | undefined {
  return flags.find((flag) => isWithValue(option, flag))?.slice(option.length);
}

function isWithValue(option: string, flag: string): boolean {
  return flag.startsWith(option) && flag.length > option.length;
}

function mistakeIn(
  commands: readonly string[],
  flags: readonly string[],
  { help, live, module, report, store }: Usage,
): string | undefined {
  const known = ["--json", "--live", "--help", "-h"];
  for (const [option, value] of Object.entries(WITH_VALUE)) {
    const name = option.slice(0, -1);
    if (flags.includes(name) || flags.includes(option)) return `${name} needs =${value}`;
    if (flags.filter((flag) => flag.startsWith(option)).length > 1)
      return `${name} is given more than once`;
  }
  const unknown = flags.find(
    (flag) =>
      !known.includes(flag) && !Object.keys(WITH_VALUE).some((option) => isWithValue(option, flag)),
  );
  if (unknown !== undefined) return `unknown option ${JSON.stringify(withoutValue(unknown))}`;
  if (commands.length > 1) return "too many arguments";
  if (commands[0] !== undefined && commands[0] !== "check")
    return `unknown command${named(commands[0])}`;
  if (commands.length === 0 && !help) return "no command is given";
  if (store !== undefined && !live) return "--store needs --live";
  if (report !== undefined && !live) return "--report needs --live";
  if (store !== undefined && !isStoreAddress(store))
    return "--store has an unknown form. It takes redis://…, rediss://…, postgres://…, sqlite:PATH, ./module.mjs or env:NAME";
  if (module !== undefined && !isModule(module))
    return "--module isn't the path of a JavaScript module, such as ./auth.mjs";
  return undefined;
}

/** Returns only the option's name, since the value of a misspelt `--store` may be an address. */
function withoutValue(flag: string): string {
  const name = /^--?[\w-]{0,40}/.exec(flag)?.[0] ?? "-";
  const value = flag.slice(name.length);
  if (value === "" || value === "=") return flag;
  return value.startsWith("=") ? `${name}=…` : `${name}…`;
}

/** Returns the command if it looks like one, since it may be an address without its option. */
function named(command: string): string {
  return /^[\w-]{1,40}$/.test(command) ? ` ${JSON.stringify(command)}` : "";
}
