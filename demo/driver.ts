import { DemoConfigurationError } from "./configuration.js";

/**
 * Loads a driver that only one kind of sessions needs.
 *
 * @throws DriverMissingError it is not installed
 */
export async function loadDriver<Module>(
  name: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") {
      throw new DriverMissingError(name, "it is not installed");
    }
    throw error;
  }
}

/** A driver is not installed, or was installed without its compiled part. */
export class DriverMissingError extends DemoConfigurationError {
  /** Why it cannot be loaded, in a few words. */
  readonly reason: string;

  constructor(name: string, reason: string) {
    super(
      `The package ${name} is needed and cannot be loaded: ${reason}. Run \`npm ci\` with install scripts allowed ` +
        `(\`npm rebuild ${name}\` makes up for it), or run the demo with DEMO_SESSIONS=memory.`,
    );
    this.reason = reason;
  }
}
