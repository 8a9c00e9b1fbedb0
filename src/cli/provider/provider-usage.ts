import path from "node:path";
import { isTenant } from "../../config/tenant-issuers.js";
import { isLoopback } from "../../testing/loopback-hostname.js";
import type { PersonClaims } from "../../testing/provider/people.js";
import { PEOPLE, readPerson } from "./choosable-people.js";

export const PROVIDER_HELP = `Usage: idpauth provider [--port=9400] [--person="NAME <EMAIL>"]... [--write-env[=FILE]]

Runs an OpenID provider on this machine, so that you can try idpauth. The provider is only for development:
you sign in by choosing a person, without a password. It listens only on 127.0.0.1. Ctrl+C stops it.

  --port=PORT            the port (default 9400); with 0, any free port, and keys and tokens are kept only with --data
  --person="NAME <EMAIL> GROUP..."
                         a person to choose, with the claim groups; repeat the option for each person (default: three people)
  --write-env[=FILE]     writes the application's settings to FILE (default .env); never overwrites a file
  --data=FILE            keeps keys and tokens in FILE; by default, in a file of your user account
  --redirect-uri=URI     accepts this redirect URI; repeat the option for each URI (default: any on this machine)
  --backchannel-logout-uri=URI
                         sends a logout token to URI, on this machine, when a person's session at the provider ends
  --tenant=GUID          imitates Entra ID's tenants: the issuer ends with /organizations/v2.0, and every person belongs to this tenant
  --token-seconds=N      lifetime of ID tokens and access tokens (default 3600)
  -h, --help             prints this text

You can also write a value as the next argument: --port 9400.
Exit code: 0 after Ctrl+C; 2 for wrong usage, or if the provider can't start.
`;

/** What the command line of `idpauth provider` says. */
export interface ProviderUsage {
  readonly help: boolean;
  readonly port: number;
  readonly people: readonly PersonClaims[];
  /** Undefined: no file is written. */
  readonly writeEnv: string | undefined;
  readonly data: string | undefined;
  /** Undefined: every redirect URI on this machine. */
  readonly redirectUris: readonly string[] | undefined;
  /** The application's address for logout tokens; undefined: the provider sends none. */
  readonly backchannelLogoutUri: string | undefined;
  readonly tokenSeconds: number;
  /** Undefined: the provider has one issuer. */
  readonly tenant: string | undefined;
}

const WITH_VALUE: readonly string[] = [
  "--port",
  "--person",
  "--data",
  "--redirect-uri",
  "--backchannel-logout-uri",
  "--token-seconds",
  "--tenant",
];
const REPEATABLE: readonly string[] = ["--person", "--redirect-uri"];

class Mistake extends Error {}

/** @param argv the arguments after `provider` */
export function readProviderUsage(
  argv: readonly string[],
): ProviderUsage | { readonly mistake: string } {
  try {
    return usageIn(optionsIn(argv));
  } catch (error) {
    if (error instanceof Mistake) return { mistake: error.message };
    throw error;
  }
}

/** The values of each option; an option without a value has the empty text. */
function optionsIn(argv: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const options = new Map<string, string[]>();
  for (let index = 0; index < argv.length; index += 1) {
    const argument = argv[index] ?? "";
    const sign = argument.indexOf("=");
    const name = sign < 0 ? argument : argument.slice(0, sign);
    if (!name.startsWith("-")) throw new Mistake(`unknown argument ${JSON.stringify(argument)}`);
    if (/^--(?:host|hostname|listen|bind|address)$/.test(name))
      throw new Mistake(
        `there is no option ${name}: the provider doesn't ask for a password, so it listens only on 127.0.0.1`,
      );
    const takesValue = WITH_VALUE.includes(name);
    if (!takesValue && !["--write-env", "--help", "-h"].includes(name))
      throw new Mistake(`unknown option ${JSON.stringify(name)}`);
    if (sign >= 0 && name !== "--write-env" && !takesValue)
      throw new Mistake(`${name} doesn't take a value`);
    if (takesValue && sign < 0) index += 1;
    const value = sign >= 0 ? argument.slice(sign + 1) : takesValue ? (argv[index] ?? "") : "";
    if ((takesValue || sign >= 0) && value === "") throw new Mistake(`${name} needs a value`);
    const values = options.get(name) ?? [];
    if (values.length > 0 && !REPEATABLE.includes(name))
      throw new Mistake(`${name} is given more than once`);
    options.set(name, [...values, value]);
  }
  return options;
}

function usageIn(options: ReadonlyMap<string, readonly string[]>): ProviderUsage {
  const one = (name: string) => options.get(name)?.[0];
  const people = options.get("--person")?.map(personIn) ?? PEOPLE;
  const emails = people.map((person) => person["email"]);
  if (new Set(emails).size < emails.length)
    throw new Mistake("two people have the same email address");
  const writeEnv = one("--write-env");
  return {
    help: options.has("--help") || options.has("-h"),
    port: wholeNumber("--port", one("--port") ?? "9400", { least: 0, most: 65_535 }),
    people,
    writeEnv: writeEnv === "" ? ".env" : writeEnv,
    data: one("--data"),
    redirectUris: options.get("--redirect-uri")?.map(redirectUriIn),
    backchannelLogoutUri: logoutUriIn(one("--backchannel-logout-uri")),
    tokenSeconds: wholeNumber("--token-seconds", one("--token-seconds") ?? "3600", {
      least: 1,
      most: 365 * 86_400,
    }),
    tenant: tenantIn(one("--tenant")),
  };
}

function wholeNumber(
  name: string,
  text: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Mistake(
    `${name} is ${JSON.stringify(text)}; it must be a whole number from ${least} to ${most}`,
  );
}

function personIn(text: string): PersonClaims {
  const person = readPerson(text);
  if (person !== undefined) return person;
  throw new Mistake(
    `--person is ${JSON.stringify(text)}; write it as "Ada Lovelace <ada@example.com>"`,
  );
}

function tenantIn(text: string | undefined): string | undefined {
  if (text === undefined || isTenant(text)) return text;
  throw new Mistake(
    `--tenant is ${JSON.stringify(text)}; write a GUID in lower case, such as 11111111-2222-4333-8444-555555555555`,
  );
}

function redirectUriIn(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !text.includes("#"))
    return text;
  throw new Mistake(
    `--redirect-uri is ${JSON.stringify(text)}; write it as http://localhost:3000/idpauth/login-callback`,
  );
}

function logoutUriIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { protocol, hostname, hash } = URL.canParse(text)
    ? new URL(text)
    : { protocol: "", hostname: "", hash: "" };
  if (/^https?:$/.test(protocol) && isLoopback(hostname) && hash === "") return text;
  throw new Mistake(
    `--backchannel-logout-uri is ${JSON.stringify(text)}; write an address on this machine, such as ` +
      "http://localhost:3000/idpauth/backchannel-logout",
  );
}

/**
 * The file of a provider on this port, in the user's folder for state (XDG Base Directory
 * Specification; on Windows, LOCALAPPDATA).
 *
 * @param home the user's home folder
 */
export function defaultDataFile(
  port: number,
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  const named = [env["XDG_STATE_HOME"], env["LOCALAPPDATA"]].find(
    (folder) => folder !== undefined && path.isAbsolute(folder),
  );
  return path.join(named ?? path.join(home, ".local", "state"), "idpauth", `provider-${port}.json`);
}
