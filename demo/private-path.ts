import { chmodSync, lstatSync } from "node:fs";
import { DemoConfigurationError } from "./configuration.js";

/**
 * Makes a file or folder, or takes the one that is there, for this user alone. Where everybody may
 * write, a name proves nothing: it may be another user's, or a link.
 *
 * @param make fails with EEXIST when there is something already, whatever it is
 * @throws DemoConfigurationError if it belongs to another user or cannot be made
 */
export function keepPrivate(path: string, kind: "file" | "folder", make: () => void): void {
  const otherwise = "Set TMPDIR to a folder of your own, or DEMO_SESSIONS=memory.";
  try {
    make();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code !== "EEXIST")
      throw new DemoConfigurationError(`${path} cannot be made (${code}). ${otherwise}`);
    const status = lstatSync(path);
    const isRight = kind === "file" ? status.isFile() : status.isDirectory();
    if (!isRight || (process.getuid !== undefined && status.uid !== process.getuid()))
      throw new DemoConfigurationError(
        `${path} is not a ${kind} of yours, so nothing is kept there. ${otherwise}`,
      );
    if (process.getuid !== undefined && (status.mode & 0o077) !== 0)
      chmodSync(path, kind === "file" ? 0o600 : 0o700);
  }
}
