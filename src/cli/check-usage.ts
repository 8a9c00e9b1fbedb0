import { isStoreAddress } from "./live/store-option.js";

export const HELP = `Usage: idpauth check [--env-file=FILE] [--json] [--live [--store=STORE]]
       idpauth provider [--help]

idpauth provider runs an OpenID provider for development on this machine.
idpauth check runs the startup checks on the settings in the environment, without starting the application.

  --env-file=FILE  settings in a file, read as node --env-file does: the environment wins over it
                   (Node.js 20 reads it, too, before this command does: a FILE that is missing ends with its exit code 9)
  --json           the result as one JSON object
  --live           also asks the provider, in ways that sign nobody in and change nothing there
  --store=STORE    with --live: also tries the session store, with entries of its own that it removes again:
                     redis://… or rediss://…   with the project's package redis or ioredis
                     postgres://…              with the project's package pg
                     sqlite:PATH               a file that is there
                     ./module.mjs              whose default export is a store, or a function that gives one
                     env:NAME                  one of these, in a variable: keeps a password out of the process list
  -h, --help       this text

Exit code: 0 no errors (warnings allowed), 1 errors, 2 wrong usage.
`;

/** What the command line asks for. */
export interface Usage {
  readonly help: boolean;
  readonly json: boolean;
  readonly live: boolean;
  readonly envFile: string | undefined;
  readonly store: string | undefined;
}

const ENV_FILE = "--env-file=";
const STORE = "--store=";
const WITH_VALUE = { [ENV_FILE]: "FILE", [STORE]: "STORE" };

/** @returns the mistake, when there is one; a store's address, which may hold a password, is never repeated in it */
export function readUsage(argv: readonly string[]): Usage | { readonly mistake: string } {
  const flags = argv.filter((argument) => argument.startsWith("-"));
  const commands = argv.filter((argument) => !argument.startsWith("-"));
  const usage = {
    help: flags.includes("--help") || flags.includes("-h"),
    json: flags.includes("--json"),
    live: flags.includes("--live"),
    envFile: valueOf(ENV_FILE, flags),
    store: valueOf(STORE, flags),
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

function mistakeIn(commands: readonly string[], flags: readonly string[], { help, live, store }: Usage): string | undefined {
  const known = ["--json", "--live", "--help", "-h"];
  for (const [option, value] of Object.entries(WITH_VALUE)) {
    const name = option.slice(0, -1);
    if (flags.includes(name) || flags.includes(option)) return `${name} needs =${value}`;
  }
  const unknown = flags.find((flag) => !known.includes(flag) && !isWithValue(ENV_FILE, flag) && !isWithValue(STORE, flag));
  if (unknown !== undefined) return `unknown option ${JSON.stringify(withoutValue(unknown))}`;
  if (flags.filter((flag) => flag.startsWith(ENV_FILE)).length > 1) return "--env-file is given more than once";
  if (flags.filter((flag) => flag.startsWith(STORE)).length > 1) return "--store is given more than once";
  if (commands.length > 1) return "too many arguments";
  if (commands[0] !== undefined && commands[0] !== "check") return `unknown command${named(commands[0])}`;
  if (commands.length === 0 && !help) return "which command?";
  if (store !== undefined && !live) return "--store needs --live";
  if (store !== undefined && !isStoreAddress(store)) return "--store names no store in a form that is known";
  return undefined;
}

/** The option's name alone: a misspelt `--store` has an address all the same, after whatever sign. */
function withoutValue(flag: string): string {
  const name = /^--?[\w-]{0,40}/.exec(flag)?.[0] ?? "-";
  const value = flag.slice(name.length);
  if (value === "" || value === "=") return flag;
  return value.startsWith("=") ? `${name}=…` : `${name}…`;
}

/** Only what looks like a command: it may be an address whose option was forgotten. */
function named(command: string): string {
  return /^[\w-]{1,40}$/.test(command) ? ` ${JSON.stringify(command)}` : "";
}
