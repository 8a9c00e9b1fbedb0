import type { Clock } from "../../clock.js";
import type { Environment } from "../../config/read-settings.js";

/** The I/O of the live check. A test replaces it. */
export interface CheckIo {
  /** This machine's clock. The provider's clock is compared with it. */
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** The project's folder. Drivers and relative paths are resolved from it. */
  readonly folder: string;
  /** Whether standard error is a terminal, where slow steps are announced. */
  readonly isTerminal: boolean;
  /** Returns the version of idpauth. */
  version(): string;
  /**
   * Imports a module of the project and returns its exports.
   *
   * @param file absolute path
   * @param env the environment of the module
   */
  importModule(file: string, env: Environment): Promise<unknown>;
}
