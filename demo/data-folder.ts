import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DemoConfigurationError, withoutPassword } from "./configuration.js";
import { keepPrivate } from "./private-path.js";
import { openStateFile } from "./state-file.js";
import type { DemoState } from "./state.js";

/** Where the demo keeps what it needs to be the same one after a restart. */
export interface DataFolder {
  readonly folder: string;
  readonly state: DemoState;
  /** 1, unless other demos run at the same time. */
  readonly number: number;
}

const MOST_DEMOS = 64;
const STATE_FILE = "demo.db";

/**
 * A folder below the system's temporary one, for this user alone. Demos that run at the same time
 * have one each: the first is `idpauth-demo-<uid>`, the next `idpauth-demo-<uid>-2`, and a demo
 * that starts takes the first unused one.
 *
 * @throws DriverMissingError
 * @throws DemoConfigurationError if the folder belongs to another user or cannot be used
 */
export async function claimDataFolder(): Promise<DataFolder> {
  for (let number = 1; number <= MOST_DEMOS; number += 1) {
    const folder = makeFolder(number === 1 ? "" : `-${number}`);
    const state = await openStateFile(path.join(folder, STATE_FILE));
    if (state !== undefined) return { folder, state, number };
  }
  throw new DemoConfigurationError(
    `${MOST_DEMOS} demos run already, each with a folder ${nameOf("")}… of its own.`,
  );
}

/**
 * What belongs to sessions in a file: in a file beside it.
 *
 * @throws DriverMissingError
 * @throws DemoConfigurationError another demo runs with it, or it cannot be used
 */
export function claimBeside(sessionsFile: string): Promise<DemoState> {
  return claim(`${sessionsFile}-demo`);
}

/**
 * What belongs to sessions on a server: in a folder of that address, whoever connects there.
 *
 * @throws DriverMissingError
 * @throws DemoConfigurationError another demo runs with it, or it cannot be used
 */
export function claimForServer(url: URL): Promise<DemoState> {
  const name = createHash("sha256").update(withoutPassword(url)).digest("hex").slice(0, 10);
  return claim(path.join(makeFolder(`-${name}`), STATE_FILE));
}

async function claim(file: string): Promise<DemoState> {
  const state = await openStateFile(file);
  if (state !== undefined) return state;
  throw new DemoConfigurationError(
    `Another demo runs with these sessions: it holds the keys that belong to them, in ${file}. End it, or give this one other sessions.`,
  );
}

function nameOf(suffix: string): string {
  return path.join(tmpdir(), `idpauth-demo-${process.getuid?.() ?? "user"}${suffix}`);
}

function makeFolder(suffix: string): string {
  const folder = nameOf(suffix);
  keepPrivate(folder, "folder", () => mkdirSync(folder, { mode: 0o700 }));
  return folder;
}
