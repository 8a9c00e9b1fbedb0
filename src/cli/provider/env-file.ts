import { readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { ApplicationSettings } from "./application-settings.js";

export function envLines(settings: ApplicationSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

const HEAD =
  "# Written by `npx idpauth provider`, for development. Keep this file out of version control.\n";

/**
 * The result: the file was written, it already names this provider, or it has other settings and
 * stays unchanged.
 */
export type Outcome = "written" | "same" | "other";

/** @throws Error the file cannot be written, or an existing file cannot be read */
export function writeEnv(file: string, settings: ApplicationSettings): Outcome {
  try {
    writeFileSync(file, HEAD + envLines(settings), { flag: "wx", mode: 0o600 });
    return "written";
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const found = parseEnv(readFileSync(file, "utf8"));
  // The application may change the other settings, and set a key of its own.
  const ofProviders = [...Object.keys(settings), ...Object.keys(found)].filter(
    (name) => OF_PROVIDERS.test(name) || (name.endsWith("PRIVATE_KEY") && name in settings),
  );
  return ofProviders.every((name) => (found[name] ?? "") === (settings[name] ?? ""))
    ? "same"
    : "other";
}

/** The settings that say which providers they are for. */
const OF_PROVIDERS = /^IDP_(?:.*_)?(?:PROVIDERS|ISSUER|CLIENT_ID|CLIENT_SECRET)$/;
