import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DemoConfigurationError } from "./configuration.js";
import { openStateFile } from "./state-file.js";
import type { DemoState } from "./state.js";

/** Where the demo keeps what it needs to be the same one after a restart. */
export interface DataFolder {
  readonly folder: string;
  readonly state: DemoState;
}

const MOST_DEMOS = 64;

/**
 * A folder below the system's temporary one, for this user alone. Demos that run at the same time have one each: the first is
 * `idpauth-demo-<uid>`, the next `idpauth-demo-<uid>-2`, and a demo that starts takes the first that nobody uses.
 *
 * @throws DemoConfigurationError the folder is somebody else's, or cannot be used
 */
export async function claimDataFolder(): Promise<DataFolder> {
  const first = path.join(tmpdir(), `idpauth-demo-${process.getuid?.() ?? "user"}`);
  for (let number = 1; number <= MOST_DEMOS; number += 1) {
    const folder = number === 1 ? first : `${first}-${number}`;
    makePrivate(folder);
    const state = await openStateFile(path.join(folder, "demo.db"));
    if (state !== undefined) return { folder, state };
  }
  throw new DemoConfigurationError(`${MOST_DEMOS} demos run already, each with a folder ${first}… of its own.`);
}

/** In a folder that everybody may write to, a name proves nothing: it may be another user's folder, or a link. */
function makePrivate(folder: string): void {
  const otherwise = "Set TMPDIR to a folder of your own, or DEMO_SESSIONS=memory.";
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code !== "EEXIST") throw new DemoConfigurationError(`${folder} cannot be made (${code}). ${otherwise}`);
    const { uid, mode, isDirectory } = statusOf(folder);
    if (!isDirectory || (process.getuid !== undefined && uid !== process.getuid()))
      throw new DemoConfigurationError(`${folder} is not a folder of yours, so nothing is kept there. ${otherwise}`);
    if (process.getuid !== undefined && (mode & 0o077) !== 0) chmodSync(folder, 0o700);
  }
}

function statusOf(folder: string) {
  const status = lstatSync(folder);
  return { uid: status.uid, mode: status.mode, isDirectory: status.isDirectory() };
}
