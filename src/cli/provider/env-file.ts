import { readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { ApplicationSettings } from "./application-settings.js";

/** Returns lines that a shell, Node.js, dotenv, Compose and systemd read alike. */
export function envLines(settings: ApplicationSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${quoted(value)}\n`)
    .join("");
}

/**
 * Returns the value in single quotes if a shell would change it: between double quotes, Node.js
 * replaces `\n`, and a shell `$`. No value that the provider writes contains a single quote.
 */
function quoted(value: string): string {
  return /^[\w%+,./:=@-]*$/.test(value) ? value : `'${value}'`;
}

const HEAD =
  "# Written by `npx idpauth provider`, for development. Keep this file out of version control.\n";

/** What became of the file. */
export type Outcome =
  | { readonly kind: "written" }
  /** It names this provider, and stays unchanged. `differing`: the settings to change in it. */
  | { readonly kind: "kept"; readonly differing: ApplicationSettings }
  /** It names other providers, and stays unchanged. */
  | { readonly kind: "other" };

/** @throws Error the file cannot be written, or an existing file cannot be read */
export function writeEnv(file: string, settings: ApplicationSettings): Outcome {
  try {
    writeFileSync(file, HEAD + envLines(settings), { flag: "wx", mode: 0o600 });
    return { kind: "written" };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const found = parseEnv(readFileSync(file, "utf8"));
  // The application may change the other settings, and set a key of its own.
  const ofProviders = [...Object.keys(settings), ...Object.keys(found)].filter(
    (name) => OF_PROVIDERS.test(name) || (name.endsWith("PRIVATE_KEY") && name in settings),
  );
  const differs = (name: string) => (found[name] ?? "") !== (settings[name] ?? "");
  if (ofProviders.some(differs)) return { kind: "other" };
  // Each SECRET_KEY is right.
  const names = [...Object.keys(settings), ...Object.keys(found).filter(needsAnOption)].filter(
    (name) => differs(name) && !(name === "SECRET_KEY" && found[name]),
  );
  const differing = names.map((name) => [name, settings[name] ?? ""] as const);
  return { kind: "kept", differing: Object.fromEntries(differing) };
}

/**
 * Whether an application with this setting can't sign in at a provider that was started without the
 * option for it.
 */
function needsAnOption(name: string): boolean {
  return /^IDP_(?:.*_)?(?:PUSHED_REQUESTS|DPOP|FAPI|CLIENT_CERTIFICATE(?:_KEY)?)$/.test(name);
}

/** The settings that say which providers they are for. */
const OF_PROVIDERS = /^IDP_(?:.*_)?(?:PROVIDERS|ISSUER|CLIENT_ID|CLIENT_SECRET)$/;
