import { providerKeys } from "../../config/provider-keys.js";

/** A command line that the command can't run. The message says what to write. */
export class UsageMistake extends Error {}

interface Option {
  /** `optional`: a value only after the equals sign. */
  readonly value: "needed" | "optional" | "none";
  /**
   * Whose option it is: `all`: of the command. `each`: of a provider, and what is set for all
   * applies to each. `one`: of a provider, each with a value of its own.
   */
  readonly of: "all" | "each" | "one";
  readonly isRepeatable?: true;
}

const OPTIONS: Readonly<Record<string, Option>> = {
  help: { value: "none", of: "all" },
  port: { value: "needed", of: "all" },
  providers: { value: "needed", of: "all" },
  "write-env": { value: "optional", of: "all" },
  "base-url": { value: "needed", of: "all" },
  data: { value: "needed", of: "all" },
  "tls-cert": { value: "needed", of: "all" },
  "tls-key": { value: "needed", of: "all" },
  person: { value: "needed", of: "each", isRepeatable: true },
  "redirect-uri": { value: "needed", of: "each", isRepeatable: true },
  "client-key": { value: "none", of: "each" },
  "client-jwks": { value: "needed", of: "one" },
  "pushed-requests": { value: "none", of: "each" },
  "require-pushed-requests": { value: "none", of: "each" },
  dpop: { value: "none", of: "each" },
  "dpop-nonce": { value: "needed", of: "each" },
  mtls: { value: "none", of: "each" },
  fapi: { value: "none", of: "each" },
  "access-tokens": { value: "needed", of: "each" },
  consent: { value: "none", of: "each" },
  "token-seconds": { value: "needed", of: "each" },
  "backchannel-logout-uri": { value: "needed", of: "one" },
  tenant: { value: "needed", of: "one" },
};

/** The options of a command line. Names are without the hyphens. */
export interface CommandLine {
  /** The keys in `--providers`; undefined: one provider, without a key. */
  readonly keys: readonly string[] | undefined;
  has(name: string, key?: string): boolean;
  /** The option's value; an optional value that is not given is the empty text. */
  value(name: string, key?: string): string | undefined;
  /** The values of a repeatable option. With a key, those of this provider, or else of all. */
  values(name: string, key?: string): readonly string[] | undefined;
}

/** @throws UsageMistake */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const given = new Map<string, string[]>();
  for (let index = 0; index < argv.length; index += 1) {
    const { name, option, value } = readArgument(argv[index] ?? "");
    const hasNext = option.value === "needed" && value === undefined;
    if (hasNext) index += 1;
    const text = (hasNext ? argv[index] : value) ?? "";
    if (text === "" && (option.value === "needed" || value !== undefined))
      throw new UsageMistake(`--${name} needs a value`);
    const earlier = given.get(name) ?? [];
    if (earlier.length > 0 && option.isRepeatable !== true)
      throw new UsageMistake(`--${name} is given more than once`);
    given.set(name, [...earlier, text]);
  }
  const keys = keysIn(given.get("providers")?.[0]);
  for (const name of given.keys()) assertOwner(name, keys);
  const values: CommandLine["values"] = (name, key) =>
    (key === undefined ? undefined : given.get(`${key}.${name}`)) ?? given.get(name);
  return {
    keys,
    has: (name, key) => values(name, key) !== undefined,
    value: (name, key) => values(name, key)?.[0],
    values,
  };
}

interface Argument {
  /** `staff.consent` for an option of one provider. */
  readonly name: string;
  readonly option: Option;
  /** What follows the equals sign. */
  readonly value: string | undefined;
}

function readArgument(argument: string): Argument {
  const [written = "", value] = argument === "-h" ? ["--help"] : argument.split(/=(.*)/s);
  if (!written.startsWith("-"))
    throw new UsageMistake(`unknown argument ${JSON.stringify(argument)}`);
  if (/^--(?:host|hostname|listen|bind|address)$/.test(written))
    throw new UsageMistake(
      `there is no option ${written}: the provider doesn't ask for a password, so it listens only on 127.0.0.1`,
    );
  const name = written.replace(/^--/, "");
  const own = name.slice(name.indexOf(".") + 1);
  const option = Object.hasOwn(OPTIONS, own) ? OPTIONS[own] : undefined;
  if (option === undefined || !written.startsWith("--"))
    throw new UsageMistake(`unknown option ${JSON.stringify(written)}`);
  if (value !== undefined && option.value === "none")
    throw new UsageMistake(`${written} doesn't take a value`);
  return { name, option, value };
}

function keysIn(list: string | undefined): readonly string[] | undefined {
  if (list === undefined) return undefined;
  const keys = providerKeys.fromText(list);
  if (keys === undefined)
    throw new UsageMistake(
      `--providers is ${JSON.stringify(list)}; it must be ${providerKeys.allowed}`,
    );
  return keys;
}

/** @param name `staff.consent` or `consent` */
function assertOwner(name: string, keys: readonly string[] | undefined): void {
  const point = name.indexOf(".");
  const own = name.slice(point + 1);
  const of = OPTIONS[own]?.of;
  if (point >= 0) {
    const key = name.slice(0, point);
    if (keys?.includes(key) !== true)
      throw new UsageMistake(
        `--${name}: ${JSON.stringify(key)} is not in --providers${keys === undefined ? "" : ` (${keys.join(", ")})`}`,
      );
    if (of === "all")
      throw new UsageMistake(`--${own} is the same for all providers; write it without a key`);
  } else if (of === "one" && keys !== undefined)
    throw new UsageMistake(
      `with --providers, write --${own} for each provider that needs it: --${keys[0] ?? ""}.${own}=…`,
    );
}
