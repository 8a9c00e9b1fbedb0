import { readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

/** The settings of an application whose provider this is. */
export type ApplicationSettings = Readonly<Record<string, string>>;

export function envLines(settings: ApplicationSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

const HEAD = "# Written by `npx idpauth provider`, for development. Keep this file out of version control.\n";

/** What became of the file: it was written, it names this provider already, or it holds something else and stays as it is. */
export type Outcome = "written" | "same" | "other";

/** @throws Error the file can be neither written nor read */
export function writeEnv(file: string, settings: ApplicationSettings): Outcome {
  try {
    writeFileSync(file, HEAD + envLines(settings), { flag: "wx", mode: 0o600 });
    return "written";
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const found = parseEnv(readFileSync(file, "utf8"));
  // The other settings are the application's own to change.
  const isSame = ["IDP_ISSUER", "IDP_CLIENT_ID", "IDP_CLIENT_SECRET"].every((name) => found[name] === settings[name]);
  return isSame ? "same" : "other";
}
