import { readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

/** The settings of an application whose provider this is. */
export type ApplicationSettings = Readonly<Record<string, string>>;

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
  // The application may change the other settings.
  const isSame = ["IDP_ISSUER", "IDP_CLIENT_ID", "IDP_CLIENT_SECRET"].every(
    (name) => found[name] === settings[name],
  );
  return isSame ? "same" : "other";
}
