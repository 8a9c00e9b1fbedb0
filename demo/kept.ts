import {
  wantsEmbeddedProvider,
  type DemoConfiguration,
  type Environment,
} from "./configuration.js";
import { claimBeside, claimDataFolder, claimForServer } from "./data-folder.js";
import { DriverMissingError } from "./driver.js";
import { openSessions, type OpenSessions } from "./sessions.js";
import { memoryState, type DemoState } from "./state.js";

/** The demo's sessions, and what they are worth nothing without. */
export interface Kept {
  readonly sessions: OpenSessions;
  readonly state: DemoState;
  /** After a restart the demo knows who is signed in. */
  readonly survivesRestart: boolean;
  /** Undefined: the package's own. */
  readonly cookieName?: string;
  /** For the console: what is not as it should be. */
  readonly note?: string;
}

/**
 * Opens the sessions and what belongs to them: it lasts as long as they do, and lies where they
 * lead to.
 *
 * @throws DemoConfigurationError
 */
export async function openKept(
  { sessions: wanted }: DemoConfiguration,
  env: Environment,
): Promise<Kept> {
  if (wanted.kind === "sqlite" && wanted.path === undefined) return openDefault(env);
  // First, so that a wrong address leaves nothing behind.
  const sessions = await openSessions(wanted, undefined);
  if (!sessions.outlive) return { sessions, state: memoryState(), survivesRestart: false };
  const needsNoState = !wantsEmbeddedProvider(env) && env["SECRET_KEY"] !== undefined;
  if (needsNoState) return { sessions, state: memoryState(), survivesRestart: true };
  try {
    const state = await ("url" in wanted
      ? claimForServer(wanted.url)
      : claimBeside(sessions.where));
    return { sessions, state, survivesRestart: true };
  } catch (error) {
    if (!(error instanceof DriverMissingError)) throw error;
    const note =
      `The package better-sqlite3 cannot be loaded (${error.reason}), so the demo's own keys are lost when it ends: ` +
      `after a restart everybody has to sign in again.`;
    return { sessions, state: memoryState(), survivesRestart: false, note };
  }
}

async function openDefault(env: Environment): Promise<Kept> {
  try {
    const { folder, state, number } = await claimDataFolder();
    const sessions = await openSessions({ kind: "sqlite", path: undefined }, folder);
    return {
      sessions,
      state,
      survivesRestart: true,
      ...(number > 1 && { cookieName: `idpauth-${number}` }),
    };
  } catch (error) {
    // A first try should not end at a driver that nobody asked for.
    const isAskedFor = (env["DEMO_SESSIONS"]?.trim() ?? "") !== "";
    if (isAskedFor || !(error instanceof DriverMissingError)) throw error;
    const note = `The package better-sqlite3 cannot be loaded (${error.reason}), so nothing is kept when the demo ends.`;
    return {
      sessions: await openSessions({ kind: "memory" }, undefined),
      state: memoryState(),
      survivesRestart: false,
      note,
    };
  }
}
