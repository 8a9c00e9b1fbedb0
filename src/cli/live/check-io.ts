import type { Environment } from "../../config/read-settings.js";
import type { Clock } from "../../clock.js";

/** The I/O of the live check. A test replaces it. */
export interface CheckIo {
  /** This machine's, which the provider's is compared with. */
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** The project's folder: drivers are resolved and paths read from there. */
  readonly folder: string;
  /** Somebody watches standard error, so slow steps are named there. */
  readonly isTerminal: boolean;
  /**
   * Loads a module of the project and gives its exports.
   *
   * @param file absolute path
   * @param env what the module is to see as its environment
   */
  importModule(file: string, env: Environment): Promise<unknown>;
}
